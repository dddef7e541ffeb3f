"""Pairs of columns as tables: each pair with its strength and chance, and what third columns do to pairs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.data.as_frames import table_of
from assay.questions.correlations.answer import Correlations


def tables(found: Correlations) -> dict[str, pa.Table]:
    """The numbers behind the finding.

    Args:
        found: the answer.
    """
    made = {"pairs": _pairs(found)}
    if found.order is not None and found.found.pearson is not None and found.found.rank is not None:
        made["matrix"] = _matrix(found, found.found.pearson, found.found.rank)
    if turned := found.turned():
        names = found.found.columns
        made["given_third"] = table_of(
            {
                "first": [names[one.first] for one in turned],
                "second": [names[one.second] for one in turned],
                "third": [names[one.third] for one in turned],
                "turned": [one.turned for one in turned],
                "overall": [one.overall for one in turned],
                "within": [one.within for one in turned],
                "low": [one.low for one in turned],
                "high": [one.high for one in turned],
                "q": [min(one.q * found.factor, 1.0) for one in turned],
            }
        )
    return made


def _pairs(found: Correlations) -> pa.Table:
    """Those that stand first, the strongest before others; then the least likely by chance."""
    pairs, names = found.found.pairs, np.array(found.found.columns, dtype=object)
    low, high = found.intervals
    return table_of(
        {
            "first": names[pairs.first].tolist(),
            "second": names[pairs.second].tolist(),
            "stands": np.arange(len(pairs)) < found.n_pairs,
            "strength": pairs.strength,
            "strength_name": pairs.strength_name,
            "pearson": pairs.pearson,
            "rank": pairs.rank,
            "unseen": pairs.unseen,
            "low": low,
            "high": high,
            "p": pairs.p,
            "q": found.q,
            "again": pairs.again,
            "lag": pairs.lag,
            "monotone": pairs.monotone,
            "n": pairs.n,
            "effective": pairs.effective,
        }
    )


def _matrix(found: Correlations, pearson: np.ndarray, rank: np.ndarray) -> pa.Table:
    """Every pair of the columns drawn, each once."""
    names = np.array(found.found.columns, dtype=object)
    first, second = np.triu_indices(len(names), 1)
    return table_of(
        {
            "first": names[first].tolist(), "second": names[second].tolist(),
            "pearson": pearson[first, second], "rank": rank[first, second],
        }
    )  # fmt: skip

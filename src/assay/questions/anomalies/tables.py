"""Rows that stand out as tables: the rows, why they stand out, and how far out every row is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.data.as_frames import table_of
from assay.questions.anomalies.answer import Anomalies

_REASONS = 10  # columns of a row, the largest parts of its distance first


def tables(found: Anomalies) -> dict[str, pa.Table]:
    """The numbers behind the finding.

    Args:
        found: the answer.
    """
    together = np.full(len(found.rows), np.nan)
    together[: len(found.together)] = np.where(found.together < 0, np.nan, found.together + 1)
    made = {
        "rows": table_of(
            {
                "row": np.asarray(found.rows, np.int64) + 1, "distance": found.distances, "q": found.q,
                "by_neighbours_only": found.lonely, "lies_together": pa.array(together, pa.float64(), from_pandas=True),
            }
        ),
        "distances": table_of({"row": np.arange(1, len(found.scores) + 1), "distance": found.scores}),
    }  # fmt: skip
    if len(found.contributions):
        made["reasons"] = _reasons(found)
    return made


def _reasons(found: Anomalies) -> pa.Table:
    """The columns behind the first rows that stand out."""
    order = np.argsort(-found.contributions, axis=1, kind="stable")[:, :_REASONS]
    which = np.repeat(np.arange(len(order)), order.shape[1])
    return table_of(
        {
            "row": found.rows[which] + 1,
            "column": [found.columns[j] for j in order.ravel()],
            "share_of_distance": found.contributions[which, order.ravel()],
            "deviation": found.deviations[which, order.ravel()],
        }
    )

"""Nodes as tables: the rank of each, and those whose rank is not what their links make it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.data.as_frames import table_of
from assay.questions.nodes.answer import Nodes


def tables(found: Nodes) -> dict[str, pa.Table]:
    """The numbers behind the finding, the first node first.

    Args:
        found: the answer.
    """
    n = len(found.scores)
    order = np.argsort(-found.scores, kind="stable")
    ratio, p = np.full(n, np.nan), np.full(n, np.nan)
    ratio[found.tested], p[found.tested] = found.ratio, found.p
    low, high = np.full(n, np.nan), np.full(n, np.nan)
    if found.ranks is not None:
        low[found.top], high[found.top] = found.ranks[:, 0], found.ranks[:, 1]
    beyond = np.zeros(n, dtype=bool)
    beyond[found.tested[found.clear]] = True
    return {
        "ranks": table_of(
            {
                "rank": np.arange(1, n + 1), "node": [found.names[i] for i in order], "score": found.scores[order],
                "rank_low": low[order], "rank_high": high[order], "in_links": found.in_links[order],
                "times_expected": ratio[order], "p": p[order], "beyond_degree": beyond[order],
            }
        )
    }  # fmt: skip

"""Which rows count as one where an error is estimated."""

from __future__ import annotations

import numpy as np

from assay.arrays import Indices
from assay.evidence.design import Design

_FEWEST = 5


def blocks_of(design: Design, rows: Indices) -> Indices:
    """(m,) for the rows judged, the number of the block of each: rows of other blocks know hardly anything of it."""
    if design.kind == "independent":
        return np.arange(len(rows))
    apart = len(design.thinned(np.random.default_rng(0)))
    # of rows in an order a block is three times as long as their memory, so that few of them touch a neighbour
    count = apart if design.kind == "groups" else max(apart // 3, _FEWEST)
    return np.unique(design.folds(count)[rows], return_inverse=True)[1]

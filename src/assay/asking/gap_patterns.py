"""Sets of columns that are missing in the same rows, for the profile of a table and for the question on gaps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def missing_sets(absent: NDArray[np.bool_], names: Sequence[str], most: int) -> list[tuple[tuple[str, ...], int]]:
    """The sets of columns that rows lack, and no others, with how many rows do; the commonest first.

    Args:
        absent: (n, c) where a value is missing.
        names: of the c columns.
        most: sets that are kept.

    >>> missing_sets(np.array([[True, False], [True, False], [False, False]]), ["a", "b"], 9)
    [(('a',), 2), ((), 1)]
    """
    packed, counts = np.unique(np.packbits(absent, axis=1), axis=0, return_counts=True)
    sets = np.unpackbits(packed, axis=1, count=len(names)).astype(bool)
    order = np.lexsort((sets.sum(axis=1), -counts))[:most]
    return [(tuple(names[j] for j in np.flatnonzero(sets[k])), int(counts[k])) for k in order]

"""Labels as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def short(codes: NDArray[np.intp], k: int) -> NDArray[Any]:
    """Numbers below k in as few bytes as hold them, for the way to a worker.

    >>> short(np.array([0, 2]), 3).nbytes
    2
    """
    return codes.astype(np.min_scalar_type(max(k - 1, 0)))


def numbered(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The different labels, sorted, and for each entry the number of its label.

    What `np.unique(labels, return_inverse=True)` gives; whole numbers that lie close together are counted instead of
    sorted, ten times faster.

    >>> numbered(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1]))
    """
    if labels.dtype.kind in "iu" and labels.ndim == 1 and labels.size:
        low, high = int(labels.min()), int(labels.max())
        if high - low <= max(1024, labels.size) and abs(low) < 2**62 and abs(high) < 2**62:
            offsets = labels.astype(np.intp) - low
            there = np.bincount(offsets) > 0
            place = np.cumsum(there, dtype=np.intp) - 1
            return (np.flatnonzero(there) + low).astype(labels.dtype), place[offsets]
    values, codes = np.unique(labels, return_inverse=True)
    return values, codes.astype(np.intp, copy=False)

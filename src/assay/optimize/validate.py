"""Input validation: finite float64 arrays of the right shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import DataError


def finite(given: ArrayLike, name: str, ndim: int, size: int | None = None) -> Array:
    """Take an array of finite numbers with a known number of dimensions (and entries).

    >>> finite([1, 2], "c", 1, 2)
    array([1., 2.])
    """
    array = np.asarray(given, dtype=np.float64)
    if array.ndim != ndim:
        raise DataError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, has shape {array.shape}.")
    if size is not None and array.size != size:
        raise DataError(f"{name} must have {size} entries, has {array.size}.")
    if not np.isfinite(array).all():
        place = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
        raise DataError(f"{name} must be finite, entry {place} (counted from 0) is {array[tuple(place)]}.")
    return array

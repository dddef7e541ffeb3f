"""Ranks of values, ties at their mean; of SciPy's the same bits, without the half second that `scipy.stats` takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array


def average_ranks(values: ArrayLike, axis: int | None = None) -> Array:
    """The rank of each value, from 1; equal ones share the mean of theirs.

    Args:
        values: numbers; where one is NaN, so are all ranks along its line.
        axis: along which to rank; all values as one line when not given.

    >>> average_ranks([10.0, 30.0, 10.0, 20.0])
    array([1.5, 4. , 1.5, 3. ])
    """
    given: Any = np.asarray(values)
    lines = given.ravel() if axis is None else np.moveaxis(given, axis, -1)
    if lines.size == 0:
        return np.empty(given.size if axis is None else given.shape)
    order = np.argsort(lines, axis=-1, kind="stable")
    ascending = np.take_along_axis(lines, order, axis=-1)
    first = np.ones(lines.shape, np.bool_)  # of values that are equal
    first[..., 1:] = ascending[..., 1:] != ascending[..., :-1]
    starts = np.flatnonzero(first)
    sizes = np.diff(np.append(starts, first.size))
    shared = np.repeat(starts % lines.shape[-1] + (sizes + 1) / 2, sizes).reshape(lines.shape)
    ranks = np.empty(lines.shape)
    np.put_along_axis(ranks, order, shared, axis=-1)
    if lines.dtype.kind == "f":
        ranks[np.isnan(ascending[..., -1])] = np.nan  # NaN sorts last
    return ranks if axis is None else np.moveaxis(ranks, -1, axis)

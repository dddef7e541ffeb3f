"""Where to start from: a point within its box, with the sum asked for."""

from __future__ import annotations

import numpy as np

from assay.arrays import Array
from assay.errors import DataError
from assay.optimize.smo.rows import KernelRows

_ROUNDING = 1e-12  # share of a sum that rounding of its terms may take
_SAMPLE = 256  # rows whose mean stands for that of all


def feasible(start: Array | None, lower: Array, upper: Array, total: float) -> Array:
    """The point given, or zero, brought within its bounds and to its sum, few of its entries changed.

    What is missing from the sum goes to the first variables with room: those between their bounds before those at one,
    those at zero last. An even share for all would make each of them a support point.

    >>> feasible(None, np.zeros(3), np.ones(3), 1.5)
    array([1. , 0.5, 0. ])
    """
    bounds = np.abs(np.concatenate([lower, upper]))
    rounding = _ROUNDING * (float(bounds[np.isfinite(bounds)].sum()) + abs(total))
    if total > upper.sum() + rounding or total < lower.sum() - rounding:
        raise DataError(
            f"no point has the sum {total:.6g}: within their bounds the variables sum to {lower.sum():.6g} at least "
            f"and {upper.sum():.6g} at most. Widen the bounds."
        )
    given = np.zeros(lower.size) if start is None else start
    beta = np.clip(given, lower, upper)
    missing = total - float(beta.sum())
    if abs(missing) <= rounding:  # to spread it would take variables off their bounds
        return beta
    room = np.minimum(upper - beta if missing > 0 else beta - lower, abs(missing))
    order = np.lexsort((np.arange(beta.size), (beta == lower) | (beta == upper), beta == 0.0))
    before = np.cumsum(room[order]) - room[order]
    beta[order] += np.sign(missing) * np.clip(abs(missing) - before, 0.0, room[order])
    return np.clip(beta, lower, upper)


def spread(kernel: KernelRows) -> Array:
    """(n,) squared distances, in feature space, to the mean of an evenly spaced sample of at most 256 rows.

    >>> from assay.optimize.smo.rows import MatrixRows
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> spread(MatrixRows(np.outer(x, x)))
    array([ 9.,  4.,  1., 36.])
    """
    n = len(kernel.diagonal)
    sample = np.unique(np.linspace(0, n - 1, _SAMPLE).astype(np.int64))
    fill, row, toward = kernel.among(None, np.dtype(np.float64)), np.empty((1, n)), np.zeros(n)
    for one in sample:
        fill(np.array([one]), row)
        toward += row[0] / len(sample)
    return np.asarray(np.maximum(kernel.diagonal - 2.0 * toward + toward[sample].mean(), 0.0))


def on_the_largest(keys: Array, upper: Array) -> Array:
    """(n,) weights of sum 1, none above its `upper`, on as few of the largest keys as may be.

    >>> on_the_largest(np.array([3.0, 1.0, 2.0]), np.full(3, 0.75))
    array([0.75, 0.  , 0.25])
    """
    order = np.argsort(-keys, kind="stable")
    most = upper[order]
    left = 1.0 - (np.cumsum(most) - most)
    weights = np.empty(len(keys))
    weights[order] = np.where(left > most - _ROUNDING, most, np.where(left > _ROUNDING, left, 0.0))
    return weights

"""How far the error on new rows may exceed that on the rows fitted, whatever their law: the Vapnik-Chervonenkis bound.

    with probability 1 - delta   error <= training error + sqrt((h (ln(2 n / h) + 1) - ln(delta / 4)) / n)

h the VC dimension of the rules that were looked at, n independent rows. Hyperplanes in d columns: h = d + 1. Those that
keep a margin m from all rows of a ball of radius R: h <= min(ceil(R^2 / m^2), d) + 1.
Reference: Vapnik, The Nature of Statistical Learning Theory, 1995, sections 3.7 and 5.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError


def vc_bound(h: ArrayLike, n: ArrayLike, delta: ArrayLike = 0.05, *, training_error: ArrayLike = 0.0) -> float | Array:
    """The error on new rows that is exceeded with probability delta at most.

    The bound knows nothing of the law of the rows and is therefore wide; above 1 it says nothing. Here-out rows
    (`assay.validate`) say more.

    Args:
        h: VC dimension, at least 1 and at most 2 n.
        n: number of independent rows fitted.
        delta: chance that the bound fails, between 0 and 1.
        training_error: share of the rows fitted that are wrong; left at 0, the result is how far the error may exceed
            it.

    Returns:
        A number, or an array where an argument is one.

    >>> round(vc_bound(11, 1000), 7)
    0.2694719
    """
    dimension, rows = _positive(h, "h, the VC dimension,"), _positive(n, "n, the number of rows,")
    chance, wrong = np.asarray(delta, dtype=np.float64), np.asarray(training_error, dtype=np.float64)
    if not ((chance > 0.0) & (chance < 1.0)).all():
        raise ParameterError(f"delta is a chance between 0 and 1; got {delta!r}")
    if not ((wrong >= 0.0) & (wrong <= 1.0)).all():
        raise ParameterError(f"training_error is a share from 0 to 1; got {training_error!r}")
    if (dimension > 2.0 * rows).any():
        raise ParameterError(f"the bound needs at least h / 2 rows; got h = {h!r} and n = {n!r}")
    width = np.sqrt((dimension * (np.log(2.0 * rows / dimension) + 1.0) - np.log(chance / 4.0)) / rows)
    bound = wrong + width
    return float(bound) if bound.ndim == 0 else bound


def vc_dimension(
    d: ArrayLike, *, radius: ArrayLike | None = None, margin: ArrayLike | None = None
) -> int | NDArray[np.int64]:
    """The VC dimension of hyperplanes in d columns, or its bound for those that keep a margin.

    Args:
        d: number of columns.
        radius: of a ball that holds all rows; `assay.enclosing_ball` finds the smallest.
        margin: distance that the hyperplane keeps from every row.

    Returns:
        d + 1, or min(ceil(radius^2 / margin^2), d) + 1: a whole number, or an array where an argument is one.

    >>> vc_dimension(10), vc_dimension(10_000, radius=1.0, margin=0.1)
    (11, 101)
    """
    columns = _positive(d, "d, the number of columns,")
    if (columns != np.floor(columns)).any():
        raise ParameterError(f"d, the number of columns, is a whole number; got {d!r}")
    if (radius is None) != (margin is None):
        raise ParameterError("radius and margin go together: one says nothing without the other")
    if radius is not None and margin is not None:
        ratio = _positive(radius, "radius") / _positive(margin, "margin")
        # a hair below, so that the rounding of a whole number does not count as one more
        columns = np.minimum(np.ceil(ratio**2 * (1.0 - 1e-12)), columns)
    dimension = np.asarray(columns, dtype=np.float64).astype(np.int64) + 1
    return int(dimension) if dimension.ndim == 0 else dimension


def _positive(value: ArrayLike, name: str) -> Array:
    found = np.asarray(value, dtype=np.float64)
    if not ((found > 0.0) & (found < np.inf)).all():
        raise ParameterError(f"{name} is positive; got {value!r}")
    return found

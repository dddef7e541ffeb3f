"""Which fold a row belongs to, decided by its number and a seed alone, so that every engine decides alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.errors import ParameterError

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def fold_count(n: int) -> int:
    """Ten folds where each then has ten rows, five for fewer rows, one row each if there are not even five.

    >>> fold_count(1000), fold_count(65), fold_count(7), fold_count(3)
    (10, 6, 5, 3)
    """
    return min(10, max(n // 10, min(n, 5)))


def fold_numbers(start: int, stop: int, n_folds: int, seed: int = 0) -> NDArray[np.intp]:
    """The fold of each row from `start` to `stop`.

    Rows are taken in runs of `n_folds`; in each run every fold gets one row, in an order drawn for that run. So folds
    differ in size by one row at most, wherever blocks were cut, and a period in the rows does not line up with them.

    Args:
        start: number of the first row.
        stop: one past the last row.
        n_folds: how many folds.
        seed: another seed, another assignment.

    >>> np.bincount(fold_numbers(0, 20, 5))
    array([4, 4, 4, 4, 4])
    """
    if n_folds < 2:
        raise ParameterError(f"there must be at least 2 folds; got {n_folds}")
    first_run, last_run = start // n_folds, -(-stop // n_folds)
    members = np.arange(first_run * n_folds, last_run * n_folds, dtype=np.uint64)
    order = np.argsort(_hash(members, seed).reshape(-1, n_folds), axis=1, kind="stable").ravel()
    return order[start - first_run * n_folds : stop - first_run * n_folds]


def _hash(values: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    # the finaliser of splitmix64 (Steele, Lea & Flood 2014)
    with np.errstate(over="ignore"):
        z = (values + np.uint64(seed % 2**32 + 1) * np.uint64(0xD1342543DE82EF95)) * _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

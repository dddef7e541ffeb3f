"""Rows that depend on each other, which breaks every p-value: found and said."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def order_notes(X: Array, used: tuple[str, ...], groups: NDArray[Any]) -> list[str]:
    """Whether neighbouring rows are alike, as they are where the order is time.

    A table sorted by one column has that column alike from row to row; time shows in several.

    Args:
        X: (n, d) rows, no column constant.
        used: (d,) names of the columns.
        groups: (d,) numbers made from one column of the data have one label.
    """
    centred = X - X.mean(axis=0)
    alike = np.einsum("ij,ij->j", centred[1:], centred[:-1]) / np.einsum("ij,ij->j", centred, centred)
    j = int(np.argmax(alike))
    together = np.unique(groups[alike > max(0.3, 5.0 / np.sqrt(len(X)))])
    if len(together) < max(2, len(np.unique(groups)) // 4):
        return []
    return [
        f"Neighbouring rows are alike (correlation {alike[j]:.2f} from row to row in {used[j]}). If the order is time, "
        "the rows are not independent, and what is called supported here may be chance."
    ]


def copy_notes(X: Array) -> list[str]:
    """Whether rows are copies of others, beyond what few different values make by themselves.

    Args:
        X: (n, d) rows.

    >>> copy_notes(np.tile(np.random.default_rng(0).standard_normal((5, 2)), (4, 1)))
    ['15 of 20 rows are copies of others: copies are not independent, and what is called supported here may be chance.']
    """
    n, d = X.shape
    if d < 2:
        return []
    # rows are told apart by one random combination of their columns
    weights = np.random.default_rng(0).standard_normal(d) / np.maximum(np.abs(X).max(axis=0), 1e-300)
    different = len(np.unique(X @ weights))
    copies = n - different
    if 10 * copies < n:
        return []
    # rows coincide by chance where each column has few values; copies have one column that tells them all apart
    if max(len(np.unique(x)) for x in X.T[:200]) < 0.9 * different:
        return []
    return [
        f"{copies:,} of {n:,} rows are copies of others: copies are not independent, and what is called supported here "
        "may be chance."
    ]

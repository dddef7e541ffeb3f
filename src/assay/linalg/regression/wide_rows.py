"""The rows of a wide table among themselves: all that least squares and ridge need for d > n.

    X (n, d) about its mean, rows times the root of their weight        G = X X^T = U diag(l) U^T, (n, n)
    fitted values  U diag(l / (l + alpha)) U^T y                        coef = X^T U diag(1 / (l + alpha)) U^T y

Products square the condition number. Where that costs digits, the rows are turned into n coordinates instead: X^T = Q R
makes R^T (n, n) a rotation of them, with the same G and nothing squared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.eigen.principal import centred_gram, dense
from assay.linalg.eigen.spectral import eigen_symmetric
from assay.linalg.regression.linear_fit import EPS
from assay.linalg.regression.triangle import triangle
from assay.linalg.sparse.centred import CentredRows


@dataclass(frozen=True, slots=True, eq=False)
class LeftSpectrum:
    """Eigenvalues of X X^T, and coordinates along its eigenvectors.

    Attributes:
        values: (m,) descending, not negative.
        vectors: (m, m) of the rows fitted, orthonormal.
        others: (t, m) what other rows have in common with each eigenvector, X_other X^T U.
        flat: eigenvalues up to this are zero but for rounding.
    """

    values: Array
    vectors: Array
    others: Array
    flat: float


@dataclass(frozen=True, slots=True, eq=False)
class WideRows:
    """Rows by their products or by their coordinates; about their mean where there is an intercept.

    Attributes:
        table: (n, n) G, or the coordinates.
        rotated: whether it holds coordinates.
        weights: (n,).
        intercept: whether means are taken off.
        d: columns of the table that was.
    """

    table: Array
    rotated: bool
    weights: Array
    intercept: bool
    d: int

    @classmethod
    def of(cls, X: Any, mean: Array, weights: Array, *, intercept: bool, rotated: bool) -> WideRows:
        """From (n, d) rows, dense or sparse, and a (d,) point near their middle (zero without an intercept)."""
        if not rotated:
            return cls(centred_gram(X, mean, np.ones_like(mean)), False, weights, intercept, len(mean))
        R = np.zeros((X.shape[0], X.shape[0]))
        for _, block in _centred(X, mean):
            R = triangle(R, block.T)
        return cls(np.ascontiguousarray(R.T), True, weights, intercept, len(mean))

    def spectrum(self, fitted: NDArray[np.intp], others: NDArray[np.intp] | None = None) -> LeftSpectrum:
        """Decompose some of the rows, about their own mean; others are measured about that mean too."""
        w = self.weights[fitted]
        root, share = np.sqrt(w), w / w.sum() if self.intercept else np.zeros_like(w)
        rest = fitted[:0] if others is None else others
        tall = max(len(fitted), self.d)
        if self.rotated:
            middle = share @ self.table[fitted]
            rows = (self.table[fitted] - middle) * root[:, None]
            left, s, right = sla.svd(rows, full_matrices=False, check_finite=False)
            along = (self.table[rest] - middle) @ right.T * s
            return LeftSpectrum(s**2, left, along, (EPS * tall * float(s[0])) ** 2)
        own = self.table[np.ix_(fitted, fitted)]
        pull = own @ share
        level = float(share @ pull)
        found = eigen_symmetric((own - pull - pull[:, None] + level) * root * root[:, None])
        cross = self.table[np.ix_(rest, fitted)]
        shared = cross - (cross @ share)[:, None] - pull + level
        values = np.maximum(found.values, 0.0)
        return LeftSpectrum(values, found.vectors, (shared * root) @ found.vectors, EPS * tall * float(values[0]))


def across(X: Any, mean: Array, M: Array) -> Array:
    """(X - mean)^T M, (d, r), in blocks of columns so that no centred copy of the rows is held.

    >>> across(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([2.0, 5.0]), np.array([[1.0], [2.0]]))
    array([[1.],
           [0.]])
    """
    if hasattr(X, "toarray"):
        return CentredRows.of(X, mean).adjoint(M)
    return np.vstack([block.T @ M for _, block in _centred(X, mean)])


def along(X: Any, mean: Array, M: Array) -> Array:
    """(X - mean) M, (n, r), in blocks of columns.

    >>> along(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([2.0, 5.0]), np.array([[1.0], [2.0]]))
    array([[-1.],
           [ 1.]])
    """
    if hasattr(X, "toarray"):
        return CentredRows.of(X, mean).apply(M)
    out = np.zeros((X.shape[0], M.shape[1]))
    for part, block in _centred(X, mean):
        out += block @ M[part]
    return out


def _centred(X: Any, mean: Array) -> Iterator[tuple[slice, Array]]:
    n, d = X.shape
    step = max(512, 2 * n)
    for start in range(0, d, step):
        part = slice(start, start + step)
        yield part, np.subtract(dense(X[:, part]), mean[part])

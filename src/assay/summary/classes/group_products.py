"""Groups of sparse rows by products alone, where a frame of axes would take the memory of the dense table.

z = (x - m_k) / s, (d,)        x in group k, s_j the spread of column j within groups, Z (n, d) of all rows
S* = keep Z^T Z / n + ridge I  solved by conjugate gradients; tr S and tr S^2 = |Z Z^T|^2 / n^2 for the shrinkage
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from assay.arrays import Array, Indices
from assay.errors import DataError
from assay.linalg.sparse.centred import CentredRows
from assay.summary.classes.group_frame import column_counts, units_of
from assay.summary.distances.distances import DENSE_LIMIT

_FEW = 1_000  # rows or columns: up to here axes of the rows take less than a second
_PAIRS = 20_000  # rows of which all pairs are compared for the shrinkage: a few seconds
_TOL = 1e-10
_MOST = 2_000


def takes_products(X: Any) -> bool:
    """Whether rows are sparse and so many and wide that axes of them cost more than products."""
    if not issparse(X):
        return False
    rows: Any = X
    n, d = (int(size) for size in rows.shape)
    return 4 * int(rows.nnz) <= n * d and (min(n, d) > _FEW or (d > n and n * d > DENSE_LIMIT))


def too_large(X: Any) -> bool:
    """Whether rows are sparse and a frame of their axes, or their covariance, would take more than 1 GiB."""
    if not issparse(X):
        return False
    rows: Any = X
    n, d = (int(size) for size in rows.shape)
    return min(n, d) * d > DENSE_LIMIT


@dataclass(frozen=True, slots=True, eq=False)
class GroupProducts:
    """Sparse rows about the means of their groups, in units of the spread within them.

    Attributes:
        weights: (g,) rows of each group.
        means: (g, d) in the user's columns.
        scale: (d,) unit of each column; zero for a column that is constant in all rows, which is left out.
        gaps: (g, d) means about the mean of all rows, in units.
        rows: (n, d) about the mean of all rows, in units; nothing in columns left out.
        codes: (n,) group of each row.
        squares: (d,) sums of squares within groups, in units.
    """

    weights: Array
    means: Array
    scale: Array
    gaps: Array
    rows: CentredRows
    codes: Indices
    squares: Array

    @classmethod
    def of(cls, X: Any, codes: Indices, names: tuple[str, ...] | None) -> GroupProducts:
        """From (n, d) sparse rows.

        Args:
            X: CSR.
            codes: (n,) group of each row, counted from 0.
            names: of the columns, for messages.
        """
        counts = column_counts(X, codes, None, names)
        weight, means, within = counts.weight, counts.mean, counts.squares.sum(axis=0)
        centre = weight @ means / weight.sum()
        total = within + weight @ (means - centre) ** 2
        scale = units_of(within, total, float(weight.sum()), len(means), means)
        unit = np.where(scale > 0.0, scale, np.inf)
        rows = CentredRows.of(X, centre, np.sqrt(total / weight.sum()), scale=unit)
        return cls(weight, means, scale, (means - centre) / unit, rows, codes, within / unit**2)

    @property
    def d(self) -> int:
        """Columns that vary."""
        return int(np.count_nonzero(self.scale))

    @property
    def n(self) -> int:
        """Rows."""
        return self.rows.shape[0]

    def apply(self, v: Array) -> Array:
        """Z V, (n, k)."""
        return self.rows.apply(v) - (self.gaps @ v)[self.codes]

    def adjoint(self, u: Array) -> Array:
        """Z^T U, (d, k)."""
        sums = np.zeros((len(self.gaps), u.shape[1]))
        np.add.at(sums, self.codes, u)
        return self.rows.adjoint(u) - self.gaps.T @ sums

    def second_and_fourth(self) -> tuple[float, float]:
        """Tr S^2 of S = Z^T Z / n, and the sum of the fourth powers of the lengths of the rows."""
        if self.n > _PAIRS:
            raise DataError(
                f"shrinkage='auto' compares all pairs of rows, at most {_PAIRS:,} where columns are as many and "
                f"sparse; there are {self.n:,}. Give a share from 0 to 1, such as shrinkage=0.5"
            )
        along = self.rows.apply(np.ascontiguousarray(self.gaps.T))  # (n, g)
        inner, square, fourth = self.gaps @ self.gaps.T, 0.0, 0.0
        for part, strip in self.rows.gram_strips():
            own = self.codes[part]
            strip -= along[part][:, self.codes]
            strip -= along[:, own].T
            strip += inner[np.ix_(own, self.codes)]
            square += float(np.einsum("ij,ij->", strip, strip))
            fourth += float(np.sum(strip[np.arange(len(own)), np.arange(part.start, part.start + len(own))] ** 2))
        return square / self.n**2, fourth

    def solve(self, M: Array, keep: float, ridge: float) -> tuple[Array, float]:
        """S*^-1 M^T, (d, g), for S* = keep S + ridge I, ridge above 0; and the largest residual, relative to M."""
        size = (keep / self.n * self.squares + ridge)[:, None]
        X = np.zeros((M.shape[1], len(M)))
        R: Array = np.ascontiguousarray(M.T).copy()
        scale = np.sqrt(np.einsum("ij,ij->j", R, R / size))
        Z = R / size
        P, gamma = Z.copy(), np.einsum("ij,ij->j", R, Z)
        for _ in range(_MOST):
            if (gamma <= (_TOL * scale) ** 2).all():
                break
            Q = self.adjoint(self.apply(P)) * (keep / self.n) + ridge * P
            along = np.einsum("ij,ij->j", P, Q)
            step = np.divide(gamma, along, out=np.zeros_like(gamma), where=along > 0.0)
            X += step * P
            R -= step * Q
            Z = R / size
            before, gamma = gamma, np.einsum("ij,ij->j", R, Z)
            P = Z + np.divide(gamma, before, out=np.zeros_like(gamma), where=before > 0.0) * P
        left = M.T - self.adjoint(self.apply(X)) * (keep / self.n) - ridge * X
        off = np.sqrt(np.einsum("ij,ij->j", left, left / size))
        return X, float(np.max(np.divide(off, scale, out=np.zeros_like(off), where=scale > 0.0)))

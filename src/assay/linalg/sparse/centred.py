"""Sparse rows about their mean, without a dense copy: products take the mean off afterwards.

(X - 1 mu^T) v = X v - 1 (mu^T v)          (X - 1 mu^T)^T u = X^T u - mu (1^T u)

Where mu is the mean of these rows, the same is a projection in the shorter vectors: X^T (u - 1 (1^T u) / n).

This loses as many digits as a column's mean is larger than its spread. A column with zeros among n values has a mean of
at most n^1/2 times its spread; only one that is stored nearly whole can be farther from zero, and such columns are
centred as they are, dense: that takes no more memory than their entries do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from assay.arrays import Array

_FAR = 100.0  # a mean beyond so many spreads would cost more than two digits
_STRIP = 2**22  # numbers of a Gram matrix made at a time


@dataclass(frozen=True, slots=True, eq=False)
class CentredRows:
    """diag(root) (X - 1 mean^T) diag(1 / scale), (n, d), known by its products.

    Attributes:
        near: (n, d) sparse, scaled, not centred; nothing in columns far from zero.
        mean: (d,) scaled; 0 in columns far from zero.
        far: (f,) these columns.
        block: (n, f) dense, centred and scaled.
        root: (n,) what rows were multiplied by.
        turned: (d, n) the sparse part transposed, which shares its entries: by columns products are as fast as with a
            transposed copy of one's own, and making this view anew would cost a tenth of one.
        own: whether the mean is that of these rows, weighted by the squares of `root`.
    """

    near: sp.csr_array
    mean: Array
    far: NDArray[np.intp]
    block: Array
    root: Array
    turned: sp.csc_array
    own: bool

    @classmethod
    def of(
        cls,
        X: Any,
        mean: Array,
        spread: Array | None = None,
        *,
        scale: Array | None = None,
        root: Array | None = None,
        own: bool = False,
    ) -> CentredRows:
        """Take sparse rows.

        Args:
            X: (n, d) sparse, finite.
            mean: (d,) to subtract.
            spread: (d,) standard deviations, which tell what is far; those of these rows when not given.
            scale: (d,) to divide by, positive; ones when not given.
            root: (n,) to multiply rows by, such as roots of weights; ones when not given.
            own: whether the mean is that of these rows, weighted by the squares of `root`; to rounding.

        >>> X = sp.csr_array([[1.0, 0.0], [3.0, 2.0]])
        >>> CentredRows.of(X, np.array([2.0, 1.0])).apply(np.array([1.0, 1.0]))
        array([-2.,  2.])
        """
        rows = as_entries(X)
        n = int(rows.shape[0])
        if spread is None:
            spread = np.sqrt(sparse_moments(rows)[1] / max(n - 1, 1))
        by = np.ones_like(mean) if scale is None else scale
        factor = np.ones(n) if root is None else root
        far = np.flatnonzero(np.abs(mean) > _FAR * spread)
        data = rows.data if scale is None or (scale == 1.0).all() else rows.data / scale[rows.indices]
        if root is not None:
            data = data * np.repeat(root, np.diff(rows.indptr))
        centre = mean / by
        block = np.empty((n, 0))
        if len(far):
            block = (rows[:, far].toarray() - mean[far]) / by[far] * factor[:, None]
            left = np.ones(len(mean), dtype=bool)
            left[far] = False
            data = data * left[rows.indices]
            centre[far] = 0.0
        near = sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
        return cls(near, centre, far, block, factor, near.T, own)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return int(self.near.shape[0]), int(self.near.shape[1])

    def apply(self, v: Array) -> Array:
        """The rows times a vector or the columns of a matrix."""
        product = self.near @ v
        if self.own:
            product = self._off_mean(product)
        else:
            product -= np.multiply.outer(self.root, self.mean @ v) if v.ndim > 1 else self.root * float(self.mean @ v)
        if len(self.far):
            product += self.block @ v[self.far]
        return np.asarray(product)

    def adjoint(self, u: Array) -> Array:
        """Their transpose times a vector or the columns of a matrix."""
        product = self.turned @ (self._off_mean(u) if self.own else u)
        if not self.own:
            product -= np.multiply.outer(self.mean, self.root @ u) if u.ndim > 1 else self.mean * float(self.root @ u)
        if len(self.far):
            product[self.far] += self.block.T @ u
        return np.asarray(product)

    def _off_mean(self, u: Array) -> Array:
        along = self.root @ u / float(self.root @ self.root)
        return np.asarray(u - (np.multiply.outer(self.root, along) if u.ndim > 1 else along * self.root))

    def __matmul__(self, v: Array) -> Array:
        """`apply`, as of a matrix."""
        return self.apply(v)

    @property
    def T(self) -> _Turned:  # noqa: N802  # as of a matrix
        """The transpose, known by its products."""
        return _Turned(self)

    def column_squares(self) -> Array:
        """(d,) squared lengths of the columns."""
        squares = sp.csc_array((self.near.data**2, self.near.indices, self.near.indptr), shape=self.turned.shape)
        found: Array = np.asarray(squares @ np.ones(self.shape[0]))
        found += self.mean * (self.mean * float(self.root @ self.root) - 2.0 * (self.turned @ self.root))
        found[self.far] = np.einsum("ij,ij->j", self.block, self.block)
        return np.maximum(found, 0.0)

    def row_squares(self) -> Array:
        """(n,) squared lengths of the rows."""
        own = sp.csr_array((self.near.data**2, self.near.indices, self.near.indptr), shape=self.near.shape)
        found: Array = np.asarray(own @ np.ones(self.shape[1]))
        found += self.root * (self.root * float(self.mean @ self.mean) - 2.0 * (self.near @ self.mean))
        found += np.einsum("ij,ij->i", self.block, self.block)
        return np.maximum(found, 0.0)

    def gram_strips(self) -> Iterator[tuple[slice, Array]]:
        """Some rows at a time of the products of all rows with each other, (b, n)."""
        n = self.shape[0]
        along = self.near @ self.mean
        square = float(self.mean @ self.mean)
        step = max(1, _STRIP // n)
        turned = self.near.T.tocsr()
        for start in range(0, n, step):
            part = slice(start, start + step)
            strip: Array = (self.near[part] @ turned).toarray()
            strip -= np.multiply.outer(along[part], self.root)
            strip += np.multiply.outer(self.root[part], square * self.root - along)
            if len(self.far):
                strip += self.block[part] @ self.block.T
            yield part, strip

    def gram(self) -> Array:
        """(n, n) the products of the rows with each other, symmetric."""
        n = self.shape[0]
        whole = np.empty((n, n))
        for part, strip in self.gram_strips():
            whole[part] = strip
        return 0.5 * (whole + whole.T)


@dataclass(frozen=True, slots=True, eq=False)
class _Turned:
    """The transpose of rows."""

    T: CentredRows

    def __matmul__(self, u: Array) -> Array:
        return self.T.adjoint(u)


def as_entries(X: Any) -> sp.csr_array:
    """Sparse rows of numbers, each entry stored once; those given are not changed, and copied only where needed.

    >>> as_entries(sp.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(1, 2))).toarray()
    array([[0., 3.]])
    """
    rows = sp.csr_array(X)
    rows = sp.csr_array((rows.data.astype(np.float64, copy=False), rows.indices, rows.indptr), shape=rows.shape)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def sparse_moments(X: Any, weights: Array | None = None) -> tuple[Array, Array]:
    """Mean and squares about it of each column, in one pass over the entries, and two where columns are nearly whole.

    With entries in at most half of the rows, sum x^2 >= 2 n mean^2: taking n mean^2 off costs one bit at most.

    Args:
        X: (n, d) sparse, each entry stored once.
        weights: (n,) of the rows; ones when not given.

    Returns:
        (d,) means and (d,) sums of squared deviations; those of a constant column are exactly 0.

    >>> sparse_moments(sp.csr_array([[1.0, 7.0], [3.0, 7.0]]))
    (array([2., 7.]), array([2., 0.]))
    """
    rows = as_entries(X)
    by = np.ones(int(rows.shape[0])) if weights is None else weights
    total, stored = float(by.sum()), _column_sums(rows, np.ones_like(rows.data), by)
    mean = _column_sums(rows, rows.data, by) / total
    squares = _column_sums(rows, rows.data**2, by) - total * mean**2
    most = np.flatnonzero(2.0 * stored > total)
    if len(most):
        mean[most], squares[most] = _two_passes(rows[:, most], by, total, stored[most])
    return mean, np.maximum(squares, 0.0)


def _two_passes(rows: sp.csr_array, by: Array, total: float, stored: Array) -> tuple[Array, Array]:
    mean = _column_sums(rows, rows.data, by) / total
    whole = np.flatnonzero(np.bincount(rows.indices, minlength=len(mean)) == rows.shape[0])
    mean[whole] = _within(rows, whole, mean[whole])
    # rows without an entry lie at -mean; where every row has one, rounding must not make some
    absent = np.maximum(total - stored, 0.0)
    absent[whole] = 0.0
    off = rows.data - mean[rows.indices]
    offset = (_column_sums(rows, off, by) - absent * mean) / total
    return mean + offset, _column_sums(rows, off**2, by) + absent * mean**2 - total * offset**2


def _column_sums(rows: sp.csr_array, values: Array, weights: Array) -> Array:
    """(d,) sums of values that lie where the entries do, times the weights of rows: a product, in half the time of a
    count by columns.
    """
    n, d = rows.shape
    return np.asarray(sp.csc_array((values, rows.indices, rows.indptr), shape=(d, n)) @ weights)


def _within(rows: sp.csr_array, whole: NDArray[np.intp], mean: Array) -> Array:
    """Means clipped into the range of columns stored whole, so that constant ones are centred to exact zeros."""
    clipped = mean.copy()
    step = max(1, _STRIP // max(int(rows.shape[0]), 1))
    for start in range(0, len(whole), step):
        part = slice(start, start + step)
        block = rows[:, whole[part]].toarray()
        clipped[part] = np.clip(mean[part], block.min(axis=0), block.max(axis=0))
    return clipped

"""Kernel values at the speed of a matrix product: rows of a Gram matrix for the SMO solver, weighted sums for new rows.

    Gaussian   log2 k(x, y) = z.w - |z|^2 / 2 - |w|^2 / 2 with z = (x - m) sqrt(log2 e) / sigma, w likewise: one product
               of rows with two columns added, (n, d + 2), then a power of two
    factor     K = F F^T, (n, r): the linear kernel, and landmarks
    any other  by the kernel itself

The product form of a distance loses digits for rows close together and far from the middle m. Its error is known
beforehand, so it is used only where it is small: float32 products, else float64 ones, else distances from differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.arrays import Array, Whole
from assay.engine.local import in_threads
from assay.errors import ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.optimize.smo.rows import Fill, KernelRows, Values
from assay.summary.distances.distances import middle
from assay.summary.gram.gram import BLOCK, Gram
from assay.summary.gram.kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed, resolved

HOLD = 2048  # rows: up to here all values of a kernel that is a function are computed once
_FLOAT32_ERROR = 1e-5  # of a kernel value from float32 products
_FLOAT64_ERROR = 1e-9
_TILE = 1024, 256  # rows and points whose values stay in the second cache while they are summed
_SAMPLE = 256  # rows among which the new origin of feature space is chosen


def gram_of_rows(rows: Array, kernel: Kernel, weights: Array | None) -> Gram:
    """The kernel matrix of the rows that count, as machines ask for it: held only where it is small and a function.

    Args:
        rows: (n, d); with Precomputed() the (n, n) values.
        kernel: Defaults that depend on the data are filled in.
        weights: (n,) of the rows, those of weight 0 are left out; None for 1.

    >>> gram_of_rows(np.array([[1.0], [2.0], [3.0]]), Linear(), np.array([1.0, 0.0, 2.0])).n
    2
    """
    if isinstance(kernel, Precomputed):
        gram = Gram.precomputed(rows)
        return gram if weights is None else gram.among(np.flatnonzero(weights))
    if weights is not None:
        rows = rows[weights > 0.0]
        kernel = resolved(kernel, rows, weights[weights > 0.0])
    if isinstance(kernel, Linear):
        kernel.diagonal(rows)  # refuses what overflows
        return Gram(kernel, len(rows), rows, None, rows)  # the rows themselves, not a copy of them
    return Gram.of(rows, kernel, hold=len(rows) <= HOLD and not isinstance(kernel, Gaussian))


def exact_gram(gram: Gram, who: str) -> Gram:
    """The same matrix, refused where it is approximate or centred.

    Args:
        gram: Any.
        who: Name of the model that asks.
    """
    if gram.approximate or gram.centring is not None:
        what = "by landmarks" if gram.approximate else "centred"
        raise ParameterError(
            f"{who} takes a kernel matrix that is exact and not centred; this one is {what}. Centring changes "
            "nothing here, and Gram.of(X, kernel, hold=False) needs no memory for its values"
        )
    return gram


def kernel_rows(gram: Gram, *, shift: bool = False) -> KernelRows:
    """Rows of a Gram matrix, for `assay.optimize.smo.smo.smo`.

    Args:
        gram: Here, with a factor, or rows and a kernel.
        shift: Whether the origin of feature space may be moved among the rows' images, which keeps digits for data
            far from zero: K_ij becomes K_ij + u_i + u_j. SVDD does not depend on it, nor do weights that sum to zero.

    >>> rows = kernel_rows(Gram.of([[0.0], [2.0]], "linear", hold=False), shift=True)
    >>> rows.diagonal
    array([1., 1.])
    """
    if gram.held is not None:
        held = gram.held
        diagonal = np.diag(held).copy()
        return _AnyRows(diagonal, lambda i, j: held[i] if j is None else held[np.ix_(i, j)], shift, threads=True)
    if gram.factor is not None:
        factor = gram.factor
        return _FactorRows(factor - factor.mean(axis=0) if shift else factor)
    points, kernel = gram.points, gram.kernel
    assert points is not None  # neither held nor a factor: computed from rows
    if isinstance(kernel, Gaussian):
        return _GaussianRows(points, kernel)

    def values(i: Whole, j: Whole | None) -> Array:
        return kernel(points[i], points if j is None else points[j])

    return _AnyRows(kernel.diagonal(points), values, shift, threads=isinstance(kernel, Polynomial))


def kernel_sums(kernel: Kernel, X: Array, points: Array, weights: Array) -> Array:
    """sum_j k(x, p_j) w_j for each row x, in float64, by blocks in threads.

    Args:
        kernel: With its defaults filled in.
        X: (m, d) rows; with Precomputed() their (m, p) kernel values.
        points: (p, d).
        weights: (p,) or (p, k).

    Returns:
        (m,) or (m, k).

    >>> kernel_sums(Linear(), np.array([[1.0, 2.0]]), np.eye(2), np.array([1.0, 10.0]))
    array([21.])
    """
    if isinstance(kernel, Linear):
        return np.asarray(X @ (points.T @ weights))
    if not isinstance(kernel, Gaussian):
        return by_kernel_values(kernel, X, points, lambda values: np.asarray(values @ weights))
    values = _gaussian_values(kernel, X, points)
    tiles = [slice(start, start + _TILE[1]) for start in range(0, len(points), _TILE[1])]

    def summed(part: Array) -> Array:
        total = np.zeros((len(part), *weights.shape[1:]))
        of_part = values(part)
        for tile in tiles:
            total += of_part(tile) @ weights[tile]
        return total

    parts = [X[start : start + _TILE[0]] for start in range(0, len(X), _TILE[0])]
    with one_blas_thread():
        return np.concatenate(in_threads(summed, parts))


def by_kernel_values(kernel: Kernel, X: Array, points: Array, work: Callable[[Array], Array]) -> Array:
    """What `work` makes of the kernel values of rows with points, block by block in threads, put together again.

    Args:
        kernel: With its defaults filled in.
        X: (m, d) rows; with Precomputed() their (m, p) kernel values.
        points: (p, d).
        work: From (b, p) values of some rows to (b,) or (b, k) results.

    Returns:
        (m,) or (m, k).

    >>> by_kernel_values(Linear(), np.array([[1.0, 2.0]]), np.eye(2), lambda values: values.max(axis=1))
    array([2.])
    """
    step = max(1, BLOCK // 4 // max(1, len(points)))
    parts = [X[start : start + step] for start in range(0, len(X), step)]
    if not isinstance(kernel, Gaussian | Polynomial | Linear):  # a user's function need not bear threads
        return np.concatenate([work(kernel(part, points)) for part in parts])
    gaussian = _gaussian_values(kernel, X, points) if isinstance(kernel, Gaussian) else None

    def worked(part: Array) -> Array:
        return work(kernel(part, points) if gaussian is None else gaussian(part)(slice(None)))

    with one_blas_thread():
        return np.concatenate(in_threads(worked, parts))


def _gaussian_values(kernel: Gaussian, X: Array, points: Array) -> Callable[[Array], Callable[[slice], Array]]:
    """From some rows of X, and then some of the points, to their values."""
    products = _GaussianProducts(kernel, X, points)
    if products.error(np.float64) > _FLOAT64_ERROR:
        return lambda part: lambda tile: kernel(part, points[tile])
    right = products.right(products.left(points, np.float64))

    def values(part: Array) -> Callable[[slice], Array]:
        left = products.left(part, np.float64)
        return lambda tile: products.values(left, right[:, tile])

    return values


class _GaussianProducts:
    """Gaussian kernel values by one product of extended rows.

    Args:
        kernel: With its sigma.
        tables: Every row that values will be asked of.
    """

    def __init__(self, kernel: Gaussian, *tables: Array) -> None:
        assert kernel.sigma is not None
        self._middle = middle(tables[-1])
        self._scale = np.sqrt(np.log2(math.e)) / kernel.sigma
        with np.errstate(over="ignore", invalid="ignore"):
            self._reach = max(float(np.max(np.sum(self._scaled(table) ** 2, axis=1))) for table in tables)

    def error(self, dtype: Any) -> float:
        """Of a value: the rounding of terms as large as the squared lengths of the rows."""
        return float(np.finfo(dtype).eps) * (1.0 + self._reach) if np.isfinite(self._reach) else np.inf

    def left(self, rows: Array, dtype: Any) -> Values:
        """(n, d + 2) rows, minus half their squared lengths, and ones."""
        z = self._scaled(rows)
        half = -0.5 * np.einsum("ij,ij->i", z, z)
        return np.column_stack([z, half, np.ones(len(z))]).astype(dtype)

    def right(self, left: Values) -> Values:
        """The same rows for the other side of the product, (d + 2, n): the last two numbers change places."""
        right = np.ascontiguousarray(left.T)
        right[-2:] = left[:, :-3:-1].T
        return right

    def values(self, left: Values, right: Values, out: Values | None = None) -> Values:
        """(n, m) kernel values."""
        from assay.summary.gram._exp_kernels import exp2_float32, exp2_float64

        values: Values = np.matmul(left, right, out=out)
        (exp2_float32 if values.dtype == np.float32 else exp2_float64)(values)
        return values

    def _scaled(self, rows: Array) -> Array:
        return np.asarray((rows - self._middle) * self._scale)


class _GaussianRows:
    """Rows of a Gaussian kernel matrix; its diagonal is exactly 1."""

    threads = True

    def __init__(self, points: Array, kernel: Gaussian) -> None:
        self._points, self._kernel = points, kernel
        self._products = _GaussianProducts(kernel, points)
        self._sides: dict[np.dtype[Any], tuple[Values, Values]] = {}
        self.diagonal = np.ones(len(points))

    def error(self, dtype: np.dtype[Any]) -> float:
        return _sampled_error(self, dtype, lambda i, j: self._kernel(self._points[i], self._points[j]))

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        used = next((t for t in (dtype, np.dtype(np.float64)) if self._products.error(t) <= _allowed(t)), None)
        chosen = _span(columns)
        if used is None:
            base = self._points[chosen]

            def measured(rows: Whole, out: Values) -> None:
                out[:] = self._kernel(self._points[rows], base)

            return measured
        left, other = self._both_sides(used)
        right = other[:, chosen] if isinstance(chosen, slice) else np.take(other, chosen, axis=1)
        place = np.arange(right.shape[1]) if columns is None else columns

        def fill(rows: Whole, out: Values) -> None:
            if used == dtype and out.flags.c_contiguous:
                self._products.values(left[rows], right, out)
            else:
                out[:] = self._products.values(left[rows], right)
            at = np.minimum(np.searchsorted(place, rows), len(place) - 1)
            own = place[at] == rows
            out[np.flatnonzero(own), at[own]] = 1.0

        return fill

    def _both_sides(self, dtype: np.dtype[Any]) -> tuple[Values, Values]:
        """Rows extended for either side of the product; kept, since every change of columns asks for them again."""
        if dtype not in self._sides:
            left = self._products.left(self._points, dtype)
            self._sides[dtype] = left, self._products.right(left)
        return self._sides[dtype]


class _FactorRows:
    """Rows of K = F F^T."""

    threads = True

    def __init__(self, factor: Array) -> None:
        self._factor = factor
        self.diagonal: Array = np.einsum("ij,ij->i", factor, factor)

    def error(self, dtype: np.dtype[Any]) -> float:
        return _sampled_error(self, dtype, lambda i, j: self._factor[i] @ self._factor[j].T)

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        left = self._factor.astype(dtype, copy=False)
        right = left[_span(columns)].T

        def fill(rows: Whole, out: Values) -> None:
            np.matmul(left[rows], right, out=out)

        return fill


class _AnyRows:
    """Rows given by a function of positions, in float64, after a shift of the origin if one is allowed.

    The origin becomes the image of a row z in the middle of a sample: K_ij - K_iz - K_jz + K_zz.
    """

    def __init__(
        self, diagonal: Array, values: Callable[[Whole, Whole | None], Array], shift: bool, *, threads: bool
    ) -> None:
        self.threads = threads
        self._values, self._shift, self._toward = values, shift, np.zeros(len(diagonal))
        if shift:
            sample = np.unique(np.linspace(0, len(diagonal) - 1, _SAMPLE).astype(np.int64))
            z = sample[int(np.argmin(diagonal[sample] - 2.0 * values(sample, sample).mean(axis=1)))]
            self._toward = values(np.array([z]), None)[0] - diagonal[z] / 2.0
        self.diagonal = np.maximum(diagonal - 2.0 * self._toward, 0.0) if shift else diagonal

    def error(self, dtype: np.dtype[Any]) -> float:
        def shifted(i: Whole, j: Whole) -> Array:
            values = np.empty((len(i), len(j)))
            self.among(j, values.dtype)(i, values)
            return values

        return _sampled_error(self, dtype, shifted)

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        toward = self._toward if columns is None else self._toward[columns]

        def fill(rows: Whole, out: Values) -> None:
            values = self._values(rows, columns)
            out[:] = values - toward - self._toward[rows, None] if self._shift else values

        return fill


def _sampled_error(
    rows: KernelRows, dtype: np.dtype[Any], exact: Callable[[Whole, Whole], Array], few: int = 32
) -> float:
    """Root mean square of the error of kernel values in a sample of rows and columns, not below that of rounding."""
    n = len(rows.diagonal)
    i, j = (np.unique(np.linspace(0, n - 1, m).astype(np.int64)) for m in (few, _SAMPLE))
    found = np.empty((len(i), len(j)), dtype=dtype)
    rows.among(j, dtype)(i, found)
    truth = exact(i, j)
    rounding = float(np.finfo(dtype).eps) / 4 * float(np.sqrt(np.mean(truth**2)))
    return max(rounding, float(np.sqrt(np.mean((found - truth) ** 2))))


def _span(columns: Whole | None) -> Whole | slice:
    """The same columns as a slice, which copies nothing, if they follow each other."""
    if columns is None:
        return slice(None)
    if len(columns) and columns[-1] - columns[0] == len(columns) - 1:  # rising, so none is left out
        return slice(int(columns[0]), int(columns[-1]) + 1)
    return columns


def _allowed(dtype: Any) -> float:
    return _FLOAT64_ERROR if dtype == np.float64 else _FLOAT32_ERROR

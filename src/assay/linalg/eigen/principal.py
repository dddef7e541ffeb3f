"""Principal axes by every route: covariance, Gram matrix, singular values, power iteration, random sketch.

All give the eigenpairs of C = Xc^T Xc / (n - 1), Xc the rows less their mean and divided by a scale.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from assay.arrays import Array
from assay.linalg.eigen.iterate import power_iteration, randomised
from assay.linalg.eigen.krylov import block_krylov
from assay.linalg.eigen.spectral import Spectrum, eigen_symmetric, fix_signs, svd
from assay.linalg.eigen.top import top_eigen
from assay.linalg.eigen.top_svd import top_svd
from assay.linalg.sparse.centred import CentredRows

Route: TypeAlias = Literal["moments", "gram", "svd", "power", "randomised"]

_FEW = 500  # rows or columns: up to here a decomposition of the whole is as fast as products


def axes_of_covariance(C: Array, k: int | None, route: Route, seed: int) -> Spectrum:
    """The top eigenpairs of a covariance.

    Args:
        C: (d, d).
        k: how many; None for all.
        route: "moments" (LAPACK or Lanczos by size), "power" or "randomised".
        seed: of the random start.
    """
    d = len(C)
    if route == "power":
        return power_iteration(C, d if k is None else k, random_state=seed)
    if route == "randomised":
        return randomised(C, d if k is None else k, random_state=seed)
    return eigen_symmetric(C) if k is None or 2 * k > d else top_eigen(C, k, random_state=seed)


def axes_of_rows(
    X: Any, mean: Array, scale: Array, k: int | None, route: Route, seed: int, inner: Array | None = None
) -> Spectrum:
    """The top eigenpairs of the covariance of the rows, without forming it.

    Args:
        X: (n, d) dense or CSR; rows as they are.
        mean: (d,) to subtract.
        scale: (d,) to divide by.
        k: how many; None for all min(n, d).
        route: "svd" works on the rows themselves, any other on the (n, n) Gram matrix.
        seed: of the random start.
        inner: (n, n) the Gram matrix of the centred, scaled rows, where it is known already.
    """
    n = X.shape[0]
    if route == "svd":
        found = svd((dense(X) - mean) / scale)
        return Spectrum(found.values**2 / (n - 1), found.right)
    rows = CentredRows.of(X, mean, scale=scale) if hasattr(X, "toarray") else None
    dual = _few_products(X, mean, scale, k, seed) if route == "gram" and inner is None else None
    if dual is None:
        gram = (centred_gram(X, mean, scale) if rows is None else rows.gram()) if inner is None else inner
        dual = axes_of_covariance(gram / (n - 1), k, route, seed)
    values, u = dual.values[: X.shape[1]], dual.vectors[:, : X.shape[1]]
    if rows is not None:
        return Spectrum(values, _orthonormal(rows.adjoint(u), values, n))
    raw = np.empty((X.shape[1], len(values)))
    for part in _column_parts(X):
        raw[part] = _centred_columns(X, mean, scale, part).T @ u
    return Spectrum(values, _orthonormal(raw, values, n))


def few_of_sparse(X: Any, k: int | None) -> bool:
    """Whether products with sparse rows find k axes for less than a decomposition of all of them costs."""
    n, d = (int(size) for size in X.shape)
    return k is not None and min(n, d) > _FEW and 10 * k <= min(n, d) and 10 * int(X.nnz) <= n * d


def axes_of_sparse(rows: CentredRows, k: int, seed: int) -> Spectrum:
    """The top k eigenpairs of the covariance of sparse rows, from products alone, in memory for the entries.

    Args:
        rows: (n, d), about their mean and scaled.
        k: how many.
        seed: of the random start.
    """
    found = top_svd(rows, k, random_state=seed)
    return Spectrum(found.values**2 / (rows.shape[0] - 1), found.right)


def _few_products(X: Any, mean: Array, scale: Array, k: int | None, seed: int) -> Spectrum | None:
    """The dual axes from products with the rows, where they come out exact for less than the Gram matrix costs."""
    n, d = X.shape
    if k is None or n < 1000 or d < 2 * n or 50 * k > n or hasattr(X, "toarray"):
        return None

    def apply(Q: Array) -> Array:
        Z = (X.T @ Q - np.multiply.outer(mean, Q.sum(axis=0))) / (scale**2 * (n - 1))[:, None]
        product: Array = X @ Z - mean @ Z
        return product

    found = block_krylov(apply, n, k, seed=seed)
    # products take the mean off afterwards, which costs as many digits as the mean is longer than the first axis
    far = np.linalg.norm(mean / scale) * np.sqrt(n / (n - 1))
    return None if found is None or far > 100.0 * np.sqrt(max(found.values[0], 0.0)) else found


def centred_gram(X: Any, mean: Array, scale: Array) -> Array:
    """Xc Xc^T, (n, n), in blocks of columns so that no centred copy of the rows is held.

    >>> centred_gram(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([2.0, 5.0]), np.ones(2))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if hasattr(X, "toarray"):
        return CentredRows.of(X, mean, scale=scale).gram()
    n = X.shape[0]
    gram = np.zeros((n, n), order="F")
    for part in _column_parts(X):
        block = _centred_columns(X, mean, scale, part)
        # one triangle, added up in place: numpy's product would fill and add both each time
        gram = dsyrk(1.0, block.T, beta=1.0, c=gram, trans=1, lower=1, overwrite_c=1)
    return np.tril(gram) + np.tril(gram, -1).T


def dense(X: Any) -> NDArray[Any]:
    """Rows as an array, sparse or not."""
    rows: NDArray[Any] = X.toarray() if hasattr(X, "toarray") else X
    return rows


def knee(values: Array) -> int:
    """How many values stand before the bend of a descending curve: the point farthest below the chord of its ends.

    >>> knee(np.array([10.0, 8.0, 1.0, 0.9, 0.8]))
    2
    """
    if len(values) < 3 or values[0] <= values[-1]:
        return len(values)
    chord = np.linspace(values[0], values[-1], len(values))
    return int(np.argmax(chord - values))


def _column_parts(X: Any) -> list[slice]:
    # as many columns as rows: a square product is what BLAS does best, and a block stays below the Gram matrix in size
    width = max(512, X.shape[0])
    return [slice(start, start + width) for start in range(0, X.shape[1], width)]


def _centred_columns(X: Any, mean: Array, scale: Array, part: slice) -> Array:
    block: Array = np.subtract(dense(X[:, part]), mean[part], order="C")
    if (scale[part] != 1.0).any():
        block /= scale[part]
    return block


def _orthonormal(raw: Array, values: Array, n: int) -> Array:
    """Unit directions Xc^T u_j; where the variance is zero but for rounding, any that complete the basis."""
    length = np.linalg.norm(raw, axis=0)
    certain = values > (values[0] if len(values) else 0.0) * n * np.finfo(float).eps * 8
    certain &= length > 0.0
    vectors = np.divide(raw, length, out=np.zeros_like(raw), where=certain)
    # Xc^T u_j of close or small eigenvalues are orthogonal only to rounding over their gap: QR makes them so
    Q, R = np.linalg.qr(vectors[:, certain])
    vectors[:, certain] = Q * np.where(np.diag(R) < 0.0, -1.0, 1.0)
    for j in np.flatnonzero(~certain):
        vectors[:, j] = _completing(vectors)
    return fix_signs(vectors)


def _completing(vectors: Array) -> Array:
    """A unit vector orthogonal to all columns: the unit vector they explain least, cleaned twice."""
    start = int(np.argmin(np.sum(vectors**2, axis=1)))
    rest = np.zeros(len(vectors))
    rest[start] = 1.0
    for _ in range(2):
        rest -= vectors @ (vectors.T @ rest)
    return rest / float(np.linalg.norm(rest))

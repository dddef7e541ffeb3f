"""Classical scaling: points whose distances come closest to given ones, by one symmetric eigenproblem.

    B = -1/2 H D2 H, (n, n)     D2 the squared distances, H = I - 1 1^T / n
    B = V diag(values) V^T      coordinates Z = V sqrt(max(values, 0)), (n, k)
    new point at squared distances s, (n,):   z = 1/2 diag(1 / sqrt(values)) V^T (row means of D2 - s)

B is never formed for large n: H (D2 (H x)) is its product with x, so D2 is neither copied nor changed.

Rows with Euclidean distances need no matrix of them: B = Xc Xc^T, Xc (n, d) the rows less their mean, and Xc^T Xc has
the same positive eigenvalues: the smaller one is decomposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import LinearOperator

from assay.arrays import Array
from assay.errors import DataError
from assay.linalg.eigen.krylov import KrylovSpace, block_krylov
from assay.linalg.eigen.ritz import TopEigen
from assay.linalg.eigen.spectral import column_signs
from assay.linalg.eigen.top import top_eigen
from assay.linalg.validate import RandomState, as_count, as_generator, as_matrix

Squares: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

_SMALL = 300  # up to here B is written out at once, for LAPACK
_WRITTEN_OUT = 1000  # up to here it is where the block method gives up
_PASSES = 20  # most products of the block method before ARPACK is asked
_CHUNK = 2**21  # entries of single precision widened at a time


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Coordinates from squared distances, with what placing new points needs.

    Attributes:
        values: (k,) the largest eigenvalues of B, descending; negative where fewer are positive.
        vectors: (n, k) their eigenvectors, orthonormal, signs fixed.
        coordinates: (n, k) vectors times the root of their value; zero where the value is not positive.
        row_means: (n,) of the squared distances.
        mean: of the squared distances.
        trace: of B, the sum of all its eigenvalues.
        norm: of B (Frobenius), the root of the sum of all its squared eigenvalues.
        residuals: (k,) norm of B v - value v; some eigenvalue lies within this distance of each value.
        converged: whether every residual is within 1e-10 of the largest value.
        method: "lapack", "lanczos" or "randomised" (a block Krylov space; as exact).
    """

    values: Array
    vectors: Array
    coordinates: Array
    row_means: Array
    mean: float
    trace: float
    norm: float
    residuals: Array
    converged: bool
    method: str

    @property
    def positive(self) -> NDArray[np.bool_]:
        """(k,) which values are positive beyond rounding, and so carry coordinates."""
        return positive_values(self.values, len(self.vectors), self.norm)

    def place(self, squares_new: ArrayLike) -> Array:
        """Put new points among the old ones (Gower 1968): exact where the distances are Euclidean.

        Args:
            squares_new: (m, n) squared distances from the new points to the scaled ones.

        Returns:
            (m, k) coordinates.
        """
        squares = as_matrix(squares_new, name="the squared distances of new points", allow_empty=True)
        if squares.shape[1] != len(self.row_means):
            raise DataError(
                f"new points need squared distances to all {len(self.row_means)} scaled points, "
                f"have {squares.shape[1]} columns."
            )
        return place_new(squares, self.row_means, self.values, self.coordinates)


def place_new(squares_new: Array, row_means: Array, values: Array, coordinates: Array) -> Array:
    """`Scaling.place` from its parts, for models that keep only these.

    >>> found = classical_scaling(np.array([[0.0, 4.0], [4.0, 0.0]]), 1)
    >>> place_new(np.array([[9.0, 1.0]]), found.row_means, found.values, found.coordinates)
    array([[-2.]])
    """
    # z = 1/2 V^T (r - s) / sqrt(value), and V = Z / sqrt(value): a zero column of Z stays zero
    carried = coordinates.any(axis=0)
    weights = coordinates / np.where(carried, values, 1.0)
    return np.asarray((row_means @ weights - squares_new @ weights) / 2.0)


def positive_values(values: Array, n: int, norm: float) -> NDArray[np.bool_]:
    """Which eigenvalues of an (n, n) matrix of this Frobenius norm are positive beyond rounding.

    >>> positive_values(np.array([1.0, 1e-17, -1.0]), 3, 1.5)
    array([ True, False, False])
    """
    return values > n * np.finfo(np.float64).eps * norm


def classical_scaling(squares: Squares, k: int, *, random_state: RandomState = 0) -> Scaling:
    """Find the k axes of points from their squared distances.

    Args:
        squares: (n, n) squared distances, symmetric, of single or double precision; not changed, and not copied
            beyond n = 1000.
        k: how many axes, 1 <= k <= n.
        random_state: seeds the start vectors, so that results repeat.

    Returns:
        Scaling, values exact to rounding whichever solver was taken.

    Reference: Torgerson, Psychometrika 17, 1952; Gower, Biometrika 53, 1966.

    >>> corners = np.array([[0.0, 1.0, 2.0, 1.0], [1.0, 0.0, 1.0, 2.0], [2.0, 1.0, 0.0, 1.0], [1.0, 2.0, 1.0, 0.0]])
    >>> classical_scaling(corners, 2).values.round(12)
    array([1., 1.])
    """
    if squares.ndim != 2 or squares.shape[0] != squares.shape[1] or squares.shape[0] == 0:
        raise DataError(f"squared distances must form a square matrix, have shape {squares.shape}.")
    n = len(squares)
    k = as_count(k, n, what="the number of points")
    row_means = squares.mean(axis=1, dtype=np.float64)
    mean = float(row_means.mean())
    found = _top(squares, row_means, k, random_state)
    norm = _norm_of_centred(squares, row_means, mean)
    roots = np.sqrt(np.where(positive_values(found.values, n, norm), found.values, 0.0))
    return Scaling(
        values=found.values,
        vectors=found.vectors,
        coordinates=found.vectors * roots,
        row_means=row_means,
        mean=mean,
        trace=0.5 * (n * mean - float(np.trace(squares, dtype=np.float64))),
        norm=norm,
        residuals=found.residuals,
        converged=found.converged,
        method=found.method,
    )


def doubly_centred(squares: Squares, row_means: Array | None = None) -> Array:
    """B = -1/2 H D2 H, written out: (n, n) float64, symmetric to the last bit.

    >>> doubly_centred(np.array([[0.0, 4.0], [4.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    means = squares.mean(axis=1, dtype=np.float64) if row_means is None else row_means
    B: Array = np.add.outer(means, means)
    B -= squares
    B -= means.mean()
    B *= 0.5
    return B


def lowest_eigenvalues(squares: Squares, k: int, *, random_state: RandomState = 0) -> Array:
    """The k smallest eigenvalues of B, ascending: negative ones say that no points have these distances.

    Exact where they stand clear of the rest, as negative ones that matter do. Others, such as the many near zero of
    distances that points do have, are met by a fixed number of products and come out no lower than they are (Cauchy).

    Args:
        squares: (n, n) squared distances.
        k: how many.
        random_state: seeds the start vectors.

    >>> unequal = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]])  # 1 + 1 < 3
    >>> lowest_eigenvalues(unequal, 1).round(6)
    array([-0.833333])
    """
    row_means = squares.mean(axis=1, dtype=np.float64)
    n = len(squares)
    if n <= _WRITTEN_OUT:
        return np.asarray(eigvalsh(doubly_centred(squares, row_means)), dtype=np.float64)[:k]
    apply, unit = _product_with_centred(squares, row_means)
    rng, width, blocks = as_generator(random_state), 2 * k + 4, _PASSES // 2 + 1
    space = KrylovSpace(apply, rng.standard_normal((n, width)), blocks * width, rng)
    for _ in range(blocks):
        space.grow()
    return np.asarray(space.pairs().values[::-1][:k] * unit)


def _product_with_centred(squares: Squares, row_means: Array) -> tuple[Callable[[Array], Array], float]:
    """X -> B x / unit, with unit a power of two near the size of B, so that products stay within floats."""
    unit = float(np.ldexp(1.0, int(np.frexp(row_means.max())[1])))

    def apply(V: Array) -> Array:
        moved = _product(squares, V - V.mean(axis=0)) / unit
        moved -= moved.mean(axis=0)
        moved *= -0.5
        return moved

    return apply, unit


def _top(squares: Squares, row_means: Array, k: int, random_state: RandomState) -> TopEigen:
    """The k largest eigenpairs of B."""
    n = len(squares)
    if n <= _SMALL or 50 * k > n:
        return top_eigen(doubly_centred(squares, row_means), k, random_state=random_state)
    rng = as_generator(random_state)
    apply, unit = _product_with_centred(squares, row_means)
    found = block_krylov(apply, n, k, passes=_PASSES, seed=int(rng.integers(2**31)))
    if found is None and n <= _WRITTEN_OUT:
        return top_eigen(doubly_centred(squares, row_means), k, random_state=rng)
    if found is None:
        operator = LinearOperator((n, n), matvec=apply, matmat=apply, dtype=np.dtype(np.float64))
        found = top_eigen(operator, k, random_state=rng)
    return TopEigen(
        found.values * unit, found.vectors, found.residuals * unit, found.iterations, found.converged, found.method
    )


def _product(squares: Squares, V: Array) -> Array:
    """D2 V in double precision; numpy would widen all of a single-precision D2 first."""
    if squares.dtype == np.float64:
        return np.asarray(squares @ V)
    product: Array = np.concatenate([rows @ V for rows in _widened(squares)])
    return product


def _widened(squares: Squares) -> Iterator[Array]:
    step = max(1, _CHUNK // len(squares))
    for start in range(0, len(squares), step):
        yield squares[start : start + step].astype(np.float64, copy=False)


def _norm_of_centred(squares: Squares, row_means: Array, mean: float) -> float:
    """|B|, from |H D2 H|^2 = sum over all pairs of (d2_ij - r_i - r_j + mean)^2, by blocks of rows."""
    scale = float(row_means.max()) or 1.0
    total, start = 0.0, 0
    for rows in _widened(squares):
        part = (rows - row_means[start : start + len(rows), None] - (row_means - mean)) / scale
        total += float(np.vdot(part, part))
        start += len(rows)
    return 0.5 * scale * float(np.sqrt(total))


@dataclass(frozen=True, slots=True, eq=False)
class RowScaling:
    """Classical scaling of the Euclidean distances of rows, without any matrix of distances.

    Attributes:
        values: (k,) eigenvalues of B = Xc Xc^T, descending; zero beyond its rank.
        coordinates: (n, k).
        axes: (d, k) with coordinates = (X - mean) axes; zero columns beyond the rank.
        mean: (d,) of the rows.
        trace: of B, the sum of all its eigenvalues.
        norm: of B (Frobenius).
    """

    values: Array
    coordinates: Array
    axes: Array
    mean: Array
    trace: float
    norm: float


def scaling_of_rows(X: Array, k: int, *, seed: int = 0) -> RowScaling:
    """Scale rows by the distances between them: their principal component scores (Gower 1966).

    Args:
        X: (n, d) rows, of a size whose squares are within floats.
        k: how many axes, at most n.
        seed: of random starts.

    >>> scaling_of_rows(np.array([[0.0, 1.0], [0.0, 3.0]]), 2).coordinates
    array([[ 1.,  0.],
           [-1.,  0.]])
    """
    n, d = X.shape
    # clipped into the range, so that a constant column is centred to exact zeros
    mean = np.clip(X.mean(axis=0), X.min(axis=0), X.max(axis=0))
    centred = X - mean
    inner = centred.T @ centred if d <= n else centred @ centred.T
    norm = float(np.linalg.norm(inner))
    found = top_eigen(inner, min(k, len(inner)), random_state=seed)
    kept = positive_values(found.values, max(n, d), norm)
    rank = int(kept.sum())  # values descend: the first ones
    used = found.vectors[:, :rank]
    if d > n:
        used = centred.T @ (used / np.sqrt(found.values[:rank]))
    values, axes = np.zeros(k), np.zeros((d, k))
    values[:rank], axes[:, :rank] = found.values[:rank], used
    coordinates = centred @ axes
    signs = column_signs(coordinates)
    return RowScaling(values, coordinates * signs, axes * signs, mean, float(np.trace(inner)), norm)

"""Dissimilarities of pairs: what a matrix of them must be, and whether points could have them as distances.

B = -1/2 H D^2 H, (n, n), H = I - 1 1^T / n       D is Euclidean, of dimension rank B, just when B has no negative
eigenvalue (Schoenberg 1935)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.spatial.distance import squareform

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.classical_scaling import doubly_centred
from assay.linalg.validate import as_symmetric, power_of_two
from assay.summary.distances.known_distances import all_given

_HUBS = 64  # rows over which a way is looked for first
_ROUNDING = 1e-10  # how far from symmetric or from a zero diagonal, relative to the largest entry


def as_dissimilarities(D: Any, *, missing: bool = False, name: str = "the dissimilarities") -> Array:
    """Take a matrix of dissimilarities: square, symmetric, zero on the diagonal, nowhere negative.

    Args:
        D: (n, n); a sparse matrix must hold all pairs, zeros as stored entries.
        missing: whether NaN may stand for a pair that was not measured, on both sides of the diagonal.
        name: what to call it in an error.

    Returns:
        (n, n) float64, symmetric to the last bit; the argument itself when it is that already.

    >>> as_dissimilarities([[0, 3], [3, 0]]).dtype
    dtype('float64')
    """
    matrix = np.asarray(all_given(D, name=name))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"{name} must form a square matrix, have shape {matrix.shape}. For rows use 'euclidean'.")
    gaps = np.isnan(matrix) if missing and matrix.dtype.kind == "f" else None
    if gaps is not None and gaps.any():
        _refuse_one_sided(matrix, gaps, name)
        known = as_dissimilarities(np.where(gaps, 0.0, matrix), name=name)
        return np.where(gaps & ~np.eye(len(gaps), dtype=bool), np.nan, known)
    checked = as_symmetric(matrix, name=name, tol=_ROUNDING)
    if checked.min() < 0.0:
        i, j = (int(p) for p in np.unravel_index(int(checked.argmin()), checked.shape))
        raise DataError(
            f"Negative values in data: {name} must not be negative: row {i}, column {j} (counted from 0) is "
            f"{checked[i, j]:.6g}. "
            "Similarities can be turned into dissimilarities first, such as 1 - s."
        )
    own = np.diag(checked)
    if not own.any():
        return checked
    i = int(own.argmax())
    if own[i] > _ROUNDING * checked.max():
        raise DataError(
            f"{name} must be 0 on the diagonal: row {i}, column {i} (counted from 0) is {own[i]:.6g}. "
            "Is this a matrix of similarities?"
        )
    return checked - np.diag(own)


def new_dissimilarities(D: Any, n: int, *, missing: bool = False) -> Array:
    """Take the (m, n) dissimilarities of m new items to the n that were fitted.

    >>> new_dissimilarities([[1, 2]], 2)
    array([[1., 2.]])
    """
    matrix: Array = np.asarray(all_given(D, own=False), dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != n:
        raise DataError(f"new rows need their dissimilarities to the {n} fitted ones, (m, {n}); got {matrix.shape}.")
    wrong = np.argwhere(~((matrix >= 0.0) & np.isfinite(matrix)) & ~(missing & np.isnan(matrix)))
    if len(wrong):
        i, j = (int(p) for p in wrong[0])
        raise DataError(
            f"new dissimilarities must be finite and not negative: row {i}, column {j} (counted from 0) is "
            f"{matrix[i, j]:g} ({len(wrong)} such in all)."
        )
    return matrix


def pair_weights(weights: Any, D: Array) -> tuple[Array | None, float]:
    """Take the weights of pairs, 0 where the dissimilarity is missing.

    Args:
        weights: (n, n), symmetric, not negative; None for equal ones.
        D: (n, n) dissimilarities, NaN where missing.

    Returns:
        (n (n - 1) / 2,) condensed weights, None when all are the same, and the power of two they were divided by.

    >>> pair_weights([[0, 6], [6, 0]], np.zeros((2, 2)))
    (array([1.5]), 4.0)
    """
    gaps = np.isnan(D)
    if weights is None:
        return (squareform((~gaps).astype(np.float64), checks=False), 1.0) if gaps.any() else (None, 1.0)
    given = as_symmetric(weights, name="weights")
    if given.shape != D.shape:
        raise ParameterError(f"weights must have the shape of the dissimilarities, {D.shape}; have {given.shape}")
    if given.min() < 0.0:
        i, j = (int(p) for p in np.unravel_index(int(given.argmin()), given.shape))
        raise ParameterError(f"weights must not be negative: row {i}, column {j} (counted from 0) is {given[i, j]:g}")
    unit = power_of_two(given)
    return squareform(np.where(gaps, 0.0, given / unit), checks=False), unit


def completed(D: Array, known: Any) -> Array:
    """Dissimilarities with the unknown ones replaced by a short way over known ones, to start from.

    The way leads over one of the rows with the most known pairs; where none of them serves, it is the shortest of all.

    Args:
        D: (n, n) dissimilarities, any value where not known.
        known: (n, n) whether each is known, symmetric.

    Raises:
        DataError: when the known pairs leave rows without a way between them.

    >>> D = np.array([[0, 1, np.nan], [1, 0, 2], [np.nan, 2, 0]])
    >>> completed(D, ~np.isnan(D))[0]
    array([0., 1., 3.])
    """
    i, j = np.nonzero(np.triu(known, 1))
    count, group = connected_components(csr_array((np.ones(len(i)), (i, j)), shape=D.shape), directed=False)
    if count > 1:
        other = int(np.argmax(group != group[0]))
        raise DataError(
            f"the known dissimilarities must link all rows, but fall apart into {count} groups: nothing links row 0 "
            f"and row {other} (counted from 0). Fit the groups apart, or measure a pair between them."
        )
    lengths = np.where(known, D, np.inf)
    np.fill_diagonal(lengths, 0.0)
    if len(i) == len(D) * (len(D) - 1) // 2:
        return lengths
    hubs = np.argsort(-known.sum(axis=0), kind="stable")[:_HUBS]
    over = lengths[:, hubs]
    for row in np.flatnonzero(np.isinf(lengths).any(axis=1)):
        unknown = np.flatnonzero(np.isinf(lengths[row]))
        lengths[row, unknown] = (over[row] + over[unknown]).min(axis=1)
    if np.isinf(lengths).any():
        # a stored zero would be taken for no edge
        edges = np.maximum(D[i, j], np.finfo(np.float64).tiny)
        ways = shortest_path(csr_array((edges, (i, j)), shape=D.shape), directed=False)
        lengths = np.where(np.isinf(lengths), np.minimum(ways, ways.T), lengths)  # both ways add up differently
    return lengths


def farthest_first(n: int, m: int, distances_from: Callable[[int], Array], rng: np.random.Generator) -> Whole:
    """M of n items, each the farthest from those before it; the first is drawn. Equal items are not taken twice.

    Args:
        n: number of items.
        m: how many to take at most.
        distances_from: from an item to its (n,) distances.
        rng: for the first.

    >>> line = np.array([0.0, 1.0, 2.0, 10.0])
    >>> sorted(farthest_first(4, 2, lambda i: abs(line - line[i]), np.random.default_rng(1)).tolist())
    [1, 3]
    """
    chosen = [int(rng.integers(n))]
    nearest = distances_from(chosen[0]).copy()
    while len(chosen) < m and nearest.max() > 0.0:
        chosen.append(int(nearest.argmax()))
        np.minimum(nearest, distances_from(chosen[-1]), out=nearest)
    return np.sort(np.array(chosen, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class EuclideanDimension:
    """Whether points could have these dissimilarities as distances, and in how many dimensions.

    Attributes:
        euclidean: whether no eigenvalue is below -tolerance.
        dimension: number of eigenvalues above the tolerance; where `euclidean` is False, that of the best fit.
        eigenvalues: (n,) of B, descending, in squared units of D.
        smallest: the last of them.
        tolerance: below which an eigenvalue counts as zero.
        lost: share of the sizes of all eigenvalues that is negative, which no points can have; 0 when Euclidean.
    """

    euclidean: bool
    dimension: int
    eigenvalues: Array
    smallest: float
    tolerance: float
    lost: float


def euclidean_dimension(D: ArrayLike, tol: float = 1e-8) -> EuclideanDimension:
    """Ask whether dissimilarities are the distances of points, and how many dimensions the points need.

    Args:
        D: (n, n) dissimilarities.
        tol: eigenvalues within this share of the largest in size count as zero.

    Returns:
        EuclideanDimension.

    Reference: Schoenberg, Annals of Mathematics 36, 1935; Gower, Linear Algebra and its Applications 67, 1985.

    >>> euclidean_dimension(np.ones((4, 4)) - np.eye(4)).dimension
    3
    >>> found = euclidean_dimension([[0, 1, 3], [1, 0, 1], [3, 1, 0]])  # 1 + 1 < 3
    >>> found.euclidean, round(found.smallest, 4)
    (False, -0.8333)
    """
    if not 0.0 <= tol < 1.0:
        raise ParameterError(f"tol is a share of the largest eigenvalue, from 0 to below 1; is {tol!r}.")
    matrix = as_dissimilarities(D)
    unit = power_of_two(matrix)
    B = doubly_centred((matrix / unit) ** 2)
    values: Array = np.asarray(eigvalsh(B, overwrite_a=True, check_finite=False), dtype=np.float64)[::-1]
    size = np.abs(values)
    # below n eps of the largest there is only rounding, whatever is asked for
    tolerance = max(tol, len(B) * np.finfo(np.float64).eps) * float(size.max())
    negative = values < -tolerance
    lost = float(size[negative].sum() / size.sum()) if negative.any() else 0.0
    with np.errstate(over="ignore", under="ignore"):
        eigenvalues: Array = values * unit * unit
    return EuclideanDimension(
        euclidean=not negative.any(),
        dimension=int((values > tolerance).sum()),
        eigenvalues=eigenvalues,
        smallest=float(eigenvalues[-1]),
        tolerance=tolerance * unit * unit,
        lost=lost,
    )


def _refuse_one_sided(matrix: Any, gaps: Any, name: str) -> None:
    i, j = np.nonzero(gaps & ~gaps.T)
    if len(i):
        raise DataError(
            f"{name} must be symmetric: row {i[0]}, column {j[0]} (counted from 0) is missing, but row {j[0]}, column "
            f"{i[0]} is {matrix[j[0], i[0]]:.6g}. Write the known value on both sides, or NaN on both."
        )

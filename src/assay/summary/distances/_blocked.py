"""Neighbour search by blocks of matrix products: exact in any dimension, in memory of a few blocks.

With rows shifted to their middle, c_x = x - m, one product gives for all pairs of a block

    L(x, y) = |c_y|^2 (1 - alpha) - 2 c_x . c_y - beta |c_x| |c_y|  <=  |x - y|^2 - |c_x|^2,

alpha and beta bounding every rounding error made on the way (Higham, Accuracy and Stability of Numerical Algorithms,
section 3.1). So single precision, at half the price, may rule pairs out; what it cannot rule out is measured from
differences in double precision, and only that decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.arrays import Array, Whole
from assay.engine.local import in_threads
from assay.linalg.one_thread import one_blas_thread
from assay.summary.distances.distances import middle, pair_squares

QUERIES, CANDIDATES = 512, 1024  # of one block; measured best of 128..1024 x 512..4096 for d = 50
PILOT = 64  # queries that decide between single and double precision
TOLERABLE = 8  # measured distances per wanted neighbour, above which single precision does not pay


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Candidates made ready for the product.

    Attributes:
        rows: (n, d) the candidates themselves.
        ids: (n,) which candidate stands at which position. Shuffled, so that a search in row order does not meet
            ever nearer ones: k ln(n / k) of them pass on average then, whatever the order of the data.
        places: (n,) the inverse of ids.
        middle: (d,) the shift.
        factors: (n, d + 2) [c_y, |c_y|^2 (1 - alpha), -beta |c_y|] by position.
        norms: (n,) |c_y| by position.
        slack: what L falls short at most, see _neighbours_kernels.narrow.
    """

    rows: Array
    ids: Whole
    places: Whole
    middle: Array
    factors: npt.NDArray[Any]
    norms: Array
    slack: Array
    beta: float

    @staticmethod
    def of(rows: Array, dtype: type[np.floating[Any]]) -> Bounds:
        """Prepare candidates, (n, d) with ranges of about 1."""
        n, d = rows.shape
        ids = np.random.default_rng(0).permutation(n)
        places = np.empty_like(ids)
        places[ids] = np.arange(n)
        shift = middle(rows)
        centred = rows[ids] - shift
        squares = np.einsum("ij,ij->i", centred, centred)
        norms = np.sqrt(squares)
        alpha, beta, slack = _rounding(d, dtype)
        factors = np.empty((n, d + 2), dtype)
        factors[:, :d] = centred
        factors[:, d] = squares * (1 - alpha)
        factors[:, d + 1] = -beta * norms
        return Bounds(rows, ids, places, shift, factors, norms, slack, beta)

    def queries(self, X: Array) -> tuple[npt.NDArray[Any], Array]:
        """The other side of the product, [-2 c_x, 1, |c_x|], and |c_x|."""
        centred = X - self.middle
        reach = np.sqrt(np.einsum("ij,ij->i", centred, centred))
        factors = np.empty((len(X), X.shape[1] + 2), self.factors.dtype)
        factors[:, :-2] = -2 * centred
        factors[:, -2] = 1
        factors[:, -1] = reach
        return factors, reach

    def blocks(self, factors: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """L for all candidates, block by block; each block is overwritten by the next."""
        n = len(self.rows)
        memory = np.empty(len(factors) * min(n, CANDIDATES), factors.dtype)
        for start in range(0, n, CANDIDATES):
            part = self.factors[start : start + CANDIDATES]
            block = memory[: len(factors) * len(part)].reshape(len(factors), len(part))
            np.matmul(factors, part.T, out=block)
            yield start, block


def _rounding(d: int, dtype: type[np.floating[Any]]) -> tuple[float, float, Array]:
    """alpha, beta and the slack.

    A sum of m = d + 2 products is off by gamma_m = m u / (1 - m u) times the sum of their sizes, in any order and with
    or without fused products; rounding c_x and c_y to dtype adds 4 u |c_x| |c_y|, rounding the last two columns u each,
    and the measured distance itself has a relative error of (d + 4) eps in double precision. A tenth is added for the
    products of such errors.
    """
    m = d + 2
    u = float(np.finfo(dtype).eps) / 2
    eps = (d + 8) * float(np.finfo(np.float64).eps)
    gamma = m * u / (1 - m * u)
    alpha = 1.1 * (gamma + 4 * u) + 4 * eps
    beta = 1.1 * (2 * gamma + 8 * u) + 4 * eps
    underflow = 16 * (d + 4) ** 2 * float(np.finfo(dtype).tiny)
    return alpha, beta, np.array([2 * alpha, 2 * beta, 4 * eps, underflow, 4 * u])


def nearest_blocked(X: Array, Y: Array, k: int, own: Whole) -> tuple[Whole, Array]:
    """The k rows of Y nearest to each row of X, by (distance, number), own[i] left out for row i.

    Args:
        X: (n, d) queries.
        Y: (m, d) candidates, in units where their range is about 1.
        k: How many, fewer than m.
        own: (n,) the candidate each query must not find, -1 for none.

    Returns:
        (n, k) row numbers of Y and distances.
    """
    indices = np.empty((len(X), k), np.int64)
    distances = np.empty((len(X), k))

    def search(bounds: Bounds, part: slice | Whole) -> int:
        found, apart, measured = _search(bounds, X[part], k, own[part])
        indices[part], distances[part] = found, apart
        return measured

    # a million columns: sums in single precision bound nothing any more
    bounds = Bounds.of(Y, np.float32 if Y.shape[1] < 2**20 else np.float64)
    with one_blas_thread():  # one query block per thread beats threads inside the product
        pilot = np.unique(np.linspace(0, len(X) - 1, PILOT).astype(np.int64))
        if search(bounds, pilot) > TOLERABLE * k * len(pilot):
            bounds = Bounds.of(Y, np.float64)
        in_threads(lambda start: search(bounds, slice(start, start + QUERIES)), range(0, len(X), QUERIES))
    return indices, distances


def _search(bounds: Bounds, X: Array, k: int, own: Whole) -> tuple[Whole, Array, int]:
    from assay.summary.distances import _neighbours_kernels as kernels

    n = len(X)
    factors, reach = bounds.queries(X)
    capacity = 2 * k + 64
    state = (
        np.full(n, np.inf, factors.dtype),
        np.zeros(n, np.int64),
        np.zeros(n, np.int8),
        np.empty((n, capacity), factors.dtype),
        np.empty((n, capacity), np.int32),
    )
    place = np.where(own >= 0, bounds.places[own], -1)
    common = (bounds.norms, reach, bounds.slack, k, state)
    measured = 0
    for start, block in bounds.blocks(factors):
        measured += kernels.collect(block, start, X, bounds.rows, bounds.ids, place, *common)
    indices = np.empty((n, k), np.int64)
    distances = np.empty((n, k))
    kernels.settle(X, bounds.rows, bounds.ids, *common, indices, distances)
    return indices, distances, measured


def within_blocked(X: Array, Y: Array, radius: float, limit: int) -> tuple[Whole, Whole, Array] | None:
    """All pairs of rows no further apart than radius, by (row of X, row of Y); None when there are more than limit.

    Args:
        X: (n, d) queries.
        Y: (m, d) candidates, in units where their range is about 1.
        radius: The largest distance, itself included.
        limit: How many pairs may be found.

    Returns:
        Rows of X, rows of Y, and distances, one entry per pair.
    """
    bounds = Bounds.of(Y, np.float64)
    relative, tiny = bounds.slack[2], bounds.slack[3]
    total = 0

    def search(start: int) -> tuple[Whole, Whole, Array]:
        nonlocal total
        part = X[start : start + QUERIES]
        factors, reach = bounds.queries(part)
        ceiling = radius**2 * (1 + relative) - reach**2 * (1 - relative) + tiny
        ceiling += np.abs(ceiling) * bounds.slack[4]
        nothing = np.empty(0, np.int64)
        found = [(nothing, nothing, np.empty(0))]
        for first, block in bounds.blocks(factors):
            if total > limit:
                break
            i, place = np.nonzero(block <= ceiling[:, None])
            j = bounds.ids[place + first]
            apart = np.sqrt(pair_squares(part, Y, i, j))
            keep = apart <= radius
            found.append((i[keep] + start, j[keep], apart[keep]))
            total += int(keep.sum())
        rows, cols, apart = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((cols, rows))
        return rows[order], cols[order], apart[order]

    with one_blas_thread():
        parts = in_threads(search, range(0, len(X), QUERIES))
    if sum(len(rows) for rows, _, _ in parts) > limit:
        return None
    rows, cols, apart = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, cols, apart

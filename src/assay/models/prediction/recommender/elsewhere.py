"""Factorising ratings that workers keep: what the model needs of them beside the half-steps of `als.py`.

    half-step    the factors of the other side go to every worker, the solved rows come back: rows are solved as they
                 are here, to the same bits
    start        products with what biases leave, M x by the users and M^T y by the items that workers keep

A sweep sends k (n + 2 d) numbers to each worker and receives k (n + d) from all together; ratings travel once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from assay.arrays import Array
from assay.engine.current import map_reduce
from assay.models.prediction.recommender.als import Factors, biases, leading_start
from assay.models.prediction.recommender.spread_ratings import RatedRows, SpreadRatings


def standardised(ratings: SpreadRatings, beta: float) -> tuple[SpreadRatings, float, float]:
    """Ratings in units of what biases leave, the mean and that unit; the same steps as for ratings here.

    Args:
        ratings: as read.
        beta: penalty of the biases.
    """
    low, high = ratings.extremes()
    largest = math.ldexp(1.0, math.frexp(max(abs(low), abs(high)))[1] - 1)
    z = ratings.changed(lambda value: value / largest)
    centre, spread = _moments(z)
    spread = spread if spread > 1e-13 * abs(centre) else 1.0
    whole = ratings.changed(lambda value: (value / largest - centre) / spread)
    left = _moments(whole, biases(whole, beta, tol=1e-2, max_iter=10))[1]
    left = left if left > 1e-6 else 1.0
    made = ratings.changed(lambda value: (value / largest - centre) / spread / left)
    return made, centre * largest, spread * left * largest


def spread_start(ratings: SpreadRatings, k: int, base: Factors | None) -> Factors:
    """Factors of the leading singular vectors of what biases leave; of the pattern of the ratings without any.

    Args:
        ratings: standardised.
        k: factors.
        base: with the biases; None for counts.
    """
    change = ratings.change
    n, d = ratings.n_users, ratings.n_items

    def rest(part: RatedRows, own_bias: Array, other_bias: Array) -> Array:
        if base is None:
            return np.ones(len(part.value))
        value = part.value if change is None else change(part.value)
        return np.asarray(value - (own_bias[part.own] + other_bias[part.index]))

    biased = (np.zeros(n), np.zeros(d)) if base is None else (base.user_bias, base.item_bias)

    def times(blocks: Any, biases_: tuple[Array, Array], width: int, x: Array) -> Array:
        def part(rows: RatedRows) -> list[Array]:
            shape = (len(rows.starts) - 1, width)
            return [np.asarray(sparse.csr_array((rest(rows, *biases_), rows.index, rows.starts), shape=shape) @ x)]

        return np.concatenate(map_reduce(blocks, part, list.__add__))

    def apply(x: Array) -> Array:
        return times(ratings.by_user, biased, d, x)

    def adjoint(y: Array) -> Array:
        return times(ratings.by_item, biased[::-1], n, y)

    M = LinearOperator((n, d), matvec=apply, matmat=apply, rmatvec=adjoint, rmatmat=adjoint, dtype=np.float64)
    none = np.empty(0)
    start = base or Factors(np.empty((n, 0)), np.empty((d, 0)), *biased, none, none, False)
    nothing = base is not None and not ratings.total(lambda part, _: np.array([np.any(rest(part, *biased))], float))[0]
    return leading_start(None if nothing else M, k, start)


def _moments(z: SpreadRatings, base: Factors | None = None) -> tuple[float, float]:
    """Mean and standard deviation of the values, or of what biases leave of them."""

    def left(part: RatedRows, value: Array) -> Array:
        return value if base is None else value - (base.user_bias[part.own] + base.item_bias[part.index])

    mean = float(z.total(lambda part, value: np.array([left(part, value).sum()]))[0]) / len(z)
    square = z.total(lambda part, value: np.array([((left(part, value) - mean) ** 2).sum()]))[0]
    return mean, math.sqrt(float(square) / len(z))

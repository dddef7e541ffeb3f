"""Alternating least squares: given the items the users are ridge regressions, and the other way round.

explicit  min sum_seen (z_ui - b_u - c_i - p_u . q_i)^2 + sum_u l_u |p_u|^2 + sum_i l_i |q_i|^2 + beta (|b|^2 + |c|^2)
implicit  min sum_all w_ui (y_ui - p_u . q_i)^2 + sum_u l_u |p_u|^2 + sum_i l_i |q_i|^2,  y 1 where there is a count
          w = 1 + confidence count; sum over all cells by the Gram matrix: sum_i q_i q_i^T once, then those seen

A sweep solves the items and then the users, so that at the end each user is exactly what folding it in would give. Each
solution is exact, and a step beyond one is taken back if it does not help: the objective never rises. The residual is
the gradient in the items, relative to the gradient at zero; that in the users is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from assay.arrays import Array
from assay.linalg.eigen.operand import Multipliable
from assay.linalg.eigen.top_svd import top_svd
from assay.linalg.one_thread import one_blas_thread
from assay.models.prediction.recommender.sides import Given, HereSide, Side, here_sides, sides_of
from assay.optimize.team import Team
from assay.summary.ratings.ratings import Ratings

Progress = Callable[[int, int], object]


class Penalty(NamedTuple):
    """How much parameters cost.

    Attributes:
        factors: of the factors of a row with n ratings, times n^power.
        bias: of the biases.
        power: 1 is weighted lambda, 0 plain.
    """

    factors: float
    bias: float
    power: float

    def of_rows(self, sizes: Any) -> Array:
        """(n,) of each row; those without ratings cost as if they had one."""
        return self.factors * np.maximum(np.asarray(sizes, np.float64), 1.0) ** self.power


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """Biases and factors of both sides, in units of the standardised ratings.

    Attributes:
        users: (n, k) factors.
        items: (d, k) factors.
        user_bias: (n,)
        item_bias: (d,)
        objective: (t,) after each sweep.
        residuals: (t,) before each sweep but the first, after the last: relative gradient.
        converged: whether the last is at most the tolerance.
    """

    users: Array
    items: Array
    user_bias: Array
    item_bias: Array
    objective: Array
    residuals: Array
    converged: bool

    def at(self, user: Any, item: Any) -> Array:
        """(m,) what is expected of pairs, by number."""
        from assay.models.prediction.recommender._kernels import cells

        out = np.empty(len(user))
        cells(np.asarray(user), np.asarray(item), self.users, self.items, out)
        return np.asarray(out + self.user_bias[user] + self.item_bias[item])


def explicit(
    ratings: Given,
    start: Factors,
    penalty: Penalty,
    *,
    max_iter: int,
    tol: float,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Factors:
    """Minimise the explicit objective, from a start.

    Args:
        ratings: standardised: z above.
        start: where to begin; its items count.
        penalty: of factors and biases.
        max_iter: sweeps at most.
        tol: relative gradient to stop at.
        threads: how many; changes no bit.
        progress: called as progress(sweeps done, max_iter).
    """
    by_user, by_item = sides_of(ratings)
    users = np.column_stack([start.users, start.user_bias])
    items = np.column_stack([start.items, start.item_bias])
    costs = penalty.of_rows(ratings.per_user), penalty.of_rows(ratings.per_item)

    def half(side: Side, own: Array, other: Array, cost: Array, told: Array, team: Team) -> None:
        F = other.copy()
        F[:, -1] = 1.0
        offset = np.ascontiguousarray(other[:, -1])
        side.solve("explicit_rows", (F, offset), own, (cost, penalty.bias), told, team)

    def price(own: Array) -> float:
        return float(costs[1] @ (own[:, :-1] ** 2).sum(axis=1) + penalty.bias * (own[:, -1] ** 2).sum())

    objective, residuals, converged = _sweeps(
        partial(half, by_user), partial(half, by_item), users, items, costs, price, max_iter, tol, threads, progress
    )
    return Factors(
        np.ascontiguousarray(users[:, :-1]),
        np.ascontiguousarray(items[:, :-1]),
        users[:, -1].copy(),
        items[:, -1].copy(),
        objective,
        residuals,
        converged,
    )


def implicit(
    counts: Given,
    start: Factors,
    penalty: Penalty,
    *,
    max_iter: int,
    tol: float,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Factors:
    """Minimise the implicit objective, from a start; arguments as in `explicit`, values are weights above 1."""
    by_user, by_item = sides_of(counts)
    users, items = start.users.copy(), start.items.copy()
    costs = penalty.of_rows(counts.per_user), penalty.of_rows(counts.per_item)

    def half(side: Side, own: Array, other: Array, cost: Array, told: Array, team: Team) -> None:
        with one_blas_thread():
            G = other.T @ other
        side.solve("implicit_rows", (other, G), own, (cost,), told, team)

    def price(own: Array) -> float:
        return float(costs[1] @ (own**2).sum(axis=1))

    objective, residuals, converged = _sweeps(
        partial(half, by_user), partial(half, by_item), users, items, costs, price, max_iter, tol, threads, progress
    )
    zero = np.zeros(len(users)), np.zeros(len(items))
    return Factors(users, items, *zero, objective, residuals, converged)


def biases(
    ratings: Given, bias_penalty: float, *, tol: float = 1e-9, max_iter: int = 200, threads: int | None = None
) -> Factors:
    """Biases alone: no factors."""
    n, d = ratings.n_users, ratings.n_items
    nothing = Factors(np.empty((n, 0)), np.empty((d, 0)), np.zeros(n), np.zeros(d), np.empty(0), np.empty(0), False)
    return explicit(ratings, nothing, Penalty(0.0, bias_penalty, 0.0), max_iter=max_iter, tol=tol, threads=threads)


def slopes(ratings: Ratings, base: Factors, penalty: float, bias_penalty: float, rounds: int = 2) -> Factors:
    """Biases on scales of their own: b_u + (1 + s_u) c_i + t_i b_u.

    A user who uses more of the scale than others has s_u > 0; where a scale ends, high biases count for less. Neither
    is a taste: all users would put the items in the same order, but for t, which bends it with the level of the user.

    Args:
        ratings: standardised.
        base: biases to begin with.
        penalty: of s and t.
        bias_penalty: of b and c.
        rounds: of users given items and items given users; t comes last.
    """
    from assay.models.prediction.recommender._kernels import explicit_rows

    by_user, by_item = here_sides(ratings)
    user, item = ratings.user, ratings.item

    def fitted(side: HereSide, other: Array, value: Array, cost: float, alone: float) -> Array:
        n = len(side.starts) - 1
        F, X, told = np.column_stack([other, np.ones(len(other))]), np.zeros((n, 2)), np.zeros((n, 4))
        fixed = (F, np.zeros(len(other)), X, np.full(n, cost), alone, told)
        explicit_rows(0, n, side.starts, side.index, value, *fixed)
        return X

    c = base.item_bias
    for _ in range(rounds):
        s, b = fitted(by_user, c, ratings.value - c[item], penalty, bias_penalty).T
        rest = (ratings.value - b[user])[ratings.turned.place]
        c = fitted(by_item, 1.0 + s, rest, bias_penalty, 1e12)[:, 0]
    rest = (ratings.value - b[user] - (1.0 + s[user]) * c[item])[ratings.turned.place]
    t = fitted(by_item, b, rest, penalty, 1e12)[:, 0]
    return Factors(np.column_stack([s, b]), np.column_stack([c, t]), b.copy(), c, np.empty(0), np.empty(0), True)


def spectral_start(ratings: Ratings, rest: Array, k: int, base: Factors) -> Factors:
    """Factors of the leading singular vectors of what is left, unknown cells as zero; biases as in `base`.

    It depends on the order of users and items by signs alone, and repeats.

    Args:
        ratings: whose cells.
        rest: (m,) what is left of each.
        k: factors.
        base: with the biases.
    """
    M = sparse.csr_array((rest, ratings.item, ratings.starts), shape=(ratings.n_users, ratings.n_items))
    return leading_start(M if np.any(rest) else None, k, base)


def leading_start(M: Multipliable | None, k: int, base: Factors) -> Factors:
    """The same of a matrix known by its products; None is zero."""
    n, d = len(base.user_bias), len(base.item_bias)
    r = min(k, n, d)
    users, items = np.zeros((n, k)), np.zeros((d, k))
    if r and M is not None:
        found = top_svd(M, r)
        root = np.sqrt(found.values)
        users[:, :r], items[:, :r] = found.left * root, found.right * root
    return Factors(users, items, base.user_bias, base.item_bias, np.empty(0), np.empty(0), False)


def _sweeps(
    half_users: Any,
    half_items: Any,
    users: Array,
    items: Array,
    costs: tuple[Array, Array],
    price: Callable[[Array], float],
    max_iter: int,
    tol: float,
    threads: int | None,
    progress: Progress | None,
) -> tuple[Array, Array, bool]:
    """Solve users, then items and users again and again until the gradient in the items is small.

    Items go on beyond their solution in the direction they came (Nesterov's momentum, which spares most sweeps); where
    that would raise the objective they do not, and momentum begins anew.
    """
    from assay.models.prediction.recommender._kernels import GRADIENT, LOSS, PENALTY, RIGHT

    told, told_items = np.zeros((len(users), 4)), np.zeros((len(items), 4))
    objective: list[float] = []
    residuals: list[float] = []
    before, since = items.copy(), 0
    with Team(threads) as team:
        half_users(users, items, costs[0], told, team)
        for sweep in range(max_iter + 1):
            kept = items.copy()
            half_items(items, users, costs[1], told_items, team)
            right = float(told_items[:, RIGHT].sum())
            residuals.append(float(np.sqrt(told_items[:, GRADIENT].sum() / right)) if right > 0.0 else 0.0)
            if residuals[-1] <= tol or sweep == max_iter:
                items[:] = kept  # this half-step only measured the gradient
                break
            solved, since = items.copy(), since + 1
            if since > 1:
                items += (since - 1) / (since + 2) * (solved - before)
            half_users(users, items, costs[0], told, team)
            reached = told[:, [LOSS, PENALTY]].sum() + price(items)
            if since > 1 and reached > objective[-1]:
                items[:], since = solved, 0  # too far: go on from the solution itself
                half_users(users, items, costs[0], told, team)
                reached = told[:, [LOSS, PENALTY]].sum() + price(items)
            before = solved
            objective.append(float(reached))
            if progress is not None:
                progress(sweep + 1, max_iter)
    return np.array(objective), np.array(residuals), residuals[-1] <= tol

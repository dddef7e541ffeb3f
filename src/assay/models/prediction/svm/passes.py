"""Linear machines by passes over rows that are never held: hinge and tube losses of w.x + b.

    min over w, b of  1/2 |w|^2 + sum_i C_i max(0, lower_i - f_i, f_i - upper_i),   f = (x - m) w + b

The corner of each loss is rounded over a width of mu C_i around it, where errors on both sides cancel; Newton steps
solve that, and mu falls until the duality gap is small. A pass gives sums of multipliers beta_i times rows and the
products of the rows on a corner, (d + 1, d + 1): no number for each row is kept. Workers keep the rows, read in blocks;
every pass gives one small sum.

    beta_i = clip((lower_i - f_i) / mu + C_i / 2, 0, C_i) - clip((f_i - upper_i) / mu + C_i / 2, 0, C_i)
    dual     sum_i end_i beta_i - 1/2 |sum_i beta_i x_i|^2,  sum beta = 0: the larger side is scaled down to the other

A squared loss has no corner to round: beta_i = 2 C_i times the loss, all rows with one have curvature 2 C_i, and the
dual is less by sum_i beta_i^2 / (4 C_i).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from assay.arrays import Array
from assay.data.blocks import FloatBlocks
from assay.data.partitions import beside
from assay.engine.current import map_reduce, scattered
from assay.summary.incomplete.missing_patterns import Observed
from assay.summary.moments.accumulate import refuse_unusable_rows

# from what is known of the rows of a block: which of them count, the ends of what costs nothing, and C of each
Ends: TypeAlias = Callable[[NDArray[Any]], tuple[Any, Array, Array, Array]]

GAP = 0.1  # duality gap allowed, as a share of the objective, for a unit of tol
_WIDE = 4.0  # first width of a corner, in units of the mean loss
_NARROWER = 0.2
_STAGES = 24
_ENOUGH = 0.1  # share of the slope along a step that may be left
_SETTLED = 0.1  # share of the gap allowed that the slope at the end of a stage may explain
_MOST = 20  # steps of a stage
_SHARES = 2.0 ** np.linspace(-20.0, 6.0, 105)  # of a step, looked at in one pass
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class HingeSums:
    """Sums over rows at one point; `a + b` is that of both.

    Attributes:
        rows: how many.
        loss: sum of C times loss, not rounded; of its square, if squared.
        up, down: (d + 1,) sums of positive and of negative multipliers times (x - m, 1).
        up_ends, down_ends: sums of these multipliers times the end of the tube they are for.
        products: (d + 1, d + 1) of the rows on a corner, over mu; if squared, of all with a loss, times 2 C.
        up_squares, down_squares: sums of squares of these multipliers over 4 C, if squared.
    """

    rows: int
    loss: float
    up: Array
    down: Array
    up_ends: float
    down_ends: float
    products: Array
    up_squares: float = 0.0
    down_squares: float = 0.0

    def __add__(self, other: HingeSums) -> HingeSums:
        return HingeSums(
            self.rows + other.rows,
            self.loss + other.loss,
            self.up + other.up,
            self.down + other.down,
            self.up_ends + other.up_ends,
            self.down_ends + other.down_ends,
            self.products + other.products,
            self.up_squares + other.up_squares,
            self.down_squares + other.down_squares,
        )

    def slope(self, theta: Array) -> Array:
        """(d + 1,) gradient of the rounded objective at (w, b)."""
        return np.append(theta[:-1], 0.0) - self.up - self.down

    def objective(self, theta: Array) -> float:
        """Of the machine itself, not rounded."""
        return 0.5 * float(theta[:-1] @ theta[:-1]) + self.loss

    def unsettled(self, theta: Array) -> float:
        """What the slope adds to the gap, about: multipliers that do not sum to w, nor to zero."""
        slope, total = self.slope(theta), float(self.up[-1] - self.down[-1])
        end = (abs(self.up_ends) + abs(self.down_ends)) / total if total > 0.0 else 0.0
        return 0.5 * float(slope[:-1] @ slope[:-1]) + abs(float(slope[-1])) * end

    def gap(self, theta: Array) -> float:
        """Objective less that of feasible multipliers: so far is the objective from the least, at most."""
        more, less = float(self.up[-1]), -float(self.down[-1])
        even = min(more, less)
        a, b = (even / more if more > 0.0 else 0.0), (even / less if less > 0.0 else 0.0)
        pulled = a * self.up[:-1] + b * self.down[:-1]
        dual = a * self.up_ends + b * self.down_ends - 0.5 * float(pulled @ pulled)
        dual -= a**2 * self.up_squares + b**2 * self.down_squares
        return max(self.objective(theta) - dual, 0.0)


Look: TypeAlias = Callable[[Array, float], HingeSums]
Along: TypeAlias = Callable[[Array, Array, float, Array], Array]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A linear machine and its certificate.

    Attributes:
        coef: (d,) w.
        offset: b, for rows less m.
        objective: half the square of w, plus the sum of losses.
        duality_gap: how far that is from the least, at most.
        iterations: Newton steps.
        passes: over the rows.
        converged: whether the gap is within the tolerance, as a share of the objective.
    """

    coef: Array
    offset: float
    objective: float
    duality_gap: float
    iterations: int
    passes: int
    converged: bool


def hinge_sums(
    Z: Array, lower: Array, upper: Array, C: Array, theta: Array, mu: float, *, squared: bool = False
) -> HingeSums:
    """The sums of a block.

    Args:
        Z: (b, d) rows less m.
        lower, upper: (b,) ends of what costs nothing; may be infinite.
        C: (b,) of each row.
        theta: (d + 1,) w and b.
        mu: width of a corner for a unit of C; not used if squared.
        squared: whether the loss is squared.
    """
    f = Z @ theta[:-1] + theta[-1]
    below, above = _multipliers(f, lower, upper, C, mu, squared)
    beta = below - above
    losses = np.maximum(np.maximum(lower - f, f - upper), 0.0)
    positive, negative = np.flatnonzero(beta > 0.0), np.flatnonzero(beta < 0.0)
    if squared:
        corner = 2.0 * C * (losses > 0.0)
    else:
        corner = (((below > 0.0) & (below < C)).astype(np.float64) + ((above > 0.0) & (above < C))) / mu
    rounded = np.flatnonzero(corner)
    d, weight = Z.shape[1], corner[rounded]
    picked = Z[rounded]
    products = np.empty((d + 1, d + 1))
    products[:d, :d] = (picked * weight[:, None]).T @ picked
    products[d, :d] = products[:d, d] = weight @ picked
    products[d, d] = weight.sum()
    return HingeSums(
        len(Z),
        float(C @ (losses**2 if squared else losses)),
        np.append(beta[positive] @ Z[positive], beta[positive].sum()),
        np.append(beta[negative] @ Z[negative], beta[negative].sum()),
        float(beta[positive] @ lower[positive]),
        float(beta[negative] @ upper[negative]),
        products,
        float(np.sum(beta[positive] ** 2 / C[positive])) / 4.0 if squared else 0.0,
        float(np.sum(beta[negative] ** 2 / C[negative])) / 4.0 if squared else 0.0,
    )


def slopes_along(
    Z: Array,
    lower: Array,
    upper: Array,
    C: Array,
    theta: Array,
    step: Array,
    mu: float,
    shares: Array,
    *,
    squared: bool = False,
) -> Array:
    """(k,) sums over a block of multiplier times move, at these shares of a step; arguments as for `hinge_sums`."""
    f, move = Z @ theta[:-1] + theta[-1], Z @ step[:-1] + step[-1]
    found = np.empty(len(shares))
    for i, share in enumerate(shares):
        below, above = _multipliers(f + share * move, lower, upper, C, mu, squared)
        found[i] = (below - above) @ move
    return found


def solve_in_passes(look: Look, along: Along, d: int, *, C: float, tol: float, max_iter: int) -> Line:
    """The machine, from sums over all rows.

    Args:
        look: a pass, the sums at (w, b) for a width mu.
        along: a pass, the sums of multiplier times move at shares of a step from (w, b).
        d: columns.
        C: a usual value of a row.
        tol: duality gap allowed, as a share of the objective.
        max_iter: Newton steps allowed.
    """
    theta, steps, passes = np.zeros(d + 1), 0, 1
    first = look(theta, 1.0 / C)
    mu = _WIDE * max(first.loss / first.rows / C, _EPS) / C
    best = (theta, first.objective(theta), np.inf)
    for _ in range(_STAGES):
        sums, passes = look(theta, mu), passes + 1
        for _ in range(min(_MOST, max_iter - steps)):
            if sums.unsettled(theta) <= _SETTLED * tol * sums.objective(theta):
                break
            slope = sums.slope(theta)
            step = _direction(slope, sums.products, mu)
            moved, seen = _moved(theta, step, slope, mu, look, along)
            theta, sums, steps, passes = theta + moved[0] * step, moved[1], steps + 1, passes + seen
        if sums.gap(theta) <= best[2]:
            best = (theta, sums.objective(theta), sums.gap(theta))
        if best[2] <= tol * best[1] or steps >= max_iter:
            break
        mu *= _NARROWER
    theta, objective, gap = best
    return Line(theta[:-1], float(theta[-1]), objective, gap, steps, passes, bool(gap <= tol * objective))


def _multipliers(f: Array, lower: Array, upper: Array, C: Array, mu: float, squared: bool) -> tuple[Array, Array]:
    if squared:
        return 2.0 * C * np.maximum(lower - f, 0.0), 2.0 * C * np.maximum(f - upper, 0.0)
    half = C / 2.0
    return np.clip((lower - f) / mu + half, 0.0, C), np.clip((f - upper) / mu + half, 0.0, C)


def _direction(slope: Array, products: Array, mu: float) -> Array:
    H = products.copy()
    H[np.diag_indices(len(H) - 1)] += 1.0
    if H[-1, -1] <= 0.0:  # no row on a corner: b moves as with one
        H[-1, -1] = 1.0 / mu
    units = 1.0 / np.sqrt(np.diag(H))
    scaled = H * np.outer(units, units)
    scaled[np.diag_indices(len(H))] = 1.0 + 64.0 * _EPS
    return np.asarray(-units * cho_solve(cho_factor(scaled), units * slope))


def _moved(
    theta: Array, step: Array, slope: Array, mu: float, look: Look, along: Along
) -> tuple[tuple[float, HingeSums], int]:
    """The share of a step that is taken with the sums there, and how many passes that took."""
    first = float(slope @ step)
    whole = look(theta + step, mu)
    if abs(float(whole.slope(theta + step) @ step)) <= -_ENOUGH * first:
        return (1.0, whole), 1
    w, dw = theta[:-1], step[:-1]
    slopes = float(w @ dw) + _SHARES * float(dw @ dw) - along(theta, step, mu, _SHARES)
    # the slope rises along the step, by straight pieces: it is zero between two of the shares
    after = int(np.searchsorted(slopes > 0.0, True))
    low, at_low = (0.0, first) if after == 0 else (float(_SHARES[after - 1]), float(slopes[after - 1]))
    if after == len(_SHARES):
        share = low
    else:
        high, at_high = float(_SHARES[after]), float(slopes[after])
        share = low + (high - low) * at_low / (at_low - at_high)
    return (share, look(theta + share * step, mu)), 3


@dataclass(frozen=True, slots=True, eq=False)
class MarginTable:
    """Rows that can be passed over again and again.

    Attributes:
        blocks: first row, rows, what is known of each, and its weight or None.
        middle: (d,) mean of the rows, taken off them.
    """

    blocks: Any
    middle: Array

    @classmethod
    def of(cls, blocks: FloatBlocks, known: NDArray[Any], weights: Array | None = None) -> MarginTable:
        """Look at every column once, and refuse what is not finite.

        Args:
            blocks: the rows.
            known: (n,) classes or targets.
            weights: (n,) by which C is multiplied; None for 1.
        """
        kept = scattered(beside(blocks, known, weights))
        seen = Observed.of(kept, columns=blocks.columns)
        if seen.missing.any():
            refuse_unusable_rows(kept, blocks.columns)
        return cls(kept, seen.mean)

    def solve(self, ends: Ends, *, C: float, tol: float, max_iter: int, squared: bool = False) -> Line:
        """The machine for these ends and values of C.

        Args:
            ends: of the rows of a block.
            C: a usual value of a row.
            tol: duality gap allowed, as a share of the objective.
            max_iter: Newton steps allowed.
            squared: whether the loss is squared.
        """
        blocks, middle = self.blocks, self.middle

        def rows_of(part: tuple[int, Any, NDArray[Any], Array | None]) -> tuple[Array, Array, Array, Array]:
            _, rows, known, weights = part
            picked, lower, upper, own = ends(known)
            own = own if weights is None else own * weights[picked]
            return np.asarray(rows[picked] - middle), lower, upper, own

        def look(theta: Array, mu: float) -> HingeSums:
            return map_reduce(
                blocks, lambda part: hinge_sums(*rows_of(part), theta, mu, squared=squared), HingeSums.__add__
            )

        def along(theta: Array, step: Array, mu: float, shares: Array) -> Array:
            def sums(part: Any) -> Array:
                return slopes_along(*rows_of(part), theta, step, mu, shares, squared=squared)

            return map_reduce(blocks, sums, np.add)

        return solve_in_passes(look, along, len(middle), C=C, tol=tol, max_iter=max_iter)

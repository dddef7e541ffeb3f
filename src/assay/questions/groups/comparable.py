"""Columns made comparable for distances: rounding undone, skew taken out, far values drawn in, unit variance.

k-means and distances see what is far; a skewed column is all tail to them, and a rounded one is made of groups. Neither
is structure among rows, so both go before groups are looked for, in the data and in what chance makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.evidence.measured import robust_scale
from assay.questions.groups.unimodal import second_peak
from assay.questions.groups.yeo_johnson import straightened, straightening_powers

_ROUNDED = 30  # up to so many values a column counts as rounded
_SKEWED = 0.3  # 0.27 for chi-square with 5 degrees of freedom, 0.46 for an exponential law
_REACH = 4.0  # robust standard deviations
_FARTHEST_DRAWN = 2.0  # times as far as that at most, for values 5.6 times as far and more
_FARTHEST = 1e50  # of these a value counts as beyond, so that its powers and their squares stay in the range of numbers


@dataclass(frozen=True, slots=True, eq=False)
class Comparable:
    """How columns are made comparable, decided on some rows and applied to any.

    Attributes:
        rounding: for each column the edges between its values, or None where it is not rounded.
        middle, spread: (d,) robust location and scale.
        skewed: (d,) which columns go through a power transform.
        powers: (s,) of those.
        centre, reach: (d,) where values lie, and the distance beyond which they are drawn in.
        mean, scale: (d,) of what comes out.
    """

    rounding: tuple[Array | None, ...]
    middle: Array
    spread: Array
    skewed: NDArray[np.bool_]
    powers: Array
    centre: Array
    reach: Array
    mean: Array
    scale: Array

    @classmethod
    def of(cls, rows: Array, rng: np.random.Generator) -> tuple[Comparable, Array]:
        """Decide on (n, d) rows of columns that vary, and apply to them."""
        rounding = tuple(_edges(column) for column in rows.T)
        X = _spread_out(rows, rounding, rng)
        middle, spread = robust_scale(X)
        X = _in_units(X, middle, spread)
        skewed = np.abs(_skewness(X)) > _SKEWED
        powers = straightening_powers(X[:, skewed])
        tails = _tails(X[:, skewed], powers)
        skewed[skewed], powers = tails, powers[tails]
        X = _straight(X, skewed, powers)
        centre, unit = robust_scale(X)
        reach = _REACH * unit
        X = _drawn_in(X, centre, reach)
        mean, scale = X.mean(axis=0), X.std(axis=0)
        return cls(rounding, middle, spread, skewed, powers, centre, reach, mean, scale), (X - mean) / scale

    def apply(self, rows: Array, rng: np.random.Generator) -> Array:
        """(n, d) other rows of the same columns."""
        X = _in_units(_spread_out(rows, self.rounding, rng), self.middle, self.spread)
        X = _drawn_in(_straight(X, self.skewed, self.powers), self.centre, self.reach)
        return np.asarray((X - self.mean) / self.scale)


def _in_units(X: Array, middle: Array, spread: Array) -> Array:
    return np.clip((X - middle) / spread, -_FARTHEST, _FARTHEST)


def _drawn_in(X: Array, centre: Array, reach: Array) -> Array:
    """Values r times as far as the reach at 1 + log(1 + log r) of it, at most 2; cut off there they would be a peak."""
    far = (X - centre) / reach
    ratio = np.maximum(np.abs(far), 1.0)
    near = np.minimum(1.0 + np.log1p(np.log(ratio)), _FARTHEST_DRAWN)
    return np.asarray(centre + reach * np.where(ratio > 1.0, np.sign(far) * near, far))


def _edges(column: Array) -> Array | None:
    """Half-way between neighbouring values of a rounded column, and as far beyond the outer ones."""
    values = np.unique(column)
    if len(values) > min(_ROUNDED, len(column) // 2):
        return None
    between = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - between[0]], between, [2 * values[-1] - between[-1]]])


def _skewness(X: Array) -> Array:
    """Kelley's measure: how much nearer the median is to one tenth than to the other; far values do not move it."""
    low, middle, high = np.quantile(X, [0.1, 0.5, 0.9], axis=0)
    width = high - low
    return np.asarray((low + high - 2 * middle) / np.where(width > 0, width, np.inf))


def _tails(X: Array, powers: Array) -> NDArray[np.bool_]:
    """(d,) where skew is a tail; where a second peak remains once it is straightened, skew is what groups make."""
    if not X.shape[1]:
        return np.zeros(0, dtype=bool)
    straight = straightened(X, powers)
    return ~second_peak((straight - straight.mean(axis=0)) / straight.std(axis=0))


def _spread_out(rows: Array, rounding: tuple[Array | None, ...], rng: np.random.Generator) -> Array:
    """Values of rounded columns anywhere within what rounds to them."""
    spread = rows.astype(np.float64)
    for j, edges in enumerate(rounding):
        if edges is not None:
            cell = np.clip(np.searchsorted(edges, rows[:, j], side="right") - 1, 0, len(edges) - 2)
            spread[:, j] = edges[cell] + rng.random(len(rows)) * (edges[cell + 1] - edges[cell])
    return spread


def _straight(X: Array, skewed: NDArray[np.bool_], powers: Array) -> Array:
    if not len(powers):
        return X
    straight = X.copy()
    straight[:, skewed] = straightened(X[:, skewed], powers)
    return straight

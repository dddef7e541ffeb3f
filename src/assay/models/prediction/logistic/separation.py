"""Are classes separable by linear scores? Then the likelihood has no maximum, and here is the proof.

    direction D (k, m):  (A_c - A_l) D z_i >= 0  for every row i of class c and every other class l,
                         and > 0 for some (quasi-complete separation) or for all (complete)

Along such a direction the likelihood rises for ever. With u the sum of all these rows (A_c - A_l) (x) z_i, it is a D
with no row below zero and u . D > 0, found by linear programs with few of the rows at a time:

    max u . D   with   (A_c - A_l) D z_j >= 0  for the rows j taken so far,  -1 <= D <= 1

Where the best is 0 there is no such D. Otherwise D is tried on all rows, and those it puts on the wrong side are taken
too.

Reference: Albert, Anderson, On the existence of maximum likelihood estimates in logistic regression models, Biometrika
1984; Konis, Linear programming algorithms for detecting separated data, 2007.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from assay.arrays import Array, Indices
from assay.models.prediction.logistic.terms import contrasts

# worst(direction, count): rows whose own class is least ahead: their numbers, design (b, m) and classes
Worst: TypeAlias = Callable[[Array, int], tuple[NDArray[np.intp], Array, Indices]]

_ZERO = 1e-7  # what a linear program leaves of a zero, rows scaled to length 1
_STRICT = 1e-4  # a difference of scores that is none of rounding, the direction's largest entry being 1
_ROUNDS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """What is known about separability.

    Attributes:
        separated: whether a separating direction exists; None where neither was shown.
        direction: (k, m) that direction, its largest entry 1; None without one.
        rounds: linear programs solved.
    """

    separated: bool | None
    direction: Array | None
    rounds: int


def separating_direction(
    worst: Worst, widest: Callable[[Array], float], slope: Array, start: Array, count: int | None = None
) -> Separation:
    """Look for a direction that separates.

    Args:
        worst: worst(direction, count) gives the rows whose own class is least ahead along it, each once.
        widest: widest(direction) gives the largest difference between two classes' scores in a row.
        slope: (k, m) gradient of the loss where all scores are zero: minus u, but for a factor.
        start: (k, m) parameters whose worst rows are taken first.
        count: rows taken at a time; None for 20 for each parameter.
    """
    k = len(start)
    count = count or max(200, 20 * start.size)
    numbers, Z, codes = worst(start, count)
    for rounds in range(1, _ROUNDS + 1):
        direction = _best_direction(pair_rows(Z, codes, k), -slope.ravel()).reshape(start.shape)
        size = float(np.abs(direction).max())
        if size == 0.0 or -np.sum(slope * direction) <= _ZERO * np.abs(slope).sum() / slope.size:
            return Separation(False, None, rounds)
        direction /= size
        more, Z_more, codes_more = worst(direction, count)
        behind = pair_rows(Z_more, codes_more, k) @ direction.ravel() < -_ZERO
        new = behind.reshape(len(more), k).any(axis=1) & ~np.isin(more, numbers)
        if not new.any():
            found = widest(direction) > _STRICT
            return Separation(found, direction if found else None, rounds)
        numbers = np.concatenate([numbers, more[new]])
        Z, codes = np.concatenate([Z, Z_more[new]]), np.concatenate([codes, codes_more[new]])
    return Separation(None, None, _ROUNDS)


def pair_rows(Z: Array, codes: Indices, k: int) -> Array:
    """(b k, k m) rows that give, times a direction, how far each row's class is ahead of each other class."""
    A = contrasts(k + 1)
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True).clip(np.finfo(float).tiny)
    others = np.arange(k) + (np.arange(k) >= codes[:, None])
    apart = A[codes][:, None] - A[others]
    pairs: Array = np.einsum("bla,bm->blam", apart, Z).reshape(len(codes) * k, k * Z.shape[1])
    return pairs


def _best_direction(G: Array, upwards: Array) -> Array:
    """The direction within the unit cube that goes farthest upwards with no row of G below zero."""
    unit = float(np.abs(upwards).max()) or 1.0
    found = linprog(-upwards / unit, A_ub=-G, b_ub=np.zeros(len(G)), bounds=(-1.0, 1.0), method="highs")
    return np.zeros(len(upwards)) if found.x is None else np.asarray(found.x, dtype=np.float64)

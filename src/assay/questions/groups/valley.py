"""Does a valley lie between groups, on rows that had no part in finding them?

For two groups whose centres are neighbours, unseen rows between them are placed along the discriminant that other rows
learnt, the centres at -1 and 1:
chance  of their dip, if they had one peak
height  of the lowest place between the centres, beside the density at these
bridge  log density of rows half-way, less that at the centres, in planes of that direction and another one
bent    log density of rows in such a plane, less that after either group has one coordinate exchanged among its rows: a
        thin band that is cut in two, a ring or a spiral, has peaks seen from the side, and is no groups

The rows between two centres are those nearer to the line from one to the other than to any further centre: half-spaces,
whose intersection is convex. So in a lump (of a log-concave law) they have one peak, in any direction.

Reference: Prekopa, Acta Scientiarum Mathematicarum 34 (1973), marginals of log-concave laws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from assay.arrays import Array, Indices
from assay.linalg.normal.shrinkage import rao_blackwell
from assay.questions.groups.dense import neighbours_of
from assay.questions.groups.dip import dip_chance, dips
from assay.questions.groups.directions import components, unusual
from assay.questions.groups.rules import GroupRule, Way

_FEWEST = 8  # rows between two centres of which a dip can be taken
_FOLDS = 5
_SMOOTH, _INNER = 0.2, 0.7  # half the way between two centres is 1
_LEVEL = 0.3
_BENT = 3  # unusual directions looked along
_NEW = 0.3  # share of a direction's spread that must be left beside the way between two groups
_EXCHANGES = 3
_MEET = 3  # rows half-way between two centres, below which nothing lies there


@dataclass(frozen=True, slots=True)
class Valley:
    """The valley between the two neighbours where each of these is largest.

    Attributes:
        chance: of the dip, if there were one peak.
        height: of the lowest place between the centres, beside the lower of both.
        bridge: log density half-way, less that at the centres; -inf where nobody is half-way.
        bent: log density of rows, less that after one coordinate is exchanged within each group: 0 for lumps, .5 and
            more for a thin band.
    """

    chance: float
    height: float
    bridge: float
    bent: float


NONE = Valley(1.0, 1.0, 0.0, 0.0)


def seen_chance(Z: Array, rule: GroupRule) -> float:
    """Chance of the dip on the rows that the rule was learnt on, which flatters it: large where there is no valley.

    Args:
        Z: (n, d) comparable rows.
        rule: learnt on them.
    """
    own = rule.labels(Z)
    pairs = (_between(rule, Z, own, Z, g, h) for g in range(rule.k) for h in range(g))
    places = [pair[1] for pair in pairs if pair is not None and len(pair[1]) >= _FEWEST]
    return max((_chance(t) for t in places), default=1.0)


def valley(Z: Array, way: Way, k: int, seed: int, rng: np.random.Generator) -> Valley:
    """Divide the rows into fifths, place each by a rule that the others learnt, and look between neighbours.

    Args:
        Z: (n, d) comparable rows.
        way: of describing groups.
        k: how many.
        seed: of starts.
        rng: divides the rows.
    """
    whole = way.learnt(Z, k, seed)
    if whole is None:
        return NONE
    named = whole.labels(Z)
    fold = rng.permutation(len(Z)) % _FOLDS
    seen: dict[tuple[int, int], list[tuple[Indices, Array]]] = {}
    for f in range(_FOLDS):
        learnt, rows = Z[fold != f], np.flatnonzero(fold == f)
        rule = way.learnt(learnt, k, seed)
        if rule is None:
            return NONE
        own = rule.labels(learnt)
        same = matched(named[fold != f], own, k)
        for g in range(k):
            for h in range(g):
                between = _between(rule, learnt, own, Z[rows], int(same[g]), int(same[h]))
                if between is not None:
                    seen.setdefault((g, h), []).append((rows[between[0]], between[1]))
    pairs = [(np.concatenate([x for x, _ in some]), np.concatenate([t for _, t in some])) for some in seen.values()]
    told = [(rows, t) for rows, t in pairs if len(t) >= _FEWEST]
    if not told:
        return NONE
    bridges = [_bridge(Z[rows], t) for rows, t in told]
    return Valley(
        max(_chance(t) for _, t in told),
        max(_height(t) for _, t in told),
        max(bridge for bridge, _ in bridges),
        max(bent for _, bent in bridges),
    )


def _chance(t: Array) -> float:
    return dip_chance(float(dips(t[:, None])[0]), len(t))


def _height(t: Array) -> float:
    """A bent band has its peaks at its ends, beyond the middles of what it is cut into: some .6 for a ring."""
    inner = np.linspace(-_INNER, _INNER, 25)
    density = [np.exp(-0.5 * ((at - t[:, None]) / _SMOOTH) ** 2).sum(axis=0) for at in (inner, np.array([-1.0, 1.0]))]
    return float(density[0].min() / max(density[1].min(), np.finfo(float).tiny))


def _bridge(rows: Array, t: Array) -> tuple[float, float]:
    """The largest over planes: the way between the centres, and in turn each direction in which a band may be bent."""
    if rows.shape[1] == 1:
        return -np.inf, 0.0
    low, cores = np.abs(t) <= _LEVEL, [np.abs(t - end) <= _LEVEL for end in (-1.0, 1.0)]
    right = t > 0
    if right.all() or not right.any():
        return 0.0, 0.0
    own = _within(t, right)
    bridge, bent = -np.inf, 0.0
    for w in np.hstack([unusual(rows)[:, :_BENT], components(rows, _BENT - 1)]).T:
        s = rows @ w
        within = _within(s, right)
        slope = (within @ own) / max(float(own @ own), np.finfo(float).tiny)
        left, spread = s - slope * t, float((within - slope * own).std())
        if spread > _NEW * s.std():
            x, y = t / max(float(own.std()), np.finfo(float).tiny), left / spread
            density = _density(x, y)
            mixed = np.mean([_density(x, _exchanged(y, right, seed)).mean() for seed in range(_EXCHANGES)])
            bent = max(bent, float(density.mean() - mixed))
            if min(part.sum() for part in (low, *cores)) >= _MEET:
                bridge = max(bridge, float(density[low].mean() - np.mean([density[core].mean() for core in cores])))
    return bridge, bent


def _within(x: Array, right: NDArray[np.bool_]) -> Array:
    """Distance from the mean of the own side."""
    return np.asarray(x - np.where(right, x[right].mean(), x[~right].mean()))


def _exchanged(y: Array, right: NDArray[np.bool_], seed: int) -> Array:
    rng = np.random.default_rng(seed)
    mixed = y.copy()
    for side in (right, ~right):
        mixed[side] = rng.permutation(y[side])
    return mixed


def _density(x: Array, y: Array) -> Array:
    """(n,) log density of rows in a plane, but for a constant."""
    P = np.column_stack([x, y])
    m = min(neighbours_of(len(P)), len(P) - 1)
    reach = np.asarray(cKDTree(P).query(P, m + 1)[0])[:, m]
    return np.asarray(-2.0 * np.log(np.maximum(reach, np.finfo(float).tiny)))


def matched(one: Indices, two: Indices, k: int) -> Indices:
    """(k,) for each group of one labelling, the one of the other that it is.

    >>> matched(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 2)
    array([1, 0])
    """
    table = np.zeros((k, k))
    np.add.at(table, (one, two), 1.0)
    return np.asarray(linear_sum_assignment(-table)[1])


def _between(rule: GroupRule, learnt: Array, own: Indices, rows: Array, g: int, h: int) -> tuple[Indices, Array] | None:
    """Which rows lie between two centres, and where, the centres at -1 and 1; None where the two are no neighbours."""
    C = rule.centres
    if C is None:
        return None
    a, b = C[g], C[h]
    length = float(((b - a) ** 2).sum())
    if length == 0.0:
        return None
    S = rule.place(rows)
    kept = np.ones(len(S), dtype=bool)
    for c in (C[i] for i in range(rule.k) if i not in (g, h)):
        if float((a - c) @ (b - c)) < 0.0:  # it lies between: inside the ball that has both on its surface
            return None
        q = a + np.clip((c - a) @ (b - a) / length, 0.0, 1.0) * (b - a)
        kept &= S @ (c - q) <= (c @ c - q @ q) / 2
    T = rule.place(learnt)
    w = _discriminant(T[own == g], T[own == h], b - a)
    return np.flatnonzero(kept), np.asarray((S[kept] @ w - (a + b) @ w / 2) / ((b - a) @ w / 2))


def _discriminant(A: Array, B: Array, way: Array) -> Array:
    """Fisher's direction, by a covariance that is drawn towards a multiple of the identity."""
    r, n = A.shape[1], len(A) + len(B) - 2
    if r == 1 or n < 2:
        return way
    own = np.vstack([A - A.mean(axis=0), B - B.mean(axis=0)])
    values, vectors = np.linalg.eigh(own.T @ own / n)
    share = max(rao_blackwell(values, r, float(n)), 1e-3)
    values = (1 - share) * values + share * values.mean()
    if values.mean() <= 0.0:
        return way
    return np.asarray(vectors @ ((vectors.T @ way) / values))

"""Do two sets of columns go together, as a whole? Canonical pairs, judged on rows they were not found on.

coordinates  each side along its leading principal components, so many that every one has ten rows or more
statistic    correlation of a pair on unseen rows, over several splits into folds; for each fold that one of the usual
             ridges of `CCA`, the same for both sides, that does best on the other folds
chance       the same with the rows of one side shuffled as far as they do not depend on each other; it ends early once
             many shuffles did as well. In time the side is shifted, and closed before (`Design.closed`)
pairs        tested in order until one fails, each after those before it were taken out of both sides

Reference: Winkler et al., Permutation inference for canonical correlation analysis, NeuroImage 220 (2020).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.linalg as sla
from scipy.special import ndtri

from assay.arrays import Array, Indices
from assay.evidence.design import Design, Independent
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.canonical.canonical import Coupling, coupled_covariances, first_pair
from assay.linalg.canonical.held_out import USUAL, CanonicalFold, Ridge, usual_ridges
from assay.linalg.eigen.top_svd import top_svd
from assay.linalg.noise.monte_carlo import Drawn, different, endless, monte_carlo
from assay.linalg.one_thread import one_blas_thread
from assay.questions.canonical.answer import Canonical
from assay.questions.canonical.draws import reached
from assay.questions.canonical.row_folds import coupled_folds, side_folds

Folds: TypeAlias = list[Indices]
Tell: TypeAlias = Callable[[str], object]

FEWEST_ROWS = 30
_SHUFFLED = {  # what chance does, by how rows depend on each other
    "independent": "rows of one side shuffled",
    "time": "rows of one side shifted in time",
    "groups": "groups of rows of one side exchanged",
    "place": "rows of one side shifted over the map",
}
_FOLDS = 5
_ROWS_EACH = 10  # rows for each coordinate, at least
_MOST_AXES = 30
_MOST_PAIRS = 5
_REPEATS = 3  # splits into folds
_DRAWS = (199, 1999)
_FIRST = 99  # draws of the first stage
_ENOUGH = 100  # shuffles that did as well, after which p is known to a tenth of itself
WORK = 3e9  # products of the null distribution
_AT_ONCE = 4e6  # numbers of a batch of shuffles
_TIED = 1e-10  # a shuffle that leaves the rows as they are differs by rounding


def canonical(
    X: Array,
    Y: Array,
    columns: tuple[tuple[str, ...], tuple[str, ...]],
    sides: tuple[str, str] = ("one side", "the other"),
    *,
    level: float = 0.05,
    seed: int = 0,
    work: float = WORK,
    progress: Tell | None = None,
    design: Design | None = None,
) -> Canonical | None:
    """Find the canonical pairs that are more than chance; None for too few rows or a side that does not vary.

    Args:
        X: (n, p) one side, none missing.
        Y: (n, q) the other.
        columns: names of the columns of each.
        sides: what they are called.
        level: level of the study.
        seed: of folds and shuffles.
        work: products that shuffles may take; there are 199 in any case.
        progress: told what is being done.
        design: how rows depend on each other; None where they do not.
    """
    n, tell, design = len(X), progress or (lambda _: None), design or Independent(len(X))
    if n < FEWEST_ROWS:
        return None
    coordinates = [_coordinates(side) for side in (X, Y)]
    if not all(side.shape[1] for side in coordinates):
        return None
    splits = _splits(design, coordinates, seed, work)
    if len(splits[0]) < 2:
        return None
    with one_blas_thread():
        rng = np.random.default_rng(seed)
        tested = _tested(coordinates[0], coordinates[1], splits, design, level, work, rng, tell)
    u, v = np.stack([one.u for one in tested], axis=1), np.stack([one.v for one in tested], axis=1)
    x_loadings, y_loadings = _loadings(X, u), _loadings(Y, v)
    # a pair may be turned as a whole: the column that carries it most rises with it
    most = np.abs(x_loadings).argmax(axis=0)
    signs = np.where(x_loadings[most, np.arange(len(most))] < 0, -1.0, 1.0)
    p = np.maximum.accumulate([one.p for one in tested])
    return Canonical(
        sides=sides,
        columns=columns,
        n_pairs=int(np.count_nonzero(p <= level)),
        correlations=np.array([float(one.u @ one.v / n) for one in tested]),
        held_out=np.array([one.held_out for one in tested]),
        p=p,
        variates=(u * signs, v * signs),
        loadings=(x_loadings * signs, y_loadings * signs),
        stability=tested[0].stability,
        evidence=_evidence(tested, design, level),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Tested:
    """One pair: what it reaches on unseen rows, what shuffled rows reach, and its variates of variance 1."""

    held_out: float
    null: Array
    p: float
    u: Array
    v: Array
    stability: float


def _splits(design: Design, sides: list[Array], seed: int, work: float) -> list[Folds]:
    """Rows of the folds of each split, of as many as there is time for; runs of rows are the same for every seed."""
    repeats = int(np.clip(work / (_DRAWS[0] * _work(sides)), 1, _REPEATS))
    found: dict[bytes, Folds] = {}
    for r in range(repeats):
        numbers = design.folds(_FOLDS, _REPEATS * seed + r)
        found[numbers.tobytes()] = [np.flatnonzero(numbers == f) for f in range(int(numbers.max()) + 1)]
    return list(found.values())


def _work(sides: list[Array]) -> float:
    """Products of one draw in one split: of the rows, and of the decompositions of every fold and ridge."""
    (n, p), (_, q) = (side.shape for side in sides)
    return float(2.0 * n * q * (p + q) + 20.0 * _FOLDS * (1 + len(USUAL)) * max(p, q) ** 3)


def _tested(
    left: Array,
    right: Array,
    splits: list[Folds],
    design: Design,
    level: float,
    work: float,
    rng: np.random.Generator,
    tell: Tell,
) -> list[_Tested]:
    """Pairs in order, up to and with the first that chance explains."""
    tested: list[_Tested] = []
    for k in range(min(_MOST_PAIRS, left.shape[1], right.shape[1])):
        tell(f"pair {k + 1}")
        tested.append(_first(left, right, splits, design, work, rng))
        if tested[-1].p > level:
            break
        left, right = _without(left, tested[-1].u), _without(right, tested[-1].v)
        if not (left.shape[1] and right.shape[1]):
            break
    return tested


def _first(X: Array, Y: Array, splits: list[Folds], design: Design, work: float, rng: np.random.Generator) -> _Tested:
    """The first pair of two sides, and what shuffled rows reach: one side is shuffled, the other summarised once."""
    whole = _coupled(X, Y)
    ridges = list(zip(usual_ridges(whole.x), usual_ridges(whole.y), strict=True))
    kept = [(folds, side_folds(X, folds)) for folds in splits]
    as_they_are = np.arange(len(Y))[None]
    found = reached(kept, Y, as_they_are, ridges)
    ridge, held_out = ridges[int(found.best[0])], float(found.correlation[0])
    closed = design.closed(Y)
    ours = held_out if closed is Y else float(reached(kept, closed, as_they_are, ridges).correlation[0])
    chance = _by_chance(
        lambda orders: reached(kept, closed, np.stack(orders), ridges).correlation.tolist(),
        ours,
        design,
        work,
        rng,
        (_work([X, Y]) * len(splits), Y.size),
    )
    u, v = (_standardised(side @ w) for side, w in zip((X, Y), _weights(whole, ridge), strict=True))
    own = coupled_folds(kept[0][1], side_folds(Y, splits[0]))
    return _Tested(held_out, np.array(chance.values), chance.p, u, v, _stability(X, Y, own, ridge))


def _by_chance(
    reach: Callable[[list[Indices]], list[float]],
    ours: float,
    design: Design,
    work: float,
    rng: np.random.Generator,
    cost: tuple[float, int],
) -> Drawn[float]:
    """Shuffles in stages, as many as there is time for.

    Args:
        reach: from shuffles to what they reach.
        ours: what the data reach.
        design: of the rows.
        work: products that they may take together.
        rng: source of the shuffles.
        cost: of each shuffle: products, and numbers in memory.
    """
    draws = int(np.clip(work / cost[0], _DRAWS[0], _DRAWS[1] * max(1.0, work / WORK)))
    most = max(1, int(_AT_ONCE / cost[1]))
    shuffles = endless(lambda: design.drawn(rng))
    size = min(_FIRST, most)
    return monte_carlo(
        shuffles if design.kind == "independent" else different(shuffles),
        reach,
        [size] * (draws // size) + [draws % size] * (draws % size > 0),
        reaches=lambda r: r >= ours - _TIED,
        enough=_ENOUGH,
    )


def _evidence(tested: list[_Tested], design: Design, level: float) -> Evidence:
    first, n = tested[0], design.n
    reach = float(np.median(first.null)), float(np.quantile(first.null, 1.0 - level))
    unit = np.stack([first.u, first.v], axis=1) / np.sqrt(n)
    return Evidence(
        statistic=float(first.u @ first.v / n),
        null=Null(_SHUFFLED[design.kind], *reach, draws=len(first.null)),
        p=first.p,
        q=first.p,
        held_out=first.held_out,
        interval=_interval(first.held_out, float(design.effective(unit)[0, 1]), first.null),
        stability=first.stability,
        n=n,
        looks=len(tested) * len(USUAL),
        method=f"correlation on unseen rows, {_SHUFFLED[design.kind]}, {len(first.null)} draws",
        verdict=verdict_of(first.p, effect_holds=first.held_out > 0.0, level=level),
        limit=design.limit,
    )


def _coordinates(side: Array) -> Array:
    """Leading principal components of the standardised columns, as they come: not scaled to one variance."""
    spread = side.std(axis=0)
    Z = np.divide(side - side.mean(axis=0), spread, out=np.zeros_like(side), where=spread > 0)
    n, d = Z.shape
    most = max(1, min(_MOST_AXES, n // _ROWS_EACH))
    if d <= most:
        return np.asarray(Z[:, spread > 0])
    found = top_svd(Z, min(most, n, d))
    kept = found.values > 1e-10 * max(float(found.values[0]), 1e-300)
    return np.asarray(found.left[:, kept] * found.values[kept])


def _coupled(X: Array, Y: Array) -> Coupling:
    P, Q, n = X - X.mean(axis=0), Y - Y.mean(axis=0), len(X)
    return coupled_covariances(P.T @ P / (n - 1), P.T @ Q / (n - 1), Q.T @ Q / (n - 1), n)


def _weights(coupling: Coupling, ridge: Ridge) -> tuple[Array, Array]:
    """The first pair's weights of the coordinates of each side."""
    a, b = first_pair(coupling, ridge)
    return coupling.x.vectors @ a, coupling.y.vectors @ b


def _standardised(u: Array) -> Array:
    """Of mean 0 and variance 1."""
    return np.asarray((u - u.mean()) / (u.std() or 1.0))


def _without(X: Array, u: Array) -> Array:
    """What is left of a side once a variate of it is known."""
    centred = X - X.mean(axis=0)
    left = centred - np.outer(u, u @ centred) / (u @ u)
    basis, values, _ = sla.svd(left, full_matrices=False)
    kept = values > 1e-8 * values[0] if len(values) else values > 0
    return np.asarray((basis * values)[:, kept])


def _loadings(X: Array, u: Array) -> Array:
    centred = X - X.mean(axis=0)
    spread = np.linalg.norm(centred, axis=0)
    unit = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    return np.asarray(unit.T @ (u / np.linalg.norm(u, axis=0)))


def _stability(X: Array, Y: Array, folds: list[CanonicalFold], ridge: Ridge) -> float:
    """How alike the pair's variates are when each fold in turn is left out; not at all where one does not vary."""
    weights = [_weights(fold.training, ridge) for fold in folds]
    alike = []
    for i, side in enumerate((X, Y)):
        variates = np.stack([_standardised(side @ pair[i]) for pair in weights])
        alike.append(np.abs(variates @ variates.T)[np.triu_indices(len(folds), 1)] / len(X))
    return float(np.mean(alike))


def _interval(r: float, n: float, null: Array) -> tuple[float, float]:
    """95% interval of the correlation on new rows of the pair found, on Fisher's scale z = artanh r.

    Of one pair judged by all rows z has the variance 1 / (n - 3). Pairs of different folds differ the more, the less is
    there to be found; by chance alone z has the mean square C over the draws. The part of C - 1 / (n - 3) that counts
    is 2 sqrt(C) / z, at most all of it. Of 100 tables each with no, weak, clear and strong pairs (truth 0, .1, .4, .8)
    it held the truth in .93 .95 .90 .96 at 60 rows, 4 and 3 columns, .92 .95 .94 .95 at 100 rows, and .97 .97 .95 .95
    at 200 rows, 10 and 8 columns; with 1 / (n - 3) alone in .82 .80 .85 .91 at 60 rows.

    Args:
        r: correlation on unseen rows.
        n: rows, or as many independent ones as tell as much.
        null: (draws,) what chance reaches.
    """
    z, every = (np.arctanh(np.clip(x, -0.999999, 0.999999)) for x in (r, null))
    alone, chance = 1.0 / max(n - 3.0, 1.0), float((every**2).mean())
    part = min(1.0, 2.0 * float(np.sqrt(chance)) / max(abs(float(z)), 1e-12))
    reach = float(ndtri(0.975)) * np.sqrt(alone + part * max(chance - alone, 0.0))
    return float(min(np.tanh(z - reach), r)), float(max(np.tanh(z + reach), r))

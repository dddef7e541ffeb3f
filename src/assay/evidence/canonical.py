"""Do two sets of columns go together, as a whole? Canonical pairs, judged on rows they were not found on.

coordinates  each side along its leading principal components, so many that every one has ten rows or more
statistic    correlation of a pair on unseen rows, the largest over a few ridges
chance       the same with the rows of one side shuffled, the largest over the same ridges; it ends early once many
             shuffles did as well
pairs        tested in order until one fails, each after those before it were taken out of both sides

References: Winkler et al., Permutation inference for canonical correlation analysis, NeuroImage 220 (2020); Besag,
Clifford, Sequential Monte Carlo p-values, Biometrika 78 (1991).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from assay.data.folds import fold_numbers
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.canonical import Coupling, coupled_covariances, first_pair
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.top_svd import top_svd
from assay.summary.association_chance import fisher_interval

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]
Tell: TypeAlias = Callable[[str], object]

FEWEST_ROWS = 30
METHOD = "correlation on unseen rows, the rows of one side shuffled"
_FOLDS = 5
_ROWS_EACH = 10  # rows for each coordinate, at least
_MOST_AXES = 30
_MOST_PAIRS = 5
_RIDGES = (0.0, 0.01, 0.1, 1.0)  # shares of the mean variance of a side
_DRAWS = 199
_ENOUGH = 20  # shuffles that did as well, after which the answer is clear


@dataclass(frozen=True, slots=True, eq=False)
class Canonical:
    """Pairs of combinations, one of each side, that go together.

    Attributes:
        sides: what the two sides are called.
        columns: names of the columns of each side.
        n_pairs: how many stand at the level of the study.
        correlations: (k,) of the pairs tested, on the rows they were found on.
        held_out: (k,) on unseen rows.
        p: (k,) of each, never below that of one before it.
        variates: (n, k) of each side, of unit variance.
        loadings: (d, k) correlations of each side's columns with its variates.
        stability: of the first pair: the mean correlation between its variates as found without each fold.
        evidence: on the first pair.
    """

    sides: tuple[str, str]
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    n_pairs: int
    correlations: Array
    held_out: Array
    p: Array
    variates: tuple[Array, Array]
    loadings: tuple[Array, Array]
    stability: float
    evidence: Evidence

    def stricter(self, factor: float, alpha: float) -> Canonical:
        """The same where other questions were asked too."""
        q = None if self.evidence.q is None else min(self.evidence.q * factor, 1.0)
        verdict = verdict_of(q, effect_holds=bool(self.held_out[0] > 0.0), alpha=alpha)
        n_pairs = int(np.count_nonzero(self.p * factor <= alpha))
        return replace(self, n_pairs=n_pairs, evidence=replace(self.evidence, q=q, verdict=verdict))


def canonical(
    X: Array,
    Y: Array,
    columns: tuple[tuple[str, ...], tuple[str, ...]],
    sides: tuple[str, str] = ("one side", "the other"),
    *,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Tell | None = None,
) -> Canonical | None:
    """Find the canonical pairs that are more than chance; None for too few rows or a side that does not vary.

    Args:
        X: (n, p) one side, none missing.
        Y: (n, q) the other.
        columns: names of the columns of each.
        sides: what they are called.
        alpha: level of the study.
        seed: of folds and shuffles.
        progress: told what is being done.
    """
    n, tell = len(X), progress or (lambda _: None)
    if n < FEWEST_ROWS:
        return None
    coordinates = [_coordinates(side) for side in (X, Y)]
    if not all(side.shape[1] for side in coordinates):
        return None
    folds = fold_numbers(0, n, _FOLDS, seed)
    with one_blas_thread():
        tested = _tested(coordinates[0], coordinates[1], folds, alpha, np.random.default_rng(seed), tell)
        stability = _stability(coordinates[0], coordinates[1], folds, tested[0].ridge)
    u, v = np.stack([one.u for one in tested], axis=1), np.stack([one.v for one in tested], axis=1)
    x_loadings, y_loadings = _loadings(X, u), _loadings(Y, v)
    # a pair may be turned as a whole: the column that carries it most rises with it
    most = np.abs(x_loadings).argmax(axis=0)
    signs = np.where(x_loadings[most, np.arange(len(most))] < 0, -1.0, 1.0)
    p = np.maximum.accumulate([one.p for one in tested])
    return Canonical(
        sides=sides,
        columns=columns,
        n_pairs=int(np.count_nonzero(p <= alpha)),
        correlations=np.array([float(one.u @ one.v / n) for one in tested]),
        held_out=np.array([one.held_out for one in tested]),
        p=p,
        variates=(u * signs, v * signs),
        loadings=(x_loadings * signs, y_loadings * signs),
        stability=stability,
        evidence=_evidence(tested, stability, n, alpha),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Tested:
    """One pair: what it reaches on unseen rows, what shuffled rows reach, and its variates of variance 1."""

    held_out: float
    ridge: float
    null: Array
    p: float
    u: Array
    v: Array


def _tested(
    left: Array, right: Array, folds: Codes, alpha: float, rng: np.random.Generator, tell: Tell
) -> list[_Tested]:
    """Pairs in order, up to and with the first that chance explains."""
    tested: list[_Tested] = []
    for k in range(min(_MOST_PAIRS, left.shape[1], right.shape[1])):
        tell(f"pair {k + 1}")
        own, ridge = _held_out(left, right, folds)
        null, p = _shuffled(left, right, folds, own, rng)
        tested.append(_Tested(own, ridge, null, p, *_variates(left, right, ridge)))
        if p > alpha:
            break
        left, right = _without(left, tested[-1].u), _without(right, tested[-1].v)
        if not (left.shape[1] and right.shape[1]):
            break
    return tested


def _evidence(tested: list[_Tested], stability: float, n: int, alpha: float) -> Evidence:
    first = tested[0]
    reach = float(np.median(first.null)), float(np.quantile(first.null, 1.0 - alpha))
    return Evidence(
        statistic=float(first.u @ first.v / n),
        null=Null("rows of one side shuffled", *reach, draws=len(first.null)),
        p=first.p,
        q=first.p,
        held_out=first.held_out,
        interval=_interval(first.held_out, n),
        stability=stability,
        n=n,
        looks=len(tested) * len(_RIDGES),
        method=f"{METHOD}, {len(first.null)} draws",
        verdict=verdict_of(first.p, effect_holds=first.held_out > 0.0, alpha=alpha),
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


def _shuffled(X: Array, Y: Array, folds: Codes, own: float, rng: np.random.Generator) -> tuple[Array, float]:
    """What shuffled rows reach, and how often that is as much."""
    reached: list[float] = []
    as_much = 0
    while len(reached) < _DRAWS and as_much < _ENOUGH:
        reached.append(_held_out(X, Y[rng.permutation(len(Y))], folds)[0])
        as_much += reached[-1] >= own
    p = as_much / len(reached) if as_much == _ENOUGH else (1.0 + as_much) / (_DRAWS + 1.0)
    return np.array(reached), p


def _held_out(X: Array, Y: Array, folds: Codes) -> tuple[float, float]:
    """The correlation of the first pair on unseen rows, pooled over the folds, with the ridge that gives most."""
    sums = np.zeros((len(_RIDGES), 3))
    for f in range(_FOLDS):
        new = folds == f
        side = _Training.of(X[~new], Y[~new])
        x, y = X[new] - side.x, Y[new] - side.y
        for k, ridge in enumerate(_RIDGES):
            a, b = side.pair(ridge)
            u, v = x @ a, y @ b
            sums[k] += u @ v, u @ u, v @ v
    scale = np.sqrt(sums[:, 1]) * np.sqrt(sums[:, 2])
    reached = np.divide(sums[:, 0], scale, out=np.zeros(len(sums)), where=scale > 0)
    best = int(reached.argmax())
    return float(reached[best]), _RIDGES[best]


@dataclass(frozen=True, slots=True, eq=False)
class _Training:
    """Rows that pairs are found on."""

    x: Array
    y: Array
    coupling: Coupling

    @staticmethod
    def of(X: Array, Y: Array) -> _Training:
        x, y = X.mean(axis=0), Y.mean(axis=0)
        P, Q = X - x, Y - y
        n = len(X)
        return _Training(x, y, coupled_covariances(P.T @ P / n, P.T @ Q / n, Q.T @ Q / n, n))

    def pair(self, ridge: float) -> tuple[Array, Array]:
        sides = self.coupling.x, self.coupling.y
        if not (len(sides[0].values) and len(sides[1].values)):  # a side that does not vary here has no pair
            return np.zeros(len(self.x)), np.zeros(len(self.y))
        a, b = first_pair(self.coupling, (ridge * float(sides[0].values.mean()), ridge * float(sides[1].values.mean())))
        return sides[0].vectors @ a, sides[1].vectors @ b


def _variates(X: Array, Y: Array, ridge: float) -> tuple[Array, Array]:
    """The variates of the first pair on all rows, of mean 0 and variance 1."""
    a, b = _Training.of(X, Y).pair(ridge)
    u, v = X @ a, Y @ b
    return (u - u.mean()) / (u.std() or 1.0), (v - v.mean()) / (v.std() or 1.0)


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


def _stability(X: Array, Y: Array, folds: Codes, ridge: float) -> float:
    """How alike the first pair's variates are when each fold in turn is left out."""
    variates: list[list[Array]] = [[], []]
    for f in range(_FOLDS):
        a, b = _Training.of(X[folds != f], Y[folds != f]).pair(ridge)
        variates[0].append(X @ a)
        variates[1].append(Y @ b)
    alike = [np.abs(_correlations(np.stack(side)))[np.triu_indices(_FOLDS, 1)] for side in variates]
    return float(np.mean(alike))


def _correlations(rows: Array) -> Array:
    """(k, k) correlations of rows; one that is constant is like no other."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    return np.asarray(np.clip(unit @ unit.T, -1.0, 1.0))


def _interval(r: float, n: int) -> tuple[float, float]:
    low, high = fisher_interval(np.array([np.clip(r, -0.999999, 0.999999)]), np.array([float(n)]))
    return float(low[0]), float(high[0])

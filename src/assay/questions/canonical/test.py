"""Do two sets of columns go together, as a whole? Canonical pairs, judged on rows they were not found on.

coordinates  each side along its leading principal components, so many that every one has ten rows or more
statistic    correlation of a pair on unseen rows, the largest over the usual ridges of `CCA`, the same for both sides
chance       the same with the rows of one side shuffled, the largest over the same ridges; it ends early once many
             shuffles did as well
pairs        tested in order until one fails, each after those before it were taken out of both sides

Reference: Winkler et al., Permutation inference for canonical correlation analysis, NeuroImage 220 (2020).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from assay.data.folds import fold_numbers
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.canonical import Coupling, coupled_covariances, first_pair
from assay.linalg.canonical_held_out import USUAL, Fold, Ridge, choose_common_ridge, usual_ridges
from assay.linalg.canonical_row_folds import coupled_folds, side_folds
from assay.linalg.monte_carlo import monte_carlo
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.top_svd import top_svd
from assay.questions.canonical.answer import Canonical
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
_DRAWS = 199
_ENOUGH = 20  # shuffles that did as well, after which the answer is clear


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
    numbers = fold_numbers(0, n, _FOLDS, seed)
    folds = [np.flatnonzero(numbers == f) for f in range(_FOLDS)]
    with one_blas_thread():
        tested = _tested(coordinates[0], coordinates[1], folds, alpha, np.random.default_rng(seed), tell)
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
        stability=tested[0].stability,
        evidence=_evidence(tested, n, alpha),
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


def _tested(
    left: Array, right: Array, folds: list[Codes], alpha: float, rng: np.random.Generator, tell: Tell
) -> list[_Tested]:
    """Pairs in order, up to and with the first that chance explains."""
    tested: list[_Tested] = []
    for k in range(min(_MOST_PAIRS, left.shape[1], right.shape[1])):
        tell(f"pair {k + 1}")
        tested.append(_first(left, right, folds, rng))
        if tested[-1].p > alpha:
            break
        left, right = _without(left, tested[-1].u), _without(right, tested[-1].v)
        if not (left.shape[1] and right.shape[1]):
            break
    return tested


def _first(X: Array, Y: Array, folds: list[Codes], rng: np.random.Generator) -> _Tested:
    """The first pair of two sides, and what shuffled rows reach: one side is shuffled, the other summarised once."""
    whole = _coupled(X, Y)
    ridges = usual_ridges(whole.x), usual_ridges(whole.y)
    kept = side_folds(X, folds)
    own = coupled_folds(kept, side_folds(Y, folds))
    ridge, held_out = choose_common_ridge(own, *ridges)

    def reached(order: Codes) -> float:
        return choose_common_ridge(coupled_folds(kept, side_folds(Y[order], folds)), *ridges)[1]

    chance = monte_carlo(
        (rng.permutation(len(Y)) for _ in range(_DRAWS)),
        lambda orders: [reached(order) for order in orders],
        [1] * _DRAWS,
        reaches=lambda r: r >= held_out,
        enough=_ENOUGH,
    )
    u, v = (_standardised(side @ w) for side, w in zip((X, Y), _weights(whole, ridge), strict=True))
    return _Tested(held_out, np.array(chance.values), chance.p, u, v, _stability(X, Y, own, ridge))


def _evidence(tested: list[_Tested], n: int, alpha: float) -> Evidence:
    first = tested[0]
    reach = float(np.median(first.null)), float(np.quantile(first.null, 1.0 - alpha))
    return Evidence(
        statistic=float(first.u @ first.v / n),
        null=Null("rows of one side shuffled", *reach, draws=len(first.null)),
        p=first.p,
        q=first.p,
        held_out=first.held_out,
        interval=_interval(first.held_out, n),
        stability=first.stability,
        n=n,
        looks=len(tested) * len(USUAL),
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


def _stability(X: Array, Y: Array, folds: list[Fold], ridge: Ridge) -> float:
    """How alike the pair's variates are when each fold in turn is left out; not at all where one does not vary."""
    weights = [_weights(fold.training, ridge) for fold in folds]
    alike = []
    for i, side in enumerate((X, Y)):
        variates = np.stack([_standardised(side @ pair[i]) for pair in weights])
        alike.append(np.abs(variates @ variates.T)[np.triu_indices(len(folds), 1)] / len(X))
    return float(np.mean(alike))


def _interval(r: float, n: int) -> tuple[float, float]:
    """Fisher's of the correlation on unseen rows, as if one pair had been judged by all n of them.

    The pairs of the folds differ a little, and the best of a few ridges was taken: neither is in it.
    """
    low, high = fisher_interval(np.array([np.clip(r, -0.999999, 0.999999)]), np.array([float(n)]))
    return float(min(low[0], r)), float(max(high[0], r))

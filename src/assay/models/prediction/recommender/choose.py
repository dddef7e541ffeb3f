"""How many factors, and what penalties: by ratings that were held out.

Each fold keeps ratings of every user. In each, biases are fitted for their penalties; then factors, from the largest
penalty to the smallest, each from the one before. No factors is one of the choices, and the one where factors gain less
than the standard error of their gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.noise.fold_error import fold_error
from assay.models.prediction.recommender.als import (
    Factors,
    Penalty,
    Progress,
    biases,
    explicit,
    implicit,
    spectral_start,
)
from assay.models.prediction.recommender.ranking import ranked
from assay.summary.ratings.ratings import Ratings

POWER = 0.5  # of the number of ratings in penalties: between weighted lambda (1) and plain (0); see docs/adr/0023
RANKS = (2, 5, 10, 20)
ALPHAS = (5.0, 3.4, 2.4, 1.7, 1.2, 0.85, 0.6)
COUNT_ALPHAS = (10.0, 5.0, 3.0, 2.0, 1.0, 0.5, 0.25)
BIAS_ALPHA = 3.0
BIAS_ALPHAS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
FIRST = 20  # items that count where orders are judged
_SWEEPS = 8
_TOL = 1e-2


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What was tried and how it did on held-out ratings.

    Attributes:
        ranks: (r,) numbers of factors, ascending.
        alphas: (a,) penalties, descending.
        errors: (r, a) root mean squared error, in units of the ratings; of counts 1 - NDCG.
        std_errors: (r, a)
        rank: the one with the least error, or 0 if that gains little.
        alpha: with it.
        bias_alpha: of the biases.
    """

    ranks: NDArray[np.int64]
    alphas: Array
    errors: Array
    std_errors: Array
    rank: int
    alpha: float
    bias_alpha: float


def choose_explicit(
    z: Ratings,
    folds: Any,
    ranks: Sequence[int],
    alphas: Sequence[float],
    bias_alphas: Sequence[float],
    progress: Progress | None = None,
) -> Choice:
    """Choose by mean squared error.

    Args:
        z: standardised ratings.
        folds: (m,) the fold of each, -1 for none.
        ranks: to try; 0 is biases alone.
        alphas: penalties of factors.
        bias_alphas: penalties of biases.
        progress: called as progress(folds done, folds).
    """
    k = int(folds.max()) + 1
    ranks, alphas = sorted(set(ranks)), sorted(set(alphas), reverse=True)
    bias_errors = np.empty((k, len(bias_alphas)))
    for fold in range(k):
        test = folds == fold
        train = z.subset(~test)
        for j, beta in enumerate(bias_alphas):
            bias_errors[fold, j] = _squared(biases(train, beta, tol=1e-4, max_iter=30), z, test)
    beta = float(bias_alphas[int(bias_errors.mean(axis=0).argmin())])
    errors = np.empty((k, len(ranks), len(alphas)))
    for fold in range(k):
        test = folds == fold
        train = z.subset(~test)
        path = explicit_path(train, ranks, alphas, beta)
        errors[fold] = [[_squared(found, z, test) for found in row] for row in path]
        if progress is not None:
            progress(fold + 1, k)
    return _least(ranks, alphas, np.sqrt(errors), np.sqrt(errors.mean(axis=0)), beta)


def left_by_biases(z: Ratings, beta: float) -> float:
    """Standard deviation of what biases leave; 1 where they leave nothing, as of ratings that are all the same."""
    base = biases(z, beta, tol=1e-2, max_iter=10)
    left = float(np.std(z.value - base.at(z.user, z.item)))
    return left if left > 1e-6 else 1.0


def explicit_path(
    train: Ratings,
    ranks: Sequence[int],
    alphas: Sequence[float],
    beta: float,
    *,
    sweeps: int = _SWEEPS,
    threads: int | None = None,
) -> list[list[Factors]]:
    """Solutions for every rank and penalty, each from that of the penalty before."""
    base = biases(train, beta, tol=1e-4, max_iter=30, threads=threads)
    rest = train.value - base.at(train.user, train.item)
    widest = spectral_start(train, rest, max(ranks), base)
    rows = []
    for rank in ranks:
        if rank == 0:
            rows.append([base] * len(alphas))
            continue
        row, last = [], _first(widest, rank)
        for alpha in alphas:
            penalty = Penalty(alpha, beta, POWER)
            found = explicit(train, last, penalty, max_iter=sweeps, tol=_TOL, threads=threads)
            row.append(found)
            # factors that a large penalty brought to nothing are no start for a smaller one
            last = found if np.abs(found.items).max(initial=0.0) > 1e-3 else _first(widest, rank)
        rows.append(row)
    return rows


def choose_implicit(
    counts: Ratings,
    folds: Any,
    ranks: Sequence[int],
    alphas: Sequence[float],
    progress: Progress | None = None,
) -> Choice:
    """Choose by the order of the items; arguments as in `choose_explicit`, values are weights above 1."""
    k = int(folds.max()) + 1
    ranks, alphas = sorted(set(ranks)), sorted(set(alphas), reverse=True)
    errors = np.empty((k, len(ranks), len(alphas)))
    for fold in range(k):
        test = folds == fold
        train = counts.subset(~test)
        widest = implicit_start(train, max(ranks))
        for r, rank in enumerate(ranks):
            last = _first(widest, rank)
            for a, alpha in enumerate(alphas):
                last = implicit(train, last, Penalty(alpha, 0.0, POWER), max_iter=_SWEEPS, tol=_TOL)
                found = ranked(partial(_scores, last), train, counts.subset(test), FIRST)
                errors[fold, r, a] = 1.0 - found.ndcg.mean()
        if progress is not None:
            progress(fold + 1, k)
    return _least(ranks, alphas, errors, errors.mean(axis=0), 0.0)


def implicit_start(counts: Ratings, k: int) -> Factors:
    """Where the factors of counts begin."""
    n, d = counts.n_users, counts.n_items
    empty = np.empty(0)
    base = Factors(np.empty((n, 0)), np.empty((d, 0)), np.zeros(n), np.zeros(d), empty, empty, False)
    return spectral_start(counts, np.ones(len(counts)), k, base)


def _scores(found: Factors, users: Any) -> Array:
    return np.asarray(found.users[users] @ found.items.T)


def _first(widest: Factors, rank: int) -> Factors:
    return Factors(
        np.ascontiguousarray(widest.users[:, :rank]),
        np.ascontiguousarray(widest.items[:, :rank]),
        widest.user_bias,
        widest.item_bias,
        widest.objective,
        widest.residuals,
        False,
    )


def _squared(found: Factors, z: Ratings, test: Any) -> float:
    missed = found.at(z.user[test], z.item[test]) - z.value[test]
    return float(np.mean(missed * missed))


def _least(ranks: Any, alphas: Any, each: Array, errors: Array, beta: float) -> Choice:
    # of equal errors the fewest factors, then the largest penalty
    r, a = np.unravel_index(int(errors.argmin()), errors.shape)
    if ranks[0] == 0:
        # the least of many errors is less by luck: factors must gain more than the standard error of their gain
        gain = each[:, 0, a] - each[:, r, a]
        r = r if gain.mean() > fold_error(gain) else np.intp(0)
    return Choice(
        np.asarray(ranks, np.int64),
        np.asarray(alphas, np.float64),
        errors,
        fold_error(each),
        int(ranks[r]),
        float(alphas[a]),
        beta,
    )

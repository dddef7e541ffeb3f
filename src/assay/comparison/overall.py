"""Can a rule that has not seen a row tell which table it is from?

statistic  share of pairs, one row of each table, that ridge regression on four fifths of the rows puts in the right
           order in the last fifth: ranks, their squares and products, levels, gaps; 50% by chance
chance     the names of the tables exchanged among rows, the whole regression made anew; it is linear in the names, so
           all draws are one product
unseen     the same number, of rows that gave no coefficient
reference  Lopez-Paz and Oquab, Revisiting classifier two-sample tests, ICLR 2017
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from assay.arrays import Array, Mask
from assay.asking.words import Words
from assay.comparison.differences import FOLDS, METHOD, Difference, Differences, against_all, evidence_of, lines_of
from assay.comparison.held_out import held_out_mean
from assay.comparison.pair import Pair
from assay.evidence.evidence import Null
from assay.linalg.ranks import average_ranks
from assay.views.axes.numbers import percent

WORDING = "Can rows be told apart by their table?"
WORDS = Words(
    "overall difference",
    "overall differences",
    statistic="Pairs of rows told apart",
    statistic_format=percent,
    held_out="of pairs told apart",
    held_out_format=percent,
    reading="A rule learnt on most rows says of the others which table they are from. Chance is right in half of the "
    "pairs of rows. It sees changes in how columns go together that no single column shows.",
)
_PRODUCTS = 12  # columns whose products enter
_PENALTY = 0.1
_DRAWS = 299  # each is a regression and a ranking of its own
_WIDEST = 400


def ask(pair: Pair, seed: int, level: float) -> Differences | None:
    """How well rows are told apart.

    Args:
        pair: the two tables.
        seed: of folds and draws.
        level: level of the comparison.
    """
    F = _features(pair)
    folds = pair.exchange.folds(FOLDS, seed)
    names = pair.exchange.drawn(_DRAWS, seed)
    parts = np.stack([_share_in_order(F, names, folds == fold) for fold in range(int(folds.max()) + 1)])
    known = np.isfinite(parts)
    if not known[:, 0].any():
        return None
    # a draw that leaves every fold with one table tells nothing apart
    told = np.where(known, parts, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    told = np.where(known.any(axis=0), told, 0.5)
    beyond = np.concatenate([[(told[0] - 0.5) / pair.exchange.ends], told[1:] - 0.5])
    unseen = held_out_mean(parts[known[:, 0], 0], within=(0.0, 1.0), nothing=0.5)
    null = Null(METHOD, float(np.median(told[1:])), float(np.quantile(told[1:], 1.0 - level)), len(told) - 1)
    evidence = evidence_of(
        float(told[0]),
        null,
        against_all(beyond, beyond),
        unseen,
        n=pair.n,
        looks=1,
        method=METHOD,
        level=level,
        limit=pair.exchange.limit,
    )
    sentence = (
        f"A rule that has not seen them tells a row of {pair.names[0]} from one of {pair.names[1]} in "
        f"{percent(float(told[0]))} of pairs; chance alone in 50%."
    )
    line = f"A rule tells rows of the two tables apart in {percent(float(told[0]))} of pairs, 50% by chance"
    lines = lines_of(lambda short: line)
    one = Difference("overall", "overall", "all columns", lines, sentence, evidence, WORDS, unseen.holds)
    return Differences((one,), 1, f"one test, {null.draws} draws")


def _features(pair: Pair) -> Array:
    """(n, p) of mean 0 and variance 1: ranks as normal scores, squares, products, levels and gaps."""
    X = pair.numbers
    there = np.isfinite(X)
    plain = np.zeros_like(X)
    for j in range(X.shape[1]):
        here = there[:, j]
        plain[here, j] = ndtri((average_ranks(X[here, j]) - 0.5) / here.sum()) if pair.measured[j] else X[here, j]
        plain[here, j] -= plain[here, j].mean()
    m = plain[:, pair.measured]
    squares = m**2
    few = m[:, :_PRODUCTS]
    one, other = np.triu_indices(few.shape[1], 1)
    F = np.concatenate([plain, (~there).astype(np.float64), squares, few[:, one] * few[:, other]], axis=1)
    F = F - F.mean(axis=0)
    size = F.std(axis=0)
    return np.asarray(F[:, size > 1e-9] / size[size > 1e-9])[:, :_WIDEST]


def _share_in_order(F: Array, names: Mask, here: Mask) -> Array:
    """(m + 1,) share of pairs of a fold put in the right order by the other rows; NaN for one table alone."""
    train, test = F[~here], F[here]
    y = names[~here].astype(np.float64)
    y = y - y.mean(axis=0)
    ridge = _PENALTY * len(train)
    if F.shape[1] <= len(train):
        inner = train.T @ train + ridge * np.eye(F.shape[1])
        score = test @ np.linalg.solve(inner, train.T @ y)
    else:
        score = test @ (train.T @ np.linalg.solve(train @ train.T + ridge * np.eye(len(train)), y))
    ranks = average_ranks(score, axis=0)
    inside = names[here].astype(np.float64)
    count = inside.sum(axis=0)
    pairs = count * (len(inside) - count)
    won = (ranks * inside).sum(axis=0) - count * (count + 1.0) / 2.0
    return np.asarray(np.divide(won, pairs, out=np.full(len(won), np.nan), where=pairs > 0))

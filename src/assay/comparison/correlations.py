"""Which pairs of columns go together more in one table than in the other?

statistic  difference of Fisher's z of correlations of normal scores, over its standard error by the rows of both tables
chance     the names of the tables exchanged among rows that were ranked inside their own table; the largest in a draw
unseen     the difference of mean products in each fifth of the rows, its direction by the other four
reference  Omelka and Pauly, Testing equality of correlation coefficients, J. Statist. Plann. Inference 142 (2012)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from assay.arrays import Array, Indices, Mask
from assay.asking.words import Words
from assay.comparison.correlated import Scores, pair_variances, sampling, scores_of
from assay.comparison.differences import (
    DRAWS,
    FOLDS,
    METHOD,
    Difference,
    Differences,
    against_all,
    evidence_of,
    lines_of,
)
from assay.comparison.held_out import held_out_difference
from assay.comparison.pair import Pair
from assay.evidence.evidence import Null
from assay.linalg.noise.monte_carlo import monte_carlo
from assay.views.axes.numbers import fraction, told_apart

WORDING = "Which pairs of columns go together differently?"
WORDS = Words(
    "pair of columns",
    "pairs of columns",
    statistic="The difference in standard errors",
    held_out="apart in correlation",
    held_out_format=fraction,
    reading="Two columns whose rank correlation is not the same in both tables, whatever each column does alone.",
)
STAGES = (39, 60, 400)
_SHOWN = 20
_ENOUGH = 10


def ask(pair: Pair, seed: int, level: float) -> Differences | None:
    """The pairs of columns whose correlation differs; None where there is no pair.

    Args:
        pair: the two tables.
        seed: of the draws.
        level: level of the comparison.
    """
    scores = scores_of(pair, seed)
    if scores is None:
        return None
    i, j = _pairs(pair, scores)
    if not len(i):
        return None
    exchange = pair.exchange.among(scores.rows)
    names = exchange.drawn(DRAWS, seed)
    error = np.sqrt(pair_variances(scores, i, j))
    T, R = _statistics(scores, names[:, 0], i, j, error)
    T /= exchange.ends

    def made(some: list[int]) -> list[Array]:
        return [_statistics(scores, names[:, one], i, j, error)[0] for one in some]

    def reaches(value: Array) -> bool:
        return bool(value.max() >= T.max() - 1e-9)

    drawn = monte_carlo(range(1, names.shape[1]), made, STAGES, reaches=reaches, enough=_ENOUGH)
    every = np.stack([T, *drawn.values])
    best = every.max(axis=1)
    null = Null(METHOD, float(np.median(best[1:])), float(np.quantile(best[1:], 1.0 - level)), len(best) - 1)
    folds = exchange.folds(FOLDS, seed)
    order = np.argsort(-T, kind="stable")
    shown = [int(k) for place, k in enumerate(order[:_SHOWN]) if place == 0 or T[k] >= null.median]
    found = []
    for k in shown:
        a, b = pair.labels[scores.chosen[i[k]]], pair.labels[scores.chosen[j[k]]]
        product = scores.Z[:, i[k]] * scores.Z[:, j[k]]
        both = (scores.known[:, i[k]] * scores.known[:, j[k]]) > 0
        unseen = held_out_difference(np.where(both, product, np.nan), exchange.second, folds)
        evidence = evidence_of(
            float(T[k]),
            null,
            against_all(every[:, k], best),
            unseen,
            n=exchange.n,
            looks=len(i),
            method=METHOD,
            level=level,
            limit=exchange.limit,
        )
        r = [float(R[side][k]) for side in (0, 1)]
        before, after = told_apart(fraction, r, 2)
        sentence = (
            f"{a} and {b} go together differently: rank correlation {before} in {pair.names[0]}, {after} in "
            f"{pair.names[1]}."
        )
        numbers = {"correlations": r}
        lines = lines_of(partial(_line, a, b, (before, after), pair.names))
        found.append(
            Difference(
                f"correlation-{a}-{b}",
                "correlation",
                f"{a}, {b}",
                lines,
                sentence,
                evidence,
                WORDS,
                unseen.holds,
                numbers,
            )
        )
    how = f"against the largest of {len(i)} pairs in each of {null.draws} draws"
    return Differences(tuple(found), len(i), f"{how}; {scores.left_out}" if scores.left_out else how)


def _line(a: str, b: str, r: tuple[str, str], tables: tuple[str, str], short: Callable[[str], str]) -> str:
    names = [short(name) for name in tables]
    return f"{short(a)} and {short(b)} correlate at {r[0]} in {names[0]}, {r[1]} in {names[1]}"


def _pairs(pair: Pair, scores: Scores) -> tuple[Indices, Indices]:
    """Pairs of numbers of different columns."""
    owner = np.array([pair.owner[j] for j in scores.chosen], dtype=object)
    i, j = np.triu_indices(len(owner), 1)
    other = np.array([owner[a] != owner[b] for a, b in zip(i, j, strict=True)], dtype=bool)
    return i[other], j[other]


def _statistics(scores: Scores, second: Mask, i: Indices, j: Indices, error: Array) -> tuple[Array, Array]:
    """(p,) differences over their standard errors, and the (2, p) correlations of both tables."""
    R = scores.correlations(second)[:, i, j]
    z = np.arctanh(R)
    return np.asarray(np.abs(z[1] - z[0]) / (error * np.sqrt(sampling(second)))), R

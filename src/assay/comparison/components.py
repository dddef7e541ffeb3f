"""Do the leading directions of two tables differ, and how much of the variance lies along them?

statistic  k = 1 to 5: variance that the k leading components of one table miss in the other, beside its own k; and the
           ratio of the k-th variances; each standardised over the draws, the largest counts
chance     the names of the tables exchanged among rows that were ranked inside their own table
unseen     what components of four fifths of one table miss in the last fifth of the other, beside the other's own
reference  Krzanowski, Permutational tests for correlation matrices, Statistics and Computing 3 (1993)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Mask
from assay.asking.words import Words
from assay.comparison.correlated import Scores, sampling, scores_of
from assay.comparison.correlations import STAGES
from assay.comparison.differences import (
    DRAWS,
    FOLDS,
    METHOD,
    Difference,
    Differences,
    Say,
    against_all,
    evidence_of,
    lines_of,
)
from assay.comparison.held_out import HeldOutDifference, held_out_mean
from assay.comparison.pair import Pair
from assay.evidence.evidence import Null
from assay.linalg.noise.monte_carlo import monte_carlo
from assay.views.axes.numbers import percent, told_apart

WORDING = "Do the leading components differ?"
WORDS = Words(
    "set of components",
    "sets of components",
    statistic="The difference in standard deviations of chance",
    held_out="of the variance",
    held_out_format=percent,
    reading="The directions along which most columns vary together, of columns ranked inside their own table. They "
    "differ where those of one table miss variance of the other, or where another share of it lies along them.",
)
_MOST = 5
_SURE = 20.0


def ask(pair: Pair, seed: int, level: float) -> Differences | None:
    """How the leading components differ; None where there are fewer than three numbers.

    Args:
        pair: the two tables.
        seed: of the draws.
        level: level of the comparison.
    """
    scores = scores_of(pair, seed)
    if scores is None or len(scores.chosen) < 3:
        return None
    exchange = pair.exchange.among(scores.rows)
    names = exchange.drawn(DRAWS, seed)
    m = min(_MOST, len(scores.chosen) - 1)
    own = _statistics(scores, names[:, 0], m)

    def made(some: list[int]) -> list[Array]:
        return [_statistics(scores, names[:, one], m) for one in some]

    def clear(values: list[Array]) -> bool:
        best = _standardised(np.stack([own, *values]), exchange.ends).max(axis=1)
        return bool((best[1:] >= best[0]).sum() >= 10)

    drawn = monte_carlo(range(1, names.shape[1]), made, STAGES, clear=clear)
    every = _standardised(np.stack([own, *drawn.values]), exchange.ends)
    best = every.max(axis=1)
    look = int(every[0].argmax())
    null = Null(METHOD, float(np.median(best[1:])), float(np.quantile(best[1:], 1.0 - level)), len(best) - 1)
    unseen = _unseen(scores, exchange.second, exchange.folds(FOLDS, seed), look, m)
    evidence = evidence_of(
        float(min(best[0], _SURE)),
        null,
        against_all(best, best),
        unseen,
        n=exchange.n,
        looks=2 * m,
        method=METHOD,
        level=level,
        limit=exchange.limit,
    )
    line, sentence, shares = _said(pair, scores, exchange.second, look, m)
    lines, numbers = lines_of(line), {"shares": shares}
    one = Difference("components", "components", "components", lines, sentence, evidence, WORDS, unseen.holds, numbers)
    return Differences((one,), 2 * m, f"against the largest of {2 * m} in each of {null.draws} draws")


def _statistics(scores: Scores, second: Mask, m: int) -> Array:
    """(2 m,) variance missed by 1 to m components of the other table; log ratios of the first m variances."""
    R = scores.correlations(second)
    values, vectors = np.linalg.eigh(R)
    values, vectors = values[:, ::-1][:, :m], vectors[:, :, ::-1][:, :, :m]
    missed = [np.cumsum(values[s] - _along(vectors[1 - s], R[s])) for s in (0, 1)]
    sizes = np.abs(np.log(np.maximum(values[1], 1e-12)) - np.log(np.maximum(values[0], 1e-12)))
    noise = sampling(second)
    return np.concatenate([(missed[0] + missed[1]) / noise, sizes / np.sqrt(noise)])


def _along(vectors: Array, R: Array) -> Array:
    return np.asarray(np.einsum("ik,ij,jk->k", vectors, R, vectors, optimize=True))


def _standardised(every: Array, ends: float) -> Array:
    """(m + 1, looks) over the tables as they are and all draws, so that each look counts the same."""
    spread = every.std(axis=0)
    z = (every - every.mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0)
    z[0] /= ends
    return np.asarray(z)


def _unseen(scores: Scores, second: Mask, folds: NDArray[np.intp], look: int, m: int) -> HeldOutDifference:
    """What is missed, or how far variances are apart, in rows that gave no direction; as a share of all variance."""
    k, d = look % m + 1, scores.Z.shape[1]
    values = []
    for fold in range(int(folds.max()) + 1):
        here = folds == fold
        if any((side & part).sum() < 3 for side in (second, ~second) for part in (here, ~here)):
            continue
        trained, tested = _parts(scores, second, ~here), _parts(scores, second, here)
        vectors = np.linalg.eigh(trained)[1][:, :, ::-1][:, :, :k]
        if look < m:
            kept = [(_along(vectors[s], tested[s]) - _along(vectors[1 - s], tested[s])).sum() / d for s in (0, 1)]
            values.append(sum(kept) / 2.0)
        else:
            sizes = [[_along(vectors[s][:, k - 1 :], R[s])[0] / d for s in (0, 1)] for R in (trained, tested)]
            values.append((sizes[1][1] - sizes[1][0]) * np.sign(sizes[0][1] - sizes[0][0]))
    return held_out_mean(np.array(values))


def _parts(scores: Scores, second: Mask, rows: Mask) -> Array:
    """(2, d, d) mean products of scores over some rows of each table."""
    some = [scores.Z[rows & side] for side in (~second, second)]
    return np.stack([Z.T @ Z / len(Z) for Z in some])


def _said(pair: Pair, scores: Scores, second: Mask, look: int, m: int) -> tuple[Say, str, list[float]]:
    R, k = scores.correlations(second), look % m + 1
    d, (a, b) = len(R[0]), pair.names
    vectors = np.linalg.eigh(R)[1][:, :, ::-1][:, :, :k]
    if look < m:
        own, other = (float(_along(vectors[s], R[1]).sum() / d) for s in (1, 0))
        lead = "component of" if k == 1 else f"{k} components of"
        theirs, its = told_apart(percent, [other, own], 1)
        words = f"The leading {lead} {a} {'explains' if k == 1 else 'explain'} {theirs} of {b}, where its own "

        def line(short: Callable[[str], str]) -> str:
            return f"The components of {short(a)} explain {theirs} of {short(b)}, where its own explain {its}"

        return line, f"{words}{'explains' if k == 1 else 'explain'} {its}.", [other, own]
    shares = [float(_along(vectors[s][:, k - 1 :], R[s])[0] / d) for s in (0, 1)]
    first, last = told_apart(percent, shares, 1)

    def said(short: Callable[[str], str]) -> str:
        return f"Component {k} explains {first} of {short(a)} and {last} of {short(b)}"

    return said, f"{said(str)}.", shares

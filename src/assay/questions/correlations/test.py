"""Which columns go together? Every pair is tested, and every test counts.

strength  rank correlation of two numbers, correlation ratio of a number's ranks and a category, Cramer's V
chance    columns that know nothing of each other: t (exact moments of ranks), F, chi^2
looks     one for each pair: Benjamini and Hochberg over all of them
held out  the pair that is strongest in one half of the rows, measured in the other
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.models.correlation.dependence import Dependence, dependence_of
from assay.questions.correlations.answer import Correlations
from assay.summary.association import standardised
from assay.summary.association_chance import Likely, chance
from assay.summary.seriation import fiedler_positions, order_of

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

FEWEST_ROWS = 10
METHOD = "rank correlation of every pair, Benjamini and Hochberg over all pairs"
_AGAIN = 0.05  # the level at which a pair counts as found in half of the rows
_DRAWN = 1000  # columns that are put in order
_ASKED_AGAIN = 500  # pairs looked for in the halves, the strongest ones


def correlations(
    X: Array, groups: Indices, columns: tuple[str, ...], *, alpha: float = 0.05, seed: int = 0
) -> Correlations | None:
    """Test every pair of columns; None for too few rows or fewer than two columns.

    Args:
        X: (n, D) rows, none missing.
        groups: (D,) the column that each number belongs to, ascending from 0 without gaps.
        columns: (d,) names.
        alpha: level of the study.
        seed: of the halves.
    """
    n = len(X)
    if n < FEWEST_ROWS or len(columns) < 2:
        return None
    found = dependence_of(X, groups, columns)
    pairs = found.pairs
    if not len(pairs):
        return None
    called = found.significant(alpha)
    unseen, again = _halves(X, groups, found, max(called, 1), seed)
    q = float(pairs.q[0])
    evidence = Evidence(
        statistic=abs(float(pairs.rank[0])),
        null=Null("columns that know nothing of each other", *_by_chance(found, alpha)),
        p=q,
        q=q,
        held_out=unseen,
        stability=again,
        n=n,
        looks=found.tested,
        method=METHOD,
        verdict=verdict_of(q, effect_holds=again >= 0.5, alpha=alpha),
    )
    return Correlations(found, called, again, _order(found), 1.0, evidence)


def _halves(X: Array, groups: Indices, found: Dependence, called: int, seed: int) -> tuple[float, float]:
    """The strongest pair of each half measured in the other; and the share of pairs found again in a half."""
    order = np.random.default_rng(seed).permutation(len(X))
    halves = [standardised(X[np.sort(part)], groups, ranks=True) for part in np.array_split(order, 2)]
    some = slice(0, min(len(found.pairs), max(called, _ASKED_AGAIN)))
    first, second = found.pairs.first[some], found.pairs.second[some]
    strengths = [half.of_pairs(first, second)[0] for half in halves]
    sizes = [(half.sizes[first], half.sizes[second]) for half in halves]
    p = [
        chance(s, float(len(half.Z)), *r, ranks=True) for s, half, r in zip(strengths, halves, sizes, strict=True)
    ]  # fmt: skip
    best = [np.nanargmin(own) if np.isfinite(own).any() else 0 for own in p]
    measured = [abs(float(strengths[1 - h][best[h]])) for h in (0, 1)]
    came_back = [own[: min(called, len(own))] <= _AGAIN for own in p]
    return float(np.nanmean(measured)) if np.isfinite(measured).any() else 0.0, float(np.mean(came_back))


def _by_chance(found: Dependence, alpha: float) -> tuple[float, float]:
    """The strongest of as many rank correlations by chance: its median, and what it exceeds with chance alpha."""
    likely = Likely.of(found.rows, ranks=True)
    best = []
    for level in (0.5, alpha):
        one = -np.expm1(np.log1p(-level) / found.tested)  # each of `tested` independent pairs
        best.append(float(np.sqrt(-np.expm1(-np.interp(-np.log(one), -likely.log_p, likely.x)))))
    return best[0], best[1]


def _order(found: Dependence) -> Indices | None:
    """Columns along a line, strong links short."""
    if found.rank is None or len(found.columns) > _DRAWN:
        return None
    links = np.nan_to_num(found.rank) ** 2
    np.fill_diagonal(links, 0.0)
    return order_of(fiedler_positions(links))

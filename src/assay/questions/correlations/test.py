"""Which columns go together? Every pair is tested, and every test counts.

strength  rank correlation of two numbers, correlation ratio of a number's ranks and a category, Cramer's V; of curves
          where a pair is not monotone; of series at the lag where they go together best
chance    independent columns: t (exact moments of ranks), F, chi^2, cosines of ranks for any shape,
          exact cells where levels are rare: summary.pair_chance
looks     one for each pair: Benjamini and Hochberg over all of them
held out  strength in one half of the rows by the other, over many halves; a pair stands if halves show it by
          themselves. The strongest one's is corrected for having been chosen: interval.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.evidence.design import Design, Serial
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.models.correlation.dependence.dependence import Dependence, dependence_of
from assay.questions.correlations.answer import Correlations, holds, in_order, smallest, standing
from assay.questions.correlations.halves import Halves
from assay.questions.correlations.interval import ChosenPair, without_luck
from assay.questions.correlations.unseen import Numbers, seen_again
from assay.summary.graph.seriation import fiedler_positions, order_of
from assay.summary.pairs.association_chance import Likely
from assay.summary.pairs.pair_chance import FEWEST_EFFECTIVE, LAGS
from assay.summary.pairs.pairs import CORRELATION_RATIO, RANK_CORRELATION, Pairs, V

FEWEST_ROWS = 10
_DRAWN = 1000  # columns that are put in order
_HELD = 5000  # columns whose matrices of all pairs are held: 400 MB
_ASKED_AGAIN = 2000  # pairs looked for in halves, the strongest ones
_ASKED_ANYWAY = 20  # where none stands out
_PARTS = 20  # of rows that depend on each other, from which halves are made


def correlations(
    X: Array,
    groups: Indices,
    columns: tuple[str, ...],
    *,
    categories: NDArray[np.bool_] | None = None,
    level: float = 0.05,
    seed: int = 0,
    design: Design | None = None,
) -> Correlations | None:
    """Test every pair of columns; None for too few rows or fewer than two columns.

    Args:
        X: (n, D) rows, none missing.
        groups: (D,) the column that each number belongs to, ascending from 0 without gaps.
        columns: (d,) names.
        categories: (d,) whether each is one; by how many numbers it has if not given.
        level: level of the study.
        seed: of the halves.
        design: how rows depend on each other; None for independent ones.
    """
    n = len(X)
    if n < FEWEST_ROWS or len(columns) < 2:
        return None
    design = None if design is None or design.kind == "independent" else design
    limit = "" if design is None else design.limit
    if isinstance(design, Serial):  # lags need the order of time
        X, design = X[design.order], replace(design, place=np.arange(n))
    hold = len(columns) <= _HELD
    found = dependence_of(X, groups, columns, tested_by="any", rows=design, seed=seed, hold=hold)
    if not len(found.pairs):
        return None
    found = replace(found, pairs=_named(found.pairs, categories))
    halves = Halves.of_rows(n, seed) if design is None else Halves.of(design.folds(_PARTS, seed), seed)
    pairs = seen_again(found, _asked(found, level), halves, Numbers(X, groups, design), seed)
    found = replace(found, pairs=in_order(pairs, level))
    stands = standing(found.pairs, level)
    # where no pair has rows enough that are independent of each other, none was compared with chance
    testable = design is None or bool((found.pairs.effective >= FEWEST_EFFECTIVE).any())
    q = smallest(found.pairs, level) if testable else None
    chosen = _chosen(found, halves) if stands.any() else None
    # of one pair alone nothing is sure that its own interval leaves open
    undecided = chosen is not None and int(stands.sum()) == 1 and chosen.low <= 0.0 <= chosen.high
    again = float(np.nanmean(found.pairs.again[: max(int(stands.sum()), 1)]))
    # where none stands the strongest was chosen with the rows that would judge it, of noise too
    unseen = abs(float(found.pairs.unseen[0])) if stands.any() else None
    evidence = Evidence(
        statistic=abs(float(found.pairs.strength[0])),
        null=_null(found, level) if testable else None,
        p=q,
        q=q,
        held_out=unseen if chosen is None else chosen.strength,
        interval=None if chosen is None else (chosen.low, chosen.high),
        stability=again,
        n=n,
        looks=found.tested,
        method=_method(found, design),
        verdict=verdict_of(q, effect_holds=holds(found.pairs, q) and not undecided, level=level),
        limit=limit,
    )
    return Correlations(found.without_rows(), _called(found, level), again, _order(found), 1.0, evidence)


def _named(pairs: Pairs, categories: NDArray[np.bool_] | None) -> Pairs:
    """With the ratio of a category of two levels, one number, and another category called what it is: Cramer's V."""
    if categories is None:
        return pairs
    both = categories[pairs.first] & categories[pairs.second] & (pairs.strength_name == CORRELATION_RATIO)
    return replace(pairs, strength_name=np.where(both, V, pairs.strength_name))


def _asked(found: Dependence, level: float) -> Indices:
    """Places of the pairs looked for in halves: those near the level, by strength; else the least likely ones."""
    pairs = found.pairs
    near = np.flatnonzero(pairs.q <= 2.0 * level)
    if len(near) > _ASKED_AGAIN:
        near = near[np.argsort(-np.abs(pairs.strength[near]), kind="stable")[:_ASKED_AGAIN]]
    return near if len(near) else np.arange(min(len(pairs), _ASKED_ANYWAY))


def _called(found: Dependence, level: float) -> int:
    """How many pairs stand, listed or not."""
    listed = int(np.count_nonzero(found.pairs.q <= level))
    return found.significant(level) - listed + int(standing(found.pairs, level).sum())


def _chosen(found: Dependence, halves: Halves) -> ChosenPair | None:
    """The strongest pair without the luck of being chosen, where it is one of ranks."""
    pairs = found.pairs
    if pairs.strength_name[0] != RANK_CORRELATION or pairs.lag[0]:
        return None
    pair = int(pairs.first[0]), int(pairs.second[0])
    return without_luck(
        found.ranks, halves, pair, float(pairs.strength[0]), float(pairs.effective[0]), (pairs.first, pairs.second)
    )


def _null(found: Dependence, level: float) -> Null | None:
    """The strongest of as many rank correlations by chance: its median, and what it exceeds with chance level.

    None where the strongest pair is measured otherwise: curves and ratios are larger by chance than ranks.
    """
    if found.pairs.strength_name[0] != RANK_CORRELATION or found.pairs.lag[0]:
        return None
    likely = Likely.of(max(round(float(found.pairs.effective[0])), FEWEST_ROWS), ranks=True)
    best = []
    for chance in (0.5, level):
        one = -np.expm1(np.log1p(-chance) / found.tested)  # each of `tested` independent pairs
        best.append(float(np.sqrt(-np.expm1(-np.interp(-np.log(one), -likely.log_p, likely.x)))))
    return Null("independent columns", best[0], best[1])


def _method(found: Dependence, design: Design | None) -> str:
    """How p was obtained, one phrase."""
    chances = found.chances
    if chances is None:
        tested = "rank correlation of every pair, counts of pairs of levels (too many columns for curved shapes)"
    elif len(chances.rows) < found.rows:
        tested = f"rank correlation of every pair, curved shapes in {len(chances.rows):,} rows, pairs of levels"
    else:
        tested = "rank correlation of every pair, curved shapes, counts of pairs of levels"
    if design is not None:
        tested += f"; rows count as many as are independent (pairs with fewer than {FEWEST_EFFECTIVE:g} are not judged)"
        tested += f", lags up to {LAGS} rows" if design.kind == "time" and chances is not None else ""
    return f"{tested}; corrected for all pairs (Benjamini and Hochberg)"


def _order(found: Dependence) -> Indices | None:
    """Columns along a line, strong links short."""
    if found.rank is None or len(found.columns) > _DRAWN:
        return None
    links = np.nan_to_num(found.rank) ** 2
    np.fill_diagonal(links, 0.0)
    return order_of(fiedler_positions(links))

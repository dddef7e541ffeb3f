"""Do the rows fall into groups? A search of several kinds, against tables with the same correlations and no groups.

statistic  what `group_search` finds: k-means, peaks of columns and of other directions, dense parts of any shape; each
           standardised over the draws, the largest taken: one p for all
chance     the same search in tables drawn from `unimodal`: the same correlations, one peak in every margin. And the dip
           of unseen rows between neighbouring groups, if they had one peak: p is the larger of both, since groups are
           more than a lump of another shape
unseen     prediction strength, and the valley between neighbours: see `number`
stability  for each group, how much of it comes back (Jaccard) when rows are drawn again

k-means cuts anything into groups: a curve, a gradient, a lump. Groups are what has a valley between.

Reference: Tibshirani and Walther, JCGS 14 (2005), prediction strength; Hennig, CSDA 52 (2007), stability by Jaccard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.special import logit, stdtr

from assay.arrays import Array, Indices
from assay.asking.telling import Telling, counting, untold
from assay.engine.current import map_reduce
from assay.engine.local import in_threads
from assay.evidence.design import Design, Independent
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.evidence.measured import varied
from assay.linalg.noise.discoveries import benjamini_hochberg
from assay.linalg.noise.monte_carlo import monte_carlo
from assay.questions.groups.answer import Groups
from assay.questions.groups.coming_back import jaccard
from assay.questions.groups.comparable import Comparable
from assay.questions.groups.dip import dip_chance, dips
from assay.questions.groups.directions import components
from assay.questions.groups.group_search import SIZES, GroupLook, SearchSpace, look, rooms_of, spaces_of
from assay.questions.groups.grouping import by_size, grouped, shares_between
from assay.questions.groups.number import CLEAR, ChosenNumber, chosen
from assay.questions.groups.profile import Category, anomalies, coinciding
from assay.questions.groups.rules import ColumnCut, DenseShapes, Laws, NearestCentres, Projection, Way
from assay.questions.groups.tail import tail_p
from assay.questions.groups.unimodal import Unimodal, unimodal

Blocks: TypeAlias = Iterable[tuple[int, Array]]

FITTED = 600  # rows that are grouped and drawn; others join the group they fall into
FEWEST_ROWS = 40
DRAWS, FEWEST_DRAWS = 59, 19
QUICK_DRAWS, THOROUGH_DRAWS = 40, 199  # from 40 draws on their tail tells p where none comes near: see `tail`
HOPELESS = 0.2  # p after as many draws, beyond which the rest are not made
_CUT = 39  # tables without groups that are cut into as many, to see how far columns differ by that alone
_BEYOND = 2.0  # standard deviations beyond chance below which k-means with as many groups is not considered
_MOST_COLUMNS = 5  # columns whose peaks are looked at, those with the largest dips
_LAW_AXES = 4
_SAME = 0  # seed of what is the same in every study: starts, halvings, the order of rows
METHOD = "tables with the same correlations and one peak in every column; unseen rows between the groups"


def groups(
    rows: Array,
    numbers: Indices,
    columns: tuple[str, ...],
    *,
    blocks: Blocks | None = None,
    categories: tuple[Category, ...] = (),
    design: Design | None = None,
    level: float = 0.05,
    seed: int = 0,
    draws: int = DRAWS,
    fitted: int = FITTED,
    progress: Telling | None = None,
) -> Groups | None:
    """Look for groups of rows and say whether there are more than in one lump; None for too few rows or values.

    Args:
        rows: (m, d) measured columns; those of few values in the rows grouped are left out, see `evidence.measured`.
        numbers: (m,) their numbers in the data.
        columns: names of the d columns.
        blocks: (b, d) of all rows with the number of the first; None where `rows` are all.
        categories: of the rows, with which groups may coincide.
        design: how rows depend on each other; those that are grouped are nearly independent, the others join them.
        level: chance of supporting groups in a table that has none.
        seed: of the draws and of the rows taken.
        draws: of tables without groups, at most.
        fitted: rows that are grouped, at most; the others join the group they fall into.
        progress: told what is being done.
    """
    rng = np.random.default_rng(seed)
    design = design or Independent(len(rows))
    apart = design.thinned(np.random.default_rng(seed))
    if len(apart) < FEWEST_ROWS:
        return None
    taken = np.sort(apart[rng.permutation(len(apart))[:fitted]])
    told = varied(rows[taken])  # what takes few values in the rows that are grouped, whatever it does in others
    if not told.any():
        return None
    used = np.flatnonzero(told)
    rows, columns = rows[:, used], tuple(columns[j] for j in used)
    ordered, tell = _in_no_order(rows, taken), progress or untold
    found = _judged(rows, ordered, numbers, columns, level, draws, rng, tell)
    answer = replace(found.answer, evidence=replace(found.answer.evidence, limit=design.limit))
    if found.label is None:
        return answer
    labels = answer.labels if blocks is None else _everywhere(found.label, blocks, used)
    if blocks is not None:
        labels[numbers] = answer.labels  # ties of the rows drawn are broken once
    return replace(
        answer,
        labels=labels,
        sizes=np.bincount(labels, minlength=answer.k),
        coincide=coinciding(answer.labels, answer.k, categories, taken),
    )


def _in_no_order(rows: Array, fitted: Indices) -> Indices:
    """The same rows in an order that hangs on their values alone, and shows nothing: another order, the same answer."""
    order = np.lexsort(rows[fitted].T[::-1])
    return np.asarray(fitted[order][np.random.default_rng(_SAME).permutation(len(fitted))])


def _everywhere(label: Callable[[Array], Indices], blocks: Blocks, used: Indices) -> Indices:
    """(n,) the group of every row of the data."""
    found: Indices = map_reduce(
        blocks, lambda part: label(part[1][:, used]), lambda first, second: np.concatenate([first, second])
    )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """The answer on the rows drawn, and the group of any row as it came; None where there are no groups."""

    answer: Groups
    label: Callable[[Array], Indices] | None


def _judged(
    rows: Array,
    fitted: Indices,
    numbers: Indices,
    columns: tuple[str, ...],
    level: float,
    draws: int,
    rng: np.random.Generator,
    tell: Telling,
) -> _Found:
    same = np.random.default_rng(_SAME)
    how, Z = Comparable.of(rows[fitted], same)
    spaces, law = spaces_of(Z), unimodal(Z)
    tell("grouping")
    found = look(Z, spaces, _SAME)
    drawn = _draws(spaces, law, len(Z), found, draws, rng, tell)
    p, beyond = _p(found, drawn), found.like(_standardised(found.all, _all(drawn)))
    pick = ChosenNumber(None, 0, 0)
    if p <= 2 * level:
        tell("one half of the rows by the other")
        pick = chosen(Z, _ways(Z, spaces, beyond), _SAME)
    everywhere = how.apply(rows, same)
    everywhere[fitted] = Z
    named = pick.named if pick.named is not None and pick.named.valley <= 2 * level else None
    rule = None if named is None else named.way.learnt(Z, named.k, _SAME)
    k = 1 if rule is None else rule.k
    labels = np.zeros(len(rows), dtype=np.intp) if rule is None else rule.labels(everywhere)
    order = by_size(labels, k)
    labels = order[labels]
    between, by_chance = _apart(Z, labels[fitted], k, None if named is None else named.way, law, rng)
    stability = np.full(k, np.nan)
    if named is not None:
        stability = jaccard(Z, labels[fitted], named.way, k, _SAME, rng)
    strength = None if named is None else named.strengths
    holds = named is not None and named.stands
    whole = max(p, 1.0 if named is None else named.valley)
    answer = Groups(
        rows=numbers,
        labels=labels,
        k=k,
        fewest=pick.fewest or k,
        most=pick.most or k,
        sizes=np.bincount(labels, minlength=k),
        way="" if named is None else named.way.said(columns),
        by=named.way.j if named is not None and isinstance(named.way, ColumnCut) else None,
        lump_p=p,
        torn=pick.torn,
        beyond=_said(beyond),
        stability=stability,
        columns=columns,
        between=between,
        between_by_chance=by_chance.mean(axis=0),
        column_q=_telling(between, by_chance) if k > 1 else np.ones(len(columns)),
        means=np.array([everywhere[labels == g].mean(axis=0) for g in range(k)]),
        anomalies=tuple(numbers[r] for r in anomalies(everywhere, labels, k)),
        coincide=(),
        plane=_plane(everywhere, Z),
        evidence=_evidence(beyond, drawn, whole, strength, float(stability.min()), len(rows), holds, level),
        holds=holds,
        strength_range=None if strength is None else _spread(strength),
    )
    if rule is None:
        return _Found(answer, None)
    return _Found(answer, lambda block: order[rule.labels(how.apply(block, same))])


def _ways(Z: Array, spaces: tuple[SearchSpace, ...], beyond: GroupLook) -> list[Way]:
    """Descriptions to try, the simplest first: only those whose own part of the search could have something."""
    d = Z.shape[1]
    dipped = dips(Z)
    order = np.argsort(-dipped, kind="stable")[:_MOST_COLUMNS]
    ways: list[Way] = [ColumnCut(int(j)) for j in order if dip_chance(float(dipped[j]), len(Z)) <= CLEAR]
    if d > 1:
        ways.append(Projection())
    for space, gains in zip(spaces, beyond.gains, strict=True):
        numbers = tuple(k for k, gain in zip(SIZES, gains, strict=True) if gain > _BEYOND)
        ways += [NearestCentres(space, numbers)] if numbers else []
    if d > 1:
        ways.append(Laws(SearchSpace(min(_LAW_AXES, spaces[0].axes), spaces[0].whole)))
    return ways + [DenseShapes(room) for room in rooms_of(Z)]


def _draws(
    spaces: tuple[SearchSpace, ...],
    law: Unimodal,
    n: int,
    found: GroupLook,
    most: int,
    rng: np.random.Generator,
    tell: Telling,
) -> list[GroupLook]:
    """The same search in tables without groups; fewer of them where it is soon clear that chance does as well."""
    seeds = rng.integers(2**63, size=most)

    def draw(own: int) -> GroupLook:
        return look(law.draw(n, np.random.default_rng(own)), spaces, _SAME)

    made = counting(tell, "what chance does", most)
    return monte_carlo(
        seeds,
        lambda some: in_threads(draw, some, made),
        (FEWEST_DRAWS, most - FEWEST_DRAWS),
        clear=lambda drawn: _p(found, drawn) > HOPELESS,
    ).values


def _all(drawn: list[GroupLook]) -> Array:
    return np.array([one.all for one in drawn])


def _p(found: GroupLook, drawn: list[GroupLook]) -> float:
    """Rank of the largest standardised value; the data are standardised among the draws, as each of these is.

    Where no draw comes near, by the tail of the draws, standardised among themselves.
    """
    chance = _all(drawn)
    best = _largest(np.concatenate([found.all[None], chance]))
    rank = float(np.mean(best >= best[0]))
    if (best[1:] >= best[0]).any():
        return rank
    return min(rank, tail_p(float(_standardised(found.all, chance).max()), _largest(chance)))


def _largest(every: Array) -> Array:
    spread = every.std(axis=0, ddof=1)
    return np.asarray(((every - every.mean(axis=0)) / np.where(spread > 0, spread, np.inf)).max(axis=1))


def _standardised(found: Array, chance: Array) -> Array:
    """In standard deviations of chance; 0 where chance always does the same and so do the data."""
    spread = chance.std(axis=0, ddof=1)
    return np.asarray((found - chance.mean(axis=0)) / np.where(spread > 0, spread, np.inf))


def _said(beyond: GroupLook) -> tuple[tuple[str, float], ...]:
    """What was searched, and how far beyond chance it came."""
    centres = [(f"{k} groups by k-means", float(gain)) for k, gain in zip(SIZES, beyond.gains.max(axis=0), strict=True)]
    return (
        ("peaks of one column", beyond.columns),
        ("peaks along another direction", beyond.directions),
        *centres,
        ("dense parts of any shape", beyond.shapes),
    )


def _apart(
    Z: Array, labels: Indices, k: int, way: Way | None, law: Unimodal, rng: np.random.Generator
) -> tuple[Array, Array]:
    """(d,) share of each column between the groups, and (draws, d) where tables without any are cut into as many."""
    if way is None:
        return np.zeros(Z.shape[1]), np.zeros((1, Z.shape[1]))
    tables = (law.draw(len(Z), rng) for _ in range(_CUT))
    cut = [shares_between(T, grouped(way.lies(T), k, _SAME).labels, k) for T in tables]
    return shares_between(Z, labels, k), np.array(cut)


def _telling(between: Array, chance: Array) -> Array:
    """(d,) chance of a column's share as large in groups that chance makes, corrected for all columns."""
    found, draws = logit(np.clip(between, 1e-12, 1 - 1e-12)), logit(np.clip(chance, 1e-12, 1 - 1e-12))
    spread = draws.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(draws))
    p = stdtr(len(draws) - 1, (draws.mean(axis=0) - found) / np.where(spread > 0, spread, np.inf))
    return benjamini_hochberg(p)


def _plane(everywhere: Array, Z: Array) -> Array | None:
    if Z.shape[1] == 1:
        return None
    return np.asarray((everywhere - Z.mean(axis=0)) @ components(Z, 2))


def _spread(strengths: Array) -> tuple[float, float]:
    low, high = np.quantile(strengths, [0.025, 0.975])
    return float(low), float(high)


def _evidence(
    beyond: GroupLook,
    drawn: list[GroupLook],
    p: float,
    strengths: Array | None,
    stability: float,
    n: int,
    holds: bool,
    level: float,
) -> Evidence:
    largest, most = _largest(_all(drawn)), float(beyond.all.max())
    null = Null(METHOD, float(np.median(largest)), float(np.quantile(largest, 1 - level)), len(drawn))
    return Evidence(
        statistic=most,
        p=p,
        q=p,
        held_out=None if strengths is None else float(strengths.mean()),
        stability=None if strengths is None else stability,
        n=n,
        looks=len(beyond.all),
        method=f"{METHOD}, {len(drawn)} draws",
        verdict=verdict_of(p, effect_holds=holds, level=level),
        # no round lump, but no gap between either: p is that of the gap, with which the lump has nothing to do
        null=None if p > level and most > null.upper else null,
    )

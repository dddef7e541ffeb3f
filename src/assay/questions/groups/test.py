"""Do the rows fall into groups? k-means against tables with the same correlations and no groups.

statistic  -log(W_k / W_1) for k = 2..8, W_k the sum of squares that k-means leaves within groups, among the components
           above chance and among the columns; each standardised over the draws, the largest taken: one p for all
chance     the same search in tables drawn from `unimodal`: the same correlations, one peak in every margin
unseen     prediction strength: rows are halved, each half is grouped by itself; of the pairs that one half puts
           together, the share that the centres of the other put together too, in the group that does worst
stability  for each group, how much of it comes back (Jaccard) when rows are drawn again

k-means cuts anything into groups. What chance cuts out of one lump with the same correlations is the measure.

Reference: Tibshirani and Walther, JCGS 14 (2005), prediction strength; Hennig, CSDA 52 (2007), stability by Jaccard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from assay.engine.local import in_threads
from assay.evidence.design import Design, Independent
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.evidence.measured import varied
from assay.linalg.monte_carlo import monte_carlo
from assay.questions.groups.answer import Groups
from assay.questions.groups.comparable import Comparable
from assay.questions.groups.group_search import SIZES, Look, Space, look, spaces_of
from assay.questions.groups.grouping import by_size, grouped, jaccard, labelled, prediction_strength
from assay.questions.groups.unimodal import Unimodal, unimodal

Array: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]
Tell: TypeAlias = Callable[[str], object]

FITTED = 600  # rows that are grouped and drawn; others join the nearest group
FEWEST_ROWS = 40
DRAWS, FEWEST_DRAWS = 99, 19
HOPELESS = 0.2  # p after as many draws, beyond which the rest are not made
_HALVES, _CHANCE_HALVES = 10, 19
_PREDICTED = 0.8  # prediction strength from which on Tibshirani and Walther count a group
_BEYOND = 2.0  # standard deviations beyond chance below which a number of groups is not considered
_NEARLY = 0.5  # share of the largest gain from which on a space is considered
_STARTS = 10  # of the grouping that is shown
METHOD = "tables with the same correlations and one peak in every column"


def groups(
    rows: Array,
    numbers: Numbers,
    columns: tuple[str, ...],
    *,
    design: Design | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Tell | None = None,
) -> Groups | None:
    """Look for groups of rows and say whether there are more than in one lump; None for too few rows or values.

    Args:
        rows: (m, d) measured columns; those of few values in the rows grouped are left out, see `evidence.measured`.
        numbers: (m,) their numbers in the data.
        columns: names of the d columns.
        design: how rows depend on each other; those that are grouped are nearly independent, the others join them.
        alpha: chance of supporting groups in a table that has none.
        seed: of the draws, of the starts of k-means and of the rows taken.
        progress: told what is being done.
    """
    rng = np.random.default_rng(seed)
    design = design or Independent(len(rows))
    apart = design.thinned(np.random.default_rng(seed))
    if len(apart) < FEWEST_ROWS:
        return None
    fitted = np.sort(apart[rng.permutation(len(apart))[:FITTED]])
    told = varied(rows[fitted])  # what takes few values in the rows that are grouped, whatever it does in others
    if not told.any():
        return None
    rows, columns = rows[:, told], tuple(columns[j] for j in np.flatnonzero(told))
    found = _judged(rows, fitted, numbers, columns, alpha, seed, rng, progress or (lambda _: None))
    return replace(found, evidence=replace(found.evidence, limit=design.limit))


def _judged(
    rows: Array,
    fitted: Numbers,
    numbers: Numbers,
    columns: tuple[str, ...],
    alpha: float,
    seed: int,
    rng: np.random.Generator,
    tell: Tell,
) -> Groups:
    how, Z = Comparable.of(rows[fitted], rng)
    spaces, law = spaces_of(Z), unimodal(Z)
    tell("grouping")
    found = look(Z, spaces, seed)
    drawn = _draws(spaces, law, len(Z), found.gains, seed, rng, tell)
    p, every = _p(found.gains, _gains(drawn)), _standardised(found.gains, _gains(drawn))
    which, k, unseen = int(every.max(axis=1).argmax()), SIZES[int(every.max(axis=0).argmax())], None
    if p <= 2 * alpha:
        tell("one half of the rows by the other")
        which, k, strengths = _best(Z, spaces, every, seed, rng)
        unseen = _Unseen(strengths, _strength_by_chance(spaces[which], law, len(Z), k, seed, rng))
    space, gains = spaces[which], every[which]
    S, everywhere = space.scores(Z), how.apply(rows, rng)
    everywhere[fitted] = Z
    labels = by_size(labelled(space.scores(everywhere, like=Z), grouped(S, k, seed, starts=_STARTS).centers))
    stability = np.full(k, np.nan) if unseen is None else jaccard(S, labels[fitted], k, seed, rng)
    size = SIZES.index(k)
    explained = 1.0 - np.exp(-np.array([one.gains[which, size] for one in (found, *drawn)]))
    between, by_chance = found.between[which, size], np.array([one.between[which, size] for one in drawn])
    return Groups(
        rows=numbers,
        labels=labels,
        k=k,
        sizes=np.bincount(labels, minlength=k),
        axes=space.axes,
        explained=float(explained[0]),
        explained_by_chance=explained[1:],
        gains=gains,
        stability=stability,
        columns=columns,
        between=between,
        between_by_chance=by_chance.mean(axis=0),
        column_q=_telling(between, by_chance),
        means=np.array([everywhere[labels == g].mean(axis=0) for g in range(k)]),
        plane=Space(2, False).scores(everywhere, like=Z) if Z.shape[1] > 1 else None,
        evidence=_evidence(explained, p, unseen, float(stability.min()), len(rows), every.size, alpha),
        holds=unseen is not None and unseen.holds,
        strength_range=None if unseen is None else unseen.spread,
    )


def _draws(
    spaces: tuple[Space, ...], law: Unimodal, n: int, found: Array, seed: int, rng: np.random.Generator, tell: Tell
) -> list[Look]:
    """The same search in tables without groups; fewer of them where it is soon clear that chance does as well."""
    seeds = rng.integers(2**63, size=DRAWS)

    def draw(own: int) -> Look:
        return look(law.draw(n, np.random.default_rng(own)), spaces, seed)

    return monte_carlo(
        seeds,
        lambda some: in_threads(draw, some),
        (FEWEST_DRAWS, DRAWS - FEWEST_DRAWS),
        clear=lambda drawn: _p(found, _gains(drawn)) > HOPELESS,
        progress=lambda n: tell(f"what chance does, {'all' if n == DRAWS else f'{n} of'} {DRAWS} draws"),
    ).values


def _gains(drawn: list[Look]) -> Array:
    return np.array([one.gains for one in drawn])


def _p(found: Array, chance: Array) -> float:
    """Rank of the largest standardised gain; the data are standardised among the draws, as each of these is."""
    every = np.concatenate([found[None], chance])
    spread = every.std(axis=0)
    best = ((every - every.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).max(axis=(1, 2))
    return float(np.mean(best >= best[0]))


def _standardised(found: Array, chance: Array) -> Array:
    """Gains in standard deviations of chance: how they are compared to choose k."""
    spread = chance.std(axis=0, ddof=1)
    return np.asarray((found - chance.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Unseen:
    """Prediction strength over halves of the rows, and in tables without groups."""

    strengths: Array
    by_chance: Array

    @property
    def holds(self) -> bool:
        error = self.strengths.std(ddof=1) / np.sqrt(len(self.strengths))
        mean = float(self.strengths.mean())
        return bool(mean >= _PREDICTED and mean - error > self.by_chance.mean())

    @property
    def spread(self) -> tuple[float, float]:
        low, high = np.quantile(self.strengths, [0.025, 0.975])
        return float(low), float(high)


def _best(
    Z: Array, spaces: tuple[Space, ...], gains: Array, seed: int, rng: np.random.Generator
) -> tuple[int, int, Array]:
    """The space, of those beyond chance, whose groups are predicted best; how many groups; prediction strengths."""
    beyond = [i for i in range(len(spaces)) if gains[i].max() >= _NEARLY * gains.max()]
    tried = [(i, *_number(spaces[i].scores(Z), gains[i], seed, rng)) for i in beyond]
    return max(tried, key=lambda one: float(one[2].mean()))


def _number(S: Array, gains: Array, seed: int, rng: np.random.Generator) -> tuple[int, Array]:
    """How many groups: the most that one half of the rows predicts for the other, among those beyond chance.

    Gains say that there are groups; they keep growing when a group is cut in two, prediction does not.
    """
    best = SIZES[int(gains.argmax())]
    strengths = {
        k: np.array([prediction_strength(S, k, seed, rng) for _ in range(_HALVES)])
        for k, gain in zip(SIZES, gains, strict=True)
        if gain > _BEYOND or k == best
    }
    k = max((k for k, strength in strengths.items() if strength.mean() >= _PREDICTED), default=best)
    return k, strengths[k]


def _strength_by_chance(space: Space, law: Unimodal, n: int, k: int, seed: int, rng: np.random.Generator) -> Array:
    tables = (space.scores(law.draw(n, rng)) for _ in range(_CHANCE_HALVES))
    return np.array([prediction_strength(T, k, seed, rng) for T in tables])


def _telling(between: Array, chance: Array) -> Array:
    """(d,) chance of a column's share as large in groups that chance makes, corrected for all columns."""
    found, draws = logit(np.clip(between, 1e-12, 1 - 1e-12)), logit(np.clip(chance, 1e-12, 1 - 1e-12))
    spread = draws.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(draws))
    p = student.sf((found - draws.mean(axis=0)) / np.where(spread > 0, spread, np.inf), len(draws) - 1)
    return np.asarray(false_discovery_control(p))


def _evidence(
    explained: Array, p: float, unseen: _Unseen | None, stability: float, n: int, looks: int, alpha: float
) -> Evidence:
    draws = len(explained) - 1
    holds = unseen is not None and unseen.holds
    return Evidence(
        statistic=float(explained[0]),
        p=p,
        q=p,
        held_out=None if unseen is None else float(unseen.strengths.mean()),
        stability=None if unseen is None else stability,
        n=n,
        looks=looks,
        method=f"{METHOD}, {draws} draws",
        verdict=verdict_of(p, effect_holds=holds, alpha=alpha),
        null=Null(METHOD, float(np.median(explained[1:])), float(np.quantile(explained[1:], 1 - alpha)), draws),
    )

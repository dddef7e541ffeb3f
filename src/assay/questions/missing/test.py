"""Which values are missing, and does that go with anything? Gaps of each column against all that rows are known by.

statistic  for a number the rank sum of the rows that lack a value, standardised; for a level or another gap the signed
           root of the likelihood ratio of four cells: both nearly normal, also where gaps are few
chance     rows that lack a value are any rows among those that have the other: a normal law, of Student's where rows
           depend on each other, with as many rows as would tell as much if independent (`Design.effective`); two gaps
           also where they come in runs of rows
looks      one for each gap and thing; every p is multiplied by their number (Bonferroni), as one false pair is too many
unseen     the strongest pair is chosen anew on four fifths of the rows; by how much the share missing differs between
           its two sides on the other fifth

What a value would have been had it not been missing no data can tell: gaps that go with nothing here may still go with
the missing value itself.

References: Little, A test of missing completely at random, JASA 83 (1988), asks the same of all columns at once, under
a normal law. Sprott and Viveros-Aguilera, The interpretation of maximum-likelihood estimation, Canadian J. Stat. 12
(1984): signed roots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, xlogy

from assay.arrays import Array, Indices, Mask
from assay.asking.card import DataCard
from assay.asking.table import FirstLook
from assay.evidence.design import Design, Independent, Serial
from assay.evidence.evidence import Evidence, verdict_of
from assay.linalg.noise.fold_error import fold_error, fold_interval
from assay.questions.missing.answer import Family, GapPair, MissingValues
from assay.questions.missing.patterns import patterns_of, runs_of
from assay.questions.missing.sides import FEWEST, Compared, GapSide, compared

FEWEST_ROWS = 20
FEWEST_EFFECTIVE = 12.0  # independent rows that would tell as much, below which nothing is told from chance
METHOD = "rank sums and likelihood ratios of every gap with every column, every p times their number"
_FOLDS = 5
_LISTED = 200


def missing_values(
    look: FirstLook,
    card: DataCard,
    *,
    design_of: Callable[[Indices], Design] | None = None,
    level: float = 0.05,
    seed: int = 0,
) -> MissingValues | None:
    """Ask which values are missing and what that goes with; None where none is.

    Args:
        look: rows drawn fairly, as they came.
        card: what is known of all rows.
        design_of: how rows of such numbers, from 0, depend on each other; independent if not given.
        level: level of the study.
        seed: of the folds.
    """
    shares = {c.name: c.missing / card.rows for c in card.columns if c.missing}
    if not shares:
        return None
    given = compared(look)
    design = Independent(len(look.rows)) if design_of is None else design_of(look.rows - 1)
    values, together = None, None
    if len(look.rows) >= FEWEST_ROWS and given.lacking:
        found = _Roots.of(given, design)
        gap = np.array([side.way == "gap" for side in given.sides])
        values = _family(found, given, look, ~gap, design, level, seed)
        together = _family(found, given, look, gap, design, level, seed)
    return MissingValues(
        columns=tuple(shares),
        share=np.array(list(shares.values())),
        patterns=patterns_of(look, tuple(shares)),
        runs=runs_of(look, tuple(shares)),
        rows=len(look.rows),
        total=card.rows,
        values=values,
        together=together,
        compared=tuple(look.columns[j] for j in given.lacking),
        crossed=_crossed(given.gaps),
        level=level,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Roots:
    """Every gap with every side.

    Attributes:
        z: (a, v) standardised, positive where more is missing on the upper side; NaN where nothing is compared.
        p: (a, v) chance of each.
    """

    z: Array
    p: Array

    @classmethod
    def of(cls, given: Compared, design: Design) -> _Roots:
        """All of them.

        Args:
            given: gaps and sides.
            design: how the rows depend on each other.
        """
        z, n = _standardised(given), given.known.sum(axis=0).astype(np.float64)
        m = len(given.gaps)
        tells = np.ones(z.shape)
        if design.kind != "independent":
            tells = (_effective(given, design) - 1.0) / (m - 1.0)
        # two outages overlap or do not, whatever the rows are: gaps that come in runs tell as much as few
        gap = np.array([side.way == "gap" for side in given.sides])
        in_order = (_effective(given.beside(gap), Serial(m, np.arange(m), 1)) - 1.0) / (m - 1.0)
        tells[:, gap] = np.minimum(tells[:, gap], in_order)
        rows = n * tells
        z = np.where(rows >= FEWEST_EFFECTIVE, z, np.nan)
        p = 2.0 * stdtr(np.maximum(rows - 2.0, 1.0), -np.abs(z) * np.sqrt(tells))
        return cls(z, p)


def _standardised(given: Compared) -> Array:
    """(a, v) rank sums, or signed roots for what has two sides; NaN where one side or the gaps are too few."""
    M, O = given.gaps.astype(np.float64), given.known.astype(np.float64)  # noqa: E741
    n, hit = O.sum(axis=0), M.T @ O
    enough = (hit >= FEWEST) & (n - hit >= FEWEST)
    two = np.array([side.two for side in given.sides])
    upper = np.where(two, ((given.values > 0.0) & given.known).sum(axis=0), n)
    enough &= np.where(two, (upper >= FEWEST) & (n - upper >= FEWEST), True)
    enough &= ~_own(given)
    product = M.T @ given.values
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = (given.values**2).sum(axis=0) - given.values.sum(axis=0) ** 2 / n
        share = hit / n
        product = product - share * given.values.sum(axis=0)
        ranks = product / np.sqrt(squares / (n - 1.0) * n * share * (1.0 - share))
        both = product + upper * share  # of two sides, as values are a half above and below
        roots = np.sign(product) * np.sqrt(_likelihood_ratio(both, hit, upper, n))
    return np.where(enough, np.where(two, roots, ranks), np.nan)


def _likelihood_ratio(both: Array, hit: Array, upper: Array, n: Array) -> Array:
    """(a, v) twice the log of the likelihood ratio of four cells, at least 0.

    Args:
        both: (a, v) rows that lack the value and are on the upper side.
        hit: (a, v) rows that lack it.
        upper: (v,) rows on the upper side.
        n: (v,) rows.
    """
    total = np.zeros(both.shape)
    for x, row, column in (
        (both, hit, upper),
        (hit - both, hit, n - upper),
        (upper - both, n - hit, upper),
        (n - hit - upper + both, n - hit, n - upper),
    ):
        seen = np.maximum(x, 0.0)
        total += xlogy(seen, seen * n) - xlogy(seen, np.maximum(row * column, 1e-300))
    return np.maximum(2.0 * total, 0.0)


def _own(given: Compared) -> Mask:
    """(a, v) what says nothing: a column with itself, and two gaps a second time."""
    own = np.array([side.column for side in given.sides])
    later = np.array([side.way == "gap" for side in given.sides])
    first = np.array(given.lacking)
    return np.asarray(np.equal.outer(first, own) | (np.greater_equal.outer(first, own) & later))


def _effective(given: Compared, design: Design) -> Array:
    """(a, v) how many independent rows would tell as much."""
    Z = np.concatenate([given.gaps - given.gaps.mean(axis=0), given.values - given.values.mean(axis=0)], axis=1)
    size = np.linalg.norm(Z, axis=0)
    Z = np.divide(Z, size, out=np.zeros_like(Z), where=size > 0.0)
    a = given.gaps.shape[1]
    return design.effective(Z)[:a, a:]


def _crossed(gaps: Mask) -> Array:
    """(a, a) correlations of being missing."""
    Z = gaps - gaps.mean(axis=0)
    Z = Z / np.linalg.norm(Z, axis=0)
    return np.asarray(np.clip(Z.T @ Z, -1.0, 1.0))


def _family(
    found: _Roots, given: Compared, look: FirstLook, which: Mask, design: Design, level: float, seed: int
) -> Family | None:
    """The pairs of some sides, the strongest first; None where nothing could be compared."""
    looks, tested = int(np.isfinite(found.z).sum()), np.isfinite(found.z) & which
    if not tested.any():
        return None
    a, v = np.nonzero(tested)
    order = np.lexsort((-np.abs(found.z[a, v]), found.p[a, v]))[:_LISTED]
    pairs = tuple(_pair(given, look, int(a[k]), int(v[k]), float(found.p[a[k], v[k]]), looks) for k in order)
    q = pairs[0].q
    unseen = _unseen(given, tested, design, seed)
    error = float(fold_error(unseen))
    low, high = fold_interval(float(unseen.mean()), error, len(unseen), within=(-1.0, 1.0))
    holds = float(unseen.mean()) - error > 0.0
    evidence = Evidence(
        statistic=abs(pairs[0].upper - pairs[0].lower),
        p=q,
        q=q,
        held_out=float(unseen.mean()),
        interval=(float(low), float(high)),
        n=len(given.gaps),
        looks=int(tested.sum()),
        method=METHOD,
        verdict=verdict_of(q, effect_holds=holds, level=level),
        limit=design.limit,
    )
    return Family(pairs, evidence, holds)


def _pair(given: Compared, look: FirstLook, a: int, v: int, p: float, looks: int) -> GapPair:
    side = given.sides[v]
    upper, lower = _parts(side, given.values[:, v], given.known[:, v])
    gap = given.gaps[:, a]
    return GapPair(
        lacking=look.columns[given.lacking[a]],
        side=side,
        column="" if side.column < 0 else look.columns[side.column],
        upper=float(gap[upper].mean()),
        lower=float(gap[lower].mean()),
        p=p,
        q=min(p * looks, 1.0),
    )


def _parts(side: GapSide, values: Array, known: Mask) -> tuple[Mask, Mask]:
    """(m,) the rows on the upper and on the lower side that are told: quarters of ranks, halves of distances."""
    if side.two:
        return known & (values > 0.0), known & (values < 0.0)
    cut = 0.0 if side.way == "far" else 0.25
    # ties may leave a quarter empty: the upper and lower most values are then told
    upper, lower = known & (values > min(cut, values.max() - 1e-9)), known & (values < max(-cut, values.min() + 1e-9))
    return upper, lower


def _unseen(given: Compared, tested: Mask, design: Design, seed: int) -> Array:
    """(folds,) by how much the share missing differs on unseen rows, between the sides of the pair that rows seen show.

    A fold that has nobody on one side shows no difference.
    """
    fold, found = design.folds(_FOLDS, seed), []
    for k in range(int(fold.max()) + 1):
        z = np.where(tested, _standardised(given.among(fold != k)), np.nan)
        here = fold == k
        if not np.isfinite(z).any() or not here.any():
            found.append(0.0)
            continue
        a, v = np.unravel_index(int(np.nanargmax(np.abs(z))), z.shape)
        known, values, gap = given.known[here, v], given.values[here, v], given.gaps[here, a]
        upper, lower = known & (values > 0.0), known & (values < 0.0)
        there = upper.any() and lower.any()
        found.append(float(np.sign(z[a, v]) * (gap[upper].mean() - gap[lower].mean())) if there else 0.0)
    return np.array(found)

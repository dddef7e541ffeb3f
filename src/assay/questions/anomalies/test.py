"""Which rows do not belong? Distances from the bulk of other rows, and a gap that the law of these does not explain.

score    Mahalanobis distance by the bulk of rows it had no part in, from the nearest of groups far apart (`measure`)
chance   that the farthest rows all lie beyond so wide a gap (`gap`), by the tail of the others with the doubt about it,
         or by the law of normal rows as far as the bulk has their shape (`normal_rows`)
lonely   the same gap in how far a row's neighbours are, compared with theirs (`local`): a fifth of the level
column   a row that one column puts there has to be rare by that column's own tail too, as far as this may be long: the
         others hide it
looks    every number of farthest rows up to a fifth of all; rows beyond a gap are taken out and the others asked again

A missing value is where the others of its row let expect it, which adds nothing to the distance, and a row that lacks
one is not asked for its neighbours: no row is out by what it lacks. No share of outliers is asked for or assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.evidence.design import Design, Independent
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.evidence.measured import robust_scale
from assay.linalg.normal.robust_scale import MAD
from assay.questions.anomalies.answer import Anomalies
from assay.questions.anomalies.gap import FEWEST, HEAVY, Tail, fitted, gaps
from assay.questions.anomalies.measure import MOST_SHOWN, CrossMeasure, Far
from assay.questions.anomalies.normal_rows import NormalRows, NormalShape
from assay.questions.anomalies.together import together

Tell: TypeAlias = Callable[[str], object]

FEWEST_ROWS = FEWEST
_SAMPLE = 20_000  # rows by which all others are measured
_SHAPED = 2000  # of these, those whose shape is looked at
_LONELY = 0.2  # share of the level for rows without neighbours
_DRIVEN = 0.6  # share of the squared distance from which on one column puts a row where it is
_LONELY_MOST = 0.05  # share of the rows that may have none
METHOD = "a gap below the farthest rows, by the law of the others"
SLOW = "distances fall off so slowly that rows far out are to be expected"


def measuring_rows(rows: Array | None, sample: Array, numbers: Indices, seed: int) -> tuple[Array, Indices]:
    """The rows by which all are measured: all, a fair choice of many, or those kept where rows are not.

    Args:
        rows: (n, D) all rows; None where they were not kept.
        sample: (m, D) those that were.
        numbers: (m,) of those.
        seed: of the choice.
    """
    if rows is None:
        return sample, numbers
    chosen = np.sort(np.random.default_rng(seed).permutation(len(rows))[:_SAMPLE])
    return rows[chosen], chosen


def anomalies(
    blocks: Iterable[tuple[int, Array]],
    sample: Array,
    numbers: Indices,
    columns: tuple[str, ...],
    *,
    present: Array | None = None,
    design: Design | None = None,
    level: float = 0.05,
    seed: int = 0,
    progress: Tell | None = None,
) -> Anomalies | None:
    """Find the rows that do not belong; None for too few rows, or columns too nearly constant to measure by.

    Args:
        blocks: (b, d) of all rows with the number of the first, none constant, NaN where a value is missing.
        sample: (m, d) rows by which the others are measured, all or a fair choice, without gaps.
        numbers: (m,) their numbers, ascending.
        columns: names of the d columns.
        present: (m, d) the same rows as the sample with NaN where a value is missing; the sample where none is.
        design: how all rows depend on each other: the law of distances is that of rows that are nearly independent.
        level: chance of calling any row out in a table where all rows follow one law.
        seed: of the folds.
        progress: told what is being done.
    """
    if len(sample) < FEWEST_ROWS or not columns:
        return None
    tell, present = progress or (lambda _: None), sample if present is None else present
    own = design or Independent(int(numbers.max()) + 1)
    measure = CrossMeasure.of(sample, present, numbers, own, seed)
    if measure is None:
        return None
    tell("measuring distances")
    scores, nearer, far = measure.pass_over(blocks)
    apart = _apart(design, len(scores), seed)
    limit = "" if design is None else design.limit
    if len(apart) < FEWEST:
        apart, limit = np.arange(len(scores)), limit or f"about {len(apart)} independent rows, too few"
    tell("looking for gaps")
    judged = _judged(measure, sample, numbers, far, scores, nearer, apart, level, seed)
    order = np.argsort(-scores, kind="stable")
    out = order[judged.q[order] <= level]
    again = 0.0
    if len(out) or judged.p <= 2 * level:
        tell("dividing the rows anew")
        anew = CrossMeasure.of(sample, present, numbers, own, seed + 1)
        again = _again(anew, sample, present, numbers, far, out, judged, apart, level)
    rows, shown = _shown(out, far, present, numbers)
    heavy = judged.tail is not None and judged.tail.heaviness > HEAVY
    return Anomalies(
        rows=out,
        q=judged.q[out],
        distances=scores[out],
        contributions=measure.contributions(rows, shown),
        deviations=np.nan_to_num(measure.deviations(rows)),
        columns=columns,
        best=(int(np.argmax(scores)), float(scores.max())),
        typical=float(np.median(scores)),
        heaviness=np.nan if judged.tail is None else judged.tail.heaviness,
        scores=scores,
        again=again,
        lonely=np.isin(out, judged.lonely),
        together=together(np.nan_to_num(measure.placed(rows))),
        groups=len(measure.centres),
        evidence=replace(_evidence(judged, out, again, level), limit=limit or (SLOW if heavy else "")),
        level=level,
    )


def _apart(design: Design | None, n: int, seed: int) -> Indices:
    """Numbers of rows that are nearly independent: by these the law of distances is known."""
    return np.arange(n) if design is None or design.n != n else design.thinned(np.random.default_rng(seed))


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """What is known of all rows.

    Attributes:
        scores: (n,) distances.
        nearer: (n,) the same a step nearer, where values repeat.
        q: (n,) of each row, for all looks.
        p: of the clearest gap, for all looks.
        tail: of the distances of rows that belong; None where these are all the same.
        lonely: numbers of rows that only their neighbours tell apart.
        farther: (n,) how many times as far out as is usual, or as far from its neighbours.
    """

    scores: Array
    nearer: Array
    q: Array
    p: float
    tail: Tail | None
    lonely: Indices
    farther: Array


def _judged(
    measure: CrossMeasure,
    sample: Array,
    numbers: Indices,
    far: Far,
    scores: Array,
    nearer: Array,
    apart: Indices,
    level: float,
    seed: int,
) -> _Judged:
    """The chances of all rows: of those apart by their gaps, of the others by the tail of these."""
    logs, at_least = (np.log(np.maximum(distances, 1e-300)) for distances in (scores, nearer))
    normal = odds = shape = None
    if measure.robust:
        shown = _shaped(numbers, apart, seed)
        shape = NormalShape.of(
            _units(measure.placed(sample[shown])[:, np.isfinite(measure.within)]), logs[numbers[shown]], measure.rows
        )
        normal, odds = NormalRows(measure.telling, measure.rows), shape.odds
    main = 1.0 if measure.lonely is None else 1.0 - _LONELY
    q, of_apart = np.ones(len(scores)), logs[apart]
    q[apart], p = gaps(of_apart, level * main, nearer=at_least[apart], alone=True, normal=normal, odds=odds)
    belong = np.sort(of_apart[q[apart] > level * main])
    tail = fitted(belong, 1, normal, odds)
    if tail is not None and len(apart) < len(scores):
        others = np.setdiff1d(np.arange(len(scores)), apart, assume_unique=True)
        beyond = others[at_least[others] > tail.end]
        once = 2.0 * len(others) / (len(belong) + 1.0)
        q[beyond] = [min(1.0, once * tail.beyond(float(score))) for score in at_least[beyond]]
        p = min(p, float(q[beyond].min(initial=1.0)))
    if tail is not None and shape is not None and p <= level * main:
        own = _own_column(measure, shape.doubt(tail.end), sample, numbers, far, q <= level * main)
        # a row that belongs after all has a part in every gap below it
        least = np.full(len(q), own.max(initial=0.0))
        least[far.numbers] = np.maximum.accumulate(own)
        q = np.maximum(q, least)
        p = max(p, float(q.min()))
    q, p = np.minimum(q / main, 1.0), min(p / main, 1.0)
    farther, typical = scores / max(float(np.median(scores)), 1e-300), q > level
    if measure.lonely is not None:
        of_lonely, p_lonely = gaps(measure.lonely, level * _LONELY, share=_LONELY_MOST)
        q[numbers] = np.minimum(q[numbers], of_lonely / _LONELY)
        p = min(p, p_lonely / _LONELY)
        farther[numbers] = np.maximum(farther[numbers], np.exp(measure.lonely))
    return _Judged(scores, nearer, q, p, tail, np.flatnonzero(typical & (q <= level)), farther)


def _own_column(
    measure: CrossMeasure, doubt: Array, sample: Array, numbers: Indices, far: Far, out: NDArray[np.bool_]
) -> Array:
    """(s,) chance of the farthest rows by the tail of the column that puts them there; 0 where none does alone.

    Args:
        measure: of distances.
        doubt: (d,) how likely each column that tells is not normal: so much its own tail counts.
        sample: (m, D) rows.
        numbers: (m,) theirs.
        far: the farthest rows.
        out: (n,) which rows are beyond a gap.
    """
    own = np.zeros(len(far.numbers))
    here = np.flatnonzero(out[far.numbers])
    if not len(here):
        return own
    share = measure.contributions(far.rows[here], far.numbers[here])
    column = np.argmax(share, axis=1)
    told = np.flatnonzero(np.isfinite(measure.within))
    driven = share.max(axis=1) >= _DRIVEN
    inside = measure.placed(sample[~out[numbers]])
    for j in np.unique(column[driven]):
        these = here[driven & (column == j)]
        tail = fitted(np.sort(np.log(np.maximum(np.abs(inside[:, j]), 1e-300))), 1)
        looks = (len(these) + 1.0) * len(out) / (len(inside) + 1.0)
        values = np.log(np.maximum(np.abs(measure.nearer(measure.placed(far.rows[these]))[:, j]), 1e-300))
        chances = np.ones(len(these)) if tail is None else [tail.beyond(max(v, tail.end)) for v in values.tolist()]
        own[these] = doubt[told == j] * np.minimum(1.0, looks * np.asarray(chances))
    return own


def _shaped(numbers: Indices, apart: Indices, seed: int) -> Indices:
    """Which rows of the sample tell the shape of the bulk: a fair choice of those apart."""
    among = np.flatnonzero(np.isin(numbers, apart))
    among = among if len(among) >= FEWEST else np.arange(len(numbers))
    return np.sort(np.random.default_rng(seed).permutation(among)[:_SHAPED])


def _units(rows: Array) -> Array:
    """Columns with median 0 and a median distance of 1 from it."""
    middle, spread = robust_scale(rows)
    return np.asarray((rows - middle) / np.where(spread > 0.0, spread / MAD, 1.0))


def _again(
    measure: CrossMeasure | None,
    sample: Array,
    present: Array,
    numbers: Indices,
    far: Far,
    out: Indices,
    before: _Judged,
    apart: Indices,
    level: float,
) -> float:
    """Share of the rows called out that are called out by other folds of the sample; where none is, whether one is."""
    if measure is None:
        return 0.0
    fresh = np.stack([before.scores, before.nearer])
    fresh[:, numbers] = measure.distances(present, numbers)
    fresh[:, far.numbers] = measure.distances(far.rows, far.numbers)
    judged = _judged(measure, sample, numbers, far, fresh[0], fresh[1], apart, 2 * level, 1)
    return float(np.mean(judged.q[out] <= 2 * level)) if len(out) else float(judged.p <= 2 * level)


def _shown(out: Indices, far: Far, present: Array, numbers: Indices) -> tuple[Array, Indices]:
    """The first of the rows called out that are at hand, and their numbers."""
    place = {int(number): row for number, row in zip(far.numbers, far.rows, strict=True)}
    at = np.minimum(np.searchsorted(numbers, out), len(numbers) - 1)
    shown: list[Array] = []
    for number, i in zip(out[:MOST_SHOWN].tolist(), at.tolist(), strict=False):
        if number not in place and numbers[i] != number:
            break
        shown.append(place.get(number, present[i]))
    return np.array(shown).reshape(len(shown), present.shape[1]), out[: len(shown)]


def _evidence(judged: _Judged, out: Indices, again: float, level: float) -> Evidence:
    n, tail = len(judged.scores), judged.tail
    null = None
    if tail is not None:
        middle, upper = np.exp(tail.reached(0.25, level / 2.0))  # one row is one look of two
        # far by the law of distances, but not by that of the column which puts the row there: p is of the second
        hidden = judged.p > level and float(judged.scores.max()) > upper
        null = None if hidden else Null(METHOD, float(middle), float(upper))
    return Evidence(
        statistic=float(judged.scores.max()),
        p=judged.p,
        q=judged.p,
        held_out=float(np.median(judged.farther[out])) if len(out) else None,
        stability=again if len(out) else None,
        n=n,
        looks=n,
        method=METHOD,
        verdict=verdict_of(judged.p, effect_holds=again >= 0.5, level=level),
        null=null,
    )

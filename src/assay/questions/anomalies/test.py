"""Which rows do not belong? Distances from rows that were not used to measure them, and how rare such distances are.

score    Mahalanobis distance, its centre and covariance from other rows: five folds; values beyond 3 robust standard
         deviations are drawn in when these are estimated (not when a row is scored), so that outliers do not hide
chance   rank among all rows (conformal); in the far tail the generalised Pareto law of `far_tail`, but never rarer than
         normal rows are: chi^2 of the squared distance, whose median is that of the rows
looks    one for each row: Benjamini and Hochberg over all of them

A missing value is where the others of its row let expect it, which adds nothing to the distance: no row is far out by
what it lacks. No share of outliers is asked for or assumed.

Reference: Bates, Candès, Lei, Romano, Sesia, Annals of Statistics 51 (2023), conformal p-values of outliers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, false_discovery_control

from assay.evidence.design import Design, Independent
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.evidence.measured import robust_scale
from assay.linalg.normal import MultivariateNormal
from assay.models.anomaly.mahalanobis import Mahalanobis
from assay.questions.anomalies.answer import Anomalies
from assay.questions.anomalies.far_tail import FEWEST, FarTail, far_tail

Array: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]
Tell: TypeAlias = Callable[[str], object]

FEWEST_ROWS = FEWEST
MOST_SHOWN = 200  # rows whose columns are kept
_SAMPLE = 20_000  # rows by which all others are measured
_FOLDS = 5
_REACH = 3.0
_FARTHEST = 1e100  # robust standard deviations as which all beyond count: squares stay in the range of numbers
METHOD = "rank among rows not used to measure it, the far tail by a generalised Pareto law"


def measuring_rows(rows: Array | None, sample: Array, numbers: Numbers, seed: int) -> tuple[Array, Numbers]:
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
    blocks: Callable[[], Iterable[Array]],
    sample: Array,
    numbers: Numbers,
    columns: tuple[str, ...],
    *,
    present: Array | None = None,
    design: Design | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Tell | None = None,
) -> Anomalies | None:
    """Find the rows that do not belong; None for too few rows, or columns too nearly constant to measure by.

    Args:
        blocks: starts a pass over all rows, (b, d) measured columns, none constant, NaN where a value is missing.
        sample: (m, d) rows by which the others are measured, all or a fair choice, without gaps.
        numbers: (m,) their numbers, ascending.
        columns: names of the d columns.
        present: (m, d) the same rows as the sample with NaN where a value is missing; the sample where none is.
        design: how all rows depend on each other: the law of distances is that of rows that are nearly independent.
        alpha: chance of calling any row out in a table where all rows follow one law.
        seed: of the folds.
        progress: told what is being done.
    """
    if len(sample) < FEWEST_ROWS or not columns:
        return None
    tell = progress or (lambda _: None)
    own = design or Independent(int(numbers.max()) + 1)
    judge = _Judge.of(sample, numbers, own, seed)
    if judge is None:
        return None
    tell("measuring distances")
    scores, far = judge.pass_over(blocks())
    apart = _apart(design, len(scores), seed)
    limit = "" if design is None else design.limit
    if len(apart) < FEWEST:
        apart, limit = np.arange(len(scores)), limit or f"about {len(apart)} rows know nothing of each other, too few"
    d = judge.telling
    q = _corrected(scores, apart, d)
    tail = far_tail(scores[apart])
    order = np.argsort(-scores, kind="stable")
    out = order[q[order] <= alpha]
    again = 0.0
    if len(out) or q[order[0]] <= 2 * alpha:
        tell("dividing the rows anew")
        judge_anew = _Judge.of(sample, numbers, own, seed + 1)
        shown_again = sample if present is None else present
        again = _again(judge_anew, shown_again, numbers, far, out if len(out) else order[:1], scores, apart, d, alpha)
    shown = far.rows_of(out[:MOST_SHOWN])
    return Anomalies(
        rows=out,
        q=q[out],
        distances=scores[out],
        contributions=judge.contributions(shown, out[: len(shown)]),
        deviations=np.nan_to_num(judge.deviations(shown)),
        columns=columns,
        best=(int(order[0]), float(scores[order[0]])),
        typical=float(np.median(scores)),
        heaviness=tail.heaviness,
        scores=scores,
        again=again,
        evidence=replace(_evidence(scores, tail, out, float(q[order[0]]), again, alpha), limit=limit),
        alpha=alpha,
    )


def _apart(design: Design | None, n: int, seed: int) -> Numbers:
    """Numbers of rows that are nearly independent: by these the law of distances is known."""
    return np.arange(n) if design is None or design.n != n else design.thinned(np.random.default_rng(seed))


def _corrected(scores: Array, apart: Numbers, d: int) -> Array:
    """(n,) p of each row by its rank among those apart, in the tail by its law, corrected for all rows.

    A fitted tail may by luck be thinner than that of normal rows, which among very many rows calls the farthest out.
    """
    tail, n = far_tail(scores[apart]), len(apart)
    ascending = np.sort(scores[apart])
    p = np.maximum(n - np.searchsorted(ascending, scores, side="left"), 1) / (n + 1.0)
    beyond = scores > tail.threshold
    if np.isfinite(tail.heaviness):
        p[beyond] = np.minimum(tail.chance(scores[beyond]), 1.0)
        middle = float(np.median(ascending)) / np.sqrt(chi2.median(d))
        p[beyond] = np.maximum(p[beyond], chi2.sf((scores[beyond] / max(middle, 1e-300)) ** 2, d))
    return np.asarray(false_discovery_control(p))


def _again(
    judge: _Judge | None,
    sample: Array,
    numbers: Numbers,
    far: _Far,
    out: Numbers,
    scores: Array,
    apart: Numbers,
    d: int,
    alpha: float,
) -> float:
    """Share of the rows called out that are called out by other folds of the sample."""
    if judge is None:
        return 0.0
    fresh = scores.copy()
    fresh[numbers] = judge.distances(sample, numbers)
    fresh[far.numbers] = judge.distances(far.rows, far.numbers)
    return float(np.mean(_corrected(fresh, apart, d)[out] <= 2 * alpha))


@dataclass(frozen=True, slots=True, eq=False)
class _Far:
    """The rows farthest out so far."""

    numbers: Numbers
    scores: Array
    rows: Array

    def with_block(self, first: int, scores: Array, block: Array) -> _Far:
        numbers = np.concatenate([self.numbers, first + np.arange(len(block))])
        every, rows = np.concatenate([self.scores, scores]), np.concatenate([self.rows, block])
        kept = np.argsort(-every, kind="stable")[:MOST_SHOWN]
        return _Far(numbers[kept], every[kept], rows[kept])

    def rows_of(self, wanted: Numbers) -> Array:
        place = {int(number): i for i, number in enumerate(self.numbers)}
        return self.rows[[place[int(number)] for number in wanted]]


def _folds(design: Design, numbers: Numbers, seed: int) -> Numbers:
    """(m,) five folds of the sample, rows that depend on each other in one."""
    if design.kind == "independent":
        return np.random.default_rng(seed).permutation(len(numbers)) % _FOLDS
    return design.among(numbers).folds(_FOLDS, seed)


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """Five measures of distance; each row is measured by one that it had no part in."""

    middle: Array
    spread: Array
    sampled: Numbers
    fold: Numbers
    models: tuple[Mahalanobis, ...]

    @classmethod
    def of(cls, sample: Array, numbers: Numbers, design: Design, seed: int) -> _Judge | None:
        middle, spread = robust_scale(sample)
        spread = np.where(spread > 0.0, spread, np.inf)
        drawn_in = np.clip((sample - middle) / spread, -_REACH, _REACH)
        fold = _folds(design, numbers, seed)
        # a column that is constant outside a fold has no measure for the rows in it, to which all else is infinitely
        # far: it is left out for all rows, so that their distances compare
        tells = np.all([np.ptp(drawn_in[fold != k], axis=0) > 0.0 for k in range(_FOLDS)], axis=0)
        if not tells.any():
            return None
        spread, drawn_in = np.where(tells, spread, np.inf), np.where(tells, drawn_in, 0.0)
        models = tuple(
            Mahalanobis(shrinkage="ledoit-wolf", standardise=False).fit(drawn_in[fold != k]) for k in range(_FOLDS)
        )
        return cls(middle, spread, numbers, fold, models)

    @property
    def telling(self) -> int:
        """How many columns tell of distances."""
        return int(np.isfinite(self.spread).sum())

    def pass_over(self, blocks: Iterable[Array]) -> tuple[Array, _Far]:
        """Distances of all rows, and the rows farthest out."""
        parts: list[Array] = []
        far: _Far | None = None
        first = 0
        for block in blocks:
            scores = self.distances(block, first + np.arange(len(block)))
            parts.append(scores)
            far = (far or _Far(np.empty(0, np.intp), np.empty(0), block[:0])).with_block(first, scores, block)
            first += len(block)
        if far is None:
            raise ValueError("a pass without blocks")
        return np.concatenate(parts), far

    def distances(self, rows: Array, numbers: Numbers) -> Array:
        found = np.empty(len(rows))
        for model, here in self._by_model(numbers):
            found[here] = model.distance(_expected(model, self.deviations(rows[here])))
        return found

    def contributions(self, rows: Array, numbers: Numbers) -> Array:
        """Shares of the columns in the squared distances; none of what is missing."""
        found = np.empty_like(rows)
        for model, here in self._by_model(numbers):
            given = self.deviations(rows[here])
            parts = np.where(np.isnan(given), 0.0, model.contributions(_expected(model, given)))
            found[here] = parts / parts.sum(axis=1, keepdims=True)
        return found

    def deviations(self, rows: Array) -> Array:
        return np.clip((rows - self.middle) / self.spread, -_FARTHEST, _FARTHEST)

    def _by_model(self, numbers: Numbers) -> Iterator[tuple[Mahalanobis, Numbers]]:
        # rows outside the sample are unseen by every model; their numbers divide them
        place = np.minimum(np.searchsorted(self.sampled, numbers), len(self.sampled) - 1)
        fold = np.where(self.sampled[place] == numbers, self.fold[place], numbers % _FOLDS)
        for k, model in enumerate(self.models):
            here = np.flatnonzero(fold == k)
            if len(here):
                yield model, here


def _expected(model: Mahalanobis, deviations: Array) -> Array:
    """The same without gaps: what is missing is where the others of its row let expect it."""
    if not np.isnan(deviations).any():
        return deviations
    return MultivariateNormal(model.location_, model.covariance_).conditional_mean(deviations)


def _evidence(scores: Array, tail: FarTail, out: Numbers, least: float, again: float, alpha: float) -> Evidence:
    n, typical = len(scores), float(np.median(scores))
    reached = tail.reached_once_in(n / alpha), tail.reached_once_in(2 * n)
    return Evidence(
        statistic=float(scores.max()),
        p=least,
        q=least,
        held_out=float(np.median(scores[out]) / typical) if len(out) and typical > 0 else None,
        stability=again if len(out) else None,
        n=n,
        looks=n,
        method=METHOD,
        verdict=verdict_of(least, effect_holds=again >= 0.5, alpha=alpha),
        null=Null(METHOD, reached[1], reached[0]) if np.isfinite(tail.heaviness) else None,
    )

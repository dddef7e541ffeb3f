"""How far out rows lie: Mahalanobis distances by the bulk of other rows.

bulk      the rows that the minimum covariance determinant does not find too far out (seven tenths of the rows surely
          clean), so that rows that do not belong neither hide themselves nor each other
groups    that lie far apart have a centre each, and a row is measured from the nearest
folds     five: a row is measured by the bulk of the rows it is not among
steps     of columns whose values repeat: a row is beyond a gap only if it still is with each value a step nearer
else      with fewer than five rows for each column no bulk can be picked: then all rows count, their values beyond 3
          robust standard deviations drawn in; so are those of columns that are mostly one value, which pick no bulk
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.engine.current import map_reduce
from assay.evidence.design import Design
from assay.evidence.measured import robust_scale
from assay.linalg.normal.mcd import central_rows, majority
from assay.linalg.normal.multivariate_normal import MultivariateNormal
from assay.models.anomaly.mahalanobis import ROWS_PER_COLUMN, Mahalanobis
from assay.questions.anomalies.local import FEWEST, MOST_COLUMNS, LocalNeighbours

MOST_SHOWN = 200  # rows whose columns are kept
_FOLDS = 5
_REACH = 3.0
_CLEAN = 0.7  # share of the rows among which the bulk is looked for
_SEARCHED = 3000  # rows among which it is
_COARSE = 0.25  # robust standard deviations between values from which on rows have no neighbours worth the name
_MOSTLY = 0.5  # share of one value from which on a column picks no bulk
_FARTHEST = 1e100  # robust standard deviations as which all beyond count: squares stay in the range of numbers


@dataclass(frozen=True, slots=True, eq=False)
class Far:
    """The rows farthest out so far."""

    numbers: Indices
    scores: Array
    rows: Array

    @classmethod
    def of(cls, numbers: Indices, scores: Array, rows: Array) -> Far:
        """Of these rows."""
        kept = np.argsort(-scores, kind="stable")[:MOST_SHOWN]
        return cls(numbers[kept], scores[kept], rows[kept])

    def __add__(self, other: Far) -> Far:
        return Far.of(
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.rows, other.rows]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class CrossMeasure:
    """Five measures of distance; each row is measured by one that it had no part in.

    Attributes:
        middle, spread: (d,) robust units of the columns; the spread of one that tells nothing is infinite.
        centres: (k, d) of groups that lie far apart, in these units; one row of zeros where there are none.
        whiten: (d, c) to the coordinates in which the nearest centre is looked for.
        within: (d,) robust spread about the nearest centre.
        lonely: (m,) how lonely each row of the sample is; None where that was not asked.
        sampled: (m,) numbers of the rows they come from.
        fold: (m,) of those.
        models: of the folds.
        robust: whether they rest on the bulk alone, by all columns.
        rows: how many rows each rests on.
        steps: (d,) between values of a column that repeat, about the nearest centre; 0 where they do not.
    """

    middle: Array
    spread: Array
    centres: Array
    whiten: Array
    within: Array
    lonely: Array | None
    sampled: Indices
    fold: Indices
    models: tuple[Mahalanobis, ...]
    robust: bool
    rows: float
    steps: Array

    @classmethod
    def of(cls, sample: Array, present: Array, numbers: Indices, design: Design, seed: int) -> CrossMeasure | None:
        """Made from a sample of the rows; None where no column tells anything.

        Args:
            sample: (m, d) without gaps.
            present: (m, d) the same with NaN where a value is missing.
            numbers: (m,) of its rows, ascending.
            design: how all rows depend on each other.
            seed: of the folds and of the search for the bulk.
        """
        middle, spread = robust_scale(sample)
        spread = np.where(spread > 0.0, spread, np.inf)
        usual = np.clip((sample - middle) / spread, -_FARTHEST, _FARTHEST)
        steps = np.array([_step(column) for column in usual.T])
        # values that repeat are spread over their steps: else every value would be a group of its own
        spread_out = steps * np.random.default_rng(seed).uniform(-0.5, 0.5, usual.shape)
        centres, whiten, lonely = _centres(usual + spread_out, design, seed)
        lonely = None if (steps > _COARSE).any() else lonely
        if lonely is not None:  # what stands in for a missing value has no neighbours of its own
            lonely = np.where(np.isnan(present).any(axis=1), lonely.min(), lonely)
        taken = usual - _nearest(usual, centres, whiten)
        within = robust_scale(taken)[1] if len(centres) > 1 else np.ones(len(middle))
        within = np.where(within > 0.0, within, np.inf)
        taken = taken / within
        fold = _folds(design, numbers, seed)
        # a column that is constant outside a fold has no measure for the rows in it, to which all else is infinitely
        # far: it is left out for all rows, so that their distances compare
        tells = np.all([np.ptp(taken[fold != k], axis=0) > 0.0 for k in range(_FOLDS)], axis=0)
        if not tells.any():
            return None
        within, taken = np.where(tells, within, np.inf), np.where(tells, taken, 0.0)
        mostly = np.array([_commonest(column) >= _MOSTLY * len(column) for column in taken.T])
        bulk = _bulk(taken[:, ~mostly], seed)
        robust = bulk is not None and not mostly[tells].any()
        if bulk is None:
            bulk, mostly = np.ones(len(sample), dtype=bool), np.ones(len(mostly), dtype=bool)
        taken[:, mostly] = np.clip(taken[:, mostly], -_REACH, _REACH)
        models = tuple(
            Mahalanobis(shrinkage="ledoit-wolf", scale=False).fit(taken[bulk & (fold != k)]) for k in range(_FOLDS)
        )
        rows = (1.0 - 1.0 / _FOLDS) * float(bulk.sum())
        return cls(middle, spread, centres, whiten, within, lonely, numbers, fold, models, robust, rows, steps / within)

    @property
    def telling(self) -> int:
        """How many columns tell of distances."""
        return int(np.isfinite(self.within).sum())

    def pass_over(self, blocks: Iterable[tuple[int, Array]]) -> tuple[Array, Array, Far]:
        """Distances of all rows, the same a step nearer, and the rows farthest out."""

        def of_block(part: tuple[int, Array]) -> tuple[list[Array], list[Array], Far]:
            first, block = part
            numbers = first + np.arange(len(block))
            scores, nearer = self.distances(block, numbers)
            return [scores], [nearer], Far.of(numbers, scores, block)

        scores, nearer, far = map_reduce(blocks, of_block, lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]))
        return np.concatenate(scores), np.concatenate(nearer), far

    def distances(self, rows: Array, numbers: Indices) -> tuple[Array, Array]:
        """Of rows with these numbers, and the same with each value that repeats a step nearer."""
        found = np.empty((2, len(rows)))
        for model, here in self._by_model(numbers):
            placed = _expected(model, self.placed(rows[here]))
            found[:, here] = model.distance(placed)
            if self.steps.any():
                found[1, here] = np.minimum(found[0, here], model.distance(self.nearer(placed)))
        return found[0], found[1]

    def nearer(self, placed: Array) -> Array:
        """Values a step nearer."""
        return np.asarray(np.sign(placed) * np.maximum(np.abs(placed) - self.steps, 0.0))

    def contributions(self, rows: Array, numbers: Indices) -> Array:
        """Shares of the columns in the squared distances; none of what is missing."""
        found = np.empty_like(rows)
        for model, here in self._by_model(numbers):
            given = self.placed(rows[here])
            parts = np.where(np.isnan(given), 0.0, model.contributions(_expected(model, given)))
            found[here] = parts / parts.sum(axis=1, keepdims=True)
        return found

    def deviations(self, rows: Array) -> Array:
        """From the middle of each column, in robust standard deviations."""
        return np.clip((rows - self.middle) / self.spread, -_FARTHEST, _FARTHEST)

    def placed(self, rows: Array) -> Array:
        """From the nearest centre, in robust standard deviations about it."""
        usual = self.deviations(rows)
        return np.asarray((usual - _nearest(usual, self.centres, self.whiten)) / self.within)

    def _by_model(self, numbers: Indices) -> Iterator[tuple[Mahalanobis, Indices]]:
        # rows outside the sample are unseen by every model; their numbers divide them
        place = np.minimum(np.searchsorted(self.sampled, numbers), len(self.sampled) - 1)
        fold = np.where(self.sampled[place] == numbers, self.fold[place], numbers % _FOLDS)
        for k, model in enumerate(self.models):
            here = np.flatnonzero(fold == k)
            if len(here):
                yield model, here


def _centres(usual: Array, design: Design, seed: int) -> tuple[Array, Array, Array | None]:
    """Centres of groups far apart, coordinates in which to look for the nearest, and how lonely rows are."""
    m, d = usual.shape
    whole = np.zeros((1, d)), np.eye(d), None
    if m < max(FEWEST, ROWS_PER_COLUMN * d) or d > MOST_COLUMNS:
        return whole
    beside = LocalNeighbours.of(usual, seed)
    if beside is None:
        return whole
    lonely = beside.lonely if design.kind == "independent" else None
    found = beside.centres()
    if len(found) == 1:
        return np.zeros((1, d)), np.eye(d), lonely
    return found @ np.linalg.inv(beside.whiten), beside.whiten, lonely


def _nearest(usual: Array, centres: Array, whiten: Array) -> Array:
    """(n, d) the centre nearest to each row."""
    if len(centres) == 1:
        return centres
    known = np.nan_to_num(usual)
    squares = np.stack([((known - centre) @ whiten) ** 2 for centre in centres]).sum(axis=2)
    return np.asarray(centres[np.argmin(squares, axis=0)])


def _expected(model: Mahalanobis, rows: Array) -> Array:
    """The same without gaps: what is missing is where the others of its row let expect it."""
    if not np.isnan(rows).any():
        return rows
    return MultivariateNormal(model.location_, model.covariance_).conditional_mean(rows)


def _folds(design: Design, numbers: Indices, seed: int) -> Indices:
    """(m,) five folds of the sample, rows that depend on each other in one."""
    if design.kind == "independent":
        return np.random.default_rng(seed).permutation(len(numbers)) % _FOLDS
    return design.among(numbers).folds(_FOLDS, seed)


def _bulk(rows: Array, seed: int) -> NDArray[np.bool_] | None:
    """(m,) which rows belong to the bulk; None where none can be picked."""
    n, d = rows.shape
    if d == 0 or n < ROWS_PER_COLUMN * d:
        return None
    searched = np.arange(n)
    if n > _SEARCHED:
        searched = np.sort(np.random.default_rng(seed).choice(n, max(_SEARCHED, ROWS_PER_COLUMN * d), replace=False))
    found = central_rows(rows[searched], majority(len(searched), d, _CLEAN), seed)
    if found.on_plane and found.on_plane < len(searched):
        return None
    if n == len(searched):
        return found.bulk
    model = Mahalanobis(shrinkage="ledoit-wolf", scale=False).fit(rows[searched][found.bulk])
    reach = np.quantile(model.distance(rows[searched]), found.bulk.mean())
    return np.asarray(model.distance(rows) <= reach)


def _step(column: Array) -> float:
    """How far apart the values of a column are, typically; 0 where they hardly repeat."""
    values = np.unique(column)
    return float(np.median(np.diff(values))) if 1 < len(values) <= len(column) / 2 else 0.0


def _commonest(column: Array) -> int:
    """How often the commonest value occurs."""
    return int(np.unique(column, return_counts=True)[1].max())

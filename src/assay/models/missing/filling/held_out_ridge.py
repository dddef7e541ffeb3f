"""The ridges that fill held-out values best, of the table and of each column: a path of ridges on folds of the rows.

    law of r     S_r = T / n + r I  by EM on three quarters of the rows, in standard deviations, from r = 3 down
    hidden       from a row of the other quarter: what some other row of the table lacks, drawn at random
    loss_j(r)    sum over the hidden values of column j of (z - E_r[z | what is left of the row])^2
    loss_j(inf)  the same for the column mean
    table        r* = argmin_r loss(r),  loss = sum_j loss_j
    more         S_r = S_r* + (r - r*) I  for the loss_j(r) of r > r*
    column       argmin_r  n_j loss_j(r) / loss_j(r*) + 10 loss(r) / loss(r*)        n_j different values hidden

Four EM steps lead from each ridge to the next: laws need not be at rest to be compared. The path ends where smaller
ridges only lose. Where columns are independent some ridge gains by chance: a gain over the mean that is
below its standard error over the rows counts as none.

What follows from the others wants a small ridge, what hardly does a large one, and one law has but one for all. So a
column has a ridge of its own, in which the table has a say as if ten more of its values had been hidden: where few
are, their least loss is chance. A larger ridge than the table's is added to the law of the table. A smaller one has a
law of its own, since EM with a large ridge has already blurred, where values are missing, what the column follows from.

A ridge r on n rows stands for n r rows of independent columns, whose best number hardly depends on n: what is best for
a sample of m rows is scaled by m / n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Mask
from assay.data.blocks import float_blocks
from assay.data.sampling import row_keys
from assay.engine.current import map_reduce
from assay.linalg.normal.completion import Law, completed, patterns_of
from assay.linalg.one_thread import one_blas_thread
from assay.summary.incomplete.expectation import Frame, IncompleteRows
from assay.summary.incomplete.missing_patterns import Observed, refuse_infinite

LEAST = 1e-8
_RIDGES = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, LEAST)
_FOLDS = 4
_FEW_ROWS = 200  # beyond so many two of the folds tell enough
_STEPS = 4
_MOST_ROWS, _MOST_A_COLUMN = 500, 10  # that laws of the path are learned from: the larger of the two
_MOST_NUMBERS = 1 << 24  # that laws of smaller ridges may hold: 128 MB
_ENOUGH = 3000  # hidden values at which a second draw for each row would tell little more
_MOST_DRAWS = 16
_LOST = 1.05  # times the least loss: smaller ridges will not come back below it
_GAINED = 1e-3  # of the loss, by a ridge ten times smaller: worth going on
_BY_TABLE = 10.0  # values, that the loss of the table counts as beside those of a column


@dataclass(frozen=True, slots=True, eq=False)
class Ridges:
    """Shares of their variance to add to columns, so that gaps are filled well; infinite where the mean is best.

    Attributes:
        table: the best for all columns together.
        columns: (d,) the best to fill each with.
        lesser: (m,) those of columns below the table's, whose laws were learned with them, descending; none for a
            table larger than the sample that chose, where ridges are small and such laws hardly differ.
        means: (m, d), covariances: (m, d, d) these laws, their ridge included.
    """

    table: float
    columns: Array
    lesser: Array
    means: Array
    covariances: Array

    @classmethod
    def alike(cls, ridge: float, d: int) -> Ridges:
        """The same for each of d columns."""
        return cls(ridge, np.full(d, ridge), np.empty(0), np.empty((0, d)), np.empty((0, d, d)))


def held_out_ridges(X: Any, names: tuple[str, ...] | None = None) -> Ridges:
    """Find the ridges of a table.

    Args:
        X: (n, d) array, data frame or `Source`, NaN where values are missing; of many rows a fair sample is taken.
        names: of the columns, for messages.
    """
    drawn = map_reduce(float_blocks(X), lambda part: _Drawn.of(part, names), _Drawn.__add__)
    seen = Observed.of(drawn.values)
    frame = Frame.of(seen)
    z = frame.standardised(drawn.values)
    m, k = z.shape
    if k < 2 or m < _FOLDS:
        return Ridges.alike(LEAST, seen.d)
    share = len(drawn.keys) / drawn.total
    found = Ridges.alike(LEAST, seen.d)
    with one_blas_thread():
        table, columns = _least_loss(_folds(z))
        lesser = np.unique(columns[columns < table])[::-1]
        if share == 1.0 and 0 < lesser.size * k * k <= _MOST_NUMBERS:
            found = _with_laws(lesser, _laws(z, lesser), seen, frame)
    found.columns[:] = table = max(table * share, LEAST)
    found.columns[frame.active] = np.maximum(columns * share, LEAST)
    return replace(found, table=table)


def _with_laws(lesser: Array, laws: list[tuple[Array, Array]], seen: Observed, frame: Frame) -> Ridges:
    """Laws of the columns of a frame, as laws of all columns in their own units."""
    d, scale, grid = seen.d, frame.scale, np.ix_(frame.active, frame.active)
    means, covariances = np.tile(seen.mean, (len(lesser), 1)), np.zeros((len(lesser), d, d))
    for i, (mean, covariance) in enumerate(laws):
        means[i, frame.active] += scale * mean
        covariances[i][grid] = scale[:, None] * covariance * scale
    return Ridges(np.nan, np.empty(d), lesser, means, covariances)


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Rows with the smallest keys: total rows met, keys (m,), numbers (m,) and values (m, d) of those kept."""

    total: int
    keys: Array
    numbers: NDArray[np.int64]
    values: Array

    @classmethod
    def of(cls, part: tuple[int, NDArray[Any]], names: tuple[str, ...] | None) -> _Drawn:
        first, rows = part
        refuse_infinite(rows, first, names)
        keys = row_keys(first, len(rows), 0)
        kept = np.sort(np.argsort(keys, kind="stable")[: _most(rows)])
        return cls(len(rows), keys[kept], first + kept, np.asarray(rows[kept], dtype=np.float64))

    def __add__(self, other: _Drawn) -> _Drawn:
        keys = np.concatenate([self.keys, other.keys])
        numbers = np.concatenate([self.numbers, other.numbers])
        kept = np.argsort(keys, kind="stable")[: _most(self.values)]
        kept = kept[np.argsort(numbers[kept])]
        values = np.concatenate([self.values, other.values])[kept]
        return _Drawn(self.total + other.total, keys[kept], numbers[kept], values)


def _most(rows: NDArray[Any]) -> int:
    return max(_MOST_ROWS, _MOST_A_COLUMN * int(rows.shape[1]))


class _Fold:
    """Rows that laws are learned from, and others that lose values and are filled by them."""

    def __init__(self, train: Array, test: Array, hidden: Mask) -> None:
        """Take (m, k) rows, (b, k) rows, and (t, b, k) what is hidden of the latter, t times."""
        self.train = IncompleteRows.of(train)
        present = np.maximum((~self.train.missing).sum(axis=0), 1)
        self.mean, self.covariance = self.train.values.sum(axis=0) / present, np.eye(train.shape[1])
        self.draws, k = len(hidden), test.shape[1]
        gone = np.isnan(test)
        self.hidden = (hidden & ~gone).reshape(-1, k)
        self.gaps = (hidden | gone).reshape(-1, k)
        self.test = np.tile(np.where(gone, 0.0, test), (self.draws, 1))
        self.patterns = patterns_of(self.gaps)

    @property
    def tried(self) -> NDArray[np.int64]:
        """(k,) different values of each column that are hidden."""
        return np.asarray(self.hidden.reshape(self.draws, -1, self.hidden.shape[1]).any(axis=0).sum(axis=0))

    def losses(self, more: float = 0.0) -> Array:
        """(b, k) squared errors of what is hidden of each row, under the present law with so much more ridge."""
        e = self.test - self.mean
        law = Law.of(self.covariance + more * np.eye(len(self.mean)))
        filled = completed(np.where(self.gaps, 0.0, e), self.patterns, law).deviations
        errors = np.where(self.hidden, (filled - e) ** 2, 0.0)
        return np.asarray(errors.reshape(self.draws, -1, errors.shape[1]).sum(axis=0))

    def go_on(self, ridge: float) -> None:
        """From the present law some EM steps towards that of a ridge."""
        for _ in range(_STEPS):
            found = self.train.expected(self.mean, Law.of(self.covariance))
            offset = found.total / found.rows
            S = found.scatter / found.rows - np.multiply.outer(offset, offset)
            self.mean = self.mean + offset
            self.covariance = (S + S.T) / 2.0 + ridge * np.eye(len(S))


def _folds(z: Array) -> list[_Fold]:
    rng = np.random.default_rng(0)
    gaps = np.isnan(z)
    # where nothing is missing, single values will be
    lacks = gaps[gaps.any(axis=1)] if gaps.any() else np.eye(z.shape[1], dtype=bool)
    expected = len(z) * float(lacks.sum(axis=1).mean()) * float(1.0 - gaps.mean())
    draws = int(np.clip(np.ceil(_ENOUGH / expected), 1, _MOST_DRAWS))
    place = rng.permutation(len(z)) % _FOLDS
    folds = []
    for fold in range(_FOLDS if len(z) <= _FEW_ROWS else _FOLDS // 2):
        test = place == fold
        hidden = lacks[rng.integers(len(lacks), size=(draws, int(test.sum())))]
        folds.append(_Fold(z[~test], z[test], hidden))
    return folds


def _least_loss(folds: list[_Fold]) -> tuple[float, Array]:
    """The ridges of the path, or infinity, that lose least: of the table, and (k,) of the columns."""
    mean = np.concatenate([fold.losses() for fold in folds])
    path, best = [mean.sum(axis=0)], 0
    gain, laws = np.zeros(len(mean)), [(fold.mean, fold.covariance) for fold in folds]
    for ridge in _RIDGES:
        for fold in folds:
            fold.go_on(ridge)
        losses = np.concatenate([fold.losses() for fold in folds])
        path.append(losses.sum(axis=0))
        loss, least, before = (float(path[at].sum()) for at in (-1, best, -2))
        if loss < least:
            best, least, gain = len(path) - 1, loss, (mean - losses).sum(axis=1)
            laws = [(fold.mean, fold.covariance) for fold in folds]
        if loss > _LOST * least or (ridge < 1e-3 and loss > (1.0 - _GAINED) * before):
            break
    if not float(gain.sum()) > float(np.sqrt(len(gain)) * gain.std()):
        return np.inf, np.full(mean.shape[1], np.inf)
    for fold, law in zip(folds, laws, strict=True):
        fold.mean, fold.covariance = law
    ridges = np.array([np.inf, *_RIDGES])
    for at in range(1, best):
        path[at] = np.sum([fold.losses(ridges[at] - ridges[best]).sum(axis=0) for fold in folds], axis=0)
    tried = np.sum([fold.tried for fold in folds], axis=0)
    return float(ridges[best]), ridges[_of_columns(np.array(path), best, tried)]


def _laws(z: Array, ridges: Array) -> list[tuple[Array, Array]]:
    """Means (k,) and covariances (k, k) of (m, k) rows, for ridges of the path, descending: as folds came to theirs."""
    rows, found = _Fold(z, z[:0], np.zeros((1, 0, z.shape[1]), dtype=bool)), []
    for ridge in _RIDGES:
        rows.go_on(ridge)
        if ridge in ridges:
            found.append((rows.mean, rows.covariance))
        if ridge <= ridges[-1]:
            break
    return found


def _of_columns(path: Array, best: int, tried: NDArray[np.int64]) -> NDArray[np.intp]:
    """(k,) places on the path of losses (p, k), for columns of which so many different values were hidden (k,)."""
    own, table = path[best], path.sum(axis=1)
    told = own > 0.0  # nothing hidden, or nothing lost: the table decides
    lost = np.where(told, path / np.where(told, own, 1.0), 0.0)
    by_table = _BY_TABLE * table / max(float(table[best]), float(np.finfo(float).tiny))
    return np.asarray((tried * lost + by_table[:, None]).argmin(axis=0))

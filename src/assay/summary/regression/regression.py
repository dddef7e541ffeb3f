"""Moments of columns and targets together: what linear prediction needs to know about the rows.

summary    Moments of (x, y), x (d,) columns, y (p,) targets; one for each fold
equations  A = scatter of x (d, d),  B = of x with y (d, p)     about the means, or about zero without an intercept
error      sum of squares of y - y0 - coef (x - x0) over rows of any other summary, without touching them
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.blocks import all_rows, float_blocks
from assay.data.codes import short
from assay.data.partitions import beside
from assay.data.source import Source
from assay.engine.current import map_reduce
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.principal import dense
from assay.linalg.noise.fold_error import fold_error
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.regression.linear_fit import LinearFit, fit_normal
from assay.linalg.regression.regression_sums import RegressionSums
from assay.linalg.regression.ridge_path import RidgeSpectrum, spectrum_of_products
from assay.summary.moments.accumulate import Accumulator, chunk_rows, refuse_unusable
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments

Folds: TypeAlias = NDArray[np.intp] | None
# first row, rows, targets, weights and folds of a block
Part: TypeAlias = tuple[int, NDArray[Any], Array, Array | None, NDArray[Any] | None]

# Beyond this condition number of columns, products of them lose more than four of sixteen digits: those of its square.
CAUTIOUS = 100.0
_FEW = 500  # columns up to which one thread decomposes about as fast as two


@dataclass(frozen=True, slots=True, eq=False)
class RegressionTable:
    """Rows with their targets, to be read block by block as often as needed.

    Attributes:
        data: (n, d) array, sparse matrix or `Source`.
        targets: (n, p).
        weights: (n,) not negative, or None.
        d: number of columns.
        names: of the columns, for messages.
        single: whether the target was given as one column, (n,).
    """

    data: Any
    targets: Array
    weights: Array | None
    d: int
    names: tuple[str, ...] | None = None
    single: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.targets)

    @property
    def p(self) -> int:
        """Number of targets."""
        return int(self.targets.shape[1])

    @property
    def given(self) -> Array:
        """The targets in the shape they were given in: (n,) or (n, p)."""
        return self.targets[:, 0] if self.single else self.targets

    def stacked(self) -> Array:
        """(n, d) all rows as one array."""
        rows = all_rows(self.data) if isinstance(self.data, Source) else dense(self.data)
        return rows.astype(np.float64, copy=False)

    def blocks(self, folds: Folds = None) -> Any:
        """Blocks of (first row, rows, targets, weights, folds).

        Args:
            folds: (n,) the fold of each row, counted from 0; None for a single one.
        """
        count = 1 if folds is None else int(folds.max()) + 1
        numbers = None if folds is None else short(folds, count)
        return beside(float_blocks(self.data, groups=count), self.targets, self.weights, numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """Sums of squares, (p,) each: of the targets, of what was fitted to them, and of the difference."""

    total: Array
    explained: Array
    error: Array


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """The normal equations of a summary.

    Attributes:
        moments: of the d columns, then the p targets.
        d: how many columns come first.
        intercept: whether they are about the means, or about zero.
    """

    moments: Moments
    d: int
    intercept: bool

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return self.moments.weight

    @property
    def centre(self) -> Array:
        """(d + p,) the means, or zeros without an intercept."""
        return self.moments.mean if self.intercept else np.zeros(self.moments.d)

    @property
    def products(self) -> Array:
        """(d + p, d + p) sums of products about the centre."""
        m = self.moments
        return m.scatter if self.intercept else m.scatter + m.weight * np.multiply.outer(m.mean, m.mean)

    @property
    def sums(self) -> RegressionSums:
        """What prediction needs to know of these rows."""
        m, d = self.moments, self.d
        S = m.scatter
        return RegressionSums(m.weight, m.mean[:d], m.mean[d:], S[:d, :d], S[:d, d:], np.diag(S)[d:])

    def fit(self) -> LinearFit:
        """Least squares."""
        S = self.products
        return fit_normal(S[: self.d, : self.d], S[: self.d, self.d :])

    def spectrum(self) -> RidgeSpectrum:
        """Every ridge solution."""
        S = self.products
        return spectrum_of_products(S[: self.d, : self.d], S[: self.d, self.d :])

    def squared_errors(self, coef: Array, centre: Array) -> Array:
        """Sums of squared errors of predictions y0 + coef (x - x0) over the rows of this summary.

        Args:
            coef: (k, p, d).
            centre: (d + p,) x0 and y0, those of the rows that were fitted.

        Returns:
            (k, p).
        """
        return self.sums.squared_errors(np.swapaxes(coef, 1, 2), centre[: self.d], centre[self.d :])

    def squares(self, coef: Array) -> Squares:
        """Of coefficients (p, d) at the rows of this summary."""
        S, d = self.products, self.d
        explained = np.einsum("pd,de,pe->p", coef, S[:d, :d], coef, optimize=True)
        return Squares(np.diag(S)[d:].copy(), explained, self.squared_errors(coef[None], self.centre)[0])


def joint_moments(table: RegressionTable, folds: Folds = None) -> GroupedMoments:
    """Summarise columns and targets in one pass, without a copy of the table that holds both.

    Args:
        table: the rows.
        folds: (n,) the fold of each row, counted from 0; None for a single one.

    >>> rows = RegressionTable(np.array([[1.0], [2.0], [4.0]]), np.array([[2.0], [4.0], [8.0]]), None, 1)
    >>> joint_moments(rows).total.scatter.round(3)
    array([[ 4.667,  9.333],
           [ 9.333, 18.667]])
    """
    labels = tuple(range(1 if folds is None else int(folds.max()) + 1))
    d, p, names = table.d, table.p, table.names

    def summarise(part: Part) -> GroupedMoments:
        start, rows, targets, _, _ = part
        groups = [Accumulator(d + p) for _ in labels]
        _add(groups, part)
        if any(group.suspicious.any() for group in groups if group.count):
            refuse_unusable(rows, start, names)
            refuse_unusable(targets, start, target_names(p))
        return GroupedMoments(labels, tuple(Moments.from_accumulator(group, None) for group in groups))

    return map_reduce(table.blocks(folds), summarise, GroupedMoments.__add__)


def rows_errors(table: RegressionTable, coef: Array, centre: Array) -> Array:
    """(p,) sums of squared errors of y0 + coef (x - x0), from the rows themselves: no difference of large sums.

    Args:
        table: the rows.
        coef: (p, d).
        centre: (d + p,) x0 and y0.
    """
    d, p = table.d, table.p

    def work(part: Part) -> Array:
        _, rows, targets, weights, _ = part
        total, step = np.zeros(p), chunk_rows(d)
        for i in range(0, len(rows), step):
            own = slice(i, i + step)
            off = targets[own] - centre[d:] - (rows[own] - centre[:d]) @ coef.T
            total += (np.ones(len(off)) if weights is None else weights[own]) @ off**2
        return total

    return map_reduce(table.blocks(), work, np.add)


@dataclass(frozen=True, slots=True, eq=False)
class FoldErrors:
    """Mean squared errors on rows that had no part in the fit.

    Attributes:
        error: (k,) over all rows, each predicted from the folds it is not in.
        std_error: (k,) of that, from the spread between folds, widened for the overlap of their training rows: see
            `linalg.fold_error`.
    """

    error: Array
    std_error: Array

    @classmethod
    def of(cls, errors: Array, weights: Array) -> FoldErrors:
        """From (folds, k) sums of squared errors and the (folds,) weights of the rows they are sums over."""
        unit = float(errors.max()) or 1.0  # squares of squared errors may leave the range
        each = errors / unit / weights[:, None]
        return cls((errors / unit).sum(axis=0) / weights.sum() * unit, fold_error(each) * unit)


def blas_threads(d: int) -> AbstractContextManager[None]:
    """One BLAS thread for problems of few columns: on a busy machine threads wait for each other at every call."""
    return one_blas_thread() if d <= _FEW else nullcontext()


def target_last(moments: Moments, target: Any) -> tuple[Moments, NDArray[np.intp]]:
    """The summary with its targets moved to the end, and the positions of the other columns.

    Args:
        moments: of columns and targets.
        target: name or number of a column, or several.

    >>> target_last(Moments.of([[1.0, 2.0, 3.0]]), 1)[1]
    array([0, 2])
    """
    last = moments._positions(target)
    left = np.setdiff1d(np.arange(moments.d), last)
    if not len(left) or not len(last):
        raise ParameterError(f"target {target!r} leaves {len(left)} of {moments.d} columns to predict it from")
    return moments[np.concatenate([left, last])], left


def refuse_empty(folds: GroupedMoments) -> None:
    """Raise for a fold that has no rows to judge by."""
    empty = [label for label, part in zip(folds.labels, folds.parts, strict=True) if part.weight == 0.0]
    if empty:
        raise DataError(f"fold {empty[0]!r} has no rows to judge by: leave it out")


def target_names(p: int) -> tuple[str, ...]:
    """How messages call the targets."""
    return ("target",) if p == 1 else tuple(f"target {k}" for k in range(p))


def _add(groups: list[Accumulator], part: Part) -> None:
    """Put columns and targets side by side, a chunk that stays in the cache at a time, and hand out its folds."""
    _, rows, targets, weight, folds = part
    d, width = rows.shape[1], rows.shape[1] + targets.shape[1]
    # larger chunks for several folds, so that each one's share is still worth a matrix product
    step = min(chunk_rows(width) * (1 if folds is None else 3), len(rows))
    both, gathered = np.empty((step, width)), np.empty((0 if folds is None else step, width))
    for i in range(0, len(rows), step):
        chunk = both[: min(step, len(rows) - i)]
        own = slice(i, i + len(chunk))
        chunk[:, :d] = rows[own]
        chunk[:, d:] = targets[own]
        weights = None if weight is None else weight[own]
        if folds is None:
            groups[0].add_copied(chunk, weights)
            continue
        for fold, group in enumerate(groups):
            picked = np.flatnonzero(folds[own] == fold)
            if len(picked):
                taken = np.take(chunk, picked, axis=0, out=gathered[: len(picked)], mode="clip")
                group.add_copied(taken, None if weights is None else weights[picked])

"""Ridge regression of a table or of fold summaries: one decomposition for the solution, one a fold for its judgement.

"moments"  scatter of columns and targets, per fold; train = all - fold
"qr"       triangles of the rows, per fold, where the condition number says that products would lose digits
"dual"     products of rows, (n, n), for d > n; folds are parts of that one matrix
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.engine.local import in_threads
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.regression.ridge_path import RidgeSpectrum
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.regression.least_squares import exact_errors
from assay.summary.regression.regression import (
    CAUTIOUS,
    Equations,
    FoldErrors,
    Folds,
    RegressionTable,
    Squares,
    blas_threads,
    joint_moments,
    refuse_empty,
)
from assay.summary.regression.triangles import Triangle, training, triangles
from assay.summary.regression.wide_table import WideTable, wide_condition

Penalties: TypeAlias = Callable[[Array, int], Array]  # from eigenvalues and the number of columns to penalties
Summary: TypeAlias = Equations | Triangle


@dataclass(frozen=True, slots=True, eq=False)
class RidgeSolutions:
    """Every ridge solution of some rows, and how those tried do on rows held out.

    Attributes:
        spectrum: what the solutions are made of.
        whole: the summary of all rows.
        alphas: (k,) penalties tried.
        held_out: their errors on held-out rows; None without folds.
        count: rows.
        condition: of columns and least penalty.
        route: the way taken.
        table: the rows, where there are some.
    """

    spectrum: RidgeSpectrum
    whole: Summary | WideTable
    alphas: Array
    held_out: FoldErrors | None
    count: int
    condition: float
    route: str
    table: RegressionTable | None = None

    def squares(self, coef: Array) -> Squares:
        """Sums of squares of (p, d) coefficients at all rows."""
        with blas_threads(coef.shape[1]):
            found = self.whole.squares(coef)
        if self.route != "moments" or self.table is None:
            return found
        return exact_errors(found, self.table, coef, self.whole.centre)


def ridge(table: RegressionTable, penalties: Penalties, *, intercept: bool, folds: Folds = None) -> RidgeSolutions:
    """From rows, which are read once, and once more where products would lose digits.

    Args:
        table: the rows.
        penalties: gives the penalties.
        intercept: whether there is one.
        folds: (n,) the fold of each row, counted from 0; None where nothing is to be judged.
    """
    if table.d > table.n:
        return _wide(table, penalties, intercept, folds)
    grouped = joint_moments(table, folds)
    found = ridge_of(grouped, table.d, penalties, intercept=intercept, judge=folds is not None, table=table)
    if found.condition <= CAUTIOUS:
        return found
    parts = triangles(table, found.whole.centre, intercept=intercept, folds=folds)
    whole = reduce(Triangle.__add__, parts)
    spectrum, alphas = whole.spectrum(), found.alphas
    held_out = None if folds is None else _judged(training(parts), alphas)
    condition = spectrum.condition(float(alphas.min()))
    return RidgeSolutions(spectrum, whole, alphas, held_out, table.n, condition, "qr", table)


def ridge_of(
    grouped: GroupedMoments,
    d: int,
    penalties: Penalties,
    *,
    intercept: bool,
    judge: bool,
    table: RegressionTable | None = None,
) -> RidgeSolutions:
    """From summaries of d columns and the targets after them.

    Args:
        grouped: one summary for each fold.
        d: number of columns.
        penalties: gives the penalties.
        intercept: whether there is one.
        judge: whether the folds are to judge them.
        table: the rows, where there are some to go back to: then nothing is judged that is to be done again.
    """
    whole = Equations(grouped.total, d, intercept)
    with blas_threads(d):
        spectrum = whole.spectrum()
    alphas = penalties(spectrum.values, d)
    condition = spectrum.condition(float(alphas.min()))
    held_out = None
    if judge and (table is None or condition <= CAUTIOUS):
        refuse_empty(grouped)
        pairs = [(Equations(a, d, intercept), Equations(b, d, intercept)) for a, b in grouped.training()]
        held_out = _judged(pairs, alphas)
    return RidgeSolutions(spectrum, whole, alphas, held_out, grouped.total.count, condition, "moments", table)


def _judged(pairs: list[tuple[Equations, Equations]] | list[tuple[Triangle, Triangle]], alphas: Array) -> FoldErrors:
    def work(pair: tuple[Any, Any]) -> Array:
        train, test = pair
        return np.asarray(test.squared_errors(train.spectrum().coef(alphas), train.centre))

    with one_blas_thread():  # the folds are what runs side by side
        errors = in_threads(work, pairs)
    return _averaged(errors, [test.weight for _, test in pairs])


def _averaged(errors: list[Array], weights: list[float]) -> FoldErrors:
    """From (k, p) sums of squared errors of each fold, averaged over targets."""
    return FoldErrors.of(np.stack([fold.mean(axis=1) for fold in errors]), np.array(weights))


def _wide(table: RegressionTable, penalties: Penalties, intercept: bool, folds: Folds) -> RidgeSolutions:
    wide, route = WideTable.of(table, intercept=intercept), "dual"
    left = wide.spectrum()
    alphas = penalties(left.values, table.d)
    least = float(alphas.min())
    condition = wide_condition(left.values, least, intercept=intercept)
    if condition > CAUTIOUS:
        wide, route = wide.rotated(), "qr"
        left = wide.spectrum()
        condition = wide_condition(left.values, least, intercept=intercept)
    inner, ones = left.vectors.T @ wide.targets, np.ones_like(left.values)
    spectrum = RidgeSpectrum(wide.axes(left.vectors), left.values, inner, ones, left.flat)
    held_out = None
    if folds is not None:
        inside = [folds == k for k in range(int(folds.max()) + 1)]
        with one_blas_thread():
            judged = in_threads(lambda rows: _wide_errors(wide, rows, alphas), inside)
        held_out = _averaged([errors for errors, _ in judged], [weight for _, weight in judged])
    return RidgeSolutions(spectrum, wide, alphas, held_out, table.n, condition, route, table)


def _wide_errors(wide: WideTable, inside: NDArray[np.bool_], alphas: Array) -> tuple[Array, float]:
    """(k, p) sums of squared errors on the rows inside a fold, predicted from those outside, and their weight."""
    train, test = np.flatnonzero(~inside), np.flatnonzero(inside)
    w, Y = wide.rows.weights, wide.table.targets
    left = wide.rows.spectrum(train, test)
    middle = w[train] @ Y[train] / w[train].sum() if wide.rows.intercept else np.zeros(Y.shape[1])
    inner = left.vectors.T @ (np.sqrt(w[train])[:, None] * (Y[train] - middle))
    # predictions of the fold have the form of coefficients, with X_test X^T U for axes
    path = RidgeSpectrum(left.others, left.values, inner, np.ones_like(left.values), left.flat)
    off = (Y[test] - middle).T - path.coef(alphas)
    return np.asarray(off**2 @ w[test]), float(w[test].sum())

"""The elastic net of a table or of fold summaries, along a whole path of penalties.

"moments"  scatter of columns and targets, per fold; train = all - fold, errors from the fold's summary
"rows"     for d > n: the rows themselves, turned into as many coordinates; products only of columns in use
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.engine.local import in_threads
from assay.errors import DataError
from assay.linalg.one_thread import one_blas_thread
from assay.models.prediction.elastic_net.coordinate_descent import NetPath, WideProducts, net_path, wide_net_path
from assay.summary.moments.column_moments import column_moments
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.regression.least_squares import exact_errors
from assay.summary.regression.regression import (
    Equations,
    FoldErrors,
    Folds,
    RegressionTable,
    Squares,
    joint_moments,
    refuse_empty,
)

_MOST = 1 << 29  # numbers that summaries or rows may hold: 4 GB


@dataclass(frozen=True, slots=True, eq=False)
class Penalties:
    """What solutions are asked for.

    Attributes:
        alphas: (k,) penalties, descending.
        l1_ratio: share of the penalty that is of sizes, not of squares.
        positive: whether no coefficient may be below 0.
        tol: duality gap as a share of what is fitted, see optimize.elastic_net.
        max_iter: sweeps for each penalty.
    """

    alphas: Array
    l1_ratio: float
    positive: bool
    tol: float
    max_iter: int


@dataclass(frozen=True, slots=True, eq=False)
class NetProblem:
    """What every solution is made of: mean products, or rows turned into n coordinates.

    Attributes:
        products: (d, d) of the columns, or (n, d) rows with as many products.
        inner: (d, p) of columns and targets, or (n, p) targets.
        squares: (p,) mean squares of the targets.
        centre: (d + p,) means; zeros without an intercept.
        wide: whether there are rows.
    """

    products: Array
    inner: Array
    squares: Array
    centre: Array
    wide: bool

    def steepest(self, positive: bool) -> float:
        """Largest mean product of a column and a target: the penalty of sizes from which on all coefficients are zero.

        Args:
            positive: whether only products above 0 can make a coefficient.
        """
        slopes = self.inner.T @ self.products if self.wide else self.inner
        return float((slopes if positive else np.abs(slopes)).max(initial=0.0))

    def path(self, asked: Penalties) -> list[NetPath]:
        """Solutions of each target."""
        ones, twos = asked.alphas * asked.l1_ratio, asked.alphas * (1.0 - asked.l1_ratio)
        options: dict[str, Any] = {"positive": asked.positive, "tol": asked.tol, "max_iter": asked.max_iter}
        with one_blas_thread():
            if not self.wide:
                return [
                    net_path(self.products, q, float(c), ones, twos, **options)
                    for q, c in zip(self.inner.T, self.squares, strict=True)
                ]
            return [wide_net_path(WideProducts(self.products, y), ones, twos, **options) for y in self.inner.T]

    def solved(self, asked: Penalties) -> tuple[Array, bool]:
        """(k, p, d) solutions, and whether all of them converged."""
        found = self.path(asked)
        return np.stack([each.coef for each in found], axis=1), all(bool(each.converged.all()) for each in found)

    @classmethod
    def of(cls, equations: Equations) -> NetProblem:
        """From a summary."""
        S, d, W = equations.products, equations.d, equations.weight
        return cls(S[:d, :d] / W, S[:d, d:] / W, np.diag(S)[d:] / W, equations.centre, wide=False)

    @classmethod
    def of_rows(cls, X: Array, Y: Array, weights: Array | None, *, intercept: bool, turned: bool) -> NetProblem:
        """From rows.

        Args:
            X: (n, d), Y: (n, p).
            weights: (n,), or None.
            intercept: whether products are about the means.
            turned: whether rows are turned, so that none is kept.
        """
        share = np.full(len(X), 1.0 / len(X)) if weights is None else weights / weights.sum()
        centre = np.concatenate([share @ X, share @ Y]) if intercept else np.zeros(X.shape[1] + Y.shape[1])
        d, root = X.shape[1], np.sqrt(share)[:, None]
        rows, targets = (X - centre[:d]) * root, (Y - centre[d:]) * root
        if turned:
            Q, rows = np.linalg.qr(rows)
            targets = Q.T @ targets
        return cls(rows, targets, np.sum(targets**2, axis=0), centre, wide=True)


@dataclass(frozen=True, slots=True, eq=False)
class NetTable:
    """Rows to be solved for, and judged by.

    Attributes:
        problem: of all rows.
        count: rows.
        weight: sum of their weights.
        grouped: fold summaries; None for rows.
        d: number of columns.
        intercept: whether there is one.
        table: the rows, where there are some.
        folds: (n,) the fold of each row, where there are some.
    """

    problem: NetProblem
    count: int
    weight: float
    grouped: GroupedMoments | None
    d: int
    intercept: bool
    table: RegressionTable | None = None
    folds: Folds = None

    @property
    def route(self) -> str:
        """The way taken."""
        return "rows" if self.problem.wide else "moments"

    def squares(self, coef: Array) -> Squares:
        """Sums of squares of (p, d) coefficients at all rows."""
        if self.grouped is not None:
            found = Equations(self.grouped.total, self.d, self.intercept).squares(coef)
            return found if self.table is None else exact_errors(found, self.table, coef, self.problem.centre)
        problem, W = self.problem, self.weight
        fitted = problem.products @ coef.T
        parts = (problem.inner, fitted, problem.inner - fitted)
        return Squares(*(W * np.sum(part**2, axis=0) for part in parts))

    def judged(self, asked: Penalties) -> tuple[FoldErrors, bool]:
        """Errors on rows that had no part in the fit, and whether all fits converged."""
        if self.grouped is not None:
            refuse_empty(self.grouped)
            parts = [
                (Equations(a, self.d, self.intercept), Equations(b, self.d, self.intercept))
                for a, b in self.grouped.training()
            ]
            solved = in_threads(lambda pair: _summary_errors(*pair, asked), parts)
            weights = [test.weight for _, test in parts]
        else:
            folds = np.asarray(self.folds)
            inside: list[NDArray[np.bool_]] = [folds == k for k in range(int(folds.max()) + 1)]
            told = in_threads(lambda test: self._row_errors(test, asked), inside)
            solved, weights = [found for found, _ in told], [w for _, w in told]
        errors = np.stack([fold.mean(axis=1) for fold, _ in solved])
        return FoldErrors.of(errors, np.array(weights)), all(converged for _, converged in solved)

    def _row_errors(self, test: NDArray[np.bool_], asked: Penalties) -> tuple[tuple[Array, bool], float]:
        table = self.table
        if table is None:
            raise AssertionError("a problem of rows has a table")
        X, Y, w = table.stacked(), table.targets, table.weights
        train = NetProblem.of_rows(
            X[~test], Y[~test], None if w is None else w[~test], intercept=self.intercept, turned=False
        )
        coef, converged = train.solved(asked)
        off = Y[test] - train.centre[self.d :] - (X[test] - train.centre[: self.d]) @ np.swapaxes(coef, 1, 2)
        own = np.ones(len(Y))[test] if w is None else w[test]
        return (np.einsum("n,knp->kp", own, off**2), converged), float(own.sum())


def net_table(table: RegressionTable, *, intercept: bool, folds: Folds) -> NetTable:
    """From rows, which are read once.

    Args:
        table: the rows.
        intercept: whether there is one.
        folds: (n,) the fold of each row, counted from 0; None where nothing is to be judged.
    """
    n, d, p = table.n, table.d, table.p
    if d <= n:
        parts = 1 if folds is None else int(folds.max()) + 1
        _refuse_large((parts + 2) * (d + p) ** 2, d, "products")
        return net_table_of(joint_moments(table, folds), d, intercept=intercept, table=table)
    _refuse_large(n * d, d, "rows")
    column_moments(table.data, table.names)  # refuses what has no finite square, with its place
    problem = NetProblem.of_rows(table.stacked(), table.targets, table.weights, intercept=intercept, turned=True)
    weight = float(n) if table.weights is None else float(table.weights.sum())
    return NetTable(problem, n, weight, None, d, intercept, table, folds)


def net_table_of(grouped: GroupedMoments, d: int, *, intercept: bool, table: RegressionTable | None = None) -> NetTable:
    """From summaries of d columns and the targets after them, one for each fold."""
    problem = NetProblem.of(Equations(grouped.total, d, intercept))
    return NetTable(problem, grouped.total.count, grouped.total.weight, grouped, d, intercept, table)


def _summary_errors(train: Equations, test: Equations, asked: Penalties) -> tuple[Array, bool]:
    coef, converged = NetProblem.of(train).solved(asked)
    return test.squared_errors(coef, train.centre), converged


def _refuse_large(numbers: int, d: int, what: str) -> None:
    if numbers > _MOST:
        raise DataError(
            f"{d:,} columns take {8 * numbers / 2**30:.0f} GB of {what}, more than the {8 * _MOST >> 30} GB that "
            "are held: choose columns first, as forward_selection or a test of each does, or fewer folds"
        )

"""Triangles of columns and targets together: what `Equations` are, without having squared anything.

sqrt(w) (1, x - c, y - c) for each row          R (1 + d + p, 1 + d + p),  R^T R = their products
a + b is the triangle of both, so that train = all folds but one

    R^T R = A^T A,  R (k, k) upper triangular,  by Householder reflections of [R; next rows]

R holds what A^T A holds without having squared anything: what is solved with it loses digits with the condition number
of A, not with its square.

Reference: Golub, Van Loan, Matrix Computations, section 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgeqrf

from assay.arrays import Array
from assay.engine.current import map_reduce
from assay.linalg.regression.linear_fit import LinearFit, fit_triangle
from assay.linalg.regression.ridge_path import RidgeSpectrum, spectrum_of_rows
from assay.summary.moments.accumulate import chunk_rows
from assay.summary.regression.regression import Folds, Part, RegressionTable, Squares


def triangle(*strips: Array) -> Array:
    """The (k, k) triangle of strips of rows, one above the other.

    Args:
        strips: (b, k) each; triangles of other rows may be among them. They are not changed.

    >>> abs(triangle(np.array([[3.0]]), np.array([[4.0]])))
    array([[5.]])
    """
    k = strips[0].shape[1]
    # column-major, so that LAPACK takes it without a copy
    stack = np.empty((sum(map(len, strips)), k), order="F")
    np.concatenate(strips, out=stack)
    # dgeqrf lets go of the interpreter where numpy.linalg.qr does not: two threads are twice as fast
    factored = dgeqrf(stack, lwork=64 * k, overwrite_a=1)[0]
    R = np.zeros((k, k))
    R[: len(factored)] = np.triu(factored[:k])
    return R


@dataclass(frozen=True, slots=True, eq=False)
class Triangle:
    """The triangle of some rows; `a + b` is that of both.

    Attributes:
        R: (i + d + p, i + d + p) upper triangular, i = 1 with an intercept and else 0.
        near: (d + p,) what was taken off the rows: near their means with an intercept, zeros without.
        d: how many columns come first.
        count: rows.
        weight: sum of their weights.
        intercept: whether a column of ones comes first.
    """

    R: Array
    near: Array
    d: int
    count: int
    weight: float
    intercept: bool

    def __add__(self, other: Triangle) -> Triangle:
        both = triangle(self.R, other.R)
        return Triangle(both, self.near, self.d, self.count + other.count, self.weight + other.weight, self.intercept)

    @property
    def centre(self) -> Array:
        """(d + p,) the means, or zeros without an intercept."""
        return self.near + self.R[0, 1:] / self.R[0, 0] if self.intercept else self.near

    def fit(self, rank: int | None = None) -> LinearFit:
        """Least squares, of this rank where it is known."""
        T, U = self._parts()
        return fit_triangle(T, U, self.count, rank)

    def spectrum(self) -> RidgeSpectrum:
        """Every ridge solution."""
        return spectrum_of_rows(*self._parts(), self.count)

    def squared_errors(self, coef: Array, centre: Array) -> Array:
        """Sums of squared errors of y0 + coef (x - x0) over these rows; see `Equations.squared_errors`."""
        d = self.d
        columns, targets = self.R[:, -len(self.near) :][:, :d], self.R[:, -len(self.near) :][:, d:]
        off = targets - np.swapaxes(coef @ columns.T, 1, 2)  # (k, i + d + p, p)
        if self.intercept:
            gap = self.near - centre
            off = off + self.R[:, :1] * (gap[d:] - coef @ gap[:d])[:, None, :]
        return np.asarray(np.sum(off**2, axis=1))

    def squares(self, coef: Array) -> Squares:
        """Of coefficients (p, d) at these rows."""
        T, U = self._parts()
        return Squares(np.sum(U**2, axis=0), np.sum((T @ coef.T) ** 2, axis=0), np.sum((U - T @ coef.T) ** 2, axis=0))

    def _parts(self) -> tuple[Array, Array]:
        """The triangle of columns and targets about their means: the first row holds the means alone."""
        about = self.R[1:, 1:] if self.intercept else self.R
        return about[:, : self.d], about[:, self.d :]


def triangles(table: RegressionTable, near: Array, *, intercept: bool, folds: Folds = None) -> list[Triangle]:
    """The triangle of each fold, in one pass.

    Args:
        table: the rows.
        near: (d + p,) a point near their means; zeros without an intercept.
        intercept: whether there is one.
        folds: (n,) the fold of each row, counted from 0; None for a single one.
    """
    count = 1 if folds is None else int(folds.max()) + 1
    d, first = table.d, int(intercept)
    width = first + d + table.p

    def work(part: Part) -> list[Triangle]:
        _, _, targets, weights, _ = part
        found = [np.zeros((width, width))] * count
        members = np.zeros(count, dtype=np.intp)
        weight = np.zeros(count)
        for fold, own, chunk in _chunks(part, count):
            w = np.ones(len(chunk)) if weights is None else weights[own]
            strip = np.empty((len(chunk), width), order="F")
            strip[:, :first] = 1.0
            strip[:, first : first + d] = chunk - near[:d]
            strip[:, first + d :] = targets[own] - near[d:]
            if weights is not None:
                strip *= np.sqrt(w)[:, None]
            found[fold] = triangle(found[fold], strip)
            members[fold] += len(chunk)
            weight[fold] += w.sum()
        return [
            Triangle(R, near, d, int(m), float(w), intercept) for R, m, w in zip(found, members, weight, strict=True)
        ]

    def merged(a: list[Triangle], b: list[Triangle]) -> list[Triangle]:
        return [x + y for x, y in zip(a, b, strict=True)]

    return map_reduce(table.blocks(folds), work, merged)


def training(folds: list[Triangle]) -> list[tuple[Triangle, Triangle]]:
    """For each fold: the rows outside it, and the fold itself."""
    return [(reduce(Triangle.__add__, folds[:i] + folds[i + 1 :]), fold) for i, fold in enumerate(folds)]


def _chunks(part: Part, count: int) -> Any:
    """Fold, places in the block and rows, a few times as many rows as columns at a time."""
    _, rows, _, _, folds = part
    step = count * max(chunk_rows(rows.shape[1]), 8 * rows.shape[1])
    for i in range(0, len(rows), step):
        chunk = rows[i : i + step]
        own = np.arange(i, i + len(chunk))
        if folds is None:
            yield 0, own, chunk
            continue
        for fold in range(count):
            picked = np.flatnonzero(folds[own] == fold)
            if len(picked):
                yield fold, own[picked], chunk[picked]

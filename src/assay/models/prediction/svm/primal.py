"""The linear machine in the primal, for many rows of few columns, judged by its dual variables."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from assay.arrays import Array
from assay.errors import NotConverged
from assay.models.prediction.svm.margin import Loss, Margin, margin
from assay.models.prediction.svm.squared import ridge, with_gap
from assay.optimize.smo.smo import SMO, judged

_TALL = 5  # rows for each column, from which Newton's method over the columns is the faster way
_GAP = 1e-6  # share of the objective to begin with
_TIGHTER = 0.1  # factor, where that leaves too large a violation
_LEAST = 1e-11


def is_tall(m: int, d: int) -> bool:
    """Whether m rows of d columns are better solved in the primal.

    >>> is_tall(1000, 10), is_tall(100, 1000)
    (True, False)
    """
    return m >= _TALL * d


def solve_primal(
    X: Array, y: Array, prices: Array, tol: float, start: Margin | None, *, squared: bool = False
) -> tuple[SMO, Margin]:
    """The solution with its certificate in the dual, and what the next price may start from.

    Args:
        X: (m, d) rows.
        y: (m,) signs.
        prices: (m,) C of each row, finite.
        tol: violation of the dual's conditions allowed.
        start: a solution for other prices.
        squared: whether slacks are squared.
    """
    loss: Loss = "squared_hinge" if squared else "hinge"
    gap, steps = _GAP, 0
    most = np.full(len(y), np.inf) if squared else prices
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            start = margin(X, y, prices, loss=loss, tol=gap, start=start)
        alpha, steps = np.clip(start.alpha, 0.0, most), steps + start.iterations
        gradient = y * (X @ ((y * alpha) @ X)) - 1.0 + (ridge(prices) * alpha if squared else 0.0)
        found = judged(alpha, gradient, -np.ones(len(y)), 0.0, most, signs=y, tol=tol)
        found = with_gap(found, y, prices) if squared else found
        gap *= _TIGHTER
        if found.converged or gap < _LEAST or not start.converged:
            return replace(found, iterations=steps), start

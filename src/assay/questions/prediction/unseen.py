"""What each row is predicted to be by rows that it had no part in, and how far off that is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.errors import SingularError
from assay.linalg.nested_ridge import NestedRidge, judged_folds
from assay.linalg.regression_sums import RegressionSums
from assay.models.prediction.gaussian_rule import GaussianRule
from assay.questions.prediction.plan import Plan
from assay.summary.distances import squared_distances

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

_HAIR = 1e-9  # of the identity in a covariance that is singular: fitted indicators add up to one


@dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """Rows as others predict them, the mean over repeats.

    Attributes:
        rows: (m,) numbers of those that were judged: all, but for the first in time.
        fitted: (m, q) predictions; for classes their probabilities.
        errors: (m,) squared error.
        base: (m,) squared deviation from the mean of the rows learned from.
    """

    rows: Codes
    fitted: Array
    errors: Array
    base: Array


def unseen(Z: Array, Y: Array, plan: Plan, strengths: Array, found: list[NestedRidge], *, classes: bool) -> Unseen:
    """Predict each fold of each repeat with the penalties chosen for it.

    Args:
        Z: (n, p) columns.
        Y: (n, q) targets.
        plan: the splits.
        strengths: penalties tried.
        found: of each repeat, which were chosen.
        classes: whether the target has classes.
    """
    fitted, errors, base = np.zeros(Y.shape), np.zeros(len(Y)), np.zeros(len(Y))
    judged = np.zeros(len(Y), dtype=bool)
    for folds, one in zip(plan.folds, found, strict=True):
        numbers = judged_folds(int(folds.max()) + 1, plan.choice)
        sums = [RegressionSums.of(Z[rows], Y[rows]) for rows in plan.parts(folds)]
        for f, strength in zip(numbers, strengths[one.chosen[:, 0]], strict=True):
            out, learned = folds == f, folds < f if plan.choice == "forward" else folds != f
            path = reduce(add, sums[:f] + ([] if plan.choice == "forward" else sums[f + 1 :])).path()
            w = path.coefficients(float(strength))
            new = path.y + (Z[out] - path.x) @ w
            errors[out] += ((Y[out] - new) ** 2).sum(axis=1)
            base[out] += ((Y[out] - path.y) ** 2).sum(axis=1)
            judged |= out
            if classes:
                new = _by_gaussian_rule(Z[learned] @ w, Y[learned].argmax(axis=1), Z[out] @ w, Y.shape[1])
            fitted[out] += new
    repeats = len(plan.folds)
    return Unseen(np.flatnonzero(judged), *(part[judged] / repeats for part in (fitted, errors, base)))


def _by_gaussian_rule(fitted: Array, codes: Codes, new: Array, g: int) -> Array:
    """(m, g) probabilities of the classes of new rows, by the model's rule with one covariance among fitted values."""
    present, counts = np.unique(codes, return_counts=True)
    found = np.zeros((len(new), g))
    if len(present) < 2 or not np.ptp(fitted, axis=0).any():
        found[:, present] = counts / counts.sum()
        return found
    try:
        found[:, present] = GaussianRule("equal", shrinkage=_HAIR).fit(fitted, codes).predict_proba(new)
    except SingularError:  # nothing varies within classes: a row goes to the one it is nearest to
        means = np.stack([fitted[codes == c].mean(axis=0) for c in present])
        found[np.arange(len(new)), present[squared_distances(new, means).argmin(axis=1)]] = 1.0
    return found

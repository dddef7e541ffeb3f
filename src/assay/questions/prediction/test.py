"""Can a column be predicted from the others, on rows that were not used? Ridge regression, judged as a whole procedure.

statistic  share of the squared deviations explained on unseen rows, nested: what measures never chose
chance     the same procedure, choice included, on permuted targets
classes    indicators as targets (optimal scoring); a row goes to the class by the Gaussian rule among fitted values
interval   of a prediction: the residuals of rows that were not used (conformal)

References: Hastie, Tibshirani, Buja, Flexible discriminant analysis by optimal scoring, JASA 89 (1994); Barber et al.,
Predictive inference with the jackknife+, Annals of Statistics 49 (2021).
"""

from __future__ import annotations

from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from assay.data.folds import fold_numbers
from assay.errors import SingularError
from assay.evidence.classification import calibration, confusion, roc
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.fold_error import fold_error, fold_interval
from assay.linalg.monte_carlo import monte_carlo, rank_p
from assay.linalg.nested_ridge import NestedRidge, nested_ridge
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.regression_sums import RegressionSums
from assay.linalg.ridge_path import usual_penalties
from assay.models.prediction.gaussian_rule import GaussianRule
from assay.questions.prediction.answer import COVERED, Prediction
from assay.summary.distances import squared_distances

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

FEWEST_ROWS = 20
_STRENGTHS = 17  # of the usual penalties: nearly two a decade
_MOST_AXES = 1000  # more columns than this enter by so many of their components
_WORK = 1.5e10  # products of the null distribution
_DRAWS = (99, 999)
_HAIR = 1e-9  # of the identity in a covariance that is singular: fitted indicators add up to one


def prediction(
    X: Array,
    y: Array,
    columns: tuple[str, ...],
    target: str,
    *,
    classes: tuple[str, ...] = (),
    alpha: float = 0.05,
    seed: int = 0,
) -> Prediction | None:
    """Predict a column from others; None for too few rows, or a target or columns that do not vary.

    Args:
        X: (n, p) numbers, none missing.
        y: (n,) the target; for classes their numbers from 0.
        columns: (p,) names.
        target: name of the target.
        classes: names of the classes, where it has some.
        alpha: level of the study.
        seed: of folds and permutations.
    """
    n = len(X)
    spread = X.std(axis=0)
    if n < FEWEST_ROWS or not (spread > 0).any() or len(np.unique(y)) < 2:
        return None
    Z = np.divide(X - X.mean(axis=0), spread, out=np.zeros_like(X), where=spread > 0)
    axes = _axes(Z)
    scores = Z if axes is None else Z @ axes
    Y = np.eye(len(classes))[y.astype(np.intp)] if classes else y[:, None]
    Y = (Y - Y.mean(axis=0)) / np.sqrt(((Y - Y.mean(axis=0)) ** 2).mean())
    folds = fold_numbers(0, n, 10 if scores.shape[1] <= 100 and n >= 100 else 5, seed)
    strengths = usual_penalties(float((Z**2).sum()), Z.shape[1], _STRENGTHS)
    found, *chance = _measured(scores, Y, folds, strengths, seed)
    by_chance = np.array([one.explained[0] for one in chance])
    fitted = _unseen(scores, Y, folds, strengths[found.chosen[:, 0]], classes)
    whole = RegressionSums.of(scores, Y).path()
    middle = float(np.exp(np.mean(np.log(strengths[found.chosen[:, 0]]))))
    coefficients = whole.coefficients(middle)
    scale = float(np.sqrt(((y - y.mean()) ** 2).mean()))
    predicted = fitted.argmax(axis=1).astype(np.float64) if classes else y.mean() + scale * fitted[:, 0]
    return Prediction(
        target=target,
        classes=classes,
        columns=columns,
        truth=y,
        predicted=predicted,
        probability=fitted if classes else np.empty((n, 0)),
        coefficients=coefficients if axes is None else axes @ coefficients,
        strengths=strengths,
        chosen=found.chosen[:, 0],
        half_width=float("nan") if classes else _half_width(y - predicted),
        right=float((predicted == y).mean()) if classes else float("nan"),
        largest=float(np.bincount(y.astype(np.intp)).max() / n) if classes else float("nan"),
        by_chance=by_chance,
        **_confused(y, predicted, fitted, classes),
        evidence=_evidence(found, by_chance, n, strengths, alpha),
    )


def _axes(Z: Array) -> Array | None:
    """Directions in which wide rows vary: ridge regression along all of them is that on the columns themselves."""
    n, p = Z.shape
    if p <= min(n, _MOST_AXES):
        return None
    if n > p:
        return np.asarray(sla.eigh(Z.T @ Z, subset_by_index=(p - _MOST_AXES, p - 1))[1])
    values, vectors = sla.eigh(Z @ Z.T)
    kept = np.flatnonzero(values > 1e-10 * values[-1])[-_MOST_AXES:]
    return np.asarray(Z.T @ (vectors[:, kept] / np.sqrt(values[kept])))


def _measured(Z: Array, Y: Array, folds: Codes, strengths: Array, seed: int) -> list[NestedRidge]:
    """Nested cross-validation of the target, which comes first, and of as many permutations as there is time for.

    All in one batch: they share every decomposition, and a permutation that leaves the target as it is ties with it.
    """
    n, p = Z.shape
    k, g = int(folds.max()) + 1, Y.shape[1]
    each = 2.0 * g * p * (n + k * k * len(strengths) * p)
    draws = int(np.clip(_WORK / each, *_DRAWS))
    rng = np.random.default_rng(seed)

    def judged(orders: list[Codes]) -> list[NestedRidge]:
        every = Y[np.stack(orders, axis=1)].reshape(n, -1)
        sums = [RegressionSums.of(Z[folds == f], every[folds == f]) for f in range(k)]
        return nested_ridge(sums, strengths, width=g).each()

    orders = chain([np.arange(n)], (rng.permutation(n) for _ in range(draws)))
    with one_blas_thread():  # many small products, which threads only hinder
        return monte_carlo(orders, judged, [1 + draws]).values


def _unseen(Z: Array, Y: Array, folds: Codes, strengths: Array, classes: tuple[str, ...]) -> Array:
    """(n, q) predictions of each fold by the others; for classes their probabilities."""
    found = np.empty(Y.shape)
    for f, strength in enumerate(strengths):
        out = folds == f
        path = RegressionSums.of(Z[~out], Y[~out]).path()
        w = path.coefficients(float(strength))
        if classes:
            found[out] = _by_gaussian_rule(Z[~out] @ w, Y[~out].argmax(axis=1), Z[out] @ w, len(classes))
        else:
            found[out] = path.y + (Z[out] - path.x) @ w
    return found


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


def _confused(truth: Array, predicted: Array, probability: Array, classes: tuple[str, ...]) -> dict[str, Any]:
    """Which classes are taken for which and, of two, how well the second is told and can be believed."""
    if not classes:
        return {"confusion": None, "roc": None, "calibration": None}
    true, called = truth.astype(np.intp), predicted.astype(np.intp)
    two = len(classes) == 2
    return {
        "confusion": confusion(true, called, classes=np.arange(len(classes))),
        "roc": roc(true, probability[:, 1], positive=1) if two else None,
        "calibration": calibration(true, probability[:, 1], positive=1) if two else None,
    }


def _half_width(residuals: Array) -> float:
    """The least width that holds a new row's residual with the chance wanted, if rows are exchangeable."""
    n = len(residuals)
    rank = int(np.ceil(COVERED * (n + 1)))
    return float(np.sort(np.abs(residuals))[rank - 1]) if rank <= n else float("inf")


def _interval(ours: float, each: Array) -> tuple[float, float] | None:
    """About the share explained, by its spread over folds; None where there are not two."""
    if len(each) < 2:
        return None
    low, high = fold_interval(ours, fold_error(each), len(each), within=(-np.inf, 1.0))
    return float(low), float(high)


def _evidence(found: NestedRidge, null: Array, n: int, strengths: Array, alpha: float) -> Evidence:
    ours, draws = float(found.explained[0]), len(null)
    p = rank_p(int(np.count_nonzero(null >= ours)), draws)
    k, base = len(found.base), found.base[:, 0]
    telling = base > 1e-12 * base.sum()  # where all rows are at the mean of the others nothing can be explained
    each = 1.0 - found.errors[telling, 0] / base[telling]
    return Evidence(
        statistic=ours,
        null=Null(
            "the same procedure on permuted targets",
            float(np.median(null)),
            float(np.quantile(null, 1.0 - alpha)),
            draws=draws,
        ),
        p=p,
        q=p,
        held_out=ours,
        interval=_interval(ours, each),
        n=n,
        looks=len(strengths),
        method=f"nested cross-validation in {k} folds, {draws} permuted targets",
        verdict=verdict_of(p, effect_holds=ours > 0.0, alpha=alpha),
    )

"""Can a column be predicted from the others, on rows that were not used? Ridge regression, judged as a whole procedure.

statistic  share of the squared deviations explained on unseen rows, nested: what measures never chose
chance     the same procedure, choice included, on permuted targets
classes    indicators as targets (optimal scoring); a row goes to the class by the Gaussian rule among fitted values
interval   of a prediction: the residuals of rows that were not used (conformal)

References: Hastie, Tibshirani, Buja, Flexible discriminant analysis by optimal scoring, JASA 89 (1994); Nadeau, Bengio,
Inference for the generalization error, Machine Learning 52 (2003); Barber et al., Predictive inference with the
jackknife+, Annals of Statistics 49 (2021).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray
from scipy.stats import t as student

from assay.data.folds import fold_numbers
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.nested_ridge import NestedRidge, Path, Sums, nested_ridge
from assay.linalg.one_thread import one_blas_thread

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

FEWEST_ROWS = 20
COVERED = 0.9  # share of new rows within the interval of their prediction
_STRENGTHS = 12
_MOST_AXES = 1000  # more columns than this enter by so many of their components
_WORK = 1e10  # products of the null distribution
_DRAWS = (99, 999)


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """How well a column can be predicted.

    Attributes:
        target: its name.
        classes: names of its classes; empty where it is a number.
        columns: (p,) the numbers it is predicted from.
        truth: (n,) its values, or the numbers of the classes.
        predicted: (n,) each by rows that it had no part in.
        probability: (n, g) of the classes, likewise; (n, 0) for a number.
        coefficients: (p, q) of standardised columns, fitted to all rows; one column for a number, else one a class.
        strengths: (k,) penalties tried.
        chosen: (folds,) numbers of those chosen.
        half_width: of the interval that holds 90% of new rows; NaN for classes.
        right: share of the rows whose class was predicted right; NaN for a number.
        largest: share of the largest class; NaN for a number.
        by_chance: (draws,) what permuted targets reach.
        evidence: on the prediction.
    """

    target: str
    classes: tuple[str, ...]
    columns: tuple[str, ...]
    truth: Array
    predicted: Array
    probability: Array
    coefficients: Array
    strengths: Array
    chosen: Codes
    half_width: float
    right: float
    largest: float
    by_chance: Array
    evidence: Evidence

    def stricter(self, factor: float, alpha: float) -> Prediction:
        """The same where other questions were asked too."""
        q = None if self.evidence.q is None else min(self.evidence.q * factor, 1.0)
        verdict = verdict_of(q, effect_holds=self._holds, alpha=alpha)
        return replace(self, evidence=replace(self.evidence, q=q, verdict=verdict))

    @property
    def _holds(self) -> bool:
        return self.evidence.held_out is not None and self.evidence.held_out > 0.0


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
    strengths = n * np.logspace(-4.0, 2.0, _STRENGTHS) * max(1.0, scores.shape[1] / n)
    found = _measured(scores, Y, folds, strengths, seed)
    fitted = _unseen(scores, Y, folds, strengths[found.chosen[:, 0]], classes)
    whole = Path.of(Sums.of(scores, Y))
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
        by_chance=found.explained[1:],
        evidence=_evidence(found, n, strengths, alpha),
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


def _measured(Z: Array, Y: Array, folds: Codes, strengths: Array, seed: int) -> NestedRidge:
    """Nested cross-validation of the target and of as many permutations as there is time for."""
    n, p = Z.shape
    k, g = int(folds.max()) + 1, Y.shape[1]
    each = 2.0 * g * p * (n + k * k * len(strengths) * p)
    draws = int(np.clip(_WORK / each, *_DRAWS))
    rng = np.random.default_rng(seed)
    orders = [np.arange(n), *(rng.permutation(n) for _ in range(draws))]
    every = Y[np.stack(orders, axis=1)].reshape(n, -1)
    with one_blas_thread():  # many small products, which threads only hinder
        return nested_ridge([Sums.of(Z[folds == f], every[folds == f]) for f in range(k)], strengths, width=g)


def _unseen(Z: Array, Y: Array, folds: Codes, strengths: Array, classes: tuple[str, ...]) -> Array:
    """(n, q) predictions of each fold by the others; for classes their probabilities."""
    found = np.empty(Y.shape)
    for f, strength in enumerate(strengths):
        out = folds == f
        path = Path.of(Sums.of(Z[~out], Y[~out]))
        w = path.coefficients(float(strength))
        if classes:
            found[out] = _gaussian_rule(Z[~out] @ w, Y[~out].argmax(axis=1), Z[out] @ w, len(classes))
        else:
            found[out] = path.y + (Z[out] - path.x) @ w
    return found


def _gaussian_rule(fitted: Array, codes: Codes, new: Array, g: int) -> Array:
    """Probabilities of the classes among fitted values with one covariance, which is singular by one direction."""
    counts = np.bincount(codes, minlength=g)
    means = np.stack([fitted[codes == c].mean(axis=0) if counts[c] else fitted.mean(axis=0) for c in range(g)])
    within = fitted - means[codes]
    inverse = np.linalg.pinv(within.T @ within / len(fitted), rcond=1e-9, hermitian=True)
    gaps = new[:, None] - means
    with np.errstate(divide="ignore"):
        log = np.log(counts / counts.sum()) - 0.5 * np.einsum("icj,jk,ick->ic", gaps, inverse, gaps)
    log -= log.max(axis=1, keepdims=True)
    share = np.exp(log)
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def _half_width(residuals: Array) -> float:
    """The least width that holds a new row's residual with the chance wanted, if rows are exchangeable."""
    n = len(residuals)
    rank = int(np.ceil(COVERED * (n + 1)))
    return float(np.sort(np.abs(residuals))[rank - 1]) if rank <= n else float("inf")


def _interval(ours: float, each: Array) -> tuple[float, float] | None:
    """About the share explained, by its spread over folds; None where there are not two."""
    k = len(each)
    if k < 2:
        return None
    # folds share their training rows: the variance of their mean is 1 / k + 1 / (k - 1) times that of one
    error = float(each.std(ddof=1) * np.sqrt(1.0 / k + 1.0 / (k - 1.0)) * student.ppf(0.975, k - 1))
    return ours - error, min(ours + error, 1.0)


def _evidence(found: NestedRidge, n: int, strengths: Array, alpha: float) -> Evidence:
    ours, null = float(found.explained[0]), found.explained[1:]
    draws = len(null)
    p = float((1 + np.count_nonzero(null >= ours)) / (draws + 1))
    k, base = len(found.base), found.base[:, 0]
    telling = (
        base > 1e-12 * base.sum()
    )  # in a fold whose rows are all at the mean of the others nothing can be explained
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

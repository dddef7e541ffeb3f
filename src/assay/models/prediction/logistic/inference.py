"""From a solution's own coordinates to coefficients, their standard errors, and what the likelihood says about them.

A solution is told as coefficients of each class, with what bounds its quality; a table sets each class against a base.

contrast  w_j - w_base = (a_j - a_base) theta          a (g, k) the contrasts in which the likelihood was maximised
errors    (a_j - a_base) C (a_j - a_base)^T            C (k, k) of each column, from the whole inverse information
together  2 (log L - log L_0) ~ chi squared of k rank degrees if no column speaks for any class

All of it is of the unpenalised maximum: a penalty draws coefficients towards zero, by an amount that no error holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.models.coefficients import CoefficientTable
from assay.models.model_summary import ModelSummary
from assay.models.prediction.logistic.ridged_loss import Curvature
from assay.models.prediction.logistic.rows import LogisticRows
from assay.models.prediction.logistic.solve import LogisticSolution
from assay.models.prediction.logistic.terms import contrasts

# what a summary gives as numbers
_MEASURES = (
    "penalty", "log_likelihood", "null_log_likelihood", "pseudo_r_squared", "likelihood_ratio", "likelihood_ratio_p",
    "aic", "bic",
)  # fmt: skip


def coefficients(rows: LogisticRows, found: LogisticSolution) -> tuple[Array, Array]:
    """Coefficients and intercepts as users know them: (1, d) and (1,) for two classes, else (g, d) and (g,).

    Args:
        rows: before coordinates were reduced.
        found: their solution.
    """
    A = shown(rows.classes)
    phi = _lifted(found, found.optimum.theta)
    d = len(rows.basis) - rows.design.intercept
    w = A @ (phi[:, :d] * rows.factors)
    if not rows.design.intercept:
        return w, np.zeros(len(A))
    b = A @ phi[:, d]
    return w, b if rows.design.centre is None else b - w @ rows.design.centre


def start_at(rows: LogisticRows, coef: Array, intercept: Array) -> Array:
    """(k, d + 1) the parameters of which `coefficients` would make these, in the coordinates of the rows.

    Args:
        rows: before coordinates are reduced.
        coef, intercept: as users know them.
    """
    back = np.linalg.pinv(shown(rows.classes))
    phi = back @ coef / rows.factors
    if not rows.design.intercept:
        return np.asarray(phi)
    centre = 0.0 if rows.design.centre is None else coef @ rows.design.centre
    return np.column_stack([phi, back @ (intercept + centre)])


def class_covariance(rows: LogisticRows, found: LogisticSolution, penalty: float) -> Array | None:
    """(d + 1, k, k) covariance of each column's coefficients and of the intercepts, in the contrasts of the classes.

    From the inverse curvature; (d, k, k) without an intercept, None without a curvature.

    Args:
        rows, found: as for `coefficients`.
        penalty: that of the solution.
    """
    if found.optimum.curvature is None:
        return None
    k, r = found.optimum.theta.shape
    T = _map(rows, found)
    inverse = Curvature(found.optimum.curvature).solve(np.eye(k * r)).reshape(k, r, k, r)
    covariance = np.empty((len(T), k, k))
    for a in range(k):
        for b in range(a, k):
            covariance[:, a, b] = covariance[:, b, a] = np.einsum("jr,jr->j", T @ inverse[a, :, b], T)
    V = found.reduced.outside
    if V is not None and penalty > 0.0:
        # directions that no row has a part in are held by the penalty alone
        left = np.maximum(1.0 - np.einsum("ij,ij->i", V, V), 0.0)
        if rows.design.intercept:
            centre = np.zeros(len(V)) if rows.design.centre is None else rows.design.centre
            left = np.append(left, max(0.0, float(centre @ centre - np.sum((centre @ V) ** 2))))
        covariance += left[:, None, None] / penalty * np.eye(k)
    return covariance


def standard_errors(rows: LogisticRows, covariance: Array) -> tuple[Array, Array]:
    """Of coefficients and intercepts, in their shapes.

    Args:
        rows: before coordinates were reduced.
        covariance: of `class_covariance`.
    """
    A = shown(rows.classes)
    errors = np.sqrt(np.maximum(np.einsum("ca,jab,cb->cj", A, covariance, A), 0.0))
    d = len(rows.basis) - rows.design.intercept
    return errors[:, :d], errors[:, d] if rows.design.intercept else np.zeros(len(A))


def null_log_likelihood(rows: LogisticRows) -> float:
    """Of the classes' shares alone; equal shares without an intercept."""
    sizes = np.bincount(rows.codes, rows.weights, rows.classes)
    shares = sizes / sizes.sum() if rows.design.intercept else np.full(rows.classes, 1.0 / rows.classes)
    return float(sizes @ np.log(shares))


def duality_gap(found: LogisticSolution) -> float | None:
    """How far the objective can be above the least.

    With residuals as dual variables the gap of the ridge problem is sum_j g_j^2 / (2 r_j), for intercepts at their
    best; what these lack is added to second order. None without a ridge on every column or without a curvature.
    """
    optimum, rows = found.optimum, found.reduced.rows
    k, r = optimum.theta.shape
    d = r - rows.design.intercept
    ridge = rows.ridge[:d]
    if optimum.curvature is None or not (ridge > 0.0).all():
        return None
    gap = 0.5 * float(np.sum(optimum.gradient[:, :d] ** 2 / ridge))
    if rows.design.intercept:
        at = np.arange(k) * r + d
        gap += 0.5 * Curvature(optimum.curvature[np.ix_(at, at)]).newton_step(optimum.gradient[:, d])[1] ** 2
    return gap


def separating_parts(rows: LogisticRows, found: LogisticSolution) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Columns with a part in the separating direction, largest first, and the classes it sets rows apart of."""
    if found.direction is None:
        return np.arange(0), np.arange(0)
    scores = contrasts(rows.classes) @ _lifted(found, found.direction)
    d = len(rows.basis) - rows.design.intercept
    sizes = np.abs(scores[:, :d]).max(axis=0)
    order = np.argsort(-sizes, kind="stable")
    widest = found.reduced.rows.widest(found.direction)
    return order[sizes[order] > 1e-3 * sizes.max(initial=0.0)], np.flatnonzero(widest > 1e-4 * widest.max())


def shown(classes: int) -> Array:
    """Contrasts of the classes whose coefficients are shown: the second of two, or all."""
    A = contrasts(classes)
    return A[1:] if classes == 2 else A


def _lifted(found: LogisticSolution, phi: Array) -> Array:
    return phi if found.reduced.lift is None else phi @ found.reduced.lift.T


def _map(rows: LogisticRows, found: LogisticSolution) -> Array:
    """(d + 1, r), or (d, r) without an intercept: from parameters to a class's coefficients and intercept."""
    lift = np.eye(len(rows.basis)) if found.reduced.lift is None else found.reduced.lift
    d = len(rows.basis) - rows.design.intercept
    T = rows.factors[:, None] * lift[:d]
    if not rows.design.intercept:
        return np.asarray(T)
    b = lift[d] if rows.design.centre is None else lift[d] - rows.design.centre @ T
    return np.vstack([T, b])


def table_of(model: Any, confidence: float, base: Any) -> CoefficientTable:
    """The table of a fitted `Logistic`, see `Logistic.table`."""
    if model.coef_std_errors_ is None:
        raise DataError(
            f"standard errors need the curvature, which is not made for more than 2,000 parameters; this model has "
            f"{model.coef_.size + model.intercept_.size}"
        )
    g, d = len(model.classes_), model.n_features_in_
    at = _place(model.classes_, base)
    known = getattr(model, "feature_names_in_", None)
    names = tuple(f"column {j}" for j in range(d)) if known is None else tuple(map(str, known))
    coef, intercept = np.asarray(model.coef_), np.asarray(model.intercept_)
    if g == 2:
        coef, intercept = (np.vstack([np.zeros_like(w), w]) for w in (coef, intercept))
    others = np.delete(np.arange(g), at)
    estimate = np.asarray((coef - coef[at])[others])
    L = (contrasts(g) - contrasts(g)[at])[others]
    variances = np.einsum("ca,jab,cb->cj", L, model._class_covariance, L)  # columns, then the intercept
    errors = np.sqrt(np.maximum(variances, 0.0))
    if model.fit_intercept:
        names = ("intercept", *names)
        flat = intercept.ravel()
        estimate = np.column_stack([flat[others] - flat[at], estimate])
        errors = np.column_stack([errors[:, d], errors[:, :d]])
    return CoefficientTable.of(
        names * len(others),
        estimate.ravel(),
        errors.ravel(),
        confidence=confidence,
        errors="information",
        penalised=model.penalty_ > 0.0,
        classes=np.repeat(model.classes_[others], len(names)),
        base=model.classes_.tolist()[at],
        notes=_notes(model),
    )


def summary_of(model: Any, confidence: float, base: Any) -> ModelSummary:
    """The summary of a fitted `Logistic`, see `Logistic.summary`."""
    table = table_of(model, confidence, base)
    lines = [
        f"Logistic: {model.weight_:g} rows, {len(model.classes_)} classes, penalty {model.penalty_:g}",
        f"log likelihood {model.log_likelihood_:.6g} (of the shares alone {model.null_log_likelihood_:.6g}), pseudo R "
        f"squared {model.pseudo_r_squared_:.4g}",
    ]
    if not np.isnan(model.aic_):
        chi, p = model.likelihood_ratio_, model.likelihood_ratio_p_
        lines.append(
            f"chi squared {chi:.4g} on {_slopes(model)}, p {p:.3g}; AIC {model.aic_:.6g}, BIC {model.bic_:.6g}"
        )
    known = {name: float(getattr(model, f"{name}_")) for name in _MEASURES}
    return ModelSummary(tuple(lines), {"rows": float(model.weight_), **known}, table)


def likelihood_tests(model: Any) -> dict[str, float]:
    """What is said of all coefficients together; NaN where there is no unpenalised maximum."""
    held = model.log_likelihood_
    ratio = max(2.0 * (held - model.null_log_likelihood_), 0.0)
    parameters = _slopes(model) + (len(model.classes_) - 1) * int(bool(model.fit_intercept))
    known = 1.0 if model.penalty_ == 0.0 and model.separated_ is not True else np.nan
    return {
        "pseudo_r_squared_": 1.0 - held / model.null_log_likelihood_,
        "likelihood_ratio_": known * ratio,
        "likelihood_ratio_p_": known * float(chdtrc(_slopes(model), ratio)) if _slopes(model) else np.nan,
        "aic_": known * 2.0 * (parameters - held),
        "bic_": known * (parameters * float(np.log(model.weight_)) - 2.0 * held),
    }


def _slopes(model: Any) -> int:
    rank = model.n_features_in_ if model.rank_ is None else model.rank_
    return int(rank) * (len(model.classes_) - 1)


def _place(classes: Array, base: Any) -> int:
    names = classes.tolist()
    if base is None:
        return 0
    if base not in names:
        raise ParameterError(f"base is one of the classes, {', '.join(map(repr, names[:10]))}; got {base!r}")
    return int(names.index(base))


def _notes(model: Any) -> tuple[str, ...]:
    notes = []
    if model.penalty_ > 0.0:
        notes.append(
            f"penalised (penalty {model.penalty_:.4g}): coefficients are drawn towards zero, by an amount that no "
            "standard error holds, so there is no p and no interval; Logistic(penalty=0) has them"
        )
    elif model.separated_:
        notes.append("the classes are separated: there is no maximum, and nothing to test")
    if model.rank_ is not None and model.rank_ < model.n_features_in_:
        notes.append(
            f"columns depend on each other (rank {model.rank_} of {model.n_features_in_}): the shortest coefficients "
            "of all equally good ones are given, and errors are of these"
        )
    if model.class_weight is not None:
        notes.append("rows are weighted by class: errors take weights for numbers of rows")
    return tuple(notes)

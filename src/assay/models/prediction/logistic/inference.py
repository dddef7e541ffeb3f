"""What the likelihood says about coefficients: each class against a base, and all of them together.

contrast  w_j - w_base = (a_j - a_base) theta          a (g, k) the contrasts in which the likelihood was maximised
errors    (a_j - a_base) C (a_j - a_base)^T            C (k, k) of each column, from the whole inverse information
together  2 (log L - log L_0) ~ chi squared of k rank degrees if no column speaks for any class

All of it is of the unpenalised maximum: a penalty draws coefficients towards zero, by an amount that no error holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import chdtrc

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.models.coefficients import CoefficientTable
from assay.models.prediction.logistic.terms import contrasts


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


def summary_of(model: Any, confidence: float, base: Any) -> str:
    """The text of a fitted `Logistic`, see `Logistic.summary`."""
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
    return "\n".join([*lines, str(table)])


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

"""Predictors seen: what they weigh, how right they are on rows, and where they decide."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.clusters.voronoi import voronoi
from assay.views.figures import Panel
from assay.views.models.rows import column_names, numbers_of, on_places, rows_and_target
from assay.views.prediction.coefficients import coefficient_view
from assay.views.prediction.margin import margin_view
from assay.views.prediction.prediction import prediction_view
from assay.views.prediction.refusal import refusal_view
from assay.views.prediction.residuals import residual_view
from assay.views.results.choices import ridge_path
from assay.views.results.measures import calibration, confusion, roc
from assay.views.rows.contribution_map import contribution_map
from assay.views.rows.variates import canonical_variates_view


def least_squares(
    model: Any, X: Any = None, y: Any = None, *, held_out: bool | None = None, unit: str = ""
) -> list[Panel]:
    """Coefficients with their intervals; with rows and their target, how well these are predicted.

    Args:
        model: a fitted `LeastSquares`.
        X: rows.
        y: (n,) their target.
        held_out: whether the rows were kept out of the fit, if that is known.
        unit: of the target.
    """
    _one_target(model)
    if X is None:
        known = model.table()
        skip = int(len(known.names) > model.n_features_in_)  # the intercept has another unit
        drawn = coefficient_view(
            known.estimate[skip:], known.names[skip:], low=known.low[skip:], high=known.high[skip:]
        )
        words = f"Intervals of {known.confidence:.0%}. R² is {model.r_squared_:.3f} on the rows fitted."
        return [Panel("Coefficients", drawn, words)]
    rows, truth = rows_and_target(model, X, y, why="how right a prediction is takes the truth")
    ends = np.stack(model.predict_interval(rows), axis=1)
    intervals = ends if np.isfinite(ends).all() else None
    return _predicted(model, rows, truth, held_out, unit, intervals)


def ridge(model: Any, X: Any = None, y: Any = None, *, held_out: bool | None = None, unit: str = "") -> list[Panel]:
    """Coefficients over the penalty, held-out errors where it was chosen; with rows, how well they are predicted.

    Args:
        model: a fitted `Ridge` or `ElasticNet`.
        X: rows.
        y: (n,) their target.
        held_out: whether the rows were kept out of the fit, if that is known.
        unit: of the target.
    """
    _one_target(model)
    if X is None:
        return ridge_path(model.path(), names=column_names(model), chosen=float(model.alpha_))
    rows, truth = rows_and_target(model, X, y, why="how right a prediction is takes the truth")
    return _predicted(model, rows, truth, held_out, unit, None)


def regressor(model: Any, X: Any = None, y: Any = None, *, held_out: bool | None = None, unit: str = "") -> list[Panel]:
    """Coefficients where there are any; with rows and their target, how well these are predicted.

    Args:
        model: a fitted `SVR`.
        X: rows.
        y: (n,) their target.
        held_out: whether the rows were kept out of the fit, if that is known.
        unit: of the target.
    """
    if X is None and model.coef_ is not None:
        return [Panel("Coefficients", coefficient_view(np.ravel(model.coef_), column_names(model)))]
    rows, truth = rows_and_target(model, X, y, why="a machine with this kernel has no coefficients to draw")
    return _predicted(model, rows, truth, held_out, unit, None)


def classifier(model: Any, X: Any = None, y: Any = None) -> list[Panel]:
    """Weights of the columns where there are any; with rows and classes, which classes are taken for which.

    Args:
        model: a fitted classifier.
        X: rows, best those that were not fitted.
        y: (n,) their classes.
    """
    if X is None:
        return _weights(model)
    rows, truth = rows_and_target(model, X, y, why="how right a rule is takes the truth")
    return judged(model, rows, truth)


def svm(model: Any, X: Any = None, y: Any = None) -> list[Panel]:
    """Two classes of rows with two columns and the margin between them; of more, which are taken for which.

    Args:
        model: a fitted `SVM`.
        X: rows, the ones fitted for their support vectors to be ringed.
        y: (n,) their classes.
    """
    if X is None:
        return _weights(model)
    rows, truth = rows_and_target(model, X, y, why="a margin lies between classes")
    found = []
    if model.n_features_in_ == 2 and len(model.classes_) == 2 and model.support_vectors_ is not None:
        places, axes = numbers_of(model, rows, why=""), column_names(model)
        held = model.support_[model.support_ < len(places)]
        fitted = len(held) == len(model.support_) and np.array_equal(places[held], model.support_vectors_)
        found.append(
            Panel(
                "The margin",
                margin_view(
                    places, truth, on_places(model.decision_function), support=held if fitted else None,
                    axes=(axes[0], axes[1]),
                ),
            )
        )  # fmt: skip
    return [*found, *judged(model, rows, truth)]


def variates(model: Any, X: Any = None, y: Any = None) -> list[Panel]:
    """Weights of the columns; with rows and classes, the rows along the directions that tell classes apart.

    Args:
        model: a fitted `Fisher` or `DifferenceOfMeans`.
        X: rows.
        y: (n,) their classes.
    """
    if X is None:
        return _weights(model)
    rows, truth = rows_and_target(model, X, y, why="directions that tell classes apart are seen by rows of them")
    scores = np.asarray(model.transform(rows), dtype=np.float64)
    share = getattr(model, "explained_variance_ratio_", None)
    if share is None:  # unlike Fisher's, these directions do not measure in standard deviations within classes
        scores = scores / (_within(scores, truth) or 1.0)
    drawn = canonical_variates_view(scores, truth, share=share)
    return [Panel("Rows on the canonical variates", drawn), *judged(model, rows, truth)]


def centroids(model: Any, X: Any = None, y: Any = None) -> list[Panel]:
    """The cells of the classes' centroids; with rows and classes, what refusing unclear rows would buy.

    Args:
        model: a fitted `NearestCentroid`.
        X: rows, best those that were not fitted.
        y: (n,) their classes.
    """
    names = column_names(model)
    axes = (names[0], names[1]) if len(names) == 2 else None
    if X is None:
        nobody = np.empty((0, len(names)))
        return [Panel("Cells of the centroids", voronoi(nobody, model.centroids_, axes=axes))]
    rows, truth = rows_and_target(model, X, y, why="how right a rule is takes the truth")
    nearest = model.distances(rows).argmin(axis=1)
    drawn = voronoi(numbers_of(model, rows, why=""), model.centroids_, nearest, axes=axes)
    return [Panel("Cells of the centroids", drawn), *refusing(model, rows, truth)]


def refusing(model: Any, X: Any = None, y: Any = None) -> list[Panel]:
    """Which classes are taken for which, and what refusing unclear rows would buy.

    Args:
        model: a fitted classifier that can refuse.
        X: rows, best those that were not fitted.
        y: (n,) their classes.
    """
    rows, truth = rows_and_target(model, X, y, why="how right a rule is takes the truth")
    curve = model.refusal_curve(rows, truth)
    chosen = None if model.refuse is None else float(np.mean(model.refused(rows)))
    words = "Rows nearly as close to a second class are refused first."
    bought = Panel("What refusing buys", refusal_view(curve.refused, curve.accuracy, chosen=chosen), words)
    return [bought, *judged(model, rows, truth)]


def judged(model: Any, rows: Any, truth: NDArray[Any]) -> list[Panel]:
    """Which classes are taken for which; of two, also the ROC curve and whether probabilities come true.

    Args:
        model: a fitted classifier.
        rows: (n, d).
        truth: (n,) their classes.
    """
    assay = import_module("assay")  # evidence is beside views: only the top level imports both
    called = model.classes_[np.argmin(model.distances(rows), axis=1)] if hasattr(model, "refuse") else None
    called = model.predict(rows) if called is None else called
    panels = confusion(assay.confusion(truth, called))
    if len(model.classes_) != 2 or len(np.unique(truth)) != 2:
        return panels
    # a model may have the method and no probabilities, as an SVM that was not asked for them
    sure = model.predict_proba(rows)[:, 1] if getattr(model, "probability", True) and hasattr(
        model, "predict_proba"
    ) else None  # fmt: skip
    scores = sure if sure is not None else model.decision_function(rows)
    panels += roc(assay.roc(truth, scores, positive=model.classes_[1]))
    if sure is not None:
        panels += calibration(assay.calibration(truth, sure, positive=model.classes_[1]))
    return panels


def _predicted(
    model: Any, rows: Any, truth: ArrayLike, held_out: bool | None, unit: str, intervals: Array | None
) -> list[Panel]:
    true = np.asarray(truth, dtype=np.float64)
    said = np.asarray(model.predict(rows), dtype=np.float64)
    drawn = prediction_view(
        true, said, intervals=intervals, r_squared=float(model.score(rows, true)), held_out=held_out, unit=unit
    )
    words = "" if intervals is None else "An interval holds the truth for 95 of 100 new rows, if errors are normal."
    left = residual_view(said, true - said, unit=unit)
    return [Panel("Predicted and true", drawn, words), *(Panel(name, figure) for name, figure in left.items())]


def _weights(model: Any) -> list[Panel]:
    """Weights of a linear rule: for two classes a coefficient each, for more a table."""
    names, coef = column_names(model), getattr(model, "coef_", None)
    if coef is None:
        raise ParameterError(
            f"this {type(model).__name__} has no weights to draw; to see how right it is, give rows and their classes: "
            "plot(model, X, y)"
        )
    classes = [str(name) for name in model.classes_]
    if len(coef) == 1:
        low = high = np.full(len(names), np.nan)
        if getattr(model, "coef_std_errors_", None) is not None:
            known = model.table()  # without intervals where there is a penalty
            low, high = known.low[-len(names) :], known.high[-len(names) :]
        drawn = coefficient_view(
            coef[0], names, low=low, high=high, x_label=f"weight for {classes[1]}, against {classes[0]}"
        )
        return [Panel("Weights of the columns", drawn, "" if np.isnan(low).all() else "Intervals of 95%.")]
    rows = (
        classes
        if len(coef) == len(classes)
        else [f"{a} against {b}" for i, a in enumerate(classes) for b in classes[i + 1 :]]
    )
    drawn = contribution_map(coef, names, names=rows, shares=False)
    return [
        Panel("Weights of the columns", drawn, "Above zero (blue) a column speaks for the class, below against it.")
    ]


def _within(scores: Array, truth: NDArray[Any]) -> float:
    """Root mean variance of the scores within classes: the unit that the circles of a drawing are in."""
    squares = sum(
        float(((part - part.mean(axis=0)) ** 2).sum()) for c in np.unique(truth) for part in [scores[truth == c]]
    )
    return float(np.sqrt(squares / max(scores.size - scores.shape[1] * len(np.unique(truth)), 1)))


def _one_target(model: Any) -> None:
    if np.ndim(model.coef_) > 1:
        raise ParameterError(
            f"a picture shows one target; this {type(model).__name__} has {len(model.coef_)}: fit one at a time"
        )

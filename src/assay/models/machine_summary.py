"""The summary of a predictor whose coefficients have no known errors: what the fit was, and coefficients, if any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.models.coefficients import CoefficientTable
from assay.models.model_summary import ModelSummary
from assay.shown import a_few

_CONFIDENCE = 0.95  # for the form of other tables: there are no intervals here


def summary_of(
    model: Any,
    lines: Sequence[str],
    measures: Mapping[str, float],
    *,
    pairs: Sequence[tuple[Any, Any]] | None = None,
) -> ModelSummary:
    """What is known of a fitted predictor.

    Args:
        model: fitted.
        lines: what it is to be told of the fit, beside columns and classes.
        measures: the numbers behind them.
        pairs: for each row of `coef_`, the class that it speaks for and the one against; None for one class after
            another, or the second of two.
    """
    classes = [] if (known := getattr(model, "classes_", None)) is None else known.tolist()
    told = f", {len(classes)} classes: {a_few([str(one) for one in classes], 6)}" if classes else ""
    first = f"{type(model).__name__}: {model.n_features_in_} columns{told}"
    counts = {"columns": float(model.n_features_in_), **({"classes": float(len(classes))} if classes else {})}
    return ModelSummary((first, *lines), counts | dict(measures), _table(model, classes, pairs))


def _table(model: Any, classes: list[Any], pairs: Sequence[tuple[Any, Any]] | None) -> CoefficientTable | None:
    """Coefficients without errors; None where the model has none."""
    coef = getattr(model, "coef_", None)
    if coef is None:
        return None
    rows = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    middle = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    columns = list(getattr(model, "feature_names_in_", [f"column {j}" for j in range(model.n_features_in_)]))
    notes = ["there is no law of the errors of these coefficients, so there is no se, p or interval"]
    if len(rows) == 1:
        if len(classes) == 2:
            notes.insert(0, f"above zero speaks for {classes[1]!r}, below for {classes[0]!r}")
        names, values = ["intercept", *columns], np.append(middle[0], rows[0])
    else:
        heads = [str(one) for one in classes] if pairs is None else [f"{a} against {b}" for a, b in pairs]
        names = [f"{head}: {name}" for head in heads for name in ("intercept", *columns)]
        values = np.column_stack([middle, rows]).ravel()
    unknown: NDArray[np.float64] = np.full(len(values), np.nan)
    return CoefficientTable.of(
        names, values, unknown, confidence=_CONFIDENCE, penalised=True, errors="none", notes=tuple(notes)
    )

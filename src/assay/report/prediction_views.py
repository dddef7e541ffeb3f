"""What was predicted beside what is true, on rows that had no part in it, and which columns it rests on."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.evidence.classification import calibration, confusion, roc
from assay.report.component_views import View, heat_cell
from assay.report.elements import name_cell, table
from assay.report.escape import visible
from assay.report.kinds import SURVIVED
from assay.report.numbers import count
from assay.views.confusion import confusion_view
from assay.views.prediction import prediction_view
from assay.views.residuals import residual_view
from assay.views.roc import calibration_view, roc_view

_COLUMNS = 25
_UNSEEN = "Each row was predicted from rows of other folds."


def prediction_views(found: Any) -> list[View]:
    """Prediction against truth and residuals, or the confusion of classes and ROC; nothing where chance does as well.

    Args:
        found: the numbers behind the finding on the target; None where there is none.
    """
    if found is None or found.evidence.verdict not in SURVIVED:
        return []
    return _class_views(found) if found.classes else _number_views(found)


def prediction_table(found: Any) -> str:
    """The columns that a prediction rests on; nothing where chance predicts as well."""
    if found is None or found.evidence.verdict not in SURVIVED:
        return ""
    coefficients = found.coefficients
    order = np.argsort(-np.sqrt((coefficients**2).sum(axis=1)), kind="stable")[:_COLUMNS]
    heads = list(found.classes) if found.classes else [found.target]
    if len(heads) == 2:  # the second says the opposite of the first
        coefficients, heads = coefficients[:, 1:], heads[1:]
    full = float(np.abs(coefficients).max()) or 1.0
    rows = [[name_cell(found.columns[j]), *(heat_cell(float(value), full) for value in coefficients[j])] for j in order]
    caption = f"What {visible(found.target)} is predicted from: coefficients of standardised columns, the largest first"
    if len(coefficients) > _COLUMNS:
        caption += f"; {_COLUMNS} of {count(len(coefficients))}"
    columns = ["Column", *(visible(head) for head in heads)]
    return f"<h3>What the prediction rests on</h3>{table(caption, columns, rows, numeric=range(1, len(columns)))}"


def _number_views(found: Any) -> list[View]:
    residuals = residual_view(found.predicted, found.truth - found.predicted)
    width = found.half_width
    intervals = np.stack([found.predicted - width, found.predicted + width], axis=1) if np.isfinite(width) else None
    drawn = prediction_view(found.truth, found.predicted, intervals=intervals, r_squared=found.evidence.statistic)
    name = visible(found.target)
    first = View(
        "prediction", f"{name}: predicted and true", drawn, (),
        f"{_UNSEEN} An interval holds the truth for nine new rows of ten.",
    )  # fmt: skip
    words = (
        "A good prediction leaves errors about zero that spread as widely on the right as on the left.",
        "Errors that follow a normal law lie along the line, within the band.",
    )
    rest = [
        View(f"residuals-{k}", title, figure, (), text)
        for k, ((title, figure), text) in enumerate(zip(residuals.items(), words, strict=True), 1)
    ]
    return [first, *rest]


def _class_views(found: Any) -> list[View]:
    names = [visible(name) for name in found.classes]
    true, called = (np.asarray(codes, dtype=np.intp) for codes in (found.truth, found.predicted))
    counted = confusion(true, called, classes=np.arange(len(names)))
    views = [
        View(
            "confusion", "Which classes are taken for which", confusion_view(counted.matrix, names), (),
            f"{_UNSEEN} Shares are of the true class.",
        )
    ]  # fmt: skip
    if len(names) != 2:
        return views
    curve = roc(true, found.probability[:, 1], positive=1)
    said = calibration(true, found.probability[:, 1], positive=1)
    return [
        *views,
        View(
            "roc", f"How well {visible(found.target)} {names[1]} is told from {names[0]}",
            roc_view(
                curve.false_positive, curve.true_positive, area=curve.area, interval=curve.interval,
                band=(curve.band_at, curve.lower, curve.upper), thresholds=curve.thresholds, positive=names[1],
            ),
            (), f"{_UNSEEN} Guessing gives the diagonal.",
        ),
        View(
            "calibration", "Whether probabilities can be believed",
            calibration_view(
                said.predicted, said.observed, said.counts, lower=said.lower, upper=said.upper, edges=said.edges,
                error=said.error, event=f"share of {names[1]}",
            ),
            (), f"Of rows said to be {names[1]} with a probability of 70%, about 70% should be, as on the diagonal.",
        ),
    ]  # fmt: skip

"""What was predicted beside what is true, on rows that had no part in it, and which columns it rests on."""

from __future__ import annotations

import numpy as np

from assay.asking.words import SURVIVED
from assay.questions.prediction.answer import Prediction
from assay.views.confusion import confusion_view
from assay.views.elements import heat_cell, name_cell, table
from assay.views.escape import visible
from assay.views.numbers import count
from assay.views.prediction import prediction_view
from assay.views.residuals import residual_view
from assay.views.roc import calibration_view, roc_view
from assay.views.view import View

_COLUMNS = 25
_UNSEEN = "Each row was predicted from rows of other folds."


def views(found: Prediction) -> list[View]:
    """Prediction against truth and residuals, or the confusion of classes and ROC; nothing where chance does as well.

    Args:
        found: the numbers behind the finding.
    """
    if found.evidence.verdict not in SURVIVED:
        return []
    return [*(_class_views(found) if found.classes else _number_views(found)), _rests_on(found)]


def _rests_on(found: Prediction) -> View:
    """The columns that a prediction rests on."""
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
    content = table(caption, columns, rows, numeric=range(1, len(columns)))
    return View("coefficients", "What the prediction rests on", numbers=content)


def _number_views(found: Prediction) -> list[View]:
    residuals = residual_view(found.predicted, found.truth - found.predicted)
    width = found.half_width
    intervals = np.stack([found.predicted - width, found.predicted + width], axis=1) if np.isfinite(width) else None
    drawn = prediction_view(found.truth, found.predicted, intervals=intervals, r_squared=found.evidence.held_out)
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


def _class_views(found: Prediction) -> list[View]:
    names = [visible(name) for name in found.classes]
    drawn = []
    if found.confusion is not None:
        figure = confusion_view(found.confusion.matrix, names)
        told = f"{_UNSEEN} Shares are of the true class."
        drawn.append(View("confusion", "Which classes are taken for which", figure, (), told))
    if (curve := found.roc) is not None:
        figure = roc_view(
            curve.false_positive, curve.true_positive, area=curve.area, interval=curve.interval,
            band=(curve.band_at, curve.lower, curve.upper), thresholds=curve.thresholds, positive=names[1],
        )  # fmt: skip
        title = f"How well {visible(found.target)} {names[1]} is told from {names[0]}"
        drawn.append(View("roc", title, figure, (), f"{_UNSEEN} Guessing gives the diagonal."))
    if (said := found.calibration) is not None:
        figure = calibration_view(
            said.predicted, said.observed, said.counts, lower=said.lower, upper=said.upper, edges=said.edges,
            error=said.error, event=f"share of {names[1]}",
        )  # fmt: skip
        told = f"Of rows said to be {names[1]} with a probability of 70%, about 70% should be, as on the diagonal."
        drawn.append(View("calibration", "Whether probabilities can be believed", figure, (), told))
    return drawn

"""What was predicted beside what is true, on rows that had no part in it, and which columns it rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.asking.coarse import stepped
from assay.asking.page import Page
from assay.asking.words import SURVIVED
from assay.questions.prediction.answer import Prediction
from assay.questions.prediction.words import counted_points, machine_name, points
from assay.views.axes.numbers import count, percent
from assay.views.html.elements import heat_cell, name_cell, table
from assay.views.html.escape import visible
from assay.views.html.view import View
from assay.views.prediction.complexity import complexity_curve_view
from assay.views.prediction.confusion import confusion_view
from assay.views.prediction.prediction import prediction_view
from assay.views.prediction.residuals import residual_view
from assay.views.prediction.roc import calibration_view, roc_view

_COLUMNS = 25
_UNSEEN = "Each row was predicted from rows of other folds."


def views(found: Prediction, page: Page) -> list[View]:
    """Prediction against truth and residuals, or the confusion of classes and ROC; nothing where chance does as well.

    Args:
        found: the numbers behind the finding.
        page: which says whether values may be shown as they came.
    """
    if found.evidence.verdict not in SURVIVED:
        return []
    drawn = _class_views(found) if found.classes else _number_views(found, page)
    drawn += [_rests_on(found), _machines(found)]
    drawn += [_coefficients(found)] if found.machine == "line" else []
    return drawn + ([_growth(found)] if found.growth is not None else [])


def _rests_on(found: Prediction) -> View:
    """What is lost without columns."""
    known = found.matters
    shown = range(min(len(known.loss), _COLUMNS)) if known is not None else ()
    rows = [
        [
            _one_by_one(known.names[k]),
            points(known.loss[k]),
            f"{points(known.interval[k, 0])} to {points(known.interval[k, 1])}",
        ]
        for k in shown
    ] if known is not None else []  # fmt: skip
    caption = (
        f"How much worse {visible(found.target)} is predicted on unseen rows once the values of a column are shuffled, "
        "in percentage points of the share explained; columns that rise and fall together are shuffled together"
    )
    if known is not None and not known.sure:
        caption += "; no column is surely needed by itself"
    if known is not None and (more := len(known.loss) - len(rows) + known.left_out):
        caption += f"; {count(more)} more are not listed"
    content = table(caption, ["Columns", "Points lost", "95% interval"], rows, numeric=(1, 2))
    return View("rests-on", "What the prediction rests on", numbers=content)


def _one_by_one(names: Sequence[str]) -> str:
    """Names with commas that no line begins with."""
    *some, last = map(name_cell, names)
    return " ".join([*(f"<span class=unbroken>{name},</span>" for name in some), last])


def _machines(found: Prediction) -> View:
    """What each machine reaches, and boosted trees beside them."""
    rows = [
        [name[:1].upper() + name[1:], percent(found.reached[kind]), "chosen: the simplest that none clearly beats"]
        if kind == found.machine else [name[:1].upper() + name[1:], percent(found.reached[kind]), ""]
        for kind in found.reached
        for name in [machine_name(kind)]
    ]  # fmt: skip
    if (peer := found.peer) is not None:
        value, low, high, than = peer.more.value, peer.more.low, peer.more.high, "less"
        if value < 0.0:
            value, low, high, than = -value, -high, -low, "more"
        ends = f"{points(low)} to {points(high)}"
        said = f"{counted_points(value)} {than} squared error on the same rows ({ends})"
        rows.append(["Boosted trees, as a yardstick", percent(peer.right if found.classes else peer.share), said])
    what = "share of rows called right" if found.classes else "share of the variance explained"
    content = table(
        f"By what {visible(found.target)} is predicted: {what}, on unseen rows of one split into folds",
        ["By", "Reaches", ""],
        rows,
        numeric=(1,),
    )
    return View("machines", "How simple a rule does it", numbers=content)


def _growth(found: Prediction) -> View:
    """What is left unexplained, over the rows learned from."""
    known = found.growth
    assert known is not None
    figure = complexity_curve_view(
        np.round(known.rows),
        None,
        1.0 - known.share,
        known.error,
        x_label="rows learned from",
        y_label="share not explained",
    )
    told = f"{_UNSEEN} A curve that still falls says that more rows would help; one that is flat, that they would not."
    if found.classes:
        told += " Not explained is what is left of the squared error of knowing the shares of classes alone."
    return View("growth", "What more rows would bring", figure, (), told)


def _coefficients(found: Prediction) -> View:
    """The line behind the prediction."""
    coefficients = found.coefficients
    order = np.argsort(-np.sqrt((coefficients**2).sum(axis=1)), kind="stable")[:_COLUMNS]
    heads = list(found.classes) if found.classes else [found.target]
    if len(heads) == 2:  # the second says the opposite of the first
        coefficients, heads = coefficients[:, 1:], heads[1:]
    full = float(np.abs(coefficients).max()) or 1.0
    digits = max(2, 1 - math.floor(math.log10(full)))  # two that tell, of the largest
    rows = [
        [name_cell(found.columns[j]), *(heat_cell(float(value), full, digits) for value in coefficients[j])]
        for j in order
    ]
    caption = f"How {visible(found.target)} is predicted from standardised columns: coefficients, the largest first"
    if len(coefficients) > _COLUMNS:
        caption += f"; {_COLUMNS} of {count(len(coefficients))}"
    columns = ["Column", *(visible(head) for head in heads)]
    content = table(caption, columns, rows, numeric=range(1, len(columns)))
    return View("coefficients", "The linear rule", numbers=content)


def _number_views(found: Prediction, page: Page) -> list[View]:
    truth, predicted, width = found.truth, found.predicted, found.half_width
    if not page.include_rows and (steps := stepped(truth)) is not None:
        # a row is moved along the diagonal: its value is coarse, and its error stays what it is
        truth = steps.spread()
        predicted = predicted + (truth - found.truth)
    # rows have the numbers of the whole table, by which a page selects them in all views
    rows = found.rows + 1 if len(found.rows) == len(truth) else None
    residuals = residual_view(predicted, found.truth - found.predicted, rows=rows)
    intervals = np.stack([predicted - width, predicted + width], axis=1) if np.isfinite(width) else None
    drawn = prediction_view(truth, predicted, intervals=intervals, rows=rows, r_squared=found.evidence.held_out)
    name = visible(found.target)
    first = View(
        "prediction", f"{name}: predicted and true", drawn, (),
        f"{_UNSEEN} The band holds nine new rows of ten.",
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
        title = f"How well {visible(found.target)} = {names[1]} is told from {names[0]}"
        drawn.append(View("roc", title, figure, (), f"{_UNSEEN} Guessing gives the diagonal."))
    if (said := found.calibration) is not None:
        figure = calibration_view(
            said.predicted, said.observed, said.counts, lower=said.lower, upper=said.upper, edges=said.edges,
            error=said.error, event=f"share of {names[1]}" if len(names) == 2 else "share called right",
        )  # fmt: skip
        what = f"to be {names[1]}" if len(names) == 2 else "to be of the class called"
        told = f"Of rows said {what} with a probability of 70%, about 70% should be, as on the diagonal."
        drawn.append(View("calibration", "Whether probabilities can be believed", figure, (), told))
    return drawn

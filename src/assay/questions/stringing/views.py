"""The table drawn again, reordered: like rows and like columns side by side."""

from __future__ import annotations

import numpy as np

from assay.asking.words import SURVIVED, chance
from assay.questions.stringing.answer import Axis, ReorderedAxis, ReorderedTable
from assay.views.axes.numbers import count, fraction, percent
from assay.views.columns.array_plot import CLIP, array_plot, standardised
from assay.views.html.elements import NAME, name_cell, table
from assay.views.html.escape import visible
from assay.views.html.view import View


def views(found: ReorderedTable) -> list[View]:
    """The rows and columns drawn, in an order in which neighbours are alike; a remark where chance does as well.

    Args:
        found: the numbers behind the findings.
    """
    if not any(axis.evidence.verdict in SURVIVED for axis in (found.by_row, found.by_column)):
        told = "The table is not drawn reordered: shuffled columns have orders as smooth."
        return [View("not-reordered", caption=told, about="table")]
    look, columns = found.look, found.columns
    shades = standardised(look.values[np.ix_(found.rows, columns)], look.centre[columns], look.scale[columns])
    drawn = array_plot(
        shades, [visible(look.columns[j], NAME) for j in columns], [look.kinds[j] for j in columns],
        look.rows[found.rows], told="standard deviations", parted=False,
    )  # fmt: skip
    return [
        View(
            "array-reordered", "The same table, reordered: like rows and like columns side by side", drawn,
            (("ramp", f"−{CLIP:g} to {CLIP:g} standard deviations from the mean"), ("gap", "missing")),
            _caption(found), _numbers(found), "table",
        )
    ]  # fmt: skip


def _caption(found: ReorderedTable) -> str:
    look = found.look
    some = len(found.columns) < len(look.columns)
    others = f" with {count(len(found.columns))} of {count(len(look.columns))} columns" if some else ""
    missing = bool(np.isnan(look.values[np.ix_(found.rows, found.columns)]).any())
    filled = " For the order only, a value of another row stands in for a missing one." if missing else ""
    return (
        f"The same {count(len(found.rows))} rows{others}, ordered so that neighbours are alike.{filled} Noise looks "
        "smooth too once it is ordered, so the same was done again and again with every column shuffled on its own. "
        f"{_smoothness('rows', found.by_row)} {_smoothness('columns', found.by_column)} Look for blocks (rows that "
        "share a pattern in several columns) and for colours that change slowly from top to bottom (a gradient that "
        "the order of the file hides)."
    )


def _smoothness(what: Axis, reordered: ReorderedAxis) -> str:
    if reordered.evidence.q is None:
        return f"Two {what} have one order only."
    here, usual = percent(reordered.evidence.statistic), percent(1.0 - float(reordered.chance.mean()))
    compared = f"Neighbouring {what} differ by {here} less than two at random, with shuffled columns by {usual} less"
    if reordered.evidence.verdict in SURVIVED:
        return f"{compared}: smoother than chance ({chance(reordered.evidence)})."
    return f"{compared}: no smoother than chance ({chance(reordered.evidence)}), so the order of {what} says nothing."


def _numbers(found: ReorderedTable) -> str:
    rows = [
        [name_cell(found.look.columns[j]), fraction(before), fraction(along)]
        for j, before, along in zip(found.columns, found.with_previous.tolist(), found.with_rows.tolist(), strict=True)
    ]
    heads = ["Column", "Correlation with the one before", "Correlation with the order of rows"]
    return table("The columns as reordered", heads, rows, numeric=(1, 2))

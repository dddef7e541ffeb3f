"""The first look, strung: the table drawn again with like rows and like columns side by side."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.models.embedding.stringing import Strung
from assay.report.component_views import View
from assay.report.elements import NAME, name_cell, table
from assay.report.escape import visible
from assay.report.numbers import count, counted, fraction, percent, probability
from assay.study.first_look import FirstLook
from assay.study.strung import CLEAR, DRAWS, StrungTable, strung_table
from assay.views.array_plot import CLIP, array_plot, standardised

Indices: TypeAlias = NDArray[np.intp]


def strung_view(look: FirstLook, rows: Indices, chosen: Indices) -> View | None:
    """The rows and columns drawn, in an order in which neighbours are alike; None where there is no order to see.

    Args:
        look: the sample.
        rows: positions in it that are drawn.
        chosen: numbers of the columns that are drawn.
    """
    found = strung_table(look, rows, chosen)
    if found is None:
        return None
    columns = found.columns
    shades = standardised(look.values[np.ix_(found.rows, columns)], look.centre[columns], look.scale[columns])
    drawn = array_plot(
        shades, [visible(look.columns[j], NAME) for j in columns], [look.kinds[j] for j in columns],
        look.rows[found.rows], told="standard deviations", parted=False,
    )  # fmt: skip
    return View(
        "array-strung", "The same table, strung: like rows and like columns side by side", drawn,
        (("ramp", f"−{CLIP:g} to {CLIP:g} standard deviations from the mean"), ("gap", "missing")),
        _caption(look, found, len(chosen)),
        _numbers(look, found),
    )  # fmt: skip


def _caption(look: FirstLook, found: StrungTable, drawn: int) -> str:
    left = drawn - len(found.columns)
    others = f", without {counted(left, 'column')} of other kinds or without spread" if left else ""
    missing = bool(np.isnan(look.values[np.ix_(found.rows, found.columns)]).any())
    filled = " A missing value counts as the mean, for the order only." if missing else ""
    return (
        f"The same {count(len(found.rows))} rows{others}, ordered so that neighbours are alike: rows along Fiedler's "
        f"vector of the graph of the 10 nearest, columns likewise, by their correlations.{filled} Noise looks smooth "
        f"too once it is ordered, so the same was done {DRAWS} times with every column shuffled on its own. "
        f"{_smoothness('rows', found.by_row)} {_smoothness('columns', found.by_column)} Look for blocks (rows that "
        "share a pattern in several columns) and for colours that change slowly from top to bottom (a gradient that "
        "the order of the file hides)."
    )


def _smoothness(what: str, strung: Strung) -> str:
    here, usual = percent(strung.roughness), percent(float(strung.chance.mean()))
    compared = f"Neighbouring {what} differ by {here} of what two at random do, shuffled ones by {usual}"
    if strung.p <= CLEAR:
        return f"{compared}: smoother than chance (p {probability(strung.p, bound=True)})."
    return f"{compared}: no smoother than chance (p {probability(strung.p)}), so the order of {what} says nothing."


def _numbers(look: FirstLook, found: StrungTable) -> str:
    rows = [
        [name_cell(look.columns[j]), fraction(before), fraction(along)]
        for j, before, along in zip(found.columns, found.with_previous.tolist(), found.with_rows.tolist(), strict=True)
    ]
    heads = ["Column", "Correlation with the one before", "Correlation with the order of rows"]
    return table("The columns as strung", heads, rows, numeric=(1, 2))

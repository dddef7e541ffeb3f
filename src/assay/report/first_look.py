"""The first look at the data: the table as a picture, standardised and as it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.asking.table import FirstLook
from assay.views.axes.drawn import COLUMNS, drawn_columns, drawn_rows
from assay.views.axes.numbers import MISSING, count, counted, fraction, number, percent, rounded
from assay.views.columns.array_plot import CLIP, array_plot, common_limit, on_one_scale, standardised
from assay.views.html.elements import NAME, name_cell, table
from assay.views.html.escape import escaped, visible
from assay.views.html.view import View

QUANTITIES = ("number", "count")
_APART = 10.0
_NAME = 40


def array_views(look: FirstLook, *, order: tuple[str, ...] = ()) -> list[View]:
    """The table as a picture, standardised, and its numbers on one scale where it has them.

    Args:
        look: a fair sample of the rows.
        order: columns to draw first; the others follow by kind.
    """
    if not look.columns or not len(look.rows):
        return []
    rows = drawn_rows(len(look.rows))
    chosen = drawn_columns(look.values, look.columns, look.kinds, order=order)
    views = [_standardised_view(look, rows, chosen, order)]
    quantities = np.array([j for j in chosen if look.kinds[j] in QUANTITIES], dtype=np.intp)
    if len(quantities) > 1:
        views.append(_raw_view(look, rows, quantities))
    return views


def _standardised_view(
    look: FirstLook, rows: NDArray[np.intp], chosen: NDArray[np.intp], order: tuple[str, ...]
) -> View:
    values = look.values[rows][:, chosen]
    shades = standardised(values, look.centre[chosen], look.scale[chosen])
    drawn = array_plot(
        shades, _names(look, chosen), [look.kinds[j] for j in chosen], look.rows[rows], told="standard deviations"
    )
    caption = f"{_scope(look, rows)} {_scope_of_columns(look, order)} {_missing_words(look, values, chosen)}"
    return View(
        "array", "The whole table, each column standardised", drawn,
        (("ramp", f"−{CLIP:g} to {CLIP:g} standard deviations from the mean"), ("gap", "missing")),
        f"{caption} Look for dark blocks (values missing together), single strong cells (outliers) and colours that "
        "change from top to bottom (a trend, or a file sorted by that column).",
        _array_table(look, values, chosen), "table",
    )  # fmt: skip


def _raw_view(look: FirstLook, rows: NDArray[np.intp], chosen: NDArray[np.intp]) -> View:
    values = look.values[rows][:, chosen]
    limit = common_limit(values)
    kinds = [look.kinds[j] for j in chosen]
    drawn = array_plot(on_one_scale(values, limit), _names(look, chosen), kinds, look.rows[rows])
    end = number(float(f"{limit:.1e}"))  # two digits: the limit itself may be a cell
    return View(
        "array-raw", "The numbers as they are, on one scale", drawn,
        (("ramp", f"−{end} or less to {end} or more"), ("gap", "missing")),
        f"The {len(chosen)} columns of numbers and counts, not standardised. {_scale_words(look)}",
        _scale_table(look, chosen), "table",
    )  # fmt: skip


def _names(look: FirstLook, chosen: NDArray[np.intp]) -> list[str]:
    return [visible(look.columns[j], NAME) for j in chosen]


def _scope(look: FirstLook, rows: NDArray[np.intp]) -> str:
    if len(rows) == look.total:
        return "The only row." if look.total == 1 else f"All {count(look.total)} rows, in their order."
    return f"{count(len(rows))} of {counted(look.total, 'row')}, drawn fairly, in their order."


def _scope_of_columns(look: FirstLook, order: tuple[str, ...]) -> str:
    d, named = len(look.columns), min(len(set(order)), COLUMNS)
    ordered = "those asked for first, the others by kind" if named else "ordered by kind"
    if d <= COLUMNS:
        return f"Every column is drawn, {ordered}."
    others = [j for j, name in enumerate(look.columns) if name not in order]
    lacking = min(int(np.isnan(look.values[:, others]).any(axis=0).sum()), (COLUMNS - named) // 2)
    which = f"{count(COLUMNS - named - lacking)} evenly spread over the others"
    if lacking:
        which = f"the {count(lacking)} that lack most values and {which}"
    elif not named:
        which = "evenly spread over the data"
    return f"{count(COLUMNS)} of {count(d)} columns are drawn, {ordered}: {which}."


def _missing_words(look: FirstLook, values: NDArray[np.float64], chosen: NDArray[np.intp]) -> str:
    lacking = np.isnan(values)
    if not lacking.any():
        return "No value drawn is missing."
    share = lacking.mean(axis=0)
    worst = [j for j in np.argsort(-share, kind="stable")[:3] if share[j]]
    most = ", ".join(f"{visible(look.columns[chosen[j]], _NAME)} ({percent(float(share[j]))})" for j in worst)
    empty = int(lacking.all(axis=1).sum())
    rows = f" {counted(empty, 'row')} drawn {'has' if empty == 1 else 'have'} no value at all." if empty else ""
    return f"Missing: {percent(float(lacking.mean()))} of the cells drawn, most in {most}.{rows}"


def _scale_words(look: FirstLook) -> str:
    varying = [j for j, kind in enumerate(look.kinds) if kind in QUANTITIES and 0 < look.scale[j] < np.inf]
    if len(varying) < 2:
        return ""
    small, large = min(varying, key=lambda j: look.scale[j]), max(varying, key=lambda j: look.scale[j])
    with np.errstate(over="ignore"):
        factor = float(look.scale[large] / look.scale[small])
    ends = (
        f"Standard deviations run from {number(float(look.scale[small]))} ({visible(look.columns[small], _NAME)}) "
        f"to {number(float(look.scale[large]))} ({visible(look.columns[large], _NAME)})"
    )
    if factor < _APART:
        return f"{ends}: the columns are of similar scale."
    much = rounded(float(f"{factor:.1e}"))
    return f"{ends}, {much} times as much: without standardising, columns of large scale would decide all."


def _scale_table(look: FirstLook, chosen: NDArray[np.intp]) -> str:
    rows = [
        [name_cell(look.columns[j]), number(float(look.centre[j])), number(float(look.scale[j]))]
        for j in sorted(chosen, key=lambda j: -np.nan_to_num(look.scale[j]))
    ]
    return table("The columns drawn, widest first", ["Column", "Mean", "Standard deviation"], rows, numeric=(1, 2))


def _array_table(look: FirstLook, values: NDArray[np.float64], chosen: NDArray[np.intp]) -> str:
    rows = []
    position = np.arange(len(values), dtype=np.float64)
    for j, x in zip(chosen, values.T, strict=True):
        there = np.isfinite(x)
        far = farther(look, j, x[there], CLIP)
        rows.append([
            name_cell(look.columns[j]), escaped(look.kinds[j]), percent(1 - float(there.mean())),
            MISSING if far is None else count(far), fraction(_correlation(position[there], x[there])),
        ])  # fmt: skip
    heads = ["Column", "Kind", "Missing", f"Farther than {CLIP:g}", "Correlation with the order"]
    return table("The columns drawn", heads, rows, numeric=(2, 3, 4))


def farther(look: FirstLook, j: int, x: NDArray[np.float64], reach: float) -> int | None:
    """How many values lie farther from the mean than so many standard deviations; None where there is no such scale.

    Args:
        look: the sample, for the mean and the standard deviation of the column.
        j: which column.
        x: its finite values.
        reach: how many standard deviations.
    """
    scale = look.scale[j]
    if not 0 < scale < np.inf:
        return None
    with np.errstate(over="ignore"):  # what overflows is far
        return int((np.abs(x - look.centre[j]) > reach * scale).sum())


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    if len(a) < 3 or b.min() == b.max():
        return None
    b = b / np.abs(b).max()
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size else None

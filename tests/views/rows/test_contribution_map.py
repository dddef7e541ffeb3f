"""The map of contributions: true numbers in their places, and words for the rows and columns that are left out."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import HoverTool
from bokeh.models.annotations.legends import Legend

from assay.errors import ParameterError
from assay.views.rows.contribution_map import COLUMNS, ROWS, contribution_map

ADDED = np.array([[9.0, 1.0, 0.0], [2.0, 2.0, 6.0]])
NAMES = ["Fresh", "Milk", "Frozen"]


def cells(plot):
    return plot.renderers[0].data_source.data


def told(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def shown(axis):
    return [axis.major_label_overrides[i].text for i in axis.ticker.ticks]


def test_each_place_holds_the_share_of_its_column_in_its_row():
    plot = contribution_map(ADDED, NAMES, rows=[86, 12], values=ADDED * 1000)
    table = {(r, c): v for r, c, v in zip(*(cells(plot)[k] for k in ("row", "column", "value")), strict=True)}
    assert table[86, "Fresh"] == 0.9 and table[12, "Frozen"] == 0.6 and table[86, "Frozen"] == 0.0
    held = {(r, c): v for r, c, v in zip(*(cells(plot)[k] for k in ("row", "column", "held")), strict=True)}
    assert held[86, "Fresh"] == "9000"
    assert shown(plot.yaxis[0]) == ["row 86", "row 12"]
    assert told(plot) == []


def test_columns_are_ordered_by_what_they_add_to_all_rows():
    assert shown(contribution_map(ADDED, NAMES).xaxis[0]) == ["Fresh", "Frozen", "Milk"]


def test_colour_follows_the_number_and_the_text_stays_readable_on_it():
    plot = contribution_map([[1.0, 0.0]], ["a", "b"])
    assert cells(plot)["said"] == ["100%", "0%"] and len(set(cells(plot)["ink"])) == 2
    palette = plot.renderers[0].glyph.fill_color.transform.palette
    light = [sum(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for colour in palette]
    assert light == sorted(light, reverse=True)  # so it can be read in print without colour


def test_signed_numbers_are_drawn_as_they_are_about_a_clear_middle():
    plot = contribution_map([[-4.0, 2.0]], ["a", "b"], shares=False)
    assert cells(plot)["value"].tolist() == [-4.0, 2.0] and cells(plot)["said"] == ["−4.0", "2.0"]
    mapper = plot.renderers[0].glyph.fill_color.transform
    assert (mapper.low, mapper.high) == (-4.0, 4.0)
    assert told(plot, "above") == ["−4.0", "−2.0", "0.0", "2.0", "4.0"]


def test_rows_and_columns_beyond_the_limits_are_said_in_words():
    wide = np.tile(np.r_[np.full(COLUMNS, 4.0), np.full(5, 4.0)], (ROWS + 7, 1))
    plot = contribution_map(wide, [f"c{j}" for j in range(COLUMNS + 5)])
    assert len(cells(plot)["row"]) == ROWS * COLUMNS
    assert told(plot) == [
        "40 of 47 flagged rows are shown, the first given. "
        "20 of 25 columns are shown; the others add up to at most 20% of any row."
    ]


def test_a_row_at_the_centre_adds_nothing_and_an_unknown_number_is_unknown():
    assert cells(contribution_map([[0.0, 0.0]], ["a", "b"]))["said"] == ["0%", "0%"]
    assert "unknown" in cells(contribution_map([[np.nan, 1.0]], ["a", "b"], shares=False))["said"]


def test_names_are_text_and_never_markup():
    hostile = "<b>$$y$$ @row"
    plot = contribution_map(ADDED, [hostile, "Milk", "Frozen"], names=[hostile, "two"])
    assert hostile in shown(plot.xaxis[0]) and shown(plot.yaxis[0])[0] == hostile
    assert hostile not in plot.select_one(HoverTool).tooltips


def test_what_does_not_fit_is_refused_with_the_rule():
    with pytest.raises(ParameterError, match=r"one line per flagged row, at least one, .* got shape \(0, 3\)"):
        contribution_map(np.empty((0, 3)), NAMES)
    with pytest.raises(ParameterError, match=r"got shape \(2, 3\) for 1 columns"):
        contribution_map(ADDED, ["a"])
    with pytest.raises(ParameterError, match="not negative; for signed contributions pass shares=False"):
        contribution_map(-ADDED, NAMES)
    with pytest.raises(ParameterError, match=r"values must have shape \(2, 3\)"):
        contribution_map(ADDED, NAMES, values=[[1.0]])

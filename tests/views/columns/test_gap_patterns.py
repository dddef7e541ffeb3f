"""Sets of columns that are missing together: a full cell for each that is, a bar for the rows."""

import numpy as np
import pytest

from assay.errors import ParameterError
from assay.views.columns.gap_patterns import COLUMNS, PATTERNS, gap_patterns


def test_each_set_is_a_line_of_cells_and_a_bar_of_its_rows():
    plot = gap_patterns([[True, False], [True, True]], [90, 45], ["age", "dose"])
    cells, bars = (plot.renderers[k].data_source.data for k in (0, 1))
    full = {
        (int(x), int(y))
        for x, y, strength in zip(cells["x"], cells["y"], cells["strength"], strict=True)
        if strength == 1
    }
    assert full == {(0, 0), (0, 1), (1, 1)}
    length = bars["right"] - bars["left"]
    assert length[0] == pytest.approx(2.0 * length[1])
    assert [told.strip() for told in bars["told"]] == ["90", "45"]


def test_a_line_is_as_high_however_few_there_are_and_words_stand_below():
    few, many = (gap_patterns(np.eye(s, 5, dtype=bool), np.ones(s), list("abcde")) for s in (1, 5))
    long = gap_patterns([[True] * 5], [1], ["a_name_of_18_marks"] * 5)
    assert few.height < many.height and long.height > few.height + 100
    assert few.yaxis.axis_label is None and "rows that lack" in few.xaxis.axis_label.text


def test_of_many_sets_and_columns_the_first_are_drawn():
    plot = gap_patterns(np.ones((50, 60), dtype=bool), np.arange(50, 0, -1), [f"c{j}" for j in range(60)])
    assert len(plot.renderers[0].data_source.data["x"]) == PATTERNS * COLUMNS


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="a line for each of 2 counts and a column for each of 1 names"):
        gap_patterns([[True, False]], [1, 2], ["a"])


def test_names_that_have_no_room_side_by_side_on_a_phone_stand_upright():
    wide = gap_patterns(np.eye(3, dtype=bool), np.ones(3), ["habitat", "bruises", "cap_shape"])
    short = gap_patterns(np.eye(2, dtype=bool), np.ones(2), ["age", "dose"])
    assert (wide.xaxis.major_label_orientation, short.xaxis.major_label_orientation) == ("vertical", "horizontal")

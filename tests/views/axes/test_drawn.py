"""Which rows and columns of a table are drawn: the user's first, then by kind; evenly where there are too many."""

import numpy as np
import pytest

from assay.errors import ParameterError
from assay.views.axes.drawn import drawn_columns, drawn_rows


def test_columns_go_by_kind_and_within_a_kind_as_in_the_data():
    kinds = ["text", "number", "strange", "count", "number", "constant"]
    drawn = drawn_columns(np.zeros((2, 6)), list("abcdef"), kinds)
    assert drawn.tolist() == [1, 4, 3, 0, 5, 2]


def test_the_order_of_the_user_comes_first_and_once():
    kinds = ["number"] * 4
    assert drawn_columns(np.zeros((1, 4)), list("abcd"), kinds, order=["d", "b", "d"]).tolist() == [3, 1, 0, 2]
    assert drawn_columns(np.zeros((1, 4)), list("abcd"), kinds, order=list("dcba"), most=2).tolist() == [3, 2]


def test_an_order_that_names_no_column_is_refused():
    with pytest.raises(ParameterError, match="there is no column 'z'"):
        drawn_columns([[1.0]], ["a"], ["number"], order=["z"])


def test_of_many_columns_those_that_lack_most_are_drawn_and_the_rest_is_spread_evenly():
    d, most = 1000, 100
    values = np.zeros((50, d))
    lacking = np.random.default_rng(1).choice(d, 80, replace=False)
    for rank, j in enumerate(lacking):
        values[: 1 + rank // 2, j] = np.nan
    drawn = drawn_columns(values, [str(j) for j in range(d)], ["number"] * d, most=most)
    assert len(set(drawn.tolist())) == most
    assert set(lacking[30:].tolist()) <= set(drawn.tolist())
    others = np.setdiff1d(drawn, lacking)
    assert np.diff(others).max() < 3 * d / len(others)
    assert np.all(np.diff(drawn) > 0)


@pytest.mark.parametrize(("m", "count"), [(1, 1), (400, 400), (401, 400), (12_345, 400)])
def test_rows_are_thinned_evenly(m, count):
    rows = drawn_rows(m)
    assert len(rows) == count
    assert np.all(np.diff(rows) > 0)
    assert rows[0] == 0 and rows[-1] == m - 1
    assert np.ptp(np.diff(rows)) <= 1 if count > 1 else True

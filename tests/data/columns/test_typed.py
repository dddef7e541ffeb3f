import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from assay.data.columns.typed import told_levels, typed_columns
from assay.errors import DataError

ROWS = {"text": ["x", None, "y"], "number": [1.5, 2.0, None], "yes": [True, False, True]}


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_every_kind_of_frame_are_told_apart(made):
    text, number, yes = typed_columns(made(ROWS))
    assert [column.number for column in (text, number, yes)] == [False, True, False]
    assert text.missing.tolist() == [False, True, False] and text.levels.tolist() == ["x", "y"]
    assert number.missing.tolist() == [False, False, True] and number.values[0] == 1.5
    assert yes.levels[yes.codes].tolist() == [True, False, True]


def test_numbers_are_levels_where_the_type_says_so_or_they_are_asked_for():
    frame = pd.DataFrame({"kind": pd.Categorical([3, 1, 3]), "x": [3, 1, 3]})
    assert [column.number for column in typed_columns(frame)] == [False, True]
    assert not any(column.number for column in typed_columns(frame, categories=True))


def test_lists_keep_numbers_beside_texts_and_yes_and_no_may_be_missing():
    assert [column.number for column in typed_columns([["a", 1], ["b", 2]])] == [False, True]
    (answer,) = typed_columns(np.array([True, None, False], dtype=object))
    assert not answer.number and answer.missing.tolist() == [False, True, False]


def test_texts_beside_numbers_in_one_column_are_refused():
    with pytest.raises(DataError, match="column 0 holds 'a' and 1.0; the levels of a column are all texts"):
        typed_columns(np.array(["a", 1.0], dtype=object))
    with pytest.raises(DataError, match="two dimensions, rows and columns; got 3"):
        typed_columns(np.zeros((2, 2, 2)))


def test_levels_are_told_without_needless_digits():
    assert told_levels(np.array([1.0, 0.1 + 0.2])) == ["1", "0.3"]

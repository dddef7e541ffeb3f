"""Tables of numbers as Arrow, as frames and as JSON."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from assay.data.as_frames import frame_of, json_of, records_of, table_of
from assay.errors import ParameterError


def test_what_is_not_known_is_missing_in_every_form():
    table = table_of({"x": np.array([1.0, np.nan]), "name": ["a", None]})
    assert table.column("x").null_count == table.column("name").null_count == 1
    assert json_of(table, 9)["columns"] == {"x": [1.0, None], "name": ["a", None]}


def test_infinity_is_no_json_number():
    assert json.dumps(json_of(table_of({"x": [np.inf, 1.0]}), 9), allow_nan=False)


def test_a_long_table_is_cut_in_json_and_says_so():
    found = json_of(table_of({"row": np.arange(10)}), 4)
    assert (found["rows"], found["of"], found["columns"]["row"]) == (4, 10, [0, 1, 2, 3])


def test_a_name_that_is_no_unicode_does_not_stop_a_table():
    assert table_of({"name": ["caf\udce9"]}).column("name").to_pylist() == ["caf\\udce9"]


def test_records_have_the_types_they_were_promised_whatever_is_in_them():
    kinds = {"p": float, "n": int, "name": str, "holds": bool}
    types = [pa.float64(), pa.int64(), pa.string(), pa.bool_()]
    for records in ([], [{}], [{"p": 0.5, "n": 3, "name": "a", "holds": True, "more": object()}]):
        assert records_of(records, kinds).schema.types == types


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_every_library_gets_its_own_frame_of_the_same_values(backend, kind):
    frame = frame_of(table_of({"a": [1, 2], "b": ["x", "y"]}), backend)
    assert isinstance(frame, kind)
    assert list(frame["a"].to_numpy()) == [1, 2] and list(map(str, frame["b"].to_numpy())) == ["x", "y"]


def test_a_library_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(ParameterError, match="one of pandas, polars, pyarrow, or None; got 'spark'"):
        frame_of(table_of({"a": [1]}), "spark")


def test_without_pandas_the_next_library_is_taken(monkeypatch):
    import assay.data.as_frames as module

    found = module.find_spec
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "pandas" else found(name))
    assert isinstance(frame_of(table_of({"a": [1]})), pl.DataFrame)
    with pytest.raises(ParameterError, match="pandas is not installed"):
        frame_of(table_of({"a": [1]}), "pandas")

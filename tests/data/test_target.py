import numpy as np
import pyarrow as pa
import pytest

from assay.data.columns.encoded import encode
from assay.data.columns.target import taken_apart, target_name
from assay.data.field import Declared
from assay.data.read import read
from assay.data.source import ArrowSource
from assay.errors import DataError, ParameterError


def test_the_other_columns_keep_their_values_and_kinds_and_the_target_its_own(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,kind,b\n1.5,x,2\n2.5,y,3\n3.5,x,4\n")
    others, y = taken_apart(read(path), "kind")
    assert [f.name for f in others.schema] == ["a", "b"]
    assert others.to_arrow().column("a").to_pylist() == [1.5, 2.5, 3.5]
    assert y.tolist() == ["x", "y", "x"]


def test_a_missing_target_is_refused_with_its_line_and_the_remedy(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,\n5,6\n")
    with pytest.raises(DataError, match=r"'b' is missing in 1 of 3 rows, first in line 3: leave these rows out"):
        taken_apart(read(path), "b")


def test_an_unknown_target_is_refused_with_the_names_there_are():
    with pytest.raises(ParameterError, match=r"no column 'z' to be predicted; there are x, y"):
        taken_apart(ArrowSource(pa.table({"x": [1.0], "y": [2.0]})), "z")


def test_the_role_names_the_target_where_the_user_does_not():
    table = pa.table({"x": [1.0, 2.0], "y": [2, 4]})
    source = ArrowSource(table, declared=Declared(roles={"y": "target"}))
    assert target_name(source, None) == "y"
    assert taken_apart(source, "y")[1].dtype == np.float64
    with pytest.raises(ParameterError, match=r"0 columns in the role 'target': name the column"):
        target_name(ArrowSource(table), None)


def test_an_encoded_source_that_left_the_target_out_stays_as_it_is():
    source = ArrowSource(pa.table({"x": [1.0, 2.5, 4.0], "price": [3.0, 5.0, 9.0]}))
    encoded = encode(source, drop=["price"])
    others, y = taken_apart(encoded, "price")
    assert others is encoded
    assert y.tolist() == [3.0, 5.0, 9.0]
    with pytest.raises(ParameterError, match="no column 'cost' to be predicted"):
        taken_apart(encoded, "cost")

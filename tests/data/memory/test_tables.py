"""Tables in memory: arrays, sparse matrices, frames; without copies where that can be, with nothing lost."""

import datetime as dt
import decimal
import subprocess
import sys
import tracemalloc

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from assay.data.field import Declared
from assay.data.fitting import column_of, fitted
from assay.data.memory.arrays import ArraySource, SideBySide
from assay.data.memory.sparse import SparseSource
from assay.data.names import unique_names
from assay.data.read import read
from assay.errors import DataError


def told(found):
    list(found.blocks())
    return [(problem.what, problem.column, problem.count, problem.examples) for problem in found.problems]


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int16, np.uint64, np.dtype(">f8"), np.dtype(">i4")]),
        st.tuples(st.integers(1, 7), st.integers(1, 4)),
    )
)
def test_an_array_comes_out_as_it_went_in(X):
    for layout in (X, np.asfortranarray(X), X[::-1], np.repeat(X, 2, axis=1)[:, ::2]):
        source = read(layout)
        wanted = layout.astype(np.float64)
        np.testing.assert_array_equal(np.concatenate(list(source.float_blocks())), wanted)
        columns = [source.to_arrow().column(j).cast(pa.float64(), safe=False).to_numpy() for j in range(X.shape[1])]
        np.testing.assert_array_equal(np.column_stack(columns), wanted)


def test_float_blocks_of_an_array_are_views_of_it():
    X = np.random.default_rng(0).normal(size=(100_000, 3))
    assert all(np.shares_memory(block, X) for block in read(X).float_blocks())
    columns = np.asfortranarray(X)
    block = next(read(columns).blocks())
    assert block.column(0).buffers()[1].address == columns.__array_interface__["data"][0]


def test_a_mapped_array_is_read_block_by_block(tmp_path):
    X = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype="f8", shape=(500_000, 8))
    X[:] = 1.0
    tracemalloc.start()
    try:
        rows = sum(block.num_rows for block in read(X).blocks())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows == 500_000
    assert peak < 0.6 * X.nbytes


def test_missing_values_of_arrays_become_arrows():
    masked = np.ma.masked_array([[1.0, 2.0], [np.nan, 4.0]], mask=[[False, True], [False, False]])
    assert read(masked).to_arrow().to_pydict() == {"column 1": [1.0, None], "column 2": [None, 4.0]}
    np.testing.assert_array_equal(next(read(masked).float_blocks()), [[1.0, np.nan], [np.nan, 4.0]])
    when = np.array(["2020-01-01", "NaT"], dtype="M8[D]")
    assert read(when).to_arrow().to_pydict() == {"column 1": [dt.date(2020, 1, 1), None]}
    whole = np.ma.masked_array([1, 2], mask=[True, False])
    assert read(whole).to_arrow().to_pydict() == {"column 1": [None, 2]}


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (np.array([1.5, 2.5], dtype=np.float16), [1.5, 2.5]),
        (np.array([True, False]), [True, False]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([b"a", b"b"]), ["a", "b"]),
        (np.array(["2020-02"], dtype="M8[M]"), [dt.date(2020, 2, 1)]),
        (np.array(["2020-02-01T03"], dtype="M8[h]"), [dt.datetime(2020, 2, 1, 3)]),
        (np.array([90], dtype="m8[m]"), [dt.timedelta(minutes=90)]),
        (np.array([1, "x", None], dtype=object), ["1", "x", None]),
        (np.array([1, None, 2.5], dtype=object), [1.0, None, 2.5]),
        (np.zeros((0,)), []),
    ],
)
def test_arrays_of_every_type_become_one_column(array, values):
    assert read(array).to_arrow().column(0).to_pylist() == values


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((2, 2, 2)), "a table has two dimensions, rows and columns; got 3; reshape the array"),
        (np.array(5), "a table has two dimensions, rows and columns; got 0"),
        (np.array([1j]), "complex numbers; give real and imaginary parts as two columns"),
        (np.array([b"\xff"]), "bytes that are not UTF-8 text"),
    ],
)
def test_arrays_that_are_no_table_are_refused(array, message):
    with pytest.raises(DataError, match=message):
        read(array).to_arrow()


def test_reading_an_array_does_not_import_pandas():
    code = (
        "import sys, numpy as np; from assay.data.read import read; list(read(np.ones((3, 2))).blocks()); "
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_matrix])
def test_sparse_matrices_are_dense_one_block_at_a_time(form):
    X = sp.random(400, 30, density=0.1, random_state=0, format="csr")
    source = read(form(X))
    assert isinstance(source, SparseSource)
    np.testing.assert_array_equal(np.concatenate(list(source.float_blocks())), X.toarray())
    hidden = read(form(X), sensitive=["column 2"])
    np.testing.assert_array_equal(np.concatenate(list(hidden.float_blocks())), np.delete(X.toarray(), 1, axis=1))


def test_a_very_wide_sparse_matrix_is_read_in_bounded_memory():
    X = sp.coo_array((np.ones(300), (np.arange(300), np.arange(300) * 600)), shape=(300, 200_000))
    source = read(X)
    biggest = max(block.nbytes for block in source.float_blocks())
    assert biggest <= 1 << 27
    assert source.rows_read == 300


def test_sources_side_by_side_keep_their_rows_together():
    X, y = np.arange(300_000.0).reshape(-1, 3), np.arange(100_000.0)
    both = SideBySide([ArraySource(X), ArraySource(y, names=["y"])], "both", Declared())
    np.testing.assert_array_equal(np.concatenate(list(both.float_blocks())), np.column_stack([X, y]))


def test_every_pandas_column_becomes_arrow():
    frame = pd.DataFrame(
        {
            "ordered": pd.Categorical(["lo", "hi"], categories=["lo", "hi"], ordered=True),
            "text": ["x", None],
            "nullable": pd.array([1, None], dtype="Int64"),
            "time": pd.to_datetime(["2020-01-01", None]),
            "period": pd.period_range("2020-01-01", periods=2, freq="D"),
            "interval": pd.interval_range(0, 2),
            "cut": pd.cut([1, 2], [0, 1, 2]),
            "sparse": pd.arrays.SparseArray([1.0, 0.0]),
            "nan": [1.0, np.nan],
            "object": pd.Series([decimal.Decimal("1.5"), None], dtype=object),
            "arrow": pd.Series([1, 2], dtype="int64[pyarrow]"),
        }
    )
    source = read(frame)
    table = source.to_arrow()
    assert table.column("ordered").type.ordered
    assert {field.name: field for field in source.schema}["ordered"].levels == ("lo", "hi")
    assert table.column("cut").type.ordered
    assert table.drop_columns(["object"]).to_pydict() == {
        "ordered": ["lo", "hi"],
        "text": ["x", None],
        "nullable": [1, None],
        "time": [dt.datetime(2020, 1, 1), None],
        "period": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)],
        "interval": ["(0, 1]", "(1, 2]"],
        "cut": ["(0, 1]", "(1, 2]"],
        "sparse": [1.0, 0.0],
        "nan": [1.0, None],
        "arrow": [1, 2],
    }
    assert table.column("object").to_pylist() == [decimal.Decimal("1.5"), None]


def test_a_named_index_is_a_column_and_another_is_left_out_with_a_note():
    frame = pd.DataFrame({"x": [1, 2]}, index=pd.Index(["a", "b"], name="who"))
    source = read(frame)
    assert source.to_arrow().to_pydict() == {"who": ["a", "b"], "x": [1, 2]}
    assert source.notes == ("The index of the frame was read as column 'who'.",)
    unnamed = read(frame.rename_axis(None))
    assert unnamed.to_arrow().to_pydict() == {"x": [1, 2]}
    assert "has no name and was left out" in unnamed.notes[0]
    assert read(frame.reset_index(drop=True)).notes == ()
    several = read(frame.set_index("x", append=True))
    assert several.to_arrow().to_pydict() == {"who": ["a", "b"], "x": [1, 2]}


def test_names_of_frames_become_unique_text():
    source = read(pd.DataFrame([[1, 2, 3, 4]], columns=[0, "x", "x", None]))
    assert source.to_arrow().column_names == ["0", "x", "x (2)", "column 4"]
    assert "0 to '0', 'x' to 'x (2)'" in source.notes[0]
    levels = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    assert read(levels).to_arrow().column_names == ["a.b", "a.c"]


def test_contradictions_in_objects_are_counted_in_each_pass():
    frame = pd.DataFrame({"x": pd.Series([*range(40), "many", "NA"], dtype=object)})
    source = read(frame)
    for _ in range(2):
        assert told(source) == [("values are not numbers and count as missing", "x", 1, (("row 41", "many"),))]
    assert source.to_arrow().column("x").to_pylist()[-2:] == [None, None]


def test_pandas_intervals_go_by_their_names_and_missing_ones_have_none():
    frame = pd.DataFrame({"x": pd.Series(pd.interval_range(0.5, 3.5)).where([True, False, True])})
    for data in (frame, frame.iloc[1:2], frame.iloc[:0]):
        found = read(data).to_arrow().column("x")
        assert pa.types.is_string(found.type)
        assert found.to_pylist() == [None if i == 1 else f"({i}.5, {i + 1}.5]" for i in data.index]


def test_a_pandas_column_is_not_copied():
    frame = pd.DataFrame({"x": np.arange(1000.0)})
    block = next(read(frame).blocks())
    assert block.column("x").buffers()[1].address == frame["x"].to_numpy().__array_interface__["data"][0]


def test_polars_frames_keep_their_types_and_lazy_ones_come_in_batches():
    frame = pl.DataFrame(
        {"e": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])), "l": [[1], [2]], "t": [dt.date(2020, 1, 1)] * 2}
    )
    for data in (frame, frame.lazy(), nw.from_native(frame), nw.from_native(frame.lazy())):
        found = read(data).to_arrow()
        assert found.to_pydict() == frame.to_dict(as_series=False)
        assert found.column("e").type.ordered
    lazy = read(pl.LazyFrame({"x": range(200_000)}).with_columns(y=pl.col("x") * 2))
    blocks = list(lazy.blocks())
    assert len(blocks) > 2
    assert sum(block.num_rows for block in blocks) == 200_000
    assert read(frame["l"]).to_arrow().column_names == ["l"]
    with pytest.raises(DataError, match="column 'o': it holds Python objects"):
        read(pl.DataFrame({"o": pl.Series([object()], dtype=pl.Object)}))


def test_whatever_hands_over_arrow_streams_is_read_again_and_again():
    class Relation:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    source = read(Relation(pl.DataFrame({"s": ["a", "b"], "x": [1, 2]})), sensitive=["x"])
    for _ in range(2):
        assert source.to_arrow().to_pydict() == {"s": ["a", "b"]}
    assert source.arrow_schema.field("s").type == pa.large_string()


def test_datasets_are_scanned_without_sensitive_columns(tmp_path):
    pq.write_table(pa.table({"x": [1.0, 2.0], "who": ["a", "b"]}), tmp_path / "t.parquet")
    source = read(pa_dataset.dataset(tmp_path), sensitive=["who"])
    assert source.to_arrow().to_pydict() == {"x": [1.0, 2.0]}


def test_columns_rows_and_records_are_tables():
    assert read({"a": [1, 2], "b": ["x", None]}).to_arrow().to_pydict() == {"a": [1, 2], "b": ["x", None]}
    assert read([[1, "x"], [2, "y"]]).to_arrow().to_pydict() == {"column 1": [1, 2], "column 2": ["x", "y"]}
    assert read([{"a": 1}, {"b": 2}]).to_arrow().to_pydict() == {"a": [1, None], "b": [None, 2]}
    assert read([1, 2]).to_arrow().to_pydict() == {"column 1": [1, 2]}
    with pytest.raises(DataError, match="row 2 has 1 values where the first has 2"):
        read([[1, 2], [3]])
    with pytest.raises(DataError, match="a mapping is read as columns by name; 'b' is not a list of values"):
        read({"a": [1], "b": "x"})
    with pytest.raises(DataError, match="columns of a table are equally long; got 'a' 1, 'b' 2"):
        read({"a": [1], "b": [1, 2]})


@given(st.lists(st.sampled_from(["x", "x (2)", "", " ", "column 2", None, 3, "y"]), max_size=12))
def test_unique_names_are_unique_and_keep_what_is_good(names):
    result, note = unique_names(names)
    assert len(set(result)) == len(result) == len(names)
    assert all(name.strip() for name in result)
    for i, name in enumerate(names):
        if isinstance(name, str) and name.strip() and name not in names[:i]:
            assert result[i] == name
    assert (note is None) == (result == names)


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False), st.text(max_size=4), st.booleans()), max_size=30))
def test_every_value_of_a_mixed_column_is_kept_or_told(values):
    column, lost = column_of(values)
    assert len(column) == len(values)
    for i, value in enumerate(values):
        missing = value is None or (isinstance(value, str) and column.type != pa.string() and not value.strip("-.? "))
        if not missing and i not in lost and value not in ("NA", "nan", "na"):
            assert column[i].is_valid


@given(st.lists(st.one_of(st.none(), st.integers(-9, 9).map(str), st.sampled_from(["x", "1.5", "inf"])), max_size=20))
def test_fitting_tells_exactly_the_rows_that_are_lost(values):
    column, lost = fitted(pa.array(values, pa.string()), pa.float64())
    wrong = [i for i, value in enumerate(values) if value == "x"]
    assert [i for i in lost if values[i] != "inf"] == wrong
    assert all(column[i].as_py() == float(v) for i, v in enumerate(values) if v not in (None, "x", "inf"))


def test_a_number_is_not_taken_for_a_time_nor_a_time_for_a_number():
    assert fitted(pa.array([5]), pa.timestamp("us"))[1].tolist() == [0]
    assert fitted(pa.array([dt.datetime(2020, 1, 1)]), pa.float64())[1].tolist() == [0]

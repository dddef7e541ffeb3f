"""Parquet, Arrow and Feather files: only what is needed is read, in blocks, and damage is told in one sentence."""

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest

from assay.data.formats import arrow_files
from assay.data.read import read
from assay.errors import DataError


def numbers(n, d, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, pa.table({f"x{j}": X[:, j] for j in range(d)})


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    path = tmp_path_factory.mktemp("big") / "big.parquet"
    X, table = numbers(400_000, 8)
    pq.write_table(table, path, row_group_size=20_000)
    return X, path


def test_rows_are_known_from_the_footer_and_nothing_else_is_read(big, monkeypatch):
    _, path = big
    size = path.stat().st_size
    read_bytes = []

    class Counted:
        closed = False

        def __init__(self, handle):
            self.handle = handle
            self.seek, self.tell, self.close = handle.seek, handle.tell, handle.close

        def read(self, count):
            text = self.handle.read(count)
            read_bytes.append(len(text))
            return text

    monkeypatch.setattr(arrow_files, "arrow_input", lambda place: pa.PythonFile(Counted(place.open()), mode="r"))
    source = read(path)
    assert source.rows == 400_000
    assert 0 < sum(read_bytes) < 0.02 * size


def test_a_pass_holds_a_few_blocks_of_a_file_of_many_row_groups(big):
    X, path = big
    source = read(path)
    whole = X.nbytes
    peaks = []
    start = pa.total_allocated_bytes()
    rows = 0
    for block in source.blocks():
        rows += block.num_rows
        assert block.num_rows <= 65_536
        peaks.append(pa.total_allocated_bytes() - start)
    assert rows == 400_000
    assert max(peaks) < 0.5 * whole
    assert source.fraction_read == 1.0


def test_blocks_of_a_wide_file_are_short(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.memory.arrays._BLOCK_VALUES", 10_000)
    _, table = numbers(2_500, 10)
    pq.write_table(table, tmp_path / "wide.parquet")
    assert [block.num_rows for block in read(tmp_path / "wide.parquet").blocks()] == [1_000, 1_000, 500]


def test_numbers_come_out_as_they_went_in(big):
    X, path = big
    source = read(path)
    np.testing.assert_array_equal(np.concatenate(list(source.float_blocks())), X)


def test_pandas_and_polars_read_the_same(tmp_path):
    table = pa.table(
        {
            "when": pa.array([0, None, 86_400_000_000], pa.timestamp("us")),
            "group": pa.array(["b", "a", None]).dictionary_encode(),
            "n": pa.array([1, 2, None], pa.int32()),
            "list": [[1], [], None],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet").to_arrow()
    assert found.to_pylist() == pl.read_parquet(tmp_path / "t.parquet").to_dicts()
    assert found.column("when").to_pandas().equals(pd.read_parquet(tmp_path / "t.parquet")["when"])
    assert {field.name: field.kind for field in read(tmp_path / "t.parquet").schema}["list"] == "other"


def test_sensitive_columns_are_not_decoded(tmp_path):
    # the column's pages are destroyed: reading them would fail
    path = tmp_path / "t.parquet"
    table = pa.table({"x": np.arange(1000.0), "secret": [f"planted-{i:04}" for i in range(1000)]})
    pq.write_table(table, path, compression="none", use_dictionary=False)
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    content = bytearray(path.read_bytes())
    first = column.data_page_offset
    content[first : first + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(content)
    assert read(path, sensitive=["secret"]).to_arrow().column_names == ["x"]
    with pytest.raises(DataError, match=r"cannot read .*t\.parquet: it is damaged in row group 1, rows 1 to 1,000"):
        read(path).to_arrow()


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "stream"])
def test_repeated_names_are_changed_and_all_of_a_sensitive_name_dropped(tmp_path, name):
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0]), pa.array([3.0])], names=["x", "y", "x"])
    path = tmp_path / name
    if name == "t.parquet":
        pq.write_table(table, path)
    else:
        with (pa.ipc.new_stream if name == "stream" else pa.ipc.new_file)(path, table.schema) as writer:
            writer.write_table(table)
    source = read(path)
    assert source.to_arrow().to_pydict() == {"x": [1.0], "y": [2.0], "x (2)": [3.0]}
    assert "'x' to 'x (2)'" in source.notes[0]
    assert read(path, sensitive=["x"]).to_arrow().to_pydict() == {"y": [2.0]}
    assert read(path, sensitive=["x (2)"]).to_arrow().to_pydict() == {"x": [1.0], "y": [2.0]}


def test_units_and_roles_of_arrow_fields_pass_through(tmp_path):
    field = pa.field("x", pa.float64(), metadata={"unit": "kg", "role": "target"})
    pq.write_table(pa.table([[1.0]], schema=pa.schema([field])), tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet").arrow_schema.field("x").metadata
    assert found[b"unit"] == b"kg"
    assert found[b"role"] == b"target"


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_feather_files_are_read_in_blocks_and_tell_their_rows(tmp_path, compression):
    X, table = numbers(150_000, 3)
    pa_feather.write_feather(table, str(tmp_path / "t.feather"), compression=compression)
    source = read(tmp_path / "t.feather")
    assert source.rows == (150_000 if hasattr(pa.ipc.RecordBatchFileReader, "count_rows") else None)  # pyarrow 26
    np.testing.assert_array_equal(np.concatenate(list(source.float_blocks())), X)


def test_a_pass_over_an_arrow_file_holds_a_batch_or_two(tmp_path):
    _, table = numbers(150_000, 3)
    pa_feather.write_feather(table, str(tmp_path / "t.arrow"), compression="uncompressed", chunksize=10_000)
    source = read(tmp_path / "t.arrow")
    start = pa.total_allocated_bytes()
    peak = max(pa.total_allocated_bytes() - start for _ in source.blocks())
    assert source.rows_read == 150_000
    assert peak < 0.25 * table.nbytes


def test_batches_are_counted_by_the_column_that_is_quickest_to_read(tmp_path, monkeypatch):
    asked = []
    schema = pa.schema([("text", pa.string()), ("x", pa.float64()), ("yes", pa.bool_()), ("none", pa.null())])
    with pa.ipc.new_file(tmp_path / "t.arrow", schema) as writer:
        writer.write_table(pa.table({"text": ["a"], "x": [1.0], "yes": [True], "none": [None]}, schema=schema))
    monkeypatch.setattr(arrow_files, "_batch_rows", lambda place, columns: asked.append(columns) or [1])
    assert read(tmp_path / "t.arrow").to_arrow().num_rows == 1
    assert asked == [[3, 2, 1, 0]]


def test_feather_of_the_first_version_is_read_whole_and_says_so(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pa_feather.write_feather(pa.table({"x": [1, 2]}), str(tmp_path / "t.feather"), version=1)
    source = read(tmp_path / "t.feather")
    assert source.to_arrow().to_pydict() == {"x": [1, 2]}
    assert "read whole" in source.notes[0]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "stream"])
@pytest.mark.parametrize("kept", [0.3, 0.7, 0.98])
def test_a_file_cut_short_is_refused_in_one_sentence(tmp_path, name, kept):
    _, table = numbers(30_000, 2)
    path = tmp_path / name
    if name == "t.parquet":
        pq.write_table(table, path)
    else:
        with (pa.ipc.new_stream if name == "stream" else pa.ipc.new_file)(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=10_000)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(DataError, match="it is damaged") as refusal:
        read(path).to_arrow()
    assert "\n" not in str(refusal.value)


def test_every_part_of_a_pass_can_be_left_early(big):
    _, path = big
    source = read(path)
    first = next(iter(source.blocks()))
    again = list(itertools.islice(source.blocks(), 2))
    assert first.equals(again[0])


def test_a_table_without_rows_has_columns_and_no_blocks(tmp_path):
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "t.parquet")
    source = read(tmp_path / "t.parquet")
    assert source.rows == 0
    assert source.numeric_columns == ("x",)
    assert list(source.blocks()) == []

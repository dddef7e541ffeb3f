"""No Arrow data crash the process: offsets, indices and text are looked at before any compiled function uses them."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pq
import pytest
from tests.attacked import attacked

from assay.data.arrow_validation import refuse_unsound, sound
from assay.data.columns.encoded import encode
from assay.data.read import read
from assay.errors import DataError, UnreadableError

# each makes columns that Arrow itself hands out unseen, and gives them in every way there is
ATTACKS = r"""
import sys
import numpy as np, pandas as pd, pyarrow as pa, pyarrow.dataset as ds, pyarrow.feather as feather
from assay.data.read import read
import assay

N = 1000
numbers, zeros = np.arange(N, dtype=np.int32), np.zeros(N, np.int8)
def at(place, value, values=None):
    changed = np.arange(N + 1, dtype=np.int32) if values is None else values.copy()
    changed[place] = value
    return pa.py_buffer(changed)
def raw(type_, *buffers, children=None):
    return pa.Array.from_buffers(type_, N, [None, *buffers], children=children)
def coded(value):
    codes = numbers % 3
    codes[5] = value
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(["a", "b", "c"]), safe=False)
text = pa.py_buffer(b"a" * N)
far = raw(pa.string(), at(500, 2**30), text)
views = np.zeros(N, dtype=[("length", "i4"), ("start", "S4"), ("buffer", "i4"), ("offset", "i4")])
views["length"], views["buffer"], views["offset"] = 100, 7, 2**30
union = pa.dense_union([pa.field("a", pa.int32())])
pairs = pa.StructArray.from_arrays([pa.array(["k"] * N), pa.array(numbers)], ["key", "value"])
COLUMNS = {
    "an offset far out": far,
    "a negative offset": raw(pa.string(), at(500, -(2**30)), text),
    "bad text": raw(pa.string(), at(0, 0), pa.py_buffer(b"\xff" * N)),
    "a code far out": coded(10**8),
    "a code one past the end": coded(3),
    "a negative code": coded(-(10**8)),
    "a list": raw(pa.list_(pa.int32()), at(500, 2**30), children=[pa.array(numbers)]),
    "a struct": pa.StructArray.from_arrays([far], ["inner"]),
    "codes in a list": pa.ListArray.from_arrays(pa.array(np.arange(N + 1, dtype=np.int32)), coded(10**8)),
    "a map": raw(pa.map_(pa.string(), pa.int32()), at(500, 2**30), children=[pairs]),
    "run ends that fall": raw(pa.run_end_encoded(pa.int32(), pa.int64()),
                              children=[pa.array([10, 5, N], pa.int32()), pa.array([1, 2, 3])]),
    "a type of a union": raw(union, at(3, 77, zeros), pa.py_buffer(numbers), children=[pa.array(numbers)]),
    "a place in a union": raw(union, pa.py_buffer(zeros), at(3, 2**30, numbers), children=[pa.array(numbers)]),
    "a text view": raw(pa.string_view(), pa.py_buffer(views.tobytes()), text),
    "an extension": pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "t", "v"), far),
    "a decimal too long": raw(pa.decimal128(5, 2), pa.py_buffer(np.full(2 * N, 2**62))),
}

def batch_of(column):
    return pa.record_batch([pa.array(np.arange(N, dtype=float)), column], names=["x", "y"])
def written(path, batch, opened):
    with opened(path, batch.schema) as writer:
        writer.write_batch(batch)
    return path
def used(data):
    source = read(data)
    source.schema
    for block in source.blocks():
        block.to_pylist()
class Stream:
    def __init__(self, table):
        self.__arrow_c_stream__ = table.__arrow_c_stream__
"""


def test_no_column_of_a_file_a_stream_or_a_table_crashes(tmp_path):
    told = attacked(
        ATTACKS
        + r"""
folder = sys.argv[1]
for name, column in COLUMNS.items():
    batch = batch_of(column)
    refused(lambda: used(written(f"{folder}/t.arrow", batch, pa.ipc.new_file)))
    refused(lambda: used(written(f"{folder}/t.arrows", batch, pa.ipc.new_stream)))
    refused(lambda: used(pa.Table.from_batches([batch])))
    refused(lambda: used(pa.RecordBatchReader.from_batches(batch.schema, [batch])))
""",
        tmp_path,
    )
    assert len(told) == 64
    for file, stream, table, reader in zip(*[iter(told)] * 4, strict=True):
        for line, kind in (file, "t.arrow"), (stream, "t.arrows"):
            assert line.startswith("UnreadableError: cannot read ")
            assert f"{kind}: it is damaged in batch 1, rows 1 to 1,000 (column 'y': " in line
        assert table.startswith("UnreadableError: cannot read data: it is damaged (column 'y': ")
        assert reader.startswith("UnreadableError: cannot read column 'y' from row 1 on: it is damaged (")


def test_nor_does_one_that_comes_another_way(tmp_path):
    told = attacked(
        ATTACKS
        + r"""
import warnings
warnings.simplefilter("ignore")
folder = sys.argv[1]
table = pa.Table.from_batches([batch_of(far)])
refused(lambda: used(ds.dataset(written(f"{folder}/d.arrow", table.to_batches()[0], pa.ipc.new_file), format="arrow")))
refused(lambda: used(Stream(table)))
refused(lambda: used(far))
refused(lambda: used({"y": far}))
refused(lambda: used(iter([table])))
refused(lambda: used(pd.DataFrame({"y": pd.arrays.ArrowExtensionArray(pa.chunked_array([far]))})))
refused(lambda: assay.PCA().fit(table))
refused(lambda: assay.Moments.of(table))
feather.write_feather(pa.table({"s": ["abc"] * N}), f"{folder}/v1.feather", version=1)
content = open(f"{folder}/v1.feather", "rb").read()
good = np.arange(N + 1, dtype=np.int32) * 3
bad = good.copy()
bad[500] = 2**30
open(f"{folder}/v1.feather", "wb").write(content.replace(good.tobytes(), bad.tobytes()))
refused(lambda: used(f"{folder}/v1.feather"))
""",
        tmp_path,
    )
    assert len(told) == 9
    for line in told:
        assert line.startswith("UnreadableError: cannot read ")
        assert "it is damaged (" in line
        assert "offset for slot 500 out of bounds" in line


def test_a_file_that_is_cut_short_during_a_pass_is_refused(tmp_path):
    table = pa.table({name: np.arange(200_000.0) for name in "abcd"})
    script = """
        import os, sys
        from assay.data.read import read
        def cut():
            blocks = read(sys.argv[1]).blocks()
            kept = [next(blocks)]
            os.truncate(sys.argv[1], os.path.getsize(sys.argv[1]) * 11 // 20)
            for block in blocks:
                kept.append(block)
            sum(block.column(0).to_numpy().sum() for block in kept)
        refused(cut)
    """
    for name, opened in (("t.arrow", pa.ipc.new_file), ("t.arrows", pa.ipc.new_stream)):
        with opened(tmp_path / name, table.schema) as writer:
            writer.write_table(table, max_chunksize=20_000)
        (told,) = attacked(script, tmp_path / name)
        assert told.startswith(f"DataError: cannot read {tmp_path / name}: it changed while it was being read (6,4")


def batches(damaged):
    """Four batches, of which one has text that is none."""
    ends = pa.py_buffer(np.arange(101, dtype=np.int32))
    for i in range(4):
        text = pa.py_buffer((b"\xff" if i == damaged else b"a") * 100)
        yield pa.record_batch(
            {"x": np.arange(100.0) + 100 * i, "s": pa.Array.from_buffers(pa.string(), 100, [None, ends, text])}
        )


@pytest.mark.parametrize("opened", [pa.ipc.new_file, pa.ipc.new_stream])
def test_a_damaged_batch_is_left_out_and_counted_and_others_keep_their_numbers(tmp_path, opened):
    found = list(batches(damaged=2))
    with opened(tmp_path / "t.arrow", found[0].schema) as writer:
        for batch in found:
            writer.write_batch(batch)
    source = read(tmp_path / "t.arrow", skip_unreadable=True)
    assert [row for row, _ in source.numbered_blocks()] == [0, 100, 300]
    (problem,) = source.problems
    assert problem.sentence() == "rows that cannot be read, left out: 100 (batch 3, rows 201 to 300)."
    with pytest.raises(UnreadableError, match=r"damaged in batch 3, rows 201 to 300 \(column 's': Invalid UTF8"):
        read(tmp_path / "t.arrow").to_arrow()


def test_damage_in_a_sensitive_column_is_not_looked_at(tmp_path):
    found = list(batches(damaged=2))
    with pa.ipc.new_file(tmp_path / "t.arrow", found[0].schema) as writer:
        for batch in found:
            writer.write_batch(batch)
    for data in (
        tmp_path / "t.arrow",
        pa.Table.from_batches(found),
        pa.RecordBatchReader.from_batches(found[0].schema, found),
    ):
        assert read(data, sensitive=["s"]).to_arrow().num_rows == 400


def test_parquet_with_text_that_is_none_is_refused_with_its_row_group(tmp_path):
    pq.write_table(pa.Table.from_batches(list(batches(damaged=2))), tmp_path / "t.parquet", row_group_size=100)
    with pytest.raises(UnreadableError, match=r"damaged in row group 3, rows 201 to 300 \(column 's': Invalid UTF8"):
        read(tmp_path / "t.parquet").to_arrow()
    source = read(tmp_path / "t.parquet", skip_unreadable=True)
    assert source.to_arrow().num_rows == 300


def test_a_dictionary_of_a_parquet_file_never_crashes_whatever_its_bytes(tmp_path):
    table = pa.table({"s": pa.array(["a", "b", "c"] * 500).dictionary_encode()})
    pq.write_table(table, tmp_path / "t.parquet", compression="none")
    told = attacked(
        """
        import sys
        import pyarrow as pa
        from assay.data.read import read
        path = sys.argv[1]
        content = open(path, "rb").read()
        def used():
            for block in read(path).blocks():
                block.to_pylist()
        for place in range(4, 90):
            for value in (0xFF, content[place] ^ 1):
                open(path, "wb").write(content[:place] + bytes([value]) + content[place + 1 :])
                refused(used)
        """,
        tmp_path / "t.parquet",
    )
    assert len(told) == 172
    assert all(line == "accepted" or line.startswith("UnreadableError: ") for line in told)
    assert sum(line != "accepted" for line in told) > 20


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([None, 0], pa.int8()), pa.array(["a", None])),
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), pa.array([1, None])),
        pa.array(["a", "longer than twelve bytes"], pa.string_view()),
        pa.array([[1], None], pa.list_view(pa.int32())),
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int32())),
        pa.array([86_400_001, 1]).cast(pa.timestamp("ms")).view(pa.int64()).view(pa.date64()),  # a day with a time
        pa.array([100_000_000, -1], pa.int64()).view(pa.time64("us")),  # hours beyond a day
        pa.array([10**14, 1], pa.int64()).view(pa.time64("us")),
    ],
    ids=lambda column: str(column.type),
)
def test_unusual_columns_that_are_whole_are_read(tmp_path, column):
    table = pa.table({"x": [1.0, 2.0], "y": column})
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    source = read(tmp_path / "t.arrow")
    assert source.to_arrow().num_rows == 2
    assert len(source.schema) == 2
    assert sum(len(block) for block in encode(source).float_blocks()) == 2
    assert sound(table) is table


def test_what_is_not_arrow_passes_as_it_is():
    for data in (np.eye(2), pd.DataFrame({"x": [1]}), [[1]], None):
        assert sound(data) is data


def test_the_column_is_named_and_a_chunk_is_enough():
    (bad,) = [batch for i, batch in enumerate(batches(damaged=2)) if i == 2]
    whole = pa.chunked_array([["a"], bad.column("s")])
    with pytest.raises(pa.ArrowInvalid, match=r"^Invalid UTF8 sequence at string index 0"):
        refuse_unsound(whole)
    with pytest.raises(
        DataError, match=r"cannot read it: it is damaged \(column 's': Invalid UTF8 .*\); make it again$"
    ):
        sound(pa.table({"x": np.arange(101), "s": whole}), "it")


def test_a_dataset_that_is_damaged_is_refused_by_its_rows(tmp_path):
    found = list(batches(damaged=2))
    with pa.ipc.new_file(tmp_path / "t.arrow", found[0].schema) as writer:
        for batch in found:
            writer.write_batch(batch)
    with pytest.raises(UnreadableError, match=r"cannot read data, rows 201 to 300: it is damaged \(column 's'"):
        read(pa_dataset.dataset(os.fspath(tmp_path / "t.arrow"), format="arrow")).to_arrow()

"""One way in: whatever the table is in, the same rows come out; what is no table is refused in words."""

import gzip
import io
import json
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest

import assay
from assay.data.read import read
from assay.data.source import Source
from assay.errors import DataError, ParameterError

ROWS = 50
rng = np.random.default_rng(7)
COLUMNS = {
    "height": np.round(rng.normal(1.7, 0.1, ROWS), 3).tolist(),
    "weight": np.round(rng.normal(70, 9, ROWS), 3).tolist(),
    "town": [["Bonn", "Ulm", "Rhön <b>"][i % 3] for i in range(ROWS)],
    "smokes": [bool(i % 2) for i in range(ROWS)],
}
TABLE = pa.table(COLUMNS)
FRAME = pd.DataFrame(COLUMNS)


def excel(path):
    book = openpyxl.Workbook()
    book.active.append(list(COLUMNS))
    for row in TABLE.to_pylist():
        book.active.append(list(row.values()))
    book.save(path)


def arrow_stream(path):
    with pa.ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


def lines(path):
    path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()), encoding="utf-8")


def two_files(folder):
    folder.mkdir()
    pq.write_table(TABLE.slice(0, 20), folder / "a.parquet")
    FRAME.iloc[20:].to_csv(folder / "b.csv", index=False)


WRITERS = {
    "t.csv": lambda path: FRAME.to_csv(path, index=False),
    "t.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "t.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "t.parquet": lambda path: pq.write_table(TABLE, path, row_group_size=7),
    "t.arrow": lambda path: pa_feather.write_feather(TABLE, str(path)),
    "stream": arrow_stream,
    "t.xlsx": excel,
    "t.jsonl": lines,
    "t.json": lambda path: path.write_text(json.dumps(TABLE.to_pylist()), encoding="utf-8"),
    "t.jsonl.gz": lambda path: path.write_bytes(
        gzip.compress("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()).encode())
    ),
    "t.npy": lambda path: np.save(path, IN_MEMORY["structured"]),
    "no-suffix": lambda path: pq.write_table(TABLE, path),
}

IN_MEMORY = {
    "pandas": FRAME,
    "polars": pl.DataFrame(COLUMNS),
    "polars lazy": pl.DataFrame(COLUMNS).lazy(),
    "arrow": TABLE,
    "batch": TABLE.to_batches()[0],
    "dataset": pa_dataset.dataset(TABLE),
    "columns": COLUMNS,
    "records": TABLE.to_pylist(),
    "structured": np.array(
        [tuple(row.values()) for row in TABLE.to_pylist()],
        dtype=[("height", "f8"), ("weight", "f8"), ("town", "U10"), ("smokes", "?")],
    ),
}


def same_table(source):
    table = source.to_arrow()
    plain = pa.schema(
        [("height", pa.float64()), ("weight", pa.float64()), ("town", pa.string()), ("smokes", pa.bool_())]
    )
    assert table.column_names == plain.names
    towns = table.column("town")
    if pa.types.is_dictionary(towns.type):
        table = table.set_column(2, "town", towns.cast(pa.string()))
    assert table.cast(plain).to_pylist() == TABLE.to_pylist()
    moments, wanted = assay.Moments.of(source), assay.Moments.of(FRAME[["height", "weight"]].to_numpy())
    assert moments.columns == ("height", "weight")
    assert moments.count == ROWS
    np.testing.assert_allclose(moments.mean, wanted.mean, rtol=1e-15)
    np.testing.assert_allclose(moments.covariance, wanted.covariance, rtol=1e-12)


@pytest.mark.parametrize("name", WRITERS)
def test_a_table_is_the_same_through_every_file(tmp_path, name):
    WRITERS[name](tmp_path / name)
    source = read(tmp_path / name)
    same_table(source)
    same_table(source)  # and again
    assert not list(source.problems)
    same_table(read((tmp_path / name).as_uri()))


@pytest.mark.parametrize("backend", IN_MEMORY)
def test_a_table_is_the_same_from_every_library(backend):
    source = read(IN_MEMORY[backend])
    same_table(source)
    same_table(source)


def test_a_table_is_the_same_in_two_files_of_different_formats(tmp_path):
    two_files(tmp_path / "both")
    same_table(read(f"{tmp_path}/both/*"))


@pytest.mark.parametrize("name", [*WRITERS, *IN_MEMORY])
def test_a_sensitive_column_is_not_read_through_any_door(tmp_path, name):
    if name in WRITERS:
        WRITERS[name](tmp_path / name)
    source = read(tmp_path / name if name in WRITERS else IN_MEMORY[name], sensitive="town", kinds={"height": "number"})
    assert [field.name for field in source.schema] == ["height", "weight", "smokes"]
    assert source.to_arrow().column_names == ["height", "weight", "smokes"]
    assert source.declared.sensitive == {"town"}
    assert "Bonn" not in " ".join(source.notes)
    with pytest.raises(ParameterError, match=r"column 'twon' was declared sensitive, but there is none; there are"):
        read(tmp_path / name if name in WRITERS else IN_MEMORY[name], sensitive=["twon"])


def test_what_is_declared_reaches_the_schema():
    source = read(TABLE, name="people", kinds={"town": "category"}, units={"height": "m"}, roles={"smokes": "target"})
    by_name = {field.name: field for field in source.schema}
    assert source.name == "people"
    assert by_name["town"].kind == "category"
    assert by_name["height"].unit == "m"
    assert by_name["smokes"].role == "target"


def test_a_source_passes_as_it_is_but_takes_no_options():
    source = read(TABLE)
    assert read(source) is source
    with pytest.raises(ParameterError, match="data is open already; give options where it is opened"):
        read(source, units={"height": "m"})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("t.parquet", "a Parquet file has no option 'sheet'; there are none"),
        ("t.csv", "a text table has no option 'sheet'; there are decimal, delimiter, encoding, header"),
        ("t.xlsx", "a spreadsheet has no option 'delimiter'; there are header, sheet"),
    ],
)
def test_an_unknown_option_is_refused_and_the_known_ones_named(tmp_path, name, message):
    WRITERS[name](tmp_path / name)
    wrong = "delimiter" if name == "t.xlsx" else "sheet"
    with pytest.raises(ParameterError, match=message):
        read(tmp_path / name, **{wrong: 1})
    with pytest.raises(ParameterError, match="a table in memory has no option 'sheet'; there are none"):
        read(TABLE, sheet=1)


def archive(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            file.writestr(name, "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "the file is empty"),
        ("t.csv.gz", gzip.compress(b"", mtime=0), "the file inside is empty"),
        (
            "t",
            pickle.dumps([1], protocol=4),
            "a pickle, which could run code when it is opened; save the table",
        ),
        ("t.pkl", b"(lp0\n.", "a pickle, which could run code"),
        ("t.h5", b"\x89HDF\r\n\x1a\n" + bytes(99), "an HDF5 file; save the table that you mean as Parquet"),
        ("t.pdf", b"%PDF-1.7\n", "a PDF document; save its table as CSV"),
        ("t.zip", archive("a.csv"), "a zip archive; unpack it and give the file or folder inside"),
        ("t.docx", archive("word/document.xml"), "a text document"),
        ("t.zip", b"PK\x03\x04broken", "a damaged zip file"),
        ("t.png", b"\x89PNG\r\n\x1a\n", "an image; give the folder that holds the images"),
        ("t.html", b"\n<!DOCTYPE html><html>", "a web page; save its table as CSV"),
        ("t.xml", b"<?xml version='1.0'?><a/>", "an XML document"),
        ("t.parquet", b"x,y\n1,2\n", "by its name it is a Parquet file, but its first bytes are not"),
        ("t.parquet.gz", gzip.compress(b"PAR1", mtime=0), "a compressed parquet file has to be unpacked first"),
        ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "not a spreadsheet that can be read, or it is dam"),
        ("t.gz", b"\x1f\x8b\x08broken", "damaged or end too early"),
        ("t", bytes(range(1, 256)) * 3, "a binary file, not a table; save the table as CSV or Parquet"),
        ("t.tar", b"a".ljust(257, b"\0") + b"ustar", "a tar archive"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_what_it_is(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as refusal:
        read(path)
    assert str(refusal.value).startswith(f"cannot read {path}: ")
    assert "\n" not in str(refusal.value)


def test_what_is_not_there_or_not_data_is_refused():
    with pytest.raises(DataError, match=r"cannot read nothing\.csv: there is no such file"):
        read("nothing.csv")
    with pytest.raises(DataError, match="cannot read nothing/\\*.csv: no file has such a name"):
        read("nothing/*.csv")
    with pytest.raises(DataError, match="web addresses are not fetched; download the file and give its path"):
        read("https://example.org/a.csv")
    with pytest.raises(DataError, match="cannot read a file without a name"):
        read("")
    with pytest.raises(DataError, match="each a list of values or a mapping; got none"):
        read([])
    with pytest.raises(DataError, match="cannot read ftp://x/y.csv"):
        read("ftp://x/y.csv")
    with pytest.raises(DataError, match="cannot read a int; give a file, an array or a data frame"):
        read(3)
    with pytest.raises(DataError, match="cannot read an open file; give its path, or '-' for standard input"):
        read(io.BytesIO(b"x"))


def test_iterators_and_readers_become_streams():
    blocks = read(iter([np.ones((2, 2)), np.zeros((3, 2))]))
    assert sum(block.num_rows for block in blocks.blocks()) == 5
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    same = read(reader, name="arriving")
    assert same.name == "arriving"
    assert same.to_arrow().num_rows == ROWS


def test_a_file_named_like_a_pattern_is_a_file(tmp_path):
    FRAME.to_csv(tmp_path / "data[1].csv", index=False)
    same_table(read(tmp_path / "data[1].csv"))


def test_opening_assay_imports_no_format():
    code = (
        "import sys, assay.data.read; "
        "print([m for m in ('pandas', 'polars', 'python_calamine', 'narwhals', 'sklearn', 'PIL') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_result_is_a_source():
    assert isinstance(read([[1, 2], [3, 4]]), Source)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.xlsx"])
def test_the_same_cells_are_missing_in_every_format_and_the_same_are_counted(tmp_path, name):
    cells = [*(str(i) for i in range(60)), "N.A.", "#DIV/0!", "?", "unknown", "missing"]
    match name:
        case "t.csv":
            (tmp_path / name).write_text("x\n" + "\n".join(cells) + "\n")
        case "t.jsonl":
            values = [int(cell) if cell.isdigit() else cell for cell in cells]
            (tmp_path / name).write_text("\n".join(json.dumps({"x": value}) for value in values))
        case "t.xlsx":
            values = [int(cell) if cell.isdigit() else cell for cell in cells]
            pd.DataFrame({"x": values}).to_excel(tmp_path / name, index=False)
    source = read(tmp_path / name)
    assert source.to_arrow().column("x").null_count == 5
    assert [value for problem in source.problems for _, value in problem.examples if value != "#DIV/0!"] == [
        "unknown",
        "missing",
    ]

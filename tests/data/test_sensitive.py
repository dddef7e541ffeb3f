"""A sensitive name stands for every column that is seen so; its values are in no block, note, problem or error."""

import json
import sqlite3

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.comparison.sources import opened
from assay.data.field import Declared
from assay.data.fusion.fuse import fuse
from assay.data.read import read
from assay.errors import DataError, ParameterError

CANARY = "kanarienvogel"
ROWS = [(i, f"{CANARY}{i % 3}", f"{CANARY}-b{i % 4}", i / 2) for i in range(60)]
TWICE = ["id", "diag", "diag", "x"]


def told(source):
    """All that a source hands out or says."""
    blocks = [block.to_pylist() for block in source.blocks()]
    said = [problem.sentence() for problem in source.problems]
    return repr([blocks, source.arrow_schema, source.schema, source.notes, said, source.name])


def csv(path, names=TWICE, rows=ROWS):
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def table(names=TWICE):
    return pa.table([pa.array(column) for column in zip(*ROWS, strict=True)], names=names)


def with_arrow(path):
    with pa.ipc.new_file(path, table().schema) as writer:
        writer.write_table(table())
    return path


def with_excel(path):
    book = openpyxl.Workbook()
    for row in [TWICE, *ROWS]:
        book.active.append(list(row))
    book.save(path)
    return path


def with_parquet(path):
    pq.write_table(table(), path)
    return path


def with_json(path):
    path.write_text("".join(json.dumps({"id": a, "diag": b, "DIAG": c, "x": d}) + "\n" for a, b, c, d in ROWS))
    return path


def with_many(path):
    path.mkdir()
    csv(path / "a.csv", rows=ROWS[:30])
    csv(path / "b.csv", rows=ROWS[30:])
    return path


FILES = {
    "t.csv": csv,
    "t.parquet": with_parquet,
    "t.arrow": with_arrow,
    "t.xlsx": with_excel,
    "t.jsonl": with_json,
    "many": with_many,
}


@pytest.mark.parametrize("name", FILES)
def test_a_name_covers_all_columns_of_that_name_in_files(tmp_path, name):
    path = FILES[name](tmp_path / name)
    source = read(path, sensitive=["diag"])
    assert source.to_arrow().column_names == ["id", "x"]
    assert CANARY not in told(source)


def test_a_name_covers_all_columns_of_that_name_in_memory():
    frame = pd.DataFrame(ROWS, columns=TWICE)
    for data in (table(), frame, iter(table().to_batches(7)), iter([frame[:30], frame[30:]])):
        source = read(data, sensitive=["diag"])
        assert source.arrow_schema.names == ["id", "x"]
        assert CANARY not in told(source)


@pytest.mark.parametrize(
    "second", ["diag ", " diag", "Diag", "\ufeffdiag", "dia\u200bg", "\uff44iag", "diag\t", "diag (2)"]
)
def test_a_name_covers_what_is_seen_as_it(tmp_path, second):
    names = ["id", "diag", second, "x"]
    for source in (read(csv(tmp_path / "t.csv", names), sensitive=["diag"]), read(table(names), sensitive=["diag"])):
        assert source.arrow_schema.names == ["id", "x"]
        assert CANARY not in told(source)
    if second != "Diag":  # in another case it may be a misspelling, and is asked back
        alone = read(table(["id", "y", second, "x"]), sensitive=["diag"])
        assert alone.arrow_schema.names == ["id", "y", "x"]


def test_the_name_of_a_copy_covers_that_copy_alone():
    assert read(table(), sensitive=["diag (2)"]).arrow_schema.names == ["id", "diag", "x"]
    with pytest.raises(ParameterError, match="column 'daig' was declared sensitive, but there is none"):
        read(table(), sensitive=["daig"])


def test_a_query_may_name_a_column_twice(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as base:
        base.execute("CREATE TABLE t (id, diag, other, x)")
        base.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
    base.close()
    for query in ("SELECT id, diag, other AS diag, x FROM t", "SELECT id, diag, other AS DIAG, x FROM t"):
        source = read(tmp_path / "t.db", query=query, sensitive=["diag"])
        assert source.arrow_schema.names == ["id", "x"]
        assert CANARY not in told(source)


def test_arrays_that_lie_side_by_side_are_hidden_by_name(tmp_path):
    np.savez(tmp_path / "t.npz", diag=np.arange(9.0), Diag=np.arange(9.0), x=np.arange(9.0))
    assert read(tmp_path / "t.npz", sensitive=["diag"]).arrow_schema.names == ["x"]


def test_a_name_covers_copies_in_sources_that_are_fused_or_compared(tmp_path):
    a, b = csv(tmp_path / "a.csv"), csv(tmp_path / "b.csv")
    for sources in ([a, b], [read(a), read(b)]):
        fused = fuse(sources, sensitive=["diag"], names=["a", "b"])
        assert fused.to_arrow().column_names == ["id", "x", "origin"]
        assert CANARY not in told(fused)
    for source in opened(a, b, ["diag"], {}):
        assert source.arrow_schema.names == ["id", "x"]


def test_standard_input_may_hold_sensitive_columns(tmp_path, monkeypatch):
    csv(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open() as pipe:
        monkeypatch.setattr("sys.stdin", pipe)
        source = read("-", sensitive=["diag"])
        assert source.arrow_schema.names == ["id", "x"]
        assert CANARY not in told(source)


def test_folders_named_by_a_sensitive_column_are_not_told(tmp_path):
    for value in ("a", "b"):
        folder = tmp_path / "t" / f"Diag={CANARY}{value}"
        folder.mkdir(parents=True)
        csv(folder / "t.csv", ["id", "x"], [(i, i / 2) for i in range(9)] + [("", "oops")])
    source = read(tmp_path / "t", sensitive=["diag"])
    assert source.arrow_schema.names == ["id", "x"]
    assert CANARY not in told(source)
    csv(folder / "t.csv", ["id", "diag "], [(i, CANARY) for i in range(9)])
    with pytest.raises(DataError) as error:
        read(tmp_path / "t", sensitive=["diag"])
    assert CANARY not in str(error.value)


@pytest.mark.parametrize(
    "rows",
    [
        [f"{i},a{i % 3},{i}" for i in range(50)] + [f"7,{CANARY},a,3"],  # a comma too many
        [f"{i},a{i % 3},{i}" for i in range(50)] + [f"7,a,{CANARY}"],  # and a value too few: it looks right
        [f"{i},a{i % 3},{i}" for i in range(50)] + [f"7,{CANARY}"],
        [f"{i},a{i % 3},{i}" for i in range(50)] + [f'7,"a ""{CANARY}"" b,c",x{CANARY}'],
    ],
)
def test_a_comma_too_many_moves_nothing_sensitive_into_a_message(tmp_path, rows):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["id,diag,x", *rows]) + "\n")
    source = read(path, sensitive=["diag"])
    assert CANARY not in told(source)
    assert len(list(source.problems)) == 1
    assert CANARY not in "".join(
        p.sentence() for p in fuse([path, path], sensitive=["diag"], names=["a", "b"]).problems
    )


def test_a_quote_that_is_not_closed_shows_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,diag,x\n" + "".join(f"{i},a,{i}\n" for i in range(50)) + f'7,"{CANARY},3\n')
    with pytest.raises(DataError, match="the quote that opens on line 52 is not closed") as error:
        told(read(path, sensitive=["diag"]))
    assert CANARY not in str(error.value)


def test_where_a_name_lacks_it_is_not_guessed_which_column_is_sensitive(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,diag,x\n" + "".join(f"{i},{CANARY},bad,{i}\n" for i in range(50)))
    with pytest.raises(DataError, match="it is not certain which column is 'diag', which is sensitive") as error:
        read(path, sensitive=["diag"])
    assert CANARY not in str(error.value)
    assert read(path).arrow_schema.names == ["column 1", "id", "diag", "x"]


def test_what_is_hidden_is_said_once():
    declared = Declared(sensitive=frozenset({"Diag "}))
    assert declared.hidden(["diag", "DIAG (3)", "diagnosis", "x"]) == {"diag", "DIAG (3)"}

"""Reading goes on where it ended: every row once, wherever it was cut."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.field import Declared
from assay.data.text.resumed import Position, feed_of
from assay.errors import DataError, FileFormatError, ParameterError

NAMES = ["x", "name"]
TABLE = [[round(0.37 * i, 3), f'no "{i}", é\nß' if i % 3 else "plain"] for i in range(60)]


def as_csv(rows):
    lines = ["x,name"] + [f'{x},"{name.replace(chr(34), chr(34) * 2)}"' for x, name in rows]
    return "".join(f"{line}\n" for line in lines).encode()


def as_json(rows):
    return "".join(json.dumps(dict(zip(NAMES, row, strict=True)), ensure_ascii=False) + "\n" for row in rows).encode()


def new_rows(path, position, **how):
    feed = feed_of(str(path), Declared(), position, hold_last=True, **how)
    found = [list(row.values()) for batch, _ in feed.blocks() for row in batch.to_pylist()]
    return found, Position.of(feed.position.as_dict()), feed


@pytest.mark.parametrize("written", [as_csv, as_json])
@given(cuts=st.lists(st.integers(0, 4000), max_size=4))
def test_a_file_that_grew_is_read_on_and_every_row_comes_once(tmp_path_factory, written, cuts):
    path = tmp_path_factory.mktemp("grown") / "rows.txt"
    text = written(TABLE)
    position, found = Position(), []
    for cut in sorted({min(cut, len(text)) for cut in cuts} | {len(written(TABLE[:4])), len(text)}):
        if cut < len(written(TABLE[:4])):
            continue  # before it has shown its columns
        path.write_bytes(text[:cut])
        rows, position, feed = new_rows(path, position)
        ended = text[:cut].endswith(b"\n") and text[:cut].count(b'"') % 2 == 0  # a line may end within quotes
        assert feed.held == 0 or not ended
        found += rows
    assert found == TABLE and position.rows == len(TABLE)


def test_the_last_line_is_taken_where_nobody_goes_on_from_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(as_csv(TABLE).rstrip(b"\n"))
    feed = feed_of(str(path), Declared(), Position())
    assert sum(batch.num_rows for batch, _ in feed.blocks()) == len(TABLE)


def test_a_packed_file_and_other_encodings_are_read_on_too(tmp_path):
    text = as_csv([[x, "é"] for x, _ in TABLE]).decode()
    for name, content in (
        ("a.csv.gz", gzip.compress(text.encode())),
        ("a.csv", text.encode("utf-16")),
        ("b.csv", text.encode("utf-8-sig")),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        rows, position, _ = new_rows(path, Position())
        assert len(rows) == len(TABLE)
        assert new_rows(path, position)[0] == []


def test_what_is_no_text_is_read_on_by_its_number_of_rows(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": np.arange(10.0)}), path)
    rows, position, _ = new_rows(path, Position(4))
    assert [row[0] for row in rows] == [4.0, 5.0, 6.0, 7.0, 8.0, 9.0] and position.rows == 10


def test_a_file_that_was_replaced_or_cut_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(as_csv(TABLE))
    _, position, _ = new_rows(path, Position())
    path.write_bytes(as_csv(TABLE[:20]))
    with pytest.raises(DataError, match="shorter than what was read of it before"):
        new_rows(path, position)
    path.write_bytes(as_csv(TABLE[::-1]) * 2)
    with pytest.raises(DataError, match="does not begin as it did"):
        new_rows(path, position)


def test_lines_that_are_no_rows_are_told_with_their_place_after_a_restart_too(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(as_json(TABLE))
    _, position, _ = new_rows(path, Position())
    path.write_bytes(as_json(TABLE) + b"not json\n" + as_json(TABLE[:1]))
    feed = feed_of(str(path), Declared(), position, hold_last=True)
    ((batch, problems),) = feed.blocks()
    (problem,) = problems
    assert batch.num_rows == 1 and problem.examples[0][0] == f"line {len(TABLE) + 1}"


def test_sensitive_columns_never_come_and_a_misspelt_one_is_refused(tmp_path):
    for name, written in (("a.csv", as_csv), ("a.jsonl", as_json)):
        path = tmp_path / name
        path.write_bytes(written(TABLE))
        feed = feed_of(str(path), Declared(sensitive=frozenset({"name"})), Position())
        assert {batch.schema.names[0] for batch, _ in feed.blocks()} == {"x"}
        with pytest.raises((DataError, ParameterError), match="nmae"):
            next(feed_of(str(path), Declared(sensitive=frozenset({"nmae"})), Position()).blocks())


def test_positions_without_sense_are_refused():
    with pytest.raises(FileFormatError, match="no position in a stream"):
        Position.of({"rows": 1, "where": 2})
    with pytest.raises(FileFormatError, match="a count is below 0"):
        Position.of({"rows": -1})


def test_an_array_of_json_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"x": 1}, {"x": 2}]')
    with pytest.raises(DataError, match="write one object a line"):
        next(feed_of(str(path), Declared(), Position()).blocks())

"""Cutting text into records, against Python's own csv module."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.data.columns.words import MISSING_CELLS
from assay.data.field import Declared
from assay.data.problems import Problems
from assay.data.text.chunks import line_count, quote_edges, record_lines, records, tidied
from assay.data.text.format import CsvFormat
from assay.errors import DataError

CELLS = st.text(st.sampled_from('a1é#" \n\r,;\t|.-'), max_size=6)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 4))
    return draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=12))


@given(
    tables(),
    st.sampled_from(",;\t|"),
    # the csv module quotes line ends other than its own only when it quotes all
    st.sampled_from([("\r\n", csv.QUOTE_MINIMAL), *((end, csv.QUOTE_ALL) for end in ("\n", "\r\n", "\r"))]),
    st.integers(4, 60),
    st.booleans(),
)
def test_what_the_csv_module_writes_is_read_back_however_it_is_cut(table, delimiter, style, size, ended):
    newline, quoting = style
    names = [f"c{i}" for i in range(len(table[0]))]
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter, lineterminator=newline, quoting=quoting).writerows([names, *table])
    text = written.getvalue().encode()
    text = text if ended else text.removesuffix(newline.encode())
    declared = Declared(kinds=dict.fromkeys(names, "text"))
    found = CsvFormat.sniffed(text, True, delimiter=delimiter, header=True, declared=declared)
    assume(found.columns and tuple(column.name for column in found.columns) == tuple(names))
    assume(not found._layout.padded)
    problems = Problems()
    batches = [found.parse(chunk, line, problems) for chunk, line in found.records(io.BytesIO(text), size=size)]
    expected = [tuple(None if cell.strip(" \t") in MISSING_CELLS else cell for cell in row) for row in table]
    rows = [tuple(row.values()) for row in pa.Table.from_batches(batches, found.schema).to_pylist()]
    assert rows == expected
    assert len(problems) == 0
    lines = [line for chunk, at in found.records(io.BytesIO(text), size=size) for line in found.row_lines(chunk, at)]
    heights = [1 + sum(line_count(cell.encode()) for cell in row) for row in table]
    assert lines == np.cumsum([2, *heights[:-1]]).tolist()


@given(st.text(st.sampled_from('"",,\n\nab'), max_size=30))
def test_records_begin_where_the_csv_module_begins_them(text):
    edges = quote_edges(text.encode(), b",")
    assume(len(edges) % 2 == 0)
    reader = csv.reader(io.StringIO(text, newline=""))
    expected, before = [], 0
    for cells in reader:
        if cells:
            expected.append(before + 1)
        before = reader.line_num
    assert record_lines(text.encode(), edges, 1).tolist() == expected


@given(st.text(st.sampled_from('"",,\n\r\nab'), max_size=40), st.integers(1, 20))
def test_chunks_are_the_whole_text_and_their_lines_are_where_they_begin(text, size):
    whole = text.encode()
    cut = records(io.BytesIO(whole), delimiters=b",", size=size)
    if len(quote_edges(whole, b",")) % 2:
        with pytest.raises(DataError, match="is not closed"):
            list(cut)
        return
    found = list(cut)
    assert b"".join(chunk for chunk, _ in found) == whole
    starts = np.cumsum([0, *(len(chunk) for chunk, _ in found)])
    assert [line for _, line in found] == [1 + line_count(whole[:start]) for start in starts[:-1]]


@given(st.text(st.sampled_from("a1.\t  \n"), max_size=40))
def test_aligned_text_is_cut_as_split_cuts_it(text):
    tidy = tidied(text.encode(), np.array([], np.int64), b" ").decode()
    assert [line.split("\t") for line in tidy.split("\n")] == [line.split() or [""] for line in text.split("\n")]


@given(st.text(st.sampled_from("a1 ,\n"), max_size=40))
def test_padding_is_taken_off_each_cell_and_nothing_else(text):
    tidy = tidied(text.encode(), np.array([], np.int64), b",").decode()
    expected = [[cell.strip(" ") for cell in line.split(",")] for line in text.split("\n")]
    assert [line.split(",") for line in tidy.split("\n")] == expected


def test_a_stray_quote_does_not_swallow_lines():
    text = b'1,5" pipe\n2,"a\nb"\n3,x"y"z\n4,"q"\n'
    assert [line for _, line in records(io.BytesIO(text), delimiters=b",", size=10)] == [1, 2, 4, 5]


def test_a_quote_that_stays_open_is_refused_before_memory_is_full(monkeypatch):
    monkeypatch.setattr("assay.data.text.chunks._LONGEST_QUOTED", 1000)
    endless = io.BytesIO(b'1,a\n2,"open\n' + b"3,b\n" * 100_000)
    with pytest.raises(DataError, match="the quoted cell that opens on line 2 is longer than 0 MB, or its quote"):
        list(records(endless, delimiters=b",", size=100))
    assert endless.tell() < 10_000


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("assay.data.text.chunks.LONGEST", 1 << 20)
    with pytest.raises(DataError, match="line 2 is longer than 1 MB"):
        list(records(io.BytesIO(b"1\n" + b"x" * (1 << 22)), delimiters=b",", size=1000))


def test_a_stream_gives_rows_as_they_come():
    class Trickle:
        def __init__(self, *parts):
            self.parts = list(parts)

        def read(self, size, /):
            return self.parts.pop(0) if self.parts else b""

    handle = Trickle(b"x,y\n1,a\n2,", b"b\n", b"3,c")
    first = handle.read(100)
    found = CsvFormat.sniffed(first, False)
    seen = [(found.parse(chunk, line, Problems()).num_rows, line) for chunk, line in found.records(handle, first=first)]
    assert seen == [(1, 2), (1, 3), (1, 4)]

"""Inputs as they come: each has a defined answer, in words, and nothing is dropped in silence."""

import gzip

import numpy as np
import pytest
from typer.testing import CliRunner

from assay.cli import app
from assay.study.run import study

RNG = np.random.default_rng(0)
X = RNG.standard_normal(40)
ROWS = [(f"{a:.3f}", f"{a + b:.3f}") for a, b in zip(X, RNG.standard_normal(40), strict=True)]
LINES = [",".join(row) for row in ROWS]


def table(names="x,y", lines=LINES):
    return "\n".join([names, *lines]) + "\n"


def beside(names, cell):
    """The table with one more column, whose cells depend on the row number."""
    return table(names, [f"{line},{cell(i)}" for i, line in enumerate(LINES)])


DATES = ["2020-01-{:02d}", "{:02d}/01/2020", "{:02d}.01.2020 10:00", "{:02d} Jan 2020"]

# content, rows used, columns used, and words that must be told
READ = {
    "bad bytes": (table().encode()[:201] + b"\xff\xfe\x80,1\n" + table().encode()[201:], 41, 2, ["Windows-1252"]),
    "ragged rows": (table() + "1,2,3\n4\n1,2\n", 41, 2, ["too few values", "line 43", "too many values", "line 42"]),
    "repeated names": (table("x,x"), 40, 2, ["'x' to 'x (2)'"]),
    "an empty name": (table("x,"), 40, 2, ["'' to 'column 2'"]),
    "numbers beyond range": (table() + "1e400,1\n", 41, 2, ["beyond the range of numbers", "line 42: '1e400'"]),
    "words for missing": (table() + "NaN,NA\n-,null\nN/A,\n?,.\n", 40, 2, ["4 of 44 rows hold no value"]),
    "a column without values": (beside("x,y,z", lambda i: ""), 40, 2, ["no values"]),
    "dates in mixed formats": (
        beside("x,y,when", lambda i: DATES[i % 4].format(13 + i % 15)), 40, 3, ["days since 2020-01-13"]
    ),
    "script in names and cells": (
        beside("<script>alert(1)</script>,y,c", lambda i: f"<img src=x onerror=alert({i % 2})>"),
        40, 3, ["<script>alert(1)</script>", "cells hold markup"],
    ),
    "formulas": (beside("x,y,f", lambda i: ("=1+1", "=SUM(A1:A9)")[i % 2]), 40, 3, ["not evaluated"]),
    "UTF-16": (("\ufeff" + table()).encode("utf-16-le"), 40, 2, ["UTF-16"]),
    "Latin-1": (beside("größe,y,ort", lambda i: ("Zürich", "Köln")[i % 2]).encode("latin-1"), 40, 3, ["größe", "Köln"]),
    "decimal commas": (
        table("x;y", [";".join(row).replace(".", ",") for row in ROWS]), 40, 2, ["Decimal commas were read in 'x', 'y'"]
    ),
    "packed without saying so": (gzip.compress(table().encode(), mtime=0), 40, 2, []),
    "cells of several lines": (beside("x,y,note", lambda i: f'"two\nlines {i}, really"'), 40, 2, ["text: no word"]),
    "contradictions after a cell of several lines": (
        'x,y,n\n1,2,"a\nb"\n' + beside("", lambda i: "z")[1:] + "abc,1,z\n2,def,z\n", 43, 3,
        ["line 44: 'abc'", "line 45: 'def'"],
    ),
    "no names": ("\n".join(LINES), 40, 2, ["have no names and are numbered"]),
    "squares out of range": (
        table("x,y,h,t", [f"{line},{row[0]}e300,{row[0]}e-300" for line, row in zip(LINES, ROWS, strict=True)]),
        40, 2, ["squares leave the range"],
    ),
    "a constant": (beside("x,y,c", lambda i: "7"), 40, 2, ["one value in all rows"]),
    "line ends of old machines": (table().replace("\n", "\r"), 40, 2, []),
    "a comment before the table": ("# made by a machine\n" + table(), 40, 2, ["Line 1 before the table was skipped"]),
    "codes with leading zeros": (beside("x,y,zip", lambda i: f"0{i % 4}123"), 40, 3, ["00123"]),
    "copies of rows": (table(lines=[LINES[i % 5] for i in range(40)]), 40, 2, ["35 of 40 rows are copies of others"]),
}  # fmt: skip

REFUSED = {
    "nothing": (b"", "the file is empty"),
    "blank lines": (b"\n\n  \n", "the file is empty"),
    "names only": (b"x,y\n", "a header but no rows"),
    "one row": (b"x,y\n1,2\n", "has 1 row"),
    "a million columns": (b",".join(b"c%d" % i for i in range(1_000_000)) + b"\n", "200,000 columns at most"),
    "an unclosed quote": (table().encode() + b'1,"2\n3,4\n', "the quote that opens on line 42 is not closed"),
    "half an archive": (gzip.compress(table().encode() * 50)[:-30], "damaged or end too early"),
    "bytes": (bytes(range(256)) * 20, "it is a binary file"),
    "a pickle": (b"\x80\x04\x95" + bytes(50), "could run code when it is opened"),
    "a web page": (b"<!doctype html><html></html>", "a web page"),
}


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_read_and_told(tmp_path, name):
    content, rows, columns, told = READ[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    data = study(path).data
    assert data.rows_used == rows
    assert sum(column.used for column in data.columns) == columns
    said = " ".join([*data.notes, *data.problems, *(str(column) for column in data.columns)])
    for words in told:
        assert words in said


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_sentence(tmp_path, name):
    content, words = REFUSED[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    done = CliRunner().invoke(app, ["report", str(path), "-o", str(tmp_path / "out.html")])
    assert done.exit_code == 2
    assert words in done.output
    assert done.output.startswith("assay: ") and done.output.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["table.csv"]

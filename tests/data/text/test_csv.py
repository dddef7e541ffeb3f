"""Reading delimited text: what is understood, what is counted, and what is refused."""

import gzip
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from assay.data.field import Declared
from assay.data.place import Place
from assay.data.text.csv import CsvSource
from assay.errors import DataError, ParameterError


@pytest.fixture
def source(tmp_path):
    def opened(content, *, name="table.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return CsvSource(Place.of(path), **options)

    return opened


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("assay.data.text.csv.FIRST_BLOCK", 1 << 14)
    monkeypatch.setattr("assay.data.text.csv.CHUNK", 1 << 12)


def rows(found):
    return [tuple(row.values()) for row in found.to_arrow().to_pylist()]


def counted(found):
    """The problems of a whole pass as (column, what begins with, count, first place)."""
    list(found.blocks())
    return [(p.column, p.what, p.count, p.examples[0][0]) for p in found.problems]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "~", ":", " ", "    "])
def test_the_delimiter_is_found(source, delimiter):
    found = source("height,weight,name\n1.5,70,Ann\n1.7,80,Bob\n".replace(",", delimiter))
    assert found.arrow_schema.names == ["height", "weight", "name"]
    assert rows(found) == [(1.5, 70, "Ann"), (1.7, 80, "Bob")]


def test_a_delimiter_that_is_given_goes_before_one_that_is_found(source):
    assert rows(source("a,b!c\nx,y!3\n", delimiter="!")) == [("x,y", 3)]
    with pytest.raises(ParameterError, match="one ASCII character, not a quote or line end; got '<>'"):
        source("a<>b\n", delimiter="<>")


def test_blanks_around_delimiters_are_no_part_of_the_values(source):
    found = source('age, job, pay\n39, State-gov, 5\n50, ?, 6\n38, "a, b", 7\n')
    assert rows(found) == [(39, "State-gov", 5), (50, None, 6), (38, "a, b", 7)]


def test_aligned_columns_may_have_quoted_blanks_and_row_names(source):
    found = source('"height" "name"\n"1" 1.5 "A B"\n"2"   -2.5   "C"\n')
    assert rows(found) == [(1, 1.5, "A B"), (2, -2.5, "C")]
    assert found.arrow_schema.names == ["column 1", "height", "name"]
    assert "one name less than there are columns" in found.notes[1]


def test_quoted_delimiters_and_newlines_stay_in_their_cell(source):
    assert rows(source('x,note\n1,"a, b"\n2,"two\nlines"\n3,"say ""hi"""\n4,5" pipe\n')) == [
        (1, "a, b"),
        (2, "two\nlines"),
        (3, 'say "hi"'),
        (4, '5" pipe'),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_line_end_is_understood(source, newline):
    found = source('x,y\n1,a\n\n2,"b\nc"\n3\n4,d\n'.replace("\n", newline))
    assert rows(found) == [(1, "a"), (2, f"b{newline}c"), (4, "d")]
    assert counted(found) == [(None, "rows have too few values and are left out", 1, "line 6")]
    assert [found.line_of(i) for i in range(4)] == [2, 4, 7, None]


def test_lines_before_the_table_are_skipped_and_noted(source):
    assert rows(source("\n\nx,y\n1,2\n")) == [(1, 2)]
    found = source("# made by hand\nReport of 2020\n\nname,x\na,1\nb,2\n")
    assert found.arrow_schema.names == ["name", "x"]
    assert found.notes[0].startswith("Lines 1 to 3 before the table were skipped")
    assert found.to_arrow().num_rows == 2
    assert found.line_of(1) == 6
    assert source("sep=;\nx;y\n1;2\n").arrow_schema.names == ["x", "y"]
    assert source("# x y z\n1 2 3\n4 5 6\n").arrow_schema.names == ["x", "y", "z"]


@pytest.mark.parametrize("text", ["x,y,\n1,2,\n3,4,\n", "x,y\n1,2,\n3,4,\n"])
def test_a_delimiter_at_the_end_of_each_line_makes_no_column(source, text):
    found = source(text)
    assert rows(found) == [(1, 2), (3, 4)]
    assert any("ends in a delimiter" in note for note in found.notes)


def test_a_value_behind_the_last_delimiter_far_down_is_counted(source, small_blocks):
    found = source("x,y,\n" + "1,2,\n" * 20_000 + "3,4,5\n")
    assert counted(found) == [(None, "values behind the last column were left out", 1, "line 20002")]


def test_empty_and_repeated_names_are_changed_and_noted(source):
    found = source("x,, x ,x (2)\n1,2,3,4\n")
    assert found.arrow_schema.names == ["x", "column 2", "x (3)", "x (2)"]  # a name that is there keeps its owner
    assert "'' to 'column 2', 'x' to 'x (3)'" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "names", "note"),
    [
        ("1,2\n3,4\n", ["column 1", "column 2"], "holds numbers only"),
        ("5.1,setosa\n4.9,virginica\n", ["column 1", "column 2"], "values like those below"),
        ("name,city\nAnn,Bonn\nBob,Rome\n", ["name", "city"], "No column holds numbers"),
        ("a,a\nb,c\n", ["column 1", "column 2"], "repeats itself"),
        ("land,1990,1991,1992\nF,1.5,2,3\n", ["land", "1990", "1991", "1992"], "count up"),
        ("day,x\n2020-01-01,a\n", ["day", "x"], None),
    ],
)
def test_the_first_line_names_the_columns_or_is_a_row(source, text, names, note):
    found = source(text)
    assert found.arrow_schema.names == names
    assert (note in found.notes[0]) if note else found.notes == ()
    assert found.to_arrow().num_rows == text.count("\n") - (names[0] != "column 1")


def test_the_user_decides_whether_there_is_a_header(source):
    assert source("a,b\n1,2\n", header=False).to_arrow().num_rows == 2
    assert source("1,2\n3,4\n", header=True).arrow_schema.names == ["1", "2"]


def test_markup_and_formulas_stay_what_they_are(source):
    found = source('<script>alert(1)</script>,x\n=1+1,1\n"=HYPERLINK(""http://x"")",2\n<b>a</b>,3\n')
    assert found.arrow_schema.names == ["<script>alert(1)</script>", "x"]
    assert found.to_arrow().column(0).to_pylist() == ["=1+1", '=HYPERLINK("http://x")', "<b>a</b>"]


def test_ragged_rows_are_left_out_and_counted_with_their_lines(source):
    found = source('x,y\n"a\nb",2\n3,4,5\n   \n6\n7,8\n')
    assert rows(found) == [("a\nb", 2), ("7", 8)]
    assert counted(found) == [
        (None, "rows have too few values and are left out", 1, "line 6"),
        (None, "rows have too many values and are left out", 1, "line 4"),
    ]


def test_rows_of_all_lengths_are_no_table(source):
    text = "a,b,c\n1,2,3\n" + "".join(",".join("x" * k) + "\n" for k in range(4, 30))
    with pytest.raises(DataError, match=r"26 of the first 2. rows do not have 3 values when cut at ','"):
        source(text)


def test_a_quote_that_is_never_closed_is_named_by_its_line(source):
    with pytest.raises(DataError, match=r"table.csv: the quote that opens on line 3 is not closed"):
        list(source('x,y\n1,a\n2,"open\n3,b\n').blocks())


def test_contradictions_far_down_are_missing_and_counted_past_cells_of_many_lines(source, small_blocks):
    block = '1,2020-01-31,true,"two\nlines"\n'
    count = 100_000 // len(block)
    end = "oops,2020-02-30,maybe,a\n1e400,never,false,\n-inf,2020-02-29,TRUE,-\n"
    found = source("x,day,flag,note\n" + block * count + end)
    assert [str(t) for t in found.arrow_schema.types] == ["double", "date32[day]", "bool", "string"]
    line = 2 + 2 * count
    assert sorted(counted(found)) == sorted(
        [
            ("x", "values are not numbers and count as missing", 1, f"line {line}"),
            ("x", "values are beyond the range of numbers and count as missing", 1, f"line {line + 1}"),
            ("x", "values are infinite and count as missing", 1, f"line {line + 2}"),
            ("day", "values are not dates and count as missing", 2, f"line {line}"),
            ("flag", "values are neither true nor false and count as missing", 1, f"line {line}"),
        ]
    )
    *_, last = found.blocks()
    assert last.slice(last.num_rows - 3).to_pydict() == {
        "x": [None] * 3,
        "day": [None, None, pd.Timestamp("2020-02-29").date()],
        "flag": [None, False, True],
        "note": ["a", None, None],
    }
    assert found.line_of(count + 2) == line + 2
    assert found.line_of(count // 2) == 2 + 2 * (count // 2)


def test_bad_bytes_far_down_are_read_as_windows_text_and_counted(source, small_blocks):
    found = source("name,x\nJosé,1\n".encode() + b"plain,2\n" * 5_000 + b"caf\xe9,3\n\x80,\xff\n")
    assert counted(found) == [
        (None, "bytes do not fit the encoding and were read as Windows-1252", 3, "line 5003"),
        ("x", "values are not numbers and count as missing", 1, "line 5004"),
    ]
    *_, last = found.blocks()
    assert last.column("name").to_pylist()[-2:] == ["café", "€"]


def test_numbers_agree_with_pandas_and_pyarrow(source, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "wide": rng.normal(size=3000) * 10.0 ** rng.integers(-300, 300, 3000),
            "gaps": np.where(rng.random(3000) < 0.3, np.nan, rng.normal(size=3000)),
            "whole": rng.integers(-(10**9), 10**9, 3000),
        }
    )
    found = source(table.to_csv(index=False))
    np.testing.assert_array_equal(np.concatenate(list(found.float_blocks())), table.to_numpy())
    assert found.to_arrow().equals(pa_csv.read_csv(tmp_path / "table.csv"))


def test_whole_numbers_may_turn_into_fractions_far_into_the_file(source):
    found = source("x,y\n" + "1,2\n" * 2_200_000 + "1.5,2\n")
    assert list(found.float_blocks())[-1][-1, 0] == 1.5
    assert len(found.problems) == 0


def test_threads_and_handles_are_gone_when_reading_stops_early(source):
    found = source("x,y\n" + "1,2\n" * 3_000_000)
    before = threading.active_count()
    blocks = found.blocks()
    next(blocks)
    assert 0 < found.fraction_read < 1
    blocks.close()
    assert threading.active_count() == before
    assert sum(block.num_rows for block in found.blocks()) == 3_000_000 == found.rows
    assert found.fraction_read == 1


def test_packed_files_are_known_by_their_bytes_and_damage_is_told(source, small_blocks):
    text = b"x,y\n" + b"1,2\n" * 1_000
    assert source(gzip.compress(text), name="plain.csv").to_arrow().num_rows == 1_000
    with pytest.raises(DataError, match=r"cut.csv: the gzip data are damaged or end too early"):
        source(gzip.compress(text)[:-12], name="cut.csv")
    long = gzip.compress(b"x\n" + b"123456789\n" * 120_000)
    assert source(long, name="long.gz").to_arrow().num_rows == 120_000
    cut = source(long[:-12], name="cut.gz")
    with pytest.raises(
        DataError, match=r"cut.gz behind line 119,604, byte [\d,]+ of [\d,]+: the gzip data are damaged or end"
    ):
        list(cut.blocks())


@pytest.mark.parametrize("d", [5_000, 20_000])
def test_a_line_of_many_thousand_columns_is_read_whole(source, d):
    lines = [[f"column{j}" for j in range(d)], ["1.5"] * d, ["2"] * (d - 1) + ["oops"], ["-"] * d, ["1"] * 3, ["x"] * d]
    lines[5][: d // 2] = ["3"] * (d // 2)
    found = source(
        "\n".join(",".join(line) for line in lines) + "\n", declared=Declared(sensitive=frozenset(["column1"]))
    )
    assert found.arrow_schema.field("column0").type == pa.float64()
    block = next(found.blocks())
    assert block.shape == (4, d - 1)
    assert block.column(0).to_pylist() == [1.5, 2, None, 3]
    assert block.column(d - 2).to_pylist() == ["1.5", "oops", None, "x"]
    assert counted(found) == [(None, "rows have too few values and are left out", 1, "line 5")]
    assert found.line_of(3) == 6


@pytest.mark.parametrize(
    "text",
    [
        '"a","b","c"\n1,"x",2.5\n,"y z",3\n"4",,""\n',
        '"a","b","c"\r\n1,"x",2.5\r\n2," y",3',
        '"a","b","c"\n1,"x,y",2.5\n2,"y",3\n',  # a delimiter within quotes
        '"a","b","c"\n1,"x\ny",2.5\n2,"y",3\n',  # a line end
        '"a","b","c"\n1,"5"" pipe",2.5\n2,"y",3\n',  # a quote
        '"a","b","c"\n1,5" pipe,2.5\n2,"y",3\n',  # a quote that is a letter
        '"a","b","c"\n1,"x",2.5\n2\n2,"y",3\n',  # a row that is too short
    ],
)
def test_quotes_are_read_alike_in_wide_and_narrow_tables(source, monkeypatch, text):
    narrow = source(text)
    expected = narrow.to_arrow(), set(narrow.problems), [narrow.line_of(i) for i in range(2)]
    monkeypatch.setattr("assay.data.text.parse.WIDE", 2)
    wide = source(text)
    assert (wide.to_arrow(), set(wide.problems), [wide.line_of(i) for i in range(2)]) == expected


def test_wide_and_narrow_tables_are_parsed_alike(source, monkeypatch):
    text = "a;b;c;d\n" + "1,5;2020-01-01;x;7\n" * 30 + "oops;2020-01-02; NA ;8\n\n2,5;z;-;9\n1;2\n   \n3,5;;y;1e999\n"
    narrow = source(text)
    expected = narrow.to_arrow(), set(narrow.problems), [narrow.line_of(i) for i in range(33)]
    monkeypatch.setattr("assay.data.text.parse.WIDE", 2)
    wide = source(text)
    assert (wide.to_arrow(), set(wide.problems), [wide.line_of(i) for i in range(33)]) == expected
    assert len(expected[1]) == 4


def test_a_line_of_a_million_columns_is_refused_with_the_limit(source):
    with pytest.raises(
        DataError, match=r"line 1 has 1,000,000 values, and a text table may have 200,000 columns at most"
    ):
        source(",".join(["1.5"] * 1_000_000) + "\n")


def test_sensitive_columns_are_in_no_block_problem_or_note(source):
    secret = "s3cr3t"
    text = (
        f"{secret}x,y\n" + "".join(f"0{i}{secret},{i}\n" for i in range(40)) + f"{secret},oops\n{secret},1,{secret}\n"
    )
    found = source(text.replace(f"{secret}x", "key"), declared=Declared(sensitive=frozenset(["key"])))
    assert found.arrow_schema.names == ["y"]
    blocks = list(found.blocks())
    shown = repr([blocks, list(found.problems), found.notes, found.schema])
    assert secret not in shown
    # a comma too many could have brought it here from the sensitive column
    assert "oops" not in shown and "line 42" in shown
    with pytest.raises(ParameterError, match="'kee' was declared sensitive, but there is none"):
        list(source(text, declared=Declared(sensitive=frozenset(["kee"]))).blocks())


def test_declared_kinds_decide_what_is_text_and_what_is_a_number(source):
    text = "id,x\n1,5\n2,low\n3,7\n"
    found = source(text, declared=Declared(kinds={"id": "identifier", "x": "number"}))
    assert rows(found) == [("1", 5.0), ("2", None), ("3", 7.0)]
    assert counted(found) == [("x", "values are not numbers and count as missing", 1, "line 3")]
    commas = source("name;x\nAnn;1,70\nBob;1,85\nEve;unknown\n", declared=Declared(kinds={"x": "number"}))
    assert commas.to_arrow().column("x").to_pylist() == [1.7, 1.85, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf\n  \n", "the file is empty"),
        (b"PK\x03\x04\x00\x00\x00junk\x00", "binary file"),
    ],
)
def test_what_is_no_table_is_refused_on_opening(source, content, message):
    with pytest.raises(DataError, match=message):
        source(content)


def test_a_table_may_have_names_only_or_one_value_only(source):
    assert source("x,y\n").to_arrow().num_rows == 0
    assert rows(source("5")) == [(5,)]
    assert source("x\n\n\n").to_arrow().num_rows == 0


def test_a_closed_cell_that_is_too_long_is_called_that(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.text.chunks._LONGEST_QUOTED", 1 << 23)
    path = tmp_path / "table.csv"
    path.write_text("x,y\n1,a\n2,b\n3,c\n" + '4,"' + "long \n" * (4 << 20) + '"\n5,e\n')
    with pytest.raises(DataError, match="the quoted cell that opens on line 5 is longer than 8 MB, or its"):
        list(CsvSource(path).blocks())
    monkeypatch.setattr("assay.data.text.chunks._LONGEST_QUOTED", 1 << 26)
    assert CsvSource(path).to_arrow().num_rows == 5

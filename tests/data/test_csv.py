"""Reading delimited text: what is understood, and how what is not is refused."""

import numpy as np
import pytest

from assay.data.csv import CsvSource
from assay.data.read import read
from assay.errors import DataError


def source(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, delimiter):
    text = "height,weight,name\n1.5,70,Ann\n1.7,80,Bob\n".replace(",", delimiter)
    found = source(tmp_path, text)
    assert [field.name for field in found.schema] == ["height", "weight", "name"]
    assert [field.kind for field in found.schema] == ["number", "number", "text"]
    np.testing.assert_array_equal(np.concatenate(list(found.float_blocks())), [[1.5, 70], [1.7, 80]])


def test_quoted_delimiters_and_newlines_stay_in_their_cell(tmp_path):
    found = source(tmp_path, 'x,note\n1,"a, b"\n2,"two\nlines"\n')
    assert found.to_arrow().column("note").to_pylist() == ["a, b", "two\nlines"]


def test_a_byte_order_mark_is_not_part_of_a_name(tmp_path):
    assert source(tmp_path, b"\xef\xbb\xbfx,y\n1,2\n").numeric_columns == ("x", "y")


def test_missing_values_become_nan(tmp_path):
    found = source(tmp_path, "x,y\n1,NA\n,2\nnan,3\n")
    np.testing.assert_array_equal(np.concatenate(list(found.float_blocks())), [[1, np.nan], [np.nan, 2], [np.nan, 3]])


def test_whole_numbers_may_turn_into_fractions_far_into_the_file(tmp_path):
    rows = ["1,2"] * 3_000_000 + ["1.5,2"]
    found = source(tmp_path, "x,y\n" + "\n".join(rows) + "\n")
    assert list(found.float_blocks())[-1][-1, 0] == 1.5


def test_a_line_of_many_thousand_columns_is_read_whole(tmp_path):
    d = 20_000
    text = ",".join(f"column{j}" for j in range(d)) + "\n" + ",".join(["1.5"] * d) + "\n" + ",".join(["2"] * d) + "\n"
    found = source(tmp_path, text)
    assert len(found.numeric_columns) == d
    assert next(found.float_blocks()).shape == (2, d)


def test_empty_and_repeated_names_are_changed_and_noted(tmp_path):
    found = source(tmp_path, "x,,x\n1,2,3\n")
    assert found.numeric_columns == ("x", "column 2", "x (2)")
    assert "'' to 'column 2', 'x' to 'x (2)'" in found.notes[0]


def test_a_table_without_a_header_is_numbered_and_noted(tmp_path):
    found = source(tmp_path, "1,2\n3,4\n")
    assert found.numeric_columns == ("column 1", "column 2")
    assert sum(len(block) for block in found.float_blocks()) == 2
    assert "no names" in found.notes[0]


def test_a_source_can_be_read_again(tmp_path):
    found = source(tmp_path, "x\n1\n2\n")
    assert isinstance(found, CsvSource)
    np.testing.assert_array_equal(next(found.float_blocks()), next(found.float_blocks()))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf\n  \n", "the file is empty"),
        (b"\n\nx,y\n1,2\n", "begins with 2 empty lines"),
        (b"PK\x03\x04\x00\x00\x00junk\x00", "binary file"),
        (b"x,y\n1,caf\xe9\n" * 5, "line 2 is not UTF-8"),
    ],
)
def test_what_is_no_table_is_refused_on_opening(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        source(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n1,2\n3\n4,5\n", "line 3 has 1 values where 2 are expected"),
        ('x,y\n"a\nb",2\n3,4,5\n', "line 4 has 3 values where 2 are expected"),
    ],
)
def test_a_ragged_line_is_refused_with_its_number(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        list(source(tmp_path, content).blocks())


def test_text_far_down_in_a_column_of_numbers_is_named(tmp_path):
    content = "x,y\n" + "1,2\n" * 3_000_000 + "oops,2\n"
    with pytest.raises(DataError, match="column 'x' begins with numbers but later holds 'oops'"):
        list(source(tmp_path, content).blocks())


def test_what_cannot_be_opened_is_refused_in_words(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="it is a folder"):
        read(tmp_path)
    with pytest.raises(DataError, match="cannot read a int"):
        read(3)
    with pytest.raises(DataError, match="two dimensions"):
        read(np.ones(3))

"""From cells to values: which columns are numbers, how they are written, and what stays text."""

import datetime
from datetime import UTC

import numpy as np
import pyarrow as pa
import pytest

from assay.data.columns.words import MISSING_CELLS
from assay.data.problems import Problems
from assay.data.text.format import CsvFormat
from assay.data.text.types import guesses
from assay.data.text.values import ValueForm, converted


def column(cells, delimiter=";", complete=True, **options):
    """One column read from a table that has it twice: its type, values, problems and notes."""
    text = "x;name\n".replace(";", delimiter) + "".join(f"{cell}{delimiter}a\n" for cell in cells)
    found = CsvFormat.sniffed(text.encode(), complete, delimiter=delimiter, **options)
    problems = Problems()
    body = text.encode()[found.start :]
    values = found.parse(body, found.first_line, problems).column(0).to_pylist()
    return str(found.schema.field("x").type), values, list(problems), found.notes


@pytest.mark.parametrize(
    ("cells", "type_", "values", "note"),
    [
        (["1", "-2", "+3"], "int64", [1, -2, 3], None),
        (["1", " 2.5 ", "1e3", ".5", "5."], "double", [1, 2.5, 1000, 0.5, 5], None),
        (["1,5", "2", "-,5", "1,5e3"], "double", [1.5, 2, -0.5, 1500], "Decimal commas"),
        (["0,123", "1,234"], "double", [0.123, 1.234], "Decimal commas"),
        (["1,234", "5,678"], "double", [1.234, 5.678], "might stand between thousands"),
        (["1,234.50", "12", "1,234,567"], "double", [1234.5, 12, 1234567], "between thousands"),
        (["1.234,50", "12,1"], "double", [1234.5, 12.1], "Decimal commas"),
        (["1.234.567", "1"], "double", [1234567, 1], "between thousands"),
        (["1 234,5", "2"], "double", [1234.5, 2], "between thousands"),
        (["1\u00a0234", "1\u202f234"], "double", [1234, 1234], "between thousands"),
        (["1'234", "2"], "double", [1234, 2], "between thousands"),
        (["45%", "-3.5 %"], "double", [45, -3.5], "45% is 45"),
        (["$5", "-$1,000.5"], "double", [5, -1000.5], "Currency"),
        (["5 €", "1,50€"], "double", [5, 1.5], "Currency"),
        (["45%", "3"], "string", ["45%", "3"], None),
        (["$5", "€5"], "string", ["$5", "€5"], None),
        (["1,2,3", "4"], "string", ["1,2,3", "4"], None),
        (["00123", "12345"], "string", ["00123", "12345"], "kept as text"),
        (["+491234567", "+497654321"], "string", ["+491234567", "+497654321"], "kept as text"),
        (["0", "0.5", "-0.25"], "double", [0, 0.5, -0.25], None),
        (["1234567890123456789012"] * 2, "string", ["1234567890123456789012"] * 2, "too many for a number"),
        (["9223372036854775807", "-5"], "int64", [9223372036854775807, -5], None),
        (["9223372036854775808", "5", "6"], "double", [2.0**63, 5, 6], None),
        (["true", "False", "NA"], "bool", [True, False, None], None),
        (["yes", "no"], "string", ["yes", "no"], None),
        (["2020-01-31", "2020-02-29"], "date32[day]", [datetime.date(2020, 1, 31), datetime.date(2020, 2, 29)], None),
        (
            ["2020-01-31 10:20", "2020-02-01"],
            "timestamp[us]",
            [datetime.datetime(2020, 1, 31, 10, 20), datetime.datetime(2020, 2, 1)],
            None,
        ),
        (["2020-01-31T10:00:00+02:00"], "timestamp[us, tz=UTC]", [datetime.datetime(2020, 1, 31, 8, tzinfo=UTC)], None),
        (["31.01.2020", "1/2/2020"], "string", ["31.01.2020", "1/2/2020"], None),
        (["=1+1", "2"], "string", ["=1+1", "2"], None),
        (["0x10", "1_000", "1d5"], "string", ["0x10", "1_000", "1d5"], None),
    ],
)
def test_a_column_becomes_what_all_its_cells_are(cells, type_, values, note):
    found, read, problems, notes = column(cells)
    assert (found, read, problems) == (type_, values, [])
    told = [n for n in notes if "names" not in n]
    assert any(note in n for n in told) if note else told == []


def test_without_a_semicolon_groups_of_three_digits_are_thousands():
    assert column(["1,234", "5,678"], delimiter="\t")[1] == [1234, 5678]
    assert column(["1,234", "5,678"], delimiter="\t", decimal=",")[1] == [1.234, 5.678]
    assert column(["1,234", "5,678"], delimiter=";", decimal=".")[1] == [1234, 5678]


def test_another_column_may_settle_what_a_comma_means():
    text = b"x\ty\n1,234\t1,5\n5,678\t2,5\n"
    assert CsvFormat.sniffed(text, True).parse(b"1,234\t1,5\n", 2, Problems()).to_pylist() == [{"x": 1.234, "y": 1.5}]


def test_whole_numbers_among_decimal_commas_may_get_commas_later():
    found = CsvFormat.sniffed(b"x;y;z\n1,5;2;3.5\n", False)
    problems = Problems()
    assert found.parse(b"2,5;2,5;4.5\n", 3, problems).to_pylist() == [{"x": 2.5, "y": 2.5, "z": 4.5}]
    assert len(problems) == 0


@pytest.mark.parametrize("marker", MISSING_CELLS)
def test_markers_of_missing_values_are_missing_among_numbers_and_among_words(marker):
    assert column([marker, f" {marker} ", "5"])[:2] == ("int64", [None, None, 5])
    assert column([marker, f"  {marker}", "word"])[:2] == ("string", [None, None, "word"])


def test_all_missing_columns_hold_nothing_and_may_hold_anything_later():
    assert column(["NA", "-", ""])[:2] == ("null", [None] * 3)
    assert column(["NA", "-", ""], complete=False)[0] == "string"


def test_few_words_among_many_numbers_contradict_and_many_make_text():
    numbers = [str(i) for i in range(95)]
    type_, values, problems, _ = column([*numbers, *"abcde"])
    assert (type_, values[-6:]) == ("double", [94.0, *[None] * 5])
    assert [(p.count, p.examples[0]) for p in problems] == [(5, ("line 97", "a"))]
    assert column([*numbers, *"abcdef"])[0] == "string"
    assert column([*numbers[:19], "a"])[0] == "string"


def test_numbers_beyond_the_range_and_infinite_ones_are_missing_and_counted():
    _, values, problems, _ = column(["1e400", "-1e400", "inf", "-Infinity", "5", "nan"])
    assert values == [None] * 4 + [5, None]
    assert [(p.what.split(" and")[0], p.count) for p in problems] == [
        ("values are beyond the range of numbers", 2),
        ("values are infinite", 2),
    ]
    assert column(["1e-400", "1e308"])[1] == [0.0, 1e308]


def test_whole_numbers_beyond_the_exact_ones_stay_whole_and_fractions_then_contradict():
    found = CsvFormat.sniffed(b"id,x\n9007199254740993,1\n9007199254740995,2\n", False)
    problems = Problems()
    rows = found.parse(b"9007199254740997,1\n1.5,2\n99999999999999999999,3\n", 4, problems)
    assert rows.column("id").to_pylist() == [9007199254740997, None, None]
    assert [(p.what, p.count) for p in problems] == [("values are not whole numbers and count as missing", 2)]


def test_units_in_the_cells_are_told_in_the_schema():
    found = CsvFormat.sniffed(b"share,price\n45%,$5\n50%,$6\n", True)
    assert [field.metadata[b"unit"].decode() for field in found.schema] == ["%", "$"]


def test_many_columns_are_judged_as_few_are():
    rng = np.random.default_rng(0)
    kinds = [
        ["1", "2", "3"],
        ["1.5", "NA", "x"],
        ["01", "02", "3"],
        ["", "-", "NA"],
        ["a", "b", "1"],
        ["true", "NA", "false"],
    ]
    kinds += [
        ["2020-01-01"] * 3,
        ["1e400", "2", "inf"],
        ["9" * 25] * 3,
        ["1,5", "2,5", "3"],
        ["9007199254740993", "1", "2"],
    ]
    chosen = [kinds[i] for i in rng.integers(0, len(kinds), 220)]
    for complete in (True, False):
        for decimal in (None, ","):
            one_by_one = [guesses(pa.array(c), 3, complete=complete, decimal=decimal)[0] for c in chosen]
            cells = pa.array([cell for column in chosen for cell in column])
            assert guesses(cells, 3, complete=complete, decimal=decimal) == one_by_one


def test_python_reads_the_same_numbers():
    rng = np.random.default_rng(1)
    texts = [repr(float(x)) for x in rng.normal(size=500) * 10.0 ** rng.integers(-320, 300, 500)]
    values, wrong = converted(pa.array(texts), pa.float64(), ValueForm())
    assert values.to_pylist() == [float(text) for text in texts]
    assert wrong == {}

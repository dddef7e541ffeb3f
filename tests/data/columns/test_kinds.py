"""What kind of column it is: each rule with a column that it is for and one that it must leave alone."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.columns.kinds import natural, understood
from assay.data.field import KINDS, Declared

rng = np.random.default_rng(5)


def field(values, name="x", type_=None, before=True, declared=None):
    """One column understood; with `before`, it is not the first of its table."""
    column = values if isinstance(values, (pa.Array, pa.DictionaryArray)) else pa.array(values, type_)
    columns = {"before": pa.array([0.5] * len(column)), name: column} if before else {name: column}
    batch = pa.record_batch(columns)
    return understood(batch.schema, [batch], declared or Declared())[-1]


def kind(values, name="x", **more):
    return field(values, name, **more).kind


def spread(levels, n=100):
    return [levels[i % len(levels)] for i in range(n)]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("x", [0.5, 1.5, 2.25], "number"),
        ("x", [-3, 5, 100, 7, 8], "number"),
        ("x", [3, 5, 100, 7, 8], "count"),
        ("x", [3.0, 5.0, 100.0, 7.0, 8.0], "count"),
        ("x", [7, 7, None, 7], "constant"),
        ("x", [None, np.nan], "empty"),
        ("x", [7], "count"),
        ("smokes", spread([0, 1]), "boolean"),
        ("smokes", spread([0, 1], 4), "boolean"),
        ("x", spread([-1, 1]), "category"),
        ("x", spread([-1, 1], 4), "number"),
        ("x", spread([0.25, 0.75]), "number"),
        ("Region", spread([1, 2, 3]), "category"),
        ("zipCode", [10115, 80331, 20095, 50667, 60311], "category"),
        ("region sales", list(range(100, 300)), "count"),
        ("stars", spread([1, 2, 3, 4, 5]), "ordered"),
        ("stars", spread([-2, -1, 0, 1, 2]), "ordered"),
        ("stars", [1, 2, 3, 4, 5, 5], "count"),
        ("price", spread([0, 100, 200, 5000]), "count"),
        ("userId", spread(list(range(40)), 400), "identifier"),
        ("customer_id", [17, 4, 99], "identifier"),
        ("store_id", spread([1, 2, 3]), "category"),
        ("user", spread(list(range(40)), 400), "identifier"),
        ("users", spread(list(range(40)), 400), "count"),
        ("cost per user", spread(list(range(40)), 400), "count"),
        ("row", [5, 6, 7, 8], "identifier"),
        ("row", [5, 6, 7, 9], "count"),
        ("heat index", [70, 70, 80, 90], "count"),
        ("grid", [5, 6, 7, 9, 7], "count"),
        ("year", [1995, 1996, 2004, 1995], "number"),
        ("year", spread([1995, 1996]), "number"),
        ("years", [3, 14, 25, 3, 7], "count"),
        ("timestamp", [1_260_759_144, 1_260_759_179, 1_460_000_000], "time"),
        ("createdAt", [1_260_759_144_000, 1_260_759_179_000, 1_460_000_000_000], "time"),
        ("order date", [20110131, 20110201, 20110330], "time"),
        ("timestamp", [1.5, 2.5, 12.0], "number"),
        ("amount", [1_260_759_144, 1_260_759_179, 1_460_000_000], "count"),
        ("time", [12, 15, 19, 22, 80], "count"),
    ],
)
def test_numbers(name, values, expected):
    assert kind(values, name) == expected


def test_row_numbers_are_known_in_the_first_column_only():
    assert kind(list(range(1, 50)), before=False) == "identifier"
    assert kind(list(range(1, 50))) == "count"
    assert kind(list(range(7, 50)), before=False) == "count"
    assert kind([*range(1, 50), 5], before=False) == "count"


def test_runs_that_count_up_are_known_in_the_first_column_only():
    runs = np.repeat(np.arange(1, 41), 6)
    assert kind(runs, before=False) == "identifier"
    assert kind(runs) == "count"
    assert kind(runs[::-1], before=False) == "count"


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("x", ["yes", "No", "YES"], "boolean"),
        ("x", ["ja", "nein"], "boolean"),
        ("x", ["yes", "no", "maybe", "yes", "no"], "category"),
        ("x", ["yes", "no", "?", "N.A."], "boolean"),
        ("x", spread(["none", "low", "high"]), "ordered"),
        ("x", ["2011-01-31", "NA", "2011-02-01", "-"], "time"),
        ("x", spread(["male", "female"]), "category"),
        ("x", spread(["t", "n"]), "category"),
        ("x", ["same"] * 3, "constant"),
        ("x", ["", " ", None], "empty"),
        ("x", ["NA", "-", "?"], "empty"),
        ("x", ["1.5", "2.5", "n/a", "3"], "number"),
        ("x", ["1,5", "2,75", "10,25"], "number"),
        ("x", ["$1,200.50", "$3.00", "$17"], "number"),
        ("x", ["1.5", "2.5", "abc", "x"], "text"),
        ("x", ["01067", "10115", "20095", "80331", "01069"], "identifier"),
        ("x", spread(["01067", "10115"]), "category"),
        ("x", spread(["0", "1"]), "boolean"),
        ("when", ["2011-01-31", "31 Jan 2011", "Feb 3, 2011"], "time"),
        ("when", ["31.01.2011", "01.02.2011"], "time"),
        ("when", ["9:30", "23:15", "0:00"], "time"),
        ("when", ["soon", "later", "9:30", "tomorrow", "never"], "identifier"),
        ("x", spread(["low", "High", "medium"]), "ordered"),
        ("x", spread(["low", "high", "red"]), "category"),
        ("x", spread(["18-24", "25-34", "65+"]), "ordered"),
        ("x", spread(["18-24", "20-34"]), "category"),
        ("x", spread(["S", "M"]), "category"),
        ("x", spread(["S", "M", "XL"]), "ordered"),
        ("x", spread(["Mon", "Tue", "Sun"]), "ordered"),
        ("x", spread(["Dec", "January", "Mar"]), "ordered"),
        ("x", [f"K-{i}" for i in range(30)], "identifier"),
        ("x", [f"a{i % 25}@b.org" for i in range(60)], "identifier"),
        ("x", [f"https://e.org/{i % 25}" for i in range(60)], "identifier"),
        ("x", [f"{i:032x}" for i in range(30)] * 2, "identifier"),
        ("tel", [f"+49 170 {1234500 + i % 25}" for i in range(60)], "identifier"),
        ("city", ["Athens", "Hook of Holland", "Rome", "Paris", "Bonn"], "identifier"),
        ("x", spread(["north", "south", "far east"]), "category"),
        ("note", [f"the {i} brown foxes jump over {i * i} lazy dogs" for i in range(40)], "text"),
        ("genres", [f"A{i % 7}|B{i % 5}" for i in range(200)], "text"),
        ("x", ["Ann", "Bob"], "text"),
        ("x", [f"name{i}" for i in range(60)] + ["name1", "name2"], "identifier"),
    ],
)
def test_text(name, values, expected):
    assert kind(values, name) == expected


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([True, False, None]), "boolean"),
        (pa.array([True, True]), "constant"),
        (pa.array([dt.date(2011, 1, 1), dt.date(2012, 1, 1)]), "time"),
        (pa.array([dt.date(2011, 1, 1)] * 3), "constant"),
        (pa.array([dt.datetime(2011, 1, 1), None]), "time"),
        (pa.array([dt.time(1, 2), dt.time(3, 4)]), "time"),
        (pa.array([dt.timedelta(1), dt.timedelta(2)]), "number"),
        (pa.array([Decimal("1.50"), Decimal("2.25")]), "number"),
        (pa.nulls(3), "empty"),
        (pa.array([[1], [2]]), "other"),
        (pa.array([{"a": 1}]), "other"),
        (pa.array([b"\x00"]), "other"),
        (pa.array(spread(["a", "b"])).dictionary_encode(), "category"),
        (pa.array([f"K-{i}" for i in range(30)]).dictionary_encode(), "identifier"),
        (pa.array(spread(["a", "b"]), pa.large_string()), "category"),
        (pa.array(spread(["a", "b"]), pa.string_view()), "category"),
        (pa.array([2**63 + 1, 3, 2], pa.uint64()), "count"),
        (pa.array([1.5, 2.5], pa.float16()), "number"),
    ],
)
def test_stored_types(column, expected):
    assert kind(column) == expected


def test_ordered_dictionaries_keep_their_order():
    stored = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["z", "a", "m"]), ordered=True)
    found = field(stored)
    assert (found.kind, found.levels) == ("ordered", ("z", "a", "m"))


def test_the_levels_of_an_ordered_column_go_from_low_to_high():
    assert field(spread(["High", "low", "medium"])).levels == ("low", "medium", "High")
    assert field(spread(["65+", "<18", "25-64", "18-24"])).levels == ("<18", "18-24", "25-64", "65+")
    assert field(spread(["often", "never", "always"])).levels == ("never", "often", "always")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["31/01/2011", "01/02/2011"], "dates, day before month"),
        (["01/31/2011", "02/01/2011"], "dates, month before day"),
        (["01/02/2011", "03/04/2011"], "dates; no value shows the order, month before day is taken"),
        (["2011-01-31", "2011-02-01"], "dates"),
        (["31/01/2011"] * 30 + ["01/31/2011"], "dates, day before month"),
    ],
)
def test_the_order_of_day_and_month_is_decided_once_and_said(cells, words):
    assert field(cells).why == words


def test_every_column_says_why():
    batch = pa.record_batch({"a": [1.5, 2.0], "b": ["x", "y"], "c": [None, None], "d": [[1], [2]], "e": [1, 1]})
    assert all(found.why for found in understood(batch.schema, [batch], Declared()))


def test_what_is_declared_goes_first():
    declared = Declared(kinds={"x": "ordered"}, units={"x": "stone"}, roles={"x": "target"})
    found = field(["10", "9", "b", "a"], declared=declared)
    assert (found.kind, found.unit, found.role, found.why) == ("ordered", "stone", "target", "declared")
    assert found.levels == ("9", "10", "a", "b")


def test_units_come_from_the_user_before_the_file_before_the_header():
    stored = pa.field("Weight [g]", pa.float64(), metadata={b"unit": b"kilograms"})
    batch = pa.record_batch([pa.array([1.5, 2.5])], schema=pa.schema([stored]))
    assert understood(batch.schema, [batch], Declared())[0].unit == "kg"
    assert understood(batch.schema, [batch], Declared(units={"Weight [g]": "t"}))[0].unit == "t"
    assert field([1.5, 2.5], "Weight [g]").unit == "g"
    assert field([1.5, 2.5], "Weight (of Ann)").unit is None


def test_the_ends_of_links_are_identifiers_only_together():
    links = {"Source": [5, 9, 5, 700], "Target": [9, 1, 2, 3]}
    batch = pa.record_batch(links)
    assert [f.kind for f in understood(batch.schema, [batch], Declared())] == ["identifier", "identifier"]
    assert kind([5, 9, 5, 700], "target") == "count"
    declared = Declared(kinds={"Target": "number"})
    assert [f.kind for f in understood(batch.schema, [batch], declared)] == ["count", "number"]


def test_no_rows_and_no_blocks_are_understood_as_empty():
    schema = pa.schema([("x", pa.float64()), ("t", pa.string()), ("d", pa.date32()), ("b", pa.bool_())])
    assert {f.kind for f in understood(schema, schema.empty_table().to_batches(), Declared())} <= {"empty"}
    assert {f.kind for f in understood(schema, [], Declared())} == {"empty"}


def test_blocks_are_understood_together():
    a, b = (pa.record_batch({"x": part}) for part in ([1.0, 2.0], [2.5, 3.0]))
    assert understood(a.schema, [a, b], Declared())[0].kind == "number"


def test_duplicate_names_and_markup_in_names_do_no_harm():
    batch = pa.RecordBatch.from_arrays([pa.array([1.5, 2.5]), pa.array(["a", "b"])], names=["<b>x</b>", "<b>x</b>"])
    assert [f.name for f in understood(batch.schema, [batch], Declared())] == ["<b>x</b>", "<b>x</b>"]


def test_wide_tables_of_numbers_are_understood_column_by_column():
    values = rng.normal(size=(3000, 7))
    values[::3] = np.floor(values[::3] * 10)
    batch = pa.RecordBatch.from_arrays([pa.array(x) for x in values], names=[f"g{j}" for j in range(3000)])
    one_by_one = [
        understood(part.schema, [part], Declared())[0].kind for part in (batch.select([j]) for j in range(1, 40))
    ]
    assert [f.kind for f in understood(batch.schema, [batch], Declared())][1:40] == one_by_one


cells = st.one_of(
    st.none(),
    st.text(max_size=8),
    st.sampled_from(["1", "2.5", "yes", "no", "low", "high", "2011-01-01", "NA", "12:30"]),
)


@given(st.lists(cells, max_size=12), st.text(max_size=10))
def test_any_text_has_a_kind(values, name):
    found = field(pa.array(values, pa.string()), name)
    assert found.kind in KINDS
    assert (found.levels is not None) == (found.kind == "ordered" and any(not _is_number(v) for v in values if v))


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return text.strip() in ("", "NA")
    return True


@given(st.lists(st.one_of(st.none(), st.floats(), st.integers(-5, 5).map(float)), max_size=12), st.text(max_size=10))
def test_any_numbers_have_a_kind_that_their_order_does_not_change_except_row_numbers(values, name):
    there = field(pa.array(values, pa.float64()), name).kind
    back = field(pa.array(values[::-1], pa.float64()), name).kind
    assert there == back or "identifier" in (there, back)


def test_natural_order_puts_numbers_first_by_size():
    assert sorted(["b", "10", "9", "a", "nan"], key=natural) == ["9", "10", "a", "b", "nan"]


def test_the_number_of_what_is_rated_is_a_name():
    def kinds(columns):
        block = pa.record_batch(columns)
        return {field.name: field.kind for field in understood(block.schema, [block], Declared())}

    rng = np.random.default_rng(0)
    triples = {"user": rng.integers(1, 90, 900), "joke": rng.integers(1, 101, 900), "rating": rng.normal(size=900)}
    assert kinds(triples) == {"user": "identifier", "joke": "identifier", "rating": "number"}
    visits = {"user": rng.integers(1, 90, 900), "minutes": rng.integers(1, 101, 900), "cost": rng.normal(size=900)}
    assert kinds(visits)["minutes"] == "count"

"""Several sources as one: what matches, what is converted, what stops, and that no row is lost."""

import datetime as dt
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data.field import Declared
from assay.data.fusion.fuse import fuse
from assay.data.fusion.match import folded_name
from assay.data.read import read
from assay.data.source import ArrowSource
from assay.errors import DataError, ParameterError


def source(name, units=None, kinds=None, sensitive=(), **columns):
    return ArrowSource(pa.table(columns), name, Declared(kinds or {}, units or {}, {}, frozenset(sensitive)))


def rows(fused, *columns):
    table = fused.to_arrow()
    return table.select(list(columns)).to_pydict() if columns else table.to_pydict()


def refusal(sources, **options):
    with pytest.raises(DataError) as refused:
        fuse(sources, **options)
    return str(refused.value)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Body Mass", "body_mass"),
        ("body-mass [g]", "BodyMass (kg)"),
        ("Größe", "GROSSE"),
        ("café", "Cafe"),
        (" x. ", "X"),
        ("ﬁle №1", "File No1"),
    ],
)
def test_names_that_differ_in_spelling_only_are_the_same(a, b):
    assert folded_name(a) == folded_name(b)


@pytest.mark.parametrize(
    ("a", "b"), [("x1", "x2"), ("%", "#"), ("か", "が"), ("mass [parsnips]", "mass"), ("कि", "कु"), ("ή", "η2")]
)
def test_names_that_differ_in_letters_are_not(a, b):
    assert folded_name(a) != folded_name(b)


def test_columns_are_matched_and_the_origin_is_kept():
    a = source("a", id=["p", "q"], **{"Body Mass [g]": [500.0, 250.0], "only a": [1, 2]})
    b = source("b", **{"body_mass (kg)": [2.0], "ID": ["r"], "Só": ["x"]})
    fused = fuse([a, b])
    assert rows(fused) == {
        "id": ["p", "q", "r"],
        "Body Mass [g]": [500.0, 250.0, 2000.0],
        "only a": [1, 2, None],
        "Só": [None, None, "x"],
        "origin": ["a", "a", "b"],
    }
    assert fused.rows == 3
    fields = {field.name: field for field in fused.schema}
    assert fields["origin"].role == "origin"
    assert fields["origin"].kind == "category"
    assert fields["Body Mass [g]"].unit == "g"
    assert fields["only a"].kind != "empty"
    account = fused.account
    assert account.rows == (2, 1)
    assert [name for name, _ in account.matched] == ["id", "Body Mass [g]"]
    assert [(c.column, c.source, c.unit, c.to, c.factor) for c in account.converted] == [
        ("Body Mass [g]", "b", "kg", "g", 1000.0)
    ]
    assert account.only_in == (("only a", ("a",)), ("Só", ("b",)))
    told = " ".join(fused.notes)
    assert "2 sources were fused: a (2 rows), b (1 rows)." in told
    assert "Body Mass [g] of b was converted from kg to g: times 1000." in told
    assert "missing in the others: only a (a), Só (b)." in told
    assert "Body Mass [g] is 'Body Mass [g]' in a, 'body_mass (kg)' in b" in told


def test_only_common_columns_are_taken_if_so_asked():
    fused = fuse(
        [source("a", x=[1], y=[2]), source("b", x=[3], z=["t"], y=["no number"])],
        columns="common",
        resolve={"y": "drop"},
    )
    assert rows(fused) == {"x": [1, 3], "origin": ["a", "b"]}
    assert fused.account.left_out == ("z",)
    assert "Columns that not all sources have were left out: z." in fused.notes


def test_sources_without_a_common_column_are_told():
    a, b = source("a", x=[1.5]), source("b", y=[2.5])
    assert "No two sources have a column in common" in fuse([a, b]).notes[1]
    assert rows(fuse([a, b])) == {"x": [1.5, None], "y": [None, 2.5], "origin": ["a", "b"]}
    assert refusal([a, b], columns="common").endswith("no column is common to all; say which are by match=")


def test_every_conflict_is_listed_with_what_to_do():
    a = source("a", age=[30.0, 31.5], mass=[1.5, 2.0], when=[dt.date(2020, 1, 1), None], fine=[1, 2])
    b = source("b", {"mass": "kg"}, age=["old", "young"], mass=[7.5, 3.0], when=["Monday", "Friday"], fine=[1.5, 2.5])
    text = refusal([a, b])
    assert text.startswith("cannot fuse a, b, as 3 columns conflict: ")
    assert "'age': number stored as double in a, text stored as string in b (resolve={'age': 'first'}" in text
    assert (
        "'mass': no unit in a, kg in b (say the unit where it is read, as in assay.read(..., units={'mass': 'kg'})"
        in text
    )
    assert "'when': time stored as date32[day] in a" in text or "'when': constant" in text
    assert "fine" not in text
    assert "\n" not in text


@pytest.mark.parametrize(("to", "other"), [("kg", "m"), ("kg", "parsnips"), ("EUR", "USD")])
def test_units_that_measure_different_things_conflict(to, other):
    a, b = source("a", {"x": to}, x=[1.5, 2.5]), source("b", {"x": other}, x=[1.5, 2.5])
    assert f"'x': {to} in a, {other} in b" in refusal([a, b])
    assert rows(fuse([a, b], resolve={"x": "first"}))["x"] == [1.5, 2.5, 1.5, 2.5]
    assert fuse([a, b], resolve={"x": "first"}).account.resolved == (("x", "first", f"{to} in a, {other} in b"),)


def test_two_columns_of_one_source_that_fold_alike_conflict_unless_told_apart():
    a, b = source("a", **{"a-b": [1.5], "ab": [2.5]}), source("b", **{"A B": [3.5]})
    text = refusal([a, b])
    assert "'a-b' and 'ab' of a are taken for the same (say which belongs to which, as in match={'a-b': [...]}" in text
    assert rows(fuse([a, b], resolve={"ab": "drop"})) == {"origin": ["a", "b"]}
    # spelt alike everywhere they are no riddle
    assert rows(fuse([a, a], names=["p", "q"])) == {"a-b": [1.5, 1.5], "ab": [2.5, 2.5], "origin": ["p", "q"]}


def test_names_can_be_matched_by_hand():
    a, b = source("a", weight=[1.5], n=[1]), source("b", Mass=[2.5], n=[2])
    fused = fuse([a, b], match={"mass_kg": ["weight", "mass"]})
    assert rows(fused) == {"mass_kg": [1.5, 2.5], "n": [1, 2], "origin": ["a", "b"]}
    with pytest.raises(
        ParameterError, match="match= names column 'wieght', which no source has; there are weight, n, Mass"
    ):
        fuse([a, b], match={"mass": "wieght"})


def test_resolutions_do_what_they_say():
    a, b = source("a", x=[1.0, 2.5]), source("b", x=["3", "many", "NA"])
    first = fuse([a, b], resolve={"x": "first"})
    assert rows(first)["x"] == [1.0, 2.5, 3.0, None, None]
    assert [(p.column, p.count, p.examples) for p in first.problems] == [("x", 1, (("b, row 2", "many"),))]
    assert rows(fuse([a, b], resolve={"X": "number"}))["x"] == [1.0, 2.5, 3.0, None, None]
    assert rows(fuse([a, b], resolve={"x": "text"}))["x"] == ["1", "2.5", "3", "many", "NA"]
    assert rows(fuse([a, b], kinds={"x": "category"}))["x"] == ["1", "2.5", "3", "many", "NA"]
    assert rows(fuse([a, b], resolve={"x": "drop"})) == {"origin": ["a", "a", "b", "b", "b"]}
    with pytest.raises(ParameterError, match="resolve says one of first, drop, .*; got 'last' for 'x'"):
        fuse([a, b], resolve={"x": "last"})
    with pytest.raises(ParameterError, match="resolve= names column 'y', which no source has"):
        fuse([a, b], resolve={"y": "drop"})


def test_a_unit_can_be_asked_for():
    a, b = source("a", **{"t [degC]": [0.0, 100.0]}), source("b", **{"T [K]": [273.15]})
    fused = fuse([a, b], units={"t": "degF"})
    np.testing.assert_allclose(rows(fused)["t"], [32.0, 212.0, 32.0])
    assert {field.name: field.unit for field in fused.schema}["t"] == "degF"
    bare = fuse([source("a", m=[1.5]), source("b", m=[2.5])], units={"m": "kg"})
    assert rows(bare)["m"] == [1.5, 2.5]
    assert bare.schema[0].unit == "kg"


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5, unique=True),
    st.sampled_from([("kg", "lb"), ("degC", "degF"), ("km", "mi"), ("h", "s"), ("kn", "km/h")]),
)
@settings(max_examples=15)
def test_a_unit_there_and_back_gives_the_values_back(values, units):
    here, there = units
    a = source("a", {"x": here}, x=values)
    away = fuse([a, a], names=["p", "q"], units={"x": there}).to_arrow()
    back = fuse(
        [ArrowSource(away, "m", Declared(units={"x": there}))] * 2, names=["r", "s"], units={"x": here}, origin="o"
    )
    np.testing.assert_allclose(rows(back)["x"], values * 4, rtol=1e-12, atol=1e-9)


word = st.text("abcdef", min_size=1, max_size=3)


@st.composite
def tables(draw):
    n = draw(st.integers(2, 12))
    columns = {
        "x": st.floats(allow_nan=False, width=64),
        "Y y": st.integers(-(2**62), 2**62),
        "w": word,
        "day": st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
        "b": st.booleans(),
    }
    types = [pa.float64(), pa.int64(), pa.string(), pa.date32(), pa.bool_()]
    made = [
        pa.array(draw(st.lists(st.none() | values, min_size=n, max_size=n)), type_)
        for values, type_ in zip(columns.values(), types, strict=True)
    ]
    cuts = sorted(draw(st.lists(st.integers(0, n), min_size=1, max_size=3)))
    return pa.table(made, names=list(columns)), [0, *cuts, n]


@settings(max_examples=25)
@given(tables())
def test_the_parts_of_a_table_fuse_to_the_table(made):
    table, cuts = made
    parts = [table.slice(i, j - i) for i, j in pairwise(cuts)]
    fused = fuse(parts, names=[f"part {i}" for i in range(len(parts))])
    whole = fused.to_arrow()
    assert whole.drop_columns(["origin"]).equals(table)
    assert whole.num_rows == fused.rows == sum(part.num_rows for part in parts)
    expected = [f"part {i}" for i, part in enumerate(parts) for _ in range(part.num_rows)]
    assert whole.column("origin").to_pylist() == expected
    assert list(fused.problems) == []
    assert fused.account.rows == tuple(part.num_rows for part in parts)


@settings(max_examples=12)
@given(tables(), st.randoms())
def test_the_order_of_sources_only_permutes_rows(made, random):
    table, cuts = made
    parts = [(f"p{i}", table.slice(a, b - a)) for i, (a, b) in enumerate(pairwise(cuts))]
    shuffled = random.sample(parts, len(parts))

    def counted(order):
        fused = fuse([part for _, part in order], names=[name for name, _ in order]).to_arrow()
        return sorted(map(repr, fused.to_pylist()))

    assert counted(parts) == counted(shuffled)


def test_types_are_unified_without_loss():
    a = source(
        "a",
        n=pa.array([1], pa.int8()),
        f=[1],
        d=[dt.date(2020, 1, 1)],
        c=pa.array(["u"]).dictionary_encode(),
        e=pa.nulls(1),
        b=[True],
    )
    b = source("b", n=pa.array([2], pa.int32()), f=[1.5], d=[dt.datetime(2020, 1, 2, 3)], c=["v"], e=["w"], b=["no"])
    fused = fuse([a, b])
    assert fused.arrow_schema.types[:-1] == [
        pa.int64(), pa.float64(), pa.timestamp("us"), pa.string(), pa.string(), pa.string(),
    ]  # fmt: skip
    assert rows(fused) == {
        "n": [1, 2],
        "f": [1.0, 1.5],
        "d": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2, 3)],
        "c": ["u", "v"],
        "e": [None, "w"],
        "b": ["true", "no"],
        "origin": ["a", "b"],
    }


def test_numbers_and_dates_in_text_go_with_stored_ones():
    days = [dt.date(2020, 1, d) for d in (1, 2, 3)]
    a = source("a", x=[1.5, 2.5, 3.5], d=days)
    b = source(
        "b", x=["1,5", "2,25", "x"] + ["7,5"] * 40, d=["13/01/2020", "14/01/2020", "later"] + ["02/02/2020"] * 40
    )
    fused = fuse([a, b])
    got = rows(fused)
    assert got["x"][:7] == [1.5, 2.5, 3.5, 1.5, 2.25, None, 7.5]
    assert got["d"][3:7] == [dt.datetime(2020, 1, 13), dt.datetime(2020, 1, 14), None, dt.datetime(2020, 2, 2)]
    assert [(p.column, p.count, p.examples) for p in fused.problems] == [
        ("x", 1, (("b, row 3", "x"),)),
        ("d", 1, (("b, row 3", "later"),)),
    ]


def test_times_with_and_without_a_zone_conflict():
    naive, aware = dt.datetime(2020, 1, 1, 10), dt.datetime(2020, 1, 1, 10, tzinfo=dt.UTC)
    a, b = source("a", t=[naive, naive + dt.timedelta(1)]), source("b", t=pa.array([aware], pa.timestamp("us", "UTC")))
    assert "'t': times with and without a zone: timestamp[us] in a, timestamp[us, tz=UTC] in b" in refusal([a, b])
    assert "with and without a zone" in refusal([a, b], kinds={"t": "time"})
    assert rows(fuse([a, b], resolve={"t": "first"}))["t"] == [aware, aware + dt.timedelta(1), aware]


def test_declared_kinds_that_differ_conflict():
    a, b = (
        source("a", kinds={"code": "category"}, code=[1, 2, 3]),
        source("b", kinds={"code": "number"}, code=[4, 5, 6]),
    )
    assert "'code': category stored as int64 in a, number stored as int64 in b" in refusal([a, b])
    same = fuse([a, a], names=["p", "q"])
    assert same.schema[0].kind == "category"


def test_one_repeated_word_is_no_number():
    assert "'x'" in refusal([source("a", x=[1.5, 2.5]), source("b", x=["tall", "tall"])])


def test_a_taken_name_of_the_origin_column_gives_way():
    fused = fuse([source("a", origin=[1.5]), source("b", origin=[2.5])])
    assert rows(fused) == {"origin": [1.5, 2.5], "origin (2)": ["a", "b"]}
    assert fused.origin == "origin (2)"
    assert any("'origin' to 'origin (2)'" in note for note in fused.notes)
    assert "from" in rows(fuse([source("a", x=[1]), source("b", x=[2])], origin="from"))


def test_sources_of_one_name_are_told_apart():
    assert rows(fuse([source("a", x=[1]), source("a", x=[2])]))["origin"] == ["a", "a (2)"]
    for names in (["a"], ["a", "a"], "ab"):
        with pytest.raises(ParameterError, match="names are 2 different names"):
            fuse([source("a", x=[1]), source("b", x=[2])], names=names)


def test_what_one_source_calls_sensitive_leaves_none():
    a = source("a", sensitive=["SSN"], SSN=["s3cret-1"], x=[1.5])
    b = source("b", **{"s.s.n.": ["s3cret-2"], "x": [2.5], "social": ["s3cret-3"]})
    fused = fuse([a, b], sensitive=["social"])
    assert rows(fused) == {"x": [1.5, 2.5], "origin": ["a", "b"]}
    assert "s3cret" not in " ".join(fused.notes)
    assert fused.account.sensitive == ("SSN", "s.s.n.", "social")
    with pytest.raises(ParameterError, match="column 'snn' was declared sensitive, but no source has it"):
        fuse([a, b], sensitive=["snn"])


def test_a_match_with_a_sensitive_column_is_sensitive_too():
    a, b = source("a", sensitive=["ssn"], ssn=["s3cret-1"], x=[1]), source("b", social=["s3cret-2"], x=[2])
    assert rows(fuse([a, b], match={"number": ["ssn", "social"]})) == {"x": [1, 2], "origin": ["a", "b"]}


def test_problems_of_a_source_come_with_its_name_but_not_with_secrets(tmp_path):
    lines = [f"{i},{i}" for i in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["x,ssn", *lines, "oops,s3cret"]))
    (tmp_path / "b.csv").write_text("X,SSN\n" + "\n".join(lines))
    fused = fuse([tmp_path / "a.csv", tmp_path / "b.csv"], sensitive=["ssn"])
    assert fused.to_arrow().num_rows == 81
    told = [(problem.column, example) for problem in fused.problems for example in problem.examples]
    assert told == [("x", ("a.csv, line 42", None))]
    opened = fuse([read(tmp_path / "a.csv"), source("b", sensitive=["SSN"], SSN=[1], x=[2.0])])
    assert opened.to_arrow().column_names == ["x", "origin"]
    assert "s3cret" not in "".join(problem.sentence() for problem in opened.problems)


def test_files_are_fused_by_their_paths(tmp_path):
    (tmp_path / "north.csv").write_text("Name,Weight [kg]\nAnn,70.5\nBob,80\n")
    (tmp_path / "south.csv").write_text("name;weight [lb]\nCid;220.46226\n")
    fused = fuse([str(tmp_path / "north.csv"), tmp_path / "south.csv"])
    got = rows(fused)
    assert got["origin"] == ["north.csv", "north.csv", "south.csv"]
    np.testing.assert_allclose(got["Weight [kg]"], [70.5, 80.0, 100.0], rtol=1e-6)


def test_streams_are_fused_in_one_pass():
    def blocks(start):
        for i in range(3):
            yield pa.record_batch({"x": [start + i + 0.5]})

    fused = fuse([read(blocks(0), name="a"), read(blocks(10), name="b")])
    assert fused.rows is None
    assert rows(fused) == {"x": [0.5, 1.5, 2.5, 10.5, 11.5, 12.5], "origin": ["a"] * 3 + ["b"] * 3}
    assert fused.rows == 6
    assert fused.account.rows == (3, 3)


def test_sources_without_rows_are_fused():
    empty = pa.table({"x": pa.array([], pa.float64())})
    fused = fuse([empty, source("b", x=[1.5])], names=["a", "b"])
    assert rows(fused) == {"x": [1.5], "origin": ["b"]}
    nothing = fuse([empty, empty], names=["a", "b"])
    assert list(nothing.blocks()) == []
    assert [field.name for field in nothing.schema] == ["x", "origin"]


def test_blocks_are_read_one_at_a_time():
    n = 200_000
    table = pa.table({"x": np.arange(n, dtype=float)})
    fused = fuse([table, table], names=["a", "b"])
    sizes = [block.num_rows for block in fused.blocks()]
    assert sum(sizes) == 2 * n == fused.rows
    assert max(sizes) <= 65_536
    assert fused.fraction_read == 1


@pytest.mark.parametrize(
    ("sources", "options", "message"),
    [
        ([pa.table({"x": [1]})], {}, "at least two sources"),
        ("ab", {}, "at least two sources"),
        ([pa.table({"x": [1]})] * 2, {"columns": "some"}, "columns is 'common' or 'all'; got 'some'"),
        (
            [pa.table({"x": [1]})] * 2,
            {"units": {"y": "kg"}},
            "units= names column 'y', which no source has; there are x",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(sources, options, message):
    with pytest.raises(ParameterError, match=message):
        fuse(sources, **options)

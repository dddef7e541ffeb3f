"""SQLite files: values of any type in any column, nothing written, nothing lost in silence."""

import math
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data.databases.database import DatabaseSource
from assay.data.field import Declared
from assay.data.read import read
from assay.errors import DataError, ParameterError

if os.environ.get("ASSAY_POSTGRES") != "1":
    pytest.importorskip("adbc_driver_sqlite")  # an extra

CHINOOK = (
    next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data/chinook_db/chinook.sqlite"
)


def made(path, script, *inserts):
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(script)
        for statement, rows in inserts:
            database.executemany(statement, rows)
    return path


@pytest.fixture
def shop(tmp_path):
    script = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price NUMERIC(10,2), sold DATE, secret TEXT)"
    rows = [(1, "pen", 1.5, "2024-01-02", "s3cret-a"), (2, "ink", 7, None, "s3cret-b"), (3, None, None, "x", None)]
    return made(tmp_path / "shop.db", script, ("INSERT INTO item VALUES (?, ?, ?, ?, ?)", rows))


def told(source):
    return {problem.column: (problem.what, problem.count, problem.examples) for problem in source.problems}


def test_a_table_comes_as_it_is(shop):
    source = DatabaseSource(shop)
    assert source.to_arrow().to_pydict() == {
        "id": [1, 2, 3],
        "name": ["pen", "ink", None],
        "price": [1.5, 7.0, None],
        "sold": ["2024-01-02", None, "x"],
        "secret": ["s3cret-a", "s3cret-b", None],
    }
    assert source.rows == 3
    assert source.name == "shop.item"
    assert source.notes == ("item is the only table and was taken.",)
    assert source.arrow_schema.types == [pa.int64(), pa.string(), pa.float64(), pa.string(), pa.string()]


@pytest.mark.parametrize("form", [str, Path, lambda p: f"sqlite:///{p}", lambda p: f"sqlite:///{os.path.relpath(p)}"])
def test_paths_and_urls_name_the_same_file(shop, form):
    assert DatabaseSource(form(shop)).rows == read(form(shop)).rows == 3


def test_a_name_full_of_special_characters_is_still_a_file(tmp_path):
    path = made(tmp_path / "a b?mode=rw#%41'.db", "CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    assert DatabaseSource(path).to_arrow().column("x").to_pylist() == [1.0]


value = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
    st.binary(max_size=5),
)


@settings(max_examples=30)
@given(st.lists(value, max_size=12), st.sampled_from(["", "INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB", "DATETIME"]))
def test_every_value_is_read_or_counted(tmp_path_factory, values, declared):
    path = made(
        tmp_path_factory.mktemp("any") / "any.db",
        f"CREATE TABLE t (i INTEGER PRIMARY KEY, x {declared})",
        ("INSERT INTO t (x) VALUES (?)", [(v,) for v in values]),
    )
    with closing(sqlite3.connect(path)) as database:
        stored = [row[0] for row in database.execute("SELECT x FROM t ORDER BY i")]
    source = DatabaseSource(path)
    read = source.to_arrow().column("x").to_pylist()
    assert len(read) == len(stored)
    lost = [i for i, (old, new) in enumerate(zip(stored, read, strict=True)) if old is not None and new is None]
    assert sum(problem.count for problem in source.problems) == len(lost)
    places = [place for problem in source.problems for place, _ in problem.examples]
    assert places == [f"row {i + 1}" for i in lost][:5]
    for old, new in zip(stored, read, strict=True):
        if new is None:
            continue
        if isinstance(new, str):
            kept = new if isinstance(old, str) else type(old)(new)
            assert kept == (pytest.approx(old, rel=1e-14) if isinstance(old, float) and math.isfinite(old) else old)
        else:
            assert new == pytest.approx(old, rel=1e-15) if isinstance(new, float) else new == old


def test_text_far_down_in_a_column_of_numbers_is_counted_with_its_row(tmp_path):
    n = 70_000
    rows = [(i, i + 0.5, f"t{i}", None) for i in range(n)]
    rows += [("oops", "", 1.25, 2.5), (2.5, 3, b"\xff", "late"), (7, b"raw", 12345678.123, None)]
    path = made(
        tmp_path / "odd.db",
        "CREATE TABLE t (whole INTEGER, real REAL, text, empty NUMERIC)",
        ("INSERT INTO t VALUES (?, ?, ?, ?)", rows),
    )
    source = DatabaseSource(path)
    table = source.to_arrow()
    assert table.num_rows == n + 3
    assert table.slice(n).to_pydict() == {
        "whole": [None, None, 7],
        "real": [None, 3.0, None],
        "text": ["1.25", None, "12345678.123"],
        "empty": [2.5, None, None],
    }
    first, second, third = (f"row {n + i}" for i in (1, 2, 3))
    assert told(source) == {
        "whole": ("values are not whole numbers and count as missing", 2, ((first, "oops"), (second, "2.5"))),
        "real": ("values are not numbers and count as missing", 2, ((first, ""), (third, "raw"))),
        "text": ("values are bytes and count as missing", 1, ((second, "\N{REPLACEMENT CHARACTER}"),)),
        "empty": ("values are not numbers and count as missing", 1, ((second, "late"),)),
    }


def test_what_the_user_declares_decides_over_the_first_rows(tmp_path):
    path = made(tmp_path / "d.db", "CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), ('n/a'), ('n/a'), (5);")
    assert DatabaseSource(path).to_arrow().column("x").to_pylist() == ["1", "2", "n/a", "n/a", "5"]
    source = DatabaseSource(path, Declared(kinds={"x": "number"}))
    assert source.to_arrow().column("x").to_pylist() == [1, 2, None, None, 5]
    assert told(source) == {
        "x": ("values are not numbers and count as missing", 2, (("row 3", "n/a"), ("row 4", "n/a")))
    }


def test_whole_numbers_beyond_double_precision_stay_exact(tmp_path):
    path = made(tmp_path / "d.db", "CREATE TABLE t (x); INSERT INTO t VALUES (9223372036854775807), (1)")
    assert DatabaseSource(path).to_arrow().column("x").to_pylist() == [9223372036854775807, 1]


def test_text_that_is_not_utf8_is_mended_and_counted(tmp_path):
    path = made(
        tmp_path / "d.db", "CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('ok'), (CAST(x'4aff' AS TEXT)), (NULL)"
    )
    source = DatabaseSource(path)
    assert source.to_arrow().column("x").to_pylist() == ["ok", "J\N{REPLACEMENT CHARACTER}", None]
    assert [(problem.count, problem.examples[0][0]) for problem in source.problems] == [(1, "row 2")]


def test_special_numbers_come_through(tmp_path):
    path = made(tmp_path / "d.db", "CREATE TABLE t (x REAL); INSERT INTO t VALUES (9e999), (-9e999), (1e-300), (1e300)")
    assert DatabaseSource(path).to_arrow().column("x").to_pylist() == [math.inf, -math.inf, 1e-300, 1e300]


def test_names_of_any_sort_are_names_and_nothing_else(tmp_path):
    odd = ['a"b', "x; DROP TABLE t; --", "select", "it's", "a b", "Größe", "\t", "{x}", "1"]
    columns = ", ".join('"' + name.replace('"', '""') + '" REAL' for name in odd)
    table = 'ta"b; DELETE FROM t--'
    quoted = table.replace('"', '""')
    path = made(tmp_path / "odd.db", f'CREATE TABLE "{quoted}" ({columns}); CREATE TABLE t (x)')
    made(path, "", (f'INSERT INTO "{quoted}" VALUES ({", ".join("?" * len(odd))})', [range(len(odd))]))
    assert DatabaseSource(path, table=table).to_arrow().to_pylist() == [
        dict(zip([*odd[:6], "column 7", *odd[7:]], map(float, range(9)), strict=True))
    ]
    with pytest.raises(ParameterError, match="there is no table"):
        DatabaseSource(path, table="t; DELETE FROM t")


def test_a_query_is_read_in_its_own_order(shop):
    source = DatabaseSource(shop, query="SELECT name, price * 2 AS twice FROM item ORDER BY id DESC -- last first")
    assert source.to_arrow().to_pydict() == {"name": [None, "ink", "pen"], "twice": [None, 14.0, 3.0]}
    assert source.rows is None


def test_a_query_sees_every_table_by_its_name(tmp_path):
    path = made(tmp_path / "t0.db", "CREATE TABLE t0 (c1 REAL, c0 REAL); INSERT INTO t0 VALUES (1.5, 2.5)")
    query = "WITH x AS (SELECT c1 + 1 AS y FROM t0) SELECT t0.c0, x.y FROM t0, x"
    assert DatabaseSource(path, query=query).to_arrow().to_pylist() == [{"c0": 2.5, "y": 2.5}]


def test_repeated_names_in_a_query_are_told_apart(shop):
    source = DatabaseSource(shop, query="SELECT a.id, b.id, 5 AS 'id (2)' FROM item a JOIN item b USING (id);")
    assert source.arrow_schema.names == ["id", "id (3)", "id (2)"]
    assert source.notes == ("Empty or repeated column names were changed: 'id' to 'id (3)'.",)


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM item",
        "DELETE FROM item RETURNING *",
        "SELECT 1; DELETE FROM item",
        "SELECT 1) ; DELETE FROM item; --",
        "WITH x AS (SELECT 1) DELETE FROM item",
        "DROP TABLE item",
        "UPDATE item SET price = 0",
        "ATTACH DATABASE 'evil.db' AS evil",
        "PRAGMA writable_schema = ON",
        "SELECT load_extension('evil')",
    ],
)
def test_a_query_cannot_change_anything(shop, query, monkeypatch):
    monkeypatch.chdir(shop.parent)
    before = shop.read_bytes()
    with pytest.raises(DataError, match="syntax error|not authorized"):
        DatabaseSource(shop, query=query).to_arrow()
    assert shop.read_bytes() == before
    assert [file.name for file in shop.parent.iterdir()] == ["shop.db"]


def test_a_writer_gets_through_while_nobody_reads(shop):
    source = DatabaseSource(shop)
    next(source.blocks())
    made(shop, "INSERT INTO item (name) VALUES ('new')")
    with pytest.raises(DataError, match="it changed while it was being read"):
        source.to_arrow()
    assert DatabaseSource(shop).to_arrow().num_rows == 4


def test_sensitive_columns_are_not_even_asked_for(shop):
    source = DatabaseSource(shop, Declared(sensitive=frozenset({"secret"})))
    assert source.to_arrow().column_names == ["id", "name", "price", "sold"]
    assert "secret" not in source._statement
    query = DatabaseSource(shop, Declared(sensitive=frozenset({"s"})), query="SELECT id, secret AS s, 1 AS s FROM item")
    assert query.to_arrow().column_names == ["id"]
    with pytest.raises(ParameterError, match="'secert' was declared sensitive, but there is none"):
        DatabaseSource(shop, Declared(sensitive=frozenset({"secert"})))
    with pytest.raises(DataError, match="no columns that are not sensitive"):
        DatabaseSource(shop, Declared(sensitive=frozenset({"secret"})), query="SELECT secret FROM item")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"table": "a", "query": "SELECT 1"}, ParameterError, "give only one of table= and query="),
        ({"query": "SELECT 1", "join": True}, ParameterError, "give table= instead of query="),
        (
            {"table": "itme"},
            ParameterError,
            r"there is no table 'itme' in .*shop.db; choose one by table= or --option table=NAME: item \(3 rows",
        ),
        ({"table": "i\0"}, ParameterError, "there is no table"),
        ({"query": " ; "}, ParameterError, "query= is empty; give a SELECT"),
        ({"query": "SELECT nope FROM item"}, DataError, "no such column: nope; repair the query"),
        ({"query": "SELEKT 1"}, DataError, 'near "1": syntax error; repair the query'),
        ({"query": "SELECT ?"}, DataError, "repair the query"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_sentence(shop, options, error, message):
    with pytest.raises(error, match=message) as refused:
        DatabaseSource(shop, **options)
    assert "\n" not in str(refused.value)


def test_among_several_tables_one_is_to_be_chosen(tmp_path):
    script = (
        "CREATE TABLE a (x); CREATE TABLE b (x); INSERT INTO a VALUES (1); CREATE VIEW v AS SELECT x + 1 AS y FROM a"
    )
    path = made(tmp_path / "two.db", script)
    listed = r"choose one by table= or --option table=NAME: a \(1 rows\), b \(0 rows\), v$"
    with pytest.raises(ParameterError, match=f"holds 3 tables; {listed}"):
        DatabaseSource(path)
    view = DatabaseSource(path, table="V")
    assert view.to_arrow().to_pydict() == {"y": [2.0]}
    assert view.rows is None
    empty = DatabaseSource(path, table="b")
    assert empty.rows == 0
    assert list(empty.blocks()) == []
    assert [field.name for field in empty.schema] == ["x"]


def test_files_that_are_no_databases_are_refused(tmp_path):
    (tmp_path / "text.db").write_text("x,y\n" * 500)
    (tmp_path / "empty.db").write_bytes(b"")
    for name, message in (
        ("text.db", "file is not a database; give a SQLite file that is not encrypted"),
        ("empty.db", "it holds no tables"),
        ("none.db", "there is no such file"),
        (".", "it is not a file"),
    ):
        with pytest.raises(DataError, match=message):
            DatabaseSource(tmp_path / name)
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(ParameterError, match="a URL that begins with 'mysql'$"):
        DatabaseSource("mysql://me:s3cret@host/db")


def test_a_damaged_file_is_refused(tmp_path):
    path = made(tmp_path / "d.db", "CREATE TABLE t (x)", ("INSERT INTO t VALUES (?)", [("y" * 500,)] * 500))
    content = bytearray(path.read_bytes())
    content[100:5000] = b"\x55" * 4900
    path.write_bytes(content)
    with pytest.raises(DataError, match="malformed; the file is damaged"):
        DatabaseSource(path)


def test_a_missing_driver_is_named_with_its_remedy(shop, monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite.dbapi", None)
    with pytest.raises(DataError, match=r"need adbc_driver_sqlite; install it with pip install 'assay\[databases\]'"):
        DatabaseSource(shop)


def test_many_columns_are_read(tmp_path):
    d = 1500
    columns = ", ".join(f"c{j} REAL" for j in range(d))
    path = made(tmp_path / "wide.db", f"CREATE TABLE t ({columns})")
    made(path, "", (f"INSERT INTO t VALUES ({', '.join('?' * d)})", [[float(j) for j in range(d)], ["x"] * d]))
    source = DatabaseSource(path)
    np.testing.assert_array_equal(np.concatenate(list(source.float_blocks())), [np.arange(d), np.full(d, np.nan)])
    assert sum(problem.count for problem in source.problems) == d


def test_long_values_make_small_batches(tmp_path):
    path = made(
        tmp_path / "long.db", "CREATE TABLE t (x TEXT)", ("INSERT INTO t VALUES (?)", [("y" * 100_000,)] * 1500)
    )
    source = DatabaseSource(path)
    sizes = [block.nbytes for block in source.blocks()]
    assert sum(sizes) > 150_000_000
    assert max(sizes) < 40_000_000


@pytest.mark.skipif(not CHINOOK.exists(), reason="the shared data are not here")
def test_the_chinook_invoices_add_up():
    source = DatabaseSource(CHINOOK, table="Invoice")
    assert source.rows == 412
    assert sum(source.to_arrow().column("Total").to_pylist()) == pytest.approx(2328.6)

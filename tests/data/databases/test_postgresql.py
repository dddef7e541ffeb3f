"""PostgreSQL: a real server on loopback, read and never written, in bounded memory."""

import copy
import datetime as dt
import math
import os
import pickle
import resource
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from assay.data.databases.database import DatabaseSource
from assay.data.databases.dialects import Connection
from assay.data.field import Declared
from assay.errors import DataError, ParameterError

sys.path.append(str(Path(__file__).parent))
import postgres_server

if os.environ.get("ASSAY_POSTGRES") != "1":
    pytest.importorskip("adbc_driver_postgresql")  # an extra

TYPES = """
CREATE TYPE mood AS ENUM ('sad', 'fine');
CREATE DOMAIN percent AS numeric(5, 2);
CREATE TABLE kinds (i int, s smallint, b bigint, r real, f float8, n numeric(10, 2), p percent, t text, v varchar(9),
    c char(4), bo boolean, d date, ts timestamp, tz timestamptz, ti time, iv interval, raw bytea, j jsonb, u uuid,
    m mood, a int[], mo money, o oid, ip inet);
INSERT INTO kinds VALUES (1, 2, 9007199254740993, 1.5, 2.5, 1.25, 99.5, 'a"b', 'Größe', 'ab', true, '2020-02-29',
    '2020-01-01 10:00', '2020-01-01 10:00+02', '10:30', '1 day', 'x', '{"a": 1}',
    'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'fine', '{1,2}', 12.5, 4000000000, '10.0.0.1');
INSERT INTO kinds (i) VALUES (NULL);
"""


def connected(url, **options):
    import adbc_driver_postgresql.dbapi

    return adbc_driver_postgresql.dbapi.connect(url, **options)


def run(url, script):
    with connected(url, autocommit=True) as connection:
        for statement in filter(str.strip, script.split(";")):
            with connection.cursor() as cursor:
                cursor.execute(statement)


def asked(url, sql):
    with connected(url) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


@pytest.fixture(scope="module")
def url():
    with postgres_server.server() as address:
        run(address, TYPES)
        yield address


@pytest.fixture(scope="module")
def big(url):
    # about 130 MB in memory
    rows = "SELECT g AS id, g / 7.0::float8 AS x, repeat(md5(g::text), 3) AS t FROM generate_series(1, 1000000) g"
    run(url, f"CREATE UNLOGGED TABLE big AS {rows}")
    return url


@pytest.fixture(scope="module")
def victims(url):
    run(url, "CREATE TABLE victims (x int); INSERT INTO victims VALUES (1), (2); CREATE SEQUENCE counter")
    run(url, "CREATE FUNCTION kill() RETURNS int LANGUAGE sql AS 'DELETE FROM victims RETURNING x'")
    return url


def test_every_type_has_its_answer(url):
    source = DatabaseSource(url, table="kinds")
    utc = dt.UTC
    assert source.to_arrow().to_pylist()[0] == {
        "i": 1,
        "s": 2,
        "b": 9007199254740993,
        "r": 1.5,
        "f": 2.5,
        "n": 1.25,
        "p": 99.5,
        "t": 'a"b',
        "v": "Größe",
        "c": "ab",
        "bo": True,
        "d": dt.date(2020, 2, 29),
        "ts": dt.datetime(2020, 1, 1, 10),
        "tz": dt.datetime(2020, 1, 1, 8, tzinfo=utc),
        "ti": dt.time(10, 30),
        "iv": "1 day",
        "raw": b"x",
        "j": '{"a": 1}',
        "u": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "m": "fine",
        "a": "{1,2}",
        "mo": 12.5,
        "o": 4000000000,
        "ip": "10.0.0.1/32",
    }
    assert set(source.to_arrow().slice(1).to_pylist()[0].values()) == {None}
    assert source.rows == 2
    assert source.name == "postgres.kinds"
    assert not any(isinstance(field.type, pa.BaseExtensionType) for field in source.arrow_schema)
    assert len(source.schema) == 24


def test_numbers_are_numbers_whatever_the_driver_tells_of_types(url, monkeypatch):
    # up to version 1.11 it tells none of these types
    told = Connection.fields

    def plain(self, sql):
        return pa.schema([field.remove_metadata() for field in told(self, sql)])

    monkeypatch.setattr(Connection, "fields", plain)
    run(
        url, "CREATE DOMAIN part AS int; CREATE DOMAIN half AS part; CREATE TABLE halves (h half, n numeric, h2 part[])"
    )
    run(url, "INSERT INTO halves VALUES (3, 1.5, '{1,2}')")
    assert DatabaseSource(url, table="halves").to_arrow().to_pylist() == [{"h": 3, "n": 1.5, "h2": "{1,2}"}]
    assert DatabaseSource(url, query="SELECT h AS x, n AS x FROM halves").to_arrow().column("x").to_pylist() == [3]


def test_what_arrow_cannot_hold_is_counted_and_missing(url):
    query = """SELECT * FROM (VALUES (1, '1e400'::numeric, 'infinity'::date, '-infinity'::timestamptz),
        (2, 'NaN', '0044-03-15 BC', '294276-01-01'), (3, '-1e-400', '2020-01-01', '2020-01-01 00:00+00'),
        (4, 1.7976931348623157e308, '0001-01-01', '9999-12-30')) AS v(i, n, d, t) ORDER BY i"""
    source = DatabaseSource(url, query=query)
    table = source.to_arrow()
    numbers = table.column("n").to_pylist()
    assert numbers[0] is None
    assert math.isnan(numbers[1])
    assert numbers[2:] == [0.0, 1.7976931348623157e308]
    assert table.column("d").to_pylist() == [None, None, dt.date(2020, 1, 1), dt.date(1, 1, 1)]
    assert [value is None for value in table.column("t").to_pylist()] == [True, True, False, False]
    found = {problem.column: (problem.count, problem.examples[0]) for problem in source.problems}
    assert found["n"] == (1, ("row 1", "1" + "0" * 79))
    assert found["d"] == (2, ("row 1", "infinity"))
    assert found["t"] == (2, ("row 1", "-infinity"))


def resident():
    """Bytes of this process in memory: what ADBC holds is not Arrow's to count."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_a_large_table_streams_in_bounded_memory(big):
    before = resident()
    source = DatabaseSource(big, table="big")
    rows, size, peak = 0, 0, 0
    for block in source.blocks():
        rows += block.num_rows
        size += block.nbytes
        peak = max(peak, resident() - before)
        assert block.num_rows <= 65_536
    assert rows == source.rows == source.rows_read == 1_000_000
    assert source.fraction_read == 1
    assert size > 100_000_000
    assert peak < 50_000_000


def test_two_passes_give_the_same_rows_in_the_same_order(big):
    source = DatabaseSource(big, query="SELECT x, id FROM big WHERE id % 5 <> 0 AND id <= 250000")
    first, second = source.to_arrow(), source.to_arrow()
    assert first.equals(second)
    assert first.column("id").to_pylist() == [i for i in range(1, 250001) if i % 5]


def test_sensitive_columns_are_not_even_asked_for(url):
    source = DatabaseSource(url, Declared(sensitive=frozenset({"t", "n"})), table="kinds")
    assert not {"t", "n"} & set(source.to_arrow().column_names)
    assert '"t"' not in source._statement
    assert '"n"' not in source._statement


def test_a_pass_may_be_left_in_the_middle(big):
    source = DatabaseSource(big, table="big")
    for _ in range(3):
        next(source.blocks())
    others = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    deadline = time.monotonic() + 30
    while asked(big, f"SELECT count(*) {others}") != [(0,)]:
        assert time.monotonic() < deadline, asked(big, f"SELECT state, query {others}")
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("DELETE FROM victims", "syntax error.*; repair the query"),
        ("SELECT 1) AS a(x); DELETE FROM victims; --", "syntax error.*; repair the query"),
        ("SELECT 1; DELETE FROM victims", "syntax error"),
        (
            "WITH gone AS (DELETE FROM victims RETURNING *) SELECT * FROM gone",
            "WITH clause containing a data-modifying",
        ),
        ("SELECT kill()", "cannot execute DELETE in a read-only transaction; assay only reads: give a SELECT"),
        ("SELECT nextval('counter')", "read-only transaction"),
        ("SELECT set_config('transaction_read_only', 'off', false), kill()", "read-write mode|read-only"),
        ("COPY victims TO PROGRAM 'touch /tmp/evil'", "syntax error"),
        ("COMMIT", "syntax error|does not exist"),
    ],
)
def test_a_query_cannot_change_anything(victims, query, message):
    with pytest.raises(DataError, match=message) as refused:
        DatabaseSource(victims, query=query).to_arrow()
    assert "\n" not in str(refused.value)
    assert asked(victims, "SELECT count(*) FROM victims") == [(2,)]


def test_a_query_is_read_in_its_own_order_with_its_names_told_apart(url):
    source = DatabaseSource(
        url, query="SELECT g AS x, g * 2 AS x, -g AS y FROM generate_series(1, 4) g ORDER BY g DESC;"
    )
    assert source.to_arrow().to_pydict() == {"x": [4, 3, 2, 1], "x (2)": [8, 6, 4, 2], "y": [-4, -3, -2, -1]}
    assert source.rows is None


def test_joins_follow_the_keys_that_are_declared(url):
    run(url, "CREATE SCHEMA geo")
    run(url, 'CREATE TABLE geo.city (country text, "na me" text, pop int, PRIMARY KEY (country, "na me"))')
    run(
        url,
        """CREATE TABLE trip (id int PRIMARY KEY, a_land text, a_town text, b_land text, b_town text, after int
        REFERENCES trip, FOREIGN KEY (a_land, a_town) REFERENCES geo.city, FOREIGN KEY (b_land, b_town)
        REFERENCES geo.city)""",
    )
    run(url, "INSERT INTO geo.city VALUES ('fr', 'Lyon', 5), ('de', 'Ulm', 1)")
    run(url, "INSERT INTO trip VALUES (1, 'fr', 'Lyon', 'de', 'Ulm', NULL), (2, 'de', 'Ulm', NULL, 'Ulm', 1)")
    source = DatabaseSource(url, table="trip", join=True)
    rows = source.to_arrow().to_pydict()
    assert rows["a_land+a_town.geo.city.pop"] == [5, 1]
    assert rows["b_land+b_town.geo.city.pop"] == [1, None]
    assert rows["trip.a_town"] == [None, "Lyon"]
    assert "after.a_land+a_town.geo.city.pop" in rows
    assert source.rows == 2
    assert "trip -> geo.city by a_land+a_town" in source.notes[0]
    named = DatabaseSource(url, table="public.trip", join="b_land")
    assert named.to_arrow().column("geo.city.pop").to_pylist() == [1, None]
    assert DatabaseSource(url, table="geo.city").rows == 2


def test_a_password_is_never_shown(url):
    with_password = url.replace("assay@", "assay:hu%40sh-hush@")
    source = DatabaseSource(with_password, table="kinds")
    seen = [source.name, *source.notes]
    for options in ({"table": "nope"}, {"query": "SELEKT"}, {"query": "SELECT * FROM nope"}):
        with pytest.raises((DataError, ParameterError)) as refused:
            DatabaseSource(with_password, **options)
        assert "assay:***@127.0.0.1" in str(refused.value)
        seen.append(str(refused.value))
    for broken in (
        "postgresql://me:hu%40sh-hush@127.0.0.1:1/db",
        "postgresql://me:hu@sh-hush/x@127.0.0.1:1/db",
        "postgresql://me:hush#hush@127.0.0.1:xx/db",
        "postgres://me@127.0.0.1:1/db?password=hu%40sh-hush",
        "postgresql://me:hush@[::1/db",
    ):
        with pytest.raises((DataError, ParameterError)) as refused:
            DatabaseSource(broken)
        seen.append(str(refused.value))
        assert refused.value.__cause__ is None
    assert not [text for text in seen if "hu" in text.replace("should", "")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda url: url.replace("/postgres", "/nope"), 'database "nope" does not exist; check the database\'s name'),
        (lambda url: url.replace("assay@", "nobody@"), 'role "nobody" does not exist; check the user'),
        (lambda url: "postgresql://me@127.0.0.1:1", "Connection refused; start the server or check its host"),
        (lambda url: url.replace("assay@", "guest@"), "permission denied for table kinds; ask for the right to SELECT"),
    ],
)
def test_what_cannot_be_reached_is_told_with_its_remedy(url, change, message):
    if "permission" in message:
        run(url, "CREATE ROLE guest LOGIN")
    with pytest.raises(DataError, match=message) as refused:
        DatabaseSource(change(url), table="kinds")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("secret", ["s3cret", "s3cret password", "s3cret read-only role"])
def test_messages_that_may_quote_sensitive_values_are_withheld(url, secret):
    run(url, "CREATE TABLE IF NOT EXISTS patients (name text, code text)")
    run(url, "TRUNCATE patients")
    run(url, "INSERT INTO patients SELECT 'Ann', '1' FROM generate_series(1, 1000)")
    run(url, f"INSERT INTO patients VALUES ('Bob', '{secret}')")
    query = "SELECT name, code, code::int AS number FROM patients"
    with pytest.raises(DataError, match=f'invalid input syntax for type integer: "{secret}"'):
        DatabaseSource(url, query=query).to_arrow()
    with pytest.raises(DataError, match="message is withheld, as it may quote sensitive values") as refused:
        DatabaseSource(url, Declared(sensitive=frozenset({"code"})), query=query).to_arrow()
    assert "s3cret" not in str(refused.value)
    with pytest.raises(DataError, match='column "nope" does not exist; repair the query'):
        DatabaseSource(url, Declared(sensitive=frozenset({"code"})), query="SELECT code, nope FROM patients")


def test_among_several_tables_one_is_to_be_chosen(url):
    listed = r"choose one by table= or --option table=NAME: .*kinds \(2 rows\)"
    with pytest.raises(ParameterError, match=rf"postgres holds \d+ tables; {listed}"):
        DatabaseSource(url)
    with pytest.raises(ParameterError, match="there is no table 'kinds; DROP TABLE kinds'"):
        DatabaseSource(url, table="kinds; DROP TABLE kinds")


def test_a_machine_without_postgresql_skips_but_ci_fails(monkeypatch):
    monkeypatch.setattr(postgres_server, "binaries", lambda: None)
    monkeypatch.delenv("ASSAY_POSTGRES", raising=False)
    with pytest.raises(pytest.skip.Exception, match="neither on the path"), postgres_server.server():
        pass
    monkeypatch.setenv("ASSAY_POSTGRES", "1")
    with pytest.raises(pytest.fail.Exception, match="neither on the path"), postgres_server.server():
        pass


def test_a_pickled_source_holds_no_password_and_takes_that_of_where_it_is_read(url):
    run(url, "CREATE TABLE IF NOT EXISTS kept AS SELECT 1 AS x")
    in_the_query = url.replace("postgresql:", "POSTGRESQL:") + "?password=hu%40sh-hush"
    for given in (url.replace("assay@", "assay:hu%40sh-hush@"), in_the_query):
        source = DatabaseSource(given, table="kept")
        assert not source.portable and copy.deepcopy(source).to_arrow().num_rows == 1
        content = pickle.dumps(source)
        assert b"hush" not in content and b"hu@" not in content
        sent = pickle.loads(content)
        assert sent.portable and sent.to_arrow().num_rows == 1
        sent._dialect._url = sent._dialect._url.replace("assay@", "nobody@")
        with pytest.raises(DataError, match="neither sent to workers nor kept in pickles: set PGPASSWORD or ~/.pgpass"):
            sent.to_arrow()
    assert DatabaseSource(url, table="kept").portable

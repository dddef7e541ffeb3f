"""Joins along declared foreign keys: no row lost, none multiplied, each table by each path once."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data.databases.database import DatabaseSource
from assay.data.field import Declared
from assay.errors import DataError, ParameterError

if os.environ.get("ASSAY_POSTGRES") != "1":
    pytest.importorskip("adbc_driver_sqlite")  # an extra

CHINOOK = (
    next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data/chinook_db/chinook.sqlite"
)
chinook = pytest.mark.skipif(not CHINOOK.exists(), reason="the shared data are not here")


def made(path, script):
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script)
    return path


@pytest.fixture
def flights(tmp_path):
    return made(
        tmp_path / "flights.db",
        """
        CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT, secret TEXT);
        CREATE TABLE airport (id INTEGER PRIMARY KEY, city TEXT, land TEXT REFERENCES country);
        CREATE TABLE flight (id INTEGER PRIMARY KEY, origin REFERENCES airport(id), dest REFERENCES AIRPORT (ID),
            back INTEGER REFERENCES flight(id), secret TEXT);
        INSERT INTO country VALUES ('fr', 'France', 's3cret'), ('de', 'Germany', NULL);
        INSERT INTO airport VALUES (1, 'Lyon', 'fr'), (2, 'Ulm', 'de'), (3, 'Nowhere', NULL);
        INSERT INTO flight VALUES (10, 1, 2, NULL, 'x'), (11, 2, 1, 10, 'y'), (12, 3, 99, 11, 'z');
        """,
    )


def test_a_table_reached_by_two_keys_is_joined_by_each(flights):
    rows = DatabaseSource(flights, table="flight", join=["airport"]).to_arrow().to_pydict()
    assert rows["origin.airport.city"] == ["Lyon", "Ulm", "Nowhere"]
    assert rows["dest.airport.city"] == ["Ulm", "Lyon", None]
    assert rows["id"] == [10, 11, 12]
    assert not any("country" in name or "flight" in name for name in rows)


def test_all_keys_are_followed_and_a_table_joins_itself_once(flights):
    source = DatabaseSource(flights, table="flight", join=True)
    rows = source.to_arrow().to_pydict()
    assert rows["origin.land.country.name"] == ["France", "Germany", None]
    assert rows["flight.origin"] == [None, 1, 2]
    assert rows["back.origin.airport.city"] == [None, "Lyon", "Ulm"]
    assert rows["back.dest.land.country.name"] == [None, "Germany", "France"]
    assert "back.back.flight.origin" not in rows
    assert source.rows == 3
    assert "; flight -> airport by origin -> country by land; " in source.notes[0].replace("once: ", "; ")
    assert "flight -> flight by back -> airport by dest -> country by land" in source.notes[0]


def test_a_key_whose_rows_stand_beside_it_is_set_aside(flights):
    kinds = {
        field.name: (field.kind, field.role) for field in DatabaseSource(flights, table="flight", join=True).schema
    }
    assert kinds["origin"] == kinds["back"] == kinds["dest.airport.land"] == ("identifier", "key")
    alone = {field.name: field.role for field in DatabaseSource(flights, table="flight").schema}
    assert set(alone.values()) == {None}


def test_only_the_named_keys_are_followed(flights):
    source = DatabaseSource(flights, table="flight", join=("dest", "land"))
    assert source.arrow_schema.names == [
        "id", "origin", "dest", "back", "secret", "airport.city", "airport.land", "country.name", "country.secret",
    ]  # fmt: skip
    assert DatabaseSource(flights, table="flight", join="dest, land").arrow_schema == source.arrow_schema
    assert source.notes == (
        "Joined along foreign keys, each row of flight once: flight -> airport by dest -> country by land. "
        "Columns that a key equals are not repeated.",
    )


def test_a_sensitive_name_is_dropped_from_every_table(flights):
    both = DatabaseSource(flights, Declared(sensitive=frozenset({"secret"})), table="flight", join=True)
    assert not any("secret" in name for name in both.arrow_schema.names)
    assert "secret" not in both._statement
    sensitive = Declared(sensitive=frozenset({"country.secret"}))
    one = DatabaseSource(flights, sensitive, table="flight", join=("dest", "land"))
    assert [name for name in one.arrow_schema.names if "secret" in name] == ["secret"]


@pytest.mark.parametrize(
    ("join", "message"),
    [
        (
            "aeroport",
            "join='aeroport' names no table or column of a foreign key; declared are flight.origin to airport, ",
        ),
        ("country", "'country' is reached only by flight -> airport by origin -> country by land; name the tables on"),
        (["airport", "nope"], "join='nope' names no table .*, airport.land to country"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused_with_what_there_is(flights, join, message):
    with pytest.raises(ParameterError, match=message):
        DatabaseSource(flights, table="flight", join=join)


def test_a_table_without_keys_is_read_alone_and_that_is_said(flights):
    source = DatabaseSource(flights, table="country", join=True)
    assert source.arrow_schema.names == ["code", "name", "secret"]
    assert source.notes == ("country declares no foreign key that could be followed, so nothing was joined.",)
    with pytest.raises(ParameterError, match="country declares none"):
        DatabaseSource(flights, table="country", join="airport")


def test_circles_of_keys_come_to_an_end(tmp_path):
    path = made(
        tmp_path / "circle.db",
        """
        CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b, v TEXT);
        CREATE TABLE b (id INTEGER PRIMARY KEY, c INTEGER REFERENCES c, v TEXT);
        CREATE TABLE c (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a, v TEXT);
        INSERT INTO a VALUES (1, 2, 'a'); INSERT INTO b VALUES (2, 3, 'b'); INSERT INTO c VALUES (3, 1, 'c');
        """,
    )
    source = DatabaseSource(path, table="b", join=True)
    assert source.to_arrow().to_pylist() == [{"id": 2, "c": 3, "v": "b", "c.a": 1, "c.v": "c", "a.b": 2, "a.v": "a"}]


def test_keys_of_several_columns_and_of_odd_names_are_followed(tmp_path):
    path = made(
        tmp_path / "odd.db",
        """
        CREATE TABLE "or der" ("a""b" INTEGER, "select" TEXT, price REAL, PRIMARY KEY ("a""b", "select"));
        CREATE TABLE "l'ine; --" (x INTEGER, y TEXT, n INTEGER,
            FOREIGN KEY (x, y) REFERENCES "or der" ("a""b", "select"));
        INSERT INTO "or der" VALUES (1, 'p', 1.5), (1, 'q', 2.5);
        INSERT INTO "l'ine; --" VALUES (1, 'q', 7), (1, 'p', 8), (1, NULL, 9), (2, 'p', 10);
        """,
    )
    rows = DatabaseSource(path, table="l'ine; --", join="x+y").to_arrow().to_pydict()
    assert rows == {
        "x": [1, 1, 1, 2],
        "y": ["q", "p", None, "p"],
        "n": [7, 8, 9, 10],
        "or der.price": [2.5, 1.5, None, None],
    }


@pytest.mark.parametrize(
    "parent",
    [
        "CREATE TABLE p (k TEXT, v TEXT); INSERT INTO p VALUES ('1', 'a'), ('1', 'b')",
        # unique as text, but '1' and '01' both equal the number 1
        "CREATE TABLE p (k TEXT PRIMARY KEY, v TEXT); INSERT INTO p VALUES ('1', 'a'), ('01', 'b')",
    ],
)
def test_a_key_that_is_not_unique_is_refused_as_rows_would_multiply(tmp_path, parent):
    path = made(
        tmp_path / "m.db", f"{parent}; CREATE TABLE c (k INTEGER REFERENCES p(k)); INSERT INTO c VALUES (1), (2)"
    )
    with pytest.raises(
        DataError, match="c -> p by k .*: several rows of p have the same k, so rows of c would be mult"
    ):
        DatabaseSource(path, table="c", join=True)


def test_keys_to_what_is_not_there_are_told_and_not_followed(tmp_path):
    path = made(
        tmp_path / "m.db",
        """CREATE TABLE q (x TEXT); INSERT INTO q VALUES ('only');
        CREATE TABLE c (k REFERENCES gone(id), l REFERENCES q, m REFERENCES q(nope)); INSERT INTO c VALUES (1, 2, 3)""",
    )
    source = DatabaseSource(path, table="c", join=True)
    assert source.to_arrow().num_rows == 1
    assert source.notes[1] == "c has a foreign key by k to gone, which has no such key; it was not followed."
    assert len(source.notes) == 4


def test_more_tables_than_can_be_joined_are_refused(tmp_path):
    tables = "".join(
        f"CREATE TABLE t{i} (id INTEGER PRIMARY KEY, a REFERENCES t{i + 1}, b REFERENCES t{i + 1});" for i in range(8)
    )
    path = made(tmp_path / "many.db", tables + "CREATE TABLE t8 (id INTEGER PRIMARY KEY)")
    with pytest.raises(ParameterError, match="lead to more than 60 tables.*name those to follow"):
        DatabaseSource(path, table="t0", join=True)


@settings(max_examples=12)
@given(
    st.lists(st.tuples(st.integers(0, 4) | st.none(), st.integers(0, 4) | st.none()), max_size=12),
    st.lists(st.integers(0, 3) | st.none(), max_size=4),
)
def test_any_join_has_the_rows_of_its_start_in_their_order(tmp_path_factory, start, middle):
    path = made(
        tmp_path_factory.mktemp("law") / "law.db",
        """CREATE TABLE far (id INTEGER PRIMARY KEY, v REAL); INSERT INTO far VALUES (0, 0.5), (1, 1.5), (2, 2.5);
        CREATE TABLE mid (id INTEGER PRIMARY KEY, f REFERENCES far);
        CREATE TABLE near (id INTEGER PRIMARY KEY, a REFERENCES mid, b REFERENCES mid);""",
    )
    with closing(sqlite3.connect(path)) as database:
        database.executemany("INSERT INTO mid VALUES (?, ?)", enumerate(middle))
        database.executemany("INSERT INTO near (a, b) VALUES (?, ?)", start)
        database.commit()
    source = DatabaseSource(path, table="near", join=True)
    rows = source.to_arrow()
    assert rows.num_rows == source.rows == len(start)
    far = {0: 0.5, 1: 1.5, 2: 2.5}
    reached = dict(enumerate(middle))
    for j, key in enumerate("ab"):
        assert rows.column(key).to_pylist() == [pair[j] for pair in start]
        assert rows.column(f"{key}.f.far.v").to_pylist() == [far.get(reached.get(pair[j])) for pair in start]


@chinook
def test_the_chinook_lines_join_as_written_by_hand():
    source = DatabaseSource(CHINOOK, table="InvoiceLine", join=["Track", "Album", "Artist"])
    sql = """SELECT l.InvoiceLineId, l.UnitPrice, t.Name, a.Title, r.Name FROM InvoiceLine l LEFT JOIN Track t USING
        (TrackId) LEFT JOIN Album a USING (AlbumId) LEFT JOIN Artist r USING (ArtistId) ORDER BY 1"""
    with closing(sqlite3.connect(f"file:{CHINOOK}?mode=ro", uri=True)) as database:
        expected = database.execute(sql).fetchall()
    names = ["InvoiceLineId", "UnitPrice", "Track.Name", "Album.Title", "Artist.Name"]
    read = source.to_arrow().select(names)
    assert sorted(zip(*(column.to_pylist() for column in read.columns), strict=True)) == expected
    assert len(expected) == 2240
    assert "InvoiceLine -> Track by TrackId -> Album by AlbumId -> Artist by ArtistId." in source.notes[0]


@chinook
def test_the_whole_of_chinook_joins_without_losing_a_line():
    source = DatabaseSource(CHINOOK, table="invoiceline", join=True)
    assert source.to_arrow().num_rows == source.rows == 2240
    assert {"SupportRepId.Employee.LastName", "ReportsTo.Employee.LastName"} <= set(source.arrow_schema.names)
    assert not list(source.problems)

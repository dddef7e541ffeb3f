"""PostgreSQL, read in a transaction that cannot write; types that Arrow has come as they are, others as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from assay.data.databases.dialects import (
    COUNTED_BYTES,
    Connection,
    DatabaseColumn,
    DatabaseTable,
    Dialect,
    ForeignKey,
    Reading,
    Relation,
    literal,
    one_select,
    quoted,
)
from assay.data.field import Declared
from assay.errors import ParameterError
from assay.shown import secrets_in, without_secrets

# bytes that a batch takes
_BATCH_BYTES = 1 << 23
_LARGEST = "1.7976931348623157e308"


class Postgresql(Dialect):
    """A PostgreSQL database."""

    driver = "adbc_driver_postgresql"
    system = "PostgreSQL"
    settings = (
        "SET TRANSACTION READ ONLY",
        "SET client_encoding = 'UTF8'",
        "SET standard_conforming_strings = on",
        # rows come in the same order each time
        "SET synchronize_seqscans = off",
        "SET max_parallel_workers_per_gather = 0",
    )

    def __init__(self, url: str) -> None:
        scheme, rest = url.split("://", 1)
        _refuse_ambiguous(rest)
        place, _, options = rest.rpartition("@")[2].partition("?")
        super().__init__(unquote(place.partition("/")[2]) or "postgresql", without_secrets(url))
        joint = "&" if options else "" if rest.endswith("?") else "?"
        self._url = f"{scheme.lower()}://{rest}" + ("" if "connect_timeout" in url else f"{joint}connect_timeout=10")
        self.sent_without = False

    @property
    def holds_secrets(self) -> bool:
        """Whether the address has a password, which does not leave this process."""
        return bool(secrets_in(self._url))

    def __getstate__(self) -> dict[str, Any]:
        without = self.sent_without or self.holds_secrets
        return self.__dict__ | {"_url": _without_password(self._url), "sent_without": without}

    def __deepcopy__(self, memo: Any) -> Postgresql:
        return self  # a copy in this process keeps the password

    def opened(self, module: Any) -> Any:
        """Connect; the first setting makes the transaction a reading one."""
        return module.connect(self._url)

    def diagnosed(self, error: Exception) -> tuple[str, str, bool]:
        """The message without the driver's words round it, and what to do."""
        told = dict(getattr(error, "details", None) or ())
        state = getattr(error, "sqlstate", None) or ""
        line = re.sub(r"^[A-Z_]+: |\[libpq\] |Failed to connect: ", "", str(error).splitlines()[0])
        message = told.get(b"PG_DIAG_MESSAGE_PRIMARY", line.encode()).decode(errors="replace")
        message = without_secrets(message, self._url)
        # without a state it is no statement that failed but the connection, unless rows were coming already
        quotes_values = state[:2] not in _WITHOUT_VALUES if state else isinstance(error, (OSError, pa.ArrowException))
        for pattern, remedy in _REMEDIES:
            if re.search(pattern, f"{state} {message}"):
                return message, _LEFT_BEHIND if self.sent_without and "PGPASSWORD" in remedy else remedy, quotes_values
        return message, "try the same statement in psql", quotes_values

    def tables(self, connection: Connection) -> tuple[DatabaseTable, ...]:
        """Tables and views outside the system's schemas, in the order of their names."""
        found = connection.rows(
            "SELECT n.nspname::text, c.relname::text, pg_table_is_visible(c.oid),"
            f" c.relkind IN ('r', 'm') AND pg_table_size(c.oid) <= {COUNTED_BYTES}"
            " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
            " WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition"
            " AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY 1, 2"
        )
        return tuple(_table(*row) for row in found)

    def columns(self, connection: Connection, table: DatabaseTable) -> tuple[tuple[str, str], ...]:
        """Name and declared type of each column of a table."""
        return _fields(connection, table.sql)

    def query_columns(self, connection: Connection, query: str) -> tuple[tuple[str, str], ...]:
        """Name and type of each column of a SELECT; none is run to its end for this."""
        return _fields(connection, f"{one_select(query)} AS t0")

    def keys(self, connection: Connection, table: DatabaseTable) -> tuple[ForeignKey, ...]:
        """The foreign keys of a table, in the order of their columns."""

        def named(numbers: str, owner: str) -> str:
            return (
                f"ARRAY(SELECT a.attname::text FROM unnest({numbers}) WITH ORDINALITY AS k(number, place)"
                f" JOIN pg_catalog.pg_attribute a ON a.attrelid = {owner} AND a.attnum = k.number ORDER BY k.place)"
            )

        found = connection.rows(
            f"SELECT {named('f.conkey', 'f.conrelid')}, {named('f.confkey', 'f.confrelid')},"
            " n.nspname::text, c.relname::text, pg_table_is_visible(c.oid)"
            " FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class c ON c.oid = f.confrelid"
            " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
            f" WHERE f.contype = 'f' AND f.conparentid = 0 AND f.conrelid = {literal(table.sql)}::regclass"
            " ORDER BY f.conkey, f.conname"
        )
        keys = (
            ForeignKey(tuple(key), _table(schema, name, visible, False), tuple(parent_key))
            for key, parent_key, schema, name, visible in found
        )
        return tuple(dict.fromkeys(keys))

    def query_relation(self, query: str, width: int) -> Relation:
        """A SELECT as t0, with columns c0, c1, ..."""
        return Relation(f"{one_select(query)} AS t0({', '.join(f'c{i}' for i in range(width))})")

    def readings(
        self, connection: Connection, relation: Relation, columns: Sequence[DatabaseColumn], declared: Declared
    ) -> tuple[Reading, ...]:
        """How each column is asked for, by its declared type."""
        return tuple(self._reading(column.sql, column.type) for column in columns)

    def _reading(self, x: str, type_: str) -> Reading:
        if type_ in _AS_THEY_ARE:
            return Reading(_AS_THEY_ARE[type_], x)
        if type_ in ("numeric", "money"):
            x = f"{x}::numeric"
            finite = f"(abs({x}) <= {_LARGEST} OR {x} = 'NaN')"
            # the conversion refuses what would be rounded to nought
            number = f"CASE WHEN abs({x}) < 1e-307 THEN 0 WHEN {finite} THEN {x}::float8 END"
            what = "values are beyond double precision and count as missing"
            return Reading(pa.float64(), number, contradiction=f"NOT {finite}", text=self.hexadecimal(x), what=what)
        if type_ in _TIMES:
            # beyond these years, infinity included, the driver's numbers wrap round or Python has no date
            inside = f"({x} >= '0001-01-01' AND {x} < '9999-12-31')"
            what = "dates are not within the years 1 to 9999 and count as missing"
            value = f"CASE WHEN {inside} THEN {x} END"
            return Reading(_TIMES[type_], value, contradiction=f"NOT {inside}", text=self.hexadecimal(x), what=what)
        return Reading(pa.int64(), f"{x}::int8") if type_ == "oid" else Reading(pa.string(), f"{x}::text")

    def statement(self, expressions: Sequence[str], samples: Sequence[str], relation: Relation) -> str:
        """The whole statement."""
        return f"SELECT {', '.join(expressions)} FROM {relation.from_}"

    def batches(self, connection: Connection, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows of the whole statement."""
        return connection.stream(sql, **{"adbc.postgresql.batch_size_hint_bytes": str(_BATCH_BYTES)})

    def hexadecimal(self, text: str) -> str:
        """The first 80 characters of a text in hexadecimal digits."""
        return f"encode(convert_to(left({text}::text, 80), 'UTF8'), 'hex')"


_AS_THEY_ARE = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "text": pa.string(),
    "varchar": pa.string(),
    "name": pa.string(),
    "bytea": pa.binary(),
    "time": pa.time64("us"),
}
_TIMES = {"date": pa.date32(), "timestamp": pa.timestamp("us"), "timestamptz": pa.timestamp("us", "UTC")}

# classes of states whose messages speak of names and rights, not of what is in the rows
_WITHOUT_VALUES = ("08", "25", "28", "3D", "42")
_LEFT_BEHIND = (
    "a password in the URL is neither sent to workers nor kept in pickles: set PGPASSWORD or ~/.pgpass where the "
    "source is read"
)
_REMEDIES = (
    ("^25006|read-only", "assay only reads: give a SELECT"),
    ("^42501|permission denied", "ask for the right to SELECT from it"),
    ("^42", "repair the query"),
    ('database ".*" does not exist', "check the database's name at the end of the URL"),
    (
        "role|password|authentication|no pg_hba",
        "check the user and the password, which PGPASSWORD or ~/.pgpass keep out of the URL",
    ),
    ("connection to server|translate host|timeout|could not connect", "start the server or check its host and port"),
    ("connection option|URI", "write postgresql://user@host:port/database"),
)


def _fields(connection: Connection, from_: str) -> tuple[tuple[str, str], ...]:
    """Name and PostgreSQL's type of each column, for a domain the type below it.

    The database is asked: what its driver tells of types depends on the driver's version.
    """
    names = connection.fields(f"SELECT * FROM {from_} LIMIT 0").names
    if not names:
        return ()
    columns = [f"c{i}" for i in range(len(names))]
    types = connection.rows(
        "WITH RECURSIVE typed(place, type) AS (SELECT u.place, u.type FROM"
        f" (SELECT ARRAY[{', '.join(f'pg_typeof({c})::oid' for c in columns)}]::oid[] AS types FROM (SELECT 1) AS one"
        f" LEFT JOIN (SELECT * FROM {from_} LIMIT 0) AS t({', '.join(columns)}) ON true) AS asked,"
        " unnest(asked.types) WITH ORDINALITY AS u(type, place)"
        " UNION ALL SELECT d.place, b.typbasetype FROM typed d JOIN pg_catalog.pg_type b ON b.oid = d.type"
        " WHERE b.typtype = 'd') SELECT b.typname::text FROM typed d JOIN pg_catalog.pg_type b ON b.oid = d.type"
        " WHERE b.typtype <> 'd' ORDER BY d.place"
    )
    return tuple((name, type_) for name, (type_,) in zip(names, types, strict=True))


def _table(schema: str, name: str, visible: bool, countable: bool) -> DatabaseTable:
    full = f"{schema}.{name}"
    return DatabaseTable(name if visible else full, f"{quoted(schema)}.{quoted(name)}", full, countable)


def _refuse_ambiguous(rest: str) -> None:
    """The first of these would end the user's part, and what follows would be taken for a host and be shown."""
    if any(mark in rest.rpartition("@")[0] for mark in "/@?#"):
        raise ParameterError(
            "the user or password in the database's URL holds one of / @ ? #; write them as %2F %40 %3F %23"
        )


def _without_password(url: str) -> str:
    """The address for those who have the password of their own."""
    scheme, rest = url.split("://", 1)
    user, at, rest = rest.rpartition("@")
    place, question, options = rest.partition("?")
    kept = "&".join(option for option in options.split("&") if not secrets_in(f"?{option}"))
    return f"{scheme}://{user.partition(':')[0]}{at}{place}{question}{kept}"

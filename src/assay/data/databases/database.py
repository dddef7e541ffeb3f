"""Tables in databases, by ADBC: one table, a query, or a table joined along its foreign keys; read only, in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from assay.data.databases.dialects import (
    PATIENCE,
    Connection,
    DatabaseColumn,
    DatabaseTable,
    Dialect,
    Reading,
    Relation,
    quoted,
)
from assay.data.databases.joins import JoinStep, join_steps, joined, plan, prefixes
from assay.data.databases.postgresql import Postgresql
from assay.data.databases.sqlite import Sqlite
from assay.data.field import Declared
from assay.data.file_fingerprint import Unchanged
from assay.data.names import unique_names
from assay.data.place import Place
from assay.data.source import Source
from assay.errors import DataError, ParameterError

_SERVERS = ("postgresql://", "postgres://")
_LISTED = 30
_MOST_ROWS = 1_000_000_000
# columns whose contradictions come in one text
_TOLD_TOGETHER = 100


class DatabaseSource(Source):
    """Rows of a SQLite or PostgreSQL database.

    Args:
        where: a SQLite file, "sqlite:///file" or "postgresql://user@host:port/database".
        declared: what is said about columns; sensitive ones are not asked for at all, and neither is a joined column
            that has the same name in its own table.
        table: the table or view to read; not needed where there is only one.
        query: a SELECT instead.
        join: follow the foreign keys that the table declares, and those of the tables they lead to: True for all, or
            the names of tables or of key columns, in a list or separated by commas. Columns of joined tables are
            called "Table.Column", and "key.Table.Column" where several keys lead to the same table.
        patience: seconds that the database may take until it gives rows.
        most_rows: rows that are read at most; more are refused, as a view or query may have no end.

    Rows of a table are counted when it is opened if the table (for SQLite the file) takes at most 256 MiB. In SQLite
    each value has a type of its own; a column's is decided by its first 65,536 rows and its declaration, and what
    contradicts it later is counted in `problems` and missing.

    >>> import sqlite3, tempfile
    >>> file = tempfile.mkdtemp() + "/shop.db"
    >>> shop = sqlite3.connect(file)
    >>> _ = shop.executescript("CREATE TABLE item (name TEXT, price REAL); INSERT INTO item VALUES ('pen', 1.5)")
    >>> shop.close()
    >>> DatabaseSource(file).to_arrow().to_pylist()
    [{'name': 'pen', 'price': 1.5}]
    """

    _drops_sensitive = True

    def __init__(
        self,
        where: str | os.PathLike[str],
        declared: Declared | None = None,
        *,
        table: str | None = None,
        query: str | None = None,
        join: bool | str | Sequence[str] | None = None,
        patience: float = PATIENCE,
        most_rows: int = _MOST_ROWS,
    ) -> None:
        if table is not None and query is not None:
            raise ParameterError("rows come from a table or from a query; give only one of table= and query=")
        if query is not None and join:
            raise ParameterError("join= follows the foreign keys of a table; give table= instead of query=")
        if not (_is_number(patience) and patience > 0 and _is_number(most_rows) and most_rows > 0):
            raise ParameterError(f"patience and most_rows are numbers above 0; got {patience!r} and {most_rows!r}")
        self._most_rows = most_rows
        self._dialect = _dialect(where)
        self._dialect.patience = float(patience)
        super().__init__(self._dialect.name, declared)
        self._dialect.withhold = bool(self.declared.sensitive)
        self._keys: frozenset[str] = frozenset()
        files = [Place(file) for file in self._dialect.files]
        self.unchanged = Unchanged(files[:1], touched=files[1:])
        with self._dialect.connected() as connection:
            if query is None:
                relation, columns = self._from_table(connection, table, join or False)
            else:
                relation, columns = self._from_query(connection, query)
            self.rows = relation.rows
            kept, changed = self._without_sensitive(columns)
            self._names = [column.name for column in kept]
            self._roles = [{"role": "key"} if column.sql in self._keys else None for column in kept]
            self._readings = self._dialect.readings(connection, relation, kept, self.declared)
        self.notes += (changed,) if changed else ()
        self._statement = _statement(self._dialect, self._readings, relation)

    def _from_table(
        self, connection: Connection, name: str | None, join: bool | str | Sequence[str]
    ) -> tuple[Relation, list[DatabaseColumn]]:
        start = self._start(connection, name)
        self.name = f"{self._dialect.name}.{start.shown}"
        steps: tuple[JoinStep, ...] = ()
        if join:
            keys_of = cache(lambda table: self._dialect.keys(connection, table))
            steps = join_steps(start, keys_of, join)
            self.notes += plan(start, steps, keys_of)
        # whose rows stand beside them, so that they tell nothing more
        self._keys = frozenset(f"t{step.child}.{quoted(own)}" for step in steps for own in step.key.columns)
        if steps and not self._dialect.keys_are_unique:
            _refuse_multiplied(self._dialect, connection, start, steps)
        columns = [
            DatabaseColumn(own, own, f"t0.{quoted(own)}", type_)
            for own, type_ in self._dialect.columns(connection, start)
        ]
        for i, (step, prefix) in enumerate(zip(steps, prefixes(steps), strict=True), start=1):
            columns += [
                DatabaseColumn(f"{prefix}.{own}", own, f"t{i}.{quoted(own)}", type_)
                for own, type_ in self._dialect.columns(connection, step.key.parent)
                if own not in step.key.parent_columns
            ]
        rows = _count(connection, joined(start, ())) if start.countable else None
        return Relation(joined(start, steps), rows=rows), columns

    def _start(self, connection: Connection, name: str | None) -> DatabaseTable:
        tables = self._dialect.tables(connection)
        shown = self._dialect.shown
        if not tables:
            raise DataError(f"cannot read {shown}: it holds no tables that you may see; check that it is the right one")
        if name is None and len(tables) == 1:
            self.notes += (f"{tables[0].shown} is the only table and was taken.",)
            return tables[0]
        exact = [table for table in tables if name in (table.shown, table.full)]
        similar = [table for table in tables if name is not None and table.shown.lower() == name.lower()]
        if name is not None and (exact or len(similar) == 1):
            return (exact or similar)[0]
        listed = [
            f"{table.shown} ({_count(connection, table.sql):,} rows)" if table.countable else table.shown
            for table in tables[:_LISTED]
        ] + ["..."] * (len(tables) > _LISTED)
        rule = f"{shown} holds {len(tables)} tables" if name is None else f"there is no table {name!r} in {shown}"
        raise ParameterError(f"{rule}; choose one by table= or --option table=NAME: {', '.join(listed)}")

    def _from_query(self, connection: Connection, query: str) -> tuple[Relation, list[DatabaseColumn]]:
        found = self._dialect.query_columns(connection, query)
        columns = [DatabaseColumn(own, own, f"t0.c{i}", type_) for i, (own, type_) in enumerate(found)]
        return self._dialect.query_relation(query, len(found)), columns

    def _without_sensitive(self, columns: Sequence[DatabaseColumn]) -> tuple[list[DatabaseColumn], str | None]:
        """The columns to read, no two of one name, and a sentence about names that were changed."""
        names, changed = unique_names([column.name for column in columns])
        known = dict.fromkeys((*names, *(column.own for column in columns)))
        Declared(sensitive=self.declared.sensitive).check(known)
        kept = [
            replace(column, name=name)
            for column, name in zip(columns, names, strict=True)
            if not self.declared.hides(name, column.name, column.own)
        ]
        if not kept:
            raise DataError(f"cannot read {self.name}: it has no columns that are not sensitive; name fewer of them")
        return kept, changed

    @property
    def portable(self) -> bool:
        """Whether another process can read it: not with a password in the address, which is not sent there."""
        return not self._dialect.holds_secrets

    def _arrow_schema(self) -> pa.Schema:
        columns = zip(self._names, self._readings, self._roles, strict=True)
        return pa.schema([pa.field(name, reading.type, metadata=role) for name, reading, role in columns])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        schema = self.arrow_schema
        before = 0
        with self._dialect.connected() as connection:
            for batch in self._dialect.batches(connection, self._statement):
                for told in batch.columns[len(schema) :]:
                    self._count_contradictions(told, before)
                values = [self._decoded(*pair, before) for pair in zip(schema.names, batch.columns, strict=False)]
                before += batch.num_rows
                if before > self._most_rows:
                    raise DataError(
                        f"cannot read {self.name}: it has more than {self._most_rows:,} rows; a view or query may have "
                        "no end: read a table, or allow more by most_rows="
                    )
                yield pa.RecordBatch.from_arrays(values, schema=schema)

    def _count_contradictions(self, told: pa.Array, before: int) -> None:
        for row in pc.indices_nonzero(told.is_valid()).to_pylist():
            for part in told[row].as_py().split(";")[:-1]:
                i, _, digits = part.partition(":")
                value = bytes.fromhex(digits).decode(errors="replace")
                self.problems.add(
                    self._readings[int(i)].what,
                    column=self._names[int(i)],
                    place=f"row {before + row + 1}",
                    value=value,
                )

    def _decoded(self, name: str, values: pa.Array, before: int) -> pa.Array:
        """Texts with bytes that are not UTF-8, which both systems can hold, are mended and counted."""
        if not pa.types.is_string(values.type):
            return values
        try:
            values.validate(full=True)
        except pa.ArrowInvalid:
            stored = values.cast(pa.binary()).to_pylist()
            mended = [None if raw is None else raw.decode(errors="replace") for raw in stored]
            for row, (raw, text) in enumerate(zip(stored, mended, strict=True)):
                if text is not None and raw != text.encode():
                    what = "values hold bytes that are not UTF-8, shown as \N{REPLACEMENT CHARACTER}"
                    self.problems.add(what, column=name, place=f"row {before + row + 1}", value=text)
            return pa.array(mended, pa.string())
        return values


def _dialect(where: str | os.PathLike[str]) -> Dialect:
    text = os.fspath(where)
    if text.lower().startswith(_SERVERS):
        return Postgresql(text)
    scheme, separator, rest = text.partition(":///")
    if separator and scheme.lower() == "sqlite":
        return Sqlite(Path(rest))
    if "://" in text:  # not repeated whole, as it may hold a password
        raise ParameterError(
            f"a database is a SQLite file, sqlite:///file or postgresql://user@host:port/database; "
            f"got a URL that begins with {text.partition('://')[0]!r}"
        )
    return Sqlite(Path(text))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _count(connection: Connection, from_: str) -> int:
    return int(connection.rows(f"SELECT count(*) FROM {from_}")[0][0])


def _refuse_multiplied(
    dialect: Dialect, connection: Connection, start: DatabaseTable, steps: Sequence[JoinStep]
) -> None:
    """Where the database does not insist that what a key refers to is unique, it is counted."""
    rows = _count(connection, joined(start, ()))
    if _count(connection, joined(start, steps)) == rows:
        return
    for i, step in enumerate(steps, start=1):
        if _count(connection, joined(start, steps[:i])) != rows:
            raise DataError(
                f"cannot join {step.chain()} in {dialect.shown}: several rows of {step.key.parent.shown} have the same "
                f"{'+'.join(step.key.parent_columns)}, so rows of {start.shown} would be multiplied; "
                "repair it, or name the tables to join without it"
            )


def _statement(dialect: Dialect, readings: Sequence[Reading], relation: Relation) -> str:
    """The values, then texts such as "3:6f6f7073;" that tell which of them were left out and what they were."""
    checked = [(i, reading) for i, reading in enumerate(readings) if reading.contradiction is not None]
    together = []
    for start in range(0, len(checked), _TOLD_TOGETHER):
        some = checked[start : start + _TOLD_TOGETHER]
        # asked first, as hardly any row needs the text
        any_ = " OR ".join(f"({reading.contradiction})" for _, reading in some)
        each = (
            f"CASE WHEN {reading.contradiction} THEN '{i}:' || {reading.text} || ';' ELSE '' END" for i, reading in some
        )
        together.append(f"CASE WHEN {any_} THEN {' || '.join(each)} END")
    samples = [reading.sample for reading in readings] + ["''"] * len(together)
    return dialect.statement([*(reading.value for reading in readings), *together], samples, relation)

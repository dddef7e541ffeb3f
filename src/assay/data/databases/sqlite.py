"""SQLite, where each value has a type of its own: a column gets the one that its first rows and its declaration say.

ADBC's driver takes a column's type from the first batch; a value of another type further down stops it, a column that
is empty at first counts as whole numbers, and a number in a column of text is cut to seven digits. So every value is
asked for by an expression that yields one type only, and a first row of samples, dropped again, tells it to the driver.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

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
from assay.data.source import BLOCK_ROWS
from assay.errors import DataError

# rows from which columns get their types
_FIRST_ROWS = BLOCK_ROWS
# a column with a larger part of text than this in its first rows is text: declared as numbers, or not
_TEXT_PART = {True: 0.5, False: 0.1}
# bytes that a batch should take, and the rows whose size is looked at
_BATCH_BYTES = 1 << 25
_SIZED_ROWS = 1000
# whole numbers beyond this are not all numbers of double precision
_EXACT = 1 << 53
# a statement of SQLite has at most 2,000 results
_COLUMNS_AT_ONCE = 300


class Sqlite(Dialect):
    """A SQLite file."""

    driver = "adbc_driver_sqlite"
    system = "SQLite"
    keys_are_unique = False
    # a file may come from anywhere: its views must not call functions that do more than compute
    settings = ("PRAGMA trusted_schema = OFF", "PRAGMA query_only = ON", "PRAGMA cell_size_check = ON")

    def __init__(self, path: Path) -> None:
        super().__init__(path.stem, str(path))
        if not path.exists():
            raise DataError(
                f"cannot read {path}: there is no such file; as a URL, sqlite:///name is relative "
                "and sqlite:////folder/name is absolute"
            )
        if not path.is_file():
            raise DataError(f"cannot read {path}: it is not a file; give the file of a SQLite database")
        self._path = path
        # rows that were written last may be in a file of their own beside it
        self.files = (str(path.absolute()), f"{path.absolute()}-wal")
        self._batch_rows = BLOCK_ROWS

    def opened(self, module: Any) -> Any:
        """Connect by a URI that allows reading only."""
        return module.connect(f"file:{quote(str(self._path.absolute()))}?mode=ro")

    def diagnosed(self, error: Exception) -> tuple[str, str, bool]:
        """The message without the driver's words round it, and what to do."""
        line = str(error).splitlines()[0]
        message = re.sub(r"^[A-Z_]+: |\[SQLite\] |Failed to \w+ query: ", "", line)
        quotes_values = "Failed to step" in line or isinstance(error, (OSError, pa.ArrowException))
        for pattern, remedy in _REMEDIES:
            if re.search(pattern, message):
                return re.sub(r"^failed to open .*", "it cannot be opened", message), remedy, quotes_values
        return message, "try the same statement in the sqlite3 program", quotes_values

    def tables(self, connection: Connection) -> tuple[DatabaseTable, ...]:
        """Tables and views, in the order of their names."""
        small = self._path.stat().st_size <= COUNTED_BYTES
        found = connection.rows(
            "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view')"
            " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        )
        return tuple(DatabaseTable(name, quoted(name), name, small and sort == "table") for name, sort in found)

    def columns(self, connection: Connection, table: DatabaseTable) -> tuple[tuple[str, str], ...]:
        """Name and declared type of each column of a table."""
        # hidden = 1 marks arguments of a virtual table, 2 and 3 are generated columns
        found = connection.rows(f"SELECT name, type FROM pragma_table_xinfo({literal(table.shown)}) WHERE hidden <> 1")
        return tuple((name, type_ or "") for name, type_ in found)

    def keys(self, connection: Connection, table: DatabaseTable) -> tuple[ForeignKey, ...]:
        """The foreign keys of a table, in the order they were declared."""
        tables = {known.shown.lower(): known for known in self.tables(connection)}
        found: dict[int, list[tuple[str, str, str | None]]] = {}
        rows = connection.rows(
            'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list'
            f"({literal(table.shown)}) ORDER BY id DESC, seq"
        )
        for number, parent, column, parent_column in rows:
            found.setdefault(number, []).append((parent, column, parent_column))
        keys = []
        for parts in found.values():
            columns = tuple(column for _, column, _ in parts)
            parent = tables.get(parts[0][0].lower())
            if parent is None:  # SQLite takes keys that lead nowhere
                keys.append(ForeignKey(columns, DatabaseTable(parts[0][0], "", parts[0][0]), ()))
                continue
            named = tuple(column for *_, column in parts if column is not None) or self._primary_key(connection, parent)
            spelt = {name.lower(): name for name, _ in self.columns(connection, parent)}
            known = tuple(spelt[name.lower()] for name in named if name.lower() in spelt)
            keys.append(ForeignKey(columns, parent, known if len(known) == len(columns) else ()))
        return tuple(dict.fromkeys(keys))

    def _primary_key(self, connection: Connection, table: DatabaseTable) -> tuple[str, ...]:
        rows = connection.rows(f"SELECT name FROM pragma_table_info({literal(table.shown)}) WHERE pk ORDER BY pk")
        return tuple(name for (name,) in rows)

    def query_columns(self, connection: Connection, query: str) -> tuple[tuple[str, str], ...]:
        """Name and type of each column of a SELECT; none is run to its end for this."""
        names = connection.fields(f"SELECT * FROM {one_select(query)} LIMIT 0").names
        # SQLite tells a second "id" as "id:1", and knows no case
        repeated = (re.sub(r":\d+$", "", name) for name in names)
        known = {name.lower() for name in names}
        return tuple(
            (first if first.lower() in known else name, "") for name, first in zip(names, repeated, strict=True)
        )

    def query_relation(self, query: str, width: int) -> Relation:
        """A SELECT as t0, with columns c0, c1, ..."""
        names = ", ".join(f"c{i}" for i in range(width))
        # a name that is no table of the user's, as the query could not see it then
        return Relation('"assay query" AS t0', f'WITH "assay query"({names}) AS {one_select(query)} ')

    def readings(
        self, connection: Connection, relation: Relation, columns: Sequence[DatabaseColumn], declared: Declared
    ) -> tuple[Reading, ...]:
        """How each column is asked for, by the types stored in its first rows."""
        readings: list[Reading] = []
        width = 0.0
        for start in range(0, len(columns), _COLUMNS_AT_ONCE):
            some = columns[start : start + _COLUMNS_AT_ONCE]
            counts = _stored_types(connection, relation, some)
            for column, (whole, real, text, raw, large, size) in zip(some, counts, strict=True):
                kind = declared.kinds.get(column.name)
                sort = _sort(whole, real, text, raw, large, _affinity(column.type), kind)
                readings.append(self._reading(sort, column.sql))
                width += size
        self._batch_rows = int(min(BLOCK_ROWS, max(64, _BATCH_BYTES // max(width, 1))))
        return tuple(readings)

    def _reading(self, sort: str, x: str) -> Reading:
        type_, sample, fits, contradicts, converted, what = _SORTS[sort]
        return Reading(
            type_,
            value=f"CASE WHEN {fits.format(x=x)} THEN {converted.format(x=x)} END",
            sample=sample,
            contradiction=contradicts.format(x=x),
            text=self.hexadecimal(x),
            what=what,
        )

    def statement(self, expressions: Sequence[str], samples: Sequence[str], relation: Relation) -> str:
        """The samples, then the rows."""
        rows = f"SELECT {', '.join(expressions)} FROM {relation.from_}"
        return f"{relation.before}SELECT {', '.join(samples)} UNION ALL {rows}"

    def batches(self, connection: Connection, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows, without the samples."""
        samples = 1
        for batch in connection.stream(sql, **{"adbc.sqlite.query.batch_rows": str(self._batch_rows)}):
            yield batch.slice(samples)
            samples = 0

    def hexadecimal(self, text: str) -> str:
        """The first 80 characters of a text in hexadecimal digits."""
        return f"hex(substr(CAST({text} AS TEXT), 1, 80))"


# SQLite sorts numbers before texts before bytes, which is quicker to ask for than the type
_IS_NUMBER, _IS_NO_NUMBER = "{x} COLLATE BINARY < ''", "{x} COLLATE BINARY >= ''"
_IS_NO_BYTES, _IS_BYTES = "{x} COLLATE BINARY < x''", "{x} COLLATE BINARY >= x''"
# of each sort of column: its type, a sample, what fits, what contradicts, how values are converted, what others are
_SORTS = {
    "whole": (
        pa.int64(),
        "0",
        "typeof({x}) = 'integer'",
        "typeof({x}) NOT IN ('integer', 'null')",
        "{x}",
        "values are not whole numbers and count as missing",
    ),
    "number": (
        pa.float64(),
        "0.5",
        _IS_NUMBER,
        _IS_NO_NUMBER,
        "CAST({x} AS REAL)",
        "values are not numbers and count as missing",
    ),
    "text": (
        pa.string(),
        "''",
        _IS_NO_BYTES,
        _IS_BYTES,
        "CAST({x} AS TEXT)",
        "values are bytes and count as missing",
    ),
    "bytes": (pa.binary(), "x'00'", _IS_BYTES, _IS_NO_BYTES, "{x}", "values are not bytes and count as missing"),
}

_REMEDIES = (
    ("readonly database|query_only", "assay only reads: give a SELECT"),
    ("syntax error|no such|ambiguous|incomplete input|unrecognized token|misuse|parameter count", "repair the query"),
    ("file is not a database", "give a SQLite file that is not encrypted"),
    ("disk image is malformed", "the file is damaged; recover it with the sqlite3 program's .recover"),
    ("locked", "wait until the program that writes to it is done"),
    ("unable to open|failed to open", "check that you may read it, and its folder if it is in WAL mode"),
    ("too many|parser stack|too large", "take fewer columns or tables"),
)


def _stored_types(
    connection: Connection, relation: Relation, columns: Sequence[DatabaseColumn]
) -> list[tuple[float, float, float, float, float, float]]:
    """Of each column's first rows: whole numbers, fractions, texts, bytes, large whole numbers, bytes a row."""
    if not columns:
        return []
    inner = ", ".join(f"{column.sql} AS x{i}" for i, column in enumerate(columns))
    types, sizes = [], []
    for i in range(len(columns)):
        types += [f"total(typeof(x{i}) = '{type_}')" for type_ in ("integer", "real", "text", "blob")]
        types.append(f"total(typeof(x{i}) = 'integer' AND (x{i} > {_EXACT} OR x{i} < -{_EXACT}))")
        sizes.append(f"8 + avg(coalesce(length(CAST(x{i} AS BLOB)), 0))")

    def first(rows: int, what: list[str]) -> tuple[Any, ...]:
        return connection.rows(
            f"{relation.before}SELECT {', '.join(f'{x} AS y{i}' for i, x in enumerate(what))}"
            f" FROM (SELECT {inner} FROM {relation.from_} LIMIT {rows})"
        )[0]

    counted, sized = first(_FIRST_ROWS, types), first(_SIZED_ROWS, sizes)
    return [(*counted[5 * i : 5 * i + 5], sized[i] or 8.0) for i in range(len(columns))]


def _affinity(declared: str) -> str:
    """What SQLite prefers in a column of a declared type (https://sqlite.org/datatype3.html, 3.1)."""
    upper = declared.upper()
    for words, affinity in (
        (("INT",), "integer"),
        (("CHAR", "CLOB", "TEXT"), "text"),
        (("BLOB",), "none"),
        (("REAL", "FLOA", "DOUB"), "real"),
        (("DATE", "TIME"), "time"),  # to SQLite these are numeric, but it has no such numbers
    ):
        if any(word in upper for word in words):
            return affinity
    return "numeric" if upper else "none"


def _sort(whole: float, real: float, text: float, raw: float, large: float, affinity: str, kind: str | None) -> str:
    """The sort of a column that holds so many values of each stored type."""
    values = whole + real + text + raw
    numeric = affinity in ("integer", "real", "numeric")
    if raw > values / 2:
        return "bytes"
    if kind in ("number", "count"):
        return "number"
    if (kind is not None and text) or (not values and not numeric) or text > _TEXT_PART[numeric] * values:
        return "text"
    if not real and (affinity == "integer" or large):
        return "whole"
    return "number"

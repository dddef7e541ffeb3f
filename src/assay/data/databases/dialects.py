"""What SQLite and PostgreSQL have in common: tables, keys, columns as they are read, and a connection that explains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import pyarrow as pa

from assay.data.databases.waiting import Helper, PatienceError
from assay.data.field import Declared
from assay.errors import DataError, ParameterError

# seconds that a database may take until it gives rows
PATIENCE = 600.0
# a table is counted when it is opened if it takes at most this many bytes
COUNTED_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table or view.

    Attributes:
        shown: its name as users write it.
        sql: its name in a statement, quoted.
        full: its name with its schema, where there are schemas.
        countable: whether counting its rows is quick.
    """

    shown: str
    sql: str
    full: str
    countable: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of one table that name at most one row of another.

    Attributes:
        columns: of the table that has the key.
        parent: the table it leads to.
        parent_columns: what they equal there; empty where there are no such columns.
    """

    columns: tuple[str, ...]
    parent: DatabaseTable
    parent_columns: tuple[str, ...]

    @property
    def label(self) -> str:
        """The key's columns, as in "TrackId" or "country+city"."""
        return "+".join(self.columns)


@dataclass(frozen=True, slots=True)
class Relation:
    """What rows are taken from.

    Attributes:
        from_: what follows FROM.
        before: what comes before SELECT.
        rows: how many there are, where that is known.
    """

    from_: str
    before: str = ""
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class DatabaseColumn:
    """A column to be read.

    Attributes:
        name: in the result.
        own: in its table or query.
        sql: its expression.
        type: as the database declares it, or "" where it does not.
    """

    name: str
    own: str
    sql: str
    type: str


@dataclass(frozen=True, slots=True)
class Reading:
    """How a column is asked for.

    Attributes:
        type: of its values in Arrow.
        value: expression whose values all have that type, null where they contradict it.
        sample: a literal of that type, for databases that know types of values only.
        contradiction: expression that is true where a value is left out, or None where that cannot be.
        text: expression that shows such a value, in hexadecimal digits.
        what: the contradiction in words that fit behind a count.
    """

    type: pa.DataType
    value: str
    sample: str = "NULL"
    contradiction: str | None = None
    text: str = "''"
    what: str = ""


class Connection:
    """An open database; its errors come out as sentences."""

    def __init__(self, raw: Any, dialect: Dialect, helper: Helper) -> None:
        self._raw = raw
        self._dialect = dialect
        self._helper = helper

    def stream(self, sql: str, **options: str) -> Iterator[pa.RecordBatch]:
        """The rows of a statement, batch by batch; the whole result is never held."""
        with self._dialect.explaining(), self._reader(sql, **options) as reader:
            while (batch := self._helper.call(lambda: next(reader, None))) is not None:
                yield batch

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a statement whose result is small."""
        return [
            row
            for batch in self.stream(sql)
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]

    def fields(self, sql: str) -> pa.Schema:
        """The columns of a SELECT that gives no rows."""
        with self._dialect.explaining(), self._reader(sql) as reader:
            return reader.schema

    @contextmanager
    def _reader(self, sql: str, **options: str) -> Iterator[Any]:
        cursor = self._helper.keep(self._raw.cursor())
        reader = None

        def execute() -> Any:
            cursor.adbc_statement.set_options(**options)
            cursor.execute(sql)
            return self._helper.keep(cursor.fetch_record_batch())

        try:
            reader = self._helper.call(execute)
            yield reader
        finally:
            if not self._helper.left:
                if reader is not None:
                    reader.close()
                cursor.close()


class Dialect(ABC):
    """One database, and how it wants to be spoken to.

    Attributes:
        name: how reports call it.
        shown: how messages call it, without its password.
        withhold: whether messages of the database, which may quote values, must not be repeated.
        patience: seconds that it may take to give rows.
    """

    driver: str
    system: str
    settings: tuple[str, ...] = ()
    # paths on this machine where the rows are, first the one that reading leaves as it is
    files: tuple[str, ...] = ()
    # whether the database sees to it that a foreign key leads to one row at most
    keys_are_unique = True

    def __init__(self, name: str, shown: str) -> None:
        self.name = name
        self.shown = shown
        self.withhold = False
        self.patience = PATIENCE

    @property
    def holds_secrets(self) -> bool:
        """Whether the address has a password, which does not leave this process."""
        return False

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Open the database for reading only."""
        try:
            module = import_module(f"{self.driver}.dbapi")
        except ImportError as error:
            raise DataError(
                f"cannot read {self.shown}: {self.system} databases need {self.driver}; "
                "install it with pip install 'assay[databases]'"
            ) from error
        helper = Helper(self.patience)
        try:
            with self.explaining():
                raw = helper.call(lambda: helper.keep(self.opened(module)))
            connection = Connection(raw, self, helper)
            try:
                for statement in self.settings:
                    with self.explaining(), raw.cursor() as cursor:
                        cursor.execute(statement)
                yield connection
            finally:
                if not helper.left:
                    raw.close()
        finally:
            helper.close()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn what the driver raises into one sentence."""
        try:
            yield
        except PatienceError:
            raise DataError(
                f"cannot read {self.shown}: it has given no rows for {self.patience:g} s; a view or query may have no "
                "end: read a table, or wait longer by patience="
            ) from None
        except (OSError, pa.ArrowException) as error:
            raise self.explained(error) from None
        except Exception as error:
            # the drivers' own errors; they are imported only where a database is read
            if type(error).__module__.partition(".")[0] != "adbc_driver_manager":
                raise
            # not "from error": the driver's text may hold the address with its password, or values
            raise self.explained(error) from None

    def explained(self, error: Exception) -> DataError:
        """An error of the driver as one sentence with what to do."""
        message, remedy, quotes_values = self.diagnosed(error)
        if self.withhold and quotes_values:
            message = "the database's message is withheld, as it may quote sensitive values"
        return DataError(f"cannot read {self.shown}: {message}; {remedy}")

    @abstractmethod
    def opened(self, module: Any) -> Any:
        """Connect, by a driver's module."""

    @abstractmethod
    def diagnosed(self, error: Exception) -> tuple[str, str, bool]:
        """The database's message, what to do, and whether the message may quote values."""

    @abstractmethod
    def tables(self, connection: Connection) -> tuple[DatabaseTable, ...]:
        """The tables and views a user would name."""

    @abstractmethod
    def columns(self, connection: Connection, table: DatabaseTable) -> tuple[tuple[str, str], ...]:
        """Name and declared type of each column of a table."""

    @abstractmethod
    def keys(self, connection: Connection, table: DatabaseTable) -> tuple[ForeignKey, ...]:
        """The foreign keys a table declares, in the order of their declaration."""

    @abstractmethod
    def query_columns(self, connection: Connection, query: str) -> tuple[tuple[str, str], ...]:
        """Name and type of each column of a user's SELECT."""

    @abstractmethod
    def query_relation(self, query: str, width: int) -> Relation:
        """A user's SELECT as something to take rows from, called t0 and its columns c0, c1, ..."""

    @abstractmethod
    def readings(
        self, connection: Connection, relation: Relation, columns: Sequence[DatabaseColumn], declared: Declared
    ) -> tuple[Reading, ...]:
        """How each column is asked for, so that one type holds for all of its values."""

    @abstractmethod
    def statement(self, expressions: Sequence[str], samples: Sequence[str], relation: Relation) -> str:
        """The whole statement, from the expressions of its columns."""

    @abstractmethod
    def batches(self, connection: Connection, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows of the whole statement."""

    @abstractmethod
    def hexadecimal(self, text: str) -> str:
        """Expression for the first 80 characters of a text in hexadecimal digits."""


def quoted(name: str) -> str:
    """A name for use in SQL, whatever characters it holds.

    >>> quoted('select "x"; --')
    '"select ""x""; --"'
    """
    return _within('"', name)


def literal(text: str) -> str:
    """A text for use in SQL.

    >>> literal("it's")
    "'it''s'"
    """
    return _within("'", text)


def _within(mark: str, text: str) -> str:
    if "\0" in text:
        raise ParameterError(f"a name in a database holds no null character; got {text!r}")
    return mark + text.replace(mark, 2 * mark) + mark


def one_select(query: str) -> str:
    """A query without what would keep it from being put into brackets."""
    inner = query.strip().rstrip(";").strip()
    if not inner:
        raise ParameterError("query= is empty; give a SELECT")
    return f"(\n{inner}\n)"  # on lines of its own, as it may end in a comment

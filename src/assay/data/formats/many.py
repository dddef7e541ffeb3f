"""Many files that are one table: a pattern of names, or a folder, also one partitioned into key=value sub-folders."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from assay.data.columns.kinds import understood
from assay.data.field import Declared, Field
from assay.data.file_fingerprint import Unchanged
from assay.data.fitting import add_misfits, fitted
from assay.data.place import Place
from assay.data.problems import Problems
from assay.data.source import BLOCK_ROWS, Source
from assay.engine.current import spread
from assay.errors import DataError, UnreadableError

Opener: TypeAlias = Callable[[Place, Declared], Source]

# So many files are looked at when the table is opened, the others when their turn comes.
_AT_ONCE = 100
# Columns are understood from so many files, spread over all of them.
_UNDERSTOOD = 16
UNREADABLE_FILES = "files that cannot be read, left out"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_KEY = re.compile(r"([^=/]+)=([^/]*)")


@dataclass(frozen=True, slots=True)
class FilePart:
    """One of many files.

    Attributes:
        place: where it is.
        name: its path within the folder.
        keys: what its sub-folders say, by column.
    """

    place: Place
    name: str
    keys: tuple[tuple[str, str | None], ...] = ()

    def hiding(self, declared: Declared) -> FilePart:
        """The part, called so that values of sensitive columns are not seen in its path."""
        if not declared.hides(*(key for key, _ in self.keys)):
            return self
        name = "/".join(
            f"{step.partition('=')[0]}=..." if "=" in step and declared.hides(unquote(step.partition("=")[0])) else step
            for step in self.name.split("/")
        )
        return replace(self, name=name, place=replace(self.place, shown=name))


def parts_of(places: Sequence[tuple[Place, str]]) -> list[FilePart]:
    """Files as parts, with the keys that their sub-folders tell.

    >>> part, = parts_of([(Place("x"), "year=2020/city=New%20York/a.parquet")])
    >>> part.keys
    (('year', '2020'), ('city', 'New York'))
    """
    return [FilePart(place, name, tuple(_keys(name))) for place, name in places]


def _keys(name: str) -> Iterator[tuple[str, str | None]]:
    for step in name.split("/")[:-1]:
        found = _KEY.fullmatch(step)
        if found:
            value = unquote(found[2])
            yield unquote(found[1]), None if value == _NO_VALUE else value


class ManySource(Source):
    """Files of equal columns, one after the other.

    The first file decides columns and types, though whole numbers in one file and fractions in another are both
    numbers. Values that do not fit count as missing, told with the file's name.

    Args:
        parts: the files, in order.
        open_: opens one of them.
        name: how reports call the data.
        declared: what the user said about the columns.
    """

    _drops_sensitive = True

    def __init__(self, parts: Sequence[FilePart], open_: Opener, name: str, declared: Declared | None = None) -> None:
        super().__init__(name, declared)
        self._parts = [part.hiding(self.declared) for part in parts]
        self._keys = _key_types(self._parts)
        self._inside = _without(self.declared, frozenset(self._keys))
        self._open_place = open_
        self._position = 0
        self._passed: list[tuple[int, Source]] = []
        self._cut: list[ManySource] | None = None
        # each file as it was when it was opened first, of those that are opened anew in every pass
        self._met: dict[int, Unchanged | None] = {}
        self._current: Source | None = None
        self._opened: list[Source] = []
        self._opened = [self._file(i) for i in range(min(len(self._parts), _AT_ONCE))]
        self._columns = self._common_columns()
        if len(self._opened) == len(self._parts) and all(source.rows is not None for source in self._opened):
            self.rows = sum(source.rows or 0 for source in self._opened)
        self.notes = self._common_notes()

    def _common_columns(self) -> pa.Schema:
        first = next((source for source in self._opened if not isinstance(source, LostFile)), None)
        if first is None:
            raise UnreadableError(f"cannot read {self.name}: none of its files can be read; {self._opened[0].notes[0]}")
        schema = first.arrow_schema
        for part, source in zip(self._parts, self._opened, strict=False):
            if isinstance(source, LostFile):
                continue
            self._check(part, source.arrow_schema, schema)
            schema = pa.schema([_common(field, source.arrow_schema.field(field.name)) for field in schema])
        named = Declared(sensitive=frozenset(self._keys))
        twice = next((name for name in schema.names if named.hides(name)), None)
        if twice is not None:
            raise DataError(
                f"cannot read {self.name}: column {twice!r} is both in the files and in the names of their folders; "
                "rename one of them"
            )
        return schema

    def _check(self, part: FilePart, found: pa.Schema, wanted: pa.Schema) -> None:
        first = self._parts[0].name
        lacking = next((name for name in wanted.names if name not in found.names), None)
        extra = next((name for name in found.names if name not in wanted.names), None)
        if lacking is None and extra is None:
            return
        what = (
            f"has no column {lacking!r}, which {first} has"
            if lacking is not None
            else (f"has a column {extra!r}, which {first} has not")
        )
        raise DataError(
            f"cannot read {self.name} as one table: {part.name} {what}; "
            "read one of them, or put tables together with assay.fuse"
        )

    def _common_notes(self) -> tuple[str, ...]:
        told: dict[str, list[str]] = {}
        for part, source in zip(self._parts, self._opened, strict=False):
            for note in () if isinstance(source, LostFile) else source.notes:
                told.setdefault(note, []).append(part.name)
        notes = [f"{len(self._parts):,} files were read as one table, {self._parts[0].name} first."]
        for note, names in told.items():
            more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
            notes.append(f"{names[0]}{more}: {note}")
        return tuple(notes)

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([*self._columns, *(pa.field(key, type_) for key, type_ in self._shown_keys())])

    def _shown_keys(self) -> list[tuple[str, pa.DataType]]:
        return [(key, type_) for key, type_ in self._keys.items() if not self.declared.hides(key)]

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The columns with their kinds, as understood from the beginnings of several files.

        What one file holds throughout, such as its year, another does not.
        """
        count = min(len(self._parts), _UNDERSTOOD)
        chosen = np.linspace(0, len(self._parts) - 1, count).astype(int).tolist()
        blocks = []
        for i in chosen:
            with closing(self._part_batches(i, self._file(i), Problems())) as batches:
                _, first = next(batches, (0, None))
            if first is not None:
                blocks.append(first.slice(0, -(-BLOCK_ROWS // count)))
        schema = self.arrow_schema
        return understood(schema, blocks or schema.empty_table().to_batches()[:1], self.declared)

    def _numbered_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        self._passed = []
        start = self.first_row
        for i, part in enumerate(self._parts):
            found = Problems()
            source = self._file(i)
            self._passed.append((start, source))
            try:
                for row, batch in self._part_batches(i, source, found):
                    yield start + row - source.first_row, batch
            finally:
                self.problems.extend(found, where=part.name)
            # rows of a file that could not be read have their numbers, where it is known how many they are
            start += source.rows_read if source.rows is None else source.rows
        self._position = len(self._parts)
        self.rows = start - self.first_row

    def partitions(self) -> Sequence[Source]:
        """Those of the files, which workers open."""
        if self._cut is None:
            cut: list[ManySource] = []
            row = self.first_row
            for parts in spread(self._file_partitions, range(len(self._parts))):
                for part in parts:
                    # a part that knew the others would carry them all to its worker
                    cut.append(
                        self._partition(row, part.rows, _parts=part._parts, _opened=part._opened, _cut=None, _met={})
                    )
                    row += part.rows or 0
            self._cut = cut
        return self._cut

    def _file_partitions(self, i: int) -> list[ManySource]:
        """The partitions of a file, their rows counted."""
        found = []
        for part in self._file(i).partitions():
            rows = part.rows if part.rows is not None else sum(block.num_rows for block in part.blocks())
            found.append(self._partition(0, rows, _parts=[self._parts[i]], _opened=[part], _cut=None, _met={}))
        return found

    def files(self) -> Unchanged | None:
        """All of them."""
        return Unchanged(part.place for part in self._parts)

    def identity(self) -> Any:
        """The files that are read, in order, and how they become one table."""
        files = [(part.place, part.name, part.keys) for part in self._parts]
        how = self.declared, self._columns, self._keys, self._open_place
        return files, self.name, self.first_row, self._opened, how

    def partition_of(self, row: int) -> Hashable:
        """What partition a row of the latest pass belongs to."""
        at = bisect_right(self._passed, row, key=lambda passed: passed[0]) - 1
        start, source = self._passed[at]
        return at, source.partition_of(row - start)

    def _file(self, i: int) -> Source:
        if i < len(self._opened):
            return self._opened[i]
        part = self._parts[i]
        try:
            source = self._open_place(part.place, self._inside)
        except DataError as error:
            if not self.declared.skip_unreadable:
                raise
            return LostFile(part.place, str(error))
        source.unchanged = self._met.setdefault(i, source.unchanged)
        return source

    def _part_batches(
        self, i: int, source: Source, found: Problems
    ) -> Generator[tuple[int, pa.RecordBatch], None, None]:
        """The rows of a file in the columns of all, each block with the number of its first row in the file."""
        part = self._parts[i]
        if isinstance(source, LostFile):
            found.extend(source.problems)
            return
        self._check(part, source.arrow_schema, self._columns)
        self._position, self._current = i, source
        schema = self.arrow_schema
        values = dict(part.keys)
        shown = self._shown_keys()
        try:
            for row, block in source.numbered_blocks():
                columns = [self._fitted(block, field, source, row, found) for field in self._columns]
                keys = [pa.repeat(pa.scalar(_typed(values[key], type_), type_), len(block)) for key, type_ in shown]
                yield row, pa.RecordBatch.from_arrays([*columns, *keys], schema=schema)
        finally:
            found.extend(source.problems)

    def _fitted(self, block: pa.RecordBatch, field: pa.Field, source: Source, row: int, found: Problems) -> pa.Array:
        column = block.column(field.name)
        array, lost = fitted(column, field.type)
        add_misfits(
            found,
            field.name,
            field.type,
            ((source.place_of(row + int(i)), column[int(i)].as_py()) for i in lost),
            shown=not self.declared.sensitive,
        )
        return array

    @property
    def fraction_read(self) -> float | None:
        """How far the latest pass has come, by files."""
        if self.rows:
            return super().fraction_read
        within = self._current.fraction_read if self._current is not None else 0.0
        return min((self._position + (within or 0.0)) / len(self._parts), 1.0)


class LostFile(Source):
    """One of many files, that cannot be opened; it has no rows and one problem.

    Args:
        place: of the file.
        why: it cannot be read.
    """

    def __init__(self, place: Place, why: str) -> None:
        super().__init__(place.name)
        self.rows, self.notes = 0, (why,)
        self.begin_pass()

    def begin_pass(self) -> None:
        """Each pass meets the problem."""
        super().begin_pass()
        self.problems.add(UNREADABLE_FILES, place=self.notes[0] if self.notes else "")

    def identity(self) -> Any:
        """A file of no rows."""
        return self.name, self.notes

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        return iter(())


def _common(first: pa.Field, other: pa.Field) -> pa.Field:
    """The type for both where there is a natural one, such as a number for whole ones and fractions."""
    try:
        return pa.unify_schemas([pa.schema([first]), pa.schema([other])], promote_options="permissive").field(0)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return first


def _key_types(parts: Sequence[FilePart]) -> dict[str, pa.DataType]:
    keys = [key for key, _ in parts[0].keys]
    for part in parts:
        if [key for key, _ in part.keys] != keys:
            raise DataError(
                f"cannot read the files as one table: the folders of {part.name} do not name the same columns as those "
                f"of {parts[0].name}"
            )
    values = [dict(part.keys) for part in parts]
    return {key: _key_type([row[key] for row in values]) for key in keys}


def _key_type(values: Sequence[str | None]) -> pa.DataType:
    whole = all(value is None or re.fullmatch(r"-?\d{1,18}", value) for value in values)
    return pa.int64() if whole else pa.string()


def _typed(value: str | None, type_: pa.DataType) -> str | int | None:
    return int(value) if value is not None and pa.types.is_integer(type_) else value


def _without(declared: Declared, columns: frozenset[str]) -> Declared:
    """What is declared of all columns but some."""
    return Declared(
        {name: kind for name, kind in declared.kinds.items() if name not in columns},
        {name: unit for name, unit in declared.units.items() if name not in columns},
        {name: role for name, role in declared.roles.items() if name not in columns},
        declared.sensitive - Declared(sensitive=columns).hidden(declared.sensitive),
        declared.skip_unreadable,
    )

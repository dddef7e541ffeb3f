"""Files of Stata (.dta), SPSS (.sav, .zsav, .por) and SAS (.sas7bdat, .xpt), read block by block.

The library that reads them is written in C and breaks on some damaged files: it runs in a process of its own, which a
pass over the rows starts (ADR 38).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from assay.data.field import Declared
from assay.data.formats.child_limits import memory_of_child
from assay.data.names import columns_to_read
from assay.data.place import Place
from assay.data.source import BLOCK_ROWS, Source
from assay.errors import DataError, UnreadableError
from assay.leftovers import TemporaryFolder
from assay.shown import a_few

Program: TypeAlias = Literal["stata", "spss", "spss portable", "sas", "sas transport"]
WRITTEN_BY: dict[str, str] = {
    "stata": "a Stata file", "spss": "an SPSS file", "spss portable": "a portable SPSS file", "sas": "a SAS file",
    "sas transport": "a SAS transport file",
}  # fmt: skip
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[2]); from assay.data.formats.statistics_child import main; main()"
_CELLS = 1 << 22  # of a block at most: the reader makes an object of each
_SECONDS = 60  # of computing for a pass, and some for each MB of the file
_SECONDS_A_MB = 10
_LONGEST = 1 << 34  # bytes of a message
_TYPES = {
    "text": pa.string(), "number": pa.float64(), "whole": pa.int64(), "day": pa.date32(),
    "moment": pa.timestamp("us"), "time": pa.time64("us"),
}  # fmt: skip
_OUT_OF_RANGE = "times are out of range and count as missing"


def _opener(program: Program) -> Any:
    def opened(place: Place, declared: Declared | None = None, *, encoding: str | None = None) -> Source:
        return StatisticsSource(place, declared, program=program, encoding=encoding)

    return opened


open_stata, open_spss, open_portable = _opener("stata"), _opener("spss"), _opener("spss portable")
open_sas, open_transport = _opener("sas"), _opener("sas transport")


class StatisticsSource(Source):
    """A file of a statistics program.

    Labels of values stand for them where all values of the first block have one; what the program calls missing is
    missing; labels of columns are kept in the metadata of the schema.

    Args:
        place: the file.
        declared: what the user said about the columns.
        program: whose file it is.
        encoding: of its texts, where the file says nothing or something wrong.
    """

    _drops_sensitive = True

    def __init__(
        self, place: Place, declared: Declared | None = None, *, program: Program, encoding: str | None = None
    ) -> None:
        super().__init__(place.name, declared)
        if find_spec("pyreadstat") is None:
            raise DataError(
                f"cannot read {place}: it is {WRITTEN_BY[program]}, and the package pyreadstat is missing: install "
                "assay[statistics], or save the table as CSV"
            )
        self.place, self._program, self._encoding = place, program, encoding
        with self._started((), 0) as messages:
            known = json.loads(next(messages))
        found = known["columns"]
        if not found:
            raise DataError(f"cannot read {place}: there are no columns in it")
        if len({column["name"] for column in found}) < len(found):
            raise DataError(f"cannot read {place}: it is damaged: two of its columns have one name; save it again")
        read = columns_to_read([column["name"] for column in found], self.declared)
        self._columns = [found[j] for j in read.positions]
        self._names = read.names
        self.rows = known["rows"] if isinstance(known["rows"], int) and known["rows"] >= 0 else None
        self._labelled = self._with_labels()
        self.notes = (*read.notes, *self._label_notes())

    def identity(self) -> Any:
        """The file, and what is read of it."""
        return self.place, self.name, self.declared, self._names, self._program, self._encoding

    def _with_labels(self) -> dict[str, tuple[list[Any], list[str]]]:
        """By column, values and their labels, of those whose values in the first block all have one."""
        asked = [column for column in self._columns if column["labels"]]
        if not asked:
            return {}
        found = {}
        first = next(self._read([column["name"] for column in asked], first=BLOCK_ROWS), None)
        for j, column in enumerate(asked):
            values = [value for value, _ in column["labels"]]
            seen = [] if first is None else first.column(j).drop_null().unique().to_pylist()
            if set(seen) <= set(values):
                found[column["name"]] = (values, [str(label) for _, label in column["labels"]])
        return found

    def _label_notes(self) -> list[str]:
        notes = []
        by_name = dict(zip((column["name"] for column in self._columns), self._names, strict=True))
        if self._labelled:
            names = [by_name[name] for name in self._labelled]
            notes.append(f"Values are called by the labels that the file has for them: {a_few(names, 10)}.")
        some = [c for c in self._columns if c["labels"] and c["name"] not in self._labelled]
        if some:
            told = a_few((by_name[column["name"]] for column in some), 10)
            notes.append(f"Only some values have labels, and values are taken as they are: {told}.")
        return notes

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([
            pa.field(name, self._type(column), metadata={"label": column["label"]} if column["label"] else None)
            for name, column in zip(self._names, self._columns, strict=True)
        ])  # fmt: skip

    def _type(self, column: dict[str, Any]) -> pa.DataType:
        if column["name"] not in self._labelled:
            return _TYPES[column["type"]]
        return pa.dictionary(pa.int32(), pa.string(), ordered=column["ordered"])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._read([column["name"] for column in self._columns]):
            arrays = [
                self._called(batch.column(j), column) if column["name"] in self._labelled else batch.column(j)
                for j, column in enumerate(self._columns)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    @cached_property
    def _schema(self) -> pa.Schema:
        return self._arrow_schema()

    def _called(self, values: pa.Array, column: dict[str, Any]) -> pa.Array:
        """Values by their labels; one that has none is called by itself."""
        known, labels = self._labelled[column["name"]]
        levels = list(dict.fromkeys(labels))
        place = {value: levels.index(label) for value, label in zip(known, labels, strict=True)}
        coded = values.dictionary_encode()
        for value in coded.dictionary.to_pylist():
            if value not in place:
                level = f"{value:g}" if isinstance(value, float) else str(value)
                if level not in levels:
                    levels.append(level)
                place[value] = levels.index(level)
        codes = pa.array([place[value] for value in coded.dictionary.to_pylist()], pa.int32())
        return pa.DictionaryArray.from_arrays(
            codes.take(coded.indices), pa.array(levels, pa.string()), ordered=column["ordered"]
        )

    def _read(self, wanted: list[str], first: int = 0) -> Iterator[pa.RecordBatch]:
        """Blocks of some columns, all rows or the first ones."""
        expected = pa.schema([
            (str(j), _TYPES[column["type"]])
            for j, column in enumerate(c for c in self._columns if c["name"] in set(wanted))
        ])  # fmt: skip
        with self._started(wanted, first) as messages:
            next(messages)
            for message in messages:
                said = json.loads(message)
                if "end" in said:
                    return
                for name, count in said["lost"].items():
                    self.problems.add(_OUT_OF_RANGE, column=name, count=count)
                batch = self._unpacked(next(messages))
                if batch.schema != expected:
                    raise UnreadableError(f"cannot read {self.place}: {_DAMAGED}")
                yield batch
            raise UnreadableError(f"cannot read {self.place}: {_DAMAGED}")

    def _unpacked(self, message: bytes) -> pa.RecordBatch:
        try:
            with pa.ipc.open_stream(message) as reader:
                batch = reader.read_next_batch()
            batch.validate(full=True)
        except (pa.ArrowInvalid, OSError, StopIteration) as error:
            raise UnreadableError(f"cannot read {self.place}: {_DAMAGED}") from error
        return batch

    @contextmanager
    def _started(self, wanted: Any, first: int) -> Iterator[Iterator[bytes]]:
        """The messages of a process that reads the file; it is gone at the end, whatever happened."""
        asked = {
            "format": self._program, "encoding": self._encoding, "wanted": list(wanted), "first": first,
            "cells": _CELLS, "most": BLOCK_ROWS, "memory": memory_of_child(),
            "seconds": _SECONDS + _SECONDS_A_MB * (self.place.size >> 20),
        }  # fmt: skip
        with _as_file(self.place) as path:
            command = [sys.executable, "-I", "-c", _PROGRAM, json.dumps(asked | {"path": path})]
            command.append(str(Path(__file__).parents[3]))
            try:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
            except OSError as error:
                raise DataError(
                    f"cannot read {self.place}: it is read in a process of its own, which cannot be started "
                    f"({error.strerror or error}); save the table as CSV"
                ) from error
            with process:
                try:
                    yield self._messages(process)
                finally:
                    process.kill()

    def _messages(self, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        assert process.stdout is not None
        while True:
            size = int.from_bytes(process.stdout.read(8), "little")
            message = process.stdout.read(min(size, _LONGEST)) if size else b""
            if not message or len(message) < size:
                raise UnreadableError(
                    f"cannot read {self.place}: it is damaged and breaks the reader, or takes more memory or time than "
                    f"there is; save it again in {_PROGRAMS[self._program]}, or as CSV"
                )
            if message[:11] == b'{"refused":':
                why = json.loads(message)["refused"]
                raise UnreadableError(
                    f"cannot read {self.place}: {_why(why)}; save it again in {_PROGRAMS[self._program]}, or as CSV"
                )
            yield message


_PROGRAMS = {"stata": "Stata", "spss": "SPSS", "spss portable": "SPSS", "sas": "SAS", "sas transport": "SAS"}
_DAMAGED = "it is damaged: its rows are not what its head says; save it again, or as CSV"


def _why(said: str) -> str:
    if "encoding" in said or "codec" in said or "character set" in said:
        return f"its texts are not in the encoding that it names ({said}): give encoding=, such as latin1"
    return f"it is damaged or of a version that is not known ({said})"


@contextmanager
def _as_file(place: Place) -> Iterator[str]:
    """The file by a path of this machine."""
    if place.filesystem is None:
        yield place.path
        return
    with TemporaryFolder() as folder, place.open() as handle:
        copy = Path(folder) / "copy"
        with copy.open("wb") as file:
            shutil.copyfileobj(handle, file)
        yield str(copy)

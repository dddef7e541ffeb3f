"""Spreadsheets read in a process of their own, with bounds (ADR 39)."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from assay.data.formats.child_limits import memory_of_child
from assay.data.formats.excel_cells import SheetCells
from assay.data.place import Place
from assay.errors import DataError, ParameterError

# Bytes of the file, of what it unpacks to and of what is read of it; cells of a rectangle that are held in memory.
_LARGEST = 1 << 31
_MOST_CELLS = 50_000_000
# Seconds of computing that the process may take, to which one comes for each MB of the file.
_SECONDS = 60

_PROGRAM = "import sys; sys.path += sys.argv[2:]; from assay.data.formats.sheet_child import main; main()"


@dataclass(frozen=True, slots=True)
class WorkbookSheet:
    """A sheet of a workbook.

    Attributes:
        name: of the sheet.
        rows: its cells as they were saved, "" for none.
        top, left: where they begin, from 0.
        cells: those that hold no value but something.
        names: of all sheets.
        hidden: those of them that are not shown.
    """

    name: str
    rows: list[list[Any]]
    top: int
    left: int
    cells: SheetCells
    names: list[str]
    hidden: list[str]


def read_sheet(place: Place, sheet: str | int | None) -> WorkbookSheet:
    """A sheet of a workbook: the one asked for, or the first that holds a table, hidden ones last.

    Args:
        place: the file.
        sheet: its name, or its number from 1.
    """
    asked: dict[str, Any] = {"sheet": sheet, "largest": _LARGEST, "cells": _MOST_CELLS, "memory": memory_of_child()}
    asked["seconds"] = _SECONDS + (place.size >> 20)
    names: list[str] = []
    hidden: list[str] = []
    found: tuple[Any, ...] = ()
    rows: list[list[Any]] = []
    with _started(place, asked) as messages:
        for what, *said in messages:
            if what == "book":
                names, hidden = said
            elif what == "sheet":
                found = tuple(said)
            elif what == "rows":
                rows += said[0]
            elif what == "refused":
                raise DataError(f"cannot read {place}: {said[0]}")
            elif what == "unknown":
                raise ParameterError(
                    f"{place} has no sheet {sheet!r}; there are {', '.join(map(repr, names[:20]))}, "
                    "or their numbers from 1"
                )
            elif what == "none":
                raise _empty(place, sheet, names)
    name, top, left, cells = found
    return WorkbookSheet(name, rows, top, left, SheetCells(**cells), names, hidden)


def _empty(place: Place, sheet: str | int | None, names: list[str]) -> DataError:
    if sheet is None:
        told = ", ".join(map(repr, names[:10]))
        return DataError(f"cannot read {place}: none of its sheets holds a table ({told})")
    name = names[sheet - 1] if isinstance(sheet, int) else sheet
    return DataError(f"cannot read {place}: sheet {name!r} is empty; choose another with sheet=")


@contextmanager
def _started(place: Place, asked: dict[str, Any]) -> Iterator[Iterator[tuple[Any, ...]]]:
    """The messages of a process that reads the file; it is gone at the end, whatever happened."""
    folders = [str(Path(__file__).parents[3])]
    if (calamine := find_spec("python_calamine")) is not None and calamine.origin is not None:
        folders.append(str(Path(calamine.origin).parents[1]))
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, json.dumps(asked, default=repr), *folders]
    with _as_file(place) as file:
        try:
            process = subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise DataError(
                f"cannot read {place}: spreadsheets are read in a process of their own, which cannot be started "
                f"({error.strerror or error}); save the sheet as CSV"
            ) from error
        with process:
            try:
                yield _messages(process, place, asked)
            finally:
                process.kill()


@contextmanager
def _as_file(place: Place) -> Iterator[IO[bytes]]:
    with place.open() as handle:
        if place.filesystem is None:
            yield handle
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(handle, copy)
            copy.seek(0)
            yield copy


def _messages(process: subprocess.Popen[bytes], place: Place, asked: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    assert process.stdout is not None
    while True:
        try:
            message = _Plain(process.stdout).load()
        except (EOFError, pickle.UnpicklingError):
            raise _ended(process, place, asked) from None
        yield message
        if message[0] not in ("book", "sheet", "rows"):
            return


def _ended(process: subprocess.Popen[bytes], place: Place, asked: dict[str, Any]) -> DataError:
    """Why the process ended before it was done."""
    code = process.wait()
    if code == -getattr(signal, "SIGXCPU", 0):
        return DataError(
            f"cannot read {place}: reading it takes longer than {asked['seconds']} s of computing; "
            "save the sheet as CSV"
        )
    return DataError(
        f"cannot read {place}: reading it takes more than {asked['memory'] / (1 << 30):.3g} GB of memory, or more than "
        "there is, or breaks the reader; delete stray cells far from the table and long texts, or save the sheet as CSV"
    )


class _Plain(pickle.Unpickler):
    """Takes values of cells, and calls nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "datetime" and name in ("date", "datetime", "time", "timedelta"):
            return getattr(dt, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no value of a cell")

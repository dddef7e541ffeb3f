"""The process that reads a spreadsheet: what breaks or fills the reader ends it, not the one who asked.

It has the file as its standard input and writes pickled messages to its standard output:

    ("book", names, hidden)             the sheets there are, and which of them are hidden
    ("unknown",)                        the sheet asked for is not among them
    ("none",)                           none of them holds a table
    ("sheet", name, top, left, cells)   the one that is read; where its rows begin, from 0; its special cells
    ("rows", rows)                      some of its rows
    ("end",)                            that were all
    ("refused", why)                    instead of any of these

It imports nothing of assay that is slow to import: a process starts in some 40 ms.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any

from assay.data.formats.child_limits import limit
from assay.data.formats.excel_cells import SheetCells, Sheets, check_open_document
from assay.data.formats.sheet_package import Package
from assay.errors import DataError

# Cells of a message.
_TOGETHER = 1 << 16


def main() -> None:
    """Read the sheet that the first argument asks for, as `sheet_process` writes it."""
    asked = json.loads(sys.argv[1])
    limit(asked["memory"], asked["seconds"])
    with os.fdopen(os.dup(1), "wb") as out:
        sent = 0
        try:
            for message in _messages(asked):
                packed = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
                sent += len(packed)
                if sent > asked["largest"]:
                    most = f"{asked['largest'] >> 20:,} MB"
                    raise DataError(f"its cells hold more than {most}; leave long texts out, or save it as CSV")
                out.write(packed)
        except DataError as error:
            out.write(pickle.dumps(("refused", str(error))))
        except BaseException as error:  # a panic of the reader is no Exception
            if isinstance(error, (MemoryError, BrokenPipeError, KeyboardInterrupt)):
                raise
            out.write(pickle.dumps(("refused", f"it is damaged ({_reason(error)}); save it again")))


def _messages(asked: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    import python_calamine

    data = sys.stdin.buffer.read(asked["largest"] + 1)
    if len(data) > asked["largest"]:
        raise DataError(
            f"it is larger than {asked['largest'] >> 20:,} MB, and it is held in memory; save the sheet as CSV"
        )
    sheets = None
    if data.startswith(b"PK"):
        package = Package(data, asked["largest"])
        package.check()
        check_open_document(package, asked["cells"])
        sheets = Sheets(package, asked["cells"])
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(BytesIO(data))
    except python_calamine.PasswordError:
        raise DataError("it is protected by a password; save it without one") from None
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise DataError(
            f"it is not a spreadsheet that can be read, or it is damaged ({_reason(error)}); save it again"
        ) from None
    names = book.sheet_names
    visible = python_calamine.SheetVisibleEnum.Visible
    hidden = [sheet.name for sheet in book.sheets_metadata if sheet.visible != visible]
    yield "book", names, hidden
    wanted, least = _wanted(asked["sheet"], names, hidden)
    for name in wanted:
        cells = sheets.cells(name) if sheets else SheetCells()
        sheet = _sheet(book, name)
        if sheet.start is not None and sheet.end[0] - sheet.start[0] >= least:
            yield from _read(name, sheet, cells)
            return
    yield ("none",) if wanted else ("unknown",)


def _wanted(sheet: str | int | None, names: list[str], hidden: list[str]) -> tuple[list[str], int]:
    """The sheets to try, hidden ones last, and how many rows they must have below the first."""
    if sheet is None:
        out_of_sight = set(hidden)
        return [*(name for name in names if name not in out_of_sight), *hidden], 1
    if isinstance(sheet, int) and not isinstance(sheet, bool) and 1 <= sheet <= len(names):
        return [names[sheet - 1]], 0
    return [sheet] * (sheet in names), 0  # type: ignore[list-item]


def _sheet(book: Any, name: str) -> Any:
    import python_calamine

    try:
        return book.get_sheet_by_name(name)
    except python_calamine.WorksheetNotFound:
        raise DataError(f"the content of sheet {name!r} is not in the file; save it again") from None
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise DataError(f"sheet {name!r} is damaged ({_reason(error)}); save it again") from None


def _read(name: str, sheet: Any, cells: SheetCells) -> Iterator[tuple[Any, ...]]:
    top, left = sheet.start
    yield "sheet", name, top, left, {"errors": cells.errors, "unsaved": cells.unsaved}
    step = max(1, _TOGETHER // (sheet.end[1] - left + 1))
    rows = islice(sheet.iter_rows(), top, None)  # it begins at the first row of the sheet, but at the first column used
    while some := list(islice(rows, step)):
        yield "rows", some
    yield ("end",)


def _reason(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]

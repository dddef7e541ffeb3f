"""What the XML of a sheet tells and a reader of values does not: errors, formulas without a value, how far it reaches.

Only files of the .xlsx kind have it; for the others nothing is known, and their error cells are plainly empty.
"""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass, field
from html import unescape
from posixpath import join, normpath

from assay.errors import DataError

# Unpacked bytes and cells of a rectangle that are held in memory.
_LARGEST = 1 << 31
_MOST_CELLS = 50_000_000

_SHEET = re.compile(r"<(?:\w+:)?sheet\b[^>]*>")
_RELATION = re.compile(r"<(?:\w+:)?Relationship\b[^>]*>")
_ATTRIBUTE = re.compile(r'([\w:]+)\s*=\s*"([^"]*)"')
_REFERENCE = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_ERROR = re.compile(
    rb'<(?:\w+:)?c\b(?=[^>]*\bt="e")[^>]*?\br="([A-Z]{1,3})(\d{1,7})"[^>]*>'
    rb"(?:(?!</?(?:\w+:)?c\b).)*?<(?:\w+:)?v>([^<]*)<",
    re.DOTALL,
)
_UNSAVED = re.compile(
    rb'<(?:\w+:)?c\b(?![^>]*\bt="str")[^>]*?\br="([A-Z]{1,3})(\d{1,7})"(?:[^>]*[^/])?>\s*'
    rb"<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells without a value that do hold something.

    Attributes:
        errors: by column from 1: row from 1, and the error.
        unsaved: by column from 1: rows from 1 of formulas that were never computed.
    """

    errors: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    unsaved: dict[int, list[int]] = field(default_factory=dict)

    def rows(self) -> set[int]:
        """Rows in which there is such a cell."""
        errors = {row for found in self.errors.values() for row, _ in found}
        return errors.union(*self.unsaved.values())


def address(row: int, column: int) -> str:
    """A cell as spreadsheets call it.

    >>> address(7, 3), address(1, 28)
    ('C7', 'AB1')
    """
    letters = ""
    while column:
        column, last = divmod(column - 1, 26)
        letters = chr(ord("A") + last) + letters
    return f"{letters}{row}"


def column_number(letters: str) -> int:
    """The number of a column, from 1.

    >>> column_number("AB")
    28
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def scanned(data: bytes, sheet: str, shown: str) -> Cells:
    """Look through the XML of one sheet; one that would fill the memory is refused.

    Args:
        data: the whole file.
        sheet: its name.
        shown: how messages call the file.
    """
    xml = _sheet_xml(data, sheet, shown)
    cells = Cells()
    if xml is None:
        return cells
    _check_extent(xml, sheet, shown)
    if b't="e"' in xml:
        for letters, row, value in _ERROR.findall(xml):
            errors = cells.errors.setdefault(column_number(letters.decode()), [])
            errors.append((int(row), unescape(value.decode("utf-8", "replace"))))
    for letters, row in _UNSAVED.findall(xml):
        cells.unsaved.setdefault(column_number(letters.decode()), []).append(int(row))
    return cells


def _check_extent(xml: bytes, sheet: str, shown: str) -> None:
    letters, numbers = set(), set()
    for reference in _REFERENCE.finditer(xml):
        letters.add(reference[1])
        numbers.add(reference[2])
    if not letters:
        return
    columns = [column_number(text.decode()) for text in letters]
    rows = [int(text) for text in numbers]
    count = (max(columns) - min(columns) + 1) * (max(rows) - min(rows) + 1)
    if count > _MOST_CELLS:
        raise DataError(
            f"cannot read {shown}: sheet {sheet!r} spans {count:,} cells, and at most {_MOST_CELLS:,} are read; "
            "delete stray cells far from the table, or save it as CSV"
        )


def _sheet_xml(data: bytes, sheet: str, shown: str) -> bytes | None:
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(info.file_size for info in archive.infolist())
            if size > _LARGEST:
                raise DataError(
                    f"cannot read {shown}: it unpacks to {size >> 20:,} MB, and at most {_LARGEST >> 20:,} MB are held "
                    "in memory; save the sheet as CSV"
                )
            path = _sheet_path(archive, sheet)
            return archive.read(path) if path is not None else None
    except (zipfile.BadZipFile, KeyError, OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {shown}: it is a damaged spreadsheet; save it again") from error


def _sheet_path(archive: zipfile.ZipFile, sheet: str) -> str | None:
    names = set(archive.namelist())
    if not {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= names:
        return None
    relation = None
    for tag in _SHEET.findall(archive.read("xl/workbook.xml").decode("utf-8-sig")):
        said = {key.rpartition(":")[2]: unescape(value) for key, value in _ATTRIBUTE.findall(tag)}
        if said.get("name") == sheet:
            relation = said.get("id")
    for tag in _RELATION.findall(archive.read("xl/_rels/workbook.xml.rels").decode("utf-8-sig")):
        said = {key: unescape(value) for key, value in _ATTRIBUTE.findall(tag)}
        if said.get("Id") == relation and "Target" in said:
            path = normpath(join("/xl", said["Target"])).lstrip("/")
            return path if path in names else None
    return None

"""What the XML of a sheet tells and a reader of values does not: how far it reaches, errors, formulas without a value.

The XML is read as it is unpacked, by a parser that holds nothing of it and refuses entities. Sheets in binary form
(.xls, .xlsb) have none: for them nothing is known, and their error cells are plainly empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from posixpath import join, normpath
from xml.parsers import expat

from assay.data.formats.sheet_package import Package
from assay.errors import DataError

_DIGITS = "0123456789"
# Characters of an error that are kept.
_SHOWN = 80
# Where a number in the XML is larger, it is beyond every sheet.
_BEYOND = 1 << 40


@dataclass(frozen=True, slots=True)
class SheetCells:
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
    """The number of a column, from 1, in capitals or not.

    >>> column_number("AB"), column_number("ab")
    (28, 28)
    """
    if len(letters) > 8 or not (letters.isascii() and letters.isalpha()):
        return _BEYOND
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


class Sheets:
    """The sheets of a workbook of the .xlsx kind.

    Args:
        package: the file.
        most: cells that the rectangle round all cells of a sheet may have.
    """

    def __init__(self, package: Package, most: int) -> None:
        self._package = package
        self._most = most
        self._relations: dict[str, str] = {}
        self._targets: dict[str, str] = {}
        self._scanned: dict[str, SheetCells] = {}
        if "xl/workbook.xml" in package and "xl/_rels/workbook.xml.rels" in package:
            package.parse("xl/workbook.xml", self._sheet)
            package.parse("xl/_rels/workbook.xml.rels", self._relation)

    def cells(self, sheet: str) -> SheetCells:
        """Look through one sheet; one that would fill the memory is refused.

        Args:
            sheet: its name.
        """
        target = self._targets.get(self._relations.get(sheet, ""))
        if target is None:
            return SheetCells()
        paths = (normpath(join("/xl", target)), target)
        path = next((path for path in paths if path in self._package), None)
        if path is None:
            return SheetCells()
        if path not in self._scanned:
            scan = _SheetScan()
            self._package.parse(path, scan.start, scan.parser)
            refuse_extent(sheet, scan.columns, scan.rows, self._most)
            self._scanned[path] = scan.cells
        return self._scanned[path]

    def _sheet(self, name: str, attributes: list[str]) -> None:
        if _local(name) == "sheet":
            said = _said(attributes)
            self._relations.setdefault(said.get("name", ""), said.get("id", ""))

    def _relation(self, name: str, attributes: list[str]) -> None:
        if _local(name) == "Relationship":
            said = _said(attributes)
            self._targets.setdefault(said.get("Id", ""), said.get("Target", ""))


class _SheetScan:
    """Takes the elements of a sheet, and knows where its values are and which cells are special.

    Only the beginnings of elements are listened to, which is quick, but in cells that are an error or a formula.

    Attributes:
        columns, rows: the first and the last that hold a value.
    """

    def __init__(self) -> None:
        self.cells = SheetCells()
        self.columns = self.rows = (_BEYOND, 0)
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self._letters: set[str] = set()
        self._digits = self._text = ""
        self._row = 0
        self._cell: list[str] = []  # its attributes, r first
        self._inside = self._saved = False

    def start(self, name: str, attributes: list[str]) -> None:
        """An element begins."""
        if name == "c":
            self._cell = attributes if attributes and attributes[0] == "r" else self._placed(attributes)
            self._inside = False
            if "e" in attributes and _said(attributes).get("t") == "e":
                self._listen()
        elif name == "v" or name == "is":
            self._inside = True
            if self._cell:
                place = self._cell[1]
                letters = place.rstrip(_DIGITS)
                digits = place[len(letters) :]
                if digits != self._digits or letters not in self._letters:
                    self._reach(letters, digits)
        elif name == "row":
            said = _said(attributes).get("r")
            self._row = self._row + 1 if said is None else _number(said)
            self._cell = []
        elif name == "f":
            self._listen()
        elif ":" in name:
            self.start(_local(name), attributes)

    def _placed(self, attributes: list[str]) -> list[str]:
        """The attributes of a cell with its place first, which is right of the last one where it is not said."""
        said = _said(attributes)
        if "r" not in said:
            column, row = _place(self._cell[1]) if self._cell else (0, self._row)
            said["r"] = address(row, column + 1)
        return ["r", said.pop("r"), *(text for pair in said.items() for text in pair)]

    def _reach(self, letters: str, digits: str) -> None:
        self._digits = digits
        if len(letters) <= 3:
            self._letters.add(letters)
        column, row = column_number(letters), _number(digits)
        self.columns = min(column, self.columns[0]), max(column, self.columns[1])
        self.rows = min(row, self.rows[0]), max(row, self.rows[1])

    def _listen(self) -> None:
        if self.parser.EndElementHandler is None:
            self._text, self._saved = "", self._inside
            self.parser.EndElementHandler = self._end
            self.parser.CharacterDataHandler = self._characters

    def _characters(self, text: str) -> None:
        if self._inside and (text := text.strip()):
            self._saved = True
            self._text = (self._text + text)[:_SHOWN]

    def _end(self, name: str) -> None:
        tag = _local(name)
        if tag in ("v", "is"):
            self._inside = False
        elif tag == "c":
            self.parser.EndElementHandler = self.parser.CharacterDataHandler = None
            column, row = _place(self._cell[1])
            kind = _said(self._cell).get("t")
            if kind == "e" and self._saved:
                self.cells.errors.setdefault(column, []).append((row, self._text))
            elif kind not in ("e", "str") and not self._saved:
                self.cells.unsaved.setdefault(column, []).append(row)


class _OpenScan:
    """Takes the elements of an OpenDocument file, and knows how far each table reaches.

    Cells and rows that are repeated count as often as they are there, empty ones only between others.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._table = ""
        self._rows = self._columns = self._width = self._repeated = 0

    def start(self, name: str, attributes: list[str]) -> None:
        """An element begins."""
        tag = _local(name)
        if tag == "table":
            self._table = _said(attributes).get("name", "")
            self._rows = self._width = self._repeated = 0
        elif tag == "table-row":
            self._rows += self._repeated
            self._repeated = _number(_said(attributes).get("number-rows-repeated", "1"))
            self._columns = 0
        elif tag in ("table-cell", "covered-table-cell"):
            said = _said(attributes)
            self._columns += _number(said.get("number-columns-repeated", "1"))
            if any("value" in key or key == "formula" for key in said):
                self._value()
        elif tag == "p":
            self._value()

    def _value(self) -> None:
        self._width = max(self._width, self._columns)
        refuse_extent(self._table, (1, self._width), (1, self._rows + self._repeated), self._most)


def check_open_document(package: Package, most: int) -> None:
    """Refuse an OpenDocument file with a table that would fill the memory.

    Args:
        package: the file.
        most: cells that a table may have.
    """
    if "content.xml" in package:
        package.parse("content.xml", _OpenScan(most).start)


def refuse_extent(sheet: str, columns: tuple[int, int], rows: tuple[int, int], most: int) -> None:
    """Refuse a sheet whose cells lie too far apart.

    Args:
        sheet: its name.
        columns, rows: the first and the last.
        most: cells that are held.
    """
    count = (columns[1] - columns[0] + 1) * (rows[1] - rows[0] + 1)
    if columns[1] and count > most:
        raise DataError(
            f"sheet {sheet[:_SHOWN]!r} spans {count:,} cells, and at most {most:,} are read; "
            "delete stray cells far from the table, or save it as CSV"
        )


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _said(attributes: list[str]) -> dict[str, str]:
    return {_local(key): value for key, value in zip(attributes[::2], attributes[1::2], strict=True)}


def _place(cell: str) -> tuple[int, int]:
    """Column and row of a cell such as B7."""
    letters = cell.rstrip(_DIGITS)
    return column_number(letters), _number(cell[len(letters) :])


def _number(digits: str) -> int:
    return int(digits) if len(digits) < 12 and digits.isascii() and digits.isdigit() else _BEYOND

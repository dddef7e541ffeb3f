"""Where the table begins in a text and what separates its cells, found in its first lines.

Leading lines are skipped while they are blank, begin with # or hold another number of cells than most lines do. The
delimiter is the one of `, ; tab |` that cuts most of the first lines into the same number of cells, more than one;
where none does, blanks, `^`, `~` and `:` are tried.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.data.columns.words import MISSING_CELLS
from assay.data.text.chunks import LONGEST, quote_edges, tidied
from assay.data.text.encodings import repaired
from assay.data.text.values import ValueForm
from assay.errors import DataError

_USUAL = ",;\t|"
_OTHER = " ^~:"
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_SAMPLE = 100  # records
_NUMBER = re.compile("|".join((ValueForm().pattern, ValueForm(",").pattern, ValueForm(thousands=",").pattern)))
_CLOCK = re.compile(r"^[^:]*\d\d:\d\d")


@dataclass(frozen=True, slots=True)
class TextLayout:
    """How a text is cut into a table.

    Attributes:
        delimiter: one character; a blank means any run of blanks or tabs.
        padded: whether blanks around the delimiter are no part of the cells.
        width: cells in a row.
        start: the byte at which the first record of the table begins, after lines that do not belong to it.
        line: the line of that byte, from 1.
        top: the cells of the record at `start`.
        header: where the record at `start` is known to hold the names: another number of cells, or a # in front.
        after: the byte behind that record.
        after_line: the line behind that record.
        notes: what was assumed.
    """

    delimiter: str
    padded: bool
    width: int
    start: int
    line: int
    top: tuple[str, ...]
    header: bool
    after: int
    after_line: int
    notes: tuple[str, ...] = ()

    @property
    def delimiters(self) -> bytes:
        """The bytes that separate cells."""
        return b" \t" if self.delimiter == " " else self.delimiter.encode()

    @property
    def tidy(self) -> bool:
        """Whether blanks must be taken out before the text is parsed."""
        return self.padded or self.delimiter == " "


@dataclass(frozen=True, slots=True)
class _Record:
    cells: tuple[str, ...]
    line: int  # lines before it
    until: int  # lines up to its end


def layout(text: bytes, delimiter: str | None = None) -> TextLayout:
    """Find the table in the first lines of a text.

    Args:
        text: UTF-8, not blank; the last record may be cut off.
        delimiter: where it is known.
    """
    lines = _first_lines(text)
    skipped = next((i for i, line in enumerate(lines) if not _is_comment(line)), len(lines))
    said = re.fullmatch(rb'sep=([^\w\s"]|[ \t])\s*', lines[skipped]) if skipped < len(lines) else None
    if said:
        skipped += 1
        delimiter = delimiter or said[1].decode()
    if skipped >= len(lines):  # nothing but comments: they are the table
        skipped = 0
    body = lines[skipped:]
    if delimiter is None:
        delimiter = _delimiter(body)
    padded = delimiter not in " \t" and _is_padded(body, delimiter)
    found = list(_records(body, delimiter, padded=padded))
    if not found:
        raise DataError("the file is empty")
    width = _usual_width(found)
    first, header = _first_record(found, width)
    top = found[first]
    begin = skipped + top.line
    laid = TextLayout(
        delimiter,
        padded,
        width,
        sum(map(len, lines[:begin])),
        begin + 1,
        top.cells,
        header,
        sum(map(len, lines[: skipped + top.until])),
        skipped + top.until + 1,
    )
    return _noted(_with_hash_header(laid, lines, begin))


def _noted(laid: TextLayout) -> TextLayout:
    notes = list(laid.notes)
    if laid.line > 1:
        lines = "Line 1" if laid.line == 2 else f"Lines 1 to {laid.line - 1}"
        was = "was" if laid.line == 2 else "were"
        notes.append(f"{lines} before the table {was} skipped: blank, a comment (#) or not cut like the rest.")
    if laid.delimiter not in _USUAL:
        name = "runs of blanks" if laid.delimiter == " " else repr(laid.delimiter)
        notes.append(f"Columns are separated by {name}." if laid.width > 1 else "The table has one column.")
    return replace(laid, notes=tuple(notes))


def _first_lines(text: bytes) -> list[bytes]:
    lines: list[bytes] = []
    table = size = 0
    for match in _LINE.finditer(text):
        lines.append(match[0])
        if table or not _is_comment(match[0]):
            table += 1
            size += len(match[0])
        if table >= 10 * _SAMPLE or (size > 1 << 18 and table > 2):
            break
    return lines


def _is_comment(line: bytes) -> bool:
    return not line.strip() or line.startswith(b"#")


def _records(lines: list[bytes], delimiter: str, *, padded: bool) -> Iterator[_Record]:
    text = b"".join(lines)
    if delimiter == " " or padded:
        separators = b" \t" if delimiter == " " else delimiter.encode()
        text = tidied(text, quote_edges(text, separators, padded=padded), delimiter.encode())
    shown = [repaired(match[0])[0].decode() for match in _LINE.finditer(text)]
    usual = csv.field_size_limit(LONGEST)  # with the wrong delimiter a whole line is one cell
    try:
        reader = csv.reader(shown, delimiter="\t" if delimiter == " " else delimiter)
        before = 0
        for count, cells in enumerate(reader):
            if len(cells) > 1 or any(cell.strip() for cell in cells):
                yield _Record(tuple(cells), before, reader.line_num)
            before = reader.line_num
            if count >= _SAMPLE:
                return
    finally:
        csv.field_size_limit(usual)


def _usual_width(records: list[_Record]) -> int:
    # what was read may end within the last record, and the first may have a width of its own
    judged = records[:-1] if len(records) > 2 else records
    widths = Counter(len(record.cells) for record in judged)
    return max(widths.items(), key=lambda item: (item[1], item[0]))[0]


def _first_record(records: list[_Record], width: int) -> tuple[int, bool]:
    """Which record begins the table, and whether its own number of cells shows that it holds the names."""
    first = next(i for i, record in enumerate(records) if len(record.cells) == width)
    if first == 0:
        return 0, False
    names = records[first - 1].cells
    words = all(not _is_number(cell) for cell in names[:width])
    one_less = len(names) == width - 1 > 1
    one_more = len(names) == width + 1 and not names[-1].strip()
    return (first - 1, True) if words and (one_less or one_more) else (first, False)


def _with_hash_header(laid: TextLayout, lines: list[bytes], begin: int) -> TextLayout:
    """A last comment line with as many words as there are columns names them."""
    if begin == 0 or laid.header or laid.width < 2 or not lines[begin - 1].startswith(b"#"):
        return laid
    line = lines[begin - 1].lstrip(b"#")
    names = next(_records([line], laid.delimiter, padded=True), None)
    if names is None or len(names.cells) != laid.width or any(_is_number(cell) for cell in names.cells):
        return laid
    if all(not _is_number(cell) for cell in laid.top) and laid.width < 3:
        return laid
    return replace(
        laid,
        start=laid.start - len(lines[begin - 1]),
        line=laid.line - 1,
        top=names.cells,
        header=True,
        after=laid.start,
        after_line=laid.line,
    )


def _delimiter(lines: list[bytes]) -> str:
    if len(lines[0]) > 1 << 18:  # thousands of columns: the first line says enough
        return max(_USUAL + " ", key=lambda mark: lines[0].count(mark.encode()))
    best, share = _best(lines, _USUAL)
    if share >= 0.7:
        return best
    other, agreeing = _best(lines, _OTHER)
    if agreeing >= 0.95:
        return other
    return best if share >= 0.5 else ","


def _best(lines: list[bytes], candidates: str) -> tuple[str, float]:
    scores = {mark: _agreement(lines, mark) for mark in candidates if any(mark.encode() in line for line in lines)}
    if not scores:
        return ",", 0.0
    best = max(scores, key=lambda mark: scores[mark])
    return best, scores[best][0]


def _agreement(lines: list[bytes], delimiter: str) -> tuple[float, float, int]:
    """How many records agree in their number of cells, how many of their cells are numbers, and that number."""
    try:
        records = list(_records(lines, delimiter, padded=False))
    except csv.Error:
        return 0.0, 0.0, 0
    if not records:
        return 0.0, 0.0, 0
    width = _usual_width(records)
    agreeing = [record.cells for record in records if len(record.cells) == width]
    if len(records[0].cells) == width - 1 > 1:  # names for all columns but that of row names
        agreeing.append(records[0].cells)
    if width == 1 or (delimiter in _OTHER and not _plausible(records, delimiter, width)):
        return 0.0, 0.0, 0
    cells = [cell for record in agreeing for cell in record]
    return len(agreeing) / len(records), sum(map(_is_number, cells)) / len(cells), width


def _plausible(records: list[_Record], delimiter: str, width: int) -> bool:
    """Blanks and colons are also found within text and times: then the first line must agree with the rest."""
    if delimiter == ":" and all(_CLOCK.match(":".join(record.cells)) for record in records[1:]):
        return False
    first = len(records[0].cells)
    return first == width or 1 < first == width - 1


def _is_padded(lines: list[bytes], delimiter: str) -> bool:
    text = b"".join(lines[1:_SAMPLE] or lines)
    mark = delimiter.encode()
    count = text.count(mark)
    return count > 0 and max(text.count(mark + b" "), text.count(b" " + mark)) >= 0.9 * count


def _is_number(cell: str) -> bool:
    return _NUMBER.match(cell.strip()) is not None or cell.strip() in MISSING_CELLS

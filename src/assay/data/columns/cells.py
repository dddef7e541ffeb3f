"""Cells as values: one column of a block read as its kind says, with the cells that do not fit marked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.columns.dates import DAY, SECOND, read_clock, read_dates, read_epoch
from assay.data.columns.words import BOOLEAN, MISSING, folded
from assay.data.field import Field

Form: TypeAlias = Literal["number", "text", "boolean", "time", "clock", "none", "other"]

_FLOAT = pa.float64()
# the years 1 to 9999, which are all that most calendars know
_FIRST_DAY, _LAST_DAY = -719_162.0 * DAY, 2_932_897.0 * DAY

# ways to read text of a kind; the one that leaves the fewest cells unread is taken, the first where several do
POINT, COMMA = "decimal point", "decimal comma"
MONTH_FIRST, DAY_FIRST, CLOCK = "month before day", "day before month", "time of day"

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_SIGNS = re.compile(r"^([+-]?)\s*[$€£¥]\s*|\s*[%$€£¥]$")


@dataclass(frozen=True, eq=False)
class Coded:
    """A column by its different cells.

    Attributes:
        cells: the different cells as text, without blanks around them.
        codes: (b,) which of them each row holds, -1 where it is missing or blank.
    """

    cells: list[str]
    codes: NDArray[np.int64]

    def spread(self, values: Array) -> Array:
        """(b,) one value for each row from one for each different cell, NaN where missing."""
        return np.append(values, np.nan)[self.codes]

    def counts(self) -> NDArray[np.int64]:
        """How many rows hold each of the cells."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.cells))

    @cached_property
    def said(self) -> NDArray[np.bool_]:
        """(cells,) which of them are not words for a missing value."""
        return np.array([folded(cell) not in MISSING for cell in self.cells], dtype=bool)


@cache
def form_of(type_: pa.DataType) -> Form:
    """How an Arrow type stores its values; dictionaries as what is in them.

    >>> form_of(pa.dictionary(pa.int8(), pa.string())), form_of(pa.int8()), form_of(pa.list_(pa.int8()))
    ('text', 'number', 'other')
    """
    is_ = pa.types
    if is_.is_dictionary(type_):
        return form_of(type_.value_type)
    if is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_) or is_.is_duration(type_):
        return "number"
    if is_.is_string(type_) or is_.is_large_string(type_) or is_.is_string_view(type_):
        return "text"
    if is_.is_date(type_) or is_.is_timestamp(type_):
        return "time"
    if is_.is_boolean(type_):
        return "boolean"
    if is_.is_time(type_):
        return "clock"
    return "none" if is_.is_null(type_) else "other"


def is_text(type_: pa.DataType) -> bool:
    """Whether values of an Arrow type are text, dictionaries of text included."""
    return form_of(type_) == "text"


def readings(field: Field, type_: pa.DataType) -> tuple[str, ...]:
    """The ways in which cells of a column can be read.

    >>> readings(Field("x", "time"), pa.string()), readings(Field("x", "time"), pa.date32())
    (('month before day', 'day before month', 'time of day'), ('',))
    """
    if not is_text(type_):
        return ("",)
    if field.kind in ("number", "count"):
        return (POINT, COMMA)
    return (MONTH_FIRST, DAY_FIRST, CLOCK) if field.kind == "time" else ("",)


def coded(column: pa.Array) -> Coded:
    """A column by its different cells, each as text; numbers that are whole without a decimal point.

    >>> found = coded(pa.array([2.0, None, 1.5, 2.0]))
    >>> found.cells, found.codes
    (['2', '1.5'], array([ 0, -1,  1,  0]))
    """
    if not pa.types.is_dictionary(column.type):
        column = _plain(column).dictionary_encode()
    levels = column.dictionary
    if is_text(levels.type):
        texts = pc.utf8_trim_whitespace(levels).fill_null("").to_pylist()
    else:
        texts = ["" if value is None else cell_text(value).strip() for value in levels.to_pylist()]
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(text, len(place)) if text else -1 for text in texts] + [-1], dtype=np.int64)
    indices = np.asarray(column.indices.cast(pa.int64()).fill_null(len(levels)), dtype=np.int64)
    return Coded(list(place), codes[indices])


def cell_text(value: object) -> str:
    """A cell in words; NaN is empty.

    >>> cell_text(3.0), cell_text(0.5), cell_text(True), cell_text(float("nan"))
    ('3', '0.5', 'true', '')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if value != value:
            return ""
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def cell_at(column: pa.Array, row: int) -> str:
    """The cell of one row in words, however strange its value.

    >>> cell_at(pa.array([1.0]), 0), cell_at(pa.array([2**60], pa.timestamp("s")), 0)
    ('1', '<value out of range: 1152921504606846976>')
    """
    try:
        return cell_text(column[row].as_py())
    except (ValueError, OverflowError):  # an instant that Python has no date for
        return str(_plain(column.slice(row, 1))[0])


def _plain(column: pa.Array) -> pa.Array:
    is_ = pa.types
    if is_.is_string_view(column.type):
        return column.cast(pa.string())
    if is_.is_decimal(column.type) or is_.is_float16(column.type):
        return column.cast(_FLOAT)
    if is_.is_duration(column.type):
        return pa.array(_temporal(column), from_pandas=True)
    if is_.is_timestamp(column.type):  # Python's own dates end with the year 9999
        return column.cast(pa.timestamp(column.type.unit)).cast(pa.string())
    if is_.is_primitive(column.type) or is_text(column.type) or is_.is_null(column.type):
        return column
    return pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())


def numbers(column: pa.Array) -> Array:
    """(b,) a numeric, boolean or null column as float64, missing values as NaN.

    >>> numbers(pa.array([1, None], pa.int8()))
    array([ 1., nan])
    """
    if column.type != _FLOAT:
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        column = column.cast(_FLOAT, safe=False)
    found: Array = column.to_numpy(zero_copy_only=False)
    return found


def as_values(
    column: pa.Array, field: Field, reading: str = "", found: Coded | None = None
) -> tuple[Array, NDArray[np.bool_] | None]:
    """A column of a kind that is a number in the end, as numbers.

    Args:
        column: the cells.
        field: what they are: number, count, ordered, boolean or time.
        reading: one of `readings`.
        found: the column by its cells, where that is known already.

    Returns:
        (b,) values, missing ones and those that do not fit as NaN, times in microseconds; and the mask of those that
        do not fit, or None if all do.

    >>> as_values(pa.array(["yes", "No", "maybe", None]), Field("x", "boolean"))
    (array([ 1.,  0., nan, nan]), array([False, False,  True, False]))
    """
    form = form_of(column.type)
    if form == "text" or (field.kind == "ordered" and field.levels is not None):
        found = found or coded(column)
        values = _text_values(found.cells, field, reading)
        bad = np.isnan(values)
        if bad.any():
            bad &= found.said
        return found.spread(values), np.append(bad, False)[found.codes] if bad.any() else None
    if pa.types.is_dictionary(column.type):
        return as_values(column.dictionary_decode(), field, reading)
    if form == "time":
        values = _temporal(column)
        with np.errstate(invalid="ignore"):
            return _marked(values, np.where((values >= _FIRST_DAY) & (values < _LAST_DAY), values, np.nan))
    if form == "clock" or pa.types.is_duration(column.type):
        return _temporal(column), None
    if form == "other":
        there = np.asarray(column.is_valid())
        return np.full(len(column), np.nan), there if there.any() else None
    values = numbers(column)
    if field.kind == "time":
        return _marked(values, read_epoch(values))
    if field.kind == "boolean":
        return _marked(values, np.where((values == 0.0) | (values == 1.0), values, np.nan))
    return values, None


def _marked(before: Array, after: Array) -> tuple[Array, NDArray[np.bool_] | None]:
    bad = np.isnan(after) & ~np.isnan(before)
    return after, bad if bad.any() else None


def _text_values(cells: list[str], field: Field, reading: str) -> Array:
    if field.kind == "ordered" and field.levels is not None:
        rank = {folded(level): float(i) for i, level in enumerate(field.levels)}
        return np.array([rank.get(folded(cell), np.nan) for cell in cells], dtype=np.float64)
    if field.kind == "boolean":
        return np.array([BOOLEAN.get(folded(cell), np.nan) for cell in cells], dtype=np.float64)
    if field.kind == "time":
        return _times(cells, reading)
    return np.array([_number(cell, reading) for cell in cells], dtype=np.float64)


def _times(cells: list[str], reading: str) -> Array:
    texts = pa.array(cells, pa.string())
    if reading == CLOCK:
        return read_clock(texts)
    found = read_dates(texts, day_first=reading == DAY_FIRST)
    for i in np.flatnonzero(np.isnan(found)):
        if cells[i].isascii() and cells[i].isdigit() and len(cells[i]) < 20:
            found[i] = read_epoch(np.array([float(cells[i])]))[0]
    return found


def _number(cell: str, reading: str) -> float:
    if len(cell) > 400:  # longer than any number a float64 can tell apart
        return np.nan
    plain = _SIGNS.sub(r"\1", cell)
    if reading == COMMA:
        plain = plain.translate({ord(","): ".", ord("."): ","})
    if _GROUPED.fullmatch(plain):
        plain = plain.replace(",", "")
    return float(plain) if _NUMBER.fullmatch(plain) else np.nan


def _temporal(column: pa.Array) -> Array:
    is_ = pa.types
    if is_.is_date64(column.type):  # milliseconds, which some write with a time of day
        return numbers(column.cast(pa.int64())) * 1e3
    if is_.is_date(column.type):
        return numbers(column.cast(pa.int32())) * DAY
    per_unit = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}[column.type.unit]
    values = numbers(column.cast(pa.int32() if is_.is_time32(column.type) else pa.int64())) * per_unit
    return values / SECOND if is_.is_duration(column.type) else values  # durations are numbers, in seconds


def text_lengths(cells: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Characters and words of each cell."""
    characters = np.asarray(pc.utf8_length(cells).cast(pa.int64()), dtype=np.int64)
    return characters, np.asarray(pc.count_substring_regex(cells, r"\S+").cast(pa.int64()), dtype=np.int64)

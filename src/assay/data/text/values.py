"""From the text of cells to values: numbers as people write them, dates, truth values, missing ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assay.data.columns.words import MISSING_CELLS

_MISSING = pa.array(MISSING_CELLS)
TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")
BLANKS = " \u00a0\u2009\u202f"  # as they stand between thousands
CURRENCIES = "$€£¥₹"
INFINITY = r"(?i)^[+-]?inf(?:inity)?$"
_LARGEST = str(np.iinfo(np.int64).max)
_DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_TIME = r"(?:[01][0-9]|2[0-3])(?::[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,%d})?)?)?"
_ZONE = r"(?:Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"

NOT_A_NUMBER = "values are not numbers and count as missing"
TOO_LARGE = "values are beyond the range of numbers and count as missing"
INFINITE = "values are infinite and count as missing"


@dataclass(frozen=True, slots=True)
class ValueForm:
    """How the numbers of a column are written.

    Attributes:
        decimal: what stands before the fraction.
        thousands: the characters that may stand between groups of three digits.
        percent: whether a percent sign follows; the number is kept as written, 45% is 45.
        currency: a sign before or after, or none.
    """

    decimal: str = "."
    thousands: str = ""
    percent: bool = False
    currency: str = ""

    @property
    def simple(self) -> bool:
        """Whether there are digits, sign, decimal mark and exponent only."""
        return not (self.thousands or self.percent or self.currency)

    @property
    def pattern(self) -> str:
        """The regular expression of a cell.

        >>> [bool(re.match(ValueForm(thousands=",").pattern, text)) for text in ("1,234.5", "1,2")]
        [True, False]
        """
        point = re.escape(self.decimal)
        if self.thousands:
            group = f"[{re.escape(self.thousands)}]"
            number = rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+)(?:{point}[0-9]*)?"
        else:
            number = rf"(?:[0-9]+(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        blank = f"[{BLANKS}]?"
        if self.currency:
            sign = re.escape(self.currency)
            return rf"^(?:[+-]?{sign}{blank}[+-]?{number}|[+-]?{number}{blank}{sign})$"
        return rf"^[+-]?{number}{f'{blank}%' if self.percent else ''}$"

    def plain(self, cells: pa.Array) -> pa.Array:
        """Cells of this form, written so that Arrow can read them."""
        removed = self.thousands + ("%" if self.percent else "") + self.currency
        if not self.simple:
            for character in dict.fromkeys(removed + BLANKS):
                cells = pc.replace_substring(cells, character, "")
        return cells if self.decimal == "." else pc.replace_substring(cells, self.decimal, ".")


PLAIN = ValueForm()


@dataclass(frozen=True, slots=True)
class TextColumn:
    """One column of a text table.

    Attributes:
        name: as messages and the schema have it.
        type: what its values become.
        form: of numbers, how they are written.
    """

    name: str
    type: pa.DataType
    form: ValueForm = PLAIN


def present(cells: pa.Array) -> pa.Array:
    """Cells without the blanks around them, null where they hold nothing."""
    trimmed = pc.ascii_trim(cells, " \t")
    return pc.if_else(pc.is_in(trimmed, _MISSING), None, trimmed)


def has_blank_edges(cells: pa.Array) -> bool:
    """Whether blanks stand at the start or end of a cell, so that it may hold nothing all the same."""
    before, after = (pc.sum(pc.binary_length(part)).as_py() for part in (cells, pc.ascii_trim(cells, " \t")))
    return bool(before != after)


def matches(cells: pa.Array, pattern: str) -> NDArray[np.bool_]:
    """Which cells a regular expression fits; not the missing ones."""
    found: NDArray[np.bool_] = pc.fill_null(pc.match_substring_regex(cells, pattern), False).to_numpy(
        zero_copy_only=False
    )
    return found


def time_pattern(type_: pa.DataType) -> str:
    """The regular expression of dates, or of times with or without a zone, in ISO 8601."""
    if pa.types.is_date(type_):
        return f"^{_DATE}$"
    time = f"[T ]{_TIME % (9 if type_.unit == 'ns' else 6)}"
    return f"^{_DATE}{time}{_ZONE}$" if type_.tz else f"^{_DATE}(?:{time})?$"


def converted(cells: pa.Array, type_: pa.DataType, form: ValueForm) -> tuple[pa.Array, dict[str, NDArray[np.bool_]]]:
    """Cells as values of a type, null where they are missing or contradict it.

    Args:
        cells: strings.
        type_: float64, int64, bool, date32, timestamp, string or null.
        form: of numbers.

    Returns:
        values: of the type.
        wrong: which cells contradicted it, by what was wrong with them.
    """
    if pa.types.is_string(type_):
        return pc.if_else(pc.is_valid(present(cells)), cells, None), {}
    cells = present(cells)
    if pa.types.is_null(type_):
        nothing = np.zeros(len(cells), bool)
        return pa.nulls(len(cells)), _wrong(cells, nothing, "values are in an empty column and count as missing")
    if pa.types.is_boolean(type_):
        allowed = pc.is_in(cells, pa.array((*TRUE, *FALSE))).to_numpy(zero_copy_only=False)
        values = pc.if_else(pa.array(allowed), pc.is_in(cells, pa.array(TRUE)), None)
        return values, _wrong(cells, allowed, "values are neither true nor false and count as missing")
    if pa.types.is_temporal(type_):
        return _times(cells, type_)
    if pa.types.is_integer(type_):
        allowed = whole_numbers(cells)
        values = pc.cast(pc.ascii_ltrim(_kept(cells, allowed), "+"), type_)
        return values, _wrong(cells, allowed, "values are not whole numbers and count as missing")
    return _numbers(cells, form)


def _numbers(cells: pa.Array, form: ValueForm) -> tuple[pa.Array, dict[str, NDArray[np.bool_]]]:
    allowed = matches(cells, form.pattern)
    values = pc.cast(form.plain(_kept(cells, allowed)), pa.float64())
    endless = matches(cells, INFINITY)
    wrong = _wrong(cells, allowed | endless, NOT_A_NUMBER)
    large = np.isinf(values.to_numpy(zero_copy_only=False))
    if large.any():
        values = _kept(values, ~large)
        wrong[TOO_LARGE] = large
    if endless.any():
        wrong[INFINITE] = endless
    return values, wrong


def _times(cells: pa.Array, type_: pa.DataType) -> tuple[pa.Array, dict[str, NDArray[np.bool_]]]:
    allowed = matches(cells, time_pattern(type_))
    # the pattern admits 30 February, which comes back from the calendar as another day
    days = pc.utf8_slice_codeunits(_kept(cells, allowed), 0, 10)
    back = pc.strftime(pc.strptime(days, "%Y-%m-%d", "s", error_is_null=True), "%Y-%m-%d")
    allowed &= pc.fill_null(pc.equal(days, back), False).to_numpy(zero_copy_only=False)
    words = "dates" if pa.types.is_date(type_) else "times"
    return pc.cast(_kept(cells, allowed), type_), _wrong(cells, allowed, f"values are not {words} and count as missing")


def whole_numbers(cells: pa.Array) -> NDArray[np.bool_]:
    """Which cells are whole numbers that 64 bits hold."""
    digits = pc.ascii_ltrim(cells, "+-")
    length = pc.binary_length(digits)
    fits = pc.or_(pc.less(length, 19), pc.and_(pc.equal(length, 19), pc.less_equal(digits, _LARGEST)))
    held: NDArray[np.bool_] = pc.fill_null(fits, False).to_numpy(zero_copy_only=False)
    return held & matches(cells, "^[+-]?[0-9]+$")


def _kept(cells: pa.Array, mask: NDArray[np.bool_]) -> pa.Array:
    return pc.if_else(pa.array(mask), cells, None)


def _wrong(cells: pa.Array, allowed: NDArray[np.bool_], what: str) -> dict[str, NDArray[np.bool_]]:
    wrong = pc.is_valid(cells).to_numpy(zero_copy_only=False) & ~allowed
    return {what: wrong} if wrong.any() else {}


def unbounded(values: pa.Array) -> bool:
    """Whether a column of numbers holds an infinity or a NaN."""
    return pc.all(pc.is_finite(values)).as_py() is False

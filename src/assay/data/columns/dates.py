"""Dates and times of day in text, and instants kept as plain numbers, as microseconds since 1970 (UTC).

A cell is read by the first of these forms that fits it: 2011-01-31 (also with / or .), 31/01/2011 or 01/31/2011 (or
with -; the order of day and month is one for the whole column), 31.01.2011, 31 Jan 2011, Jan 31, 2011, 20110131,
2011-01, Jan 2011, 2011-Q1; each of the full dates may be followed by a time of day and an offset from UTC. Years of two
digits are 1969 to 2068.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assay.arrays import Array

SECOND = 1_000_000
DAY = 86_400 * SECOND
_EPOCH_YEAR = 1970

_TIME = r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,](?P<f>\d{1,9}))?)?\s*(?P<p>[AaPp]\.?[Mm]\.?)?"
_TAIL = rf"(?:[T ,]+{_TIME}\s*(?P<z>[Zz]|UTC|GMT|[+-]\d{{2}}:?\d{{2}})?)?$"
_WEEKDAY = r"^(?:[A-Za-z]{2,9}\.?,?\s+)?"
_NAME = r"(?P<n>[A-Za-zäé]{3,9})"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_FORMS = (
    r"^(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})" + _TAIL,
    _WEEKDAY + r"(?P<a>\d{1,2})[-/](?P<b>\d{1,2})[-/](?P<y>\d{4}|\d{2})" + _TAIL,
    _WEEKDAY + r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4}|\d{2})" + _TAIL,
    _WEEKDAY + _DAY + r"[ .-]*" + _NAME + r"[ .,-]*(?P<y>\d{4}|\d{2})" + _TAIL,
    _WEEKDAY + _NAME + r"[ .-]*" + _DAY + r"[ ,.-]+(?P<y>\d{4})" + _TAIL,
    r"^(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})(?:T?(?P<H>\d{2})(?P<M>\d{2})(?P<S>\d{2})Z?)?$",
    r"^(?P<y>\d{4})[-/](?P<m>\d{1,2})$",
    "^" + _NAME + r"[ .,-]+(?P<y>\d{4})$",
    r"^(?P<y>\d{4})[- ]?[Qq](?P<q>[1-4])$",
    r"^[Qq](?P<q>[1-4])[- /]?(?P<y>\d{4})$",
)
_CLOCK = rf"^{_TIME}$"

_MONTHS = {
    name: 1 + i
    for i, names in enumerate((
        "jan january januar", "feb february februar", "mar march mär märz mrz", "apr april", "may mai", "jun june juni",
        "jul july juli", "aug august", "sep sept september", "oct october okt oktober", "nov november",
        "dec december dez dezember",
    ))
    for name in names.split()
}  # fmt: skip


def read_dates(cells: pa.Array, *, day_first: bool) -> Array:
    """Dates in text as microseconds since 1970.

    Args:
        cells: text, without blanks around it.
        day_first: how 03/04/2011 is read.

    Returns:
        One value a cell, NaN where it is no date.

    >>> read_dates(pa.array(["1970-01-02", "02/01/1970", "soon"]), day_first=True) / DAY
    array([ 1.,  1., nan])
    """
    try:  # Arrow's own reader knows the ISO form only, but is fast
        return np.asarray(cells.cast(pa.timestamp("us")).cast(pa.int64()).cast(pa.float64(), safe=False))
    except pa.ArrowInvalid:
        pass
    found = np.full(len(cells), np.nan)
    left = np.arange(len(cells))
    for form in _FORMS:
        if not len(left):
            break
        parts = pc.extract_regex(cells.take(pa.array(left)), form)
        fits = parts.is_valid().to_numpy(zero_copy_only=False)
        if fits.any():
            found[left[fits]] = _instants(_Groups(parts.filter(pa.array(fits))), day_first)
            left = left[~fits]
    return found


def order_votes(cells: pa.Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which cells are of the form 03/04/2011, and which of them show the order because one number is above 12.

    >>> [votes.tolist() for votes in order_votes(pa.array(["31/01/2011", "01/02/2011", "2011-01-31"]))]
    [[True, True, False], [True, False, False]]
    """
    parts = pc.extract_regex(cells, _FORMS[1])
    fits = parts.is_valid().to_numpy(zero_copy_only=False)
    shown = np.zeros(len(cells), dtype=bool)
    groups = _Groups(parts.filter(parts.is_valid()))
    shown[fits] = np.maximum(groups.number("a"), groups.number("b")) > 12
    return fits, shown


def read_clock(cells: pa.Array) -> Array:
    """Times of day in text as microseconds since midnight, NaN where a cell is none.

    >>> read_clock(pa.array(["0:30", "12:30 am", "25:00"])) / SECOND
    array([1800., 1800.,   nan])
    """
    parts = pc.extract_regex(cells, _CLOCK)
    fits = np.flatnonzero(parts.is_valid().to_numpy(zero_copy_only=False))
    found = np.full(len(cells), np.nan)
    if len(fits):
        found[fits] = _clock(_Groups(parts.take(pa.array(fits))))
    return found


def read_epoch(values: Array) -> Array:
    """Instants kept as plain numbers, as microseconds since 1970; which sort of number shows in its size.

    Years (1000 to 2200), dates such as 20110131, and seconds, milliseconds, microseconds or nanoseconds since 1970
    for instants from 1973 on. NaN for everything else.

    >>> read_epoch(np.array([1971.0, 19700102.0, 86_400e4, 5.0])) / DAY
    array([3.65e+02, 1.00e+00, 1.00e+04,      nan])
    """
    found = np.full(len(values), np.nan)
    with np.errstate(invalid="ignore"):
        whole = values == np.floor(values)
        years = whole & (values >= 1000) & (values <= 2200)
        found[years] = _month_start((values[years] - _EPOCH_YEAR).astype(np.int64) * 12) * DAY
        written = np.flatnonzero(whole & (values >= 10_000_101) & (values <= 22_001_231))
        y, rest = np.divmod(values[written].astype(np.int64), 10_000)
        found[written] = _days(y, rest // 100, rest % 100) * DAY
        for low, high, unit in ((1e8, 1e10, 1e6), (1e11, 1e13, 1e3), (1e14, 1e16, 1.0), (1e17, 1e19, 1e-3)):
            fits = (values >= low) & (values < high)
            found[fits] = np.round(values[fits] * unit)
    return found


class _Groups:
    """What the groups of a regular expression caught; a group that is not in the expression is empty."""

    def __init__(self, parts: Any) -> None:
        self._parts = parts
        self._names = {field.name for field in parts.type}

    def text(self, name: str) -> pa.Array:
        return self._parts.field(name) if name in self._names else pa.array([""] * len(self._parts))

    def number(self, name: str, default: int = 0) -> NDArray[np.int64]:
        if name not in self._names:
            return np.full(len(self._parts), default, dtype=np.int64)
        text = self._parts.field(name)
        filled = pc.if_else(pc.equal(text, ""), str(default), text)
        return np.asarray(filled.cast(pa.int64()), dtype=np.int64)

    def __contains__(self, name: str) -> bool:
        return name in self._names


def _instants(parts: _Groups, day_first: bool) -> Array:
    year = parts.number("y")
    short = pc.equal(pc.utf8_length(parts.text("y")), 2).to_numpy(zero_copy_only=False)
    year = np.where(short, year + np.where(year >= 69, 1900, 2000), year)
    day = parts.number("d", 1)
    if "a" in parts:
        day, month = (parts.number(name) for name in (("a", "b") if day_first else ("b", "a")))
    elif "n" in parts:
        month = np.array([_MONTHS.get(name.lower(), 0) for name in parts.text("n").to_pylist()], dtype=np.int64)
    elif "q" in parts:
        month = parts.number("q") * 3 - 2
    else:
        month = parts.number("m")
    return _days(year, month, day) * DAY + _clock(parts) - _offset(parts)


def _clock(parts: _Groups) -> Array:
    hour, minute, second = (parts.number(name) for name in "HMS")
    fraction = pc.utf8_slice_codeunits(pc.utf8_rpad(parts.text("f"), 6, "0"), 0, 6)
    micro = np.asarray(fraction.cast(pa.int64()), dtype=np.int64)
    half = [text[:1].lower() for text in parts.text("p").to_pylist()]
    am, pm = (np.array([letter == wanted for letter in half], dtype=bool) for wanted in "ap")
    good = (hour < 24) & (minute < 60) & (second < 60) & ~((am | pm) & ((hour < 1) | (hour > 12)))
    hour = np.where(am | pm, hour % 12 + 12 * pm, hour)
    return np.where(good, ((hour * 60 + minute) * 60 + second) * SECOND + micro, np.nan)


def _offset(parts: _Groups) -> Array:
    def minutes(zone: str) -> int:
        if zone[:1] not in ("+", "-"):
            return 0
        digits = zone[1:].replace(":", "")
        return (1 if zone[0] == "+" else -1) * (int(digits[:2]) * 60 + int(digits[2:]))

    return np.array([minutes(zone) for zone in parts.text("z").to_pylist()], dtype=np.float64) * 60 * SECOND


def _days(year: NDArray[np.int64], month: NDArray[np.int64], day: NDArray[np.int64]) -> Array:
    months = (year - _EPOCH_YEAR) * 12 + month - 1
    start = _month_start(months)
    length = _month_start(months + 1) - start
    good = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)
    return np.where(good, start + day - 1, np.nan)


def _month_start(months: NDArray[np.int64]) -> NDArray[np.int64]:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)

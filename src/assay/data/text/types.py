"""What the columns of a text table hold, decided from all cells of the first block.

A column is numbers (dates, truth values) if all its cells are, missing ones aside, or if at least 20 are and these are
95% of those present; the rest then contradict it. Otherwise it is text. Whole numbers with leading zeros, telephone
numbers and whole numbers beyond 64 bits are text: as numbers they would lose what they say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assay.data.text.values import (
    BLANKS,
    CURRENCIES,
    FALSE,
    INFINITY,
    PLAIN,
    TRUE,
    ValueForm,
    matches,
    present,
    time_pattern,
    whole_numbers,
)

SHARE = 0.95
FEWEST = 20
_CODE = r"^(?:[+-]?0[0-9]+|\+[0-9]{7,})$"
_EXACT = 2.0**53
_MANY = 200  # columns
_FEW = 500  # cells, evenly spread, that rule out what a column is not
_DIGITS = 0.8  # of those have a digit at least, in a column that is not text
_GROUPINGS = ((".", ","), (",", "."), (".", BLANKS), (",", BLANKS), (".", "'’"), (",", "'’"))
_TIMES = (
    pa.date32(),
    pa.timestamp("us"),
    pa.timestamp("us", "UTC"),
    pa.timestamp("ns"),
    pa.timestamp("ns", "UTC"),
)


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column holds.

    Attributes:
        type: of its values.
        form: of numbers.
        code: whether leading zeros or a plus sign kept numbers text.
        either: whether commas may be decimal or between thousands, as in 1,234.
        empty: whether no cell holds anything.
    """

    type: pa.DataType
    form: ValueForm = PLAIN
    code: bool = False
    either: bool = False
    empty: bool = False


_TEXT = Guess(pa.string())


def guesses(cells: pa.Array, rows: int, *, complete: bool, decimal: str | None) -> list[Guess]:
    """What each column of a table holds.

    Args:
        cells: (columns x rows,) strings, column after column.
        rows: in each column, at least one.
        complete: whether there are no more rows: whole numbers may turn into fractions later.
        decimal: the decimal mark where it is known.

    >>> [str(guess.type) for guess in guesses(pa.array(["1", "x"]), 1, complete=True, decimal=None)]
    ['int64', 'string']
    """
    cells = present(cells)
    count = len(cells) // rows
    if count > _MANY:
        return _many(cells, rows, complete=complete, decimal=decimal)
    return [_guess(cells[i * rows : (i + 1) * rows], complete=complete, decimal=decimal) for i in range(count)]


def _many(cells: pa.Array, rows: int, *, complete: bool, decimal: str | None) -> list[Guess]:
    """The same as `_guess` of each column, for all at once where they are plain numbers or plain text."""
    form = ValueForm(decimal or ".")
    absent = cells.is_null().to_numpy(zero_copy_only=False).reshape(-1, rows)
    numbers = (matches(cells, form.pattern) | matches(cells, INFINITY)).reshape(-1, rows)
    digits = matches(cells, "[0-9]").reshape(-1, rows).sum(axis=1) >= _DIGITS * (~absent).sum(axis=1)
    numeric = (numbers | absent).all(axis=1) & numbers.any(axis=1)
    judged = (absent.all(axis=1) | _truth(cells).reshape(-1, rows).any(axis=1) | digits) & ~numeric
    found = [_TEXT] * len(absent)
    columns = np.flatnonzero(numeric)
    if len(columns):
        whole = len(columns) == len(absent)
        chosen = cells if whole else cells.take(pa.array((columns[:, None] * rows + np.arange(rows)).ravel()))
        values = pc.cast(form.plain(chosen), pa.float64()).to_numpy(zero_copy_only=False).reshape(-1, rows)
        for column, guess in zip(columns.tolist(), _numeric(chosen, values, form, complete=complete), strict=True):
            found[column] = guess
    for column in np.flatnonzero(judged).tolist():
        found[column] = _guess(cells[column * rows : (column + 1) * rows], complete=complete, decimal=decimal)
    return found


def _spread(cells: pa.Array) -> pa.Array:
    if len(cells) <= _FEW:
        return cells
    return cells.take(pa.array(np.linspace(0, len(cells) - 1, _FEW).astype(np.int64)))


def _as_type(cells: pa.Array, type_: pa.DataType) -> pa.Array | None:
    try:
        pc.cast(_spread(cells), type_)  # a cast is slow where many cells fail
        return pc.cast(cells, type_)
    except pa.ArrowInvalid:
        return None


def _as_numbers(cells: pa.Array, decimal: str | None) -> pa.Array | None:
    if decimal == ",":
        if pc.any(pc.match_substring(cells, ".")).as_py():
            return None
        cells = ValueForm(",").plain(cells)
    return _as_type(cells, pa.float64())


def _truth(cells: pa.Array) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = pc.is_in(cells, pa.array((*TRUE, *FALSE))).to_numpy(zero_copy_only=False)
    return found


def _numeric(cells: pa.Array, values: NDArray[np.float64], form: ValueForm, *, complete: bool) -> Iterator[Guess]:
    shape = values.shape[0], values.shape[1]
    codes: NDArray[np.bool_] = np.logical_or.reduce(_codes(cells).reshape(shape), axis=1)
    size = np.abs(values)
    size[~np.isfinite(size)] = 0.0
    large: NDArray[np.bool_] = size.max(axis=1) > _EXACT
    whole: NDArray[np.bool_] = np.zeros(shape[0], bool)
    digits: NDArray[np.bool_] = whole
    if complete or large.any():
        absent = cells.is_null().to_numpy(zero_copy_only=False).reshape(shape)
        whole = (whole_numbers(cells).reshape(shape) | absent).all(axis=1)
        long = matches(cells, "^[+-]?[0-9]{19,}$").reshape(shape)
        digits = np.count_nonzero(long, axis=1) * 2 > np.count_nonzero(~absent, axis=1)
    code, whole_number, number = Guess(pa.string(), code=True), Guess(pa.int64(), form), Guess(pa.float64(), form)
    for column in range(shape[0]):
        if codes[column] or (digits[column] and not whole[column]):
            yield code
        else:
            yield whole_number if whole[column] and (complete or large[column]) else number


def _codes(cells: pa.Array) -> NDArray[np.bool_]:
    """Which cells are whole numbers with leading zeros, or telephone numbers."""
    first = pc.or_(pc.starts_with(cells, "0"), pc.or_(pc.starts_with(cells, "+"), pc.starts_with(cells, "-0")))
    at = np.flatnonzero(pc.fill_null(first, False).to_numpy(zero_copy_only=False))
    codes = np.zeros(len(cells), bool)
    if len(at):
        codes[at] = matches(cells.take(pa.array(at)), _CODE)
    return codes


def _guess(cells: pa.Array, *, complete: bool, decimal: str | None) -> Guess:
    there = cells.drop_null()
    if len(there) == 0:
        # what is empty so far may hold anything later
        return Guess(pa.null() if complete else pa.string(), empty=True)
    numbers = _as_numbers(there, decimal)
    if numbers is not None:
        values = numbers.to_numpy(zero_copy_only=False)[None, :]
        return next(_numeric(there, values, ValueForm(decimal or "."), complete=complete))
    if _most(_truth(there)):
        return Guess(pa.bool_())
    if np.mean(matches(_spread(there), "[0-9]")) < _DIGITS:
        return _TEXT
    for type_ in _TIMES:
        if _as_type(there, type_) is not None:
            return Guess(type_)
    number = _written(there, decimal)
    if number is not None:
        form, either = number
        if _codes(form.plain(there)).any():
            return Guess(pa.string(), code=True)
        whole = complete and form.simple and whole_numbers(there).all()
        return Guess(pa.int64() if whole else pa.float64(), form, either=either)
    for type_ in _TIMES[:3]:
        if _mostly(there, time_pattern(type_)):
            return Guess(type_)
    return _TEXT


def _most(fits: NDArray[np.bool_]) -> bool:
    count = int(fits.sum())
    return count == len(fits) or (count >= FEWEST and count >= SHARE * len(fits))


def _mostly(cells: pa.Array, pattern: str) -> bool:
    return bool(np.mean(matches(_spread(cells), pattern)) > 0.5) and _most(matches(cells, pattern))


def _written(cells: pa.Array, decimal: str | None) -> tuple[ValueForm, bool] | None:
    """How the numbers of one column are written, and whether that is a guess; None for text."""
    marks = (".", ",") if decimal is None else (decimal,)
    simple = [ValueForm(mark) for mark in marks if _mostly(cells, ValueForm(mark).pattern)]
    if simple and simple[0].decimal == ".":
        return simple[0], False
    first = cells[0].as_py()
    percent = first.endswith("%")
    currency = next((sign for sign in CURRENCIES if sign in first), "")
    if percent or currency:
        simple = [form for mark in marks if _all(cells, form := ValueForm(mark, "", percent, currency))]
    grouped = [
        form
        for mark, between in _GROUPINGS
        if mark in marks and _all(cells, form := ValueForm(mark, between, percent, currency))
    ]
    if simple and simple[0].decimal == ".":
        return simple[0], False
    if simple:
        return simple[0], any(form.thousands == "," for form in grouped)
    return (grouped[0], False) if grouped else None


def _all(cells: pa.Array, form: ValueForm) -> bool:
    return all(bool(matches(part, form.pattern).all()) for part in (_spread(cells), cells))


def likely_form(cells: pa.Array, decimal: str | None) -> ValueForm:
    """How the numbers among the cells of a column are written, by what fits most of them.

    Args:
        cells: strings.
        decimal: the decimal mark where it is known.
    """
    forms = [ValueForm("."), ValueForm(","), *(ValueForm(mark, between) for mark, between in _GROUPINGS)]
    allowed = [form for form in forms if decimal in (None, form.decimal)]
    there = present(cells)
    return max(allowed, key=lambda form: int(matches(there, form.pattern).sum()))

"""Does the first line name the columns?"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from assay.data.names import unique_names
from assay.data.text.layout import TextLayout
from assay.data.text.types import Guess, guesses
from assay.data.text.values import BLANKS, ValueForm, matches, present, time_pattern

_STEPS = 3
# What is a value and not a name.
_VALUES = (
    *(form.pattern for form in (ValueForm("."), ValueForm(","), ValueForm(".", ","), ValueForm(",", "." + BLANKS))),
    *(time_pattern(type_) for type_ in (pa.date32(), pa.timestamp("ns"), pa.timestamp("ns", "UTC"))),
    "^(?i:true|false)$",
)


@dataclass(frozen=True, slots=True)
class Header:
    """The names of the columns.

    Attributes:
        present: whether the first record of the table holds them.
        names: one for each column, none twice.
        shifted: whether a name was lacking, and the first column was taken to be the one without.
        surplus: the name made up for what is behind the delimiter that ends every line, or None.
        notes: what was assumed or changed.
    """

    present: bool
    names: tuple[str, ...]
    surplus: str | None
    notes: tuple[str, ...]
    shifted: bool = False


def names_columns(top: Sequence[str], below: Sequence[Guess]) -> tuple[bool, str | None]:
    """Whether a first record holds names, and a note where that is a guess.

    Numbers only are no names. Words above numbers, dates or truth values are names; so are numbers that count up, such
    as years. A first record with values like those below is a row. In a table of text, the first record holds names if
    they are all there and differ.

    Args:
        top: the cells of the first record.
        below: what the columns hold without it.

    >>> names_columns(["name", "age"], [Guess(pa.string()), Guess(pa.int64())])
    (True, None)
    """
    cells = present(pa.array(top, pa.string()))
    values = np.logical_or.reduce([matches(cells, pattern) for pattern in _VALUES])
    words = ~values & cells.is_valid().to_numpy(zero_copy_only=False)
    typed = np.array([guess.code or not (guess.empty or pa.types.is_string(guess.type)) for guess in below])
    if not words.any():
        return False, "The first line holds numbers only, so the columns have no names and are numbered."
    if (words & typed).any():
        return True, None
    if _counts_up([top[i].strip() for i in np.flatnonzero(values).tolist()]):
        return True, "The numbers in the first line count up, so they were taken for names of columns."
    if (values & typed).any():
        return False, "The first line holds values like those below it, so the columns have no names and are numbered."
    if len({cell.strip() for cell in top}) == len(top) and words.all():
        return True, "No column holds numbers; the first line was taken for the names of the columns."
    return False, "The first line repeats itself or has gaps, so the columns have no names and are numbered."


def _counts_up(cells: list[str]) -> bool:
    if len(cells) < _STEPS or not all(cell.isdecimal() for cell in cells):
        return False
    steps = {int(after) - int(before) for before, after in itertools.pairwise(cells)}
    return len(steps) == 1 and steps.pop() > 0


def header_of(
    cells: pa.Array, rows: int, laid: TextLayout, *, complete: bool, decimal: str | None, header: bool | None
) -> tuple[Header, list[Guess]]:
    """The names of the columns, and what these hold.

    Args:
        cells: of the first rows, column after column, the first record among them unless the layout knows it for names.
        rows: how many.
        laid: how the text is cut.
        complete: whether there are no more rows.
        decimal: the decimal mark where it is known.
        header: what the user says.
    """
    note = None
    if laid.header:
        below, rows_below = cells, rows
    else:
        below, rows_below = cells.filter(pa.array(np.arange(len(cells)) % max(rows, 1) != 0)), max(rows - 1, 0)
    named = header is not False
    found = _held(below, rows_below, laid.width, complete=complete, decimal=decimal)
    if header is None and not laid.header:
        named, note = names_columns(laid.top, found)
    if not named and not laid.header:
        found = _held(cells, rows, laid.width, complete=complete, decimal=decimal)
    return _header(laid, named, found, note), found


def _held(cells: pa.Array, rows: int, width: int, *, complete: bool, decimal: str | None) -> list[Guess]:
    if rows == 0:
        return [Guess(pa.null() if complete else pa.string(), empty=True)] * width
    return guesses(cells, rows, complete=complete, decimal=decimal)


def _header(laid: TextLayout, named: bool, found: Sequence[Guess], note: str | None) -> Header:
    notes = [] if note is None else [note]
    top = list(laid.top) if named else [""] * laid.width
    shifted = len(top) == laid.width - 1 and not found[-1].empty
    if len(top) == laid.width - 1:
        if found[-1].empty:
            top.append("")
        else:
            top.insert(0, "")
            notes.append("The first line has one name less than there are columns: the first column has none.")
    top = top[: laid.width]
    names, _ = unique_names(cell.strip() for cell in top)
    surplus = names[-1] if laid.width > 1 and not top[-1].strip() and found[-1].empty else None
    changed = [
        f"{old.strip()!r} to {new!r}"
        for old, new in zip(top, names, strict=True)
        if old.strip() != new and new != surplus
    ]
    if surplus is not None:
        notes.append("Each line ends in a delimiter; the empty column behind it was left out.")
    if named and changed:
        shown = ", ".join(changed[:10]) + (f" and {len(changed) - 10:,} more" if len(changed) > 10 else "")
        notes.append(f"Empty or repeated column names were changed: {shown}.")
    return Header(named, tuple(names), surplus, tuple(notes), shifted)

"""Names of columns: text, none empty, none twice, and which of them may be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.data.field import Declared
from assay.errors import DataError

# Changes that a note tells one by one.
_TOLD = 10
MOST_COLUMNS = 1_000_000


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a source that may be read.

    Attributes:
        positions: of the columns that are not sensitive, from 0.
        names: how those are called, none empty, none twice.
        notes: what was changed, in sentences.
    """

    positions: list[int]
    names: list[str]
    notes: tuple[str, ...]


def unique_names(names: Iterable[object]) -> tuple[list[str], str | None]:
    """Usable names in place of those found, and a sentence about what was changed.

    A name that is there already keeps its owner: of several equal ones the first keeps it.

    >>> unique_names(["x", "", "x"])
    (['x', 'column 2', 'x (2)'], "Empty or repeated column names were changed: '' to 'column 2', 'x' to 'x (2)'.")
    >>> unique_names([0, 1])[1]
    "Column names that are not text were changed: 0 to '0', 1 to '1'."
    """
    found = list(names)
    texts = [_text(name) for name in found]
    taken = set(texts)
    given: set[str] = set()
    copies: dict[str, int] = {}
    result = []
    for i, text in enumerate(texts):
        name = base = text or f"column {i + 1}"
        if name in given or not text:
            number = copies.get(base, 1)
            while name in taken or name in given:
                number += 1
                name = f"{base} ({number})"
            copies[base] = number
        given.add(name)
        result.append(name)
    return result, _changes(found, result)


def refuse_many(count: int, name: str = "the table") -> None:
    """Refuse a table of more columns than anybody has, before a name is made for each.

    Args:
        count: how many columns there are.
        name: how messages call the table.
    """
    if count > MOST_COLUMNS:
        raise DataError(
            f"cannot read {name}: it has {count:,} columns, and at most {MOST_COLUMNS:,} are read; select columns "
            "first, or turn the table so that its rows are the cases"
        )


def columns_to_read(names: Sequence[object], declared: Declared) -> Columns:
    """Which columns may be read, and how they are called; what is declared of columns that are not there is refused.

    Every column that is seen by the name of a sensitive one is sensitive, also one renamed since it came twice.

    Args:
        names: as the data have them.
        declared: what the user said.

    >>> columns_to_read(["ssn", "x", "ssn"], Declared(sensitive=frozenset({"ssn"}))).positions
    [1]
    """
    refuse_many(len(names))
    found = visible_columns(names, declared)
    declared.check(unique_names(names)[0])
    return found


def visible_columns(names: Sequence[object], declared: Declared) -> Columns:
    """The same of some of the rows, which may lack columns.

    Args:
        names: as the data have them.
        declared: what the user said.
    """
    called, note = unique_names(names)
    kept = [i for i, pair in enumerate(zip(map(_text, names), called, strict=True)) if not declared.hides(*pair)]
    return Columns(kept, [called[i] for i in kept], (note,) if note else ())


def _text(name: object) -> str:
    if name is None or name != name:  # NaN, as a frame has it for a missing header
        return ""
    text = ".".join(map(str, name)) if isinstance(name, tuple) else str(name)
    return text if text.strip() else ""


def _changes(found: list[object], result: list[str]) -> str | None:
    changed = [(old, new) for old, new in zip(found, result, strict=True) if old != new]
    if not changed:
        return None
    listed = [f"{old!r} to {new!r}" for old, new in changed[:_TOLD]]
    more = f" and {len(changed) - _TOLD:,} more" if len(changed) > _TOLD else ""
    texts = all(isinstance(old, str) or old is None for old, _ in changed)
    what = "Empty or repeated column names" if texts else "Column names that are not text"
    return f"{what} were changed: {', '.join(listed)}{more}."

"""From a source to the numbers a study can use, and the card that says what was left out and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data.field import Field
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.study.findings import Column, DataCard

Array: TypeAlias = NDArray[np.float64]

# Rows are kept in memory up to this many bytes; beyond it the source is read again, block by block.
KEPT_BYTES = 1 << 29
FEWEST_ROWS = 3
_REACH = 1e140
_OTHER_KINDS = {
    "empty": "no values",
    "text": "text, not a number",
    "category": "text, not a number",
    "boolean": "yes or no, not a number",
    "time": "dates or times, not a number",
    "other": "not a number",
}


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Complete rows of the columns in use.

    Attributes:
        card: what was read and used.
        columns: names of the columns in use.
        rows: (n, d), or None where they do not fit in memory.
        blocks: starts an iteration over (b, d) blocks of the same rows.
    """

    card: DataCard
    columns: tuple[str, ...]
    rows: Array | None
    blocks: Callable[[], Iterator[Array]]


def prepare(source: Source, *, drop: Sequence[str] = (), progress: Callable[[int], object] | None = None) -> Table:
    """Decide which columns and rows of a source can be used, and note the rest.

    The source is read once and kept where it fits in memory; beyond that it is read again for each pass.

    Args:
        source: the data.
        drop: columns to leave out.
        progress: told the number of rows read.
    """
    names = [field.name for field in source.schema]
    unknown = [name for name in drop if name not in names]
    if unknown:
        raise ParameterError(f"there is no column {unknown[0]!r} to drop; there are {', '.join(names)}")
    profile = _profile(source, progress)
    if profile.rows == 0:
        raise DataError(f"{source.name} has a header but no rows: there is nothing to analyse")
    if profile.rows < FEWEST_ROWS:
        raise _too_few(source.name, profile.rows, profile.rows)
    place = {name: j for j, name in enumerate(source.numeric_columns)}
    columns = tuple(_described(field, profile, place, drop) for field in source.schema)
    while True:
        used = _used(source.name, columns)
        blocks = _complete_blocks(source, profile, [place[name] for name in used])
        complete, flat = _constant_columns(blocks(), len(used))
        if complete < FEWEST_ROWS:
            raise _too_few(source.name, profile.rows, complete)
        if not flat.any():
            break
        # what varies only in rows that are left out does not vary; without it more rows may be complete
        aside = {name for name, constant in zip(used, flat, strict=True) if constant}
        why = "constant in the rows without missing values"
        columns = tuple(replace(c, used=False, note=why) if c.name in aside else c for c in columns)
    rows = next(blocks()) if profile.kept is not None else None
    notes = (*source.notes, *_notes(profile.rows, complete, columns, rows, used))
    card = DataCard(source.name, profile.rows, complete, columns, notes)
    return Table(card, used, rows, blocks)


def _used(name: str, columns: tuple[Column, ...]) -> tuple[str, ...]:
    used = tuple(column.name for column in columns if column.used)
    if not used:
        kinds = ", ".join(f"{c.name} ({c.note or c.kind})" for c in columns[:8])
        raise DataError(f"{name} has no numeric column that can be used: {kinds}; at least one is needed")
    return used


def _complete_blocks(source: Source, profile: _Profile, picked: list[int]) -> Callable[[], Iterator[Array]]:
    def blocks() -> Iterator[Array]:
        for block in [profile.kept] if profile.kept is not None else source.float_blocks():
            values = block[:, picked]
            whole = np.isfinite(values).all(axis=1)
            yield values if whole.all() else values[whole]

    return blocks


def _constant_columns(blocks: Iterator[Array], d: int) -> tuple[int, NDArray[np.bool_]]:
    """How many rows there are, and which columns have one value in all of them."""
    count, low, high = 0, np.full(d, np.inf), np.full(d, -np.inf)
    for block in blocks:
        count += len(block)
        low = np.minimum(low, block.min(axis=0, initial=np.inf))
        high = np.maximum(high, block.max(axis=0, initial=-np.inf))
    return count, low == high


def _too_few(name: str, rows: int, complete: int) -> DataError:
    counted = f"{rows} {'row' if rows == 1 else 'rows'}, {complete} of them complete"
    return DataError(f"{name} has {counted}; at least {FEWEST_ROWS} are needed")


@dataclass(slots=True, eq=False)
class _Profile:
    rows: int
    missing: NDArray[np.int64]
    low: Array
    high: Array
    kept: Array | None


def _profile(source: Source, progress: Callable[[int], object] | None) -> _Profile:
    d = len(source.numeric_columns)
    profile = _Profile(0, np.zeros(d, dtype=np.int64), np.full(d, np.inf), np.full(d, -np.inf), None)
    kept: list[Array] | None = []
    size = 0
    for block in source.float_blocks():
        finite = np.isfinite(block)
        profile.rows += len(block)
        profile.missing += len(block) - finite.sum(axis=0)
        if len(block):
            profile.low = np.minimum(profile.low, np.where(finite, block, np.inf).min(axis=0))
            profile.high = np.maximum(profile.high, np.where(finite, block, -np.inf).max(axis=0))
        size += block.nbytes
        if kept is not None:
            kept = [*kept, block] if size <= KEPT_BYTES else None
        if progress is not None:
            progress(profile.rows)
    if kept:
        profile.kept = np.concatenate(kept)
    return profile


def _described(field: Field, profile: _Profile, place: dict[str, int], drop: Sequence[str]) -> Column:
    if field.name in drop:
        return Column(field.name, field.kind, used=False, note="left out on request")
    if field.kind != "number":
        return Column(field.name, field.kind, used=False, note=_OTHER_KINDS[field.kind])
    j = place[field.name]
    missing, low, high = int(profile.missing[j]), float(profile.low[j]), float(profile.high[j])
    objection = _objection(profile, j, missing, low, high)
    return Column(field.name, field.kind, used=not objection, missing=missing, note=objection)


def _objection(profile: _Profile, j: int, missing: int, low: float, high: float) -> str:
    """Why a numeric column cannot be used; empty if it can."""
    if missing == profile.rows:
        return "no values"
    if low == high:
        return f"constant ({low:g})"
    if 2 * missing > profile.rows:
        return f"{missing} of {profile.rows} values missing"
    if max(abs(low), abs(high)) > _REACH or high - low < 1.0 / _REACH:
        return f"values from {low:g} to {high:g}, whose squares leave the range of numbers: rescale it"
    if low in (0.0, 1.0) and high - low == profile.rows - 1 and profile.rows > 2 and _counts_up(profile, j):
        return "row numbers"
    return ""


def _counts_up(profile: _Profile, j: int) -> bool:
    return profile.kept is not None and bool((np.diff(profile.kept[:, j]) == 1.0).all())


def _order_notes(X: Array, used: tuple[str, ...]) -> list[str]:
    """Whether neighbouring rows are alike, which breaks every p-value if the order is time.

    A table sorted by one column has that column alike from row to row; time shows in several.
    """
    centred = X - X.mean(axis=0)
    alike = np.einsum("ij,ij->j", centred[1:], centred[:-1]) / np.einsum("ij,ij->j", centred, centred)
    j = int(np.argmax(alike))
    if np.count_nonzero(alike > max(0.3, 5.0 / np.sqrt(len(X)))) < max(2, X.shape[1] // 4):
        return []
    return [
        f"Neighbouring rows are alike (correlation {alike[j]:.2f} from row to row in {used[j]}). If the order is time, "
        "the rows are not independent, and what is called supported here may be chance."
    ]


def _notes(rows: int, complete: int, columns: tuple[Column, ...], X: Array | None, used: tuple[str, ...]) -> list[str]:
    notes = []
    if complete < rows:
        worst = max((c for c in columns if c.used), key=lambda c: c.missing)
        notes.append(
            f"{rows - complete} of {rows} rows were left out because a value in use is missing or infinite; "
            f"{worst.name} lacks the most, {worst.missing}."
        )
    if X is not None:
        notes += _order_notes(X, used)
        for name, x in zip(used, X.T, strict=True):
            levels = np.unique(x) if (x == np.round(x)).all() else x
            if 2 < len(levels) <= 6 and len(levels) < len(x) / 10:
                notes.append(
                    f"{name} holds only {len(levels)} different whole numbers and was read as a quantity; "
                    f"if they are codes, leave it out (--drop {name!r})."
                )
    return notes

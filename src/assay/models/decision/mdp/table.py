"""Decision processes as tables: one row for each transition, (state, action, next, probability, reward).

A row with nothing but a state, or a state and a reward, is a state in which the process ends, and what that is worth.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from assay.arrays import Array, Whole
from assay.data.files import atomic_write
from assay.data.formats.edge_lists import EdgeListSource, folded
from assay.data.formats.recognise import format_by_name
from assay.data.read import read
from assay.data.source import ArrowSource, Source, is_numeric
from assay.errors import DataError
from assay.models.decision.mdp.layout import Names, StateLayout

COLUMNS = ("state", "action", "next", "probability", "reward")
_CALLED = {
    "state": ("state", "s", "from"),
    "action": ("action", "a"),
    "next": ("next", "nextstate", "successor", "s2", "to"),
    "probability": ("probability", "prob", "p"),
    "reward": ("reward", "r"),
}


class TransitionList(EdgeListSource):
    """A text file of transitions as a table of text: names stay names, whatever they look like."""

    _rows = "transitions"
    _needs = "a transition needs a state, an action, the next state, its probability and a reward"


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """The transitions of a table, as numbers.

    Attributes:
        state: (z,) numbers of states.
        action: (z,) numbers of actions.
        after: (z,) numbers of next states.
        p: (z,) probabilities.
        reward: (z,)
        final: (n,) values of states in which the process ends.
        states: n names, as they appear first, those that are only next ones last.
        actions: names, as they appear first.
    """

    state: Whole
    action: Whole
    after: Whole
    p: Array
    reward: Array
    final: Array
    states: Names
    actions: Names


def opened(data: Any) -> Source:
    """A table of transitions: a file of any kind, a frame, or a list of rows."""
    if isinstance(data, str | os.PathLike) and format_by_name(os.fspath(data)) in (None, "csv"):
        return TransitionList(os.fspath(data), header=True)
    if isinstance(data, list | tuple):
        return _listed(data)
    return read(data)


def rows_of(table: Source) -> Transitions:
    """Read all rows in one pass, each cell checked with its place."""
    names = _columns(table)
    text: dict[str, list[pa.Array]] = {"state": [], "action": [], "next": []}
    numbers: dict[str, list[Array]] = {"probability": [], "reward": []}
    empty: list[Any] = []
    row = 0
    for batch in table.blocks():
        cells = {what: _text(batch.column(names[what])) for what in text}
        shown = _text(batch.column(names["probability"]))
        ending = pc.and_(pc.and_(_blank(cells["action"]), _blank(cells["next"])), _blank(shown))
        ends = ending.to_numpy(zero_copy_only=False)
        for what in text:
            lost = _blank(cells[what]).to_numpy(zero_copy_only=False) & ~(ends & (what != "state"))
            if lost.any():
                at = int(np.flatnonzero(lost)[0])
                raise DataError(
                    f"{_at(table, row + at)}: {names[what]!r} is empty; a transition needs all of state, action, next "
                    "and probability, and a state in which the process ends has none but its state"
                )
            text[what].append(cells[what])
        for what in numbers:
            column = batch.column(names[what]) if what in names else pa.nulls(batch.num_rows, pa.string())
            skipped = ends if what == "probability" else ends | (what not in names)
            numbers[what].append(_numbers(table, column, what, row, skipped))
        empty.append(ends)
        row += batch.num_rows
    if not row:
        raise DataError(f"{table.name} holds no transitions; give a row for each")
    return _numbered(table, text, numbers, np.concatenate(empty))


def write(path: str | os.PathLike[str], layout: StateLayout, states: Names, actions: Names) -> None:
    """Write the table, whole or not at all."""
    texts = [_written(names, what) for names, what in ((states, "state"), (actions, "action"))]
    sizes = np.diff(layout.start)
    owner = np.repeat(np.arange(len(states)), np.diff(layout.first))
    state, action = np.repeat(owner, sizes), np.repeat(layout.action, sizes)
    reward = np.repeat(layout.r, sizes) if layout.each is None else layout.each
    ends = np.flatnonzero(np.diff(layout.first) == 0)
    order = np.argsort(np.concatenate([state, ends]), kind="stable")
    gap = np.concatenate([np.zeros(len(state), np.bool_), np.ones(len(ends), np.bool_)])[order]

    def column(values: Any, fill: Any, blank: bool) -> pa.Array:
        return pa.array(np.concatenate([values, fill])[order], mask=gap if blank else None)

    nothing = np.zeros(len(ends), np.int64)
    table = pa.table(
        {
            "state": texts[0].take(column(state, ends, False)),
            "action": texts[1].take(column(action, nothing, True)),
            "next": texts[0].take(column(layout.after, nothing, True)),
            "probability": column(layout.p, np.zeros(len(ends)), True),
            "reward": column(reward, layout.final[ends], False),
        }
    )
    with atomic_write(path) as handle:
        pa_csv.write_csv(table, handle)


def _listed(rows: Sequence[Any]) -> Source:
    sizes = {len(row) if isinstance(row, list | tuple | np.ndarray) else 0 for row in rows}
    if sizes != {5}:
        raise DataError(
            "a list of transitions must hold (state, action, next, probability, reward) in each of its rows"
        )
    cells = [["" if row[i] is None else str(row[i]) for row in rows] for i in range(5)]
    return ArrowSource(pa.table(dict(zip(COLUMNS, cells, strict=True))), "the list")


def _columns(table: Source) -> dict[str, str]:
    names = table.arrow_schema.names
    found = {
        what: next(name for name in names if folded(name) in called)
        for what, called in _CALLED.items()
        if any(folded(name) in called for name in names)
    }
    lost = [what for what in COLUMNS[:4] if what not in found]
    if lost:
        raise DataError(
            f"{table.name} has no column {' and no column '.join(map(repr, lost))}; its first line must name the "
            f"columns state, action, next, probability and reward, and it names {', '.join(map(repr, names[:20]))}"
        )
    return found


def _text(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        whole = column.to_numpy(zero_copy_only=False)
        if (np.isnan(whole) | ((whole == np.rint(whole)) & (np.abs(whole) < 2.0**53))).all():
            column = pc.if_else(pc.is_nan(column), None, column).cast(pa.int64())
    return pc.fill_null(pc.utf8_trim_whitespace(column.cast(pa.string())), "")


def _blank(column: pa.Array) -> pa.Array:
    return pc.equal(column, "")


def _numbers(table: Source, column: pa.Array, what: str, start: int, skipped: Any) -> Array:
    texts = None if is_numeric(column.type) else pc.if_else(_blank(_text(column)), None, _text(column))
    try:
        values = (column if texts is None else texts).cast(pa.float64()).to_numpy(zero_copy_only=False).copy()
    except pa.ArrowInvalid:
        assert texts is not None
        at = next(i for i in range(len(texts)) if not _is_number(texts[i]))
        raise _bad(table, start + at, what, repr(texts[at].as_py())) from None
    values[np.isnan(values) & skipped] = 0.0
    wrong = ~np.isfinite(values) | ((values < 0.0) & (what == "probability"))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise _bad(table, start + at, what, "missing" if np.isnan(values[at]) else f"{values[at]:g}")
    return np.asarray(values)


def _is_number(cell: Any) -> bool:
    try:
        cell.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _bad(table: Source, row: int, what: str, value: str) -> DataError:
    rule = "are finite numbers, none negative" if what == "probability" else "are finite numbers"
    return DataError(f"{_at(table, row)}: the {what} is {value}, but they {rule}; repair the row")


def _at(table: Source, row: int) -> str:
    line = table.line_of(row)
    return f"{table.name}, {f'row {row + 1}' if line is None else f'line {line}'}"


def _numbered(
    table: Source, text: dict[str, list[pa.Array]], numbers: dict[str, list[Array]], ends: Any
) -> Transitions:
    p, reward = (np.concatenate(numbers[what]) for what in ("probability", "reward"))
    going = ~ends
    keep = pa.array(going)
    state, action, after = (pa.chunked_array(text[what]) for what in ("state", "action", "next"))
    of_state, states = _codes(pa.chunked_array([*state.chunks, *after.filter(keep).chunks], pa.string()))
    of_action, actions = _codes(action.filter(keep))
    at, next_ = of_state[: len(ends)], of_state[len(ends) :]
    final, seen = np.zeros(len(states)), np.zeros(len(states), np.int64)
    seen[at[going]] = 1
    both = np.flatnonzero(ends & (seen[at] == 1))
    if len(both):
        raise DataError(
            f"{_at(table, int(both[0]))}: the process ends in state {states[at[both[0]]]!r}, but other rows give it "
            "actions; leave this row or those out"
        )
    np.add.at(seen, at[ends], 1)
    twice = np.flatnonzero(ends & (seen[at] > 1))
    if len(twice):
        raise DataError(
            f"{_at(table, int(twice[1]))}: the end in state {states[at[twice[0]]]!r} is given twice; leave one row out"
        )
    final[at[ends]] = reward[ends]
    return Transitions(at[going], of_action, next_, p[going], reward[going], final, states, actions)


def _codes(column: pa.ChunkedArray) -> tuple[Whole, Names]:
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.indices.to_numpy().astype(np.int64), tuple(encoded.dictionary.to_pylist())


def _written(names: Names, what: str) -> pa.Array:
    texts = [str(name) for name in names]
    odd = next((text for text in texts if not text or text != text.strip() or "\n" in text or "\r" in text), None)
    if odd is not None:
        raise DataError(
            f"the {what} {odd!r} cannot be written to a table: names are one line without blanks around them"
        )
    if len(set(texts)) < len(texts):
        raise DataError(f"two names of {what}s are the same as text and cannot be told apart in a table; rename one")
    return pa.array(texts, pa.string())

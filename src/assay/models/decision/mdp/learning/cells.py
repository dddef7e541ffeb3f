"""Tables of trials as columns of numbers: which column is what, names as they are given, cells checked in their place.

In text files names are text, 007 is not 7; elsewhere they keep their type, and whole numbers read as real ones, for an
empty cell among them, are whole numbers again.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.data.formats.edge_lists import EdgeListSource, folded
from assay.data.formats.recognise import format_by_name
from assay.data.read import read
from assay.data.source import ArrowSource, Source, is_numeric
from assay.errors import DataError, ParameterError
from assay.models.decision.mdp.layout import Names
from assay.models.decision.mdp.table import opened

CALLED = {
    "trial": ("trial", "trialid", "episode", "episodeid", "run", "runid", "trajectory", "trajectoryid"),
    "step": ("step", "stepid", "timestep", "t", "time"),
    "state": ("state", "s", "observation", "obs"),
    "action": ("action", "a"),
    "reward": ("reward", "r"),
    "next_state": ("next", "nextstate", "successor", "s2", "nextobservation", "nextobs"),
    "done": ("terminated", "terminal", "done", "ended"),
    "truncated": ("truncated", "timeout", "cutoff"),
}
NEEDED = ("state", "action", "reward")
_TRUE = {"true": True, "1": True, "yes": True, "1.0": True, "false": False, "0": False, "no": False, "0.0": False}


class TrialList(EdgeListSource):
    """A text file of trials as a table of text: names stay names, whatever they look like."""

    _rows = "steps"
    _needs = "a step needs a trial, a state, an action and a reward"


@dataclass(frozen=True, slots=True, eq=False)
class TrialCells:
    """The columns of a table of trials, a row for each step.

    Attributes:
        table: what was read, for the place of a row.
        trial: (z,) number of the trial; None where no column tells.
        step: (z,) when it was; None where no column tells: rows are then in their order.
        state: (z,) number of the state.
        action: (z,) number of the action, -1 where it is empty.
        reward: (z,) NaN where it is empty.
        after: (z,) number of the next state, -1 where it is empty; None where no column tells.
        done: (z,) whether the trial ended with this step; None where no column tells.
        states: names.
        actions: names.
    """

    table: Source
    trial: Whole | None
    step: Array | None
    state: Whole
    action: Whole
    reward: Array
    after: Whole | None
    done: NDArray[np.bool_] | None
    states: Names
    actions: Names

    def at(self, row: int) -> str:
        """The place of a row, for a message."""
        line = self.table.line_of(row)
        return f"{self.table.name}, {f'row {row + 1}' if line is None else f'line {line}'}"


def found_columns(names: Sequence[str], given: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Which column is what, by its usual names or as given; without those that are not there.

    Args:
        names: of the columns.
        given: names of columns by what they are, where the usual names would not find them.

    >>> found_columns(["Episode", "t", "state", "action", "reward"])
    {'trial': 'Episode', 'step': 't', 'state': 'state', 'action': 'action', 'reward': 'reward'}
    """
    found = {}
    for what, called in CALLED.items():
        told = (given or {}).get(what)
        if told is not None:
            if told not in names:
                raise ParameterError(f"{what}={told!r} names no column; there are {', '.join(map(repr, names[:20]))}")
            found[what] = told
            continue
        known = [name for usual in called for name in names if folded(name) == usual]
        if known:
            found[what] = known[0]
    return found


def holds_trials(data: Any) -> bool:
    """Whether a table is one of trials by its columns, rather than of transitions with their probabilities.

    Args:
        data: a path, a frame, an Arrow table, or a `Source`.
    """
    names = opened(data).arrow_schema.names
    found = found_columns(names)
    known = {"state", "action", "reward"} <= set(found) and bool({"trial", "done"} & set(found))
    return known and not any(folded(name) in ("probability", "prob", "p") for name in names)


def read_cells(data: Any, given: Mapping[str, str | None]) -> TrialCells:
    """Read a table of trials into numbers.

    Args:
        data: whatever `assay.read` takes, or a list of rows: tuples (trial, step, state, action, reward), with the next
            state and whether it ended after them if they are known, or mappings from names of columns to cells.
        given: names of columns by what they are.
    """
    table, columns = _opened(data)
    names = found_columns(list(columns), given)
    lost = [what for what in NEEDED if what not in names]
    if "trial" not in names and "done" not in names:
        lost.insert(0, "trial")
    if lost:
        raise DataError(
            f"{table.name} has no column {' and no column '.join(map(repr, lost))}; a table of trials has the columns "
            f"trial, step, state, action and reward; it names {', '.join(map(repr, list(columns)[:20]))}: say which is "
            f"which, such as {lost[0]}={next(iter(columns), 'name')!r}"
        )
    z = len(columns[names["state"]])
    if not z:
        raise DataError(f"{table.name} holds no trials; give a row for each step")
    after = columns[names["next_state"]] if "next_state" in names else None
    coded, states = _coded([columns[names["state"]], *([] if after is None else [after])])
    action, actions = _coded([columns[names["action"]]])
    cells = TrialCells(
        table=table,
        trial=_coded([columns[names["trial"]]])[0] if "trial" in names else None,
        step=None,
        state=coded[:z],
        action=action,
        reward=np.empty(0),
        after=None if after is None else coded[z:],
        done=None,
        states=states,
        actions=actions,
    )
    for what, codes in (("state", cells.state), ("trial", cells.trial)):
        if codes is not None and (codes < 0).any():
            row = int(np.flatnonzero(codes < 0)[0])
            raise DataError(f"{cells.at(row)}: {names[what]!r} is empty; every step has a {what}: repair the row")
    step = _numbers(cells, columns[names["step"]], names["step"]) if "step" in names else None
    if step is not None and not np.isfinite(step).all():
        row = int(np.flatnonzero(~np.isfinite(step))[0])
        raise DataError(
            f"{cells.at(row)}: {names['step']!r} is {_said(step[row])}; steps are numbers: repair the row, or leave "
            "the column out where rows are in order"
        )
    done = _truths(cells, columns[names["done"]], names["done"]) if "done" in names else None
    if done is not None and "truncated" in names:
        done &= ~_truths(cells, columns[names["truncated"]], names["truncated"])
    return TrialCells(
        table=table,
        trial=cells.trial,
        step=step,
        state=cells.state,
        action=action,
        reward=_numbers(cells, columns[names["reward"]], names["reward"]),
        after=cells.after,
        done=done,
        states=states,
        actions=actions,
    )


def _opened(data: Any) -> tuple[Source, dict[str, Any]]:
    """The table, and its columns as Arrow arrays, or as lists where rows were given."""
    if isinstance(data, list | tuple) and len(data) and all(isinstance(row, Mapping) for row in data):
        names = list(dict.fromkeys(name for row in data for name in row))
        if not all(isinstance(name, str) for name in names):
            raise DataError("the rows of a list of trials are mappings from names of columns, which are text, to cells")
        return _nameless(), {name: [row.get(name) for row in data] for name in names}
    if isinstance(data, list | tuple):
        sizes = {len(row) if isinstance(row, list | tuple) else 0 for row in data}
        if len(sizes) != 1 or not sizes <= {5, 6, 7}:
            raise DataError(
                "a list of trials holds (trial, step, state, action, reward) in each of its rows, with the next state "
                "and whether the trial ended after them where they are known; or mappings from names of columns"
            )
        names = ["trial", "step", "state", "action", "reward", "next_state", "terminated"][: sizes.pop()]
        return _nameless(), {name: [row[i] for row in data] for i, name in enumerate(names)}
    source = _source(data)
    whole = pa.Table.from_batches(list(source.blocks()), source.arrow_schema)
    return source, {name: whole.column(i) for i, name in enumerate(whole.schema.names)}


def _source(data: Any) -> Source:
    if isinstance(data, str | os.PathLike) and format_by_name(os.fspath(data)) in (None, "csv"):
        return TrialList(os.fspath(data), header=True)
    return read(data)


def _nameless() -> Source:
    return ArrowSource(pa.table({}), "the list")


def _coded(columns: Sequence[Any]) -> tuple[Whole, Names]:
    """Cells of all columns together as numbers of names, -1 where empty; numbers in order, other names as they come."""
    if isinstance(columns[0], list):
        return _ordered(*_listed([cell for column in columns for cell in column]))
    plain = [_plain(column) for column in columns]
    if len({column.type for column in plain}) > 1:
        plain = [column.cast(pa.string()) for column in plain]
    encoded = pa.chunked_array([chunk for column in plain for chunk in column.chunks], plain[0].type)
    encoded = encoded.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return _ordered(codes, tuple(encoded.dictionary.to_pylist()))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
        whole = column.drop_null().to_numpy()
        if ((whole == np.rint(whole)) & (np.abs(whole) < 2.0**53)).all():
            column = column.cast(pa.int64())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column.cast(pa.string()))
        column = pc.if_else(pc.equal(column, ""), None, column)
    if pa.types.is_integer(column.type):
        column = column.cast(pa.int64())
    return column


def _listed(cells: Sequence[Any]) -> tuple[Whole, Names]:
    numbers: dict[Hashable, int] = {}
    codes = np.empty(len(cells), np.int64)
    for i, cell in enumerate(cells):
        blank = cell is None or (isinstance(cell, str) and not cell.strip()) or cell != cell
        name = cell.item() if isinstance(cell, np.generic) else cell
        codes[i] = -1 if blank else numbers.setdefault(name, len(numbers))
    return codes, tuple(numbers)


def _ordered(codes: Whole, names: Names) -> tuple[Whole, Names]:
    """Names that are whole numbers, as text too, in their order; others as they come."""
    try:
        keys = [int(name) if isinstance(name, int | str) else None for name in names]
    except ValueError:
        return codes, names
    if None in keys or len(names) < 2:
        return codes, names
    order = np.argsort(np.array(keys, dtype=object), kind="stable").astype(np.int64)
    place = np.empty(len(names) + 1, np.int64)
    place[order], place[-1] = np.arange(len(names)), -1
    return place[codes], tuple(names[i] for i in order.tolist())


def _numbers(cells: TrialCells, column: Any, name: str) -> Array:
    """(z,) numbers, NaN where empty; a cell that is no number is refused with its place."""
    if isinstance(column, list):
        return np.array([_number(cells, row, cell, name) for row, cell in enumerate(column)], np.float64)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_numeric(column.type) and not pa.types.is_boolean(column.type):
        texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
        column = pc.if_else(pc.equal(texts, ""), None, texts)
        try:
            column = column.cast(pa.float64())
        except pa.ArrowInvalid:
            rows = enumerate(column.to_pylist())
            return np.array([_number(cells, row, cell, name) for row, cell in rows], np.float64)
    return np.array(column.cast(pa.float64()).to_numpy(), np.float64)


def _number(cells: TrialCells, row: int, cell: Any, name: str) -> float:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise DataError(f"{cells.at(row)}: {name!r} is {cell!r}, which is no number; repair the row") from None


def _truths(cells: TrialCells, column: Any, name: str) -> NDArray[np.bool_]:
    """(z,) truths; an empty cell is false."""
    given: Iterable[Any] = column if isinstance(column, list) else pc.unique(column).to_pylist()
    known: dict[Any, bool] = {}
    for row, cell in enumerate(given):
        blank = cell is None or cell != cell
        told = False if blank else _TRUE.get(str(cell).strip().lower() or "false")
        if told is None:
            where = f"{cells.at(row)}: " if isinstance(column, list) else f"{cells.table.name}: "
            raise DataError(f"{where}{name!r} holds {cell!r}; it says true or false, or 1 or 0: repair the column")
        known[None if blank else cell] = told
    if isinstance(column, list):
        return np.array([known[None if cell is None or cell != cell else cell] for cell in column], np.bool_)
    codes = pc.index_in(column, value_set=pc.unique(column).cast(column.type)).to_numpy()
    values = pc.unique(column).to_pylist()
    truths = np.array([known[None if v is None or v != v else v] for v in values], np.bool_)
    return np.asarray(truths[codes])


def _said(value: float) -> str:
    return "empty" if np.isnan(value) else f"{value:g}"

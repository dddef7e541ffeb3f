"""A policy on a grid: where each cell leads, what it is worth, and where it ends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.legend import legend
from assay.views.axes.theme import CHANCE, FONT, INK, REAL, UNSEEN, figure, hover
from assay.views.axes.ticks import brief

CELLS = 900
_NUMBERS = 14  # columns up to which values are written into the cells
_DIRECTIONS = {
    "←": ("left", "west", "l", "w", "links"),
    "→": ("right", "east", "r", "e"),
    "↑": ("up", "north", "u", "n"),
    "↓": ("down", "south", "d", "s"),
}
_MOVES = {(0, -1): "←", (0, 1): "→", (-1, 0): "↑", (1, 0): "↓"}
_PLACE = re.compile(r"^\D{0,3}(\d+)\s*[,;:_x -]\s*(\d+)\D?$")
_CLEAR = 0.15  # cells that an action moves on average in the direction it is drawn
_INSIDE = 0.9  # share of transitions to a neighbour or to the same cell, from which numbered states are a grid
_DARK = 0.72


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Where states lie on a grid.

    Attributes:
        shape: rows and columns.
        row, column: (n,) of each state, -1 where it lies nowhere.
        guessed: whether nobody said so.
    """

    shape: tuple[int, int]
    row: Whole
    column: Whole
    guessed: bool


def grid_of(
    states: Sequence[Any], leads: Any = None, shape: tuple[int, int] | None = None, n_actions: int = 0
) -> Grid | None:
    """Where states lie, by their names: (row, column), or numbers from the upper left; None where they are no grid.

    Args:
        states: n names.
        leads: (n, n) sparse, where the chosen actions lead; numbers are taken for a grid only if these are neighbours.
        shape: rows and columns, where that is known; states are then numbered from 0, or in their order.
        n_actions: how many actions there are; a grid that nobody told of has four.

    >>> grid_of([(0, 0), (0, 1), (1, 0), (1, 1)]).shape
    (2, 2)
    """
    n = len(states)
    if shape is not None:
        rows, columns = (int(size) for size in shape)
        if rows < 1 or columns < 1 or rows * columns > max(n, 1) * 4:
            raise ParameterError(f"shape is rows and columns of the grid, with places for {n} states; got {shape!r}")
        number = _numbers(states, rows * columns)
        if number is None:
            number = np.where(np.arange(n) < rows * columns, np.arange(n), -1)
        return Grid((rows, columns), np.where(number < 0, -1, number // columns), _modulo(number, columns), False)
    places = [_place(name) for name in states]
    there = [place for place in places if place is not None]
    if len(there) >= 0.8 * n and len(set(there)) == len(there) and n > 3:
        row = np.array([-1 if p is None else p[0] for p in places])
        column = np.array([-1 if p is None else p[1] for p in places])
        row, column = (np.where(at < 0, -1, at - at[at >= 0].min()) for at in (row, column))
        if (row.max() + 1) * (column.max() + 1) <= 4 * n:
            return Grid((int(row.max()) + 1, int(column.max()) + 1), row, column, False)
    return _guessed(states, leads, n_actions)


def policy_grid(
    grid: Grid,
    states: Sequence[Any],
    values: Array,
    actions: Sequence[Any],
    *,
    moves: Mapping[Any, Any] | None = None,
    entering: Array | None = None,
    faint: Sequence[bool] | None = None,
) -> Any:
    """Draw the action and the value of each cell; cells in which the process ends say what ending there gives.

    Args:
        grid: where states lie.
        states: n names.
        values: (n,) of the states.
        actions: n actions, None where the process ends.
        moves: (n, n) sparse by action, where it leads: actions whose names are no directions get their arrows from it.
        entering: (n,) mean reward of steps into a state.
        faint: n, whether the action cannot be told from the next best.
    """
    rows, columns = grid.shape
    if rows * columns > CELLS:
        raise ParameterError(f"a grid of {rows} x {columns} cells is too large to be drawn; at most {CELLS} are")
    at = np.flatnonzero(grid.row >= 0).tolist()
    ends = np.array([action is None for action in actions])
    best = _best_ends(ends, entering)
    tints = _tints(values, ends, best)
    arrows = _arrows(grid, actions, moves or {})
    unsure = np.zeros(len(states), bool) if faint is None else np.asarray(faint, bool)
    gives = np.zeros(len(states)) if entering is None else entering
    small = columns > _NUMBERS
    wide = max((len(arrows[i]) for i in at if not ends[i]), default=1)
    source = ColumnDataSource(
        {
            "x": grid.column[at], "y": grid.row[at],
            "tint": [tints[i][0] for i in at], "ink": [tints[i][1] for i in at],
            "arrow": ["end" if ends[i] else arrows[i] for i in at],
            "told": [("" if entering is None else f"gives {brief(float(gives[i]), 2)}") if ends[i]
                     else brief(float(values[i]), 2) for i in at],
            "edge": [1.0 if unsure[i] else 0.0 for i in at], "strong": [0.45 if unsure[i] else 1.0 for i in at],
            "state": [str(states[i]) for i in at],
            "action": ["the process ends" if ends[i] else str(actions[i]) for i in at],
            "value": [brief(float(values[i]), 4) for i in at],
        }
    )  # fmt: skip
    cell = int(np.clip(620 // columns, 18, 76))
    plot = figure(
        x_label="", y_label="", height=cell * rows + 90, max_width=cell * columns + 60, x_range=(-0.5, columns - 0.5),
        y_range=(rows - 0.5, -0.5),
    )  # fmt: skip
    plot.grid.visible = False
    plot.axis.visible = False
    cells = plot.rect("x", "y", 0.97, 0.97, source=source, fill_color="tint", line_color=CHANCE, line_alpha=0.4)
    size = int(np.clip(cell * 0.42 if wide <= 2 else cell * 1.25 / wide, 8, 26))
    style: dict[str, Any] = {"source": source, "text_align": "center", "text_font": value(FONT), "text_color": "ink"}
    middle = 0 if small else -max(cell // 10, 3)
    plot.text("x", "y", "arrow", text_font_size=f"{size}px", text_baseline="middle", y_offset=middle,
              text_alpha="strong", **style)  # fmt: skip
    if not small:
        plot.text("x", "y", "told", text_font_size=f"{int(np.clip(cell * 0.2, 8, 12))}px", text_baseline="bottom",
                  y_offset=cell // 2 - 4, **style)  # fmt: skip
    plot.add_tools(hover([cells], [("state", "@state"), ("action", "@action"), ("value", "@value")]))
    _explain(plot, values, ends, best, unsure)
    return plot


def _best_ends(ends: NDArray[np.bool_], entering: Array | None) -> NDArray[np.bool_]:
    if entering is None or not ends.any():
        return ends.copy()
    top = float(entering[ends].max())
    return np.asarray(ends & (entering >= top - 1e-9 * max(1.0, abs(top))))


def _tints(values: Array, ends: NDArray[np.bool_], best: NDArray[np.bool_]) -> list[tuple[str, str]]:
    """Colour of each cell and of the words in it."""
    live = values[~ends]
    low, high = (float(live.min()), float(live.max())) if len(live) else (0.0, 1.0)
    tints = []
    for v, end, good in zip(values.tolist(), ends.tolist(), best.tolist(), strict=True):
        if end:
            tints.append((UNSEEN, "#ffffff") if good else ("#4a5058", "#ffffff"))
            continue
        part = 0.06 + 0.88 * ((v - low) / (high - low) if high > low else 0.5)
        tints.append((mixed(part), "#ffffff" if part > _DARK else INK))
    return tints


def mixed(part: float) -> str:
    """From white to blue.

    >>> mixed(0.0), mixed(1.0)
    ('#ffffff', '#2787cf')
    """
    levels = (round(255 + part * (int(REAL[k : k + 2], 16) - 255)) for k in (1, 3, 5))
    return "#" + "".join(f"{level:02x}" for level in levels)


def _explain(plot: Any, values: Array, ends: Any, best: Any, unsure: NDArray[np.bool_]) -> None:
    nowhere: dict[str, Any] = {"x": [np.nan], "y": [np.nan], "marker": "square", "size": 13, "line_color": CHANCE}
    live = values[~ends]
    entries: list[Any] = []
    if len(live):
        entries.append(
            (f"worth {brief(float(live.min()), 3)}", [plot.scatter(fill_color=mixed(0.06), **nowhere)], None)
        )
        entries.append(
            (f"worth {brief(float(live.max()), 3)}", [plot.scatter(fill_color=mixed(0.94), **nowhere)], None)
        )
    if best.any():
        entries.append(("end that gives most", [plot.scatter(fill_color=UNSEEN, **nowhere)], None))
    if (ends & ~best).any():
        entries.append(("other end", [plot.scatter(fill_color="#4a5058", **nowhere)], None))
    legend(plot, entries, title="Faint: may as well be another action." if unsure.any() else "")


def _place(name: Any) -> tuple[int, int] | None:
    if isinstance(name, tuple) and len(name) == 2 and all(isinstance(part, int | np.integer) for part in name):
        return int(name[0]), int(name[1])
    found = _PLACE.match(name.strip()) if isinstance(name, str) else None
    return None if found is None else (int(found[1]), int(found[2]))


def _numbers(states: Sequence[Any], most: int) -> Whole | None:
    """(n,) the number of each state, -1 where its name is none; None where names are no numbers from 0."""
    found = np.array([int(name) if re.fullmatch(r"\d{1,9}", str(name)) else -1 for name in states])
    known = found[found >= 0]
    if len(known) < 0.8 * len(found) or len(set(known.tolist())) < len(known) or not len(known) or known.max() >= most:
        return None
    return found


def _modulo(number: Whole, columns: int) -> Whole:
    return np.where(number < 0, -1, number % columns)


def _guessed(states: Sequence[Any], leads: Any, n_actions: int) -> Grid | None:
    """Numbered states of a process with four actions are a grid if its actions lead to neighbours."""
    number = _numbers(states, 10**9)
    if number is None or leads is None or n_actions != 4 or number.max() < 3:
        return None
    n, found = int(number.max()) + 1, leads.tocoo()
    inside = (number[found.row] >= 0) & (number[found.col] >= 0) & (found.row != found.col)
    one, two, weight = number[found.row][inside], number[found.col][inside], found.data[inside]
    best: tuple[float, tuple[int, int]] | None = None
    for columns in range(2, n // 2 + 1):
        if n % columns or not weight.sum():
            continue
        down = np.abs(one // columns - two // columns)
        across = np.abs(one % columns - two % columns)
        share = float(weight[down + across == 1].sum() / weight.sum())
        both = bool((down + across == 1)[down == 1].any() and (down + across == 1)[across == 1].any())
        if both and share >= _INSIDE and (best is None or share > best[0]):
            best = share, (n // columns, columns)
    if best is None:
        return None
    rows, columns = best[1]
    return Grid((rows, columns), np.where(number < 0, -1, number // columns), _modulo(number, columns), True)


def _arrows(grid: Grid, actions: Sequence[Any], moves: Mapping[Any, Any]) -> list[str]:
    """An arrow for each action that has a direction, by its name or by where it leads on average; else its name."""
    by_name = {name: arrow for arrow, names in _DIRECTIONS.items() for name in names}
    kinds = {action for action in actions if action is not None}
    arrow = {action: by_name.get(str(action).strip().lower(), "") for action in kinds}
    arrow |= {action: _moved(grid, moves[action]) for action in kinds if not arrow[action] and action in moves}
    return ["" if a is None else arrow[a] or shortened(str(a), 10) for a in actions]


def _moved(grid: Grid, leads: Any) -> str:
    found = leads.tocoo()
    kept = (grid.row[found.row] >= 0) & (grid.row[found.col] >= 0)
    down = (grid.row[found.col] - grid.row[found.row])[kept]
    across = (grid.column[found.col] - grid.column[found.row])[kept]
    near, weight = np.abs(down) + np.abs(across) <= 1, found.data[kept]
    if not weight[near].sum():
        return ""
    mean = np.array([(weight * step)[near].sum() / weight[near].sum() for step in (down, across)])
    axis = int(np.argmax(np.abs(mean)))
    if abs(mean[axis]) < _CLEAR:
        return ""
    sign = int(np.sign(mean[axis]))
    return _MOVES[(sign, 0) if axis == 0 else (0, sign)]

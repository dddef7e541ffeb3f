"""Which rows and columns of a table are drawn, without the plotting library: a question may ask it too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError

COLUMNS = 300
ROWS = 400
KINDS = (
    "number", "count", "ordered", "boolean", "category", "time", "text", "identifier", "constant", "empty", "other",
)  # fmt: skip


def drawn_columns(
    values: ArrayLike, names: Sequence[str], kinds: Sequence[str], *, order: Sequence[str] = (), most: int = COLUMNS
) -> NDArray[np.intp]:
    """Choose the columns that are drawn, in the order they are drawn in.

    Those named by the user come first, in that order, the others by kind. Where there are too many, half of the
    places are for the columns that lack most values, and the rest is spread evenly over the data.

    Args:
        values: (m, D) NaN where missing.
        names: (D,) of the columns.
        kinds: (D,) of the columns.
        order: names of columns to draw first.
        most: how many may be drawn.

    Returns:
        Numbers of columns.

    >>> drawn_columns([[1, 2, 3]], ["a", "b", "c"], ["text", "count", "number"]).tolist()
    [2, 1, 0]
    >>> drawn_columns([[1, 2, 3]], ["a", "b", "c"], ["text", "count", "number"], order=["b"]).tolist()
    [1, 2, 0]
    """
    place = {name: j for j, name in enumerate(names)}
    unknown = [name for name in order if name not in place]
    if unknown:
        raise ParameterError(f"order names columns that there are; there is no column {unknown[0]!r}")
    first = [place[name] for name in dict.fromkeys(order)][:most]
    rest = np.setdiff1d(np.arange(len(names)), first)
    if len(rest) > most - len(first):
        rest = _fairly(np.isnan(as_table(values))[:, rest].sum(axis=0), rest, most - len(first))
    rank = [KINDS.index(kinds[j]) if kinds[j] in KINDS else len(KINDS) for j in rest]
    return np.array([*first, *rest[np.argsort(rank, kind="stable")]], dtype=np.intp)


def drawn_rows(m: int, most: int = ROWS) -> NDArray[np.intp]:
    """Choose rows of a fair sample, evenly, so that each still has a line of its own on the screen.

    Args:
        m: how many rows there are.
        most: how many may be drawn.

    >>> drawn_rows(5, most=3).tolist()
    [0, 2, 4]
    """
    return np.unique(np.linspace(0, max(m - 1, 0), min(m, most)).round().astype(np.intp))


def as_table(values: ArrayLike) -> Array:
    """Values with one line per row."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ParameterError(f"values have one line per row; got an array of shape {table.shape}")
    return table


def _fairly(missing: NDArray[np.intp], columns: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    lacking = np.argsort(-missing, kind="stable")[: min(most // 2, int(np.count_nonzero(missing)))]
    others = np.setdiff1d(np.arange(len(columns)), lacking)
    spread = np.linspace(0, len(others) - 1, most - len(lacking)).round().astype(np.intp)
    picked: NDArray[np.intp] = np.sort(columns[np.concatenate([lacking, others[spread]])])
    return picked

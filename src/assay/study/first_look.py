"""The first look: a fair sample of rows in the user's columns, before any encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.arrays import Array
from assay.asking.table import FirstLook
from assay.data.columns.cells import as_values, coded, numbers
from assay.data.columns.column_stats import ColumnStats
from assay.data.columns.dates import DAY
from assay.data.field import Field
from assay.shown import shortened
from assay.study.profile import Profile

_TEXT = 120
_FLOAT = pa.float64()


def first_look(profile: Profile, fields: Sequence[Field], *, log: frozenset[str] = frozenset()) -> FirstLook:
    """The first look of what one pass told.

    Args:
        profile: statistics and sample.
        fields: the columns, as all rows show them.
        log: columns that the encoding takes the logarithm of.
    """
    lines, levels = np.full((len(fields), profile.sample.table.num_rows), np.nan), {}
    for j, (column, known, stats) in enumerate(zip(_columns(profile), fields, profile.columns, strict=True)):
        lines[j], names = _numbers(column, known, stats)
        if names:
            levels[known.name] = names
    values = np.ascontiguousarray(lines.T)
    whole = [
        _centre_and_scale(values[:, j], f, s) for j, (f, s) in enumerate(zip(fields, profile.columns, strict=True))
    ]
    return FirstLook(
        columns=tuple(f.name for f in fields),
        kinds=tuple(f.kind for f in fields),
        units=tuple(f.unit for f in fields),
        rows=profile.sample.rows + 1,
        values=values,
        centre=np.array([centre for centre, _ in whole]),
        scale=np.array([scale for _, scale in whole]),
        levels=levels,
        log=log,
        total=profile.rows,
        texts={
            f.name: _texts(profile.sample.table.column(j))
            for j, f in enumerate(fields)
            if f.kind in ("text", "identifier")
        },
    )


def _columns(profile: Profile) -> list[Any]:
    """The columns of the sample, each in one piece."""
    table = profile.sample.table
    whole = table.combine_chunks().to_batches()  # at once: of each column on its own, wide tables take seconds
    return whole[0].columns if len(whole) == 1 else [column.combine_chunks() for column in table.columns]


def _texts(column: Any) -> tuple[str, ...]:
    """The cells as they came, shortened: a text may be a book."""
    return tuple("" if cell is None else shortened(str(cell), _TEXT) for cell in column.to_pylist())


def _numbers(column: Any, known: Field, stats: ColumnStats) -> tuple[Array, tuple[str, ...]]:
    """One number for each cell, and the names of levels where the number is that of a level."""
    if column.type == _FLOAT and known.kind in ("number", "count"):
        return numbers(column), ()
    if known.kind == "category" or (known.kind == "ordered" and known.levels):
        names = known.levels or tuple(name for name, _ in (stats.levels.most() if stats.levels else ()))
        place = {name: i for i, name in enumerate(names)}
        cells = coded(column)
        return cells.spread(np.array([place.get(cell, np.nan) for cell in cells.cells], dtype=np.float64)), names
    if known.kind in ("number", "count", "ordered", "boolean", "time", "constant") and not _is_plain_text(
        column, known
    ):
        values = as_values(column, known, stats.reading)[0]
        return (values / DAY if known.kind == "time" else values), ()
    if known.kind in ("text", "identifier", "constant") and pa.types.is_string(column.type):
        return np.asarray(pc.cast(pc.utf8_length(column), pa.float64()).to_numpy(zero_copy_only=False)), ()
    return np.where(pc.is_valid(column).to_numpy(zero_copy_only=False), 0.0, np.nan), ()


def _is_plain_text(column: Any, known: Field) -> bool:
    return known.kind == "constant" and not pa.types.is_primitive(column.type)


def _centre_and_scale(drawn: Array, known: Field, stats: ColumnStats) -> tuple[float, float]:
    """Of the whole data where they are known in the units shown, of the sample otherwise."""
    if known.kind in ("number", "count", "boolean") and np.isfinite(stats.mean) and np.isfinite(stats.variance):
        return stats.mean, float(np.sqrt(stats.variance))
    seen = drawn[np.isfinite(drawn)]
    largest = float(np.abs(seen).max(initial=0.0))
    if largest == 0.0:
        return 0.0, 0.0
    shares = seen / largest  # whose squares stay in the range of numbers
    return float(shares.mean()) * largest, float(shares.std()) * largest

"""Columns that say how rows depend, read as they came, for the rows in use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.arrays import Array, Indices, Mask
from assay.data.columns.cells import as_values
from assay.data.columns.column_stats import ColumnStats
from assay.data.field import Field
from assay.data.row_cache import KeptSource
from assay.errors import DataError
from assay.study.row_dependence.levels import LevelCandidate, could_name_subjects

_KINDS = ("category", "identifier", "count", "ordered", "text", "number")


class Labels:
    """Columns of a source that is kept in memory, by the rows in use.

    Args:
        source: the data.
        fields, stats: its columns, as all rows show them.
        used: (N,) which of its rows are in use.
    """

    def __init__(self, source: KeptSource, fields: Sequence[Field], stats: Sequence[ColumnStats], used: Mask) -> None:
        self._source = source
        self._known = {f.name: (f, s) for f, s in zip(fields, stats, strict=True)}
        self._used = used

    def codes(self, name: str) -> Indices:
        """(n,) number of the level of each row, in the order of first appearance; a missing value is -1."""
        encoded = pc.dictionary_encode(_plain(self._column(name)))
        return np.asarray(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False), dtype=np.intp)

    def lengths(self, name: str) -> Array:
        """(n,) characters of a text; NaN where there is none."""
        lengths = pc.utf8_length(_plain(self._column(name)).cast(pa.string()))
        return np.asarray(pc.fill_null(lengths.cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False))

    def values(self, name: str) -> Array:
        """(n,) numbers, or times in microseconds; NaN where there is none."""
        known, stats = self._known[name]
        return as_values(self._column(name), known, stats.reading)[0]

    def numbers_of(self, name: str, what: str) -> Array:
        """The same of a column that the user named; refused where it is no number or time, or has gaps.

        Args:
            name: the column.
            what: what the user said that it is.
        """
        known, _ = self._known[name]
        if known.kind not in ("number", "count", "ordered", "time", "identifier", "boolean"):
            raise DataError(f"{name!r} is a column of {known.kind}: {what} is a number or a time")
        values = self.values(name)
        gaps = int(np.count_nonzero(~np.isfinite(values)))
        if gaps:
            raise DataError(
                f"{what} {name!r} is missing in {gaps:,} of {len(values):,} rows: leave these rows out first"
            )
        return values

    def candidates(self, leave: Iterable[str]) -> dict[str, LevelCandidate]:
        """Columns that repeat as names of subjects do.

        Args:
            leave: columns that are not asked.
        """
        left, n = set(leave), int(self._used.sum())
        found = {}
        for name, (known, stats) in self._known.items():
            if name in left or known.kind not in _KINDS or (known.kind == "number" and not _whole(stats)):
                continue
            ordered = known.kind in ("count", "number", "ordered")
            values = self.values(name) if ordered else None
            if known.kind == "number" and not _all_whole(values):  # a measurement, whose ends are whole by chance
                continue
            codes = self.codes(name) if values is None else np.unique(values, return_inverse=True)[1]
            if could_name_subjects(name, len(np.unique(codes)), n):
                found[name] = LevelCandidate(codes, ordered)
        return found

    def times(self, leave: Iterable[str]) -> dict[str, Array]:
        """Columns of times without gaps that tell at least half of the rows apart.

        Args:
            leave: columns that are not asked.
        """
        left, found = set(leave), {}
        for name, (known, _) in self._known.items():
            if known.kind == "time" and name not in left:
                values = self.values(name)
                if np.isfinite(values).all() and 2 * len(np.unique(values)) >= len(values):
                    found[name] = values
        return found

    def _column(self, name: str) -> Any:
        batches = [batch.column(batch.schema.get_field_index(name)) for batch in self._source.blocks()]
        return pa.chunked_array(batches).combine_chunks().filter(pa.array(self._used))


def _plain(column: Any) -> Any:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _all_whole(values: Array | None) -> bool:
    return values is None or bool(((values == np.floor(values)) | np.isnan(values)).all())


def _whole(stats: ColumnStats) -> bool:
    """Whether a column of numbers may be one of whole ones: its ends are."""
    return bool(np.isfinite(stats.low) and stats.low == np.floor(stats.low) and stats.high == np.floor(stats.high))

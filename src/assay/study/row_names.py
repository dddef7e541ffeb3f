"""What the rows of a study are called: their numbers in the data, and the columns that identify them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from assay.arrays import Indices, Mask
from assay.asking.row_names import RowNames
from assay.data.columns.target import KnownTarget
from assay.data.field import Field
from assay.data.row_cache import KeptSource
from assay.data.source import Source

_BYTES = 1 << 26  # of identifiers that a study holds


def row_names(source: Source, kept: KeptSource, fields: Sequence[Field], used: Mask | None, rows: int) -> RowNames:
    """Names of the rows; of those that were not kept only their numbers, where all of them are in use.

    Args:
        source: the data, without the rows whose outcome is not known.
        kept: the same, kept where it fits in memory.
        fields: its columns, as all rows show them.
        used: (N,) which of its rows are in use; None where that is not known.
        rows: how many of them are.
    """
    if used is None:
        every = kept.rows_read == rows and not isinstance(source, KnownTarget)
        return RowNames(in_data=np.arange(rows) if every else None)
    names = [field.name for field in fields if field.kind == "identifier"]
    named: dict[str, pa.Array] = {}
    if names and kept.in_memory:
        table = pa.Table.from_batches([block.select(names) for block in kept.blocks()])
        if table.nbytes <= _BYTES:
            named = {name: _plain(table.column(name)) for name in names}
    return RowNames(None if used.all() else used, _numbers_in_data(source, len(used)), named)


def _numbers_in_data(source: Source, rows: int) -> Indices | None:
    """(N,) numbers in the data, from 0, of the rows that a source hands out; None where they are not known."""
    if not isinstance(source, KnownTarget):
        return np.arange(rows)
    before = _numbers_in_data(source.source, source.source.rows_read)
    left = source.left_out()
    if before is None or len(before) - len(left) != rows:
        return None
    return np.delete(before, left)


def _plain(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of no rows
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], column.type)
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole

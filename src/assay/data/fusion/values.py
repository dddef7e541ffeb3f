"""Values of one source as the fusion wants them: in its type and its unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.arrays import Whole
from assay.data.columns.cells import as_values, coded, readings
from assay.data.field import Field, Kind
from assay.data.fitting import fitted
from assay.data.fusion.columns import Family, Fused, stored_family

_NONE: Whole = np.empty(0, dtype=np.int64)
_KINDS: dict[Family, Kind] = {"number": "number", "time": "time", "boolean": "boolean"}


class Bringer:
    """Brings the column of one source, block by block, to what the fusion has.

    Text is read as numbers or times in the way that fits most of its first block, and so for the whole source.

    Args:
        column: of the fusion.
        source: which, from 0.
    """

    def __init__(self, column: Fused, source: int) -> None:
        self._to = column
        self._member = column.members.get(source)
        factor, offset = column.scales.get(source, (1.0, 0.0))
        self._factor, self._offset = factor, offset
        self._reading: str | None = None

    def bring(self, block: pa.RecordBatch) -> tuple[pa.Array, Whole]:
        """The values in a block, and the rows of those that do not fit."""
        if self._member is None:
            return pa.nulls(block.num_rows, self._to.type), _NONE
        values, lost = self._typed(block.column(self._member.field.name))
        if (self._factor, self._offset) != (1.0, 0.0):
            values = pc.add(pc.multiply(values, self._factor), self._offset)
        return values, lost

    def cell(self, block: pa.RecordBatch, row: int) -> Any:
        """The value of a row as the source has it."""
        return None if self._member is None else block.column(self._member.field.name)[row].as_py()

    def _typed(self, column: pa.Array) -> tuple[pa.Array, Whole]:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if column.type == self._to.type:
            return column, _NONE
        stored, family = stored_family(column.type), self._to.family
        if pa.types.is_null(column.type):
            return pa.nulls(len(column), self._to.type), _NONE
        if family == "text" and stored in ("number", "boolean"):
            cells = coded(column)
            codes = pa.array(cells.codes, mask=cells.codes < 0)
            return pa.array(cells.cells, self._to.type).take(codes), _NONE
        if stored == family or family not in _KINDS:
            return fitted(column, self._to.type)
        return self._read(column)

    def _read(self, column: pa.Array) -> tuple[pa.Array, Whole]:
        field = Field(self._to.name, _KINDS[self._to.family])

        def unread(way: str) -> int:
            bad = as_values(column, field, way)[1]
            return 0 if bad is None else int(bad.sum())

        if self._reading is None:
            self._reading = min(readings(field, column.type), key=unread)
        values, bad = as_values(column, field, self._reading)
        missing = np.isnan(values)
        numbers = pa.array(values, mask=missing)
        if self._to.family == "time":
            numbers = pa.array(np.where(missing, 0, values).astype("datetime64[us]"), mask=missing)
        return numbers.cast(self._to.type), _NONE if bad is None else np.flatnonzero(bad)

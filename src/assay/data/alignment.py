"""Blocks brought into the form of the first: the same columns, the same types; what does not fit is counted."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from assay.data.problems import Problems

_MISFIT = "values do not fit the type of the column and count as missing"
_LACKING = "rows lack the column and count as missing"
_EXTRA = "values belong to a column that the first block does not have, and are left out"


class Aligner:
    """Brings later blocks into the columns and types of the first.

    Whole numbers become floats at once, since fractions may follow.

    Args:
        schema: of the first block.
        hidden: columns whose values must not be shown.
    """

    def __init__(self, schema: pa.Schema, hidden: Collection[str] = ()) -> None:
        self._hidden = frozenset(hidden)
        self.schema = pa.schema(
            [
                field.with_type(pa.float64()) if pa.types.is_integer(field.type) else field.with_nullable(True)
                for field in schema
            ]
        )

    def aligned(self, batch: pa.RecordBatch, problems: Problems, *, first_row: int = 0) -> pa.RecordBatch:
        """The batch in the first one's form.

        Args:
            batch: rows.
            problems: told what did not fit.
            first_row: number of its first row, for messages.
        """
        present = set(batch.schema.names)
        columns = []
        for field in self.schema:
            if field.name not in present:
                columns.append(pa.nulls(batch.num_rows, field.type))
                place = f"row {first_row + 1}"
                problems.add(_LACKING, column=field.name, place=place, count=batch.num_rows)
                continue
            columns.append(self._fitted(batch.column(field.name), field, problems, first_row))
        for name in batch.schema.names:
            if self.schema.get_field_index(name) < 0:
                count = batch.num_rows - batch.column(name).null_count
                problems.add(_EXTRA, column=name, place=f"row {first_row + 1}", count=count)
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _fitted(self, column: pa.Array, field: pa.Field, problems: Problems, first_row: int) -> pa.Array:
        if column.type == field.type:
            return column
        try:
            return column.cast(field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            fitted = _cast_singly(column, field.type)
        lost = pc.and_(pc.is_valid(column), pc.is_null(fitted))
        places = pc.indices_nonzero(lost).to_pylist()
        for i in places:
            value = None if field.name in self._hidden else str(column[i].as_py())
            problems.add(_MISFIT, column=field.name, place=f"row {first_row + i + 1}", value=value)
        return fitted


def _cast_singly(column: pa.Array, type_: pa.DataType) -> pa.Array:
    values = []
    for value in column:
        try:
            values.append(value.cast(type_).as_py())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            values.append(None)
    return pa.array(values, type=type_)

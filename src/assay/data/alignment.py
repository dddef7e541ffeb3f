"""Blocks brought into the form of the first: the same columns, the same types; what does not fit is counted."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from assay.data.arrow_validation import sound
from assay.data.fitting import add_misfits, fitted
from assay.data.problems import Problems

_LACKING = "rows lack the column and count as missing"
_EXTRA = "values belong to a column that the first block does not have, and are left out"


class Aligner:
    """Brings later blocks into the columns and types of the first.

    Whole numbers become floats at once, since fractions may follow.

    Args:
        schema: of the first block.
        hidden: columns whose values must not be looked at.
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
        if field.name in self._hidden:  # not even looked at
            return pa.nulls(len(column), field.type)
        array, lost = fitted(sound(column, f"column {field.name!r} from row {first_row + 1:,} on"), field.type)
        places = ((f"row {first_row + int(i) + 1}", column[int(i)].as_py()) for i in lost)
        add_misfits(problems, field.name, field.type, places)
        return array

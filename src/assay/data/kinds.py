"""What kind of column is this? Decided from the whole first block by rules that are stated and can be overruled."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from assay.data.field import Declared, Field, Kind


def understood(schema: pa.Schema, blocks: Sequence[pa.RecordBatch], declared: Declared) -> tuple[Field, ...]:
    """The columns of a schema, understood from the first rows.

    Args:
        schema: the physical columns.
        blocks: the first rows.
        declared: what the user said; it goes before what is inferred.
    """
    return tuple(
        Field(f.name, declared.kinds.get(f.name, _kind(f.type)), declared.units.get(f.name), declared.roles.get(f.name))
        for f in schema
    )


def _kind(type_: pa.DataType) -> Kind:
    is_ = pa.types
    if is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_):
        return "number"
    if is_.is_null(type_):
        return "empty"
    if is_.is_boolean(type_):
        return "boolean"
    if is_.is_temporal(type_):
        return "time"
    if is_.is_string(type_) or is_.is_large_string(type_) or is_.is_dictionary(type_):
        return "text"
    return "other"

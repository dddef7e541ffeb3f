"""Columns that records have: by key, and one level down into objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assay.data.field import Declared
from assay.data.fitting import column_of

# Whole numbers beyond this are not told apart as floats.
_EXACT = 1 << 53


@dataclass(frozen=True, slots=True)
class JsonColumn:
    """A column of records.

    Attributes:
        path: its key, or the key of an object and the key in it.
        name: how it is called.
        type: of its values.
    """

    path: tuple[str, ...]
    name: str
    type: pa.DataType

    def called(self, name: str) -> JsonColumn:
        """The column under another name."""
        return replace(self, name=name)


def columns_of_schema(table: pa.Table, declared: Declared) -> list[JsonColumn]:
    """The columns of records that Arrow parsed."""
    found = []
    for field in table.schema:
        values = table.column(field.name).combine_chunks()
        if pa.types.is_struct(field.type) and len(field.type):
            for child, inner in zip(field.type, values.flatten(), strict=True):
                name = f"{field.name}.{child.name}"
                found.append(JsonColumn((field.name, child.name), name, _lasting(inner, name, declared)))
        else:
            found.append(JsonColumn((field.name,), field.name, _lasting(values, field.name, declared)))
    return found


def columns_of_records(records: Sequence[dict[str, Any]]) -> list[JsonColumn]:
    """The columns of records, of the type that nearly all values have."""
    found = []
    for key in dict.fromkeys(key for record in records for key in record):
        values = [record.get(key) for record in records]
        inner = [value for value in values if isinstance(value, dict)]
        if 2 * len(inner) > sum(value is not None for value in values) and any(inner):
            names = dict.fromkeys(name for value in inner for name in value)
            found += [_inferred((key, name), [value.get(name) for value in inner]) for name in names]
        else:
            found.append(_inferred((key,), values))
    return found


def parse_schema(columns: Sequence[JsonColumn]) -> pa.Schema:
    """The schema of the records as they are, objects in objects included."""
    nested: dict[str, list[JsonColumn]] = {}
    for column in columns:
        nested.setdefault(column.path[0], []).append(column)
    return pa.schema(
        [
            (
                key,
                parts[0].type if len(parts[0].path) == 1 else pa.struct([(part.path[1], part.type) for part in parts]),
            )
            for key, parts in nested.items()
        ]
    )


def value_at(record: dict[str, Any], path: tuple[str, ...]) -> Any:
    """The value of a record at a path, None where there is none.

    >>> value_at({"a": {"b": 3}}, ("a", "b"))
    3
    """
    value = record.get(path[0])
    if len(path) == 1:
        return value
    return value.get(path[1]) if isinstance(value, dict) else None


def _inferred(path: tuple[str, ...], values: list[Any]) -> JsonColumn:
    name = ".".join(path)
    array, _ = column_of(values)
    return JsonColumn(path, name, _lasting(array, name, Declared()))


def _lasting(values: pa.Array, name: str, declared: Declared) -> pa.DataType:
    """The type under which later values can be read too."""
    type_ = values.type
    if pa.types.is_null(type_):
        return pa.string()
    if pa.types.is_integer(type_):
        # fractions may follow; numbers too long for a float are identifiers and stay whole
        extremes = pc.min_max(values).as_py()
        small = all(value is None or abs(value) <= _EXACT for value in extremes.values())
        return pa.float64() if small else pa.int64()
    if pa.types.is_timestamp(type_):
        textual = declared.kinds.get(name) in ("text", "category", "ordered", "identifier")
        return pa.string() if textual else pa.timestamp("us")
    return type_

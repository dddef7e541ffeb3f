"""Tables of numbers as Arrow has them, as frames of the libraries that people use, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from assay.errors import ParameterError

if TYPE_CHECKING:  # questions are listed by the command line, which must start quickly
    import pyarrow as pa

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]

BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")


def table_of(columns: Mapping[str, Any]) -> pa.Table:
    """An Arrow table of columns by name; NaN, which stands for what is not known, becomes a missing value.

    Args:
        columns: arrays and sequences of one length.

    >>> import numpy as np
    >>> table_of({"row": [1, 2], "q": np.array([0.5, np.nan])}).to_pydict()
    {'row': [1, 2], 'q': [0.5, None]}
    """
    import pyarrow as pa

    return pa.table({name: _column(values) for name, values in columns.items()})


def records_of(records: Sequence[Mapping[str, Any]], kinds: Mapping[str, type]) -> pa.Table:
    """An Arrow table of records; its columns have the same types whatever is in them.

    Args:
        records: None stands for what is not known.
        kinds: the columns, each str, int, float or bool; what else a record has is left out.

    >>> records_of([{"p": None, "more": 1}], {"p": float}).schema.types
    [DataType(double)]
    """
    import pyarrow as pa

    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    columns = {
        name: pa.array([_unicode(record.get(name)) for record in records], types[kind], from_pandas=True)
        for name, kind in kinds.items()
    }
    return pa.table(columns)


def _column(values: Any) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if isinstance(values, np.ndarray):
        return pa.array(values if values.dtype.kind != "U" else values.tolist(), from_pandas=True)
    if isinstance(values, Sequence) and any(isinstance(value, str) for value in values):
        # a name may hold what is no Unicode, such as a byte of a file name
        return pa.array([_unicode(value) for value in values])
    return pa.array(values, from_pandas=True)


def _unicode(value: Any) -> Any:
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


def frame_of(table: pa.Table, backend: Backend | None = None) -> Any:
    """A table as a frame.

    Args:
        table: the table.
        backend: "pandas", "polars" or "pyarrow"; None for the first of them that is installed.

    >>> frame_of(table_of({"a": [1, 2]}), "pyarrow").column_names
    ['a']
    """
    import narwhals as nw

    if backend is None:
        backend = next(name for name in BACKENDS if find_spec(name) is not None)
    if backend not in BACKENDS:
        raise ParameterError(f"backend is one of {', '.join(BACKENDS)}, or None; got {backend!r}")
    if find_spec(backend) is None:
        raise ParameterError(f"{backend} is not installed: install it, or take another backend")
    frame = nw.from_native(table, eager_only=True)
    return {"pandas": frame.to_pandas, "polars": frame.to_polars, "pyarrow": frame.to_arrow}[backend]()


def json_of(table: pa.Table, most: int) -> dict[str, Any]:
    """A table as JSON-ready values, column by column; what is not known or infinite is None.

    Args:
        table: the table.
        most: rows that are given; `of` says how many there are.

    >>> json_of(table_of({"row": [1, 2, 3]}), 2)
    {'rows': 2, 'of': 3, 'columns': {'row': [1, 2]}}
    """
    shown = table.slice(0, most)
    columns = {name: list(map(_known, shown.column(name).to_pylist())) for name in shown.column_names}
    return {"rows": shown.num_rows, "of": table.num_rows, "columns": columns}


def _known(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    # a date, a time or a decimal of an identifier
    return value if value is None or isinstance(value, (str, bool, int)) else str(value)

"""Arrow data whose parts fit together: compiled functions believe every offset and index, and crash on a wrong one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.errors import DataError, UnreadableError

_ARROW = (pa.Table, pa.RecordBatch, pa.ChunkedArray, pa.Array)


def sound(data: Any, name: str = "the table") -> Any:
    """Arrow data and sparse matrices whose parts fit together, looked at once; arrays of others as NumPy's.

    Anything else passes.

    Args:
        data: what somebody gave.
        name: what to call it in a message.

    Returns:
        The data themselves, or the same numbers in an array of NumPy.

    >>> sound(pa.table({"x": [1]})).num_rows
    1
    """
    if isinstance(data, _ARROW):
        try:
            refuse_unsound(data)
        except pa.ArrowException as error:
            raise UnreadableError(f"cannot read {name}: it is damaged ({error}); make it again") from error
    elif hasattr(data, "tocsr"):
        from assay.linalg.sparse.structure import as_sparse

        return as_sparse(data)
    elif hasattr(data, "__array_namespace__") and not isinstance(data, (np.ndarray, np.generic)):
        return _of_other_library(data, name)
    return data


def _of_other_library(data: Any, name: str) -> NDArray[Any]:
    """An array of PyTorch, JAX, CuPy and others that follow the array API standard."""
    try:
        return np.asarray(data)
    except Exception as error:  # of any library: an array that is elsewhere, or still part of a computation
        raise DataError(
            f"{name} is an array of {type(data).__module__.partition('.')[0]} that NumPy cannot see ({error}); move it "
            "to the memory of the processor first"
        ) from error


def sound_batches(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """Batches as they come, each looked at once; a damaged one is refused by its rows.

    Args:
        batches: of somebody else.
        name: what to call all of them in a message.
    """
    row = 0
    for batch in batches:
        yield sound(batch, f"{name}, rows {row + 1:,} to {row + batch.num_rows:,}")
        row += batch.num_rows


def refuse_unsound(data: Any) -> None:
    """Raise Arrow's own error, with the name of the column, where offsets, indices, text or null counts are wrong.

    Times of day beyond midnight and days with a time of day are values that others write, and pass.

    Args:
        data: an Arrow table, batch, array or chunked array.
    """
    try:
        data.validate(full=True)
    except pa.ArrowException:
        for name, part in _parts(data):
            try:
                part.validate()
                (part.view(f"int{part.type.bit_width}") if _is_clock(part.type) else part).validate(full=True)
            except pa.ArrowException as error:
                reason = str(error).splitlines()[0].strip().rstrip(".")
                raise pa.ArrowInvalid(f"column {name!r}: {reason}" if name is not None else reason) from error
        data.validate()


def _parts(data: Any) -> Iterator[tuple[str | None, pa.Array]]:
    if isinstance(data, pa.Array):
        yield None, data
    elif isinstance(data, pa.ChunkedArray):
        yield from ((None, chunk) for chunk in data.chunks)
    else:
        for name, column in zip(data.schema.names, data.columns, strict=True):
            yield from ((name, part) for _, part in _parts(column))


def _is_clock(type_: pa.DataType) -> bool:
    return bool(pa.types.is_date64(type_) or pa.types.is_time(type_))

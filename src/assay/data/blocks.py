"""Cutting anything tabular into blocks of rows of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from assay.data.arrow_validation import sound
from assay.data.partitions import numbered_floats
from assay.data.source import Source
from assay.engine.current import gathered_blocks, sends_arrays
from assay.engine.engine import Parted, Read
from assay.errors import DataError


def all_rows(source: Source) -> NDArray[np.float64]:
    """(n, d) the numbers of a source in one array: read by the workers of the engine in use, and brought here.

    Args:
        source: its rows fit into memory.

    >>> import pyarrow as pa
    >>> from assay.data.source import ArrowSource
    >>> all_rows(ArrowSource(pa.table({"x": [1.0, 2.0]})))
    array([[1.],
           [2.]])
    """
    return np.concatenate(gathered_blocks(numbered_floats(source).map(itemgetter(1))))


def block_slices(n: int, d: int, groups: int = 1) -> list[slice]:
    """Cut n rows of d columns into blocks; depends on the shape only, so that results are the same everywhere.

    A block has at least 4 d rows, so that merging its (d, d) summary costs little beside making it; there are about
    sixteen of them in a small table, to keep several cores busy, and at most 65,536 rows in each.

    >>> [s.stop - s.start for s in block_slices(10_000, 3)]
    [4096, 4096, 1808]
    """
    if groups > 1:  # so many summaries to merge: fewer and larger blocks
        rows = max(4096, 4 * d * groups, min(131_072, -(-n // 8)))
    else:
        rows = max(4096, 4 * d, min(65_536, -(-n // 16)))
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


@runtime_checkable
class FloatBlocks(Protocol):
    """Blocks of numeric rows with the number of the first row of each.

    Iterating a second time begins anew, unless the data were a one-way iterator.
    """

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names, or None."""

    def __iter__(self) -> Iterator[tuple[int, NDArray[Any]]]: ...


@dataclass(frozen=True, slots=True)
class ArrayBlocks:
    """Blocks of rows in this process; those of an array are sent to workers where that is asked for.

    Attributes:
        columns: names, or None.
        start: begins a pass.
        array: whether the blocks are parts of one array.
    """

    columns: tuple[str, ...] | None
    start: Callable[[], Iterator[NDArray[Any]]]
    array: bool = False

    def __iter__(self) -> Iterator[tuple[int, NDArray[Any]]]:
        row = 0
        for block in self.start():
            yield row, block
            row += len(block)

    @property
    def portable(self) -> bool:
        """Whether the blocks go to workers."""
        return self.array and sends_arrays()

    def parts(self) -> list[Read[Any]]:
        """One for each block."""
        return [Read([part], None) for part in self]

    def of_parts(self) -> Iterator[tuple[int, Any]]:
        """All blocks, as one part."""
        return ((0, part) for part in self)

    def begin(self) -> None:
        """Nothing is told of arrays."""

    def hear(self, told: Any) -> None:
        """Nothing is told of arrays."""


def float_blocks(data: Any, *, groups: int = 1) -> FloatBlocks:
    """Blocks of float rows from an array, a sparse matrix, a data frame, a `Source` or an iterable of arrays.

    Args:
        data: what a model's `fit` takes. Integers and booleans are read as floats, float32 stays float32.
        groups: how many summaries each block will have.

    >>> [(row, block.shape) for row, block in float_blocks(np.zeros((5, 2)))]
    [(0, (5, 2))]
    """
    if isinstance(data, Parted):
        return data  # type: ignore[return-value]  # numbered blocks, here or kept by workers
    if isinstance(data, Source):
        return numbered_floats(data)
    if isinstance(data, (np.ndarray, list, tuple)) and not _is_blocks(data):
        X = as_float(np.asarray(data))
        return ArrayBlocks(None, lambda: (X[part] for part in block_slices(len(X), X.shape[1], groups)), array=True)
    if issparse(data):
        rows = sound(data).tocsr()
        return ArrayBlocks(
            None,
            lambda: (as_float(rows[part].toarray()) for part in block_slices(rows.shape[0], rows.shape[1], groups)),
        )
    if hasattr(data, "__dataframe__") or hasattr(data, "__arrow_c_stream__"):
        import narwhals as nw

        frame = nw.from_native(sound(data), eager_only=True)
        X = as_float(frame.to_numpy())
        return ArrayBlocks(
            tuple(map(str, frame.columns)),
            lambda: (X[part] for part in block_slices(len(X), X.shape[1], groups)),
            array=True,
        )
    if isinstance(data, Iterable):
        return ArrayBlocks(None, lambda: (as_float(np.asarray(block)) for block in data))
    raise DataError(f"cannot read rows from a {type(data).__name__}; give an array, a data frame or a Source")


def _is_blocks(data: Any) -> bool:
    return not isinstance(data, np.ndarray) and len(data) > 0 and all(np.ndim(block) == 2 for block in data)


def as_float(X: NDArray[Any]) -> NDArray[Any]:
    """A two-dimensional array of float64, or float32 where it was that already."""
    if X.ndim != 2:
        raise DataError(f"a table has two dimensions, rows and columns; got {X.ndim}")
    if X.dtype in (np.float64, np.float32):
        return X
    if X.dtype.kind in "biuf":
        return X.astype(np.float64)
    if X.dtype.kind != "O":
        raise DataError(f"a table of numbers is needed; got {X.dtype} values")
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the table holds values that are not numbers: {error}") from error

"""Triples from whatever holds them, in blocks that are checked on the way.

Whole are whole numbers from 0. Names are refused: numbering them needs all of them in memory, which is what triples
are there to avoid. Values are real numbers; NaN and infinite ones are numbers here, as they are in SciPy, but a missing
one is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from assay.arrays import Array, Whole
from assay.data.partitions import Blocks, numbered_blocks
from assay.data.read import read
from assay.data.row_cache import KeptSource
from assay.data.source import Source, is_numeric
from assay.data.streams import OnePassSource
from assay.errors import DataError, ParameterError
from assay.linalg.sparse.structure import as_sparse

Shape = tuple[int, int]

_LARGEST = 2**53  # of an index, so that it is exact in any type


@dataclass(frozen=True, slots=True, eq=False)
class TriplePiece:
    """Some triples, not looked at yet.

    Attributes:
        i: row indices.
        j: column indices.
        value: values, or None where all are 1.
        first: how many came before.
        origin: how messages call the data, and the place of a triple in them.
    """

    i: Any
    j: Any
    value: Any
    first: int
    origin: Callable[[int], str]

    def __len__(self) -> int:
        return len(self.i)

    def slice(self, lo: int, hi: int) -> TriplePiece:
        """Triples lo .. hi - 1 of them."""
        value = None if self.value is None else _part(self.value, lo, hi)
        return TriplePiece(_part(self.i, lo, hi), _part(self.j, lo, hi), value, self.first + lo, self.origin)


def _part(column: Any, lo: int, hi: int) -> Any:
    return column[lo:hi] if isinstance(column, np.ndarray) else column.slice(lo, hi - lo)


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """Triples that can be read again and again.

    Attributes:
        start: begins a pass over them.
        valued: whether they have values.
        count: how many there are, where that is known.
        shape: of the matrix, where the data say it.
        parted: the same pieces in parts that workers may read, where they are in one source.
    """

    start: Callable[[], Iterator[TriplePiece]]
    valued: bool
    count: int | None = None
    shape: Shape | None = None
    parted: Blocks[list[TriplePiece]] | None = None

    def pieces(self, run: int) -> Iterator[list[TriplePiece]]:
        """Triples in lists of pieces with at most `run` of them together."""
        waiting: list[TriplePiece] = []
        room = run
        for piece in self.start():
            at = 0
            while at < len(piece):
                part = piece.slice(at, min(at + room, len(piece)))
                waiting.append(part)
                at, room = at + len(part), room - len(part)
                if not room:
                    yield waiting
                    waiting, room = [], run
        if waiting:
            yield waiting


def opened(data: Any, row: str, column: str, value: str | None) -> Opened:
    """Open triples.

    Args:
        data: what `Triples.of` takes.
        row: name of the column of row indices.
        column: name of the column of column indices.
        value: name of the column of values; None: "value" if there is one.
    """
    if sparse.issparse(data):
        matrix: Any = as_sparse(data).tocoo()
        i, j = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
        found = _of_arrays((i, j, matrix.data))
        return Opened(found.start, found.valued, found.count, (int(matrix.shape[0]), int(matrix.shape[1])))
    if isinstance(data, tuple) and len(data) in (2, 3):
        return _of_arrays(data)
    if isinstance(data, list) and data and all(isinstance(part, str | os.PathLike | Source) for part in data):
        parts = [_of_source(read(part), row, column, value) for part in data]
        if len({part.valued for part in parts}) > 1:
            raise DataError("some of the files have a column of values and some have none; give all of them one")
        counts = [part.count for part in parts]
        count = None if None in counts else sum(filter(None, counts))
        return Opened(lambda: (piece for part in parts for piece in part.start()), parts[0].valued, count)
    return _of_source(read(data), row, column, value)


def _of_arrays(given: Sequence[Any]) -> Opened:
    arrays = [np.asarray(part) for part in given]
    if any(part.ndim != 1 or len(part) != len(arrays[0]) for part in arrays):
        raise ParameterError(
            f"triples are arrays (i, j) or (i, j, value) of one length; got shapes {[part.shape for part in arrays]}"
        )
    for name, part in zip(("i", "j"), arrays, strict=False):
        if part.dtype.kind not in "iuf" and len(part):
            raise _no_index(name, str(part.dtype))
    if len(arrays) == 3 and arrays[2].dtype.kind not in "biuf":
        raise DataError(f"value holds {arrays[2].dtype}, but values are real numbers")
    value = arrays[2] if len(arrays) == 3 else None
    whole = TriplePiece(arrays[0], arrays[1], value, 0, lambda t: f"triple {t + 1:,}")
    return Opened(lambda: iter([whole]), value is not None, len(arrays[0]))


def _of_source(source: Source, row: str, column: str, value: str | None) -> Opened:
    if isinstance(source, OnePassSource):
        source = KeptSource(source)
    schema = source.arrow_schema
    named = value or ("value" if "value" in schema.names and "value" not in (row, column) else None)
    for what, name in (("row", row), ("column", column), ("value", named)):
        if name is None:
            continue
        if name not in schema.names:
            raise DataError(
                f"{source.name} has no column {name!r} (it has {', '.join(schema.names[:8])}); say which holds the "
                f"{'values' if what == 'value' else what + ' indices'} with {what}="
            )
        type_ = schema.field(name).type
        if what == "value" and not (is_numeric(type_) or pa.types.is_boolean(type_)):
            raise DataError(f"{source.name}: {name!r} holds {type_}, but values are real numbers")
        if what != "value" and not is_numeric(type_):
            raise _no_index(f"{source.name}: {name!r}", str(type_))

    def origin(t: int) -> str:
        return f"{source.name}, {source.place_of(t)}"

    def start() -> Iterator[TriplePiece]:
        return (pieces[0] for pieces in parted)

    def piece(block: tuple[int, pa.RecordBatch]) -> list[TriplePiece]:
        first, batch = block
        held = None if named is None else batch.column(named)
        return [TriplePiece(batch.column(row), batch.column(column), held, first, origin)]

    parted = numbered_blocks(source).map(piece)
    return Opened(start, named is not None, source.rows, parted=parted)


def _no_index(what: str, type_: str) -> DataError:
    return DataError(
        f"{what} holds {type_}, but indices are whole numbers from 0; number names first "
        "(assay.read_network does, for a graph that fits memory)"
    )


def converted(pieces: list[TriplePiece], shape: Shape | None) -> tuple[Whole, Whole, Array | None]:
    """Triples as numbers, inside the shape where one is given.

    Args:
        pieces: from `Opened.pieces`.
        shape: rows and columns.
    """
    rows, columns = (None, None) if shape is None else shape
    i = [_indices(piece, piece.i, "i", rows, "rows") for piece in pieces]
    j = [_indices(piece, piece.j, "j", columns, "columns") for piece in pieces]
    value = None
    if pieces[0].value is not None:
        value = _joined([_values(piece) for piece in pieces])
    return _joined(i), _joined(j), value


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _indices(piece: TriplePiece, column: Any, name: str, size: int | None, many: str) -> Whole:
    raw = _numbers(piece, column, name)
    if raw.dtype.kind == "f":
        bad = np.flatnonzero(~(raw == np.rint(raw)))
        if len(bad):
            raise _refused(piece, int(bad[0]), name, raw[bad[0]], "indices are whole numbers from 0")
    if not len(raw):
        return np.empty(0, np.int64)
    low, high = raw.min(), raw.max()
    if low < 0:
        raise _refused(piece, int(raw.argmin()), name, low, "indices are whole numbers from 0")
    if size is not None and high >= size:
        at = int(np.argmax(raw >= size))
        raise _refused(piece, at, name, raw[at], f"the shape has {size:,} {many}, 0 to {size - 1:,}; give a larger one")
    if high >= _LARGEST:
        raise _refused(piece, int(raw.argmax()), name, high, f"indices are below {_LARGEST:,}; number them anew")
    return raw.astype(np.int64, copy=False)


def _values(piece: TriplePiece) -> Array:
    return _numbers(piece, piece.value, "value").astype(np.float64, copy=False)


def _numbers(piece: TriplePiece, column: Any, name: str) -> NDArray[Any]:
    if isinstance(column, np.ndarray):
        return column
    if column.null_count:
        at = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise _refused(piece, at, name, "missing", "each triple has all its numbers; repair it or leave it out")
    if pa.types.is_decimal(column.type) or pa.types.is_boolean(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _refused(piece: TriplePiece, at: int, name: str, value: object, rule: str) -> DataError:
    return DataError(f"{piece.origin(piece.first + at)}: {name} is {value}, but {rule}")

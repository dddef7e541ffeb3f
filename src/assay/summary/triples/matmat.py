"""Products of two matrices of triples: c_ik = sum_j m_ij n_jk.

    join     M and N are cut into stripes of j; in each, rows of N that fit (as CSR) meet triples of M, as many as their
             products fit; what these products add up to goes to a stripe of rows i
    add      the stripes of rows, one after the other: triples of the same (i, k) in the order they were made

A stripe of rows with more triples than fit is cut again, sixteen times finer, by rows and at last by columns; so a full
row or column needs no more memory than others.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, 2.3.9 (matrix multiplication in two steps).
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from assay.arrays import Array, Whole
from assay.data.files import atomic_write, check_writable
from assay.errors import ParameterError
from assay.leftovers import TemporaryFolder
from assay.summary.triples.allowance import TEAM, Plan, run_of
from assay.summary.triples.cells import LARGEST, Triple, TripleCells, cut
from assay.summary.triples.in_order import in_order
from assay.summary.triples.vectors import scratch

if TYPE_CHECKING:
    from assay.summary.triples.triples import Triples


_HELD = 64  # bytes of a triple as arrays and as CSR
JOINED = 96  # bytes of a triple while it is multiplied, sorted and written
_FINER = 16
_SCHEMA = pa.schema([("i", pa.int64()), ("j", pa.int64()), ("value", pa.float64())])


@dataclass(frozen=True, slots=True)
class Rooms:
    """How much of what is held at a time.

    Attributes:
        rows: of N, triples of them.
        products: of one piece of M.
        added: triples of a stripe of the result.
        run: triples read at a time.
        kept: triples of the result that may stay in memory.
    """

    rows: int
    products: int
    added: int
    run: int
    kept: int

    @classmethod
    def of(cls, size: int) -> Rooms:
        """Of so many bytes, a quarter each for N, for products, for reading and for the result."""
        team = TEAM + 2
        each = max(64, size // 4 // team // JOINED)
        return cls(max(64, size // 8 // JOINED), each, each, run_of(size // 2), size // 4 // 48)


def product(M: Triples, N: Triples, size: int, out: str | os.PathLike[str] | None) -> Triples:
    """M N in the memory allowed."""
    shape = (M.shape[0], N.shape[1])
    rooms = Rooms.of(size)
    if out is not None:
        check_writable(Path(out))
    with Sheet(shape, rooms, out) as sheet:
        pieces = M.spread
        C = None if pieces is not None else _at_once(M, N, size)
        if pieces is not None:
            from assay.summary.triples.spread import spread_product

            spread_product(M.with_shape(M.shape), pieces, N.with_shape(N.shape), size, sheet)
        elif C is not None:
            for lo in range(0, C.nnz, rooms.run):
                part = slice(lo, lo + rooms.run)
                sheet.take((C.row[part].astype(np.int64), C.col[part].astype(np.int64), C.data[part]))
        else:
            joined(M, N, rooms, sheet)
        return sheet.finish()


def _at_once(M: Triples, N: Triples, size: int) -> Any:
    """The product by SciPy, or None where it may not fit."""
    most = size // 2 // _HELD
    if 16 * (M.shape[0] + N.shape[0] + N.shape[1]) > size // 4 or (M.count or 0) + (N.count or 0) > most:
        return None
    left = M.gathered(most)
    right = None if left is None else N.gathered(most - len(left[0]))
    if left is None or right is None:
        return None
    A = sparse.coo_array((left[2], left[:2]), shape=M.shape).tocsr()
    B = sparse.coo_array((right[2], right[:2]), shape=N.shape).tocsr()
    del left, right
    if int(np.diff(B.indptr)[A.indices].sum()) * 40 > size // 4:
        return None
    C = A @ B
    C.sort_indices()
    return C.tocoo()


def joined(M: Triples, N: Triples, rooms: Rooms, sheet: Sheet) -> None:
    """The product in stripes, handed to a sheet.

    Args:
        M: the left matrix.
        N: the right one.
        rooms: how much of what is held.
        sheet: keeps the result.
    """
    rows, inner, columns = *M.shape, N.shape[1]
    across = max(2, 2 * -(-(N.count or 32 * rooms.rows) // rooms.rows))
    inside = max(1, min(inner, LARGEST, -(-inner // across), rooms.rows))
    wide = max(1, min(columns, LARGEST))
    most = (M.count or 64 * rooms.added) * max(1, (N.count or inner) // max(1, inner))
    down = min(4096, max(2, 2 * -(-most // rooms.added)))
    tall = max(1, min(-(-rows // down), LARGEST))
    if -(-inner // inside) > max(64, rooms.rows):
        raise ParameterError(
            f"{inner:,} inner indices make more stripes than can be kept apart in this memory; allow "
            f"memory={8 * JOINED * (math.isqrt(inner) + 1):,}"
        )
    with scratch() as folder:
        left = M.cut(Plan(max(1, min(rows, LARGEST)), inside, rooms.run), folder / "left")
        right = N.cut(Plan(inside, wide, rooms.run), folder / "right")
        spilled = cut(
            _meetings(left, right, rooms),
            multiplied,
            (rows, columns),
            Plan(tall, wide, rooms.run),
            folder / "made",
            valued=True,
        )
        left.path.unlink()
        right.path.unlink()
        numbers = itertools.count()
        in_order(_heaps(spilled, rooms.added, folder, numbers), added, sheet.take)


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """Triples of M and the rows of N that they meet."""

    i: Whole
    j: Whole
    value: Array
    rows: sparse.csr_array
    columns: Whole


def _meetings(left: TripleCells, right: TripleCells, rooms: Rooms) -> Iterator[Meeting]:
    for b in range(left.across):
        if not any(left.count(a, b) for a in range(left.down)):
            continue
        for rows, columns in _rows(right, b, rooms.rows):
            leaving = np.diff(rows.indptr)
            for a in range(left.down):
                for ends, values in left.read(a, b):
                    i, j = ends[:, 0].astype(np.int64) + left.rows(a)[0], ends[:, 1].astype(np.int64)
                    value = values if left.valued else np.ones(len(i))
                    work = np.cumsum(leaving[j])
                    begin = 0
                    while begin < len(i):
                        # one triple at least: it meets no more than the rows of N that fit
                        before = work[begin - 1] if begin else 0
                        end = max(begin + 1, int(np.searchsorted(work, before + rooms.products, side="right")))
                        if work[end - 1] > before:
                            yield Meeting(i[begin:end], j[begin:end], value[begin:end], rows, columns)
                        begin = end


def _rows(right: TripleCells, b: int, most: int) -> Iterator[tuple[sparse.csr_array, Whole]]:
    """Rows of N in a stripe, as many triples as fit at a time; columns numbered among those that are there."""
    lo, hi = right.rows(b)
    waiting: list[Triple] = []
    held = 0

    def made() -> tuple[sparse.csr_array, Whole]:
        i, j = (np.concatenate([part[k] for part in waiting]) for k in (0, 1))
        value = [np.ones(len(part[0])) if part[2] is None else part[2] for part in waiting]
        columns, place = np.unique(j, return_inverse=True)
        N = sparse.coo_array((np.concatenate(value), (i - lo, place)), shape=(hi - lo, len(columns)))
        return N.tocsr(), columns

    for c in range(right.across):
        for part in right.triples(b, c):
            for at in range(0, len(part[0]), most):
                some = tuple(None if x is None else x[at : at + most] for x in part)
                if held and held + len(some[0]) > most:  # type: ignore[arg-type]  # indices are there
                    yield made()
                    waiting, held = [], 0
                waiting.append(some)  # type: ignore[arg-type]
                held += len(some[0])  # type: ignore[arg-type]
    if waiting:
        yield made()


def multiplied(meeting: Meeting) -> tuple[Whole, Whole, Array]:
    """Products of triples of M with the rows of N that they meet, added up."""
    there, place = np.unique(meeting.i, return_inverse=True)
    A = sparse.coo_array((meeting.value, (place, meeting.j)), shape=(len(there), meeting.rows.shape[0])).tocsr()
    C = (A @ meeting.rows).tocoo()
    return there[C.row], meeting.columns[C.col], C.data


@dataclass(frozen=True, slots=True, eq=False)
class Heap:
    """Triples of a part of the result that begins at a row and a column."""

    at: tuple[int, int]
    shape: tuple[int, int]
    i: Whole
    j: Whole
    value: Array


def _heaps(
    cells: TripleCells, most: int, folder: Path, numbers: Iterator[int], at: tuple[int, int] = (0, 0)
) -> Iterator[Heap]:
    """Cells that fit; those that do not are cut again."""
    for a, b in itertools.product(range(cells.down), range(cells.across)):
        (top, bottom), (first, last) = cells.rows(a), cells.columns(b)
        count, shape, here = cells.count(a, b), (bottom - top, last - first), (at[0] + top, at[1] + first)
        if not count:
            continue
        if count <= most:
            parts = list(cells.read(a, b))
            ends = np.concatenate([part[0] for part in parts]).astype(np.int64)
            yield Heap(here, shape, ends[:, 0], ends[:, 1], np.concatenate([part[1] for part in parts]))
        elif shape == (1, 1):
            total = np.zeros(1)
            for _, values in cells.read(a, b):
                total += values.sum()
            yield Heap(here, shape, np.zeros(1, np.int64), np.zeros(1, np.int64), total)
        else:
            by_rows = shape[0] > 1
            finer = Plan(
                -(-shape[0] // _FINER) if by_rows else 1, shape[1] if by_rows else -(-shape[1] // _FINER), most
            )
            path = folder / f"finer{next(numbers)}"
            again = cut(cells.read(a, b), _placed, shape, finer, path, valued=True)
            yield from _heaps(again, most, folder, numbers, here)
            path.unlink()


def _placed(part: tuple[NDArray[np.uint32], Array]) -> Triple:
    ends, values = part
    return ends[:, 0].astype(np.int64), ends[:, 1].astype(np.int64), values


def added(heap: Heap) -> tuple[Whole, Whole, Array]:
    """Triples of the same place added up, by row and column."""
    there, place = np.unique(heap.i, return_inverse=True)
    C = sparse.coo_array((heap.value, (place, heap.j)), shape=(len(there), heap.shape[1])).tocsr()
    C.sum_duplicates()
    C.sort_indices()
    made = C.tocoo()
    return there[made.row] + heap.at[0], made.col.astype(np.int64) + heap.at[1], made.data


class Sheet:
    """Triples of a result as they come: in memory, and in a Parquet file once they are too many or one is named."""

    def __init__(self, shape: tuple[int, int], rooms: Rooms, out: str | os.PathLike[str] | None) -> None:
        self._shape, self._rooms, self._out = shape, rooms, out
        self._waiting: list[tuple[Whole, Whole, Array]] = []
        self._held = 0
        self._folder: Any = None
        self._writer: Any = None
        self._put: Any = None

    def __enter__(self) -> Sheet:
        if self._out is not None:
            self._put = atomic_write(self._out)
            self._writer = pq.ParquetWriter(self._put.__enter__(), _SCHEMA)
        return self

    def __exit__(self, kind: Any, error: Any, at: Any) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._put is not None:
            self._put.__exit__(kind, error, at)
        if kind is not None and self._folder is not None:
            self._folder.remove()

    def take(self, part: tuple[Whole, Whole, Array]) -> None:
        """The next triples."""
        self._waiting.append(part)
        self._held += len(part[0])
        if self._writer is None and self._held > self._rooms.kept:
            self._folder = TemporaryFolder()
            self._writer = pq.ParquetWriter(self._folder.path / "product.parquet", _SCHEMA)
        if self._writer is not None and self._held >= self._rooms.run:
            self._write()

    def _write(self) -> None:
        i, j, value = self._arrays()
        self._writer.write_table(pa.table([i, j, value], schema=_SCHEMA), row_group_size=self._rooms.run)
        self._waiting, self._held = [], 0

    def _arrays(self) -> tuple[Whole, Whole, Array]:
        none = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        i, j, value = (np.concatenate([part[k] for part in [none, *self._waiting]]) for k in range(3))
        return i, j, value

    def finish(self) -> Triples:
        """All of them."""
        from assay.summary.triples.triples import Triples

        if self._writer is None:
            return Triples.of(self._arrays(), shape=self._shape)
        self._write()
        self._writer.close()
        self._writer = None
        if self._put is not None:
            put, self._put = self._put, None
            put.__exit__(None, None, None)
            return Triples.of(Path(os.fspath(self._out)), shape=self._shape)  # type: ignore[arg-type]  # a path is named
        found = Triples.of(self._folder.path / "product.parquet", shape=self._shape)
        return Triples(found._opened, self._shape, _kept=self._folder)

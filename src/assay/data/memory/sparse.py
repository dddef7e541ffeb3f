"""Sparse matrices as sources. Blocks are dense, so of very many columns those are handed out that hold something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.data.field import Declared
from assay.data.memory.arrays import RowsSource, block_rows, cut
from assay.data.source import Source
from assay.errors import DataError

# Up to so many columns of a sparse table are handed out whatever they hold.
FEW = 10_000
# Dense, a sparse table may have so many cells, or for each entry so many; so many rows, or for each entry so many.
_CELLS, _CELLS_EACH = 1_000_000_000, 10_000
_ROWS, _ROWS_EACH = 100_000_000, 100


class SparseSource(RowsSource):
    """A SciPy sparse matrix; only one block of it is dense at a time.

    >>> next(SparseSource(csr_array([[0, 2], [0, 0]])).float_blocks())
    array([[0., 2.],
           [0., 0.]])
    """

    def __init__(self, matrix: Any, name: str = "data", declared: Declared | None = None) -> None:
        from assay.linalg.sparse.structure import as_sparse

        if as_sparse(matrix, name=name).ndim == 1:
            matrix = matrix.reshape(-1, 1)
        n, d = matrix.shape
        refuse_mostly_empty((n, d), 0, matrix.nnz, name)
        rows = matrix.tocsr()
        held = held_columns(rows.indices[: rows.indptr[-1]], d, declared or Declared(), "column ")
        refuse_mostly_empty((n, d), d if held is None else len(held), rows.nnz, name)
        if held is not None:
            rows = packed(rows, held)
        names = None if held is None else [f"column {j + 1}" for j in held.tolist()]
        super().__init__(rows.shape, rows.dtype, name, declared, names)
        if held is not None:
            self.notes = (*self.notes, left_out(d, len(held)))
        self._matrix = rows

    def _row_blocks(self) -> Iterator[NDArray[Any]]:
        step = block_rows(self._width)
        # by columns, as they are handed on: turning a block round would take as much memory again
        parts = (self._matrix[start : start + step] for start in range(0, self._matrix.shape[0], step))
        return (part.toarray(order="F") for part in parts)

    def partitions(self) -> Sequence[Source]:
        """The blocks."""
        return cut(self, "_matrix", self._matrix.shape[0], block_rows(self._width))


def held_columns(stored: NDArray[Any], d: int, declared: Declared, prefix: str) -> NDArray[np.int64] | None:
    """Which columns to hand out, ascending: all (None), or of very many those with an entry or named by the user.

    Args:
        stored: column of each entry, from 0.
        d: how many columns there are.
        declared: what the user said.
        prefix: of the names of the columns, before their number from 1.

    >>> held_columns(np.array([7, 7]), 1_000_000, Declared(units={"f3": "kg"}), "f")
    array([2, 7])
    """
    if d <= FEW:
        return None
    said = {*declared.kinds, *declared.units, *declared.roles, *declared.sensitive}
    numbers = [name.removeprefix(prefix) for name in said if name.startswith(prefix)]
    named = [int(number) - 1 for number in numbers if number.isascii() and number.isdigit() and 0 < int(number) <= d]
    return np.union1d(stored, np.array(named, dtype=np.int64)).astype(np.int64)


def packed(rows: Any, held: NDArray[np.int64]) -> csr_array:
    """Rows with the columns that are handed out, in their order; no memory is taken for others.

    Args:
        rows: in CSR form.
        held: columns, ascending; all entries are in one of them.
    """
    end = rows.indptr[-1]
    columns = np.searchsorted(held, rows.indices[:end])
    return csr_array((rows.data[:end], columns, rows.indptr), shape=(rows.shape[0], len(held)))


def left_out(d: int, held: int) -> str:
    """What there is to say of columns that are not handed out."""
    return f"Of {d:,} columns the {held:,} with an entry are read; the others hold zeros only."


def refuse_mostly_empty(shape: tuple[int, int], held: int, stored: int, name: str) -> None:
    """Refuse a table that is small only because nearly nothing is in it: each pass goes over all its cells.

    Args:
        shape: rows and columns.
        held: columns to hand out.
        stored: entries.
        name: how messages call it.
    """
    n, d = shape
    if n > max(_ROWS, _ROWS_EACH * stored) or n * held > max(_CELLS, _CELLS_EACH * stored):
        raise DataError(
            f"cannot read {name}: it has {n:,} rows of {d:,} columns with {stored:,} entries, and a sparse table has "
            f"at most {_CELLS_EACH:,} cells and {_ROWS_EACH} rows an entry, or {_CELLS:,} cells and {_ROWS:,} rows; "
            "leave out empty rows, and hash or select columns first"
        )

"""Products of triples that workers read: only vectors, stripes of them, and sums travel.

    M v      v, or a stripe of it, goes to every worker; what its triples add up to comes back, in places or whole,
             whichever is shorter, and is merged in a fixed shape
    M N      for stripes of rows of M and of N so large that products and rows fit: the rows of N go to every worker,
             and the products of its triples, added up, come back

One pass for each cell of stripes. Where there are several, workers keep their triples as numbers; where all fits there
is one pass over the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from assay.arrays import Array, Whole
from assay.engine.current import map_reduce, scattered
from assay.errors import ParameterError
from assay.summary.triples.allowance import Plan, stripes
from assay.summary.triples.cells import Triple
from assay.summary.triples.matmat import JOINED, Heap, Meeting, Sheet, added, multiplied
from assay.summary.triples.vectors import Read

if TYPE_CHECKING:
    from assay.summary.triples.triples import Triples

Summed = tuple[Whole, Whole, Array]

_DENSE = 4  # a stripe is sent whole where more than one in four of its places has a sum


@dataclass(frozen=True, slots=True, eq=False)
class StripeSums:
    """Sums in some places of a stripe.

    Attributes:
        places: (k,) ascending; None: all of them.
        values: (k,) or (size,).
        size: of the stripe.
    """

    places: Whole | None
    values: Array
    size: int

    def __add__(self, other: StripeSums) -> StripeSums:
        if self.places is None or other.places is None or _DENSE * (len(self) + len(other)) > self.size:
            whole = self.whole()
            if other.places is None:
                return StripeSums(None, whole + other.values, self.size)
            if whole is self.values:
                whole = whole.copy()
            whole[other.places] += other.values
            return StripeSums(None, whole, self.size)
        places = np.union1d(self.places, other.places)
        values = np.zeros(len(places))
        values[np.searchsorted(places, self.places)] = self.values
        values[np.searchsorted(places, other.places)] += other.values
        return StripeSums(places, values, self.size)

    def __len__(self) -> int:
        return len(self.values)

    def whole(self) -> Array:
        """(size,) zeros where there are no sums."""
        if self.places is None:
            return self.values
        made = np.zeros(self.size)
        made[self.places] = self.values
        return made


def multiplied_by(M: Triples, pieces: Any, v: Read, plan: Plan) -> Iterator[Array]:
    """M v, a stripe of rows at a time.

    Args:
        M: triples whose shape is known.
        pieces: of them, in parts that workers read.
        v: reads columns lo .. hi - 1 of the vector.
        plan: stripes of rows and columns.
    """
    blocks = pieces.map(M.numbers)
    if plan.cells(M.shape) > 1:
        blocks = scattered(blocks)
    for top, bottom in _cuts(M.shape[0], plan.rows):
        y = np.zeros(bottom - top)
        for lo, hi in _cuts(M.shape[1], plan.columns):
            y += product_in(blocks, (top, bottom), (lo, hi), v(lo, hi))
        yield y


def product_in(blocks: Any, rows: tuple[int, int], columns: tuple[int, int], z: Array, *, ones: bool = False) -> Array:
    """M v of the triples in a cell.

    Args:
        blocks: (i, j, value), in parts.
        rows: the first row and that after the last.
        columns: the first column and that after the last.
        z: v in between.
        ones: whether values are taken as 1, to count.
    """
    from assay.summary.triples._kernels import add_triples

    size = rows[1] - rows[0]

    def add(block: Triple) -> StripeSums:
        i, j, value = within(block, rows, columns)
        values = np.empty(0) if value is None or ones else value
        if size <= _DENSE * len(i):
            places, at, count = None, i - rows[0], size
        else:
            places, at = np.unique(i - rows[0], return_inverse=True)
            count = len(places)
        y = np.zeros(count)
        add_triples(at, j - columns[0], values, z, y)
        return StripeSums(places, y, size)

    return map_reduce(blocks, add, StripeSums.__add__, empty=StripeSums(None, np.zeros(size), size)).whole()


def within(block: Triple, rows: tuple[int, int], columns: tuple[int, int]) -> Triple:
    """The triples of a block that lie in a cell."""
    i, j, value = block
    there = (i >= rows[0]) & (i < rows[1]) & (j >= columns[0]) & (j < columns[1])
    return block if there.all() else (i[there], j[there], None if value is None else value[there])


def spread_product(M: Triples, pieces: Any, N: Triples, size: int, sheet: Sheet) -> None:
    """M N, a stripe of rows at a time, handed to a sheet.

    Args:
        M: the left matrix, its shape known.
        pieces: of it, in parts that workers read.
        N: the right one, in files or here.
        size: bytes allowed here and on each worker.
        sheet: keeps the result.
    """
    (rows, inner), columns = M.shape, N.shape[1]
    if 16 * (rows + inner) > size // 2:
        raise ParameterError(
            f"a product by workers keeps two numbers for each of {rows + inner:,} rows here; allow "
            f"memory={32 * (rows + inner):,}, or multiply without an engine"
        )
    left = scattered(pieces.map(M.numbers))
    elsewhere = N.spread
    right = _Here(N) if elsewhere is None else elsewhere.map(N.numbers)
    leaving = product_in(right, (0, inner), (0, columns), np.ones(columns), ones=True)
    work = product_in(left, (0, rows), (0, inner), leaving, ones=True)
    down, across = _shares(work, size // 4 // JOINED), _shares(leaving, size // 8 // JOINED)
    held: tuple[int, tuple[sparse.csr_array, Whole]] | None = None
    for top, bottom in pairwise(down):
        waiting: list[Summed] = []
        for b, (lo, hi) in enumerate(pairwise(across)):
            if held is None or held[0] != b:
                held = b, _rows_of(right, lo, hi, columns)
            waiting.append(_joined(left, (top, bottom), (lo, hi), held[1], columns))
        sheet.take(_merged(waiting, bottom, columns))


@dataclass(frozen=True, slots=True, eq=False)
class _Here:
    """Triples that are read in this process, as often as asked for."""

    triples: Triples

    def __iter__(self) -> Iterator[Triple]:
        return self.triples.blocks()


def _shares(work: Array, most: int) -> list[int]:
    """Cuts between rows so that those in between have at most so much work, or are single."""
    cuts, total = [0], np.concatenate([[0.0], np.cumsum(work)])
    while cuts[-1] < len(work):
        end = int(np.searchsorted(total, total[cuts[-1]] + most, side="right")) - 1
        cuts.append(min(max(end, cuts[-1] + 1), len(work)))
    return cuts


def _rows_of(blocks: Any, lo: int, hi: int, columns: int) -> tuple[sparse.csr_array, Whole]:
    """Rows lo .. hi - 1 of N, here; columns numbered among those that are there."""
    found = map_reduce(blocks, lambda block: [within(block, (lo, hi), (0, columns))], list.__add__, empty=[])
    none = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    parts = [none, *((i, j, np.ones(len(i)) if value is None else value) for i, j, value in found)]
    i, j, value = (np.concatenate([part[k] for part in parts]) for k in range(3))
    there, place = np.unique(j, return_inverse=True)
    made = sparse.coo_array((value, (i - lo, place)), shape=(hi - lo, len(there)))
    return made.tocsr(), there


def _joined(
    left: Any,
    rows: tuple[int, int],
    inner: tuple[int, int],
    right: tuple[sparse.csr_array, Whole],
    columns: int,
) -> Summed:
    """Products of the triples of M in a cell with rows of N, added up."""

    def multiply(block: Triple) -> Summed:
        i, j, value = within(block, rows, inner)
        value = np.ones(len(i)) if value is None else value
        return multiplied(Meeting(i, j - inner[0], value, *right))

    def merge(a: Summed, b: Summed) -> Summed:
        return _merged([a, b], rows[1], columns)

    none = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return map_reduce(left, multiply, merge, empty=none)


def _merged(parts: list[Summed], bottom: int, columns: int) -> Summed:
    """Triples of the same place added up, in the order of the parts."""
    i, j, value = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return added(Heap((0, 0), (bottom, columns), i, j, value))


def _cuts(n: int, step: int) -> Iterator[tuple[int, int]]:
    return ((a * step, min((a + 1) * step, n)) for a in range(stripes(n, step)))

"""A matrix as triples (i, j, value), kept where they are, and its products by map-reduce.

    M v      y_i  = sum_j m_ij v_j            join on j, add by i
    M N      c_ik = sum_j m_ij n_jk           join on j, add by (i, k)

Triples are read in blocks, so a matrix may be far larger than memory; where vectors are, too, the matrix is cut into
cells by stripes of rows and of columns, once, to scratch files that are removed, and cell after cell needs one stripe
of each vector only. Triples of the same (i, j) add up. What is not there is 0 and is not multiplied; NaN and infinite
values spread along what is there, as in SciPy.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, 2.3 and 5.2.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from assay.arrays import Array, Whole
from assay.data.partitions import Blocks
from assay.engine.current import is_local, map_reduce
from assay.errors import ParameterError
from assay.linalg.validate import RandomState, seed_of
from assay.summary.triples.allowance import Plan, as_bytes, plan, run_of
from assay.summary.triples.cells import TripleCells, cut
from assay.summary.triples.in_order import in_order
from assay.summary.triples.matvec import multiply
from assay.summary.triples.opening import Opened, TriplePiece, converted, opened
from assay.summary.triples.vectors import Delivery, Given, mapped, reader, scratch

if TYPE_CHECKING:
    from assay.summary.triples.power import LeadingPair

Weigh = Callable[[list[TriplePiece], Array | None], None]
Shape = tuple[int, int]
Where = str | os.PathLike[str]

_LOOKED = 1 << 20  # triples looked at together while the shape is found


@dataclass(frozen=True, eq=False, repr=False)
class Triples:
    """A matrix as (i, j, value) triples, read when asked for. Make one by `Triples.of`.

    >>> M = Triples.of(([0, 0, 1], [0, 2, 1], [1.0, 2.0, 3.0]))
    >>> M.shape, M @ [1.0, 10.0, 100.0]
    ((2, 3), array([201.,  30.]))
    """

    _opened: Opened
    _shape: Shape | None = None
    _turned: bool = False
    _kept: Any = field(default=None, repr=False)  # what must live as long as the triples do

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        shape: Shape | None = None,
        row: str = "i",
        column: str = "j",
        value: str | None = None,
    ) -> Triples:
        """Triples from wherever they are.

        Args:
            data: path of a Parquet file, a folder or pattern of them, a list of paths, anything else that `assay.read`
                opens, such as a frame or an Arrow data set; arrays (i, j) or (i, j, value); a SciPy sparse matrix.
            shape: rows and columns; found in a pass of its own when not given and first needed.
            row: column of the row indices, whole numbers from 0.
            column: column of the column indices.
            value: column of the values; "value" when not given, and if there is none every value is 1.
        """
        found = opened(data, row, column, value)
        if shape is not None:
            shape = _as_shape(shape)
            if found.shape is not None and shape != found.shape:
                raise ParameterError(f"the matrix has shape {found.shape}, not {shape}; leave shape out")
        return cls(found, shape or found.shape)

    @cached_property
    def shape(self) -> Shape:
        """Rows and columns: as given, or one more than the largest indices."""
        return self._shape if self._shape is not None else self._looked[:2]

    def counted(self) -> int:
        """How many triples there are, counted where the data do not say it."""
        return self._looked[2] if self.count is None else self.count

    @cached_property
    def _looked(self) -> tuple[int, int, int]:
        """One more than the largest indices, and the number of triples: one pass."""

        def most(pieces: list[TriplePiece]) -> tuple[int, int, int]:
            i, j, _ = self._numbers(pieces, None)
            return int(i.max(initial=-1)) + 1, int(j.max(initial=-1)) + 1, len(i)

        def larger(a: tuple[int, int, int], b: tuple[int, int, int]) -> tuple[int, int, int]:
            return max(a[0], b[0]), max(a[1], b[1]), a[2] + b[2]

        spread = self.spread
        if spread is not None:
            return map_reduce(spread, most, larger, empty=(0, 0, 0))
        found = [(0, 0, 0)]
        in_order(self._opened.pieces(_LOOKED), most, found.append)
        return reduce(larger, found)

    @property
    def spread(self) -> Blocks[list[TriplePiece]] | None:
        """Pieces that the workers of the engine in use read; None where triples are read here."""
        parted = self._opened.parted
        return None if is_local() or parted is None or not parted.portable else parted

    def numbers(self, pieces: list[TriplePiece]) -> tuple[Whole, Whole, Array | None]:
        """Pieces as numbers inside the shape, if it is known."""
        return self._numbers(pieces, self._shape)

    @property
    def T(self) -> Triples:  # noqa: N802  # NumPy's and SciPy's word
        """The transposed matrix; nothing is read."""
        turned = replace(self, _shape=None if self._shape is None else self._shape[::-1], _turned=not self._turned)
        if "shape" in self.__dict__:  # found already
            turned.__dict__["shape"] = self.shape[::-1]
        return turned

    @property
    def declared(self) -> bool:
        """Whether the shape was given, not found."""
        return self._shape is not None

    @property
    def valued(self) -> bool:
        """Whether triples have values; otherwise each is 1."""
        return self._opened.valued

    def with_shape(self, shape: Shape) -> Triples:
        """The same triples in a matrix of another shape."""
        return replace(self, _shape=_as_shape(shape))

    def blocks(self, most: int = 65_536) -> Iterator[tuple[Whole, Whole, Array | None]]:
        """The triples as arrays of at most so many; values None where all are 1."""
        for pieces in self._opened.pieces(most):
            yield self.numbers(pieces)

    def dot(self, v: Given, *, memory: int | str = "1 GB", out: Where | None = None) -> Array:
        """M v.

        Args:
            v: (columns,) an array, a mapped array, or the path of a .npy file, which is read in stripes.
            memory: what the product may take beside what is in memory already, in bytes or as "200 MB".
            out: path of a .npy file for the result.

        Returns:
            (rows,) an array where it fits; otherwise, and where `out` is given, an array mapped from a file. Without
            `out` that file goes with the array. The same bits for any number of threads; another `memory` may add in
            another order.
        """
        size, shape = as_bytes(memory), self.shape
        read = reader(v, shape[1], "v")
        whole = 8 * sum(shape) <= size // 2
        pieces = self.spread
        with Delivery(shape[0], in_memory=whole or 8 * shape[0] <= size // 4, out=out) as delivery:
            if pieces is not None:
                from assay.summary.triples.spread import multiplied_by

                stripes = Plan(max(shape[0], 1), max(shape[1], 1), 0) if whole else plan(shape, size)
                for stripe in multiplied_by(self.with_shape(shape), pieces, read, stripes):
                    delivery.take(stripe)
            elif whole:
                delivery.take(self._added(read(0, shape[1]), run_of(size)))
            else:
                with self.cells(plan(shape, size)) as cells:
                    multiply(cells, read, lambda lo, hi, part: part, delivery.take)
            made = delivery.finish()
        return made if made is not None else mapped(out)

    def product(self, other: Any, *, memory: int | str = "1 GB", out: Where | None = None) -> Triples:
        """M N, as triples.

        Args:
            other: N, as `Triples` or a SciPy sparse matrix, with a row for each column of M.
            memory: what the product may take beside what is in memory already, in bytes or as "200 MB".
            out: path of a Parquet file for the result, with the columns i, j and value.

        Returns:
            One triple for each (i, k) that any products go to, also where they add up to 0, in memory where they
            fit, otherwise in a file, which without `out` goes with the triples.
        """
        from assay.summary.triples.matmat import product

        N = other if isinstance(other, Triples) else Triples.of(other)
        if self.shape[1] != N.shape[0]:
            raise ParameterError(
                f"a matrix with {self.shape[1]:,} columns cannot be multiplied with one of {N.shape[0]:,} rows; give "
                "shape= to matrices whose last rows or columns are empty"
            )
        return product(self, N, as_bytes(memory), out)

    def power_iteration(
        self,
        *,
        memory: int | str = "1 GB",
        tol: float = 1e-10,
        max_iter: int = 10_000,
        shift: float = 0.0,
        random_state: RandomState = 0,
        out: Where | None = None,
    ) -> LeadingPair:
        """The largest eigenvalue of a symmetric matrix and its vector, by repeated products.

        It converges like q^t, q the second largest modulus over the largest, and needs that gap; a shift c iterates
        M + c I. Where the eigenvalue of largest modulus is negative the shift is set to its modulus.

        Args:
            memory: what it may take, in bytes or as "200 MB"; vectors are kept in files and read in stripes.
            tol: length of M u - value u, as a share of the largest modulus met, that is enough.
            max_iter: most products for one shift.
            shift: c.
            random_state: of the vector it begins with: a whole number from 0 on, None for 0, or a generator of
                NumPy's.
            out: path of a .npy file for the vector.
        """
        from assay.summary.triples.power import power_iteration

        return power_iteration(self, as_bytes(memory), tol, max_iter, shift, seed_of(random_state), out)

    def to_scipy(self) -> sparse.csr_array:
        """The matrix in memory, triples of the same place added up."""
        i, j, value = self.gathered(None)
        return sparse.csr_array(sparse.coo_array((value, (i, j)), shape=self.shape))

    def gathered(self, most: int | None) -> Any:
        """All triples as three arrays; None where they are more than `most`."""
        parts: list[tuple[Whole, Whole, Array]] = []
        count = 0
        for i, j, value in self.blocks(_LOOKED if most is None else max(1, min(_LOOKED, most + 1))):
            count += len(i)
            if most is not None and count > most:
                return None
            parts.append((i, j, np.ones(len(i)) if value is None else value))
        if not parts:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        return tuple(np.concatenate([part[k] for part in parts]) for k in range(3))

    def __matmul__(self, other: Any) -> Any:
        """M v for a vector, M N for triples or a sparse matrix, with the memory that `dot` and `product` take."""
        if isinstance(other, Triples) or sparse.issparse(other):
            return self.product(other)
        return self.dot(other)

    @contextmanager
    def cells(self, stripes: Plan) -> Iterator[TripleCells]:
        """The matrix cut into cells in a scratch folder, removed at the end.

        Args:
            stripes: sizes of the stripes.
        """
        with scratch() as folder:
            yield self.cut(stripes, folder / "cells")

    def cut(self, stripes: Plan, path: Path, *, weigh: Weigh | None = None) -> TripleCells:
        """Write the matrix in cells.

        Args:
            stripes: sizes of the stripes.
            path: of the file to be made.
            weigh: looks at the triples of a list of pieces and may refuse them; in worker threads.
        """
        shape = self.shape

        def convert(pieces: list[TriplePiece]) -> tuple[Whole, Whole, Array | None]:
            found = self._numbers(pieces, shape)
            if weigh is not None:
                weigh(pieces, found[2])
            return found

        return cut(self._opened.pieces(stripes.run), convert, shape, stripes, path, valued=self.valued)

    @property
    def count(self) -> int | None:
        """How many triples there are, where that is known without reading them."""
        return self._opened.count

    def _numbers(self, pieces: list[TriplePiece], shape: Shape | None) -> tuple[Whole, Whole, Array | None]:
        if not self._turned:
            return converted(pieces, shape)
        j, i, value = converted(pieces, None if shape is None else shape[::-1])
        return i, j, value

    def _added(self, v: Array, run: int) -> Array:
        """M v, where both vectors fit: blocks are checked by the workers and added in order."""
        from assay.summary.triples._kernels import add_triples

        shape = self.shape
        y, none = np.zeros(shape[0]), np.empty(0)

        def add(found: tuple[Whole, Whole, Array | None]) -> None:
            add_triples(found[0], found[1], none if found[2] is None else found[2], v, y)

        in_order(self._opened.pieces(run), lambda pieces: self._numbers(pieces, shape), add)
        return y

    def __repr__(self) -> str:
        shape = "shape not looked for yet" if self._shape is None else f"{self._shape[0]:,} x {self._shape[1]:,}"
        many = "" if self.count is None else f", {self.count:,} triples"
        return f"Triples({shape}{many})"


def _as_shape(shape: Any) -> Shape:
    try:
        rows, columns = shape
        if rows == int(rows) >= 0 and columns == int(columns) >= 0:
            return int(rows), int(columns)
    except (TypeError, ValueError):
        pass
    raise ParameterError(f"shape is (rows, columns), whole numbers of at least 0; got {shape!r}")

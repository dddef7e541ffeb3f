"""A symmetric matrix as the square tiles on and above its diagonal: half the numbers, made and applied in threads.

Below the diagonal a tile counts as its transpose. A product reads each tile once, for the rows and for the columns it
stands for, so it takes half the memory traffic of the whole matrix too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.engine.local import in_threads
from assay.linalg.one_thread import one_blas_thread

SIDE = 1000  # rows of a tile: 8 MB, large enough for BLAS, small enough for the caches


@dataclass(frozen=True, slots=True, eq=False)
class SymmetricTiles:
    """A symmetric (n, n) matrix; products are the same to the last bit however many threads there are.

    Attributes:
        n: Rows and columns.
        places: The rows and columns of each tile.
        tiles: Their values.

    >>> x = np.arange(3.0)
    >>> outer = SymmetricTiles.of(3, lambda rows, cols: np.multiply.outer(x[rows], x[cols]))
    >>> outer @ np.ones(3)
    array([0., 3., 6.])
    """

    n: int
    places: list[tuple[slice, slice]]
    tiles: list[Array]

    @staticmethod
    def of(n: int, tile: Callable[[slice, slice], Array]) -> SymmetricTiles:
        """Make the tiles.

        Args:
            n: Rows and columns.
            tile: From (rows, columns) to the values there; called from several threads, with rows equal to columns on
                the diagonal, where its values must be symmetric.
        """
        parts = [slice(start, min(start + SIDE, n)) for start in range(0, n, SIDE)]
        places = [(rows, cols) for i, rows in enumerate(parts) for cols in parts[i:]]
        with one_blas_thread():
            return SymmetricTiles(n, places, in_threads(lambda place: tile(*place), places))

    def __matmul__(self, V: Array) -> Array:
        """The product with (n,) or (n, p)."""

        def halves(i: int) -> tuple[Array, Array | None]:
            rows, cols = self.places[i]
            return self.tiles[i] @ V[cols], None if rows == cols else self.tiles[i].T @ V[rows]

        product = np.zeros(V.shape)
        with one_blas_thread():
            found = in_threads(halves, range(len(self.tiles)))
        for (rows, cols), (right, left) in zip(self.places, found, strict=True):
            product[rows] += right
            if left is not None:
                product[cols] += left
        return product

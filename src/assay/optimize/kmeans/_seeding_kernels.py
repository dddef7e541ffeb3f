"""Compiled loops of the starts of k-means. Imported only when they run: numba takes a second to load."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit
from assay.optimize.kmeans._lloyd_kernels import SUMS, Rows, eight_products, gather, square_of, square_of_difference

_CANCELLED = 1000  # a sum so many times smaller than its terms has lost too many digits of float32


@njit(cache=True, nogil=True)
def lay_out(rows: Rows, lo: int, hi: int, tiles: Any, sizes: Any) -> None:
    """Put z of rows lo to hi in tiles (n', d') and their squared norms in sizes (n',)."""
    index = np.empty(1, dtype=np.int64)
    for i in range(lo, hi):
        index[0] = i
        gather(rows, index, 1, tiles[i : i + 1])
        sizes[i] = square_of(tiles[i])


@njit(cache=True, nogil=True, fastmath=SUMS)
def lowered(tiles: Any, sizes: Any, near: Any, candidates: Any, lo: int, hi: int, squares: Any) -> None:
    """Squared distances to the nearest centre, were a candidate added to the centres.

    They come from products, and from differences where those cancel.

    Args:
        tiles, sizes: of all rows, from `lay_out`; n' is a multiple of 4.
        near: (n',) squared distances to the nearest centre so far.
        candidates: (m, d') z of an even number of rows, as a tile has them.
        lo, hi: which rows; multiples of 4.
        squares: (m, n'), set.
    """
    own = np.empty(candidates.shape[0], dtype=candidates.dtype)
    for c in range(own.size):
        own[c] = square_of(candidates[c])
    for t in range(lo, hi, 4):
        for c in range(0, candidates.shape[0], 2):
            products = eight_products(tiles, t, candidates, c)
            for half in range(2):
                for u in range(4):
                    i = t + u
                    both = sizes[i] + own[c + half]
                    square = both - 2 * products[4 * half + u]
                    if square < both / _CANCELLED:
                        square = square_of_difference(tiles[i], candidates[c + half])
                    squares[c + half, i] = min(square, near[i])

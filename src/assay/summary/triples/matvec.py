"""Products of a matrix in cells with a vector: y_a = sum_b M_ab v_b, a stripe of rows at a time.

Stripes of rows are the blocks of the engine; each adds its cells in the order of the column stripes, and in a cell the
triples in the order they came. So the bits depend on the stripes of columns, and on nothing else.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, 2.3.1 and 5.2 (the block-stripe update).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from assay.arrays import Array
from assay.summary.triples.cells import TripleCells
from assay.summary.triples.in_order import in_order
from assay.summary.triples.vectors import Read

Part = TypeVar("Part")

EXACT = 16  # bytes of a row in an exact product


def multiply(
    cells: TripleCells,
    v: Read,
    finish: Callable[[int, int, Array], Part],
    take: Callable[[Part], object],
    *,
    exact: bool = False,
) -> None:
    """M v, stripe by stripe.

    Args:
        cells: the matrix.
        v: reads columns lo .. hi - 1 of the vector.
        finish: from the first row, the row after the last and M v in between to what is made of it; in worker threads.
        take: is handed what `finish` made, in the order of the rows.
        exact: add by Kahan's rule: then rounding is twice the unit of each sum of |terms|, however many there are.
    """
    from assay.summary.triples import _kernels

    kernels: Any = _kernels

    def stripe(a: int) -> Part:
        lo, hi = cells.rows(a)
        y = np.zeros(hi - lo)
        rest = np.zeros(hi - lo if exact else 0)
        for b in range(cells.across):
            if not cells.count(a, b):
                continue
            z = v(*cells.columns(b))
            for ends, values in cells.read(a, b):
                if exact:
                    kernels.add_exactly(ends, values, z, y, rest)
                else:
                    kernels.add_records(ends, values, z, y)
        return finish(lo, hi, y)

    in_order(range(cells.down), stripe, take)

"""The types of arrays that pass between packages, named once; and strips of columns of wide ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]  # positions of rows, columns or groups
Whole: TypeAlias = NDArray[np.int64]  # counts, and positions in compiled loops
Mask: TypeAlias = NDArray[np.bool_]


def column_strips(shape: tuple[int, ...], numbers: int) -> Iterator[slice]:
    """Slices of the columns of an (n, d) array, of so many numbers at a time or one column.

    >>> list(column_strips((3, 5), 6))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    n, d = shape
    step = max(numbers // max(n, 1), 1)
    return (slice(start, start + step) for start in range(0, d, step))

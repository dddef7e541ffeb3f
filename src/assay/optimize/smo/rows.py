"""What the SMO solver asks of a kernel: its diagonal, and rows of values when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array, Whole
from assay.errors import DataError
from assay.optimize.validate import finite

Values: TypeAlias = NDArray[Any]  # float32 or float64
Fill: TypeAlias = Callable[[Whole, Values], None]


class KernelRows(Protocol):
    """A symmetric (n, n) matrix K that is computed by rows.

    Attributes:
        diagonal: (n,) the values K_ii.
        threads: whether `fill` may be called from several threads at once.
    """

    diagonal: Array
    threads: bool

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        """From (rows, out) to nothing: writes K[rows][:, columns] to `out`, of this dtype. None means all columns.

        Rows and columns rise.
        """
        ...

    def error(self, dtype: np.dtype[Any]) -> float:
        """Typical size (root mean square) of the error of a value of this dtype."""
        ...


class RidgedRows:
    """A kernel matrix with something added to its diagonal.

    Args:
        kernel: the matrix, by rows.
        ridge: (n,) what is added.

    >>> rows = RidgedRows(MatrixRows([[1.0, 0.5], [0.5, 2.0]]), np.array([1.0, 3.0]))
    >>> rows.diagonal
    array([2., 5.])
    """

    def __init__(self, kernel: KernelRows, ridge: Array) -> None:
        self._kernel, self._ridge = kernel, ridge
        self.diagonal: Array = kernel.diagonal + ridge
        self.threads = kernel.threads

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        """Rows of the matrix, their own entries raised."""
        inner, place = self._kernel.among(columns, dtype), np.arange(len(self.diagonal)) if columns is None else columns

        def fill(rows: Whole, out: Values) -> None:
            inner(rows, out)
            at = np.minimum(np.searchsorted(place, rows), len(place) - 1)
            own = np.flatnonzero(place[at] == rows)
            out[own, at[own]] += self._ridge[rows[own]]

        return fill

    def error(self, dtype: np.dtype[Any]) -> float:
        """That of the matrix: what is added is rounded with it."""
        return self._kernel.error(dtype)


class MatrixRows:
    """A kernel matrix at hand.

    Args:
        K: (n, n), symmetric.

    >>> rows = MatrixRows([[1.0, 0.5], [0.5, 2.0]])
    >>> rows.diagonal
    array([1., 2.])
    """

    threads = True

    def __init__(self, K: ArrayLike) -> None:
        self.values = finite(K, "K", 2)
        if self.values.shape[0] != self.values.shape[1]:
            raise DataError(f"K must be square, has shape {self.values.shape}.")
        self.diagonal = np.diag(self.values).copy()

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        """Rows of K, all of their columns or some."""

        def fill(rows: Whole, out: Values) -> None:
            out[:] = self.values[rows] if columns is None else self.values[np.ix_(rows, columns)]

        return fill

    def error(self, dtype: np.dtype[Any]) -> float:
        """That of rounding a value as large as those on the diagonal."""
        return float(np.finfo(dtype).eps) / 4 * float(np.sqrt(np.mean(self.diagonal**2)))

"""A kernel from a function of one's own, with its values checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.linalg.validate import as_symmetric
from assay.summary.distances.distances import as_rows, both_rows


@dataclass(frozen=True, slots=True, repr=False)
class FunctionKernel:
    """Any function as a kernel.

    Args:
        function: Called with float64 rows.
        takes: "matrices": f(X, Y) gives (n, m) values of all rows of X with all of Y; "pairs": f(A, B) gives (n,)
            values of row i of A with row i of B; "rows": f(x, y) gives one number (slow).

    >>> def overlap(X, Y):
    ...     return np.minimum(X[:, None], Y).sum(axis=2)
    >>> FunctionKernel(overlap)([[1.0, 2.0]], [[3.0, 1.0]])
    array([[2.]])
    """

    function: Callable[[Any, Any], Any]
    takes: Literal["matrices", "pairs", "rows"] = "matrices"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"a kernel function must be callable, is {self.function!r}.")
        if self.takes not in ("matrices", "pairs", "rows"):
            raise ParameterError(f'takes must be "matrices", "pairs" or "rows", is {self.takes!r}.')

    @property
    def name(self) -> str:
        """What the function calls itself."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __repr__(self) -> str:
        return f"FunctionKernel({self.name}, takes={self.takes!r})"

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """(n, m) values between rows; of one set of rows with itself they must be symmetric."""
        first, second = both_rows(X, Y)
        n, m = len(first), len(second)
        if self.takes == "matrices":
            values = self._checked(self.function(first, second), (n, m))
        else:
            i, j = np.divmod(np.arange(n * m), m)
            values = self._of_pairs(first[i], second[j]).reshape(n, m)
        return as_symmetric(values, name=f"the matrix of kernel {self.name}") if second is first else values

    def diagonal(self, X: Any) -> Array:
        """(n,) values k(x, x)."""
        X = as_rows(X)
        if self.takes != "matrices":
            return self._of_pairs(X, X)
        parts = [X[start : start + 64] for start in range(0, len(X), 64)]
        return np.concatenate([np.diag(self._checked(self.function(p, p), (len(p), len(p)))) for p in parts])

    def resolve(self, X: Any) -> FunctionKernel:
        """Itself: nothing depends on the data."""
        return self

    def _of_pairs(self, A: Array, B: Array) -> Array:
        if self.takes == "rows":
            return self._checked([self.function(a, b) for a, b in zip(A, B, strict=True)], (len(A),))
        return self._checked(self.function(A, B), (len(A),))

    def _checked(self, values: Any, shape: tuple[int, ...]) -> Array:
        try:
            array = np.array(values, dtype=np.float64)
        except (TypeError, ValueError) as reason:
            raise DataError(f"kernel {self.name} must give numbers: {reason}.") from None
        if array.shape != shape:
            raise DataError(
                f"kernel {self.name} must give values of shape {shape}, gave {array.shape}. A function of all rows "
                'takes="matrices", of rows in pairs takes="pairs", of two single rows takes="rows".'
            )
        if not np.isfinite(array).all():
            place = tuple(int(p) for p in np.argwhere(~np.isfinite(array))[0])
            raise DataError(f"kernel {self.name} must give finite values, gave {array[place]} at {place}.")
        return array

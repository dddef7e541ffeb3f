"""Kernels: k(x, y) = <phi(x), phi(y)>, as values that can be compared, printed and given to a model as an option."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.linalg.validate import as_matrix, as_symmetric
from assay.summary.distances.distances import as_rows, both_rows, squared_distances, unit_scale

SAMPLE = 1000  # rows whose distances give the default width
_HALF = 1e-12  # share of a sum of weights that rounding may take
_TINY = 1e-290  # products below this have lost digits or are zero


@runtime_checkable
class Kernel(Protocol):
    """What a Gram matrix needs of a kernel."""

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """(n, m) values between the rows of X and of Y; of X with itself when Y is not given."""
        ...

    def diagonal(self, X: Any) -> Array:
        """(n,) the values k(x, x)."""
        ...

    def resolve(self, X: Any) -> Kernel:
        """The same kernel with defaults that depend on the data filled in from the training rows."""
        ...


@dataclass(frozen=True, slots=True)
class Linear:
    """k(x, y) = x . y

    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """(n, m) values between rows."""
        X, Y = both_rows(X, Y)
        return _products(X, Y, "the linear kernel")

    def diagonal(self, X: Any) -> Array:
        """(n,) squared lengths of the rows."""
        X = as_rows(X)
        with np.errstate(over="ignore"):
            return _usable(np.einsum("ij,ij->i", X, X), X, X, "the linear kernel")

    def resolve(self, X: Any) -> Linear:
        """Itself: nothing depends on the data."""
        return self


@dataclass(frozen=True, slots=True)
class Polynomial:
    """k(x, y) = (gamma x . y + coef0)^degree

    Args:
        degree: A whole number of at least 1.
        coef0: Not negative, otherwise it would not be a kernel.
        gamma: Positive.

    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int = 2
    coef0: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or not isinstance(self.degree, int | np.integer) or self.degree < 1:
            raise ParameterError(f"degree must be a whole number of at least 1, is {self.degree!r}.")
        if not (np.isfinite(self.coef0) and self.coef0 >= 0):
            raise ParameterError(f"coef0 must be finite and not negative, is {self.coef0!r}.")
        _positive(self.gamma, "gamma")

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """(n, m) values between rows."""
        X, Y = both_rows(X, Y)
        return self._power(_products(X, Y, repr(self)))

    def diagonal(self, X: Any) -> Array:
        """(n,) values k(x, x)."""
        return self._power(Linear().diagonal(X))

    def resolve(self, X: Any) -> Polynomial:
        """Itself: nothing depends on the data."""
        return self

    def _power(self, products: Array) -> Array:
        products *= self.gamma
        products += self.coef0
        with np.errstate(over="ignore"):
            products **= self.degree
        if not np.isfinite(products).all():
            raise DataError(f"{self!r} overflows on these rows. Standardise the columns or lower the degree.")
        return products


@dataclass(frozen=True, slots=True)
class Gaussian:
    """k(x, y) = exp(-d^2 / (2 sigma^2)), d the distance between x and y

    Args:
        sigma: Positive. None takes the median distance between training rows (of at most 1000 of them, zeros left
            out; 1 when all rows are equal, where every sigma gives the same matrix).

    >>> Gaussian(sigma=1.0)([[0.0]], [[1.0], [0.0]]).round(4)
    array([[0.6065, 1.    ]])
    """

    sigma: float | None = None

    def __post_init__(self) -> None:
        if self.sigma is not None:
            _positive(self.sigma, "sigma")

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """(n, m) values between rows, in [0, 1]; exactly 1 for equal rows."""
        sigma = self._width()
        X, Y = both_rows(X, Y)
        return _bell(squared_distances(X, Y, sigma))

    def diagonal(self, X: Any) -> Array:
        """(n,) ones."""
        return np.ones(len(as_rows(X)))

    def resolve(self, X: Any) -> Gaussian:
        """With sigma filled in from the training rows."""
        return self if self.sigma is not None else Gaussian(median_distance(as_rows(X)))

    def of_distances(self, distances: npt.ArrayLike) -> Array:
        """exp(-d^2 / (2 sigma^2)) for distances already known; sigma None takes the median of those above zero."""
        d = np.asarray(distances, dtype=np.float64)
        apart = d[d > 0]
        sigma = self.sigma or (float(np.median(apart)) if apart.size else 1.0)
        with np.errstate(over="ignore", under="ignore"):
            return _bell((d / sigma) ** 2)

    def _width(self) -> float:
        if self.sigma is None:
            raise ParameterError(
                "Gaussian() has no sigma yet. Call resolve(X) with the training rows, or give Gaussian(sigma=...)."
            )
        return self.sigma


@dataclass(frozen=True, slots=True)
class Precomputed:
    """The values are given: instead of rows, a matrix of kernel values.

    >>> Precomputed()([[1.0, 0.5], [0.5, 1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """The values themselves; symmetric when Y is not given, else one column for each of Y's rows."""
        if Y is None:
            return as_symmetric(X, name="the kernel matrix")
        values = as_matrix(X, name="the kernel matrix")
        if values.shape[1] != len(Y):
            raise DataError(
                f"the kernel matrix must have one column for each of the {len(Y)} training rows, has {values.shape[1]}."
            )
        return values

    def diagonal(self, X: Any) -> Array:
        """(n,) the diagonal of the given matrix."""
        return np.diag(self(X)).copy()

    def resolve(self, X: Any) -> Precomputed:
        """Itself: nothing depends on the data."""
        return self


_NAMED: dict[str, Callable[[], Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "gaussian": Gaussian,
    "precomputed": Precomputed,
}


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


def as_kernel(kernel: Any) -> Kernel:
    """A kernel from a kernel, its name or a function of two sets of rows.

    >>> as_kernel("linear")
    Linear()
    """
    if isinstance(kernel, str) and kernel in _NAMED:
        return _NAMED[kernel]()
    if isinstance(kernel, Kernel) and not isinstance(kernel, type):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel)
    names = ", ".join(f'"{name}"' for name in _NAMED)
    raise ParameterError(f"kernel must be one such as Gaussian(), a name ({names}) or a function, is {kernel!r}.")


def resolved(kernel: Kernel, X: Array, weights: Array | None = None) -> Kernel:
    """The kernel with its defaults filled in from rows that count by their weights: a row of weight 2 as two.

    >>> resolved(Gaussian(), np.array([[0.0], [3.0], [5.0]]), np.array([2.0, 2.0, 1.0]))
    Gaussian(sigma=3.0)
    """
    if weights is not None and isinstance(kernel, Gaussian) and kernel.sigma is None:
        return Gaussian(median_distance(X, weights=weights))
    return kernel.resolve(X)


def median_distance(X: Array, rows: int = SAMPLE, weights: Array | None = None) -> float:
    """The median of the distances above zero between at most `rows` rows, drawn with a fixed seed; 1 if there is none.

    Args:
        X: (n, d).
        rows: most rows looked at.
        weights: (n,) positive; a pair counts by the product of its weights.

    >>> median_distance(np.array([[0.0], [3.0], [3.0]]))
    3.0
    """
    if len(X) > rows:
        drawn = np.sort(np.random.default_rng(0).choice(len(X), rows, replace=False))
        X, weights = X[drawn], None if weights is None else weights[drawn]
    scale, pairs = unit_scale(X), np.triu_indices(len(X), 1)
    squares = squared_distances(X, unit=1 / scale)[pairs]
    apart = np.sqrt(squares[squares > 0])
    if not apart.size:
        return 1.0
    if weights is None:
        return float(np.median(apart) / scale)
    return weighted_median(apart, (weights[pairs[0]] * weights[pairs[1]])[squares > 0]) / scale


def weighted_median(values: Array, weights: Array) -> float:
    """The median of values that count by their weights: with whole numbers, that of the values repeated so often.

    >>> weighted_median(np.array([1.0, 2.0, 5.0]), np.array([2.0, 1.0, 1.0]))
    1.5
    """
    order = np.argsort(values, kind="stable")
    below, at = np.cumsum(weights[order]), values[order]
    half = 0.5 * below[-1]
    first, last = np.searchsorted(below, [half * (1.0 - _HALF), half * (1.0 + _HALF)])
    return float(0.5 * (at[first] + at[min(last, len(at) - 1)]))


def _products(X: Array, Y: Array, who: str) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return _usable(X @ Y.T, X, Y, who)


def _usable(products: Array, X: Array, Y: Array, who: str) -> Array:
    """Refuse products that left the range of floating point numbers on either side."""
    largest = max(X.max(), -X.min()), max(Y.max(), -Y.min())
    if not np.isfinite(products).all():
        raise DataError(f"{who} overflows on values as large as {max(largest):g}. Rescale the columns.")
    if 0 < max(largest) < np.sqrt(_TINY):  # its square is not asked, as it may be zero itself
        raise DataError(f"{who} underflows: no value is larger than {max(largest):g}. Rescale the columns.")
    return products


def _bell(squares: Array) -> Array:
    """exp(-squares / 2), in place."""
    squares *= -0.5
    with np.errstate(under="ignore"):
        return np.exp(squares, out=squares)


def _positive(value: float, name: str) -> None:
    if isinstance(value, bool) or not (np.isfinite(value) and value > 0):
        raise ParameterError(f"{name} must be a positive number, is {value!r}.")

"""Expansions of columns into features, as values that can be compared, printed, saved and given to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb
from typing import Any, Protocol, runtime_checkable

import numpy as np

from assay.arrays import Array
from assay.errors import ParameterError
from assay.linalg.validate import RandomState, seed_of

_MOST = 20_000  # features of one side


@runtime_checkable
class Features(Protocol):
    """What a model needs of an expansion; row i of the result depends on row i alone."""

    def __call__(self, X: Any) -> Array:
        """(n, D) features of (n, d) rows."""
        ...

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """(D,) how the features are called."""
        ...


@dataclass(frozen=True, slots=True)
class Powers:
    """Each column and its powers: x, x^2, ... up to a degree.

    Args:
        degree: the highest power, at least 1.

    >>> Powers(3)([[2.0, 3.0]])
    array([[ 2.,  4.,  8.,  3.,  9., 27.]])
    >>> Powers(2).names(["x", "y"])
    ('x', 'x^2', 'y', 'y^2')
    """

    degree: int = 3

    def __post_init__(self) -> None:
        _at_least_one(self.degree, "degree")

    def __call__(self, X: Any) -> Array:
        """(n, d degree) powers, those of a column beside each other."""
        rows = np.asarray(X, dtype=np.float64)
        powers: Array = rows[:, :, None] ** np.arange(1, self.degree + 1)
        return powers.reshape(len(rows), -1)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Names such as x and x^2."""
        return tuple(_power(name, j) for name in columns for j in range(1, self.degree + 1))


@dataclass(frozen=True, slots=True)
class Products:
    """All products of columns up to a degree: x, y, x^2, x y, y^2, ...

    Args:
        degree: the most factors in a product, at least 1.

    >>> Products(2)([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    >>> Products(2).names(["x", "y"])
    ('x', 'y', 'x^2', 'x y', 'y^2')
    """

    degree: int = 2

    def __post_init__(self) -> None:
        _at_least_one(self.degree, "degree")

    def __call__(self, X: Any) -> Array:
        """(n, D) products, by degree."""
        rows = np.asarray(X, dtype=np.float64)
        columns = rows.T
        return np.column_stack([np.prod(columns[list(which)], axis=0) for which in self._terms(len(columns))])

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Names such as x y and x^2 y."""
        return tuple(
            " ".join(_power(columns[i], which.count(i)) for i in sorted(set(which)))
            for which in self._terms(len(columns))
        )

    def _terms(self, d: int) -> list[tuple[int, ...]]:
        number = comb(d + self.degree, self.degree) - 1
        if number > _MOST:
            raise ParameterError(
                f"{self!r} of {d} columns makes {number} features, more than {_MOST}: lower the degree, or take "
                "Powers(...) or RandomFourier(...)"
            )
        return [which for j in range(1, self.degree + 1) for which in combinations_with_replacement(range(d), j)]


@dataclass(frozen=True, slots=True)
class RandomFourier:
    """Random waves whose inner products approach the Gaussian kernel: sqrt(2 / D) cos(x . w + b).

    Args:
        n_components: how many waves, D.
        sigma: of the kernel exp(-d^2 / (2 sigma^2)), in the units of the columns.
        random_state: another number, other waves; None for 0, and a generator of NumPy's to draw one.

    >>> RandomFourier(2, random_state=1)([[0.0], [1.0]]).shape
    (2, 2)

    References:
        Rahimi and Recht, Random features for large-scale kernel machines, 2007.
    """

    n_components: int = 100
    sigma: float = 1.0
    random_state: RandomState = 0

    def __post_init__(self) -> None:
        _at_least_one(self.n_components, "n_components")
        if isinstance(self.sigma, bool) or not (np.isfinite(self.sigma) and self.sigma > 0):
            raise ParameterError(f"sigma must be a positive number, is {self.sigma!r}")
        object.__setattr__(self, "random_state", seed_of(self.random_state))  # every call makes the same waves

    def __call__(self, X: Any) -> Array:
        """(n, D) values of the waves."""
        rows = np.asarray(X, dtype=np.float64)
        frequencies, phases = _waves(rows.shape[1], self.n_components, seed_of(self.random_state))
        return np.asarray(np.cos(rows @ (frequencies / self.sigma) + phases) * np.sqrt(2.0 / self.n_components))

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """wave0, wave1, ..."""
        return tuple(f"wave{i}" for i in range(self.n_components))


@lru_cache(maxsize=8)
def _waves(d: int, number: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((d, number)), rng.uniform(0.0, 2.0 * np.pi, number)


def as_features(features: Any) -> Features:
    """An expansion, or a refusal.

    >>> as_features(Powers(2))
    Powers(degree=2)
    """
    if isinstance(features, Features) and not isinstance(features, type):
        return features
    raise ParameterError(f"features is an expansion such as Powers(3) or Products(2), is {features!r}")


def _power(name: str, j: int) -> str:
    return name if j == 1 else f"{name}^{j}"


def _at_least_one(value: int, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ParameterError(f"{name} must be a whole number of at least 1, is {value!r}")

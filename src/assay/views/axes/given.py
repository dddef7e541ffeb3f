"""Numbers as they are given to a figure: checked once, with the rule and the place where they break it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError

LARGEST = 1e300  # a range of larger numbers has no width that a browser can compute with


def vector(name: str, values: ArrayLike, n: int | None = None, *, what: str = "row") -> Array:
    """Take one finite number per row, or per whatever the figure counts.

    Args:
        name: of the argument.
        values: (n,) numbers.
        n: how many there have to be; any number by default.
        what: they are counted by.

    >>> vector("truth", [1, 2], 2)
    array([1., 2.])
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or (n is not None and len(numbers) != n):
        wanted = "" if n is None else f" for {n} {what}s"
        raise ParameterError(f"{name} has one number per {what}; got an array of shape {numbers.shape}{wanted}")
    return _drawable(name, numbers)


def matrix(name: str, values: ArrayLike, shape: tuple[int | None, int | None] = (None, None)) -> Array:
    """Take a table of finite numbers.

    Args:
        name: of the argument.
        values: the table.
        shape: lines and columns it has to have; None for any number.

    >>> matrix("scores", [[1, 2]], (None, 2)).shape
    (1, 2)
    """
    numbers = np.asarray(values, dtype=np.float64)
    fits = numbers.ndim == 2 and all(w is None or w == got for w, got in zip(shape, numbers.shape, strict=True))
    if not fits:
        wanted = ", ".join("any number" if side is None else f"{side}" for side in shape)
        raise ParameterError(f"{name} is a table, lines and columns ({wanted}); got an array of shape {numbers.shape}")
    return _drawable(name, numbers)


def shares(name: str, values: ArrayLike, n: int | None = None, *, what: str = "point") -> Array:
    """Take one share from 0 to 1 per point of a curve.

    Args:
        name: of the argument.
        values: (n,) shares.
        n: how many there have to be; any number by default.
        what: they are counted by.

    >>> shares("accuracy", [0.9, 1])
    array([0.9, 1. ])
    """
    numbers = vector(name, values, n, what=what)
    wrong = (numbers < 0) | (numbers > 1)
    if wrong.any():
        raise ParameterError(f"{name} holds shares from 0 to 1; got {numbers[wrong][0]:g}")
    return numbers


def _drawable(name: str, numbers: Array) -> Array:
    wrong = np.argwhere(~(np.abs(numbers) <= LARGEST))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        place = at if len(at) > 1 else at[0]
        raise ParameterError(
            f"{name} holds finite numbers up to {LARGEST:g} in size; got {numbers[at]:g} at {place}, "
            "counted from 0. Leave such rows out, or divide by a unit"
        )
    return numbers


def row_numbers(rows: ArrayLike | None, n: int) -> NDArray[Any]:
    """Take row numbers as they are to be shown; by default they are counted from 1.

    Args:
        rows: (n,) numbers, or None.
        n: how many rows there are.

    >>> row_numbers(None, 2)
    array([1, 2])
    """
    numbers = np.arange(1, n + 1) if rows is None else np.asarray(rows)
    if numbers.shape != (n,):
        raise ParameterError(f"rows has one number per row; got shape {numbers.shape} for {n} rows")
    return numbers


def names_of(names: Any, n: int, *, name: str = "names", word: str = "column") -> list[str]:
    """Take one name each; by default they are numbered from 1.

    Args:
        names: (n,) names, or None.
        n: how many there are to be.
        name: of the argument.
        word: before the number of what has no name.

    >>> names_of(None, 2)
    ['column 1', 'column 2']
    """
    given = [f"{word} {j + 1}" for j in range(n)] if names is None else [str(text) for text in names]
    if len(given) != n:
        raise ParameterError(f"{name} are one per {word}, {n} of them; got {len(given)}")
    return given


def padded(values: Array, room: float = 0.05) -> tuple[float, float]:
    """Ends of an axis that holds all values with some room on either side, also where they are all alike.

    Args:
        values: any number of them.
        room: share of their range on each side.

    >>> padded(np.array([0.0, 10.0])), padded(np.array([])), padded(np.array([4.0]))
    ((-0.5, 10.5), (-1.0, 1.0), (3.8, 4.2))
    """
    if not values.size:
        return -1.0, 1.0
    low, high = float(values.min()), float(values.max())
    span = room * (high - low)
    # what is narrower than the digits of the numbers has no ticks that differ
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        span = room * max(abs(low), abs(high)) or 1.0
    return low - span, high + span


def log_padded(values: Array, before: float, after: float) -> tuple[float, float]:
    """Ends of a logarithmic axis that holds all values, also where they are all alike.

    Args:
        values: above zero, one or more.
        before: share of their range, in powers, left free below.
        after: share left free above.

    >>> [round(end, 3) for end in log_padded(np.array([1.0, 100.0]), 0.5, 0.0)]
    [0.1, 100.0]
    """
    low, high = np.log10(values.min()), np.log10(values.max())
    wide = max(high - low, 0.5)
    ends = np.clip([low - before * wide, high + after * wide], -307.0, 308.0)
    return float(10.0 ** ends[0]), float(10.0 ** ends[1])

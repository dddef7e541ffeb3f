"""Classes, scores and levels as they come, checked: what a measure of classification needs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import DataError, ParameterError


def outcomes(truth: ArrayLike, positive: Any) -> tuple[NDArray[np.bool_], Any]:
    """Tell which rows are of the positive class, and which class that is.

    Args:
        truth: (n,) classes, at most two.
        positive: the positive class; None for the second in order.

    >>> outcomes(["no", "yes", "no"], None)
    (array([False,  True, False]), 'yes')
    """
    labels = class_labels("truth", truth)
    classes = np.unique(labels)
    if len(classes) > 2:
        raise DataError(
            f"truth has two classes; got {len(classes)}. Take one against the rest: truth == {classes.tolist()[0]!r}"
        )
    if positive is None:
        positive = classes.tolist()[1] if len(classes) == 2 else _alone(classes.tolist()[0])
    elif len(classes) == 2 and not np.any(classes == positive):
        raise ParameterError(f"positive is one of the classes {classes.tolist()}; got {positive!r}")
    return labels == positive, positive


def _alone(only: Any) -> Any:
    """The positive class where one class is all there is: 1 beside 0 or -1, True beside False."""
    if isinstance(only, bool | int | float) and only in (0, 1, -1):
        return True if isinstance(only, bool) else 1
    raise DataError(f"all rows are {only!r}; say which class is positive: positive=...")


def class_labels(name: str, values: ArrayLike) -> NDArray[Any]:
    """Take one class per row, none of them missing, all of one type.

    Args:
        name: of the argument.
        values: (n,) text or numbers.

    >>> class_labels("truth", ["a", "b"]).tolist()
    ['a', 'b']
    """
    labels = np.asarray(values)
    if labels.ndim != 1 or not len(labels):
        raise DataError(f"{name} has one class per row, at least one row; got an array of shape {labels.shape}")
    if labels.dtype.kind in "fO":
        missing = [i for i, value in enumerate(labels.tolist()) if value is None or value != value]
        if missing:
            raise DataError(f"{name} lacks the class of row {missing[0]}, from 0; leave such rows out")
    if labels.dtype.kind == "O":
        kinds = sorted({type(value).__name__ for value in labels.tolist()})
        if len(kinds) > 1:
            raise DataError(f"{name} has classes of one type; got {' and '.join(kinds)}. Write them all as text")
    return labels


def finite_numbers(name: str, values: ArrayLike, n: int) -> Array:
    """Take one finite number per row.

    Args:
        name: of the argument.
        values: (n,) numbers.
        n: how many rows there are.

    >>> finite_numbers("score", [1, 2], 2)
    array([1., 2.])
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n,):
        raise DataError(f"{name} has one number per row; got an array of shape {numbers.shape} for {n} rows")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise DataError(f"{name} is a finite number in each row; got {numbers[wrong[0]]} in row {wrong[0]}, from 0")
    return numbers


def checked_level(confidence: float) -> float:
    """Take a level of confidence between 0 and 1.

    Args:
        confidence: the level.

    >>> checked_level(0.95)
    0.95
    """
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence lies between 0 and 1, such as 0.95; got {confidence!r}")
    return float(confidence)

"""Shares that sum to 1: the one rule of how far from it rounding may leave their sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_TYPED = 1e-8  # numbers written by hand with nine digits or so
_MOST = 1e-2  # thousands of float16 tell no more


def may_be_off(kind: Any, count: Any) -> Any:
    """By how much the sum of shares may differ from 1.

    Dividing m shares by their sum in a precision eps leaves each off by at most about m eps / 2 of itself: by half of
    eps for each addition and for the division.

    Args:
        kind: the type in which they were given; what is no float has all digits.
        count: how many shares; a number, or an array of numbers.

    >>> float(may_be_off(np.float64, 3)), float(may_be_off(np.float32, 1000)) > 1e-4
    (1e-08, True)
    """
    kind = np.dtype(kind)
    eps = float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
    return np.clip(np.multiply(count, eps), _TYPED, _MOST)


def sum_to_one(shares: ArrayLike) -> bool:
    """Whether shares sum to 1, to the digits of their own type and number.

    >>> thirds = np.float32([1 / 3, 1 / 3, 1 / 3])
    >>> sum_to_one(thirds), sum_to_one(thirds.astype(np.float64)), sum_to_one([0.3, 0.3, 0.3])
    (True, False, False)
    """
    given = np.asarray(shares)
    off = abs(float(np.asarray(given, dtype=np.float64).sum()) - 1.0)
    return bool(off <= may_be_off(given.dtype, given.size))

"""The first look: a fair sample of rows in the user's columns, before any encoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class FirstLook:
    """Rows drawn fairly, one number a cell, for pictures of the data as they came.

    Attributes:
        columns, kinds, units: of the D columns, in the order of the data.
        rows: (m,) numbers of the rows drawn, from 1, ascending.
        values: (m, D) NaN where missing. Numbers and counts as read; booleans 0 and 1; categories as the number of
            their level, the most frequent first (ordered ones from low to high); times in days since 1970; texts and
            identifiers by their length in characters.
        centre, scale: (D,) mean and standard deviation of the whole data, scale 0 for a constant column.
        levels: by column, the names of the levels that the numbers stand for.
        log: columns that the encoding takes the logarithm of.
        total: how many rows there are.
    """

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    units: tuple[str | None, ...]
    rows: NDArray[np.intp]
    values: Array
    centre: Array
    scale: Array
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    log: frozenset[str] = frozenset()
    total: int = 0

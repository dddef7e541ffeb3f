"""Compiled passes over triples. Imported only when they run: numba takes a second to load.

A record is a row of unsigned 32-bit numbers: the place in its row stripe, the place in its column stripe, and, where
triples have values, the two halves of the value, which `values` shows as one number. Indices are taken as unsigned:
numba asks of each signed one whether it counts from the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit


@njit(cache=True, nogil=True)
def into_cells(
    i: Any, j: Any, value: Any, row_stripe: int, column_stripe: int, across: int, counts: Any, ends: Any, values: Any
) -> None:
    """Triples by cell, in each in the order they came; `counts` gets how many each cell has."""
    n = len(i)
    cell = np.empty(n, np.int64)
    for t in range(n):
        cell[t] = i[t] // row_stripe * across + j[t] // column_stripe
        counts[cell[t]] += 1
    place = np.empty(len(counts), np.int64)
    before = 0
    for c in range(len(counts)):
        place[c] = before
        before += counts[c]
    for t in range(n):
        c = cell[t]
        at = place[c]
        place[c] = at + 1
        ends[at, 0] = i[t] - c // across * row_stripe
        ends[at, 1] = j[t] - c % across * column_stripe
        if len(values):
            values[at] = value[t]


@njit(cache=True, nogil=True)
def add_triples(i: Any, j: Any, value: Any, v: Any, y: Any) -> None:
    """Add value * v[j] to y[i], one triple after the other; without values each is 1."""
    if len(value):
        for t in range(len(i)):
            y[np.uint64(i[t])] += value[t] * v[np.uint64(j[t])]
    else:
        for t in range(len(i)):
            y[np.uint64(i[t])] += v[np.uint64(j[t])]


@njit(cache=True, nogil=True)
def add_records(ends: Any, values: Any, v: Any, y: Any) -> None:
    """The same for the records of a cell."""
    if len(values):
        for t in range(len(ends)):
            y[ends[t, 0]] += values[t] * v[ends[t, 1]]
    else:
        for t in range(len(ends)):
            y[ends[t, 0]] += v[ends[t, 1]]


@njit(cache=True, nogil=True)
def add_exactly(ends: Any, values: Any, v: Any, y: Any, rest: Any) -> None:
    """The same with Kahan's sums: what rounding lost of y is in `rest`, whatever the number of terms."""
    for t in range(len(ends)):
        at = ends[t, 0]
        term = v[ends[t, 1]]
        if len(values):
            term *= values[t]
        more = term - rest[at]
        total = y[at] + more
        rest[at] = (total - y[at]) - more
        y[at] = total

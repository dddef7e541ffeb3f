"""Compiled passes over merges, in the order of a hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit


@njit(cache=True)
def label(pairs: Any, heights: Any) -> Any:
    """Number the groups that merges make, as SciPy does.

    Args:
        pairs: (n - 1, 2) an item of each of the two groups, by ascending height.
        heights: (n - 1,).

    Returns:
        (n - 1, 4) merge table.
    """
    n = len(pairs) + 1
    table = np.empty((n - 1, 4))
    above = np.arange(2 * n - 1)  # the group that each became part of, itself while it stands alone
    items = np.ones(2 * n - 1)
    for i in range(n - 1):
        a, b = top(above, pairs[i, 0]), top(above, pairs[i, 1])
        above[a] = above[b] = n + i
        items[n + i] = items[a] + items[b]
        table[i, 0], table[i, 1] = min(a, b), max(a, b)
        table[i, 2], table[i, 3] = heights[i], items[n + i]
    return table


@njit(cache=True)
def top(above: Any, item: int) -> int:
    """The group that holds an item now; the way to it is shortened for the next time."""
    while above[item] != item:
        above[item] = above[above[item]]
        item = above[item]
    return item


@njit(cache=True)
def raise_to_parts(pairs: Any, heights: Any) -> None:
    """Let no merge be lower than those it builds on: rounding may have put it so.

    Args:
        pairs: (n - 1, 2) first items of the two groups; the first of the whole is that of the left one.
        heights: (n - 1,) written.
    """
    highest = np.zeros(len(pairs) + 1)
    for i in range(len(pairs)):
        a, b = pairs[i]
        heights[i] = highest[a] = max(heights[i], highest[a], highest[b])


@njit(cache=True)
def ward_heights(rows: Any, pairs: Any) -> Any:
    """sqrt(2 |a| |b| / (|a| + |b|)) |c_a - c_b| for each merge.

    Centres are kept as differences from each group's first item, so that groups far from zero, or far from others,
    lose no digits.

    Args:
        rows: (n, d) items.
        pairs: (n - 1, 2) first items of the two groups; the first of the whole is that of the left one.
    """
    n, d = rows.shape
    offset = np.zeros((n, d))
    items = np.ones(n)
    heights = np.empty(n - 1)
    for i in range(n - 1):
        a, b = pairs[i]
        share = items[b] / (items[a] + items[b])
        square = 0.0
        for k in range(d):
            apart = (rows[b, k] - rows[a, k]) + (offset[b, k] - offset[a, k])
            square += apart * apart
            offset[a, k] += share * apart
        heights[i] = np.sqrt(2.0 * share * items[a] * square)
        items[a] += items[b]
    return heights

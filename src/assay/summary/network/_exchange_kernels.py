"""Links whose ends are exchanged pair by pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit
from assay.summary._splitmix import next_bits


@njit(cache=True, nogil=True)
def _slot(key: Any, size: Any) -> Any:
    z = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((z ^ (z >> np.uint64(29))) & np.uint64(size - 1))


@njit(cache=True, nogil=True)
def _has(table: Any, key: Any) -> bool:
    at = _slot(key, len(table))
    while table[at] != -1:
        if table[at] == key:
            return True
        at = (at + 1) & (len(table) - 1)
    return False


@njit(cache=True, nogil=True)
def _add(table: Any, key: Any) -> None:
    at = _slot(key, len(table))
    while table[at] != -1:
        at = (at + 1) & (len(table) - 1)
    table[at] = key


@njit(cache=True, nogil=True)
def _drop(table: Any, key: Any) -> None:
    size = len(table)
    at = _slot(key, size)
    while table[at] != key:
        at = (at + 1) & (size - 1)
    # move back what was pushed past this place
    hole = at
    while True:
        at = (at + 1) & (size - 1)
        if table[at] == -1:
            break
        home = _slot(table[at], size)
        if ((at - home) & (size - 1)) >= ((at - hole) & (size - 1)):
            table[hole] = table[at]
            hole = at
    table[hole] = -1


@njit(cache=True, nogil=True)
def _key(a: Any, b: Any, n: int, directed: bool) -> Any:
    return a * n + b if directed or a < b else b * n + a


@njit(cache=True, nogil=True)
def exchange(sources: Any, targets: Any, n: int, directed: bool, tries: int, seed: int) -> int:
    """Exchange the far ends of pairs of links, in place, where this makes no loop and no link twice; how many were.

    Each try is its own inverse with the same probability, so the uniform law over graphs with these degrees stays.

    Args:
        sources: (m,) near ends, no loops.
        targets: (m,) far ends.
        n: nodes.
        directed: whether a link leads one way; otherwise either end of it may be the far one.
        tries: pairs looked at.
        seed: of the tries.
    """
    m = len(sources)
    return exchange_alike(sources, targets, np.zeros(m, np.int8), np.full(m, directed), n, tries, seed, directed)


@njit(cache=True, nogil=True)
def exchange_alike(
    sources: Any, targets: Any, kinds: Any, one_way: Any, n: int, tries: int, seed: int, directed: bool = False
) -> int:
    """Exchange the far ends of pairs of links of one kind, in place, so that no two nodes are linked twice.

    Args:
        sources: (m,) near ends, no loops, no two nodes linked twice.
        targets: (m,) far ends.
        kinds: (m,) only links of one kind are exchanged.
        one_way: (m,) whether a link leads one way; the same for all links of a kind.
        n: nodes.
        tries: pairs looked at.
        seed: of the tries.
        directed: whether two nodes may be linked once each way.
    """
    m = len(sources)
    if m < 2:
        return 0
    size = 4
    while size < 2 * m:
        size *= 2
    table = np.full(size, -1, np.int64)
    for link in range(m):
        _add(table, _key(np.int64(sources[link]), np.int64(targets[link]), n, directed))
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed)
    done = 0
    for _ in range(tries):
        number = next_bits(state)
        e = np.int64((number >> np.uint64(33)) % np.uint64(m))
        number = next_bits(state)
        f = np.int64((number >> np.uint64(33)) % np.uint64(m))
        if kinds[e] != kinds[f]:
            continue
        turned = not one_way[e] and (number & np.uint64(1)) == np.uint64(1)
        a, b = np.int64(sources[e]), np.int64(targets[e])
        c, d = np.int64(sources[f]), np.int64(targets[f])
        if turned:
            c, d = d, c
        if a in (c, d) or b in (c, d):
            continue
        one, two = _key(a, d, n, directed), _key(c, b, n, directed)
        if _has(table, one) or _has(table, two):
            continue
        _drop(table, _key(a, b, n, directed))
        _drop(table, _key(c, d, n, directed))
        _add(table, one)
        _add(table, two)
        targets[e] = d
        if turned:
            sources[f] = b
        else:
            targets[f] = b
        done += 1
    return done

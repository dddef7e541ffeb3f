"""Compiled backups of decision processes. Imported only when they run: numba takes a second to load.

The pairs of state s are first[s] .. first[s + 1] - 1; where there are none the process ends. The successors of pair i
are start[i] .. start[i + 1] - 1. Each call takes the states lo .. hi - 1 and writes to places of its own. Indices are
taken as unsigned: numba asks of each signed one whether it counts from the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def backup(
    lo: int,
    hi: int,
    first: Any,
    start: Any,
    after: Any,
    p: Any,
    r: Any,
    discount: float,
    v: Any,
    slack: float,
    new: Any,
    chosen: Any,
    keep: bool,
    span: Any,
) -> None:
    """The best of the actions in each state; `span` gets the least and the largest change.

    An action replaces the one chosen only where it is better by more than `slack`; `keep` begins with the one that is.
    """
    least, largest = np.inf, -np.inf
    for s in range(lo, hi):
        if first[s] == first[s + 1]:
            new[s] = v[s]
            chosen[s] = -1
            least, largest = min(least, 0.0), max(largest, 0.0)
            continue
        held = chosen[s] if keep else first[s]
        total = 0.0
        for j in range(np.uint64(start[held]), np.uint64(start[held + 1])):
            total += p[j] * v[np.uint32(after[j])]
        mine = r[held] + discount * total
        best = mine
        pick = held
        for i in range(first[s], first[s + 1]):
            if i == held:
                continue
            total = 0.0
            for j in range(np.uint64(start[i]), np.uint64(start[i + 1])):
                total += p[j] * v[np.uint32(after[j])]
            q = r[i] + discount * total
            best = max(best, q)
            if q > mine + slack:
                mine = q
                pick = i
        new[s] = best
        chosen[s] = pick
        change = best - v[s]
        least, largest = min(least, change), max(largest, change)
    span[0] = least
    span[1] = largest


@njit(cache=True, nogil=True)
def follow(
    lo: int,
    hi: int,
    start: Any,
    after: Any,
    p: Any,
    r: Any,
    discount: float,
    v: Any,
    chosen: Any,
    new: Any,
    span: Any,
) -> None:
    """One step of the chosen actions."""
    least, largest = np.inf, -np.inf
    for s in range(lo, hi):
        i = chosen[s]
        if i < 0:
            new[s] = v[s]
            least, largest = min(least, 0.0), max(largest, 0.0)
            continue
        total = 0.0
        for j in range(np.uint64(start[i]), np.uint64(start[i + 1])):
            total += p[j] * v[np.uint32(after[j])]
        new[s] = r[i] + discount * total
        change = new[s] - v[s]
        least, largest = min(least, change), max(largest, change)
    span[0] = least
    span[1] = largest


@njit(cache=True, nogil=True)
def pair_values(lo: int, hi: int, start: Any, after: Any, p: Any, r: Any, discount: float, v: Any, q: Any) -> None:
    """The value of each of the pairs lo .. hi - 1."""
    for i in range(lo, hi):
        total = 0.0
        for j in range(np.uint64(start[i]), np.uint64(start[i + 1])):
            total += p[j] * v[np.uint32(after[j])]
        q[i] = r[i] + discount * total


@njit(cache=True, nogil=True)
def leave(first: Any, owner: Any, into: Any, coming: Any, ends: Any, inside: Any) -> None:
    """Take out of `inside` every state all of whose actions may lead out of what is left.

    `coming[into[s]:into[s + 1]]` are the pairs that may lead to s, `owner` is the state of a pair, `ends` are out from
    the start. What stays inside is the largest set of states in which some choice of actions stays for ever.
    """
    n, m = len(inside), len(owner)
    left = np.empty(n, np.int64)
    whole = np.ones(m, np.bool_)
    queue = np.empty(n, np.int64)
    tail = 0
    for s in range(n):
        left[s] = first[s + 1] - first[s]
        inside[s] = not ends[s]
        if ends[s]:
            queue[tail] = s
            tail += 1
    head = 0
    while head < tail:
        s = queue[head]
        head += 1
        for j in range(into[s], into[s + 1]):
            i = coming[j]
            if not whole[i]:
                continue
            whole[i] = False
            t = owner[i]
            left[t] -= 1
            if left[t] == 0 and inside[t]:
                inside[t] = False
                queue[tail] = t
                tail += 1

"""Compiled backups of decision processes. Imported only when they run: numba takes a second to load.

The pairs of state s are first[s] .. first[s + 1] - 1; where there are none the process ends. The successors of pair i
are start[i] .. start[i + 1] - 1. Each call takes the states lo .. hi - 1 and writes to places of its own. Indices are
taken as unsigned: numba asks of each signed one whether it counts from the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit


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
def weigh(
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
    q: Any,
    span: Any,
) -> None:
    """The same as `backup` without `keep`, and the values of all pairs."""
    least, largest = np.inf, -np.inf
    for s in range(lo, hi):
        begin, end = np.uint64(first[s]), np.uint64(first[s + 1])
        if begin == end:
            new[s] = v[s]
            chosen[s] = -1
            least, largest = min(least, 0.0), max(largest, 0.0)
            continue
        best, mine = -np.inf, -np.inf
        pick: Any = begin
        for i in range(begin, end):
            total = 0.0
            for j in range(np.uint64(start[i]), np.uint64(start[i + np.uint64(1)])):
                total += p[j] * v[np.uint32(after[j])]
            value = r[i] + discount * total
            q[i] = value
            best = max(best, value)
            if value > mine + slack:
                mine, pick = value, i
        new[s] = best
        chosen[s] = pick
        change = best - v[s]
        least, largest = min(least, change), max(largest, change)
    span[0] = least
    span[1] = largest


@njit(cache=True, nogil=True)
def narrow(
    first: Any, start: Any, after: Any, p: Any, r: Any, q: Any, best: Any, margin: float, share: float
) -> tuple[Any, Any, Any, Any, Any]:
    """The pairs whose value is no more than `margin` below the best of their state, as a process of their own.

    Nothing, as arrays of length 0, where more than `share` of the pairs would stay.
    """
    n, pairs, moves = len(first) - 1, 0, 0
    for s in range(n):
        for i in range(np.uint64(first[s]), np.uint64(first[s + 1])):
            if q[i] >= best[s] - margin:
                pairs += 1
                moves += start[i + np.uint64(1)] - start[i]
    if pairs > share * len(r):
        pairs, moves, n = 0, 0, -1
    firsts, starts = np.zeros(n + 1, np.int64), np.zeros(pairs + 1 if n >= 0 else 0, np.int64)
    afters, ps, rs = np.empty(moves, after.dtype), np.empty(moves), np.empty(pairs)
    pair, move = 0, 0
    for s in range(n):
        for i in range(np.uint64(first[s]), np.uint64(first[s + 1])):
            if q[i] >= best[s] - margin:
                rs[pair] = r[i]
                for j in range(np.uint64(start[i]), np.uint64(start[i + np.uint64(1)])):
                    afters[move] = after[j]
                    ps[move] = p[j]
                    move += 1
                pair += 1
                starts[pair] = move
        firsts[s + 1] = pair
    return firsts, starts, afters, ps, rs


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

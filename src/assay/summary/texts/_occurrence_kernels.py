"""Terms exchanged between documents, and documents that repeat others."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit
from assay.summary._splitmix import next_bits

_UNIT = 1.0 / 9007199254740992.0  # 2^-53


@njit(cache=True, nogil=True)
def exchange(ends: Any, document: Any, terms: Any, row: Any, column: Any, odds: Any, tries: int, seed: Any) -> int:
    """Exchange terms between pairs of documents, in place; documents keep their number of terms, and terms theirs.

    Two entries (i, j) and (k, l) become (i, l) and (k, j) where these are free, with the chance
    min(1, o_il o_kj / (o_ij o_kl)): the chain has the law of independent entries of odds o, given both margins.

    Args:
        ends: (n + 1,) where the terms of each document begin.
        document: (e,) of each entry.
        terms: (e,) of each entry; changed.
        row: (n,) class of each document.
        column: (d,) class of each term.
        odds: (classes of documents, classes of terms) log odds.
        tries: exchanges tried.
        seed: 64 bits.

    Returns:
        How many were made.
    """
    state = np.empty(1, dtype=np.uint64)
    state[0] = seed
    entries = np.uint64(len(terms))
    made = 0
    for _ in range(tries):
        e = np.int64(next_bits(state) % entries)
        f = np.int64(next_bits(state) % entries)
        i, k, j, other = document[e], document[f], terms[e], terms[f]
        if i == k or j == other:
            continue
        ri, rk, cj, cl = row[i], row[k], column[j], column[other]
        if ri != rk and cj != cl:
            gain = odds[ri, cl] + odds[rk, cj] - odds[ri, cj] - odds[rk, cl]
            if gain < 0.0 and np.float64(next_bits(state) >> np.uint64(11)) * _UNIT >= np.exp(gain):
                continue
        free = True
        for place in range(ends[i], ends[i + 1]):
            if terms[place] == other:
                free = False
                break
        if free:
            for place in range(ends[k], ends[k + 1]):
                if terms[place] == j:
                    free = False
                    break
        if free:
            terms[e], terms[f] = other, j
            made += 1
    return made


@njit(cache=True, nogil=True)
def first_of_copies(ends: Any, terms: Any, tells: Any, alike: float, enough: float, steps: int) -> Any:
    """(n,) an earlier document that each repeats, or -1.

    Documents repeat each other where they have the same terms, or where those in common are `alike` of all terms of
    both and together tell `enough`. Documents with a rare term in common are compared first, and the search for one
    ends after `steps`: a document that repeats another shares rare terms with it.

    Args:
        ends: (n + 1,) where the terms of each document begin.
        terms: (e,) the rarest first, as numbers that ascend in each document.
        tells: (d,) what each term tells, ln(n / df).
        alike: Jaccard's index from which documents repeat each other.
        enough: what the terms in common tell at least.
        steps: comparisons of terms for each document, about.
    """
    n = len(ends) - 1
    repeats = np.full(n, -1, dtype=np.int64)
    head = np.full(len(tells), -1, dtype=np.int64)
    following = np.empty(len(terms), dtype=np.int64)
    checked = np.full(n, -1, dtype=np.int64)
    holder = np.empty(len(terms), dtype=np.int64)
    for i in range(n):
        start, size, left = ends[i], ends[i + 1] - ends[i], steps
        for place in range(start, start + size):
            at = head[terms[place]]
            while at >= 0 and left > 0 and repeats[i] < 0:
                other = holder[at]
                at = following[at]
                left -= 1
                wide = ends[other + 1] - ends[other]
                if checked[other] == i or min(size, wide) < alike * max(size, wide):
                    continue
                checked[other] = i
                left -= size + wide
                common, told, a, b = 0, 0.0, start, ends[other]
                while a < start + size and b < ends[other + 1]:
                    if terms[a] == terms[b]:
                        common += 1
                        told += tells[terms[a]]
                        a += 1
                        b += 1
                    elif terms[a] < terms[b]:
                        a += 1
                    else:
                        b += 1
                same = common == size and common == wide
                if same or (told >= enough and common >= alike * (size + wide - common)):
                    repeats[i] = other
            if repeats[i] >= 0 or left <= 0:
                break
        for place in range(start, start + size):
            following[place] = head[terms[place]]
            holder[place] = i
            head[terms[place]] = place
    return repeats

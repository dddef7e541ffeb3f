"""The pairs with the largest scores among all that are not linked.

Scores that count nodes between two are 0 for all other pairs, so they are summed up along two links at a time. Low-rank
scores are looked at for every pair of up to 12,000 nodes, and beyond for pairs that share a neighbour.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from assay.arrays import Array, Whole
from assay.models.network.link_prediction.scores import PairScores
from assay.summary.network.held_out_links import NonLinks, degrees

EVERY = 12_000  # nodes up to which all pairs are looked at
WALKS = 2_000_000_000  # ways of two links that are walked; nodes with most links are passed over beyond
_BLOCK = 4_000_000  # pairs at a time


def best(scores: PairScores, name: str, most: int) -> tuple[Whole, Whole, Array]:
    """The pairs with the largest scores, descending; equal ones by the numbers of their nodes.

    Args:
        scores: of the network.
        name: of the score.
        most: how many at most.
    """
    n, one_way = scores.ends.n, scores.ends.one_way
    if name == "back":
        keys, values = _returns(scores)
        values = 1.0 + values / (1.0 + values.max(initial=0.0))  # all are 1: by what is between them
    elif name == "either":
        keys, values = _two_steps(scores.either, scores.between_either, True, most)
        keys = np.concatenate([keys, keys % n * n + keys // n])
        more = _returns(scores)
        keys, values = np.concatenate([keys, more[0]]), np.concatenate([values, values, more[1]])
    elif name in ("common", "adamic_adar", "resource"):
        keys, values = _two_steps(scores.links, scores.between(name), not one_way, most)
    else:
        left, right = _factors(scores, name)
        if n <= EVERY:
            keys, values = _all_pairs(scores, left, right, most)
        else:
            keys, values = _two_steps(scores.links, np.ones(n), not one_way, most, left, right)
    order = np.lexsort([keys, -values])[:most]
    return keys[order] // n, keys[order] % n, values[order]


def two_steps(scores: PairScores, name: str) -> tuple[Whole, Whole, Array]:
    """All pairs that are not linked and share a neighbour, with their score.

    Args:
        scores: of the network.
        name: "common", "adamic_adar" or "resource".
    """
    from assay.models.network.link_prediction._kernels import count_two_steps, fill_two_steps

    A, both = scores.links, not scores.ends.one_way
    counts = np.zeros(scores.ends.n, dtype=np.int64)
    count_two_steps(A.indptr, A.indices, both, counts)
    places = np.concatenate([[0], np.cumsum(counts)])
    vs, values = np.empty(places[-1], dtype=A.indices.dtype), np.empty(places[-1])
    fill_two_steps(A.indptr, A.indices, both, np.ascontiguousarray(scores.between(name)), places, vs, values)
    return np.repeat(np.arange(scores.ends.n, dtype=A.indices.dtype), counts), vs, values


def passed_over(scores: PairScores) -> int:
    """From how many links on a node is passed over when pairs are looked for; 0 where none is."""
    d = np.diff(scores.links.indptr).astype(np.float64)
    order = np.sort(d)
    walks = np.cumsum(order * order)
    within = int(np.searchsorted(walks, WALKS, "right"))
    return 0 if within == len(d) else int(order[within])


def _two_steps(
    links: sparse.csr_array,
    weights: Array,
    both: bool,
    most: int,
    left: Array | None = None,
    right: Array | None = None,
) -> tuple[Whole, Array]:
    from assay.models.network.link_prediction._kernels import best_two_steps

    n = links.shape[0]
    none = np.zeros((n, 0))
    d = np.diff(links.indptr).astype(np.float64)
    walks = np.cumsum(np.sort(d) ** 2)
    within = int(np.searchsorted(walks, WALKS, "right"))
    between = np.ones(n, dtype=np.bool_) if within == n else d < np.sort(d)[within]
    pairs, values = best_two_steps(
        links.indptr, links.indices, both, np.ascontiguousarray(weights), between,
        none if left is None else np.ascontiguousarray(left), none if right is None else np.ascontiguousarray(right),
        most,
    )  # fmt: skip
    return pairs.copy(), values.copy()


def _factors(scores: PairScores, name: str) -> tuple[Array, Array]:
    if name == "degrees":
        out, into = degrees(scores.ends)
        return out[:, None].astype(np.float64), into[:, None].astype(np.float64)
    return scores.vectors(int(name.removeprefix("low_rank_")))


def _all_pairs(scores: PairScores, left: Array, right: Array, most: int) -> tuple[Whole, Array]:
    n, one_way, A = scores.ends.n, scores.ends.one_way, scores.links
    keys, values = np.empty(0, dtype=np.int64), np.empty(0)
    step = max(_BLOCK // n, 1)
    for start in range(0, n, step):
        stop = min(start + step, n)
        block = left[start:stop] @ right.T
        rows = np.repeat(np.arange(stop - start), np.diff(A.indptr[start : stop + 1]))
        block[rows, A.indices[A.indptr[start] : A.indptr[stop]]] = -np.inf
        block[np.arange(stop - start), np.arange(start, stop)] = -np.inf
        if not one_way:
            block[np.arange(n)[None, :] < np.arange(start, stop)[:, None]] = -np.inf
        flat = block.ravel()
        least = values.min() if len(values) >= most else -np.inf
        fresh = np.flatnonzero(flat > least)
        if len(fresh) > most:
            fresh = fresh[np.argpartition(-flat[fresh], most - 1)[:most]]
        keys = np.concatenate([keys, fresh // n * n + start * n + fresh % n])
        values = np.concatenate([values, flat[fresh]])
        if len(values) > most:
            kept = np.lexsort([keys, -values])[:most]
            keys, values = keys[kept], values[kept]
    return keys, values


def _returns(scores: PairScores) -> tuple[Whole, Array]:
    """Pairs whose return is a link and which are none, with resource allocation, links taken both ways."""
    us, vs = scores.ends.targets, scores.ends.sources
    free = ~NonLinks(scores.ends).linked(us, vs)
    us, vs = us[free], vs[free]
    return us * scores.ends.n + vs, scores.of(us, vs, ("either",))["either"]

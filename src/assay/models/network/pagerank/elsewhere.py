"""PageRank whose links lie with workers, each those that lead to some nodes; the scores are here.

    here      z = x / out, (n,), sent to every worker that keeps links          out_i = sum_j w_ij
    worker    sum_i w_ij z_i for the nodes j that it keeps, (k,), sent back
    here      the rest of the step, the stopping rule and the bound, by the same code as for links in memory

The links travel once, when they are regrouped; a step costs 8 n bytes to each worker and 8 n bytes from all together.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

import numpy as np

from assay.arrays import Array, Whole
from assay.data.partitions import Blocks
from assay.engine.current import map_reduce
from assay.errors import DataError, ParameterError
from assay.models.network.pagerank.links import EXACT, rounding
from assay.models.network.pagerank.power import PowerSolved, Sums, iterate
from assay.models.network.pagerank.spread_links import LinksTo, SpreadLinks, kept_links
from assay.models.network.pagerank.striped import refuse_weights, square
from assay.summary.triples.opening import TriplePiece
from assay.summary.triples.triples import Triples

_HELD = 96  # bytes of a node here: scores, what is sent, shares, roundings


def links_of_triples(links: Triples, pieces: Blocks[list[TriplePiece]], size: int) -> SpreadLinks:
    """Triples of links between numbered nodes, kept by workers.

    Args:
        links: (from, to, weight) in files.
        pieces: of them, in parts that workers read.
        size: bytes allowed here.
    """
    found = links.counted()
    links = square(links)
    n = links.shape[0]
    if _HELD * n > size:
        raise ParameterError(
            f"the scores of {n:,} nodes are kept in the memory of this process while workers keep the links, and need "
            f"memory={_HELD * n:,}; allow it, or rank on one machine, in stripes on disk, without an engine"
        )

    def checked(pieces: list[TriplePiece]) -> tuple[Whole, Whole, Array]:
        i, j, value = links.numbers(pieces)
        refuse_weights(pieces, value)
        return i, j, np.ones(len(i)) if value is None else value

    kept = kept_links(pieces.map(checked), n, found)
    notes = (f"{n:,} nodes, numbered from 0; links lead one way, from i to j.",)
    return SpreadLinks(n, kept, None, notes)


def solve_elsewhere(
    links: SpreadLinks, damping: float, v: Array, start: Array, tol: float, max_iter: int | None
) -> PowerSolved:
    """The power iteration over links that workers keep; arguments as in `solve`."""
    from assay.models.network.pagerank._kernels import finish, gather

    out, units = _leaving(links)
    kernel: Any = finish

    def walk(x: Array, z: Array, jump: float, y: Array, sent: Array) -> list[Sums]:
        def arrived(part: LinksTo) -> list[Array]:
            sums = np.empty(len(part.starts) - 1)
            gather(0, len(sums), part.starts, part.origins, part.weights, z, sums)
            return [sums]

        found = map_reduce(links.blocks, arrived, list.__add__)
        np.concatenate(found, out=y)
        at = np.cumsum([0, *map(len, found)])
        return [kernel(int(lo), int(hi), x, damping, jump, v, out, units, y, sent) for lo, hi in pairwise(at)]

    return iterate(walk, out, damping, start, tol, max_iter)


def given_weights(given: Any, n: int, called: str) -> Any:
    """Weights of nodes that may be in a .npy file, here."""
    from assay.summary.triples.vectors import reader

    return reader(given, n, called)(0, n) if isinstance(given, str | os.PathLike) else given


def _leaving(links: SpreadLinks) -> tuple[Array, Array]:
    """1 / (sum of the weights of the out-links) of each node, 0 without any; bounds on its roundings."""
    n = links.n

    def look(part: LinksTo) -> tuple[Array, Whole, list[Whole], bool]:
        many = np.bincount(part.origins, minlength=n).astype(np.int64)
        total: Array = np.bincount(part.origins, part.weights if len(part.weights) else None, n).astype(np.float64)
        return total, many, [np.diff(part.starts)], bool((part.weights == np.floor(part.weights)).all())

    def merge(a: Any, b: Any) -> Any:
        return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] and b[3]

    total, many, arriving, whole = map_reduce(links.blocks, look, merge)
    with np.errstate(divide="ignore", over="ignore"):
        out = np.where(total > 0.0, 1.0 / total, 0.0)
    bad = np.flatnonzero(~np.isfinite(total) | ~np.isfinite(out))
    if len(bad):
        name = links.names[bad[0]] if links.names is not None else bad[0]
        raise DataError(
            f"the weights of the links of node {name} add up to {total[bad[0]]:g}, out of the range of numbers; scale "
            "the weights"
        )
    exact = whole and total.sum() < EXACT
    starts = np.concatenate([[0], np.cumsum(np.concatenate(arriving))]).astype(np.int64)
    return out, rounding(starts, None if exact else many)

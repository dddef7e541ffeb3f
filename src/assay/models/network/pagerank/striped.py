"""PageRank of a graph whose vectors do not fit memory: links as triples, scores in files, a stripe at a time.

    x = d (P^T x + v lost) + (1 - d) v,      P^T x = W^T (x / out),      out = W 1,      lost = sum of x where out = 0

The step, the stopping rule and the bound are those of `power.py`. Sums over links are Kahan's, so that rounding is
alike for every node, however many links lead to it; then no vector of roundings is needed.
"""

from __future__ import annotations

import heapq
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.models.network.pagerank.power import PowerSolved, enough
from assay.models.network.pagerank.ranking import BeyondDegree, Outranks, Ranking, RankIntervals
from assay.summary.triples.allowance import plan
from assay.summary.triples.cells import TripleCells
from assay.summary.triples.in_order import in_order
from assay.summary.triples.matvec import EXACT, multiply
from assay.summary.triples.opening import TriplePiece
from assay.summary.triples.triples import Triples
from assay.summary.triples.vectors import Read, StoredVector, delivered, reader, scratch

_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)  # of a score in one step: the sum, the shares, the jump
_SUMS = 64.0 * float(np.finfo(np.float64).eps)  # of a sum over a stripe, added by pairs
_CHUNK = 1 << 15  # scores compared together
_STRIPE = 1 << 20  # scores looked at together when the largest are found


@dataclass(frozen=True, eq=False, repr=False)
class StripedRanking(Ranking):
    """PageRank of links that are not in memory: scores with their error; what needs all links at hand is refused.

    Attributes:
        scores: (n,) larger than or equal to 0, sum to 1; an array, or mapped from a file.
        names: of the nodes, where workers read links with names; otherwise nodes are called by their number.
        error_bound: how far the scores are from the true ones, added up over the nodes, at most.
        iterations: steps of the power iteration.
        damping: of the walk.
        notes: what was decided.
    """

    _links: Any = field(default=None, repr=False)
    _v: Any = field(default=None, repr=False)

    def top(self, count: int = 10) -> list[tuple[str, float]]:
        """The first nodes with their scores."""
        best: list[tuple[float, int]] = []
        for lo in range(0, len(self.scores), _STRIPE):
            part = np.asarray(self.scores[lo : lo + _STRIPE])
            some = np.argsort(-part, kind="stable")[:count]
            best = heapq.nlargest(count, [*best, *((float(part[i]), -(lo + int(i))) for i in some)])
        return [(self.name(-node), score) for score, node in best]

    def rank(self, name: object) -> int:
        """The rank of a node: 1 and how many have a larger score, by more than the error."""
        score = float(self.scores[self.node(name)]) + self.error_bound
        stripes = range(0, len(self.scores), _STRIPE)
        return 1 + sum(int((np.asarray(self.scores[lo : lo + _STRIPE]) > score).sum()) for lo in stripes)

    @property
    def intervals(self) -> RankIntervals:
        """Refused: resampling needs the links in memory."""
        self._refuse()

    @property
    def beyond_degree(self) -> BeyondDegree:
        """Refused: random graphs with the same degrees need the links in memory."""
        self._refuse()

    def outranks(self, a: object, b: object) -> Outranks:
        """Refused: resampling needs the links in memory."""
        self._refuse()

    def as_dict(self, top: int = 10, *, evidence: bool = False) -> dict[str, Any]:
        """The first nodes, as plain values."""
        if evidence:
            self._refuse()
        return {
            "count": len(self.scores),
            "damping": self.damping,
            "error_bound": self.error_bound,
            "iterations": self.iterations,
            "nodes": [
                {"node": name, "rank": self.rank(name if self.names else int(name)), "score": score}
                for name, score in self.top(top)
            ],
            "notes": list(self.notes),
        }

    def lines(self, top: int = 10, *, evidence: bool = False) -> list[str]:
        """The first nodes, for a terminal."""
        found = self.as_dict(top, evidence=evidence)
        lines = [f"{found['count']:,} nodes; scores right to {self.error_bound:.1g} together.", ""]
        return lines + [f"{row['rank']:>8,}  {row['node']:<12}  {row['score']:>9.3g}" for row in found["nodes"]]

    def _refuse(self) -> NoReturn:
        raise DataError(
            "intervals and what is beyond degree need the links in memory, and these were ranked in stripes or by "
            "workers: ask assay.pagerank of a graph that fits, without an engine, such as pagerank(triples.to_scipy())"
        )


@dataclass(frozen=True, slots=True)
class _Walk:
    """The walk in files.

    Attributes:
        cells: W^T in cells, a row for the in-links of each node.
        share: 1 / out of each node, 0 without out-links.
        v: reads where jumps go, scaled so that all sum to 1.
        damping: of the walk.
    """

    cells: TripleCells
    share: StoredVector
    v: Read
    damping: float

    @property
    def n(self) -> int:
        return self.cells.shape[0]


def ranked(
    links: Triples,
    size: int,
    damping: float,
    personalise: Mapping[Any, float] | Any,
    start: Any,
    tol: float,
    max_iter: int | None,
    out: str | os.PathLike[str] | None,
) -> tuple[StripedRanking, bool]:
    """PageRank of triples, and whether roundings kept it from `tol`.

    Args:
        links: (from, to, weight), or (from, to).
        size: bytes allowed.
        damping: at least 0, below 1.
        personalise: where jumps go: None, a mapping from numbers of nodes, an array or a .npy file.
        start: scores to begin from: None, a ranking, an array or a .npy file.
        tol: what the bound is to be.
        max_iter: steps at most.
        out: path of a .npy file for the scores.
    """
    links = square(links)
    n = links.shape[0]
    with scratch() as folder:
        stripes = plan((n, n), size, of_row=EXACT)
        walk_v = _weights(personalise, n, stripes.rows, folder / "v", "personalise")
        share = _shares(links, stripes, folder)
        cells = links.T.cut(stripes, folder / "links")
        given = start.scores if isinstance(start, Ranking) else start
        begin = walk_v if given is None else _weights(given, n, stripes.rows, folder / "start", "start")
        walk = _Walk(cells, share, walk_v, damping)
        found, x = _solved(walk, begin, tol, max_iter, folder)
        scores = delivered(x, n, stripes.rows, in_memory=8 * n <= size // 4, out=out)
    notes = (f"{n:,} nodes, numbered from 0; links lead one way, from i to j.",)
    return StripedRanking(scores, None, found.bound, found.iterations, damping, notes), found.rounded


def square(links: Triples) -> Triples:
    """The same triples with a row and a column for each node."""
    rows, columns = links.shape
    if rows != columns and links.declared:
        raise DataError(f"a matrix of links has a row and a column for each node; this one has shape {links.shape}")
    if not max(rows, columns):
        raise DataError("there are no nodes: a ranking needs one or more")
    return links.with_shape((max(rows, columns),) * 2)


def _shares(links: Triples, stripes: Any, folder: Path) -> StoredVector:
    """1 / (sum of the weights of the out-links) of each node, 0 where there are none."""
    share = StoredVector.scratch(folder / "share", links.shape[0])
    leaving = links.cut(stripes, folder / "leaving", weigh=refuse_weights)

    def finish(lo: int, hi: int, total: Array) -> None:
        with np.errstate(divide="ignore", over="ignore"):
            shares = np.where(total > 0.0, 1.0 / total, 0.0)
        bad = np.flatnonzero(~np.isfinite(total) | ~np.isfinite(shares))
        if len(bad):
            raise DataError(
                f"the weights of the links of node {lo + int(bad[0])} add up to {total[bad[0]]:g}, out of the range of "
                "numbers; scale the weights"
            )
        share.write(lo, shares)

    multiply(leaving, lambda lo, hi: np.ones(hi - lo), finish, lambda part: None, exact=True)
    leaving.path.unlink()
    return share


def refuse_weights(pieces: list[TriplePiece], value: Array | None) -> None:
    """Refuse the first weight that is negative or no finite number, with its place."""
    bad = np.empty(0, np.int64) if value is None else np.flatnonzero(~(np.isfinite(value) & (value >= 0.0)))
    if value is None or not len(bad):
        return
    at = int(bad[0])
    for piece in pieces:
        if at < len(piece):
            raise DataError(
                f"{piece.origin(piece.first + at)}: the weight is {value[bad[0]]:g}, but weights are finite numbers, "
                "none negative; repair it"
            )
        at -= len(piece)


def _weights(given: Any, n: int, step: int, path: Path, called: str) -> Read:
    """Reads a vector of weights, not negative, scaled to sum to 1."""
    if given is None:
        return lambda lo, hi: np.full(hi - lo, 1.0 / n)
    if isinstance(given, Mapping):
        made = StoredVector.scratch(path, n)
        for node, weight in given.items():
            if not isinstance(node, int | np.integer) or not 0 <= node < n:
                raise ParameterError(f"{called} names {node!r}, which is no node of the graph; leave it out")
            made.write(int(node), np.array([weight], np.float64))
        read: Read = made.read
    else:
        read = reader(given, n, called)
    largest = 0.0
    for lo in range(0, n, step):
        part = read(lo, min(lo + step, n))
        bad = np.flatnonzero(~(np.isfinite(part) & (part >= 0.0)))
        if len(bad):
            raise ParameterError(f"{called} must be finite and not negative; node {lo + bad[0]} has {part[bad[0]]}")
        largest = max(largest, float(part.max()))
    if largest == 0.0:
        raise DataError(f"{called} is 0 for every node; give one of them a weight, or leave it out")
    unit = -int(math.frexp(largest)[1])
    total = math.fsum(math.fsum(np.ldexp(read(lo, min(lo + step, n)), unit)) for lo in range(0, n, step))
    return lambda lo, hi: np.asarray(np.ldexp(read(lo, hi), unit) / total)


def _solved(walk: _Walk, begin: Read, tol: float, max_iter: int | None, folder: Path) -> tuple[PowerSolved, Read]:
    n, d = walk.n, walk.damping
    x, y, z, sent = (StoredVector.scratch(folder / name, n) for name in ("x", "y", "z", "sent"))
    lost = _begun(walk, begin, x, z)
    most = enough(d, tol) if max_iter is None else max_iter
    bound, total, rounded, steps = math.inf, 1.0, False, 0
    while steps < most:
        moved, total, lost = _step(walk, d * lost + (1.0 - d), (x, y, z, sent))
        steps += 1
        x, y, z, sent = y, x, sent, z
        rough = _ROUNDING * total
        bound = (rough + d * moved * (1.0 + 1e-8)) / (1.0 - d) + abs(1.0 - total) + _SUMS
        rounded = d * moved <= rough
        if bound <= tol or rounded:
            break
    last, scale = x, 1.0 / total
    return PowerSolved(np.empty(0), bound, steps, rounded), lambda lo, hi: last.read(lo, hi) * scale


def _begun(walk: _Walk, begin: Read, x: StoredVector, z: StoredVector) -> float:
    """Write the start and what of it goes along a link; what does not."""
    lost: list[float] = []

    def one(a: int) -> float:
        lo, hi = walk.cells.rows(a)
        first, share = begin(lo, hi), walk.share.read(lo, hi)
        x.write(lo, first)
        z.write(lo, first * share)
        return float(first[share == 0.0].sum())

    in_order(range(walk.cells.down), one, lost.append)
    return math.fsum(lost)


def _step(walk: _Walk, jump: float, vectors: tuple[StoredVector, ...]) -> tuple[float, float, float]:
    """One step of the walk; sums of |y - x|, of y, and of y in nodes without out-links."""
    x, y, z, sent = vectors

    def some(lo: int, hi: int, arrived: Array) -> tuple[float, float, float]:
        arrived *= walk.damping
        arrived += jump * walk.v(lo, hi)
        share = walk.share.read(lo, hi)
        y.write(lo, arrived)
        sent.write(lo, arrived * share)
        moved = np.abs(arrived - x.read(lo, hi)).sum()
        return float(moved), float(arrived.sum()), float(arrived[share == 0.0].sum())

    def finish(lo: int, hi: int, arrived: Array) -> None:
        for at in range(lo, hi, _CHUNK):  # so that the other vectors need no stripe of their own
            end = min(at + _CHUNK, hi)
            pieces[at] = some(at, end, arrived[at - lo : end - lo])

    pieces: dict[int, tuple[float, float, float]] = {}
    multiply(walk.cells, z.read, finish, lambda part: None, exact=True)
    moved, total, lost = (math.fsum(part[k] for part in pieces.values()) for k in range(3))
    return moved, total, lost

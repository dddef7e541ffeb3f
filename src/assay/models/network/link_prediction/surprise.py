"""How many neighbours the ends of each link share, beside what their degrees give by chance.

    c_uv  neighbours that u and v share, links taken both ways
    E_uv  d_u d_v sum_z d_z (d_z - 1) / (sum_z d_z)^2       what links drawn by the degrees alone would give
    z_uv  (c_uv - a_k E_uv) / (b_k sqrt E_uv)               a, b from random graphs, k by the size of E

The link between u and v has no part in c_uv, so every link is judged without itself. Two nodes of many links that are
linked and share hardly anybody, where chance would give them many in common, make a small z: a link that the others do
not lead one to expect. Where E is small nothing can be said: nobody in common is what chance gives, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.models.network.link_prediction.scores import PairScores
from assay.summary.network.random_graphs import Ends

_LEAST = 0.5  # expected neighbours in common below which a link is not judged
_CLASSES = 24


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Neighbours shared by the ends of each pair of nodes that is linked, either way or both.

    Attributes:
        sources, targets: (m,) the pairs; the node with more links first.
        common: (m,) how many.
        expected: (m,) how many links drawn by the degrees would give.
        half: (m,) those of `common` in one half of the nodes.
        share: of what is expected, how much is in that half.
    """

    sources: Whole
    targets: Whole
    common: Array
    expected: Array
    half: Array
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class LinksByChance:
    """What random graphs with these degrees do to c / E: its mean and, times sqrt E, its spread, by the size of E."""

    at: Array
    mean: Array
    spread: Array

    @staticmethod
    def of(drawn: Sequence[Shared]) -> LinksByChance:
        """From graphs that are used for nothing else.

        Args:
            drawn: of each of them.
        """
        common, expected = (np.concatenate([getattr(one, key) for one in drawn]) for key in ("common", "expected"))
        judged = expected >= _LEAST
        common, expected = common[judged], expected[judged]
        if not len(expected):
            return LinksByChance(np.zeros(1), np.ones(1), np.ones(1))
        order = np.argsort(expected, kind="stable")
        parts = np.array_split(order, min(_CLASSES, max(len(order) // 50, 1)))
        at = np.array([np.log(expected[part]).mean() for part in parts])
        mean = np.array([common[part].sum() / expected[part].sum() for part in parts])
        left = [(common[p] - a * expected[p]) / np.sqrt(expected[p]) for p, a in zip(parts, mean, strict=True)]
        spread = np.array([max(float(np.sqrt(np.mean(one**2))), 1e-9) for one in left])
        return LinksByChance(at, mean, spread)

    def z(self, shared: Shared) -> Array:
        """(m,) how far the neighbours shared are from what chance gives; infinite where too few are expected.

        Args:
            shared: by the ends of each link.
        """
        expected = np.maximum(shared.expected, _LEAST)
        mean, spread = (np.interp(np.log(expected), self.at, values) for values in (self.mean, self.spread))
        z = (shared.common - mean * expected) / (spread * np.sqrt(expected))
        return np.asarray(np.where(shared.expected >= _LEAST, z, np.inf))

    def factor(self, shared: Shared) -> Array:
        """(m,) what chance gives for each neighbour expected by the formula."""
        return np.asarray(np.interp(np.log(np.maximum(shared.expected, _LEAST)), self.at, self.mean))


def shared_neighbours(ends: Ends, half: NDArray[np.bool_] | None = None) -> Shared:
    """Count the neighbours that the ends of each link share.

    Args:
        ends: of the links.
        half: (n,) one half of the nodes; none if not given.
    """
    from assay.models.network.link_prediction._kernels import shared_by_links

    A = PairScores(ends).either
    d = np.diff(A.indptr)
    picked = np.zeros(ends.n) if half is None else half.astype(np.float64)
    common, weighed = np.empty(len(A.indices)), np.empty(len(A.indices))
    shared_by_links(A.indptr, A.indices, picked, common, weighed)
    rows = np.repeat(np.arange(ends.n), d)
    cols = A.indices.astype(np.int64)
    once = (d[rows] > d[cols]) | ((d[rows] == d[cols]) & (rows > cols))
    sources, targets = rows[once], cols[once]
    ways = d.astype(np.float64) * (d - 1)
    expected = d[sources].astype(np.float64) * d[targets] * (ways.sum() / float(d.sum()) ** 2)
    share = float((ways * picked).sum() / max(ways.sum(), 1.0))
    return Shared(sources, targets, common[once], expected, weighed[once], share)

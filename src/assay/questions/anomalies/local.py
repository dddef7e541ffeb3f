"""Which rows have no neighbours, and which groups are so far apart that a row between them belongs to none?

metric    the covariance of differences between neighbours, long ones drawn in: the spread within groups, not between
lonely    log distance to the k-th neighbour, less the median of the same of its neighbours; k is 10, fewer of few rows
centres   of rows that are linked from neighbour to neighbour, if any two lie 5 standard deviations apart or more and
          those of less than a fifth of the rows are at least three: one or two such are rows that do not belong

Reference: Breunig, Kriegel, Ng, Sander, ACM SIGMOD Record 29 (2000), local outlier factors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from assay.arrays import Array, Indices
from assay.evidence.measured import robust_scale
from assay.questions.anomalies.gap import MOST

FEWEST = 60
MOST_COLUMNS = 20  # among more all rows are about as far from each other
_NEIGHBOURS = 10
_REFERENCE = 2000  # rows among which neighbours are looked for
_TURNS = 3
_REACH = 3.0
_AT_ONCE = 4_000_000  # distances held
_SMALLEST, _APART = 0.04, 5.0  # share of the rows of a group, and standard deviations between two
_CROWDED = 0.95  # share of the rows, those with the nearest neighbours, that make centres


@dataclass(frozen=True, slots=True, eq=False)
class LocalNeighbours:
    """Rows beside each other.

    Attributes:
        whiten: (d, d) to coordinates in which neighbours differ alike in every direction.
        among: (r, d) rows in these coordinates, among which neighbours are looked for.
        near: (r, k) their neighbours.
        far: (r,) how far the last of these is.
        lonely: (m,) how much farther each row's neighbours are than theirs, as a logarithm.
    """

    whiten: Array
    among: Array
    near: Indices
    far: Array
    lonely: Array

    @classmethod
    def of(cls, rows: Array, seed: int = 0) -> LocalNeighbours | None:
        """Of (m, d) rows in robust units; None where most are copies of each other.

        Args:
            rows: (m, d).
            seed: of the rows among which neighbours are looked for, where there are many.
        """
        m = len(rows)
        chosen = np.sort(np.random.default_rng(seed).permutation(m)[:_REFERENCE])
        k = min(_NEIGHBOURS, m // 10)
        whiten = np.eye(rows.shape[1])
        for _ in range(_TURNS):
            among = rows[chosen] @ whiten
            near, _ = _neighbours(among, among, np.arange(len(chosen)), k)
            steps = rows[chosen][near[:, : k // 2]] - rows[chosen][:, None]
            turned = _whitening(steps.reshape(-1, rows.shape[1]))
            if turned is None:
                return None
            whiten = turned
        own = np.full(m, -1)
        own[chosen] = np.arange(len(chosen))
        among = rows[chosen] @ whiten
        near, far = _neighbours(rows @ whiten, among, own, k)
        usual = float(np.median(far))
        if not usual > 0.0:
            return None
        # copies of each other have no distance; a tenth of the usual one is as good as none
        logs = np.log(far + 0.1 * usual)
        return cls(whiten, among, near[chosen], far[chosen], logs - np.median(logs[chosen][near], axis=1))

    def centres(self) -> Array:
        """(g, d) of groups far apart, in the coordinates; one where there are none."""
        crowded = self.far <= np.quantile(self.far, _CROWDED)
        of, to = np.repeat(np.arange(len(self.near)), self.near.shape[1]), self.near.ravel()
        linked = crowded[of] & crowded[to]
        links = coo_array((np.ones(int(linked.sum())), (of[linked], to[linked])), shape=(len(crowded), len(crowded)))
        labels = connected_components(links, directed=False)[1]
        shares = np.bincount(labels[crowded], minlength=int(labels.max()) + 1) / crowded.sum()
        groups = [crowded & (labels == g) for g in np.flatnonzero(shares >= _SMALLEST)]
        small = sum(float(group.sum()) < MOST * crowded.sum() for group in groups)
        if len(groups) > 1 and small not in (1, 2) and _far_apart([self.among[group] for group in groups]):
            return np.array([self.among[group].mean(axis=0) for group in groups])
        return np.asarray(self.among[crowded].mean(axis=0)[None])


def _far_apart(groups: list[Array]) -> bool:
    """Whether any two groups are, along the line between their centres."""
    for b, first in enumerate(groups):
        for second in groups[:b]:
            way = first.mean(axis=0) - second.mean(axis=0)
            length = float(np.linalg.norm(way))
            along = way / max(length, 1e-300)
            spread = np.mean([np.var(rows @ along) for rows in (first, second)]) ** 0.5
            if length < _APART * spread:
                return False
    return True


def _whitening(steps: Array) -> Array | None:
    """(d, d) that gives differences between neighbours the covariance of the identity."""
    _, spread = robust_scale(np.concatenate([steps, -steps]))
    if not (spread > 0.0).all():
        return None
    z = np.clip(steps / spread, -_REACH, _REACH)
    values, axes = np.linalg.eigh(z.T @ z / len(z))
    return np.asarray((axes / np.sqrt(np.maximum(values, 1e-6 * values[-1]))) / spread[:, None])


def _neighbours(rows: Array, among: Array, own: Indices, k: int) -> tuple[Indices, Array]:
    """(m, k) the nearest of some rows, and (m,) the distance to the last of them.

    Args:
        rows: (m, d).
        among: (r, d).
        own: (m,) which of `among` a row is itself, -1 for none.
        k: how many.
    """
    near, far = np.empty((len(rows), k), dtype=np.intp), np.empty(len(rows))
    lengths = np.einsum("ij,ij->i", among, among)
    step = max(1, _AT_ONCE // len(among))
    for i in range(0, len(rows), step):
        part, itself = rows[i : i + step], own[i : i + step]
        squares = lengths - 2.0 * part @ among.T + np.einsum("ij,ij->i", part, part)[:, None]
        here = np.flatnonzero(itself >= 0)
        squares[here, itself[here]] = np.inf
        found = np.argpartition(squares, k - 1, axis=1)[:, :k]
        values = np.take_along_axis(squares, found, axis=1)
        order = np.argsort(values, axis=1, kind="stable")
        near[i : i + step] = np.take_along_axis(found, order, axis=1)
        far[i : i + step] = np.sqrt(np.maximum(values.max(axis=1), 0.0))
    return near, far

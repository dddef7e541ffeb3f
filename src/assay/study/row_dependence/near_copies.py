"""Are rows copies of others, exactly or but for a little jitter?

Copies have neighbours that are far nearer than the next ones: the distance of a row to its neighbours jumps. In rows of
a law of m dimensions the k-th distance is smaller than the next by a factor J or more with a chance of J^-(m k). So J
is 10 on a line, where one row in ten jumps, and less where there are more dimensions: so that one row in a hundred
does, and 3 at least. m is taken from the distances beyond the jump, in columns that tell rows apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from assay.arrays import Array, Indices
from assay.data.row_hashes import hashes_of_numbers
from assay.evidence.design import Grouped
from assay.summary.distances.distances import squared_distances

_ASKED = 400  # rows whose neighbours are looked at
_NEAR = 16  # neighbours
_BLOCK = 16_384  # rows among which they are looked for at a time
_JUMPS = (3.0, 10.0)
_BEYOND = 4  # neighbours beyond the jump that tell of dimensions
_TELLS = 0.25  # of the rows, as many values has a column that tells rows apart
_SHARE = 0.25  # of rows whose distances jump: on a line it is one in nine
_LEAST = 0.1  # of the rows that must be copies
_MOST_LINKS = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class CopiesLook:
    """Rows that are copies.

    Attributes:
        copies: how many rows are copies of others.
        exact: whether all are the same to the last digit.
        design: copies of one row together.
    """

    copies: int
    exact: bool
    design: Grouped


def copies_look(X: Array, seed: int = 0, *, exact: bool = True) -> CopiesLook | None:
    """Rows that are copies of others; None where few are, or where few different values make rows coincide.

    Args:
        X: (n, D) rows.
        seed: of the rows looked at.
        exact: whether rows may coincide; where it is known that they do not, only near ones are looked for.
    """
    n = len(X)
    varying = np.flatnonzero(X.min(axis=0) < X.max(axis=0))
    if n < 20 or len(varying) < 2:
        return None
    same = _exact(X[:, varying]) if exact else None
    if same is not None:
        return same
    telling = varying[[len(np.unique(X[:, j])) >= _TELLS * n for j in varying]]
    if len(telling) < 2:
        return None
    units = _Units.of(X, telling)
    reach = _jump(units, np.random.default_rng(seed))
    if reach is None:
        return None
    label = _linked(units.rows(slice(None)), reach)
    if label is None:
        return None
    count = n - int(label.max()) - 1
    return CopiesLook(count, False, Grouped(n, label)) if count >= _LEAST * n else None


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """Some columns of rows in standard deviations, block by block."""

    X: Array
    columns: Indices
    mean: Array
    spread: Array

    @staticmethod
    def of(X: Array, columns: Indices) -> _Units:
        each = [(x.mean(), x.std()) for x in (X[:, j] for j in columns)]
        mean, spread = np.array(each).T
        return _Units(X, columns, mean, spread)

    def rows(self, which: slice | Indices) -> Array:
        return np.asarray((self.X[which][:, self.columns] - self.mean) / self.spread)


def _exact(X: Array) -> CopiesLook | None:
    """Rows that coincide; not where no column tells nearly all of the different rows apart."""
    label = np.unique(hashes_of_numbers(X), return_inverse=True)[1]
    different = int(label.max()) + 1
    if len(X) - different < _LEAST * len(X):
        return None
    if max(len(np.unique(x)) for x in X.T[:200]) < 0.9 * different:
        return None
    return CopiesLook(len(X) - different, True, Grouped(len(X), label))


def _jump(units: _Units, rng: np.random.Generator) -> float | None:
    """The distance that parts copies from other rows; None where distances do not jump."""
    n = len(units.X)
    asked = np.sort(rng.permutation(n)[:_ASKED])
    near = _nearest(units, asked, min(_NEAR, n - 1))
    floor = 1e-7 * np.sqrt(len(units.columns))  # rounding of squared distances
    # rows that coincide were looked at before
    jumps = np.where(near[:, :-1] > floor, near[:, 1:] / np.maximum(near[:, :-1], floor), 1.0)
    at = jumps.argmax(axis=1)
    rows = np.flatnonzero(jumps[np.arange(len(at)), at] >= _enough(near, at))
    if len(rows) < _SHARE * len(asked):
        return None
    below, above = np.median(near[rows, at[rows]]), np.median(near[rows, at[rows] + 1])
    return float(np.sqrt(below * above))


def _nearest(units: _Units, asked: Indices, k: int) -> Array:
    """(m, k) distances of some rows to their nearest others, ascending; a block of the others at a time."""
    own, near = units.rows(asked), np.empty((len(asked), 0))
    for start in range(0, len(units.X), _BLOCK):
        squares = np.maximum(squared_distances(own, units.rows(slice(start, start + _BLOCK))), 0.0)
        here = np.flatnonzero((asked >= start) & (asked < start + _BLOCK))
        squares[here, asked[here] - start] = np.inf
        found = np.concatenate([near, squares], axis=1)
        near = np.partition(found, k - 1, axis=1)[:, :k] if found.shape[1] > k else found
    return np.sort(np.sqrt(near), axis=1)


def _enough(near: Array, at: Indices) -> float:
    """The jump that one row in a hundred has by chance, by the dimensions that distances beyond the jumps show."""
    found = []
    for distances, jump in zip(near, at, strict=True):
        beyond = distances[jump + 1 :]
        if len(beyond) >= _BEYOND and beyond[0] > 0.0 and beyond[-1] > beyond[0]:
            found.append((len(beyond) - 1) / float(np.log(beyond[-1] / beyond[:-1]).sum()))
    low, high = _JUMPS
    return float(np.clip(100.0 ** (1.0 / np.median(found)), low, high)) if found else high


def _linked(Z: Array, reach: float) -> Indices | None:
    """(n,) rows that are linked by distances below reach; None where these are no small parts."""
    tree = cKDTree(Z)
    if tree.count_neighbors(tree, reach) > _MOST_LINKS:
        return None
    pairs = tree.query_pairs(reach, output_type="ndarray")
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(Z), len(Z)))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)

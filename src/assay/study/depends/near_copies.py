"""Are rows copies of others, exactly or but for a little jitter?

Copies have neighbours that are far nearer than the next ones: the distance of a row to its neighbours jumps. In rows of
a law of m dimensions the k-th distance is smaller than the next by a factor J or more with a chance of J^-(m k). So J
is 10 on a line, where one row in ten jumps, and less where there are more dimensions: so that one row in a hundred
does, and 3 at least. m is taken from the distances beyond the jump, in columns that tell rows apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from assay.data.row_hashes import hashes_of_numbers
from assay.evidence.design import Grouped
from assay.summary.distances import squared_distances

Array: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]

_ASKED = 400  # rows whose neighbours are looked at
_NEAR = 16  # neighbours
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
    varying = X.min(axis=0) < X.max(axis=0)
    X = X[:, varying]
    n, d = X.shape
    if n < 20 or d < 2:
        return None
    same = _exact(X) if exact else None
    if same is not None:
        return same
    X = X[:, [len(np.unique(x)) >= _TELLS * n for x in X.T]]
    if X.shape[1] < 2:
        return None
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    reach = _jump(Z, np.random.default_rng(seed))
    if reach is None:
        return None
    label = _linked(Z, reach)
    if label is None:
        return None
    count = n - int(label.max()) - 1
    return CopiesLook(count, False, Grouped(n, label)) if count >= _LEAST * n else None


def _exact(X: Array) -> CopiesLook | None:
    """Rows that coincide; not where no column tells nearly all of the different rows apart."""
    label = np.unique(hashes_of_numbers(X), return_inverse=True)[1]
    different = int(label.max()) + 1
    if len(X) - different < _LEAST * len(X):
        return None
    if max(len(np.unique(x)) for x in X.T[:200]) < 0.9 * different:
        return None
    return CopiesLook(len(X) - different, True, Grouped(len(X), label))


def _jump(Z: Array, rng: np.random.Generator) -> float | None:
    """The distance that parts copies from other rows; None where distances do not jump."""
    n = len(Z)
    asked = np.sort(rng.permutation(n)[:_ASKED])
    squares = np.maximum(squared_distances(Z[asked], Z), 0.0)
    squares[np.arange(len(asked)), asked] = np.inf
    k = min(_NEAR, n - 1)
    near = np.sort(np.sqrt(np.partition(squares, k - 1, axis=1)[:, :k]), axis=1)
    floor = 1e-7 * np.sqrt(Z.shape[1])  # rounding of squared distances
    # rows that coincide were looked at before
    jumps = np.where(near[:, :-1] > floor, near[:, 1:] / np.maximum(near[:, :-1], floor), 1.0)
    at = jumps.argmax(axis=1)
    rows = np.flatnonzero(jumps[np.arange(len(at)), at] >= _enough(near, at))
    if len(rows) < _SHARE * len(asked):
        return None
    below, above = np.median(near[rows, at[rows]]), np.median(near[rows, at[rows] + 1])
    return float(np.sqrt(below * above))


def _enough(near: Array, at: Numbers) -> float:
    """The jump that one row in a hundred has by chance, by the dimensions that distances beyond the jumps show."""
    found = []
    for distances, jump in zip(near, at, strict=True):
        beyond = distances[jump + 1 :]
        if len(beyond) >= _BEYOND and beyond[0] > 0.0 and beyond[-1] > beyond[0]:
            found.append((len(beyond) - 1) / float(np.log(beyond[-1] / beyond[:-1]).sum()))
    low, high = _JUMPS
    return float(np.clip(100.0 ** (1.0 / np.median(found)), low, high)) if found else high


def _linked(Z: Array, reach: float) -> Numbers | None:
    """(n,) rows that are linked by distances below reach; None where these are no small parts."""
    tree = cKDTree(Z)
    if tree.count_neighbors(tree, reach) > _MOST_LINKS:
        return None
    pairs = tree.query_pairs(reach, output_type="ndarray")
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(Z), len(Z)))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)

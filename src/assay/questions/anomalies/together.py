"""Which of the rows that do not belong lie together, far from all others?"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from assay.arrays import Array, Indices

FEWEST = 3  # rows that make a group
_NEAR = 0.5  # of the distance from the others


def together(rows: Array) -> Indices:
    """(s,) group of each row, from 0, the largest first; -1 for one that lies alone.

    Two rows lie together if they are less than half as far from each other as from the centre.

    Args:
        rows: (s, d) from the centre of the others.

    >>> together(np.array([[9.0, 9.0], [9.0, 8.5], [-7.0, 0.0], [8.8, 9.0]])).tolist()
    [0, 0, -1, 0]
    """
    if not len(rows):
        return np.empty(0, dtype=np.intp)
    rows = rows / np.abs(rows).max()
    far = np.linalg.norm(rows, axis=1)
    products = rows @ rows.T
    apart = np.sqrt(np.maximum(far[:, None] ** 2 + far**2 - 2.0 * products, 0.0))
    _, labels = connected_components(apart < _NEAR * np.minimum(far[:, None], far), directed=False)
    sizes = np.bincount(labels)
    rank = np.empty(len(sizes), dtype=np.intp)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.where(sizes[labels] >= FEWEST, rank[labels], -1)

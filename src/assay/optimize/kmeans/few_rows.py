"""k-means of few rows, many times: for resampling, where the same small search is made over and over.

The same method as `lloyd` (greedy k-means++, Lloyd's iteration, a centre without rows takes the farthest one), in one
compiled call that needs neither bounds nor threads of its own, and lets other threads run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.errors import ParameterError


@dataclass(frozen=True, slots=True, eq=False)
class Few:
    """Groups of few rows.

    Attributes:
        centers: (k, d).
        labels: (n,) the nearest centre of each row.
        inertia: sum of squared distances of rows to their centre.
        n_iter: iterations of the best start.
        converged: whether its centres came to rest.
    """

    centers: Array
    labels: NDArray[np.int32]
    inertia: float
    n_iter: int
    converged: bool


def group_few_rows(X: Array, k: int, *, seed: int = 0, n_init: int = 1, max_iter: int = 300, tol: float = 1e-4) -> Few:
    """Group rows around k centres so that the squared distances to them are small.

    Args:
        X: (n, d) finite.
        k: how many centres.
        seed: of the starts.
        n_init: how many starts; the best is kept.
        max_iter: most passes of a start.
        tol: stop when the sum of squared moves of the centres is at most this share of the mean variance of a column.

    >>> found = group_few_rows(np.array([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> sorted(found.centers[:, 0].tolist()), found.inertia
    ([0.5, 10.5], 1.0)
    """
    from assay.optimize.kmeans._few_rows_kernels import group_few

    if not 1 <= k <= len(X):
        raise ParameterError(f"k must be between 1 and the number of rows, {len(X)}; got {k}")
    mean = X.mean(axis=0)
    centred = np.ascontiguousarray(X - mean, dtype=np.float64)
    draws = np.random.default_rng(seed).random((n_init, k, 2 + int(np.log(k))))
    bound = tol * float((centred**2).mean())
    centers, labels, inertia, n_iter, converged = group_few(centred, k, draws, max_iter, bound)
    return Few(centers + mean, labels, float(inertia), int(n_iter), bool(converged))

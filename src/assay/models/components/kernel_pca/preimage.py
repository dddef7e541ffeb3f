"""Pre-images: the row whose image in feature space comes nearest to a point given as a sum of images.

For p = sum_i w_i phi(x_i) and the Gaussian kernel, |phi(x) - p|^2 = 1 - 2 g(x) + |p|^2 with g(x) = sum_i w_i k(x, x_i).
g has its stationary points where x = sum_i w_i k(x, x_i) x_i / g(x), which is iterated.

Reference: Mika, Schoelkopf, Smola, Mueller, Scholz and Raetsch, Kernel PCA and de-noising in feature spaces (1998).
"""

from __future__ import annotations

import warnings

import numpy as np

from assay.arrays import Array
from assay.errors import NotConverged
from assay.summary.gram.kernels import Gaussian

_TOL = 1e-6  # of sigma: steps shorter than this end the iteration
_MAX_ITER = 500


def gaussian_preimages(points: Array, weights: Array, kernel: Gaussian, start: Array) -> Array:
    """The rows whose images come nearest to points of feature space, from a start for each.

    The iteration may leave a good row for a worse one where weights are negative, so the best row met is kept, and one
    for which g is not positive stays where it is.

    Args:
        points: (n, d) the rows x_i.
        weights: (m, n) a sum of images per row.
        kernel: With its sigma.
        start: (m, d) where to begin.

    Returns:
        (m, d) rows.

    >>> gaussian_preimages(np.array([[0.0], [1.0]]), np.array([[1.0, 0.0]]), Gaussian(1.0), np.array([[0.8]])).round(4)
    array([[0.]])
    """
    middle = points.mean(axis=0)  # rows are averaged about it: far from zero their digits stay
    about = points - middle
    rows, best = start.copy(), start.copy()
    height = np.full(len(rows), -np.inf)
    moving = np.arange(len(rows))
    for _ in range(_MAX_ITER):
        terms = weights[moving] * kernel(rows[moving], points)
        g = terms.sum(axis=1)
        higher = g > height[moving]
        best[moving[higher]] = rows[moving[higher]]
        height[moving] = np.maximum(g, height[moving])
        moving, terms, g = moving[g > 0.0], terms[g > 0.0], g[g > 0.0]
        following = terms @ about / g[:, None] + middle
        steps = np.sqrt(np.sum((following - rows[moving]) ** 2, axis=1))
        rows[moving] = following
        moving = moving[steps > _TOL * float(kernel.sigma or 1.0)]
        if not len(moving):
            return best
    warnings.warn(
        f"{len(moving)} of {len(rows)} pre-images still moved after {_MAX_ITER} steps; the best rows met are given.",
        NotConverged,
        stacklevel=3,
    )
    return best

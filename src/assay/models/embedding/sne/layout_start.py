"""Where the points of a layout begin: close together, in an order that the data already show."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from assay.arrays import Array
from assay.linalg.eigen.top_svd import top_svd
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import power_of_two

SPREAD = 1e-4  # standard deviation of the first axis: repulsion between all points is linear there
JITTER = 1e-2  # of the spread, so that equal rows, and axes the rows do not have, can part
_PASSES = 60


def principal_start(X: Array, q: int, rng: np.random.Generator) -> Array:
    """(n, q) scores of (n, d) rows on their first principal axes, scaled.

    >>> principal_start(np.array([[0.0, 1.0], [4.0, 1.0]]), 1, np.random.default_rng(0)).round(4).ravel()
    array([-0.0001,  0.0001])
    """
    n, d = X.shape
    unit = power_of_two(X)
    centred = X / unit
    centred -= centred.mean(axis=0)
    k = min(q, n, d)
    scores = np.zeros((n, q))
    with one_blas_thread():  # its number of threads would change the last bits, and a layout makes them visible
        found = top_svd(centred, k)
    scores[:, :k] = found.left * found.values
    return scaled_start(scores, rng)


def spectral_start(P: sparse.csr_array, q: int, rng: np.random.Generator) -> Array:
    """(n, q) slow modes of the random walk along affinities, scaled; to the accuracy a start needs.

    >>> P = sparse.csr_array([[0.0, 0.25, 0.0], [0.25, 0.0, 0.25], [0.0, 0.25, 0.0]])
    >>> abs(spectral_start(P, 1, np.random.default_rng(0))[1, 0]) < 1e-5
    np.True_
    """
    n = int(P.shape[0])
    root = np.sqrt(np.maximum(np.asarray(P.sum(axis=1)).ravel(), np.finfo(float).tiny))
    S = sparse.csr_array(P / root[:, None] / root)
    with one_blas_thread():
        basis = np.linalg.qr(rng.standard_normal((n, min(n, q + 4))))[0]
        for _ in range(_PASSES):
            basis = np.linalg.qr(basis + S @ basis)[0]  # I + S has no negative eigenvalues to come up instead
        vectors = np.linalg.eigh(basis.T @ (S @ basis))[1][:, ::-1]
        modes = (basis @ vectors) / root[:, None]
    scores = np.zeros((n, q))
    taken = modes[:, 1 : q + 1]  # the first is constant
    taken = taken * np.where(taken[np.abs(taken).argmax(axis=0), np.arange(taken.shape[1])] < 0, -1.0, 1.0)
    scores[:, : taken.shape[1]] = taken
    return scaled_start(scores, rng)


def scaled_start(scores: Array, rng: np.random.Generator) -> Array:
    """Centred, with standard deviation 1e-4 along the first axis, and a little noise from the generator.

    >>> scaled_start(np.array([[0.0], [2.0]]), np.random.default_rng(0)).std().round(5)
    np.float64(0.0001)
    """
    scores = scores - scores.mean(axis=0)
    spread = float(scores[:, 0].std())
    scaled = scores / spread if spread > 0 else np.zeros_like(scores)
    return SPREAD * (scaled + JITTER * rng.standard_normal(scores.shape))

"""Directions along which groups may show as peaks: the columns, the largest components, and the most unusual ones.

    unusual   rows are made round, x -> W x of covariance I; the eigenvectors of E |Wx|^2 Wx (Wx)^T are directions of
              extreme kurtosis. For groups of one shape, however elongated, these hold the discriminants, without
              anybody knowing the groups

Reference: Tyler, Critchley, Duembgen and Oja, JRSS B 71 (2009), invariant coordinates; Pena and Prieto, JASA 96 (2001).
"""

from __future__ import annotations

import numpy as np

from assay.arrays import Array
from assay.linalg.eigen.top import top_eigen

_MOST = 10  # components
_WHITENED = 30  # columns that can be made round, at least ten rows each
_SMALL = 64
_FLAT = 1e-8  # share of the largest variance below which a direction holds nothing


def components(Z: Array, most: int = _MOST) -> Array:
    """(d, r) directions of the largest variance, those without any left out."""
    n, d = Z.shape
    centred = Z - Z.mean(axis=0)
    r = min(most, d, n - 1)
    values, axes = leading(centred, r)
    return np.asarray(axes[:, values > _FLAT * values[0]])


def leading(X: Array, r: int) -> tuple[Array, Array]:
    """(r,) the largest eigenvalues of X^T X and (d, r) their directions, by the smaller of X^T X and X X^T."""
    n, d = X.shape
    if d <= n:
        return _top(X.T @ X, r)
    values, vectors = _top(X @ X.T, r)
    return values, np.asarray(X.T @ (vectors / np.sqrt(np.maximum(values, np.finfo(float).tiny))))


def _top(A: Array, r: int) -> tuple[Array, Array]:
    """The r largest eigenpairs; of a small matrix without a certificate, which would take longer than they do."""
    if len(A) <= _SMALL:
        values, vectors = np.linalg.eigh(A)
        return values[::-1][:r], np.ascontiguousarray(vectors[:, ::-1][:, :r])
    found = top_eigen(A, r)
    return found.values, found.vectors


def unusual(Z: Array) -> Array:
    """(d, r) directions of extreme kurtosis, the least peaked first; among the largest components of many columns."""
    n, d = Z.shape
    base = components(Z, d if d <= min(_WHITENED, n // 10) else min(_MOST, n // 10))
    scores = (Z - Z.mean(axis=0)) @ base
    spread = scores.std(axis=0)
    round_ = scores / spread
    lengths = (round_**2).sum(axis=1)
    _, axes = np.linalg.eigh((round_ * lengths[:, None]).T @ round_ / n)
    return np.asarray((base / spread) @ axes)

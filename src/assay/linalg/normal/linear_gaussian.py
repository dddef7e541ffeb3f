"""Probabilistic principal components: the linear Gaussian model of rows, in closed form.

    model        x = mu + W z + e,  z ~ N(0, I_k),  e ~ N(0, v I_d)
    likelihood   x ~ N(mu, W W^T + v I),  W W^T + v I = A diag(l) A^T + v (I - A A^T),  A (d, k) orthonormal
    maximum      mu the mean, A and l_1..l_k the top eigenpairs of scatter / n, v the mean of the other eigenvalues

Reference: Tipping & Bishop, Journal of the Royal Statistical Society B 61, 1999.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError, SingularError
from assay.linalg.eigen.principal import axes_of_covariance, axes_of_rows
from assay.linalg.validate import as_count, as_matrix


@dataclass(frozen=True, slots=True, eq=False)
class LinearGaussian:
    """A normal distribution with k principal directions and the same variance in all others.

    Attributes:
        mean: (d,).
        axes: (d, k), orthonormal.
        variances: (k,) along the axes, descending.
        noise: variance in every direction orthogonal to them; without meaning where k = d.
    """

    mean: Array
    axes: Array
    variances: Array
    noise: float

    def log_density(self, X: ArrayLike) -> Array:
        """(n,) log densities of (n, d) rows."""
        centred = as_matrix(X, name="X", allow_empty=True) - self.mean
        d, k = self.axes.shape
        scores = centred @ self.axes
        spread = float(np.log(self.variances).sum())
        exponent = np.sum(scores**2 / self.variances, axis=1)
        if k < d:
            # the rest by subtracting rows, not squares: where the noise is small the squares would cancel
            exponent += np.sum((centred - scores @ self.axes.T) ** 2, axis=1) / self.noise
            spread += (d - k) * math.log(self.noise)
        found: Array = -0.5 * (exponent + spread + d * math.log(2.0 * math.pi))
        return found

    @property
    def covariance(self) -> Array:
        """(d, d): noise I + A diag(variances - noise) A^T."""
        return self.noise * np.eye(len(self.axes)) + (self.axes * (self.variances - self.noise)) @ self.axes.T

    @property
    def precision(self) -> Array:
        """(d, d) inverse of the covariance, from the same parts: (I - A A^T) / noise + A diag(1 / variances) A^T."""
        d, k = self.axes.shape
        along: Array = (self.axes / self.variances) @ self.axes.T
        return along if k == d else along + (np.eye(d) - self.axes @ self.axes.T) / self.noise


def probabilistic_pca(X: ArrayLike, k: int, *, least_noise: float = 0.0) -> LinearGaussian:
    """The linear Gaussian model with k hidden coordinates under which (n, d) rows are most likely.

    Args:
        X: (n, d) rows, at least two.
        k: how many coordinates; fewer than d and than n, unless least_noise is given.
        least_noise: the noise variance is at least this. With it any k has an answer: directions in which the rows do
            not spread have this variance.

    >>> rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.5], [0.0, -0.5]])
    >>> model = probabilistic_pca(rows, 1)
    >>> model.variances, model.noise
    (array([0.5]), 0.125)
    """
    rows = as_matrix(X, name="X")
    n, d = rows.shape
    if n < 2:
        raise ParameterError(f"a covariance needs two rows or more; got {n}.")
    k = min(as_count(k, 2**31, what="coordinates"), n - 1, d)
    mean = rows.mean(axis=0)
    if d <= n:
        centred = rows - mean
        top = axes_of_covariance(centred.T @ centred / n, k, "moments", 0)
        values = top.values[:k]
    else:
        top = axes_of_rows(rows, mean, np.ones(d), k, "gram", 0)
        values = top.values[:k] * ((n - 1) / n)
    left = float(np.sum((rows - mean) ** 2)) / n - float(values.sum())
    noise = max(left / (d - k) if d > k else 0.0, least_noise)
    if noise <= 1e-14 * float(values[0]):
        raise SingularError(
            f"k={k} leaves no noise in {n} rows of {d} columns: the density has no bound; "
            "take fewer, or give least_noise."
        )
    return LinearGaussian(mean, top.vectors[:, :k], np.maximum(values, noise), noise)

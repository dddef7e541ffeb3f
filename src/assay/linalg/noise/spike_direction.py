"""How well a sample component points where its direction in the population does, whatever the noise behind it.

    given    eigenvalues l_1 >= ... of the sample covariance, k of them real, nu degrees of freedom, d columns
    noise    the other eigenvalues as they are, so equal, uneven and correlated noise are alike: with averages over the
             nu - k rows' and d - k columns' worth of them, zeros included,
             a(x) = mean_rows 1 / (x - l_i),   b(x) = mean_columns 1 / (x - l_i),   D(x) = x a(x) b(x)
    reading  squared cosine  -b D / D'  at x = l_j, times  1 / (1 + sum_i l_i l_j / (nu (l_i - l_j)^2))  over the other
             real ones: what directions of almost the same variance turn into each other

For equal noise the first factor is `spike_alignment`. Both hold for rows that are independent and not far from normal.

References:
    Benaych-Georges and Nadakuditi, The singular values and vectors of low rank perturbations of large rectangular
    random matrices, J. Multivar. Anal. 111 (2012). Anderson, Asymptotic theory for principal component analysis,
    Ann. Math. Stat. 34 (1963).
"""

from __future__ import annotations

import numpy as np

from assay.arrays import Array

__all__ = ["direction_alignment"]


def direction_alignment(values: Array, nu: int, d: int, k: int) -> Array:
    """Expected squared cosine of each of the leading components with its direction in the population.

    Args:
        values: eigenvalues of the sample covariance, descending: all of them, or all that are not 0.
        nu: degrees of freedom, n - 1 for centred rows.
        d: columns.
        k: how many components are real.

    Returns:
        (k,) between 0 and 1; 0 where a component is as large as one that is not real.

    >>> direction_alignment(np.array([9.0, 1.2, 1.1, 0.9, 0.8]), 200, 5, 1).round(3)
    array([0.997])
    """
    real, noise = values[:k], values[k : min(nu, d)]
    if not k:
        return np.empty(0)
    rows, columns = max(nu - k, 1, len(noise)), max(d - k, 1, len(noise))
    gap = real[:, None] - noise
    apart = real > 0.0 if not len(noise) else (real > 0.0) & (gap.min(axis=1) > 0.0)
    x = np.where(apart, real, 1.0)
    inverse = 1.0 / np.where(apart[:, None], gap, 1.0)
    sides = []
    for size in (rows, columns):
        zeros = size - len(noise)
        sides.append(((inverse.sum(axis=1) + zeros / x) / size, -((inverse**2).sum(axis=1) + zeros / x**2) / size))
    (a, da), (b, db) = sides
    slope = a * b + x * (da * b + a * db)
    straight = -b * x * a * b / slope
    return np.where(apart, np.clip(straight, 0.0, 1.0) * _unmixed(real, nu), 0.0)


def _unmixed(real: Array, nu: int) -> Array:
    """What other real components of almost the same variance leave of each."""
    gap = real[:, None] - real
    np.fill_diagonal(gap, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        turned = (np.multiply.outer(real, real) / (nu * gap**2)).sum(axis=1)
    return np.asarray(1.0 / (1.0 + turned))

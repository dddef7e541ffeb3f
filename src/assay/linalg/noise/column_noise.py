"""Noise that differs from column to column: its level behind k components, and the edge of its spectrum.

Standardised columns do not carry equal noise: a column that a strong component explains has little left. What is left
of column i after the sample components v_1..v_k are taken out is the i-th diagonal entry of P Psi P, where
P = I - V V' and Psi is the diagonal noise. Solved for Psi, this gives the null "independent columns, each with its own
variance": what permuting columns draws from, in closed form.

References:
    El Karoui, Tracy-Widom limit for the largest eigenvalue of a large class of complex sample covariance matrices,
    Ann. Probab. 35 (2007); Lee and Schnelli, Ann. Appl. Probab. 26 (2016) for real data.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from assay.arrays import Array

__all__ = ["column_noise", "identified", "matching_flat_noise", "most_column_noise"]


_STEPS, _TOLERANCE = 100, 1e-6


def column_noise(residual: Array, components: Array, total: Array) -> Array:
    """The noise of each column, given what the first k components left of it.

    Args:
        residual: variance of each column after the components were taken out, (d,), per remaining degree of freedom.
        components: the components, orthonormal columns, (d, k).
        total: variance of each column before, (d,): no column has more noise than variance. Per the same degrees of
            freedom as `residual`, or the limit would cut the noise of columns that the components do not touch.

    Returns:
        psi, (d,), with diag(P diag(psi) P) = residual as far as 0 <= psi <= total allows.

    >>> V = np.full((4, 1), 0.5)
    >>> column_noise(np.full(4, 0.75), V, np.ones(4)).round(6)
    array([1., 1., 1., 1.])
    """
    d, k = components.shape
    if k == 0:
        return residual
    psi: Array = np.minimum(residual * d / (d - k), total)
    taken = np.einsum("ik,ik->i", components, components)
    for _ in range(_STEPS):  # multiplicative updates keep psi >= 0
        inner = components.T @ (psi[:, None] * components)
        left = psi * (1.0 - 2.0 * taken) + np.einsum("ik,ik->i", components @ inner, components)
        update = np.minimum(psi * residual / np.maximum(left, np.finfo(float).tiny), total)
        moved = np.abs(update - psi).max()
        psi = update
        if moved <= _TOLERANCE * total.max():
            break
    return psi


def most_column_noise(residual: Array, components: Array, total: Array) -> Array:
    """The most noise that `column_noise` can find, at once.

    diag(P diag(psi) P)_i = sum_j P_ij^2 psi_j >= P_ii^2 psi_i, so that psi_i <= residual_i / P_ii^2: hardly more than
    psi_i where columns are many and none of them is mostly one component.

    Args:
        residual, components, total: as for `column_noise`.

    >>> V = np.full((4, 1), 0.5)
    >>> most_column_noise(np.full(4, 0.75), V, np.full(4, 2.0)).round(6)
    array([1.333333, 1.333333, 1.333333, 1.333333])
    """
    left = 1.0 - np.einsum("ik,ik->i", components, components)
    return np.asarray(np.minimum(residual / np.maximum(left, np.sqrt(np.finfo(float).tiny)) ** 2, total))


def identified(d: int, k: int) -> bool:
    """Whether k components leave enough to tell the noise of d columns apart (Ledermann's bound).

    >>> identified(8, 4), identified(8, 5)
    (True, False)
    """
    return (d - k) * (d - k + 1) // 2 >= d


def matching_flat_noise(psi: Array, weights: Array, rows: float) -> tuple[float, float]:
    """The equal noise whose spectrum has the same upper edge and the same spread there.

    Args:
        psi: noise of each column, (d,), not all 0.
        weights: how much of each column is left, in [0, 1], (d,).
        rows: degrees of freedom.

    Returns:
        Variance and number of columns of the equal noise.

    >>> noise, columns = matching_flat_noise(np.full(50, 2.0), np.ones(50), 100)
    >>> round(noise, 6), round(columns, 6)
    (2.0, 50.0)
    """
    kept = (weights > 1e-6) & (psi > 0.0)
    top = psi[kept].max()
    share, weight = psi[kept] / top, weights[kept]

    # El Karoui's c = t / top solves sum (psi c / (1 - psi c))^2 = rows; then
    # edge = (1 + mean q) / c and spread^3 = (1 + mean q^3) / c^3, q = psi c / (1 - psi c), means over rows.
    def excess(t: float) -> float:
        return float(np.sum(weight * (share * t / (1.0 - share * t)) ** 2) - rows)

    t = float(brentq(excess, 0.0, 1.0 - 1e-13, xtol=1e-15))
    q = share * t / (1.0 - share * t)
    edge = (1.0 + np.sum(weight * q) / rows) / t
    spread = (1.0 + np.sum(weight * q**3) / rows) ** (1.0 / 3.0) / t
    # Equal noise: edge = s (1 + r)^2 and spread = s (1 + r)(1 + 1/r)^(1/3), r = sqrt(columns / rows),
    # so (edge / spread)^3 = r (1 + r)^2.
    ratio = float((edge / spread) ** 3)
    r = float(brentq(lambda x: x * (1.0 + x) ** 2 - ratio, 0.0, 1.0 + ratio, xtol=1e-15))
    return float(top * edge / (1.0 + r) ** 2), r * r * rows

"""SNE: points in few dimensions whose Gaussian similarities q match given ones p, row by row or as a whole.

    e_ij = exp(-|y_i - y_j|^2),  s_i = sum_j e_ij,  Z = sum_i s_i
    asymmetric  C = sum_i sum_j p_j|i log(p_j|i / q_j|i)     q_j|i = e_ij / s_i
                dC/dy_i = 2 sum_j (p_j|i + p_i|j - q_j|i - q_i|j) (y_i - y_j)
    symmetric   C = sum_ij p_ij log(p_ij / q_ij)             q_ij = e_ij / Z
                dC/dy_i = 4 sum_j (p_ij - q_ij) (y_i - y_j)

With p_ij = (p_j|i + p_i|j) / 2n both pull alike, and both push by e_ij (c_i + c_j) (y_i - y_j): c = 1 / 2 n s_i for the
first (whose gradient is divided by 4 n here, so that one rate serves both), c = 1 / 2 Z for the second.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from assay.arrays import Array
from assay.errors import DataError
from assay.optimize.layout.layout import (
    Callback,
    Layout,
    Stage,
    by_axis,
    checked_affinities,
    checked_start,
    descend,
    nothing_to_learn,
    plogp,
)
from assay.optimize.team import Team


class GaussianCost:
    """The divergence of SNE and its gradient over 4 n, or of symmetric SNE and its gradient over 4.

    Args:
        P: (n, n) p_j|i by rows, each with sum one; symmetric and with sum one as a whole if joint.
        q: dimensions of the layout.
        team: threads to use.
        joint: whether P is.
    """

    route = "exact"

    def __init__(self, P: sparse.csr_array, q: int, team: Team, *, joint: bool) -> None:
        n = int(P.shape[0])
        self._n, self._team, self._joint = n, team, joint
        self._P = P if joint else sparse.csr_array(P + P.T) / (2.0 * n)
        self._degree = np.asarray(self._P.sum(axis=1)).ravel()
        self._plogp = plogp(P)
        self._push, self._mass = np.empty((n, q)), np.empty(n)

    def gradient(self, Y: Array, exaggeration: float) -> Array:
        """Attraction less repulsion at (n, q) positions."""
        from assay.optimize.layout import _layout_kernels as kernels

        axes, mass, push, team = by_axis(Y), self._mass, self._push, self._team
        team.run(team.over_rows(self._n, lambda lo, hi: kernels.mass_gaussian(axes, axes, False, lo, hi, mass)))
        np.maximum(mass, np.finfo(float).tiny, out=mass)
        c = np.full(self._n, 0.5 / mass.sum()) if self._joint else 0.5 / (self._n * mass)
        team.run(team.over_rows(self._n, lambda lo, hi: kernels.repel_gaussian(axes, axes, c, c, lo, hi, push)))
        gradient: Array = exaggeration * self._laplacian(Y) - push
        return gradient

    def cost(self, Y: Array) -> float:
        """The divergence at the positions the gradient was taken at last."""
        apart = 2.0 * float((Y * self._laplacian(Y)).sum())  # sum_ij p_ij |y_i - y_j|^2
        if self._joint:
            return self._plogp + apart + float(np.log(self._mass.sum()))
        return self._plogp + self._n * apart + float(np.log(self._mass).sum())

    def _laplacian(self, Y: Array) -> Array:
        product: Array = self._degree[:, None] * Y - np.asarray(self._P @ Y)
        return product


def sne_layout(
    P: sparse.csr_array,
    start: ArrayLike,
    *,
    joint: bool,
    max_iter: int = 1000,
    early_exaggeration: float = 4.0,
    exaggeration_iter: int = 50,
    learning_rate: float | None = None,
    momentum: float = 0.95,
    tol: float = 1e-3,
    look_every: int = 50,
    threads: int | None = None,
    callback: Callback | None = None,
) -> Layout:
    """Lay out points by stochastic neighbour embedding, every pair summed: n^2 work per step.

    Args:
        P: (n, n) affinities. Joint: symmetric with sum one. Else row i holds p_j|i with sum one.
        start: (n, q) positions, q = 1, 2 or 3.
        joint: whether P is.
        max_iter: at most so many steps.
        early_exaggeration: factor of P in the first stage.
        exaggeration_iter: steps of the first stage.
        learning_rate: step per unit of gradient; n / exaggeration of the stage when not given.
        momentum: share of the last step added to the next in the second stage; at most .8 in the first.
        tol: stop when the divergence changed by no more than this share of itself between two looks.
        look_every: steps between looks.
        threads: how many; the result does not depend on it. All cores when not given.
        callback: called at each look as callback(iteration, divergence, positions); True stops.

    Returns:
        Layout; its divergence is the sum over rows if P is not joint.

    Reference: Hinton, Roweis, Stochastic neighbor embedding, NIPS 2002; Cook et al., AISTATS 2007.

    >>> P = sparse.csr_array(np.kron(np.eye(2), 1 - np.eye(3)) / 12)
    >>> found = sne_layout(P, np.random.default_rng(0).standard_normal((6, 1)) * 1e-4, joint=True)
    >>> bool(np.ptp(found.coordinates[:3]) < np.abs(found.coordinates[:3].mean() - found.coordinates[3:].mean()))
    True
    """
    positions = checked_start(start)
    n, q = positions.shape
    if joint:
        checked_affinities(P, n)
    else:
        checked_affinities(P, n, float(n))
        empty = np.flatnonzero(np.diff(P.indptr) == 0)
        if len(empty) and n > 1:
            raise DataError(f"point {empty[0]} has no affinity to any other; SNE needs a distribution in every row")
    if n < 3:
        return nothing_to_learn(positions)
    rates = [n / early_exaggeration, float(n)] if learning_rate is None else [learning_rate, learning_rate]
    stages = [
        Stage(min(exaggeration_iter, max_iter), early_exaggeration, min(momentum, 0.8), rates[0]),
        Stage(max_iter, 1.0, momentum, rates[1]),
    ]
    with Team(threads) as team:
        cost = GaussianCost(P, q, team, joint=joint)
        return descend(cost, positions, stages, tol=tol, look_every=look_every, callback=callback)

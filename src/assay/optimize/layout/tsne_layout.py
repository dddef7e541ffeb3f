"""t-SNE: points in few dimensions whose heavy-tailed similarities q match given ones p.

    cost      C = sum_ij p_ij log(p_ij / q_ij)       q_ij = w_ij / Z,  w_ij = 1 / (1 + |y_i - y_j|^2),  Z = sum w
    gradient  dC/dy_i = 4 [sum_j p_ij w_ij (y_i - y_j) - sum_j w_ij^2 (y_i - y_j) / Z]

The first sum runs over the entries of a sparse P, the second over all pairs (few points) or by a grid (many).

With a degrees of freedom w_ij = (1 + |y_i - y_j|^2 / a)^-a, the tails heavier for a < 1 and Gaussian for a -> infinity
(Kobak et al., ECML PKDD 2019). In u = y / sqrt(a) it is (1 + |u_i - u_j|^2)^-a, and

    cost      sum_ij p_ij log p_ij + a sum_ij p_ij log(1 + |u_i - u_j|^2) + log Z
    gradient  dC/dy_i = 4 sqrt(a) [sum_j p_ij v_ij (u_i - u_j) - sum_j v_ij^(a+1) (u_i - u_j) / Z],  v = 1 / (1 + |u|^2)

so that one kernel serves attraction, and a power of it repulsion.

The schedule was measured on 9,298 USPS digits (50 principal components, perplexity 30, divergence against one P with
Z from all pairs). scikit-learn ends at 1.608 after 1000 iterations, openTSNE at 1.607 after 750. With exaggeration 12
and rate n / 12 first, divergences after so many iterations in all:

    exaggerated for   then                               200      250      300      400     1000
    250               rate n / 12, momentum .8                             2.639    2.037    1.612
    250               rate n, momentum .8                                  2.009    1.762    1.582
    100               rate n, momentum .97              1.626    1.597    1.581    1.564
    100               rate n, momentum .97, restarts    1.614    1.592    1.582    1.571

Without restarts 60 to 1,000 points are thrown far apart and end higher than scikit-learn's; with them as low or lower.
Attraction alone is stable up to rate n / exaggeration, because the rows of P sum to about 1 / n; so the rate rises when
exaggeration ends. A grid spacing of .3 instead of .5 changes the divergence by less than .001.
"""

from __future__ import annotations

from copy import copy
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from assay.arrays import Array
from assay.errors import ParameterError
from assay.optimize.layout.grid_potential import GridPotential
from assay.optimize.layout.layout import (
    Callback,
    Layout,
    Stage,
    checked_affinities,
    checked_start,
    descend,
    nothing_to_learn,
    plogp,
    sparse_parts,
)
from assay.optimize.team import Team

Method: TypeAlias = Literal["auto", "exact", "grid"]

FEW = 700  # points below which one thread is as fast as two
EXACT = {1: 1000, 2: 1000, 3: 8000}  # points up to which all pairs are summed, by dimensions
SPACING = 0.4  # error of the repulsion 5e-3; openTSNE's is 3e-2 on the same layout
FINE = 0.25  # for the divergence that is told: Z to 1e-5


class StudentCost:
    """The divergence of t-SNE and its gradient, without the factor 4.

    Args:
        P: (n, n) symmetric, sum one.
        q: dimensions of the layout.
        team: threads to use.
        exact: whether to sum repulsion over all pairs.
        spacing: of the grid if not.
        dof: degrees of freedom a.
    """

    def __init__(
        self,
        P: sparse.csr_array,
        q: int,
        team: Team,
        *,
        exact: bool,
        spacing: float = SPACING,
        dof: float = 1.0,
    ) -> None:
        from assay.optimize.layout import _layout_kernels

        n = int(P.shape[0])
        self._kernels = _layout_kernels
        self.route = "exact" if exact else "grid"
        self._n, self._team, self._dof = n, team, dof
        self._P = sparse_parts(P)
        self._plogp = plogp(P)
        self._grid = None if exact else GridPotential(n, q, spacing, dof)
        self._pull, self._push, self._phi = np.empty((n, q)), np.empty((n, q)), np.empty(n)
        self._axes = np.zeros((3, n))
        self._Z = 1.0

    def refined(self, spacing: float) -> StudentCost:
        """The same cost on a finer grid, if it is on one."""
        finer = copy(self)
        if self._grid is not None:
            finer._grid = GridPotential(self._grid.n, self._grid.q, spacing, self._dof)
        return finer

    def gradient(self, Y: Array, exaggeration: float) -> Array:
        """Attraction less repulsion at (n, q) positions; overwritten by the next call."""
        team, grid, push, phi, dof, kernels = self._team, self._grid, self._push, self._phi, self._dof, self._kernels
        Y = Y if dof == 1.0 else Y / np.sqrt(dof)
        pull = team.over_rows(self._n, lambda lo, hi: kernels.attract_student(*self._P, Y, Y, lo, hi, self._pull))
        if grid is None:
            axes = self._axes
            axes[: Y.shape[1]] = Y.T

            def repel(lo: int, hi: int) -> None:
                if dof == 1.0:
                    kernels.repel_student(axes, lo, hi, push, phi)
                else:
                    kernels.repel_power(axes, dof, lo, hi, push, phi)

            team.run(pull + team.over_rows(self._n, repel))
            self._Z = float(phi.sum())
            push *= -1.0 / self._Z
        else:
            team.run(grid.charge_tasks(Y) + pull)
            grid.solve(team.threads)
            team.run(grid.gather_tasks(Y, phi, push, team))
            self._Z = float(phi.sum()) - self._n
            push *= 0.5 / dof / self._Z
        self._pull *= exaggeration
        self._pull += push
        if dof != 1.0:
            self._pull *= np.sqrt(dof)
        return self._pull

    def cost(self, Y: Array) -> float:
        """KL(P || Q) at the positions the gradient was taken at last."""
        U = Y if self._dof == 1.0 else Y / np.sqrt(self._dof)

        def work(lo: int, hi: int) -> None:
            self._kernels.apart_cost(*self._P, U, U, lo, hi, self._phi)

        self._team.run(self._team.over_rows(self._n, work))
        return self._plogp + self._dof * float(self._phi.sum()) + float(np.log(self._Z))


def tsne_layout(
    P: sparse.csr_array,
    start: ArrayLike,
    *,
    max_iter: int = 1000,
    early_exaggeration: float = 12.0,
    exaggeration_iter: int = 100,
    exaggeration: float = 1.0,
    dof: float = 1.0,
    learning_rate: float | None = None,
    momentum: float = 0.97,
    tol: float = 5e-3,
    look_every: int = 50,
    method: Method = "auto",
    threads: int | None = None,
    callback: Callback | None = None,
) -> Layout:
    """Lay out points so that near ones in P come to lie near each other.

    Args:
        P: (n, n) symmetric affinities, not negative, with sum one and nothing on the diagonal.
        start: (n, q) positions, q = 1, 2 or 3, spread over much less than 1; .0001 is usual.
        max_iter: at most so many steps.
        early_exaggeration: factor of P in the first stage.
        exaggeration_iter: steps of the first stage.
        exaggeration: factor of P in the second.
        dof: degrees of freedom of the similarities of points: heavier tails below 1, lighter ones above.
        learning_rate: step per unit of gradient; n / exaggeration of the stage when not given.
        momentum: share of the last step added to the next in the second stage; at most .8 in the first.
        tol: stop when the divergence changed by no more than this share of itself between two looks.
        look_every: steps between looks.
        method: "exact" sums over all pairs, "grid" by splines and Fourier transforms; "auto" by the number of points.
        threads: how many; the result does not depend on it. When not given all cores, but one for so few points that
            waking a thread takes as long as a step.
        callback: called at each look as callback(iteration, divergence, positions); True stops.

    Returns:
        Layout.

    Reference: van der Maaten, Hinton, JMLR 2008; Linderman et al., Nature Methods 2019; Belkina et al., Nature
    Communications 2019.

    >>> P = sparse.csr_array(np.kron(np.eye(2), 1 - np.eye(3)) / 12)
    >>> found = tsne_layout(P, np.random.default_rng(0).standard_normal((6, 1)) * 1e-4)
    >>> bool(np.ptp(found.coordinates[:3]) < np.abs(found.coordinates[:3].mean() - found.coordinates[3:].mean()))
    True
    """
    positions = checked_start(start)
    n, q = positions.shape
    checked_affinities(P, n)
    if method not in ("auto", "exact", "grid"):
        raise ParameterError(f'method is "auto", "exact" or "grid"; got {method!r}')
    if n < 3:
        return nothing_to_learn(positions)
    rates = [n / early_exaggeration, n / exaggeration] if learning_rate is None else [learning_rate, learning_rate]
    stages = [
        Stage(min(exaggeration_iter, max_iter), early_exaggeration, min(momentum, 0.8), rates[0]),
        Stage(max_iter, exaggeration, momentum, rates[1]),
    ]
    exact = method == "exact" or (method == "auto" and n <= EXACT[q])
    with Team(1 if threads is None and n < FEW else threads) as team:
        cost = StudentCost(P, q, team, exact=exact, dof=dof)
        judge = cost.refined(FINE)
        return descend(cost, positions, stages, tol=tol, look_every=look_every, callback=callback, judge=judge)

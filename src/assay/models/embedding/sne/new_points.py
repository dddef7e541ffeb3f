"""New points placed among fixed ones b_j by their own affinities, each row for itself.

    C_i = sum_j p_j|i log(p_j|i / q_j|i)      q_j|i = k(|y_i - b_j|) / sum_j k(|y_i - b_j|),  k Student's or Gaussian

The points b stay where they are, so the potential they make is solved for once, and a point's place does not depend on
which others are placed beside it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from assay.arrays import Array
from assay.optimize.layout.grid_potential import GridPotential
from assay.optimize.layout.layout import by_axis, sparse_parts
from assay.optimize.layout.tsne_layout import SPACING
from assay.optimize.team import Team

STEPS = 200
_RATE, _MOMENTUM, _LONGEST = 0.5, 0.8, 1.0


def place_student(
    P: sparse.csr_array, points: Array, start: Array, *, dof: float = 1.0, exaggeration: float = 1.0
) -> Array:
    """Places by t-SNE's cost.

    Args:
        P: (m, n) affinities of new points to fixed ones; rows sum to one.
        points: (n, q) the fixed ones.
        start: (m, q) where the new ones begin.
        dof: degrees of freedom of the layout.
        exaggeration: factor of P in its second stage.

    Returns:
        (m, q), within the box about the fixed points.

    >>> points = np.array([[0.0], [1.0], [9.0]])
    >>> place_student(sparse.csr_array([[0.5, 0.5, 0.0]]), points, np.array([[1.0]])).round(1)
    array([[0.5]])
    """
    from assay.optimize.layout import _layout_kernels as kernels

    m, q = start.shape
    pull, slope, phi, parts = np.empty((m, q)), np.empty((m, q)), np.empty(m), sparse_parts(P)
    unit = np.sqrt(dof)  # in u = y / sqrt(dof) as the layout does
    fixed = points / unit
    with Team() as team:
        grid = GridPotential(len(points), q, SPACING, dof)
        team.run(grid.charge_tasks(fixed))
        grid.solve(team.threads)

        def gradient(Y: Array) -> Array:
            U = Y / unit
            attract = team.over_rows(m, lambda lo, hi: kernels.attract_student(*parts, U, fixed, lo, hi, pull))
            team.run(attract + grid.gather_tasks(U, phi, slope, team))
            total: Array = unit * (exaggeration * pull + (0.5 / dof) * slope / phi[:, None])
            return total

        return _settle(gradient, start, points)


def place_gaussian(P: sparse.csr_array, points: Array, start: Array) -> Array:
    """Places by the cost of SNE; arguments as of `place_student`.

    >>> points = np.array([[0.0], [1.0], [9.0]])
    >>> place_gaussian(sparse.csr_array([[0.5, 0.5, 0.0]]), points, np.array([[1.0]])).round(1)
    array([[0.5]])
    """
    from assay.optimize.layout import _layout_kernels as kernels

    m, q = start.shape
    push, mass, fixed = np.empty((m, q)), np.empty(m), by_axis(points)
    zeros, aim = np.zeros(len(points)), np.asarray(P @ points)
    with Team() as team:

        def gradient(Y: Array) -> Array:
            at = by_axis(Y)
            team.run(team.over_rows(m, lambda lo, hi: kernels.mass_gaussian(at, fixed, True, lo, hi, mass)))
            own = 1.0 / mass
            team.run(team.over_rows(m, lambda lo, hi: kernels.repel_gaussian(at, fixed, own, zeros, lo, hi, push)))
            total: Array = Y - aim - push
            return total

        return _settle(gradient, start, points)


def weighted_median(P: sparse.csr_array, points: Array) -> Array:
    """(m, q) for each row of P and each axis, a coordinate of the points with half of the row's weight on either side.

    Args:
        P: (m, n) weights; each row has some.
        points: (n, q).

    >>> weighted_median(sparse.csr_array([[0.2, 0.2, 0.6]]), np.array([[0.0], [1.0], [9.0]]))
    array([[9.]])
    """
    m, q = int(P.shape[0]), points.shape[1]
    rows = np.repeat(np.arange(m), np.diff(P.indptr))
    found = np.empty((m, q))
    for axis in range(q):
        values = points[P.indices, axis]
        order = np.lexsort((values, rows))
        weight = np.cumsum(P.data[order])
        before = np.concatenate([[0.0], weight])[P.indptr[:-1]]
        after = weight[P.indptr[1:] - 1]
        found[:, axis] = values[order][np.searchsorted(weight, 0.5 * (before + after))]
    return found


def _settle(gradient: Callable[[Array], Array], start: Array, points: Array) -> Array:
    """Descent with momentum, dropped for a row whose last step led uphill; rows do not see each other."""
    low, high = points.min(axis=0), points.max(axis=0)
    Y = np.clip(start, low, high)
    step = np.zeros_like(Y)
    for _ in range(STEPS):
        g = gradient(Y)
        downhill: NDArray[np.bool_] = (g * step).sum(axis=1) <= 0.0
        step = _MOMENTUM * downhill[:, None] * step - _RATE * g
        length = np.sqrt((step * step).sum(axis=1))
        step *= (_LONGEST / np.maximum(length, _LONGEST))[:, None]
        Y = np.clip(Y + step, low, high)
    return Y

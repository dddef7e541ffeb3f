"""Distances of pairs against their distances on a map: stress and residual variance, from five sums.

    delta  the distance of a pair, d its distance on the map
    u = d - d0,  e = delta - delta0 - slope u         the line found on a first block of pairs
    sums   u, e, u^2, e^2, u e                        added up by blocks, no pair is held

Both measures are what is left over by a best fit. Taken from sums of delta and d themselves, a good map's would be lost
in rounding; taken from what is left of a line that is nearly the best already, they keep their digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.arrays import Array, Whole
from assay.engine.local import in_threads
from assay.linalg.one_thread import one_blas_thread
from assay.summary.distances.pairwise_blocks import Apart, own_places

QUERIES, CANDIDATES = 256, 1024  # of one block: 2 MB of distances
_PAIRS_PER_CHUNK = 2**24  # about a tenth of a second between two looks at an interrupt
_CONSTANT = 1e-12  # of the mean: distances that spread less are all equal


@dataclass(frozen=True, slots=True)
class PairFit:
    """How well distances on a map follow those of the data.

    Attributes:
        pairs: How many different pairs were compared.
        stress: sqrt(sum (delta - scale d)^2 / sum delta^2), stress-1 with the best scale.
        scale: What map distances are multiplied with to come closest.
        residual_variance: 1 - R^2 of the straight line between the two.
    """

    pairs: int
    stress: float
    scale: float
    residual_variance: float


class _Line(NamedTuple):
    delta0: float
    d0: float
    slope: float


def pair_fit(data: Apart, plane: Apart, rows: Whole) -> PairFit:
    """Compare all pairs of some points with all others.

    Args:
        data: Distances of the n points, n at least 2.
        plane: Their distances on the map.
        rows: (m,) different points to start from; all of them to compare every pair.

    >>> from assay.summary.distances.pairwise_blocks import Given
    >>> D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    >>> found = pair_fit(Given(D), Given(4 * D), np.arange(3))
    >>> found.pairs, round(found.stress, 12), round(found.scale, 12)
    (3, 0.0, 0.25)
    """
    from assay.summary.distances import _fidelity_kernels as kernels

    n = data.n
    step = queries_at_a_time(n)

    def add(start: int) -> Array:
        part = rows[start : start + step]
        sums = np.zeros(5)
        for first in range(0, n, CANDIDATES):
            last = min(first + CANDIDATES, n)
            delta, d = data.block(part, first, last), plane.block(part, first, last)
            own = own_places(part, first, last)
            delta[own], d[own] = line.delta0, line.d0  # u = e = 0: a point and itself are no pair
            kernels.line_sums(delta, d, line.delta0, line.d0, line.slope, sums)
        return sums

    with one_blas_thread():
        line = _pilot(data, plane, rows)
        sums = np.sum(in_threads(add, range(0, len(rows), step)), axis=0)
    met = len(rows) * (n - 1)  # a pair of two rows is met from both its ends
    stress, scale = _stress(sums, line, met)
    pairs = met - len(rows) * (len(rows) - 1) // 2
    return PairFit(pairs, stress, scale * (plane.unit / data.unit), _residual_variance(sums, line, met))


def queries_at_a_time(n: int) -> int:
    """How many points to compare with n others between two looks at an interrupt.

    >>> queries_at_a_time(100)
    256
    """
    return int(np.clip(_PAIRS_PER_CHUNK // n, 8, QUERIES))


def _pilot(data: Apart, plane: Apart, rows: Whole) -> _Line:
    """A line near the best one, from the first pairs."""
    part, last = rows[:QUERIES], min(data.n, CANDIDATES)
    pair = np.ones((len(part), last), dtype=bool)
    pair[own_places(part, 0, last)] = False
    delta, d = data.block(part, 0, last)[pair], plane.block(part, 0, last)[pair]
    delta0, d0 = float(delta.mean()), float(d.mean())
    u = d - d0
    spread = float(np.vdot(u, u))
    return _Line(delta0, d0, float(np.vdot(u, delta - delta0)) / spread if spread > 0.0 else 0.0)


def _stress(sums: Array, line: _Line, pairs: int) -> tuple[float, float]:
    u, e, uu, ee, ue = (float(value) for value in sums)
    delta0, d0, slope = line
    dd = pairs * d0 * d0 + 2 * d0 * u + uu
    delta = pairs * delta0 + e + slope * u
    ud = e * d0 + ue + slope * (u * d0 + uu)  # (delta - delta0) d, summed
    deltas = 2 * delta0 * delta - pairs * delta0 * delta0 + ee + 2 * slope * ue + slope * slope * uu
    if dd <= 0.0 or deltas <= 0.0:  # all points in one place, on the map or in the data or in both
        return (0.0 if dd <= 0.0 and deltas <= 0.0 else 1.0), 0.0
    scale = (ud + delta0 * (pairs * d0 + u)) / dd
    # delta - scale d = c + e + g u
    c, g = delta0 - scale * d0, slope - scale
    left = pairs * c * c + ee + g * g * uu + 2 * (c * e + c * g * u + g * ue)
    return float(np.sqrt(min(max(left / deltas, 0.0), 1.0))), scale


def _residual_variance(sums: Array, line: _Line, pairs: int) -> float:
    u, e, uu, ee, ue = (float(value) / pairs for value in sums)
    var_u, var_e, cov = uu - u * u, ee - e * e, ue - u * e
    var_delta = var_e + 2 * line.slope * cov + line.slope**2 * var_u
    flat = var_u <= (_CONSTANT * (line.d0 + u)) ** 2
    level = var_delta <= (_CONSTANT * (line.delta0 + e + line.slope * u)) ** 2
    if flat or level:  # a constant follows a constant, and nothing else
        return 0.0 if flat and level else 1.0
    return float(np.clip((var_e - cov * cov / var_u) / var_delta, 0.0, 1.0))

"""What chance does to moments that were released with noise: rows without structure, and the same noise on top.

Laws of chance know rows, not noise. So rows are drawn anew as chance would have them, normal, as many as there are,
with noise of the same size on their sums, and the statistic is taken of each draw as it is of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.linalg import double_double as dd
from assay.linalg.noise.monte_carlo import rank_p
from assay.summary.moments.moments import Moments
from assay.summary.sharing.release import Noise, semidefinite

DRAWS = 499


@dataclass(frozen=True, slots=True)
class NoisyChance:
    """What chance does to a statistic.

    Attributes:
        p: how often it does as well as the data.
        median: its middle.
        upper: what it exceeds with the level of the study.
        draws: how many were made.
    """

    p: float
    median: float
    upper: float
    draws: int


def noisy_chance(
    statistic: float, drawn: Callable[[np.random.Generator], float], *, level: float, seed: int, draws: int = DRAWS
) -> NoisyChance:
    """Draw until it is known how often chance does as well.

    Args:
        statistic: of the data.
        drawn: the same of a draw of chance.
        level: level of the study.
        seed: of the draws.
        draws: how many.
    """
    rng = np.random.default_rng(seed)
    values = np.array([drawn(rng) for _ in range(draws)])
    reached = int((values >= statistic).sum())
    upper = float(np.quantile(values, 1.0 - level, method="higher"))
    return NoisyChance(rank_p(reached, draws), float(np.median(values)), upper, draws)


def redrawn(m: Moments, covariance: Array, noise: Noise, rng: np.random.Generator) -> Moments:
    """Moments of as many normal rows with this covariance, released with the same noise.

    Args:
        m: whose count and mean are taken.
        covariance: (d, d) that chance has.
        noise: that goes on top.
        rng: of the draw.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    scatter = semidefinite(root @ wishart(m.count - 1, m.d, rng) @ root.T + noise.drawn(m.mean, rng))
    mean = m.mean + root @ rng.standard_normal(m.d) / np.sqrt(m.count) + noise.of_means(m.mean, m.count, rng)
    return Moments(m.count, m.weight_pair, dd.pair(mean), dd.pair(scatter), m.columns)


def wishart(free: int, d: int, rng: np.random.Generator) -> Array:
    """(d, d) scatter of `free` + 1 rows of independent standard normal columns, by Bartlett's triangle.

    Args:
        free: degrees of freedom.
        d: columns.
        rng: of the draw.
    """
    if free < d:
        rows = rng.standard_normal((free, d))
        return np.asarray(rows.T @ rows)
    triangle = np.tril(rng.standard_normal((d, d)), -1)
    triangle[np.diag_indices(d)] = np.sqrt(rng.chisquare(free - np.arange(d)))
    return np.asarray(triangle @ triangle.T)

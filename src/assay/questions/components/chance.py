"""What chance does to a spectrum, and how that is known where noise was added to the moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.linalg.noise.monte_carlo import rank_p
from assay.summary.moments.moments import Moments
from assay.summary.sharing.noisy_chance import DRAWS, wishart
from assay.summary.sharing.release import Noise

_FLAT = 1e-6  # of a variance: less is taken for none


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """What chance does to each tested eigenvalue.

    Attributes:
        p: (t,) probability that chance does as well.
        median: (t,) middle of the null.
        upper: (t,) what chance exceeds with probability level.
        n_real: leading components with p <= level, of at most 20 tested.
        draws: permutations behind it, 0 for the law.
        method: how, in one phrase.
    """

    p: Array
    median: Array
    upper: Array
    n_real: int
    draws: int
    method: str


def noisy_spectrum(
    values: Array, vectors: Array, total: Moments, A: Array, noise: Noise, *, most: int, level: float, seed: int
) -> Chance:
    """Columns that share nothing beyond the components found before, drawn anew with the noise that was added.

    For component k chance has the correlations  R_k = sum_{j < k} l_j v_j v_j^T + D,  D diagonal, such that each column
    keeps its variance, and the k-th eigenvalue of draws is held against that of the data; the first that fails ends it.

    Args:
        values: (r,) eigenvalues of the correlations, descending.
        vectors: (r, D) their directions.
        total: moments of the columns as they were released.
        A: (d, D) what becomes of them before correlations are taken.
        noise: that was added.
        most: how many components are tested at most.
        level: level of the study.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    unit = np.sqrt(np.diag((total @ A).scatter))
    n, D = total.count, A.shape[1]

    def eigenvalue(root: Array, k: int) -> float:
        S = root @ wishart(n - 1, D, rng) @ root.T / (n - 1)
        S += A.T @ noise.drawn(total.mean, rng) @ A / unit[:, None] / unit
        spread = np.sqrt(np.maximum(np.diag(S), _FLAT))
        return float(np.linalg.eigvalsh(S / spread[:, None] / spread)[-1 - k])

    p, median, upper = [], [], []
    for k in range(max(min(most, D - 1), 1)):
        shared = (vectors[:k].T * values[:k]) @ vectors[:k]
        own = np.maximum(1.0 - np.diag(shared), 0.0)
        root = np.linalg.cholesky(shared + np.diag(own) + _FLAT * np.eye(D))
        drawn = np.array([eigenvalue(root, k) for _ in range(DRAWS)])
        p.append(rank_p(int((drawn >= values[k]).sum()), DRAWS))
        median.append(float(np.median(drawn)))
        upper.append(float(np.quantile(drawn, 1.0 - level, method="higher")))
        if p[-1] > level:
            break
    n_real = int(np.cumprod(np.array(p) <= level).sum())
    how = "columns that share nothing more drawn anew, with the noise that was added"
    return Chance(np.array(p), np.array(median), np.array(upper), n_real, DRAWS, how)

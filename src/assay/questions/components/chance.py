"""What chance does to a spectrum, and how that is known where noise was added to the moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.linalg.monte_carlo import rank_p
from assay.summary.moments import Moments
from assay.summary.noisy_chance import DRAWS, wishart
from assay.summary.release import Noise

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """What chance does to each tested eigenvalue.

    Attributes:
        p: (t,) probability that chance does as well.
        median: (t,) middle of the null.
        upper: (t,) what chance exceeds with probability alpha.
        n_real: leading components with p <= alpha, of at most 20 tested.
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
    values: Array, total: Moments, A: Array, noise: Noise, tested: int, *, alpha: float, seed: int
) -> Chance:
    """Columns that know nothing of each other, drawn anew with the noise that was added.

    Each eigenvalue, over the mean of those from it on, is held against the largest of a draw: where others went before
    it that is more than chance has left for it, so that p errs on the side of nothing found.

    Args:
        values: (r,) eigenvalues of the correlations, descending.
        total: moments of the columns as they were released.
        A: (d, D) what becomes of them before correlations are taken.
        noise: that was added.
        tested: how many components are tested.
        alpha: level of the study.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    unit = np.sqrt(np.diag((total @ A).scatter))
    n, D = total.count, A.shape[1]

    def largest() -> float:
        S = wishart(n - 1, D, rng) / (n - 1) + A.T @ noise.drawn(total.mean, rng) @ A / unit[:, None] / unit
        spread = np.sqrt(np.maximum(np.diag(S), 1e-3))
        return float(np.linalg.eigvalsh(S / spread[:, None] / spread)[-1])

    drawn = np.array([largest() for _ in range(DRAWS)])
    left = np.array([values[j:].mean() for j in range(tested)])
    p = np.array([rank_p(int((drawn >= values[j] / left[j]).sum()), DRAWS) for j in range(tested)])
    n_real = int(np.cumprod(p <= alpha).sum())
    upper = np.quantile(drawn, 1.0 - alpha, method="higher")
    how = "independent columns drawn anew, with the noise that was added"
    return Chance(p, np.median(drawn) * left, upper * left, n_real, DRAWS, how)

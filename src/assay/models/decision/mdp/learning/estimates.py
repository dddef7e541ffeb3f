"""Counts drawn anew, or a half of them, as transitions and rewards, and their solution.

    trials   every trial gets a weight, exponential with mean 1, and counts with it (Rubin's bootstrap of whole trials);
             what happens in one trial stays together, and no pair that was seen is lost in a draw
    steps    every outcome gets a weight, gamma with its count as shape: draws from the Dirichlet posterior of each pair

A prior has a gamma weight of its own.

Reference: Rubin, The Bayesian bootstrap, Annals of Statistics 9 (1981).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.models.decision.mdp.learning.counts import Counts

By = Literal["trials", "steps"]
FEWEST_TRIALS = 20  # below, whole trials are too few to be drawn
_TOL = 1e-7  # distance from the optimum of a draw, as a share of the range of the values
_MOST = 100_000
_BEST, _CHOSEN, _USUAL = range(3)


class Estimates:
    """Transitions and rewards of one draw after another, in the same memory.

    Attributes:
        counts: what is drawn.
        by: what has a weight of its own, "trials" or "steps".
    """

    def __init__(self, counts: Counts, by: By, rng: np.random.Generator) -> None:
        self.counts, self.by, self._rng = counts, by, rng
        z, m = len(counts.after), len(counts.state)
        self.p, self.r, self.loose = np.empty(z), np.empty(m), np.empty(m)
        self.share, self.shut = np.empty(m), np.empty(m, np.bool_)
        self._w, self._g = np.empty(z), np.empty(z)
        steps = counts.trials
        self._trial, self._of_step = steps.trial.astype(np.int32), counts.of_step.astype(np.int32)
        self._mean = np.bincount(counts.of_step, steps.reward, minlength=z) / counts.count
        square = np.bincount(counts.of_step, (steps.reward - self._mean[counts.of_step]) ** 2, minlength=z)
        # of a mean of c rewards; one reward alone says nothing of its spread
        self._error = np.sqrt(square / np.maximum(counts.count - 1, 1) / counts.count)

    def as_counted(self, part: NDArray[Any] | None = None) -> None:
        """The estimates of the counts themselves, or of a half of them."""
        c = self.counts
        if part is not None and self.by == "trials":
            self._weigh(part.astype(np.float64))
        else:
            self._w[:] = c.count if part is None else part
            self._g[:] = self._mean * self._w
        self._estimate(np.full(len(c.state), c.prior))

    def draw(self, part: NDArray[Any] | None = None) -> None:
        """The next draw, of all or of a half."""
        c, rng = self.counts, self._rng
        if self.by == "trials":
            weights = rng.standard_exponential(c.trials.n_trials)
            self._weigh(weights if part is None else weights * part)
        else:
            self._w[:] = rng.standard_gamma((c.count if part is None else part).astype(np.float64))
            self._g[:] = self._w * (self._mean + self._error * rng.standard_normal(len(self._w)))
        self._estimate(rng.standard_gamma(np.full(len(c.state), c.prior)))

    def halves(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Two halves of the trials, or of the steps, by chance."""
        if self.by == "trials":
            T = self.counts.trials.n_trials
            one = np.zeros(T, np.bool_)
            one[self._rng.permutation(T)[: T // 2]] = True
            return one, ~one
        some = self._rng.binomial(self.counts.count, 0.5)
        return some, self.counts.count - some

    def _weigh(self, by_trial: Array) -> None:
        from assay.models.decision.mdp.learning import _kernels as kernels

        kernels.weigh(self._of_step, self._trial, self.counts.trials.reward, by_trial, self._w, self._g)

    def _estimate(self, prior: Array) -> None:
        from assay.models.decision.mdp.learning import _kernels as kernels

        c = self.counts
        kernels.estimate(
            c.first, c.start, c.after, self._w, self._g, c.usual, prior, c.unseen == "left out", self.p, self.r,
            self.loose, self.share, self.shut,
        )  # fmt: skip


class Solver:
    """Values and policies of estimates, each begun at values that are near."""

    def __init__(self, counts: Counts, discount: float) -> None:
        from assay.models.decision.mdp.learning import _kernels as kernels

        self._kernels: Any = kernels
        self._counts, self._discount = counts, discount
        reach = float(np.abs(counts.trials.reward).max(initial=0.0)) / (1.0 - discount)
        self.tol = _TOL * max(reach, float(np.abs(counts.trials.final).max(initial=0.0)), np.finfo(np.float64).tiny)

    def best(self, given: Estimates, v: Array) -> tuple[Array, Array, Whole]:
        """The best values (n,), those of pairs (m,), and the pairs chosen (n,)."""
        return self._run(given, v, np.full(self._counts.n, -1), _BEST)

    def follow(self, given: Estimates, v: Array, chosen: Whole) -> Array:
        """(n,) values of a policy."""
        return self._run(given, v, chosen.copy(), _CHOSEN)[0]

    def usual(self, given: Estimates, v: Array) -> Array:
        """(n,) values of the policy that takes actions as often as the trials drawn did."""
        return self._run(given, v, np.full(self._counts.n, -1), _USUAL)[0]

    def _run(self, given: Estimates, v: Array, chosen: Whole, way: int) -> tuple[Array, Array, Whole]:
        c = self._counts
        v, q = v.copy(), np.empty(len(c.state))
        self._kernels.solve(
            c.first, c.start, c.after, given.p, given.r, given.loose, given.share, given.shut, self._discount, chosen,
            way, self.tol, _MOST, v, q,
        )  # fmt: skip
        return v, q, chosen

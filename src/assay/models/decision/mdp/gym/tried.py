"""What was tried in an environment so far: outcomes of pairs, counted as they come, and plans made from them.

The pairs of state s are s k .. s k + k - 1; all trials end in a state n that is worth nothing. Plans are

    greedy       by the counts; an action never tried may lead anywhere and gives what a step gives on average
    optimistic   an action never tried is worth more than all that was seen, (highest reward + range) / (1 - discount);
                 one tried n times its reward and `width` standard errors of the value that it leads to:

                     sqrt((sum over its n steps of (v - mean)^2 + variance over all steps of its state) / (n (n + 1)))

so that plans go to where something is still to be learned that may be worth it, and no longer to what is clearly worse.
The variance of the state counts as one step more, since a few steps that led to one place do not say that all will.

References: Brafman and Tennenholtz, R-max, Journal of Machine Learning Research 3 (2002); Azar, Osband and Munos,
Minimax regret bounds for reinforcement learning, ICML (2017), for bonuses by the variance of the next value.
"""

from __future__ import annotations

import numpy as np

from assay.arrays import Array, Whole

_TOL = 1e-6  # of plans, as a share of the largest value
_MOST = 10_000


class Tried:
    """Counts of what was tried.

    Attributes:
        seen: (n k,) how often each pair was tried.
        steps: how many steps were made.
    """

    def __init__(self, n: int, k: int, discount: float) -> None:
        self.n, self.k, self.discount = n, k, discount
        self.seen = np.zeros(n * k, np.int64)
        self.steps = 0
        self._gain = np.zeros(n * k)
        self._places: dict[int, int] = {}
        self._pair: list[int] = []
        self._after: list[int] = []
        self._count: list[int] = []
        self._least, self._most = np.inf, -np.inf
        self._hopeful, self._plain = np.zeros(n + 1), np.zeros(n + 1)

    def add(self, state: int, action: int, reward: float, after: int, over: bool) -> int:
        """Count a step; how often its pair was tried by now."""
        pair, after = state * self.k + action, self.n if over else after
        place = self._places.setdefault(pair * (self.n + 1) + after, len(self._pair))
        if place == len(self._pair):
            self._pair.append(pair)
            self._after.append(after)
            self._count.append(0)
        self._count[place] += 1
        self.seen[pair] += 1
        self._gain[pair] += reward
        self.steps += 1
        self._least, self._most = min(self._least, reward), max(self._most, reward)
        return int(self.seen[pair])

    def optimistic(self, width: float) -> Whole:
        """(n,) the actions that lead to what was never tried, or to the most that may be there.

        Args:
            width: in standard errors.
        """
        self.greedy()
        heaven = 1.0
        if self.steps:
            heaven = self._most + (self._most - self._least or 1.0)
        r = self._gain / np.maximum(self.seen, 1) + width * self._unsure()
        r = np.where(self.seen == 0, heaven / (1.0 - self.discount), np.minimum(r, heaven))
        self._hopeful, chosen = self._planned(r, np.zeros(len(r)), self._hopeful)
        return chosen

    def _unsure(self) -> Array:
        """(n k,) standard error of the value of each pair; one more step varies as all of its state do."""
        v = self.discount * self._plain
        pair, after = np.array(self._pair, np.int64), np.array(self._after, np.int64)
        count = np.array(self._count, np.float64)
        n = self.seen.astype(np.float64)
        of_state = n.reshape(self.n, self.k).sum(axis=1)
        within, local = (
            _scatter(group, count, v[after], size) for group, size in ((pair, n), (pair // self.k, of_state))
        )
        spread = within + np.repeat(local / np.maximum(of_state, 1.0), self.k)
        return np.asarray(np.sqrt(spread / np.maximum(n * (n + 1.0), 1.0)))

    def greedy(self) -> Whole:
        """(n,) the best actions by what was seen."""
        usual = float(self._gain.sum()) / max(self.steps, 1)
        r = np.divide(self._gain, self.seen, out=np.full(len(self.seen), usual), where=self.seen > 0)
        self._plain, chosen = self._planned(r, (self.seen == 0).astype(np.float64), self._plain)
        return chosen

    def _planned(self, r: Array, loose: Array, v: Array) -> tuple[Array, Whole]:
        from assay.models.decision.mdp.learning import _kernels as kernels

        n, k, m = self.n, self.k, self.n * self.k
        pair, after = np.array(self._pair, np.int64), np.array(self._after, np.int64)
        count = np.array(self._count, np.float64)
        order = np.argsort(pair, kind="stable")
        pair, after = pair[order], after[order]
        p = count[order] / self.seen[pair]
        first = np.append(np.arange(0, m + 1, k), m)
        start = np.searchsorted(pair, np.arange(m + 1)).astype(np.int64)
        tol = _TOL * float(np.abs(r).max()) / (1.0 - self.discount)
        v, chosen, q = v.copy(), np.full(n + 1, -1), np.empty(m)
        kernels.solve(
            first.astype(np.int64), start, after, p, r, loose, loose, np.zeros(m, np.bool_), self.discount, chosen, 0,
            tol, _MOST, v, q,
        )  # fmt: skip
        return v, chosen[:n] - np.arange(n) * k


def _scatter(group: Whole, count: Array, value: Array, size: Array) -> Array:
    """Sums of squares about the means of groups."""
    mean = np.bincount(group, count * value, minlength=len(size)) / np.maximum(size, 1.0)
    return np.asarray(np.bincount(group, count * (value - mean[group]) ** 2, minlength=len(size)), np.float64)

"""The end of a small program: Newton steps on the variables between their bounds, until rounding is all that is left.

    min 1/2 b^T K b + q^T b,   sum b of each line constant,  lower <= b <= upper

Steps of one pair each come near a solution; which variables rest at a bound is then nearly known. The others, the
working set, solve linear equations. One that would leave its bounds stops there and leaves the set, one that is held
at a bound by the wrong sign enters it (an active set method). What comes of it is kept if it violates less, or costs
less where the end is not reached.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from assay.arrays import Array, Whole
from assay.optimize.smo.rows import KernelRows
from assay.optimize.smo.solver import Problem, Reached, violation

FEW = 512  # kernel rows: up to here it is worth it
_WORKING = 400  # variables between their bounds, at most
_ROUNDS = 40
_RIDGE = 1e-13  # of the largest K_ii: rows that are the same leave K singular
_ROUNDING = 1e-13  # of the largest K_ii times the sum of weights: what a gradient may be off by


class Finish:
    """Newton steps for one program, as often as asked.

    Args:
        problem: what to solve.
        kernel: K, by rows.
    """

    def __init__(self, problem: Problem, kernel: KernelRows) -> None:
        self._problem, self._kernel = problem, _Rows(kernel)

    def __call__(self, reached: Reached, tol: float, most: int) -> Reached:
        """A better point near the one reached, if there is one within a few Newton steps.

        Args:
            reached: where to begin.
            tol: violation allowed.
            most: steps allowed.
        """
        search = _WorkingSet(self._problem, self._kernel, reached)
        before, value = search.violation(), search.objective()
        if before <= search.rounding:
            return reached
        steps = search.run(min(most, _ROUNDS))
        after = search.violation()
        if not (after < before or (after > tol and search.objective() < value)):
            return reached
        return replace(reached, beta=search.beta, f=search.f, converged=after <= tol, steps=reached.steps + steps)


class _Rows:
    """Rows of a kernel matrix, each computed once when it is asked for."""

    def __init__(self, kernel: KernelRows) -> None:
        n = len(kernel.diagonal)
        self.largest = float(np.abs(kernel.diagonal).max(initial=0.0))
        self._values, self._known = np.empty((n, n)), np.zeros(n, dtype=np.bool_)
        self._fill = kernel.among(None, self._values.dtype)

    def __getitem__(self, rows: Whole) -> Array:
        """(m, n) their values."""
        missing = np.unique(rows[~self._known[rows]])
        if len(missing):
            part = np.empty((len(missing), len(self._known)))
            self._fill(missing, part)
            self._values[missing], self._known[missing] = part, True
        return self._values[rows]


class _WorkingSet:
    """The variables, their gradient, and which of them are solved for."""

    def __init__(self, problem: Problem, kernel: _Rows, reached: Reached) -> None:
        self._p, self._members, self._kernel = problem, problem.members(), kernel
        self.beta, self.f = reached.beta.copy(), reached.f.copy()
        self.working: NDArray[np.bool_] = (self.beta > problem.lower) & (self.beta < problem.upper)
        self._one_by_one = False
        self.rounding = _ROUNDING * (kernel.largest * float(np.abs(self.beta).sum()) or 1.0)

    @property
    def gradient(self) -> Array:
        """(N,) the gradient."""
        return np.asarray(self.f[self._p.rows] + self._p.linear)

    def violation(self) -> float:
        """The largest of all lines; at least 0."""
        up, low, G = self.beta < self._p.upper, self.beta > self._p.lower, self.gradient
        return max(0.0, *(violation(G[line], up[line], low[line]) for line in self._members))

    def objective(self) -> float:
        """What is minimised."""
        return 0.5 * float(self.beta @ (self.f[self._p.rows] + 2.0 * self._p.linear))

    def run(self, most: int) -> int:
        """Steps until no variable has to leave or enter the working set; how many there were."""
        for taken in range(most):
            W = np.flatnonzero(self.working)
            if len(W) > _WORKING:
                return taken
            if len(W) and not self._step(W):
                continue
            entering = self._wrong()
            if not len(entering):
                return taken + 1
            self.working[entering] = True
        return most

    def _step(self, W: NDArray[np.intp]) -> bool:
        """A Newton step, as far as bounds let it go; whether it was a whole one."""
        values = self._kernel[self._p.rows[W]]
        step = self._newton(W, values)
        beta, lower, upper = self.beta[W], self._p.lower[W], self._p.upper[W]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0, upper - beta, beta - lower) / np.abs(step)
        room[step == 0.0] = np.inf
        first = int(np.argmin(room))
        share = min(1.0, float(room[first]))
        after = np.clip(beta + share * step, lower, upper)
        if share < 1.0:
            after[first] = upper[first] if step[first] > 0 else lower[first]
            self.working[W[first]] = False
            self._one_by_one = self._one_by_one or share == 0.0
        self.f += (after - beta) @ values
        self.beta[W] = after
        return share == 1.0

    def _newton(self, W: NDArray[np.intp], values: Array) -> Array:
        """The change that makes the gradients on each line the same, the sum of each line kept.

        One variable of each line, the reference, takes what the others give. In these others K is that of differences
        from the reference, and regular where only the sum of a line makes K itself singular.
        """
        reference = np.full(len(W), -1)
        for line in self._members:
            own = np.flatnonzero(line[W])
            reference[own] = own[:1]
        others = np.flatnonzero(reference != np.arange(len(W)))
        to = reference[others]
        step = np.zeros(len(W))
        if not len(others):
            return step
        K, G = values[:, self._p.rows[W]], self.gradient[W]
        K = K[others] - K[to]
        K = K[:, others] - K[:, to]
        K[np.diag_indices(len(K))] += _RIDGE * (float(np.diag(K).max()) or 1.0)
        try:
            factor = cho_factor(K, check_finite=False)
        except LinAlgError:  # no Mercer kernel
            return step
        step[others] = cho_solve(factor, G[to] - G[others], check_finite=False)
        np.subtract.at(step, to, step[others])
        return step if np.isfinite(step).all() else np.zeros(len(W))

    def _wrong(self) -> NDArray[np.intp]:
        """Variables at a bound that would lower the objective, if they left it."""
        up, low, G, found = self.beta < self._p.upper, self.beta > self._p.lower, self.gradient, []
        for line in self._members:
            inside = line & self.working
            rises, falls = np.flatnonzero(line & up & ~inside), np.flatnonzero(line & low & ~inside)
            if inside.any() and not self._one_by_one:
                rho = float(G[inside].mean())
                found += [rises[G[rises] < rho - self.rounding], falls[G[falls] > rho + self.rounding]]
            elif violation(G[line], up[line], low[line]) > self.rounding:
                ends = np.where(line & up, G, np.inf), np.where(line & low, -G, np.inf)
                found.append(np.array([np.argmin(end) for end in ends]))
        return (
            np.setdiff1d(np.concatenate(found), np.flatnonzero(self.working)) if found else np.empty(0, dtype=np.intp)
        )

"""The solver of SMO: blocks of violating variables, one after another; then Newton steps, where rows are few.

    min 1/2 b^T K_r b + q^T b    with  sum b of each line constant,  lower <= b <= upper,  (K_r)_ij = K[r_i, r_j]

Blocks    `BlockSolver` takes the variables that violate optimality most, from both sides, and half of the last block.
The kernel rows of a block come from one product, its own small problem is solved in compiled code, and f = K b is
brought up to date at once. Rows whose variables rest at a bound, as far as can be seen, are left out; at the end all
rows are judged by f computed anew, from float64 kernel values, and those that do not rest are worked on again.

Finish    steps of one pair each come near a solution; which variables rest at a bound is then nearly known. The
others, the working set, solve linear equations (`Finish`). One that would leave its bounds stops there and leaves the
set, one that is held at a bound by the wrong sign enters it: an active set method, until rounding is all that is left.
What comes of it is kept if it violates less, or costs less where the end is not reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from assay.arrays import Array, Whole
from assay.optimize.smo.rows import KernelRows, RowCache, weighted_rows
from assay.optimize.team import Team

BLOCK = 768  # variables solved at once, at most
_SMALL_BLOCK = 256  # of the problems that do not fit in one block, the smallest have such
_PART = 8  # a block is at most this part of more variables: the first is chosen blindly, and its rows may be wasted
_STEPS = 100  # steps in a block, for each of its variables, before the others are looked at again
_SHARE = 0.1  # of a block's violation is left when the next one is taken
_LOOK_EVERY = 10  # blocks between two attempts to set rows aside
_WORTH = 0.8  # of the rows must be left at most, else the columns stay as they are
_WORST = 6.0  # standard deviations of the difference of two f that rounding may come to
_TRUST = 3  # judgements after which no more rows are set aside
_JUDGEMENTS = 6  # by float64 values, before more float32 ones are thought useless
FEW = 512  # kernel rows: up to here Newton steps at the end are worth it
_WORKING = 400  # variables between their bounds, at most
_ROUNDS = 40
_RIDGE = 1e-13  # of the largest K_ii: rows that are the same leave K singular
_ROUNDING = 1e-13  # of the largest K_ii times the sum of weights: what a gradient may be off by


@dataclass(frozen=True, slots=True, eq=False)
class SmoProblem:
    """A box and a line, in signed variables.

    Attributes:
        linear: (N,) q.
        lower: (N,), may be -inf.
        upper: (N,), may be inf.
        rows: (N,) the kernel row of each variable.
        lines: (N,) the line of each variable, counted from 0, where there are several; None for one.
    """

    linear: Array
    lower: Array
    upper: Array
    rows: Whole
    lines: Whole | None = None

    def members(self) -> list[NDArray[np.bool_]]:
        """(N,) which variables are on each line."""
        if self.lines is None:
            return [np.ones(len(self.rows), dtype=np.bool_)]
        return [self.lines == line for line in range(int(self.lines.max(initial=0)) + 1)]


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop, and how much memory to use.

    Attributes:
        tol: violation allowed.
        max_iter: steps allowed.
        cache_mb: for kernel rows, in MiB.
        shrinking: whether rows at rest are set aside.
        stop: whether to end where it stands, asked between blocks.
    """

    tol: float
    max_iter: int
    cache_mb: float
    shrinking: bool
    stop: Callable[[], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """Where the loop ended.

    Attributes:
        beta: (N,) the variables.
        f: (n,) K b, from float64 kernel values; empty at the start.
        converged: whether the violation is within the tolerance.
        steps: of one pair each.
        computed: kernel rows, those computed again included.
    """

    beta: Array
    f: Array
    converged: bool
    steps: int
    computed: int


class BlockSolver:
    """One run at one precision.

    Args:
        problem: what to solve.
        kernel: K, by rows.
        dtype: of the kernel values.
        limits: when to stop.
        team: threads.
    """

    def __init__(
        self, problem: SmoProblem, kernel: KernelRows, dtype: np.dtype[Any], limits: Limits, team: Team
    ) -> None:
        self._p, self._kernel, self._limits = problem, kernel, limits
        self._dtype, self._team, self._again = dtype, team, 0
        self._n = len(kernel.diagonal)
        self._diagonal = kernel.diagonal[problem.rows]
        # a pair of equal rows has no curvature; its step goes to the bound
        self._tiny = 1e-12 * max(float(np.abs(kernel.diagonal).max(initial=0.0)), 1e-300)
        self._error = 0.0 if dtype == np.float64 else kernel.error(dtype)
        self._cache = RowCache(kernel, dtype, int(limits.cache_mb * 2**20 / dtype.itemsize), team)
        many = len(problem.rows)
        block = BLOCK if many <= BLOCK else max(_SMALL_BLOCK, min(BLOCK, many // _PART))
        self._size = max(2, min(block, self._cache.capacity))

    def run(self, start: Reached, most: int | None = None) -> Reached:
        """Solve from a feasible start, whose f is used if it has one.

        Args:
            start: where to begin.
            most: steps in all after which to stop, those of the start among them; max_iter when not given.
        """
        self._begin(start)
        most = self._limits.max_iter if most is None else most
        steps, blocks, judged = start.steps, 0, 0
        while True:
            G, up, low = self._standing()
            left, stop = violation(G, up, low), self._stop()
            hidden = stop < self._limits.tol / 2 or (self._error > 0.0 and judged > _JUDGEMENTS)
            over = steps >= most or hidden or self._limits.stop()
            done = left <= (self._limits.tol if self._exact else stop)
            taken = 0 if done or over else self._improve(G, up, low, stop, most - steps)
            if taken == 0:  # done, or over, or rounding lets no pair move
                if self._exact:
                    break
                self._judge()
                judged += 1
                continue
            steps += taken
            blocks += 1
            if self._limits.shrinking and judged < _TRUST and blocks % _LOOK_EVERY == 0:
                self._set_aside()
        return Reached(self._beta, self._f, left <= self._limits.tol, steps, self._cache.computed + self._again)

    def _begin(self, start: Reached) -> None:
        self._beta, self._last = start.beta.copy(), np.empty(0, dtype=np.int64)
        if len(start.f):
            self._f, self._exact = start.f.copy(), True
            self._take_all()
        else:
            self._judge()

    def _take_all(self) -> None:
        self._active = np.arange(len(self._p.rows))
        self._local = self._p.rows

    def _row_weights(self) -> Array:
        """(n,) b: the sum of the variables on each kernel row."""
        return np.bincount(self._p.rows, self._beta, self._n).astype(np.float64)

    def _stop(self) -> float:
        """The violation at which to stop, so that what rounding of the kernel values hides stays within tol.

        Roundings of single values are taken as independent: f_i is off by about error |b|. Two of them are compared,
        the worst of many, which is allowed for by a factor.
        """
        return self._limits.tol - _WORST * self._error * float(np.linalg.norm(self._beta))

    def _standing(self) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """Gradient of the active variables, and which of them may rise and fall.

        Only differences along a line matter. Of several lines each gradient is taken less the middle of what violates
        on its line, so that they can be compared: the largest violation of all is that of one line.
        """
        active, p = self._active, self._p
        beta, G = self._beta[active], self._f[self._local] + p.linear[active]
        up, low = beta < p.upper[active], beta > p.lower[active]
        if p.lines is not None:
            G -= _middles(G, up, low, p.lines[active])
        return G, up, low

    def _improve(self, G: Array, up: NDArray[np.bool_], low: NDArray[np.bool_], stop: float, budget: int) -> int:
        """Solve one block and bring f up to date; returns the steps taken."""
        from assay.optimize.smo._smo_kernels import solve_block, solve_block_of_lines

        chosen = self._block(G, up, low, stop)
        self._last = self._active[chosen]
        chosen = chosen[np.argsort(self._local[chosen], kind="stable")]  # kernel values are read in the order they lie
        variables, local = self._active[chosen], self._local[chosen]
        columns, member = np.unique(local, return_inverse=True)
        slots = self._cache.slots(columns if self._cache.columns is None else self._cache.columns[columns])
        K = self._cache.block(slots[member], local)
        beta, gradient = self._beta[variables], G[chosen]
        left = violation(gradient, up[chosen], low[chosen])
        # a block that holds every variable is the problem itself
        goal = stop if len(chosen) == len(G) else max(_SHARE * left, stop)
        lower, upper = self._p.lower[variables], self._p.upper[variables]
        most = min(_STEPS * self._size, budget)
        diagonal = self._diagonal[variables]
        block = K, diagonal, beta, gradient, lower, upper, goal, most, self._tiny
        lines = self._p.lines
        taken = int(solve_block(*block) if lines is None else solve_block_of_lines(lines[variables], *block))
        change: Array = np.bincount(member, beta - self._beta[variables], len(columns)).astype(np.float64)
        moved = np.flatnonzero(change)
        self._cache.add(slots[moved], change[moved], self._f)
        self._beta[variables] = beta
        self._exact = self._exact and self._dtype == np.float64
        return taken if len(moved) else 0

    def _block(self, G: Array, up: NDArray[np.bool_], low: NDArray[np.bool_], stop: float) -> Whole:
        """Positions of the block's variables: half of the last block, free and new ones first, then violating ones."""
        rising, falling = np.where(up, G, np.inf), np.where(low, -G, np.inf)
        least, highest = float(rising.min()), -float(falling.min())
        position = np.full(len(self._beta), -1)
        position[self._active] = np.arange(len(self._active))
        kept = position[self._last]
        kept = kept[kept >= 0]
        kept = kept[np.argsort((up & low)[kept], kind="stable")][-(self._size // 2) :]
        taken = np.zeros(len(G), dtype=np.bool_)
        taken[kept] = True
        chosen = [kept]
        for keys, beyond, share in ((rising, highest - stop / 2, 2), (falling, stop / 2 - least, 1)):
            violating = np.flatnonzero((keys < beyond) & ~taken)
            room = (self._size - sum(map(len, chosen))) // share
            chosen.append(violating[_smallest(keys[violating], room)])
            taken[chosen[-1]] = True
        return np.concatenate(chosen)

    def _set_aside(self) -> None:
        """Leave out the rows all of whose variables rest at a bound and would go on to do so at any threshold left."""
        G, up, low = self._standing()
        if not (up.any() and low.any()):
            return
        least, highest = G[up].min(), G[low].max()
        resting = (~up & (least > G)) | (~low & (highest < G))
        staying = np.bincount(self._local[~resting], minlength=len(self._f)) > 0
        if staying.sum() > _WORTH * len(self._f):
            return
        self._exact = False
        self._cache.narrow(np.flatnonzero(staying))
        self._f = self._f[staying]
        left = staying[self._local]
        self._active = self._active[left]
        self._local = (np.cumsum(staying) - 1)[self._local[left]]

    def _judge(self) -> None:
        """Take all rows again, their f anew from float64 kernel values."""
        b = self._row_weights()
        support = np.flatnonzero(b)
        self._f = weighted_rows(self._kernel, support, b[support], self._team)
        self._again += len(support)
        self._exact = True
        self._take_all()
        if self._cache.columns is not None:
            self._cache.restart()


def violation(G: Array, up: NDArray[np.bool_], low: NDArray[np.bool_]) -> float:
    """How far the largest gradient that may fall lies above the least that may rise; at most 0 at a solution."""
    return float(np.where(low, G, -np.inf).max(initial=-np.inf) - np.where(up, G, np.inf).min(initial=np.inf))


def _middles(G: Array, up: NDArray[np.bool_], low: NDArray[np.bool_], lines: Whole) -> Array:
    """(N,) the middle between the largest gradient that may fall and the least that may rise, of each one's line."""
    middle = np.zeros(int(lines.max(initial=0)) + 1)
    for line in range(len(middle)):
        rising, falling = G[up & (lines == line)], G[low & (lines == line)]
        ends = [float(rising.min())] * (len(rising) > 0) + [float(falling.max())] * (len(falling) > 0)
        middle[line] = sum(ends) / max(len(ends), 1)
    return middle[lines]


def _smallest(keys: Array, k: int) -> Any:
    return np.argpartition(keys, k - 1)[:k] if 0 < k < len(keys) else slice(0, max(k, 0))


class Finish:
    """Newton steps for one program, as often as asked.

    Args:
        problem: what to solve.
        kernel: K, by rows.
    """

    def __init__(self, problem: SmoProblem, kernel: KernelRows) -> None:
        self._problem, self._kernel = problem, _KnownRows(kernel)

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


class _KnownRows:
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

    def __init__(self, problem: SmoProblem, kernel: _KnownRows, reached: Reached) -> None:
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

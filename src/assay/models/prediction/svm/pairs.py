"""One machine for each pair of classes, on kernel rows that the pairs share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.engine.local import available_cores
from assay.errors import DataError
from assay.linalg.one_thread import one_blas_thread
from assay.models.prediction.svm.hard_margin import HardMargin, hard_margin
from assay.models.prediction.svm.kernel_pairs import GroupedRows
from assay.models.prediction.svm.margin import Margin
from assay.models.prediction.svm.nu import most_nu, solve_nu
from assay.models.prediction.svm.primal import is_tall, solve_primal
from assay.models.prediction.svm.squared import ridge as ridge_of
from assay.models.prediction.svm.squared import with_gap
from assay.models.prediction.svm.training import Training
from assay.optimize.smo.rows import KernelRows, RidgedRows
from assay.optimize.smo.smo import SMO, smo
from assay.optimize.smo.start import spread

_SIDE_BY_SIDE = 4096  # rows of a pair: larger ones are solved one after another, each by all threads
_SHARED = 0.5  # of the cache is for what pairs share
_ROUNDING = 1e-12
_NAMED = 5  # rows named in a refusal


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop, and how much memory to use.

    Attributes:
        tol: violation allowed, in units of the margin.
        cache_mb: for kernel values, in MiB.
        max_iter: steps allowed for a pair.
        price: C, told with each machine.
    """

    tol: float
    cache_mb: float
    max_iter: int
    price: float = 1.0


@dataclass(frozen=True, slots=True)
class Form:
    """What is minimised.

    Attributes:
        nu: share of margin errors, in place of a price; None for prices.
        squared: whether slacks are squared.
    """

    nu: float | None = None
    squared: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """The boundary between two classes.

    Attributes:
        found: the solution of the dual; its variables are those of the first class's rows and then the second's.
        signs: (m,) y of these rows.
        route: how it was found.
        price: of a unit of slack of a row whose class and weight count once.
        ridge: (m,) what squared slacks add to the diagonal of the kernel matrix; None where they are not squared.
    """

    found: SMO
    signs: Array
    route: str
    price: float
    ridge: Array | None = None

    @property
    def weights(self) -> Array:
        """(m,) y a: the shares of the rows in the boundary's normal w."""
        return self.signs * self.found.alpha

    @property
    def length(self) -> float:
        """Length of w; not a number where the kernel is no Mercer kernel and the square is negative."""
        total = float(self.found.alpha.sum())
        square = 2.0 * (self.found.objective + total)
        if self.ridge is not None:
            square -= float(self.ridge @ self.found.alpha**2)
        return float(np.sqrt(max(square, 0.0))) if square >= -_ROUNDING * total else float("nan")


def pairs_of(g: int) -> list[tuple[int, int]]:
    """Every pair of g classes, in scikit-learn's order.

    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(g), 2))


def signs_of(first: int, second: int, g: int) -> Array:
    """Signs y of the rows of a pair: the first class is positive; of two classes in all the second, as in scikit-learn.

    >>> signs_of(2, 1, g=3)
    array([ 1.,  1., -1.])
    """
    one = -1.0 if g == 2 else 1.0
    return np.repeat([one, -one], [first, second])


class PairSolver:
    """Solves every pair of classes of training rows, as often as asked, from one source of kernel rows.

    Args:
        training: the rows.
        names: of the classes.
        limits: when to stop.
        form: what is minimised.
        hold: whether to compute the whole kernel matrix once, if it fits into the cache.
    """

    def __init__(
        self, training: Training, names: NDArray[Any], limits: Limits, form: Form, *, hold: bool = False
    ) -> None:
        self._training, self._names, self._limits, self._form = training, names, limits, form
        self._pairs, self._groups = pairs_of(len(names)), training.groups()
        self._largest = max(len(self._groups[a]) + len(self._groups[b]) for a, b in self._pairs)
        X = training.points
        linear = training.origin is not None and X is not None and form.nu is None
        self._tall = linear and X is not None and is_tall(self._largest, X.shape[1])
        self._margins: dict[int, Margin] = {}  # of the pairs solved in the primal, for the next price
        self._kernel = training.source(limits.cache_mb if hold and not self._tall else 0.0)
        self._rows = GroupedRows(self._kernel, self._groups, _SHARED * limits.cache_mb)
        self._weights = [] if training.weights is None else np.split(training.weights, np.cumsum(training.counts)[:-1])
        self._stopped = Event()

    def solve(self, prices: Array, before: Sequence[Machine] | None = None, growth: float = 1.0) -> list[Machine]:
        """The machine of each pair.

        Args:
            prices: (g,) C of each class; infinite for a hard margin. With nu their proportions count.
            before: the machines for prices that were lower by the factor `growth`, to begin with.
            growth: at least 1.
        """
        small = self._kernel.threads and self._largest <= _SIDE_BY_SIDE and not self._tall
        beside = min(available_cores(), len(self._pairs)) if small else 1
        how: dict[str, Any] = {
            "tol": self._limits.tol,
            "max_iter": self._limits.max_iter,
            "cache_mb": (1.0 - _SHARED if len(self._pairs) > 1 else 1.0) * self._limits.cache_mb / beside,
            "threads": 1 if beside > 1 else None,
            "stop": self._stopped.is_set,
            "warn": False,
        }

        def one(k: int) -> Machine:
            return self._one(k, prices, None if before is None else before[k].found, growth, how)

        if beside == 1:
            return [one(k) for k in range(len(self._pairs))]
        with one_blas_thread():  # here: OpenBLAS does not heed it in other threads than the main one
            return self._side_by_side(one, beside)

    def _side_by_side(self, one: Callable[[int], Machine], threads: int) -> list[Machine]:
        """Results in order; an interrupt or error ends the searches under way at their next block."""
        with ThreadPoolExecutor(threads, "assay-pairs") as pool:
            waiting = [pool.submit(one, k) for k in range(len(self._pairs))]
            try:
                return [machine.result() for machine in waiting]
            except BaseException:
                self._stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _one(self, k: int, prices: Array, before: SMO | None, growth: float, how: dict[str, Any]) -> Machine:
        a, b = self._pairs[k]
        sizes = len(self._groups[a]), len(self._groups[b])
        y, C = signs_of(*sizes, len(self._groups)), np.repeat(prices[[a, b]], sizes)
        if self._training.weights is not None:
            C *= np.concatenate([self._weights[c] for c in (a, b)])
        whole = len(self._pairs) == 1 and self._training.points is not None  # sorted rows, all of them
        kernel = self._kernel if whole else self._rows.pair(a, b)
        if self._form.nu is not None:
            return self._by_nu((a, b), kernel, y, C, how)
        ridge = None
        if not np.isinf(C).any():
            found = self._soft(k, kernel, y, C, before, growth, how, squared=self._form.squared)
            ridge = ridge_of(C) if self._form.squared else None
        else:

            def raised(price: float, lower: SMO | None) -> SMO:
                return self._soft(k, kernel, y, np.full(len(y), price), lower, 1.0, how)

            hard = hard_margin(raised, y, float(np.sqrt(spread(kernel).mean())) or 1.0)
            if not hard.separable:
                raise self._refusal(hard, (a, b))
            found = hard.found
        route = "primal" if k in self._margins else f"dual {found.precision}"
        return Machine(found, y, route, self._limits.price, ridge)

    def _by_nu(self, pair: tuple[int, int], kernel: KernelRows, y: Array, C: Array, how: dict[str, Any]) -> Machine:
        """The machine of a share of margin errors."""
        nu, who = self._form.nu or 0.0, " and ".join(str(self._names[c]) for c in pair)
        most = most_nu(y, C)
        if nu > most * (1.0 + _ROUNDING):
            raise DataError(
                f"nu is at most {most:.6g} for classes {who}, where the smaller has half of that share of the weight: "
                f"rows within the margin are shared evenly between both; got {nu:g}. Lower nu, or weigh the classes"
            )
        unit = float(np.sqrt(spread(kernel).mean())) or 1.0
        found = solve_nu(kernel, y, C, min(nu, most), unit, how)
        if found is None:
            raise DataError(
                f"classes {who} overlap so far that with nu={nu:g} no boundary has a margin: raise nu, up to "
                f"{most:.6g}, or give a kernel that bends more"
            )
        return Machine(found[0], y, f"dual {found[0].precision}", found[1])

    def _soft(
        self,
        k: int,
        kernel: KernelRows,
        y: Array,
        C: Array,
        before: SMO | None,
        growth: float,
        how: dict[str, Any],
        *,
        squared: bool = False,
    ) -> SMO:
        """The solution for finite prices: in the primal for tall rows, unless that falls short."""
        X = self._training.points
        if self._tall and X is not None:
            rows = np.concatenate([self._groups[c] for c in self._pairs[k]])
            table = X if len(rows) == len(X) else X[rows]
            found, margin = solve_primal(table, y, C, how["tol"], self._margins.get(k), squared=squared)
            if found.converged:
                self._margins[k] = margin
                return found
            self._margins.pop(k, None)
            before, growth = found, 1.0
        start: dict[str, Any] = {}
        if squared:
            start = {} if before is None else {"start": before.alpha}
            with one_blas_thread():
                found = smo(RidgedRows(kernel, ridge_of(C)), -np.ones(len(y)), 0.0, np.inf, signs=y, **start, **how)
            return with_gap(found, y, C)
        if before is not None:  # all variables times a number: so is the gradient, but for its constant
            start = {"start": growth * before.alpha, "start_gradient": growth * (before.gradient + 1.0) - 1.0}
        with one_blas_thread():
            return smo(kernel, -np.ones(len(y)), 0.0, C, signs=y, **start, **how)

    def _refusal(self, hard: HardMargin, pair: tuple[int, int]) -> DataError:
        """What to say of classes without a hard margin."""
        counts, kernel = self._training.counts, self._training.kernel
        cuts = np.split(self._training.order, np.cumsum(counts)[:-1])
        rows = np.concatenate([cuts[c] for c in pair])[hard.inside]
        who = f"classes {self._names[pair[0]]!s} and {self._names[pair[1]]!s}"
        most = f"{hard.largest_margin:.2g}, {hard.largest_margin / hard.unit:.1g} of the spread of the rows"
        if not hard.decided:
            return DataError(
                f"it is not decided after the steps allowed whether {who} have a hard margin with {kernel!r}: it is at "
                f"most {most}. Raise max_iter, or give a finite C for a soft margin"
            )
        some = ", ".join(str(row) for row in rows[:_NAMED])
        more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
        return DataError(
            f"{who} have no hard margin with {kernel!r}: no boundary leaves one of more than {most}. In the way, the "
            f"worst first, are rows {some}{more} (counted from 0). Give a finite C for a soft margin, or a kernel that "
            "bends more"
        )

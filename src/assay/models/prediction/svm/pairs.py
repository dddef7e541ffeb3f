"""One machine for each pair of classes: on kernel rows that the pairs share, or by passes over rows that are not held.

    pair (a, b)   K over the rows of a and b:  [[K_aa, K_ab], [K_ba, K_bb]]

K_aa is part of every pair that a is in: it is computed once and shared, as far as memory allows. A row of K_ab is part
of one pair only and is computed when that pair asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.data.blocks import FloatBlocks
from assay.data.codes import short
from assay.errors import DataError, ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.models.prediction.svm.margin import Margin
from assay.models.prediction.svm.passes import GAP, Ends, Line, MarginTable
from assay.models.prediction.svm.two_class import (
    HardMargin,
    hard_margin,
    is_tall,
    most_nu,
    ridge,
    solve_nu,
    solve_primal,
    with_gap,
)
from assay.optimize.smo.rows import Fill, KernelRows, MatrixRows, RidgedRows, Values, spread
from assay.optimize.smo.smo import SMO, smo
from assay.optimize.team import available_cores
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernel_rows import HOLD, kernel_rows
from assay.summary.gram.kernels import Gaussian, Kernel, Linear, Precomputed

_SIDE_BY_SIDE = 4096  # rows of a pair: larger ones are solved one after another, each by all threads
_SHARED = 0.5  # of the cache is for what pairs share
_ROUNDING = 1e-12
_NAMED = 5  # rows named in a refusal


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """Rows sorted by class, so that a pair of classes is two runs of rows; a kernel matrix stays as it is given.

    Attributes:
        kernel: with its defaults filled in.
        order: (n,) the given number of each sorted row; rows of weight zero are left out.
        counts: (g,) rows in each class.
        weights: (n,) of the sorted rows, by which C is multiplied; None for 1.
        points: (n, d) sorted rows; None for a kernel matrix.
        origin: (d,) what the linear kernel takes off the points, their mean; None with any other.
        held: (n, n) a kernel matrix as it was given; None for rows.
    """

    kernel: Kernel
    order: Whole
    counts: Whole
    weights: Array | None
    points: Array | None
    origin: Array | None
    held: Array | None

    @staticmethod
    def of(kernel: Kernel, X: Array, codes: NDArray[np.intp], g: int, weights: Array | None = None) -> Training:
        """Sort (n, d) rows, or note the order of an (n, n) kernel matrix, by class numbers from 0 to g - 1."""
        order, counts = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=g)
        if weights is not None:
            order = order[weights[order] > 0.0]
            counts, weights = np.bincount(codes[order], minlength=g), weights[order]
        if isinstance(kernel, Precomputed):
            return Training(kernel, order, counts, weights, None, None, X)
        kernel.diagonal(X)  # refuses what overflows
        points, origin = X[order], None
        if isinstance(kernel, Linear):
            origin = points.mean(axis=0)
            points -= origin
        return Training(kernel, order, counts, weights, points, origin, None)

    @property
    def sizes(self) -> Array:
        """(g,) weight of the rows of each class."""
        if self.weights is None:
            return self.counts.astype(np.float64)
        return np.add.reduceat(self.weights, np.cumsum(self.counts) - self.counts)

    def source(self, hold_mb: float = 0.0) -> KernelRows:
        """Kernel rows for the solver; the whole matrix is computed if it fits into so many MiB."""
        n = len(self.order)
        if self.held is not None:
            return kernel_rows(Gram(self.kernel, len(self.held), None, self.held))
        plain = isinstance(self.kernel, Gaussian | Linear)
        factor = self.points if isinstance(self.kernel, Linear) else None
        held = self.kernel(self.points) if not plain and n <= HOLD else None
        rows = kernel_rows(Gram(self.kernel, n, self.points, held, factor))
        if held is not None or 8 * n**2 > hold_mb * 2**20:
            return rows
        values = np.empty((n, n))
        rows.among(None, values.dtype)(np.arange(n), values)
        return MatrixRows(values)

    def groups(self) -> list[Whole]:
        """The kernel rows of each class, rising."""
        numbers: Any = np.arange(len(self.order)) if self.held is None else self.order
        return np.split(numbers, np.cumsum(self.counts)[:-1])


class GroupedRows:
    """A kernel matrix whose rows lie in groups.

    Args:
        kernel: K, by rows.
        groups: the rows of each group, rising.
        shared_mb: memory for the parts K_aa, in MiB; where they need more, none is kept.

    >>> rows = GroupedRows(MatrixRows(np.diag([1.0, 2.0, 3.0])), [np.array([0]), np.array([1]), np.array([2])])
    >>> rows.pair(0, 2).diagonal
    array([1., 3.])
    """

    def __init__(self, kernel: KernelRows, groups: Sequence[Whole], shared_mb: float = 128.0) -> None:
        self.kernel, self.groups = kernel, groups
        values = sum(len(group) ** 2 for group in groups)
        self._bytes = shared_mb * 2**20 / max(values, 1) if len(groups) > 2 else 0.0  # there is room for, of each value
        self._tables: dict[tuple[int, np.dtype[Any]], Values] = {}
        self._errors: dict[np.dtype[Any], float] = {}
        self._locks = [Lock() for _ in groups]

    def pair(self, a: int, b: int) -> KernelRows:
        """Rows of the kernel matrix of two groups, those of the first before those of the second."""
        return _PairRows(self, a, b)

    def own(self, a: int, dtype: np.dtype[Any]) -> Values | None:
        """(m, m) the kernel matrix of one group; None where memory does not suffice for those of all."""
        if dtype.itemsize > self._bytes:
            return None
        with self._locks[a]:
            if (a, dtype) not in self._tables:
                group = self.groups[a]
                table = np.empty((len(group), len(group)), dtype=dtype)
                self.kernel.among(group, dtype)(group, table)
                self._tables[a, dtype] = table
            return self._tables[a, dtype]

    def error(self, dtype: np.dtype[Any]) -> float:
        """Typical size of the error of a value of this dtype, over all groups."""
        if dtype not in self._errors:
            self._errors[dtype] = self.kernel.error(dtype)
        return self._errors[dtype]


class _PairRows:
    def __init__(self, whole: GroupedRows, a: int, b: int) -> None:
        self._whole, self._sides = whole, (a, b)
        self._first = len(whole.groups[a])  # rows from here on are those of b
        self.diagonal = whole.kernel.diagonal[np.concatenate([whole.groups[a], whole.groups[b]])]
        self.threads = whole.kernel.threads

    def error(self, dtype: np.dtype[Any]) -> float:
        return self._whole.error(dtype)

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        held = np.arange(len(self.diagonal)) if columns is None else columns
        cut = int(np.searchsorted(held, self._first))
        blocks = (slice(0, cut), slice(cut, len(held)))
        places = held[:cut], held[cut:] - self._first
        groups = [self._whole.groups[side] for side in self._sides]
        fills = [self._whole.kernel.among(group[at], dtype) for group, at in zip(groups, places, strict=True)]
        tables = [self._whole.own(side, dtype) for side in self._sides]

        def fill(rows: Whole, out: Values) -> None:
            middle = int(np.searchsorted(rows, self._first))
            for i, (part, own) in enumerate(
                [(slice(0, middle), rows[:middle]), (slice(middle, len(rows)), rows[middle:] - self._first)]
            ):
                for j in (0, 1):
                    block, table = out[part, blocks[j]], tables[j]
                    if block.size == 0:
                        continue
                    if i == j and table is not None:
                        block[:] = table[own] if columns is None else table[np.ix_(own, places[j])]
                    else:
                        fills[j](groups[i][own], block)

        return fill


@dataclass(frozen=True, slots=True)
class Settings:
    """What is minimised, when to stop, and how much memory to use.

    Attributes:
        C: of a row whose class and weight count once, told with each machine.
        nu: share of margin errors, in place of C; None for C.
        squared: whether slacks are squared.
        tol: violation allowed, in units of the margin.
        cache_mb: for kernel values, in MiB.
        max_iter: steps allowed for a pair.
    """

    C: float
    nu: float | None
    squared: bool
    tol: float
    cache_mb: float
    max_iter: int


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """The boundary between two classes.

    Attributes:
        found: the solution of the dual; its variables are those of the first class's rows and then the second's.
        signs: (m,) y of these rows.
        route: how it was found.
        C: of a row whose class and weight count once.
        ridge: (m,) what squared slacks add to the diagonal of the kernel matrix; None where they are not squared.
    """

    found: SMO
    signs: Array
    route: str
    C: float
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
        settings: what is minimised, and when to stop.
        hold: whether to compute the whole kernel matrix once, if it fits into the cache.
    """

    def __init__(self, training: Training, names: NDArray[Any], settings: Settings, *, hold: bool = False) -> None:
        self._training, self._names, self._settings = training, names, settings
        self._pairs, self._groups = pairs_of(len(names)), training.groups()
        self._largest = max(len(self._groups[a]) + len(self._groups[b]) for a, b in self._pairs)
        X = training.points
        linear = training.origin is not None and X is not None and settings.nu is None
        self._tall = linear and X is not None and is_tall(self._largest, X.shape[1])
        self._margins: dict[int, Margin] = {}  # of the pairs solved in the primal, for the next C
        self._kernel = training.source(settings.cache_mb if hold and not self._tall else 0.0)
        self._rows = GroupedRows(self._kernel, self._groups, _SHARED * settings.cache_mb)
        self._weights = [] if training.weights is None else np.split(training.weights, np.cumsum(training.counts)[:-1])
        self._stopped = Event()

    def solve(self, C: Array, before: Sequence[Machine] | None = None, growth: float = 1.0) -> list[Machine]:
        """The machine of each pair.

        Args:
            C: (g,) of each class; infinite for a hard margin. With nu their proportions count.
            before: the machines for values that were lower by the factor `growth`, to begin with.
            growth: at least 1.
        """
        small = self._kernel.threads and self._largest <= _SIDE_BY_SIDE and not self._tall
        beside = min(available_cores(), len(self._pairs)) if small else 1
        how: dict[str, Any] = {
            "tol": self._settings.tol,
            "max_iter": self._settings.max_iter,
            "cache_mb": (1.0 - _SHARED if len(self._pairs) > 1 else 1.0) * self._settings.cache_mb / beside,
            "threads": 1 if beside > 1 else None,
            "stop": self._stopped.is_set,
            "warn": False,
        }

        def one(k: int) -> Machine:
            return self._one(k, C, None if before is None else before[k].found, growth, how)

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

    def _one(self, k: int, of_classes: Array, before: SMO | None, growth: float, how: dict[str, Any]) -> Machine:
        a, b = self._pairs[k]
        sizes = len(self._groups[a]), len(self._groups[b])
        y, C = signs_of(*sizes, len(self._groups)), np.repeat(of_classes[[a, b]], sizes)
        if self._training.weights is not None:
            C *= np.concatenate([self._weights[c] for c in (a, b)])
        whole = len(self._pairs) == 1 and self._training.points is not None  # sorted rows, all of them
        kernel = self._kernel if whole else self._rows.pair(a, b)
        if self._settings.nu is not None:
            return self._by_nu((a, b), kernel, y, C, how)
        added = None
        if not np.isinf(C).any():
            found = self._soft(k, kernel, y, C, before, growth, how, squared=self._settings.squared)
            added = ridge(C) if self._settings.squared else None
        else:

            def raised(more: float, lower: SMO | None) -> SMO:
                return self._soft(k, kernel, y, np.full(len(y), more), lower, 1.0, how)

            hard = hard_margin(raised, y, float(np.sqrt(spread(kernel).mean())) or 1.0)
            if not hard.separable:
                raise self._refusal(hard, (a, b))
            found = hard.found
        route = "primal" if k in self._margins else f"dual {found.precision}"
        return Machine(found, y, route, self._settings.C, added)

    def _by_nu(self, pair: tuple[int, int], kernel: KernelRows, y: Array, C: Array, how: dict[str, Any]) -> Machine:
        """The machine of a share of margin errors."""
        nu, who = self._settings.nu or 0.0, " and ".join(str(self._names[c]) for c in pair)
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
        """The solution for finite C: in the primal for tall rows, unless that falls short."""
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
                found = smo(RidgedRows(kernel, ridge(C)), -np.ones(len(y)), 0.0, np.inf, signs=y, **start, **how)
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


class Lines(NamedTuple):
    """The machine of each pair, and where rows are seen from."""

    each: list[Line]
    origin: Array


def lines_between(
    blocks: FloatBlocks,
    codes: NDArray[np.intp],
    C: Array,
    *,
    weights: Array | None = None,
    squared: bool = False,
    tol: float,
    max_iter: int,
) -> Lines:
    """One machine for each pair of classes.

    Args:
        blocks: the rows.
        codes: (n,) class of each row, counted from 0.
        C: (g,) of each class, finite.
        weights: (n,) of the rows, by which C is multiplied; None for 1.
        squared: whether slacks are squared.
        tol: as of the model.
        max_iter: Newton steps allowed for a pair.
    """
    g = len(C)
    table = MarginTable.of(blocks, short(codes, g), weights)
    usual = 1.0 if weights is None else float(weights.mean())
    found = [
        table.solve(
            _ends(pair, g, C),
            C=usual * float(C[list(pair)].mean()),
            tol=GAP * tol,
            max_iter=max_iter,
            squared=squared,
        )
        for pair in pairs_of(g)
    ]
    return Lines(found, table.middle)


def _ends(pair: tuple[int, int], g: int, C: Array) -> Ends:
    first, second = pair
    positive = second if g == 2 else first  # as scikit-learn has it

    def ends(codes: NDArray[Any]) -> tuple[Any, Array, Array, Array]:
        picked = np.flatnonzero((codes == first) | (codes == second))
        own = codes[picked]
        up = own == positive
        return picked, np.where(up, 1.0, -np.inf), np.where(up, np.inf, -1.0), C[own]

    return ends


def weighted_by_class(C: float, class_weight: Any, classes: Sequence[Any], sizes: NDArray[Any]) -> Array:
    """(g,) C times the weight of each class; sizes are the rows in each, by their weights.

    >>> weighted_by_class(2.0, "balanced", ["a", "b"], np.array([1, 3]))
    array([4.        , 1.33333333])
    """
    g = len(classes)
    if class_weight is None:
        return np.full(g, C)
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ParameterError(f"class_weight is None, 'balanced' or a dict of classes; got {class_weight!r}")
        return np.asarray(C * sizes.sum() / (g * sizes))
    if not isinstance(class_weight, dict):
        raise ParameterError(f"class_weight is None, 'balanced' or a dict of classes; got {class_weight!r}")
    known = list(np.asarray(classes).tolist())
    strange = [label for label in class_weight if label not in known]
    if strange:
        raise ParameterError(f"class_weight names {strange[0]!r}, which is none of the classes {known}")
    weights = np.array([class_weight.get(label, 1.0) for label in known], dtype=np.float64)
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ParameterError(f"weights of classes are positive numbers; got {class_weight!r}")
    return C * weights

"""Lloyd's iteration for k-means: rows to their nearest centre, centres to the mean of their rows.

    minimise  sum_i w_i min_c (x_i - c)^2      each half of an iteration lowers it, or leaves it

Many rows: the iteration settles first on a weighted sample of them, whose passes are cheap, then on all, with momentum
that is taken back where it does not pay. Rows whose bounds show that they cannot change their centre are not searched
again (Hamerly 2010). From given centres the plain iteration is followed. Threads do not change the result.

`settle` is the iteration itself, for rows wherever they are: in an array, in blocks that are read again in each pass,
or sparse. `group_few_rows` is for small searches made over and over, in one compiled call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.optimize.kmeans.passes import CentreSums, KMeansUnits, Passes, Taken, unit
from assay.optimize.kmeans.seeding import ArrayDraws, ArrayNearness, plus_plus, scattered
from assay.optimize.team import Team

if TYPE_CHECKING:
    from assay.optimize.kmeans._kernels import CentreBounds

Floats: TypeAlias = NDArray[Any]

_SMALL = 2.0**18  # below so many products in a pass threads cost more than they gain
_CANONICAL = 2**13  # up to so many rows the start depends on the rows alone, not on their order or repetition
_FIRST = 8  # columns that tell most rows apart
_SAMPLE, _SAMPLE_FOR_EACH = 2**15, 256  # rows that a run begins on, and at least so many for each centre
_MANY = 4  # times so many rows make it worth while
_FAR = {np.dtype(np.float32): 2.0**40, np.dtype(np.float64): 2.0**400}  # in units of the spread of the centres
_TRIES = 3  # starts on the sample for each that is asked for
_BOUNDED = 4  # centres from which on bounds save more than they cost


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Rows grouped around centres.

    Attributes:
        centers: (k, d), of the data's precision.
        labels: (n,) the nearest of these centres for each row, the first of equally near ones.
        inertia: weighted sum of squared distances of rows to their centre.
        n_iter: passes over all rows of the best start.
        converged: whether the centres came to rest within the tolerance.
    """

    centers: Floats
    labels: NDArray[np.int32]
    inertia: float
    n_iter: int
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class Lloyd(Grouping):
    """Where Lloyd's iteration ended.

    Attributes:
        centers: (k, d), of the data's precision.
        labels: (n,) the nearest of these centres for each row, the first of equally near ones.
        inertia: weighted sum of squared distances of rows to their centre.
        n_iter: passes over all rows of the best start.
        converged: whether the centres came to rest within the tolerance.
        sizes: (k,) weight of the rows of each centre.
        separation: sum of squares between the groups over that within them, about the means of the labels.
    """

    sizes: Array
    separation: float

    @classmethod
    def of(
        cls,
        run: Settled,
        centers: Floats,
        units: KMeansUnits,
        labels: NDArray[np.int32],
        inertia: float,
        total: CentreSums,
    ) -> Lloyd:
        """Groups as they are handed out.

        Args:
            run: how they were found.
            centers: (k, d) in the user's units.
            units: in which the rows were given to them.
            labels: (n,) the nearest of the centres.
            inertia: weighted sum of squared distances, in these units.
            total: what the rows of each centre add up to.
        """
        outside, apart = float(units.squares_outside(inertia)), total.separation(units.inside(centers), inertia)
        return cls(centers, labels, outside, run.n_iter, run.converged, total.sizes, apart)


def lloyd(
    X: Floats,
    k: int,
    *,
    seed: int = 0,
    n_init: int = 1,
    init: str | Floats = "k-means++",
    max_iter: int = 300,
    tol: float = 1e-4,
    weights: Floats | None = None,
    threads: int | None = None,
) -> Lloyd:
    """Group rows around k centres so that the squared distances to them are small.

    Args:
        X: (n, d) float32 or float64, C-contiguous, finite.
        k: how many centres.
        seed: of the starts.
        n_init: how many starts; the best is kept.
        init: "k-means++", "k-means||" or (k, d) centres to start from.
        max_iter: most passes over all rows.
        tol: stop when the sum of squared moves of the centres is at most this share of the mean variance of a column.
        weights: (n,) of rows, not negative; None for equal ones.
        threads: how many; the cores this process may use when not given.

    Returns:
        Lloyd. A centre that loses all its rows takes the row that adds most to the inertia; where no row is away from
        its centre (fewer distinct rows than centres) it stays, without rows.

    References:
        Lloyd, IEEE Transactions on Information Theory 28, 1982; Hamerly, SIAM Data Mining, 2010.

    >>> found = lloyd(np.array([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> sorted(found.centers[:, 0].tolist()), found.inertia
    ([0.5, 10.5], 1.0)
    """
    _refuse_few(X, k)
    if isinstance(init, str) and init not in ("k-means++", "k-means||"):
        raise ParameterError(f"init is 'k-means++', 'k-means||' or (k, d) centres; got {init!r}")
    w = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    if w is not None and not (w.shape == (len(X),) and (w >= 0.0).all() and 0.0 < w.sum() < np.inf):
        raise ParameterError(f"weights are {len(X)} finite numbers, none negative and not all zero")
    with _team(threads, X, k) as team:
        passes, variance = Passes.centred(X, w, team)
        if isinstance(init, str):
            best = _from_starts(passes, k, init, seed, n_init, max_iter, tol * variance)
        else:
            start = passes.units.inside(init)
            best = settle(ArrayAssignment(passes), start, max_iter=max_iter, bound=tol * variance)
        centers = passes.outside(best.centers)
        units = KMeansUnits.about(centers, passes.units.scale)
        labels, squares, total = Passes(X, w, team, units).grouped(units.inside(centers))
    return Lloyd.of(best, centers, units, labels, float(squares.sum()), total)


def nearest(X: Floats, centers: Floats, *, threads: int | None = None) -> tuple[NDArray[np.int32], Array]:
    """The nearest centre of each row, the first of equally near ones, and the squared distance to it.

    Args:
        X: (n, d) float32 or float64, C-contiguous, finite.
        centers: (k, d) of the same precision.
        threads: how many; the cores this process may use when not given.

    >>> nearest(np.array([[0.0], [9.0]]), np.array([[1.0], [7.0]]))
    (array([0, 1], dtype=int32), array([1., 4.]))
    """
    scale = unit(float(np.ptp(0.5 * centers, axis=0).max()) or float(np.abs(centers).max()), X.dtype)
    far = _FAR[X.dtype] / scale  # whose squares would overflow, and to which all centres are equally near
    with np.errstate(over="ignore"), _team(threads, X, len(centers)) as team:
        rows = np.clip(X, -far, far) if max(X.max(), -X.min()) > far else X
        units = KMeansUnits.about(centers, scale)
        labels, squares, _ = Passes(rows, None, team, units).grouped(units.inside(centers))
    return labels, units.squares_outside(squares)


def extended(X: Floats, centers: Floats, k: int, *, seed: int = 0, weights: Floats | None = None) -> Floats:
    """Centres and further ones: rows drawn far from those there are, by greedy k-means++.

    Args:
        X: (n, d) float32 or float64, C-contiguous, finite.
        centers: (m, d) at most k, of the same precision.
        k: how many there will be.
        seed: of the draws.
        weights: (n,) of rows, not negative; None for equal ones.

    Returns:
        (k, d), the given ones first.

    >>> extended(np.array([[0.0], [1.0], [9.0]]), np.array([[0.5]]), 2)
    array([[0.5],
           [9. ]])
    """
    w = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    with _team(None, X, k) as team:
        passes, _ = Passes.centred(X, w, team)
        rng, start = np.random.default_rng(seed), passes.units.inside(centers)
        new = plus_plus(ArrayNearness(passes), k - len(centers), rng, start)
        return np.concatenate([centers, passes.outside(new)])


def group_few_rows(
    X: Array, k: int, *, seed: int = 0, n_init: int = 1, max_iter: int = 300, tol: float = 1e-4
) -> Grouping:
    """Group few rows, many times: for resampling, where the same small search is made over and over.

    The same method as `lloyd` (greedy k-means++, Lloyd's iteration, a centre without rows takes the farthest one), in
    one compiled call that needs neither bounds nor threads of its own, and lets other threads run.

    Args:
        X: (n, d) finite.
        k: how many centres.
        seed: of the starts.
        n_init: how many starts; the best is kept.
        max_iter: most passes of a start.
        tol: stop when the sum of squared moves of the centres is at most this share of the mean variance of a column.

    >>> found = group_few_rows(np.array([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> sorted(found.centers[:, 0].tolist()), found.inertia
    ([0.5, 10.5], 1.0)
    """
    from assay.optimize.kmeans._kernels import group_few

    _refuse_few(X, k)
    mean = X.mean(axis=0)
    centred = np.ascontiguousarray(X - mean, dtype=np.float64)
    draws = np.random.default_rng(seed).random((n_init, k, 2 + int(np.log(k))))
    bound = tol * float((centred**2).mean())
    centers, labels, inertia, n_iter, converged = group_few(centred, k, draws, max_iter, bound)
    return Grouping(centers + mean, labels, float(inertia), int(n_iter), bool(converged))


def condense(points: Array, weights: Array, k: int) -> Array:
    """(k, d) centres of weighted points, which repeat where there are fewer points.

    >>> condense(np.array([[1.0], [2.0]]), np.ones(2), 3)
    array([[1.], [2.], [1.]])
    """
    if len(points) <= k:
        return points[np.arange(k) % len(points)]
    return lloyd(points, k, weights=weights, n_init=3).centers


class Assignment(Protocol):
    """Rows that can be given to their nearest centres again and again."""

    def assign(self, centers: Array, total: CentreSums) -> None:
        """Give every row to its nearest centre, and bring up to date what the rows of each add up to."""

    def farthest(self, centers: Array, total: CentreSums, count: int) -> list[Taken]:
        """Up to `count` rows that add most to the sum of squares, none of them the last row of its centre."""


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Where one run ended, in the units of its passes.

    Attributes:
        centers: (k, d) means of the rows that were nearest to the centres before.
        n_iter: passes made.
        converged: whether the last one moved the centres by no more than the bound.
        total: what the rows of each centre added up to in the last pass.
    """

    centers: Array
    n_iter: int
    converged: bool
    total: CentreSums


def settle(
    rows: Assignment, start: Array, *, max_iter: int, bound: float, refill: bool = True, ahead: bool = False
) -> Settled:
    """Repeat: rows to their nearest centre, centres to the mean of their rows.

    Args:
        rows: what is grouped.
        start: (k, d) centres.
        max_iter: most passes.
        bound: stop when the squared moves of the centres sum to at most this.
        refill: give a centre without rows the row that adds most to the sum of squares; else it stays where it is.
        ahead: go on beyond the means in the direction they have been moving (Nesterov's momentum), as long as that
            lowers the sum of squares by at least what the plain step is sure to.
    """
    total, speed = CentreSums.zero(*start.shape), _Momentum(ahead)
    centers, moved, sure = start, start, np.inf
    n_iter, converged = 0, False
    while n_iter < max_iter and not converged:
        n_iter += 1
        rows.assign(centers, total)
        if ahead and total.level(centers) > sure:  # too far: take the plain step instead
            if n_iter == max_iter:
                break
            n_iter += 1
            speed, centers = _Momentum(ahead), moved
            rows.assign(centers, total)
        refilled = refill and not total.counts.all() and _refill(rows, centers, total)
        moved = total.means(centers)
        step = ((moved - centers) ** 2).sum(axis=1)
        converged = not refilled and float(step.sum()) <= bound
        if refilled:
            speed, sure = _Momentum(ahead), np.inf
        elif ahead:
            sure = total.level(centers) - float(total.sizes @ step)
        centers = speed.beyond(moved)
    return Settled(moved, n_iter, converged, total)


class _Momentum:
    """How far to go beyond the means: further the longer all goes well (Nesterov 1983)."""

    def __init__(self, ahead: bool) -> None:
        self._ahead, self._t = ahead, 1.0
        self._before: Array | None = None

    def beyond(self, moved: Array) -> Array:
        """Where to look next."""
        before, self._before = self._before, moved
        if before is None or not self._ahead:
            return moved
        t, self._t = self._t, 0.5 + np.sqrt(0.25 + self._t**2)
        return moved + (t - 1.0) / self._t * (moved - before)


def _refill(rows: Assignment, centers: Array, total: CentreSums) -> bool:
    """Hand rows to centres that have none; says whether any were found."""
    empty = np.flatnonzero(total.counts == 0)
    taken = rows.farthest(centers, total, len(empty))
    for centre, row in zip(empty, taken, strict=False):
        total.hand_over(row.z, row.weight, row.donor, int(centre))
    return bool(taken)


class ArrayAssignment:
    """Rows of an array, with bounds kept from pass to pass that spare most searches.

    Args:
        passes: the rows.
    """

    def __init__(self, passes: Passes) -> None:
        self.passes = passes
        self.bounds: CentreBounds = passes.unknown()
        self._before: Array | None = None

    def assign(self, centers: Array, total: CentreSums) -> None:
        """Give every row to its nearest centre, the first of equally near ones."""
        prepared = self.passes.prepare(centers, self._before)
        self.passes.reassign(prepared, self.bounds, total, fresh=self._before is None)
        self._before = centers if len(centers) >= _BOUNDED else None

    def farthest(self, centers: Array, total: CentreSums, count: int) -> list[Taken]:
        """Up to `count` rows that add most to the sum of squares, none of them the last row of its centre."""
        self._before = None  # they change centre without the bounds knowing
        return self.passes.farthest(centers, self.bounds.labels, total, count)


def _refuse_few(X: Floats, k: int) -> None:
    if not 1 <= k <= len(X):
        raise ParameterError(f"k must be between 1 and the number of rows, {len(X)}; got {k}")


def _team(threads: int | None, X: Floats, k: int) -> Team:
    return Team(threads if X.size * k > _SMALL else 1)


def _from_starts(passes: Passes, k: int, init: str, seed: int, n_init: int, max_iter: int, bound: float) -> Settled:
    """The best of several starts; with many rows, of what the starts come to on a sample of them."""
    size = max(_SAMPLE, _SAMPLE_FOR_EACH * k)
    many = passes.n >= _MANY * size
    few = passes.favouring(size, np.random.default_rng([seed, 2**31])) if many else passes
    best, least = None, np.inf
    for number in range(n_init * (_TRIES if many else 1)):
        start = (_drawn if init == "k-means++" else _condensed)(few, k, [seed, number])
        rows = ArrayAssignment(few)
        near_enough = max(bound, _noise(few, start)) if many else bound
        found = settle(rows, start, max_iter=max_iter, bound=near_enough, refill=not many, ahead=many)
        inertia = float(few.squares(found.centers, rows.bounds.labels).sum())
        if best is None or inertia < least:
            best, least = found, inertia
    assert best is not None
    return settle(ArrayAssignment(passes), best.centers, max_iter=max_iter, bound=bound, ahead=True) if many else best


def _noise(sample: Passes, start: Array) -> float:
    """A hundredth of the sum of squares by which means of the sample miss those of all rows: k^2 W / n, W per row."""
    _, squares, total = sample.grouped(start)
    return float(0.01 * len(start) ** 2 * squares.sum() / total.sizes.sum() / sample.n)


def _drawn(passes: Passes, k: int, seed: list[int]) -> Array:
    """(k, d) rows drawn by k-means++."""
    if passes.n <= _CANONICAL:
        passes = passes.on(_ascending(passes.rows.X))
    return plus_plus(ArrayNearness(passes), k, np.random.default_rng(seed))


def _ascending(X: Floats) -> NDArray[np.intp]:
    """(n,) the order of rows by their first column, then the second, ...; rounding to float32 hardly changes it.

    >>> _ascending(np.array([[2.0, 0.0], [-1.0, 1.0], [-1.0, -3.0], [0.5, 0.0]]))
    array([2, 1, 3, 0])
    """
    order: NDArray[np.intp] = np.arange(len(X))
    for width in (min(_FIRST, X.shape[1]), X.shape[1]):
        # -0.0 and 0.0 are the same value, and so is one of float32 and of float64
        bits = np.ascontiguousarray(X[:, :width] + 0.0, dtype=np.float64).view(np.int64)
        # as whole numbers without a sign, the largest byte first, values sort as their bytes do: all columns at once
        keys = np.where(bits < 0, ~bits, bits ^ np.iinfo(np.int64).min).view(np.uint64).astype(">u8")
        order = keys.view(np.dtype((np.void, 8 * width))).ravel().argsort(kind="stable")
        if (keys[order[1:]] != keys[order[:-1]]).any(axis=1).all():
            break
    return order


def _condensed(passes: Passes, k: int, seed: list[int]) -> Array:
    """(k, d) centres of rows drawn by k-means||."""
    return condense(*scattered(ArrayDraws(passes, np.random.default_rng(seed)), k), k)

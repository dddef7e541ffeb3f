"""Ridge regression, its strength chosen and its error measured by nested cross-validation, for many targets at once.

    outer     each fold in turn is left out; its error is measured by what the others teach
    inner     the strength is chosen by these others alone, in one of three ways:
              "rows"     generalised cross-validation: the least RSS / (1 - df / n)^2. For rows that do not depend on
                         each other, and a tenth of the work
              "blocks"   each of the others in turn is left out. For folds of rows that depend on each other
              "forward"  folds are in the order of time: each is taught by those before it alone, the strength being the
                         one that did best for the folds before; the first two only teach

Folds are `RegressionSums`: rows are read once, train = all - fold. Targets that are permutations of one another share
every eigendecomposition (`Known`), so that the null distribution of the whole procedure costs little more than one run.

Several sets of columns for one target, simple ones first, are one more choice (`simplest_least`): in each fold the set
whose inner error is least, where it is less than that of every simpler one by a margin that falls with the rows, so
that ties go to the simple one. What the margin saves is little: of 40 lines of R^2 = .1 in 100 rows the choice lost 1.0
points of R^2 against the line alone without it and .7 with it (standard errors .6 and .5); 17 and 19 of them were
called, 21 by the line alone.

Reference: Golub, Heath, Wahba, Generalized cross-validation as a method for choosing a good ridge parameter,
Technometrics 21 (1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.eigen.spectral import Spectrum, eigen_symmetric
from assay.linalg.regression.regression_sums import RegressionSums, RidgeFits

Choice: TypeAlias = Literal["rows", "blocks", "forward"]
Known: TypeAlias = dict[frozenset[int], Spectrum]

_MARGIN = 6.0  # over the rows learned from: how much less the inner error of a less simple set must be, as a share


@dataclass(frozen=True, slots=True, eq=False)
class NestedRidge:
    """What nested cross-validation found.

    Attributes:
        errors: (folds, t) squared error of each problem in each fold judged, by strengths chosen without it.
        base: (folds, t) that of the mean of what it was taught by.
        chosen: (folds, t) number of the strength chosen.
        inner: (folds, t) the error by which it was chosen, of one scale for all sets of columns.
        rows: (folds,) how many were learned from.
        explained: (t,) share of the squared deviations that is explained on rows not used, over all folds.
    """

    errors: Array
    base: Array
    chosen: NDArray[np.intp]
    inner: Array
    rows: Array
    explained: Array

    def each(self) -> list[NestedRidge]:
        """The t problems one by one."""
        parts = (self.errors.T, self.base.T, self.chosen.T, self.inner.T, self.explained)
        return [
            NestedRidge(
                errors[:, None], base[:, None], chosen[:, None], inner[:, None], self.rows, np.array([explained])
            )
            for errors, base, chosen, inner, explained in zip(*parts, strict=True)
        ]


def nested_ridge(
    parts: list[RegressionSums],
    strengths: Array,
    width: int = 1,
    *,
    choice: Choice = "rows",
    numbers: Sequence[int] | None = None,
    known: Known | None = None,
) -> NestedRidge:
    """Choose and measure by nested cross-validation.

    Args:
        parts: the folds, at least three.
        strengths: (k,) positive, penalties to choose from.
        width: columns of the targets that make one problem, chosen and judged together: the classes, say.
        choice: how the strength is chosen.
        numbers: of the folds, where `known` is of a split some folds of which are left out.
        known: decompositions of the columns, by the numbers of the folds learned from; missing ones are added.

    >>> rng = np.random.default_rng(0)
    >>> Z = rng.standard_normal((90, 2))
    >>> Y = Z @ [[1.0], [0.0]] + 0.1 * rng.standard_normal((90, 1))
    >>> folds = [RegressionSums.of(Z[k::3], Y[k::3]) for k in range(3)]
    >>> nested_ridge(folds, np.array([0.1, 1.0])).explained.round(2)
    array([0.99])
    """
    names = list(range(len(parts)) if numbers is None else numbers)
    known = {} if known is None else known
    if choice == "forward":
        return _forward(parts, strengths, width, names, known)
    total = reduce(add, parts)
    inner = _by_blocks(parts, total, strengths, width, names, known) if choice == "blocks" else None
    judged = []
    for k, part in enumerate(parts):
        rest = total - part
        path = _path(rest, names[:k] + names[k + 1 :], known)
        errors = _together(path.generalised(rest, strengths), width) if inner is None else inner[k]
        judged.append(_judge(part, path, errors, strengths, width, rest.weight))
    return _gathered(judged, width)


def simplest_least(found: Sequence[NestedRidge]) -> NDArray[np.intp]:
    """(folds, t) which of several sets of columns is chosen, simple ones first: the least inner error, by a margin.

    Args:
        found: of each set, judged in the same folds.
    """
    best, chosen = found[0].inner.copy(), np.zeros(found[0].inner.shape, dtype=np.intp)
    limit = np.maximum(1.0 - _MARGIN / found[0].rows, 0.5)[:, None]
    for k, one in enumerate(found[1:], start=1):
        better = one.inner < limit * best
        chosen[better] = k
        best = np.where(better, one.inner, best)
    return chosen


def judged_folds(count: int, choice: Choice) -> range:
    """Numbers of the folds that are judged, of so many: all, or those that have two before them."""
    return range(2, count) if choice == "forward" else range(count)


def _by_blocks(
    parts: list[RegressionSums], total: RegressionSums, strengths: Array, width: int, names: list[int], known: Known
) -> list[Array]:
    """For each fold (strengths, t) errors among the others: rows without two folds judge both of these."""
    found = [np.zeros((len(strengths), len(total.y) // width)) for _ in parts]
    for k, part in enumerate(parts):
        for j in range(k):
            used = [name for i, name in enumerate(names) if i not in (j, k)]
            path = _path(total - part - parts[j], used, known)
            found[k] += _together(path.errors(parts[j], strengths), width)
            found[j] += _together(path.errors(part, strengths), width)
    return found


def _forward(parts: list[RegressionSums], strengths: Array, width: int, names: list[int], known: Known) -> NestedRidge:
    before, judged = parts[0], []
    so_far = np.zeros((len(strengths), len(before.y) // width))
    for k, part in enumerate(parts[1:], start=1):
        path = _path(before, names[:k], known)
        if k in judged_folds(len(parts), "forward"):
            judged.append(_judge(part, path, so_far, strengths, width, before.weight))
        so_far = so_far + _together(path.errors(part, strengths), width)
        before = before + part
    return _gathered(judged, width)


def _path(taught: RegressionSums, folds: list[int], known: Known) -> RidgeFits:
    key = frozenset(folds)
    if key not in known:
        known[key] = eigen_symmetric(taught.xx)
    return taught.path(known[key])


_Judged: TypeAlias = tuple[Array, Array, NDArray[np.intp], Array, float]


def _judge(part: RegressionSums, path: RidgeFits, inner: Array, strengths: Array, width: int, rows: float) -> _Judged:
    """Errors of a fold and of the mean, which strength was chosen by (strengths, t) inner errors, and the least."""
    chosen = inner.argmin(axis=0)
    errors = path.errors_of(part, np.repeat(strengths[chosen], width))
    return errors, part.yy + part.weight * (part.y - path.y) ** 2, chosen, inner.min(axis=0), rows


def _gathered(judged: list[_Judged], width: int) -> NestedRidge:
    errors, base = (_together(np.stack([one[i] for one in judged]), width) for i in (0, 1))
    chosen, inner = np.stack([one[2] for one in judged]), np.stack([one[3] for one in judged])
    wrong, all_in_all = errors.sum(axis=0), base.sum(axis=0)
    # a target that does not vary leaves nothing to explain
    share = np.divide(wrong, all_in_all, out=np.ones_like(wrong), where=all_in_all > 0.0)
    return NestedRidge(errors, base, chosen, inner, np.array([one[4] for one in judged]), 1.0 - share)


def _together(errors: Array, width: int) -> Array:
    return np.asarray(errors.reshape(len(errors), -1, width).sum(axis=2))

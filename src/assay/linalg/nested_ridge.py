"""Ridge regression, its strength chosen and its error measured by nested cross-validation, for many targets at once.

    outer     each fold in turn is left out; its error is measured by what the others teach
    inner     the strength is chosen by these others alone, in one of three ways:
              "rows"     generalised cross-validation: the least RSS / (1 - df / n)^2. For rows that do not depend on
                         each other, and a tenth of the work
              "blocks"   each of the others in turn is left out. For folds of rows that depend on each other
              "forward"  folds are in the order of time: each is taught by those before it alone, the strength being the
                         one that did best for the folds before; the first two only teach

Folds are `RegressionSums`: rows are read once, train = all - fold. Targets that are permutations of one another share
every eigendecomposition, so that the null distribution of the whole procedure costs little more than the procedure.

Reference: Golub, Heath, Wahba, Generalized cross-validation as a method for choosing a good ridge parameter,
Technometrics 21 (1979).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.linalg.regression_sums import RegressionSums, RidgeFits

Array: TypeAlias = NDArray[np.float64]
Choice: TypeAlias = Literal["rows", "blocks", "forward"]


@dataclass(frozen=True, slots=True, eq=False)
class NestedRidge:
    """What nested cross-validation found.

    Attributes:
        errors: (folds, t) squared error of each problem in each fold judged, by strengths chosen without it.
        base: (folds, t) that of the mean of what it was taught by.
        chosen: (folds, t) number of the strength chosen.
        explained: (t,) share of the squared deviations that is explained on rows not used, over all folds.
    """

    errors: Array
    base: Array
    chosen: NDArray[np.intp]
    explained: Array

    def each(self) -> list[NestedRidge]:
        """The t problems one by one."""
        parts = (self.errors.T, self.base.T, self.chosen.T, self.explained)
        return [
            NestedRidge(errors[:, None], base[:, None], chosen[:, None], np.atleast_1d(explained))
            for errors, base, chosen, explained in zip(*parts, strict=True)
        ]


def nested_ridge(
    parts: list[RegressionSums], strengths: Array, width: int = 1, *, choice: Choice = "rows"
) -> NestedRidge:
    """Choose and measure by nested cross-validation.

    Args:
        parts: the folds, at least three.
        strengths: (k,) positive, penalties to choose from.
        width: columns of the targets that make one problem, chosen and judged together: the classes, say.
        choice: how the strength is chosen.

    >>> rng = np.random.default_rng(0)
    >>> Z = rng.standard_normal((90, 2))
    >>> Y = Z @ [[1.0], [0.0]] + 0.1 * rng.standard_normal((90, 1))
    >>> folds = [RegressionSums.of(Z[k::3], Y[k::3]) for k in range(3)]
    >>> nested_ridge(folds, np.array([0.1, 1.0])).explained.round(2)
    array([0.99])
    """
    if choice == "forward":
        return _forward(parts, strengths, width)
    total = reduce(add, parts)
    inner = _by_blocks(parts, total, strengths, width) if choice == "blocks" else None
    judged = []
    for k, part in enumerate(parts):
        rest = total - part
        path = rest.path()
        if inner is None:
            chosen = _together(path.generalised(rest, strengths), width).argmin(axis=0)
        else:
            chosen = inner[k].argmin(axis=0)
        judged.append((path.errors_of(part, np.repeat(strengths[chosen], width)), _base(part, path), chosen))
    return _gathered(judged, width)


def judged_folds(count: int, choice: Choice) -> range:
    """Numbers of the folds that are judged, of so many: all, or those that have two before them."""
    return range(2, count) if choice == "forward" else range(count)


def _by_blocks(parts: list[RegressionSums], total: RegressionSums, strengths: Array, width: int) -> list[Array]:
    """For each fold (strengths, t) errors among the others: rows without two folds judge both of these."""
    found = [np.zeros((len(strengths), len(total.y) // width)) for _ in parts]
    for k, part in enumerate(parts):
        for j in range(k):
            path = (total - part - parts[j]).path()
            found[k] += _together(path.errors(parts[j], strengths), width)
            found[j] += _together(path.errors(part, strengths), width)
    return found


def _forward(parts: list[RegressionSums], strengths: Array, width: int) -> NestedRidge:
    before, judged = parts[0], []
    so_far = np.zeros((len(strengths), len(before.y) // width))
    for k, part in enumerate(parts[1:], start=1):
        path = before.path()
        errors = path.errors(part, strengths)
        if k in judged_folds(len(parts), "forward"):
            chosen = so_far.argmin(axis=0)
            own = np.take_along_axis(errors, np.repeat(chosen, width)[None], axis=0)[0]
            judged.append((own, _base(part, path), chosen))
        so_far += _together(errors, width)
        before = before + part
    return _gathered(judged, width)


def _gathered(judged: list[tuple[Array, Array, NDArray[np.intp]]], width: int) -> NestedRidge:
    errors, base = (_together(np.stack([one[i] for one in judged]), width) for i in (0, 1))
    chosen = np.stack([one[2] for one in judged])
    wrong, all_in_all = errors.sum(axis=0), base.sum(axis=0)
    # a target that does not vary leaves nothing to explain
    share = np.divide(wrong, all_in_all, out=np.ones_like(wrong), where=all_in_all > 0.0)
    return NestedRidge(errors, base, chosen, 1.0 - share)


def _base(part: RegressionSums, path: RidgeFits) -> Array:
    return part.yy + part.weight * (part.y - path.y) ** 2


def _together(errors: Array, width: int) -> Array:
    return np.asarray(errors.reshape(len(errors), -1, width).sum(axis=2))

"""Ridge regression, its strength chosen and its error measured by nested cross-validation, for many targets at once.

    outer     each fold in turn is left out; its error is measured by what the others teach
    inner     among the others, each in turn is left out to choose the strength

Folds are `RegressionSums`: rows are read once, train = all - fold. Targets that are permutations of one another share
every eigendecomposition, so that the null distribution of the whole procedure costs little more than the procedure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.linalg.regression_sums import RegressionSums

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class NestedRidge:
    """What nested cross-validation found.

    Attributes:
        errors: (folds, t) squared error of each problem in each fold, by strengths chosen without it.
        base: (folds, t) that of the mean of the other folds.
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


def nested_ridge(parts: list[RegressionSums], strengths: Array, width: int = 1) -> NestedRidge:
    """Choose and measure by nested cross-validation.

    Args:
        parts: the folds, at least three.
        strengths: (k,) positive, penalties to choose from.
        width: columns of the targets that make one problem, chosen and judged together: the classes, say.

    >>> rng = np.random.default_rng(0)
    >>> Z = rng.standard_normal((90, 2))
    >>> Y = Z @ [[1.0], [0.0]] + 0.1 * rng.standard_normal((90, 1))
    >>> folds = [RegressionSums.of(Z[k::3], Y[k::3]) for k in range(3)]
    >>> nested_ridge(folds, np.array([0.1, 1.0])).explained.round(2)
    array([0.99])
    """
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    problems = len(total.y) // width
    errors, base = np.empty((len(parts), problems)), np.empty((len(parts), problems))
    chosen = np.empty((len(parts), problems), dtype=np.intp)
    for k, part in enumerate(parts):
        rest = total - part
        inner = np.zeros((len(strengths), problems))
        for j, other in enumerate(parts):
            if j != k:
                inner += _together((rest - other).path().errors(other, strengths), width)
        chosen[k] = inner.argmin(axis=0)
        path = rest.path()
        errors[k] = _together(path.errors(part, strengths), width)[chosen[k], np.arange(problems)]
        base[k] = _together((part.yy + part.weight * (part.y - path.y) ** 2)[None], width)[0]
    return NestedRidge(errors, base, chosen, 1.0 - errors.sum(axis=0) / base.sum(axis=0))


def _together(errors: Array, width: int) -> Array:
    return np.asarray(errors.reshape(len(errors), -1, width).sum(axis=2))

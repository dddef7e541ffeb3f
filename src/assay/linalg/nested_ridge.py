"""Ridge regression, its strength chosen and its error measured by nested cross-validation, for many targets at once.

    fold f    A_f = Z_f^T Z_f,  B_f = Z_f^T Y_f,  sums of Z_f, Y_f and Y_f^2
    outer     each fold in turn is left out; its error is measured by what the others teach
    inner     among the others, each in turn is left out to choose the strength
    path      S = V L V^T once for each choice of folds; every strength and every target follows by products

Rows are read once. Targets that are permutations of one another share every eigendecomposition, so that the null
distribution of the whole procedure costs little more than the procedure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.linalg.ridge_path import RidgeSpectrum, spectrum_of_products

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums over some rows, of columns centred beforehand so that no digits are lost.

    Attributes:
        n: rows.
        x: (p,) sum of the columns.
        y: (q,) of the targets.
        xx: (p, p), xy: (p, q), yy: (q,) of their products.
    """

    n: int
    x: Array
    y: Array
    xx: Array
    xy: Array
    yy: Array

    @staticmethod
    def of(Z: Array, Y: Array) -> Sums:
        """Of (n, p) columns and (n, q) targets."""
        return Sums(len(Z), Z.sum(axis=0), Y.sum(axis=0), Z.T @ Z, Z.T @ Y, np.einsum("ij,ij->j", Y, Y))

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def __sub__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, name) - getattr(other, name) for name in self.__slots__))

    def about(self, x: Array, y: Array) -> Sums:
        """The same about other origins of columns and targets."""
        return Sums(
            self.n,
            self.x - self.n * x,
            self.y - self.n * y,
            self.xx - np.outer(self.x, x) - np.outer(x, self.x) + self.n * np.outer(x, x),
            self.xy - np.outer(self.x, y) - np.outer(x, self.y) + self.n * np.outer(x, y),
            self.yy - 2.0 * y * self.y + self.n * y**2,
        )


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


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Ridge regression of every strength, from the sums of its rows.

    Attributes:
        x, y: means of columns and targets.
        spectrum: of the columns' scatter about them.
    """

    x: Array
    y: Array
    spectrum: RidgeSpectrum

    @staticmethod
    def of(sums: Sums) -> Path:
        """Of all rows in the sums."""
        x, y = sums.x / sums.n, sums.y / sums.n
        centred = sums.about(x, y)
        return Path(x, y, spectrum_of_products(centred.xx, centred.xy))

    def errors(self, other: Sums, strengths: Array) -> Array:
        """(k, q) squared error in other rows, for each strength."""
        there = other.about(self.x, self.y)
        axes = self.spectrum.axes
        xx, xy = axes.T @ there.xx @ axes, axes.T @ there.xy
        found = np.empty((len(strengths), len(there.yy)))
        for k, strength in enumerate(strengths):
            w = self.spectrum.inner / (self.spectrum.values + strength)[:, None]
            found[k] = there.yy + np.einsum("ij,ij->j", w, xx @ w - 2.0 * xy)
        return found

    def coefficients(self, strength: float) -> Array:
        """(p, q), of the columns as they came."""
        return np.asarray(self.spectrum.coef(np.array([strength]))[0].T)


def nested_ridge(parts: list[Sums], strengths: Array, width: int = 1) -> NestedRidge:
    """Choose and measure by nested cross-validation.

    Args:
        parts: the folds, at least three.
        strengths: (k,) positive, what is added to the eigenvalues of the scatter, to choose from.
        width: columns of the targets that make one problem, chosen and judged together: the classes, say.

    >>> rng = np.random.default_rng(0)
    >>> Z = rng.standard_normal((90, 2))
    >>> Y = Z @ [[1.0], [0.0]] + 0.1 * rng.standard_normal((90, 1))
    >>> folds = [Sums.of(Z[k::3], Y[k::3]) for k in range(3)]
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
                inner += _together(Path.of(rest - other).errors(other, strengths), width)
        chosen[k] = inner.argmin(axis=0)
        path = Path.of(rest)
        errors[k] = _together(path.errors(part, strengths), width)[chosen[k], np.arange(problems)]
        base[k] = _together(part.about(path.x, path.y).yy[None], width)[0]
    return NestedRidge(errors, base, chosen, 1.0 - errors.sum(axis=0) / base.sum(axis=0))


def _together(errors: Array, width: int) -> Array:
    return np.asarray(errors.reshape(len(errors), -1, width).sum(axis=2))

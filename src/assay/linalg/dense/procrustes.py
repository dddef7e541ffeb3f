"""Two configurations of the same points, laid over each other: the best rotation, scale and shift.

    minimise  sum_i |c (a_i - mean a) R + mean b - b_i|^2   over R orthogonal, c >= 0

With the singular value decomposition U S V' of the centred A'B the answer is R = U V' and c = tr S / |A|^2; without
mirroring, the smallest singular value and its direction change their sign where det(U V') is negative.

SciPy's orthogonal_procrustes gives R and tr S alone: it cannot forbid mirroring, which needs the singular values, and
its products overflow at 1e200, where these are formed in units of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import DataError
from assay.linalg.validate import as_matrix, power_of_two

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Procrustes:
    """A similarity transform, and how well it lays one configuration over another.

    Attributes:
        rotation: (d, d), orthogonal; applied from the right.
        scale: by which distances are multiplied.
        shift_from: (d,), the centre of the points that are moved.
        shift_to: (d,), the centre of the points they are laid over.
        residual: root mean square distance between the points and their targets, in the units of the targets.
        r2: share of the spread of the targets that is met; NaN where the targets are all one point.
    """

    rotation: Array
    scale: float
    shift_from: Array
    shift_to: Array
    residual: float
    r2: float

    def apply(self, X: ArrayLike) -> Array:
        """Move points the same way.

        Args:
            X: (m, d), in the coordinates of the points that were moved.

        Returns:
            (m, d), in the coordinates of the targets.
        """
        points = as_matrix(X, name="X")
        if points.shape[1] != len(self.shift_from):
            raise DataError(f"X must have {len(self.shift_from)} columns, has {points.shape[1]}.")
        moved: Array = self.scale * ((points - self.shift_from) @ self.rotation) + self.shift_to
        return moved


def procrustes(A: ArrayLike, B: ArrayLike, *, scale: bool = True, reflect: bool = True) -> Procrustes:
    """Find the rotation, scale and shift that bring points nearest to their targets: is it the same map, turned?

    Args:
        A: (n, d), the points to move.
        B: (n, d), the target of each.
        scale: let distances be stretched alike; without it the transform is rigid.
        reflect: let the points be mirrored where that brings them nearer.

    Returns:
        The transform with its residual.

    References:
        P. Schoenemann, A generalized solution of the orthogonal Procrustes problem, Psychometrika 31, 1966.

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> fit = procrustes(square, 2 * square[:, ::-1] + 5)
    >>> round(fit.scale, 12), round(fit.r2, 12), fit.apply([[1.0, 0.0]]).round(12)
    (2.0, 1.0, array([[5., 7.]]))
    """
    a, b = as_matrix(A), as_matrix(B, name="B")
    if a.shape != b.shape:
        raise DataError(
            f"A and B must hold the same points in the same number of dimensions, have shapes {a.shape} and {b.shape}. "
            "Pad the narrower one with columns of zeros."
        )
    (a, size_a, mean_a), (b, size_b, mean_b) = _centred(a), _centred(b)
    left, values, right = sla.svd(a.T @ b, check_finite=False)
    # a mirror image fits no better where the last direction carries nothing
    if np.linalg.det(left @ right) < 0 and (not reflect or values[-1] <= _EPS * len(a) * values[0]):
        left[:, -1] *= -1
        values[-1] *= -1
    rotation = left @ right
    spread = float((a**2).sum())
    stretch = max(float(values.sum()), 0.0) / spread if scale and spread > 0 else None
    factor = 1.0 if stretch is None else _product(stretch, size_b, size_a)
    unit = max(size_a, size_b)
    own = size_a / unit if stretch is None else stretch * (size_b / unit)
    residual = unit * _root_mean_square(own * (a @ rotation) - (size_b / unit) * b)
    total = size_b * _root_mean_square(b)
    return Procrustes(
        rotation=rotation,
        scale=factor,
        shift_from=mean_a,
        shift_to=mean_b,
        residual=residual,
        r2=1.0 - (residual / total) * (residual / total) if total > 0 else np.nan,
    )


def _centred(X: Array) -> tuple[Array, float, Array]:
    """Points about their mean, divided by a power of two so that squares can be formed; that power, and the mean."""
    # Halves and the first row first: neither a difference nor a sum overflows, and equal points become exactly zero.
    offset = 0.5 * X - 0.5 * X[0]
    size = power_of_two(offset)
    offset = offset / size
    middle = offset.mean(axis=0)
    return offset - middle, 2.0 * size, X[0] + 2.0 * (size * middle)


def _root_mean_square(X: Array) -> float:
    return float(np.sqrt((X**2).sum() / len(X)))


def _product(stretch: float, size_b: float, size_a: float) -> float:
    factor = stretch * (size_b / size_a) if size_b / size_a else 0.0
    if stretch > 0 and not (np.isfinite(factor) and factor > 0):
        raise DataError(
            f"A and B must be of comparable size, are about {size_a:.2g} and {size_b:.2g} wide. Rescale one of them."
        )
    return factor

"""The training rows of a support vector machine, in the order of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.errors import ParameterError
from assay.optimize.smo.rows import KernelRows, MatrixRows
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernel_rows import kernel_rows
from assay.summary.gram.kernels import Gaussian, Kernel, Linear, Precomputed

_HOLD = 2048  # rows: up to here all values of a kernel that is a function are computed once


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """Rows sorted by class, so that a pair of classes is two runs of rows; a kernel matrix stays as it is given.

    Attributes:
        kernel: with its defaults filled in.
        order: (n,) the given number of each sorted row; rows of weight zero are left out.
        counts: (g,) rows in each class.
        weights: (n,) of the sorted rows, by which their prices are multiplied; None for 1.
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
        held = self.kernel(self.points) if not plain and n <= _HOLD else None
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


def price_of_classes(C: float, class_weight: Any, classes: Sequence[Any], sizes: NDArray[Any]) -> Array:
    """(g,) C times the weight of each class; sizes are the rows in each, by their weights.

    >>> price_of_classes(2.0, "balanced", ["a", "b"], np.array([1, 3]))
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

"""Gaussian kernel values at the speed of a matrix product.

    log2 k(x, y) = z.w - |z|^2 / 2 - |w|^2 / 2    with z = (x - m) sqrt(log2 e) / sigma, w likewise:

one product of rows with two columns added, (n, d + 2), then a power of two. It loses digits for rows close together and
far from the middle m; how many is known beforehand.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from assay.arrays import Array
from assay.optimize.smo.rows import Values
from assay.summary.distances.distances import middle
from assay.summary.gram.kernels import Gaussian


class GaussianProducts:
    """Gaussian kernel values by one product of extended rows.

    Args:
        kernel: With its sigma.
        tables: Every row that values will be asked of.
    """

    def __init__(self, kernel: Gaussian, *tables: Array) -> None:
        assert kernel.sigma is not None
        self._middle = middle(tables[-1])
        self._scale = np.sqrt(np.log2(math.e)) / kernel.sigma
        with np.errstate(over="ignore", invalid="ignore"):
            self._reach = max(float(np.max(np.sum(self._scaled(table) ** 2, axis=1))) for table in tables)

    def error(self, dtype: Any) -> float:
        """Of a value: the rounding of terms as large as the squared lengths of the rows."""
        return float(np.finfo(dtype).eps) * (1.0 + self._reach) if np.isfinite(self._reach) else np.inf

    def left(self, rows: Array, dtype: Any) -> Values:
        """(n, d + 2) rows, minus half their squared lengths, and ones."""
        z = self._scaled(rows)
        half = -0.5 * np.einsum("ij,ij->i", z, z)
        return np.column_stack([z, half, np.ones(len(z))]).astype(dtype)

    def right(self, left: Values) -> Values:
        """The same rows for the other side of the product, (d + 2, n): the last two numbers change places."""
        right = np.ascontiguousarray(left.T)
        right[-2:] = left[:, :-3:-1].T
        return right

    def values(self, left: Values, right: Values, out: Values | None = None) -> Values:
        """(n, m) kernel values."""
        from assay.summary.gram._exp_kernels import exp2_float32, exp2_float64

        values: Values = np.matmul(left, right, out=out)
        (exp2_float32 if values.dtype == np.float32 else exp2_float64)(values)
        return values

    def _scaled(self, rows: Array) -> Array:
        return np.asarray((rows - self._middle) * self._scale)

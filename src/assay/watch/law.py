"""The law that rows are measured by: where its centre is, how far out a row is, and which columns drive it.

d^2 = (x - m)^T S^-1 (x - m)            S shrunk, so that no direction is flat
with gaps: d_o^2 + (number missing)     the d^2 that is expected of a normal row, given what it has observed
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from assay.arrays import Array
from assay.errors import DataError
from assay.linalg.eigen.spectral import eigen_symmetric
from assay.linalg.normal.completion import patterns_of
from assay.linalg.normal.shrinkage import rao_blackwell
from assay.linalg.normal.whitening import Whitening
from assay.summary.incomplete.normal_em import normal_em
from assay.summary.moments.moments import Moments
from assay.watch._kernels import whitened

_FLOOR = 1e-6  # of the variance in a direction, as a share of the mean
_FARTHEST = 1e200  # squared distances beyond are told as this


@dataclass(frozen=True, eq=False)
class RowLaw:
    """Centre and covariance of the rows that are usual.

    Attributes:
        location: (d,).
        covariance: (d, d), positive definite.
    """

    location: Array
    covariance: Array

    @classmethod
    def of(cls, rows: Array) -> RowLaw:
        """From (n, d) rows, by maximum likelihood where values are missing (NaN)."""
        if np.isnan(rows).any():
            found = normal_em(rows)
            return cls.of_estimate(found.mean, found.covariance, len(rows))
        moments = Moments.of(rows)
        return cls.of_estimate(moments.mean, moments.covariance, moments.count)

    @classmethod
    def of_estimate(cls, mean: Array, covariance: Array, n: float) -> RowLaw:
        """Shrunk towards the variances of the columns, as far as an estimate from n normal rows should be."""
        variance = np.diag(covariance)
        if not (variance > 0.0).any():
            raise DataError("every column of the reference is constant: there is no spread to measure distances by")
        # what did not vary in n rows may vary as a level does that was seen once in so many
        variance = np.where(variance > 0.0, variance, 1.0 / n)
        scale = np.sqrt(variance)
        R = covariance / scale / scale[:, None]
        np.fill_diagonal(R, 1.0)
        values = np.maximum(eigen_symmetric(R).values, 0.0)
        share = max(rao_blackwell(values, len(values), max(n - 1.0, 2.0)), _FLOOR)
        R = (1.0 - share) * R + share * np.eye(len(R))
        return cls(np.asarray(mean, dtype=np.float64), scale * R * scale[:, None])

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.location)

    @cached_property
    def scale(self) -> Array:
        """(d,) standard deviations."""
        return np.sqrt(np.diag(self.covariance))

    @cached_property
    def correlation(self) -> Array:
        """(d, d)."""
        return np.asarray(self.covariance / self.scale / self.scale[:, None])

    @cached_property
    def factor(self) -> Array:
        """(d, d) Cholesky factor of the covariance."""
        return np.asarray(np.linalg.cholesky(self.covariance), dtype=np.float64)

    @cached_property
    def _root(self) -> Array:
        return np.ascontiguousarray(solve_triangular(self.factor, np.eye(self.d), lower=True))

    def whitened(self, columns: Array) -> tuple[Array, Array]:
        """(d, n) whitened columns and (n,) squared distances of (d, n) columns; NaN for rows with gaps."""
        out, far = np.empty_like(columns), np.empty(columns.shape[1])
        whitened(columns, self.location, self._root, out, far)
        return out, np.minimum(far, _FARTHEST)

    def far_with_gaps(self, columns: Array) -> Array:
        """(n,) squared distances of (d, n) columns with missing values, as expected given what was observed."""
        missing = np.isnan(columns.T)
        far = np.empty(columns.shape[1])
        for gone, rows in patterns_of(missing).groups():
            seen = np.flatnonzero(~gone)
            if not len(seen):
                far[rows] = len(gone)
                continue
            part = RowLaw(self.location[seen], self.covariance[np.ix_(seen, seen)])
            far[rows] = part.whitened(np.ascontiguousarray(columns[np.ix_(seen, rows)]))[1] + gone.sum()
        return np.minimum(far, _FARTHEST)

    def drivers(self, row: Array, most: int = 3) -> list[tuple[int, float, float]]:
        """The columns that put a row where it is: number, share of the squared distance, standard deviations off."""
        seen = np.flatnonzero(~np.isnan(row))
        if not len(seen):
            return []
        shares, deviations = self._shares(seen, row[seen])
        total = shares.sum()
        order = np.argsort(-shares, kind="stable")[:most]
        return [(int(seen[j]), float(shares[j] / total) if total > 0.0 else 0.0, float(deviations[j])) for j in order]

    def _shares(self, seen: NDArray[np.intp], row: Array) -> tuple[Array, Array]:
        location, scale = self.location[seen], self.scale[seen]
        spectrum = eigen_symmetric(self.correlation[np.ix_(seen, seen)])
        white = Whitening(location, scale, spectrum.vectors, spectrum.values)
        deviations = white.deviations(row[None, :])[0]
        # shares do not depend on how far out a row is in its direction, and squares may leave the range of numbers
        nearer = location + deviations / max(float(np.abs(deviations).max()), 1.0) * scale
        return white.shares(nearer[None, :])[0], deviations

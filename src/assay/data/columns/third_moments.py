"""Count, mean and centred sums of squares and cubes, of many columns at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class ThirdMoments:
    """Up to the third moment of s columns, of the values that are there.

        M_k = sum (x - mean)^k

    Two merge by centred updates (Pebay 2008, Sandia report SAND2008-6212, equations 2.1 and 2.7), never by raw sums.

    Attributes:
        n, mean, m2, m3: (s,) each.

    >>> a, b = ThirdMoments.of(np.array([[1.0, 2.0]])), ThirdMoments.of(np.array([[6.0, np.nan]]))
    >>> (a + b).mean, (a + b).skewness
    (array([3.]), array([0.59517006]))
    """

    n: Array
    mean: Array
    m2: Array
    m3: Array

    @classmethod
    def of(cls, X: Array, work: Array | None = None) -> ThirdMoments:
        """The moments of each row of an (s, b) array; values that are not finite are left out.

        Args:
            X: one column in each row.
            work: (2, s, b) or larger, to be overwritten: fresh memory for each block costs more than the sums.
        """
        room = np.empty((2, *X.shape)) if work is None else work[:, : len(X), : X.shape[1]]
        with np.errstate(over="ignore", invalid="ignore"):
            total = X.sum(axis=1)
            if np.isfinite(total).all():
                n = np.full(len(X), float(X.shape[1]))
                mean = total / max(X.shape[1], 1)
                D = np.subtract(X, mean[:, None], out=room[0])
            else:
                finite = np.isfinite(X)
                n = finite.sum(axis=1).astype(np.float64)
                # each divided first: the sum of values near 1e308 overflows, their mean does not
                mean = (np.where(finite, X, 0.0) / np.maximum(n, 1.0)[:, None]).sum(axis=1)
                D = np.where(finite, X - mean[:, None], 0.0)
            squares = np.multiply(D, D, out=room[1])
            return cls(n, mean, squares.sum(axis=1), np.einsum("ij,ij->i", squares, D))

    @classmethod
    def empty(cls, s: int) -> ThirdMoments:
        """The moments of no rows."""
        return cls(*(np.zeros(s) for _ in range(4)))

    def __add__(self, other: ThirdMoments) -> ThirdMoments:
        na, nb = self.n, other.n
        n = np.maximum(na + nb, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = np.where((na > 0) & (nb > 0), other.mean - self.mean, 0.0)
            mean = np.where(na > 0, self.mean + gap * (nb / n), other.mean)
            m2 = self.m2 + other.m2 + gap * gap * (na * nb / n)
            m3 = (
                self.m3
                + other.m3
                + gap * gap * gap * (na * nb * (na - nb) / (n * n))
                + 3.0 * gap * (na * other.m2 - nb * self.m2) / n
            )
        return ThirdMoments(na + nb, mean, m2, m3)

    @property
    def variance(self) -> Array:
        """(s,) with n - 1 below; NaN where there are fewer than two values."""
        return np.where(self.n > 1, self.m2 / np.maximum(self.n - 1.0, 1.0), np.nan)

    @property
    def skewness(self) -> Array:
        """(s,) m3 / m2^1.5, scaled by the square root of n; NaN for constant columns, inf where cubes overflow."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            scale = np.sqrt(self.m2)
            found = np.sqrt(self.n) * (self.m3 / scale / scale / scale)
        overflow = ~np.isfinite(self.m2) | ~np.isfinite(self.m3)
        return np.where(overflow, np.inf, np.where(self.m2 > 0, found, np.nan))

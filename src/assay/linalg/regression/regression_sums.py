"""What linear prediction needs to know of rows, for one target or thousands: means, and products about them.

sums     weight w, means x (d,) and y (q,), S_xx (d, d), S_xy (d, q), S_yy (q,)     not the products among targets
rest     all - part:  S - S_part - (w_all w_part / w_rest) (m_part - m_all) (m_part - m_all)^T
path     S_xx = V diag(l) V^T once; coef(alpha) = V diag(1 / (l + alpha)) V^T S_xy of every penalty and every target
error    of y0 + coef (x - x0) in other rows, from their sums alone: S_yy - 2 coef S_xy + coef S_xx coef^T + w off^2
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.linalg.eigen.spectral import Spectrum
from assay.linalg.regression.ridge_path import RidgeSpectrum, spectrum_of_products


@dataclass(frozen=True, slots=True, eq=False)
class RegressionSums:
    """Sums over some rows.

    Attributes:
        weight: of the rows, their number where all count the same.
        x: (d,) mean of the columns.
        y: (q,) of the targets.
        xx: (d, d), xy: (d, q), yy: (q,) products about the means.
    """

    weight: float
    x: Array
    y: Array
    xx: Array
    xy: Array
    yy: Array

    @staticmethod
    def of(X: Array, Y: Array, known: RegressionSums | None = None) -> RegressionSums:
        """Of (n, d) columns and (n, q) targets.

        Args:
            X: the columns.
            Y: the targets.
            known: sums of the same columns with other targets.
        """
        x, y = X.mean(axis=0) if known is None else known.x, Y.mean(axis=0)
        P, Q = X - x, Y - y
        xx = P.T @ P if known is None else known.xx
        return RegressionSums(float(len(X)), x, y, xx, P.T @ Q, np.einsum("ij,ij->j", Q, Q))

    def __add__(self, other: RegressionSums) -> RegressionSums:
        return self._with(other, self.weight + other.weight, 1.0)

    def __sub__(self, part: RegressionSums) -> RegressionSums:
        return self._with(part, self.weight - part.weight, -1.0)

    def _with(self, other: RegressionSums, weight: float, sign: float) -> RegressionSums:
        share = sign * other.weight / weight
        dx, dy = other.x - self.x, other.y - self.y
        apart = self.weight * share
        return RegressionSums(
            weight,
            self.x + share * dx,
            self.y + share * dy,
            self.xx + sign * other.xx + apart * np.multiply.outer(dx, dx),
            self.xy + sign * other.xy + apart * np.multiply.outer(dx, dy),
            self.yy + sign * other.yy + apart * dy**2,
        )

    def along(self, axes: Array) -> RegressionSums:
        """The same of coordinates along (d, r) axes."""
        xx, xy = axes.T @ self.xx @ axes, axes.T @ self.xy
        return RegressionSums(self.weight, self.x @ axes, self.y, xx, xy, self.yy)

    def path(self, known: Spectrum | None = None) -> RidgeFits:
        """Ridge regression of every penalty.

        Args:
            known: the decomposition of `xx`, where it was made for other targets.
        """
        return RidgeFits(self.x, self.y, spectrum_of_products(self.xx, self.xy, known))

    def squared_errors(self, coef: Iterable[Array], x0: Array, y0: Array) -> Array:
        """(k, q) sums of squared errors of predictions y0 + (x - x0) coef in these rows.

        Args:
            coef: k times (d, q).
            x0: (d,) and
            y0: (q,), means of the rows that were fitted.
        """
        found = []
        for w in coef:
            spread = self.yy + np.einsum("ij,ij->j", w, self.xx @ w - 2.0 * self.xy)
            off = self.y - y0 - (self.x - x0) @ w
            found.append(np.maximum(spread, 0.0) + self.weight * off**2)
        return np.stack(found)


@dataclass(frozen=True, slots=True, eq=False)
class RidgeFits:
    """Ridge regressions of some rows, of every penalty.

    Attributes:
        x, y: means of columns and targets.
        spectrum: of the columns' products about them.
    """

    x: Array
    y: Array
    spectrum: RidgeSpectrum

    def errors(self, other: RegressionSums, alphas: Array) -> Array:
        """(k, q) sums of squared errors in other rows, for each penalty, along the axes: half the products."""
        axes = self.spectrum.axes
        return other.along(axes).squared_errors(map(self.spectrum.along, alphas), self.x @ axes, self.y)

    def errors_of(self, other: RegressionSums, alphas: Array) -> Array:
        """(q,) sums of squared errors in other rows, with a penalty of its own for each target."""
        axes = self.spectrum.axes
        w = self.spectrum.along_each(alphas)
        return np.asarray(other.along(axes).squared_errors([w], self.x @ axes, self.y)[0])

    def generalised(self, own: RegressionSums, alphas: Array) -> Array:
        """(k, q) generalised cross-validation in the rows fitted, for each penalty: RSS / (1 - df / n)^2.

        Args:
            own: sums over the rows fitted.
            alphas: (k,) penalties, positive.
        """
        shrunk, held = self.spectrum.shrunk(alphas)
        outside = np.maximum(own.yy - held.sum(axis=0), 0.0)
        free = own.weight - 1.0 - len(held) + shrunk.sum(axis=1)
        return np.asarray((outside + shrunk**2 @ held) / (free**2)[:, None])

    def coefficients(self, alpha: float) -> Array:
        """(d, q), of the columns as they came."""
        return np.asarray(self.spectrum.coef(np.array([alpha]))[0].T)

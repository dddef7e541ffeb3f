"""Every ridge solution from one decomposition.

(X^T X + alpha I) coef = X^T Y          coef(alpha) = W diag(1 / (l + alpha)) c,  W (d, r), c (r, p)

from products   X^T X = V diag(l) V^T             W = V,          c = V^T X^T Y
from a triangle or rows  X = U diag(s) V^T        W = V diag(s),  c = U^T Y,   l = s^2

effective degrees of freedom  sum l / (l + alpha)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from assay.arrays import Array
from assay.linalg.eigen.spectral import Spectrum, eigen_symmetric
from assay.linalg.regression.linear_fit import EPS


@dataclass(frozen=True, slots=True, eq=False)
class RidgeSpectrum:
    """What every ridge solution is made of.

    Attributes:
        axes: (d, r) W above.
        values: (r,) l above, descending, not negative.
        inner: (r, p) c above.
        spread: (r,) variance of an entry of c per unit variance of the target.
        flat: what is at most this, penalty included, is zero but for rounding.
    """

    axes: Array
    values: Array
    inner: Array
    spread: Array
    flat: float

    def coef(self, alphas: Array) -> Array:
        """(k, p, d) coefficients for each of k penalties."""
        weighted = self.inner.T[None] * self._inverse(alphas)[:, None, :]
        k, p, r = weighted.shape
        return (weighted.reshape(k * p, r) @ self.axes.T).reshape(k, p, len(self.axes))

    def along(self, alpha: float) -> Array:
        """(r, p) coefficients along the axes: `coef` is axes times them."""
        return np.asarray(self.inner * self._inverse(np.array([alpha]))[0][:, None])

    def along_each(self, alphas: Array) -> Array:
        """(r, p) the same, with a penalty of its own for each of p targets."""
        return np.asarray(self.inner * self._inverse(alphas).T)

    def shrunk(self, alphas: Array) -> tuple[Array, Array]:
        """What penalties leave of the target along the axes: (k, r) shares a / (l + a) of (r, p) squares c^2 / l.

        Only of axes along which the columns vary, and for products, not for a triangle.
        """
        real = self.values > self.flat
        values = self.values[real]
        return alphas[:, None] / (values + alphas[:, None]), self.inner[real] ** 2 / values[:, None]

    def degrees(self, alphas: Array) -> Array:
        """(k,) effective degrees of freedom."""
        return np.asarray(self._inverse(alphas) @ self.values)

    def parameters(self, alpha: float) -> float:
        """Rows that the fit uses up: tr(2 H - H^2), H the matrix that makes fitted values of targets."""
        shares = self.values * self._inverse(np.array([alpha]))[0]
        return float(np.sum(2.0 * shares - shares**2))

    def root(self, alpha: float) -> Array:
        """(d, r) F with F F^T the covariance of the coefficients per unit variance of the target."""
        return np.asarray(self.axes * (np.sqrt(self.spread) * self._inverse(np.array([alpha]))[0]))

    def condition(self, alpha: float) -> float:
        """((l_1 + alpha) / (l_r + alpha))^1/2; infinite where the least is zero."""
        top, bottom = float(self.values[0]) + alpha, float(self.values[-1]) + alpha
        return float(np.sqrt(top / bottom)) if bottom > self.flat else (1.0 if top == 0.0 else float("inf"))

    def _inverse(self, alphas: Array) -> Array:
        shifted = self.values + np.asarray(alphas, dtype=np.float64)[:, None]
        return np.divide(1.0, shifted, out=np.zeros_like(shifted), where=shifted > self.flat)


def usual_penalties(total: float, d: int, count: int = 50) -> Array:
    """(count,) penalties to choose from, ascending: from hardly a penalty to nearly no coefficients.

    From a millionth to a thousand times the mean of the eigenvalues l, evenly in their logarithm.

    Args:
        total: sum of the eigenvalues, the squares of all columns.
        d: number of columns.
        count: how many.

    >>> usual_penalties(20.0, 2, 4)
    array([1.e-05, 1.e-02, 1.e+01, 1.e+04])
    """
    mean = total / d
    return np.logspace(-6.0, 3.0, count) * (mean if mean > 0.0 else 1.0)


def spectrum_of_products(A: Array, B: Array, known: Spectrum | None = None) -> RidgeSpectrum:
    """From products of columns.

    Args:
        A: (d, d) X^T X.
        B: (d, p) X^T Y.
        known: the decomposition of A, where it was made for other targets.

    >>> found = spectrum_of_products(np.diag([4.0, 1.0]), np.array([[4.0], [2.0]]))
    >>> found.coef(np.array([0.0, 1.0]))[:, 0]
    array([[1. , 2. ],
           [0.8, 1. ]])
    """
    spectrum = eigen_symmetric(A) if known is None else known
    values = np.maximum(spectrum.values, 0.0)
    return RidgeSpectrum(spectrum.vectors, values, spectrum.vectors.T @ B, values, EPS * len(A) * float(values[0]))


def spectrum_of_rows(X: Array, Y: Array, n: int) -> RidgeSpectrum:
    """From rows, or the triangle that stands for them.

    Args:
        X: (k, d).
        Y: (k, p).
        n: rows that X stands for, for the tolerance of the rank.
    """
    left, s, right = sla.svd(X, full_matrices=False, check_finite=False)
    flat = (EPS * max(n, X.shape[1]) * float(s[0])) ** 2
    return RidgeSpectrum(right.T * s, s**2, left.T @ Y, np.ones_like(s), flat)

"""Canonical pairs: the two combinations, one on each side, that correlate most; then the next, uncorrelated to them.

Each side in principal coordinates z = V^T x, in which its covariance is diag(values):

    M = diag(values_x + r_x)^-1/2  cov(z_x, z_y)  diag(values_y + r_y)^-1/2 = P diag(rho) Q^T
    a = diag(values_x + r_x)^-1/2 P             b = diag(values_y + r_y)^-1/2 Q

so that a^T (diag(values_x) + r_x I) a = I and rho are the canonical correlations; with a ridge, of the regularised
problem. rho^2 are the eigenvalues of (S_xx + r_x I)^-1 S_xy (S_yy + r_y I)^-1 S_yx. The coordinates come from
covariances (d x d), from a triangle R of the rows (nothing is squared), or from Gram matrices (n x n).

Reference: Hotelling, Biometrika 28, 1936; Björck and Golub, Mathematics of Computation 27, 1973; Vinod, Journal of
Econometrics 4, 1976.

Wilks' lambda of two sets of columns and what chance does to it.

    lambda = prod (1 - r_k^2)     r_k the canonical correlations; of groups r^2 = l / (1 + l), l between over within
    chance   Rao's F, exact where a side has one or two columns: normal columns, independent sides

Reference: Rao, Bull. Int. Stat. Inst. 33 (1951).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from scipy.special import fdtrc

from assay.arrays import Array
from assay.linalg.eigen.spectral import Spectrum, svd
from assay.linalg.eigen.top_svd import top_svd

_EPS = float(np.finfo(np.float64).eps)
_DOUBT = 1e6  # times eps is what squaring costs the correlations: 2e-10


@dataclass(frozen=True, slots=True, eq=False)
class Coupling:
    """Two sides in principal coordinates.

    Attributes:
        x: variances (r,) of the left side, all positive, and vectors: (d, r) orthonormal axes V, or, from a Gram
            matrix, (n, r) coefficients D with V = Xc^T D.
        y: the same of the right side, s of them.
        cross: (r, s) covariances between the coordinates.
        smallest: for each side the smallest variance that the rows and columns allow for, as a share of the largest;
            0 where columns depend on each other.
    """

    x: Spectrum
    y: Spectrum
    cross: Array
    smallest: tuple[float, float]

    def condition(self, ridge: tuple[float, float]) -> tuple[float, float]:
        """Largest over smallest variance of each side, ridge included; infinite where columns depend on each other."""
        return _condition(self.x, self.smallest[0], ridge[0]), _condition(self.y, self.smallest[1], ridge[1])

    def doubtful(self, ridge: tuple[float, float]) -> bool:
        """Whether having squared the data may have cost digits: 1e-10 or more of the correlations."""
        return max(self.condition(ridge)) > _DOUBT


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalPairs:
    """Weights in principal coordinates, and what they reach.

    Attributes:
        correlations: (k,), descending, in [0, 1].
        x: (r, k), of the left side.
        y: (s, k), of the right side.
    """

    correlations: Array
    x: Array
    y: Array


def coupled_covariances(Sxx: Array, Sxy: Array, Syy: Array, rows: float = np.inf) -> Coupling:
    """Principal coordinates from covariances.

    Args:
        Sxx: (p, p) covariance of the left side; a column of zeros is a constant one.
        Sxy: (p, q).
        Syy: (q, q).
        rows: how many rows they come from: not more than rows - 1 directions can have a variance.

    >>> found = coupled_covariances(np.array([[2.0]]), np.array([[1.0]]), np.array([[1.0]]))
    >>> canonical_pairs(found).correlations.round(4)
    array([0.7071])
    """
    (x, least_x), (y, least_y) = (principal_side(S, rows) for S in (Sxx, Syy))
    return Coupling(x, y, x.vectors.T @ Sxy @ y.vectors, (least_x, least_y))


def coupled_triangle(R: Array, p: int, rows: int, freedom: float) -> Coupling:
    """Principal coordinates from rows Q R with orthonormal Q, or from the centred rows themselves.

    Args:
        R: (m, p + q), both sides beside each other.
        p: columns of the left side.
        rows: how many rows R stands for.
        freedom: what sums of squares are divided by.

    >>> found = coupled_triangle(np.array([[1.0, 1.0], [0.0, 1.0]]), 1, 2, 1.0)
    >>> canonical_pairs(found).correlations.round(4)
    array([0.7071])
    """
    sides = []
    for part in (R[:, :p], R[:, p:]):
        found = svd(part)
        keep = found.values > 8.0 * max(rows, part.shape[1]) * _EPS * found.values[0]
        least = _least(found.values**2, part, rows)
        sides.append((found.left[:, keep], found.values[keep], found.right[:, keep], least))
    (left_x, sx, right_x, least_x), (left_y, sy, right_y, least_y) = sides
    cross = sx[:, None] * (left_x.T @ left_y) * sy / freedom
    return Coupling(Spectrum(sx**2 / freedom, right_x), Spectrum(sy**2 / freedom, right_y), cross, (least_x, least_y))


def coupled_grams(Kx: Array, Ky: Array, freedom: float, widths: tuple[int, int]) -> Coupling:
    """Principal coordinates from the Gram matrices of centred rows; vectors are coefficients of the rows.

    Args:
        Kx: (n, n) inner products of the left side.
        Ky: (n, n) of the right side.
        freedom: what sums of squares are divided by.
        widths: columns that differ on each side.
    """
    n = len(Kx)
    sides = []
    for K, width in zip((Kx, Ky), widths, strict=True):
        values, U = sla.eigh(K, driver="evd", check_finite=False)
        values, U = values[::-1], U[:, ::-1]
        keep = values > 8.0 * n * _EPS * values[0]
        least = values[min(n - 1, width) - 1] / values[0] if values[0] > 0.0 and width else 1.0
        sides.append((U[:, keep], values[keep], max(float(least), 0.0)))
    (Ux, lx, least_x), (Uy, ly, least_y) = sides
    rx, ry = np.sqrt(lx), np.sqrt(ly)
    cross = rx[:, None] * (Ux.T @ Uy) * ry / freedom
    return Coupling(Spectrum(lx / freedom, Ux / rx), Spectrum(ly / freedom, Uy / ry), cross, (least_x, least_y))


def canonical_pairs(
    coupling: Coupling, ridge: tuple[float, float] = (0.0, 0.0), k: int | None = None
) -> CanonicalPairs:
    """The first k canonical pairs.

    Args:
        coupling: the two sides.
        ridge: what is added to the variances of each side, in their units.
        k: how many, at most the smaller rank; None for all.
    """
    most = min(len(coupling.x.values), len(coupling.y.values))
    if most == 0:
        return CanonicalPairs(np.empty(0), np.empty((len(coupling.x.values), 0)), np.empty((len(coupling.y.values), 0)))
    x, y = np.sqrt(coupling.x.values + ridge[0]), np.sqrt(coupling.y.values + ridge[1])
    found = top_svd(coupling.cross / x[:, None] / y, most if k is None else k)
    return CanonicalPairs(np.minimum(found.values, 1.0), found.left / x[:, None], found.right / y[:, None])


def first_pair(coupling: Coupling, ridge: tuple[float, float]) -> tuple[Array, Array]:
    """The weights of the first pair alone, (r,) and (s,), for searches that solve many problems."""
    x, y = np.sqrt(coupling.x.values + ridge[0]), np.sqrt(coupling.y.values + ridge[1])
    M = coupling.cross / x[:, None] / y
    if M.size == 0:
        return np.zeros(len(x)), np.zeros(len(y))
    wide = M.shape[0] <= M.shape[1]
    small = M if wide else M.T
    top = len(small)
    # LAPACK itself: around it scipy.linalg.eigh takes several times as long as a small problem
    _, vectors, _, _, failed = sla.lapack.dsyevr(small @ small.T, range="I", il=top, iu=top, lower=1)
    if failed:
        raise np.linalg.LinAlgError("the largest eigenvalue of a canonical problem was not found")
    one = vectors[:, 0]
    other = small.T @ one
    other /= np.linalg.norm(other) or 1.0
    return (one / x, other / y) if wide else (other / x, one / y)


def _condition(side: Spectrum, smallest: float, ridge: float) -> float:
    added = ridge / float(side.values[0]) if len(side.values) else 1.0
    return (1.0 + added) / (smallest + added) if smallest + added > 0.0 else np.inf


def principal_side(S: Array, rows: float = np.inf) -> tuple[Spectrum, float]:
    """The variances and axes of one side, those without a variance left out, and the smallest as in `Coupling`.

    Args:
        S: (d, d) covariance.
        rows: how many rows it comes from.
    """
    values, V = sla.eigh(S, driver="evd", check_finite=False)
    values, V = values[::-1], V[:, ::-1]
    # rounding in S and in its decomposition leaves so much of a variance that is zero
    keep = values > 8.0 * len(S) * _EPS * values[0]
    return Spectrum(values[keep], V[:, keep]), _least(values, S, rows)


def _least(values: Array, columns: Array, rows: float) -> float:
    """The smallest value that could be above zero, as a share of the largest."""
    possible = int(min(float(np.count_nonzero(columns.any(axis=0))), rows - 1))
    if possible == 0 or values[0] <= 0.0:
        return 1.0
    return max(float(values[min(possible, len(values)) - 1] / values[0]), 0.0)


def log_lambda(correlations: Array) -> float:
    """Logarithm of Wilks' lambda.

    Args:
        correlations: (k,) canonical ones.

    >>> round(log_lambda(np.array([0.6])), 6)
    -0.446287
    """
    return float(np.log(np.maximum(1.0 - correlations**2, 1e-300)).sum())


def wilks_p(correlations: Array, n: int, p: int, q: int) -> float:
    """Probability that chance makes a lambda as small.

    Args:
        correlations: (k,) canonical ones.
        n: rows.
        p, q: independent columns of both sides; of g groups q is g - 1.

    >>> round(wilks_p(np.array([0.5]), 20, 1, 1), 8)  # that of Student's t for a correlation of .5 in 20 rows
    0.02476956
    """
    many = p * p + q * q - 5
    s = np.sqrt((p * p * q * q - 4) / many) if many > 0 else 1.0
    free = (n - 1 - (p + q + 1) / 2) * s - p * q / 2 + 1
    return float(fdtrc(p * q, free, np.expm1(-log_lambda(correlations) / s) * free / (p * q)))

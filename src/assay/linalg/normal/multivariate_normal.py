"""The multivariate normal distribution, degenerate ones included.

    density      log f(x) = -(r log 2 pi + log |S| + q(x)) / 2,   q(x) = (x - mu)^T S^+ (x - mu)
    given x_2    mean mu_1 + S_12 S_22^+ (x_2 - mu_2),            covariance S_11 - S_12 S_22^+ S_21

A covariance may be singular. A direction counts as flat when its eigenvalue of the correlation matrix is at most 1e-12
of the largest; r is the number of the others. Where r < d the density is that on the support, an r-dimensional plane,
with the product of the eigenvalues of S that are not zero for |S|; farther from the plane than 1e-5 standard deviations
it is zero (as scipy.stats.multivariate_normal with allow_singular=True).

Columns may have any units, and flat directions are left out:

    S = D R D,  R = V diag(values) V^T,  F = V diag(values)^1/2

D holds the standard deviations. A direction is flat when its eigenvalue of the correlation matrix R is at most 1e-12
of the largest: V (d, r) spans the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import scipy.linalg as sla
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array, Mask
from assay.errors import DataError, ParameterError
from assay.linalg.normal.completion import Law, completed, patterns_of
from assay.linalg.normal.whitening import HELD, OFF_PLANE
from assay.linalg.validate import RandomState, as_count, as_generator, as_matrix, as_symmetric, as_vector

_LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, slots=True, eq=False)
class MultivariateNormal:
    """A normal distribution of d columns: how likely is a row, and what do some columns say about the others?

    Attributes:
        mean: (d,).
        covariance: (d, d), symmetric, no eigenvalue below zero. It may be singular: see the top of the module.

    >>> normal = MultivariateNormal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> given = normal.conditional([0], [2.0])
    >>> given.mean, given.covariance
    (array([1.]), array([[0.75]]))

    Reference: Anderson, An Introduction to Multivariate Statistical Analysis, 2003, chapter 2.
    """

    mean: Array
    covariance: Array
    _axes: Axes = field(init=False, repr=False)

    def __init__(self, mean: ArrayLike, covariance: ArrayLike) -> None:
        centre = as_vector(mean, name="mean")
        S = as_symmetric(covariance, name="covariance")
        if S.shape[0] != centre.size:
            raise DataError(f"mean and covariance must fit: {centre.size} means, a covariance of shape {S.shape}.")
        object.__setattr__(self, "mean", centre)
        object.__setattr__(self, "covariance", S)
        object.__setattr__(self, "_axes", Axes.of(S))

    @classmethod
    def mle(cls, X: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """The normal that makes rows most likely: their mean, and their scatter divided by n (not n - 1).

        Args:
            X: (n, d) rows. Fewer rows than columns give a degenerate normal.
            weights: (n,) how often each row counts; not negative.
        """
        rows = as_matrix(X, name="X")
        w = np.ones(len(rows)) if weights is None else as_vector(weights, name="weights", size=len(rows))
        if np.any(w < 0.0) or not np.isfinite(w.sum()) or w.sum() <= 0.0:
            raise ParameterError("weights must be >= 0 with a positive, finite sum.")
        rows, w = rows[w > 0.0], w[w > 0.0] / w.sum()
        # powers of two change no digit, and keep squares and sums in range
        unit = np.ldexp(1.0, np.clip(np.frexp(np.abs(rows).max(axis=0))[1], -1000, 1000))
        scaled = rows / unit
        # clipped into the range, so that a constant column is centred to exact zeros
        near = np.clip(w @ scaled, scaled.min(axis=0), scaled.max(axis=0))
        size = np.abs(scaled - near).max(axis=0)
        fine = np.where(size > 0.0, np.ldexp(1.0, np.frexp(size)[1]), 1.0)
        centred = (scaled - near) / fine
        offset = w @ centred
        centred = (centred - offset) * np.sqrt(w)[:, None]
        scale = unit * fine
        return cls((near + fine * offset) * unit, scale[:, None] * (centred.T @ centred) * scale)

    @classmethod
    def of_moments(cls, n: float, mean: ArrayLike, scatter: ArrayLike) -> Self:
        """The maximum likelihood normal of a summary.

        Args:
            n: number of rows, or the sum of their weights.
            mean: (d,).
            scatter: (d, d) sum of products of deviations from the mean.
        """
        if not (np.isfinite(n) and n > 0):
            raise ParameterError(f"n must be a positive number of rows, is {n}.")
        return cls(mean, as_symmetric(scatter, name="scatter") / n)

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.mean)

    @property
    def rank(self) -> int:
        """Dimension of the support: d, or less where columns depend on each other."""
        return len(self._axes.values)

    @property
    def entropy(self) -> float:
        """Differential entropy on the support, in nats."""
        return 0.5 * (self.rank * (_LOG_2PI + 1.0) + self._axes.log_determinant)

    def log_density(self, X: ArrayLike) -> Array:
        """(n,) log densities of (n, d) rows; -inf off the support of a degenerate normal."""
        whole: Array = -0.5 * (self.rank * _LOG_2PI + self._axes.log_determinant + self.mahalanobis(X) ** 2)
        return whole

    def density(self, X: ArrayLike) -> Array:
        """(n,) densities of (n, d) rows."""
        return np.exp(self.log_density(X))

    def mahalanobis(self, X: ArrayLike) -> Array:
        """(n,) distances of (n, d) rows from the mean in standard deviations, sqrt((x - mu)^T S^+ (x - mu)).

        They are infinite off the support of a degenerate normal.
        """
        rows = self._rows(X)
        whitened, on = self._axes.whitened(rows - self.mean, np.abs(self.mean))
        with np.errstate(over="ignore"):
            return np.where(on, np.sqrt(np.einsum("ij,ij->i", whitened, whitened)), np.inf)

    def sample(self, n: int, random_state: RandomState = None) -> Array:
        """(n, d) random rows.

        Args:
            n: how many.
            random_state: seed or generator.
        """
        draws = as_generator(random_state).standard_normal((as_count(n, 2**40, name="n", what="rows"), self.rank))
        return np.asarray(self.mean + (draws @ self._axes.factor.T) * self._axes.spread)

    def marginal(self, columns: ArrayLike) -> MultivariateNormal:
        """The distribution of some columns, whatever the others are.

        Args:
            columns: numbers of different columns, in the order wanted.
        """
        kept = self._columns(columns)
        return MultivariateNormal(self.mean[kept], self.covariance[np.ix_(kept, kept)])

    def conditional(self, columns: ArrayLike, values: ArrayLike) -> MultivariateNormal:
        """The distribution of the other columns, in their order, once some are known.

        Args:
            columns: numbers of the columns that are known; at least one must remain.
            values: what they are. Values that contradict a degenerate normal are taken at the nearest possible ones.
        """
        known = self._columns(columns)
        others = np.setdiff1d(np.arange(self.d), known)
        if not others.size:
            raise ParameterError(f"all {self.d} columns are given; leave out those whose distribution is asked for.")
        if not known.size and np.size(values) == 0:
            return self
        gap = as_vector(values, name="values", size=known.size) - self.mean[known]
        F, s = self._axes.factor, self._axes.scale
        told = Known.of(F[known])
        mean = self.mean[others] + s[others] * told.expected(F[others], (gap / s[known])[None])[0]
        rest = s[others][:, None] * told.rest(F[others])
        return MultivariateNormal(mean, rest @ rest.T)  # a Gram matrix is never indefinite

    def conditional_mean(self, X: ArrayLike) -> Array:
        """Fill gaps with the most likely value given what is known of the row.

        Args:
            X: (n, d) rows with NaN where values are missing; not changed. A row without any value becomes the mean.

        Returns:
            (n, d).
        """
        rows = self._rows(X, gaps=True)
        missing = np.isnan(rows)
        filled = np.where(missing, self.mean, rows)
        axes = self._axes
        moving = axes.spread > 0.0
        gaps = missing[:, moving]
        if not gaps.any():
            return filled
        mean, spread, factor = self.mean[moving], axes.spread[moving], axes.factor[moving]
        deviations = (filled[:, moving] - mean) / spread
        if self.rank == len(spread):
            expected = completed(deviations, patterns_of(gaps), Law.of(factor @ factor.T)).deviations
        else:
            expected = _expected_degenerate(deviations, gaps, factor)
        filled[:, moving] = np.where(gaps, mean + expected * spread, filled[:, moving])
        return filled

    def kl(self, other: MultivariateNormal) -> float:
        """Kullback-Leibler divergence from this to another normal, in nats: how badly the other describes this one.

        Infinite when their supports differ. Reference: Kullback & Leibler 1951.
        """
        if other.d != self.d:
            raise ParameterError(f"the other normal must have {self.d} columns, has {other.d}.")
        mine, theirs = self._axes, other._axes
        if self.rank != other.rank:
            return float("inf")
        stretched = (mine.spread[:, None] * mine.factor).T
        between, on = theirs.whitened(np.vstack([stretched, self.mean - other.mean]), np.abs(other.mean))
        if not on.all():
            return float("inf")
        trace = float(np.sum(between**2))
        return max(0.5 * (trace - self.rank + theirs.log_determinant - mine.log_determinant), 0.0)

    def _rows(self, X: ArrayLike, *, gaps: bool = False) -> Array:
        raw = np.asarray(X, dtype=np.float64)
        rows = as_matrix(np.where(np.isnan(raw), 0.0, raw) if gaps else raw, name="X", allow_empty=True)
        if rows.shape[1] != self.d:
            raise DataError(f"X must have {self.d} columns, has shape {rows.shape}.")
        return raw if gaps else rows

    def _columns(self, columns: ArrayLike) -> NDArray[np.intp]:
        asked = np.atleast_1d(np.asarray(columns))
        if asked.ndim != 1 or (asked.size and not np.issubdtype(asked.dtype, np.integer)):
            raise ParameterError(f"columns must be a list of column numbers, is {columns!r}.")
        if np.any((asked < 0) | (asked >= self.d)) or np.unique(asked).size < asked.size:
            raise ParameterError(f"columns must be different numbers from 0 to {self.d - 1}, are {asked.tolist()}.")
        return asked.astype(np.intp)


def _expected_degenerate(deviations: Array, gaps: Mask, factor: Array) -> Array:
    """Deviations (n, d) in standard deviations, with the gaps filled by way of pseudo-inverses."""
    expected = deviations.copy()
    for mask, rows in patterns_of(gaps).groups():
        told = Known.of(factor[~mask])
        expected[np.ix_(rows, mask)] = told.expected(factor[mask], deviations[np.ix_(rows, ~mask)])
    return expected


_FLAT = 1e-12
_INDEFINITE = 1e-8  # a smallest eigenvalue this far below zero is no rounding


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """The axes of a covariance S = D V diag(values) V^T D.

    Attributes:
        spread: (d,) standard deviations D.
        values: (r,) positive eigenvalues of the correlation matrix, ascending.
        vectors: (d, r) V, orthonormal; zero in the rows of constant columns.
    """

    spread: Array
    values: Array
    vectors: Array

    @classmethod
    def of(cls, S: Array) -> Axes:
        """Decompose a symmetric (d, d) covariance; refuse one that no data can have.

        >>> Axes.of(np.array([[4.0, 2.0], [2.0, 1.0]])).values
        array([2.])
        """
        diagonal = np.diag(S)
        constant = diagonal == 0.0
        impossible = (diagonal < 0.0) | (constant & np.any(S != 0.0, axis=1))
        if impossible.any():
            i = int(np.argmax(impossible))
            what = f"is {diagonal[i]:.6g}" if diagonal[i] < 0.0 else "is 0, but its covariances are not"
            raise DataError(f"covariance must have variances >= 0: that of column {i} (counted from 0) {what}.")
        spread = np.sqrt(diagonal)
        scale = np.where(constant, 1.0, spread)
        values, vectors = sla.eigh(S / scale / scale[:, None], driver="evd", check_finite=False)
        if values[0] < -_INDEFINITE * values[-1]:
            raise DataError(
                f"covariance must have no eigenvalue below zero: as correlations its smallest is {values[0]:.3g}. "
                "Use best_definite for the nearest one that has none."
            )
        kept = values > _FLAT * values[-1]
        vectors = np.where(constant[:, None], 0.0, vectors[:, kept])
        return cls(spread, values[kept], vectors)

    @property
    def scale(self) -> Array:
        """(d,) the standard deviations, 1 where they are zero."""
        return np.where(self.spread > 0.0, self.spread, 1.0)

    @property
    def factor(self) -> Array:
        """(d, r) F, with F F^T = R."""
        return self.vectors * np.sqrt(self.values)

    @property
    def log_determinant(self) -> float:
        """Log of the product of the eigenvalues of S that are not zero."""
        logs = float(np.log(self.values).sum())
        if len(self.values) == len(self.spread):
            return logs + 2.0 * float(np.log(self.spread).sum())
        if len(self.values) == 0:
            return 0.0
        # |V^T D^2 V| by QR of D V: rows by descending size and pivoted columns keep widely different units exact
        stretched = self.spread[:, None] * self.vectors
        rows = np.argsort(-np.abs(stretched).max(axis=1), kind="stable")
        R = sla.qr(stretched[rows], mode="r", pivoting=True, check_finite=False)[0]
        return logs + 2.0 * float(np.log(np.abs(np.diag(R))).sum())

    def whitened(self, deviations: Array, held: Array) -> tuple[Array, Mask]:
        """Coordinates of deviations from the mean along the axes, in standard deviations.

        Args:
            deviations: (n, d).
            held: (d,) size of the means, against which constant columns are compared.

        Returns:
            (n, r), and (n,) whether each row is on the support.
        """
        constant = self.spread == 0.0
        with np.errstate(over="ignore", invalid="ignore"):  # a row beyond the range of numbers is off the support
            u = np.where(constant, 0.0, deviations / self.scale)
            along = u @ self.vectors
            on: Mask = np.asarray(np.isfinite(along).all(axis=1))
            if len(self.values) < len(self.spread):
                off = np.linalg.norm(u - along @ self.vectors.T, axis=1)
                near = off <= OFF_PLANE * (1.0 + np.linalg.norm(u, axis=1))
                on = np.asarray(on & near & (np.abs(deviations) <= HELD * held)[:, constant].all(axis=1))
            return np.where(on[:, None], along / np.sqrt(self.values), 0.0), on


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Some rows F_2 of a factor, as what they tell about the rest: F_2 = left diag(sizes) right^T.

    Attributes:
        left: (k, q).
        sizes: (q,), none flat.
        right: (r, q), orthonormal.
    """

    left: Array
    sizes: Array
    right: Array

    @classmethod
    def of(cls, factor: Array) -> Known:
        """Decompose the (k, r) rows of a factor that belong to the known columns."""
        left, sizes, right = np.linalg.svd(factor, full_matrices=False)
        kept = sizes > np.sqrt(_FLAT) * sizes.max(initial=0.0)
        return cls(left[:, kept], sizes[kept], right[kept].T)

    def expected(self, others: Array, values: Array) -> Array:
        """(n, j) F_1 F_2^+ u_2: the others (j, r) given (n, k) values, in standard deviations."""
        return np.asarray((values @ self.left / self.sizes) @ (others @ self.right).T)

    def rest(self, others: Array) -> Array:
        """(j, r) G with G G^T = R_11 - R_12 R_22^+ R_21, flat directions cut to zero."""
        free = others
        # projected twice, so that what is known exactly leaves no rounding behind
        for _ in range(2):
            free = free - (free @ self.right) @ self.right.T
        left, sizes, right = np.linalg.svd(free, full_matrices=False)
        widest = max(float(np.linalg.norm(others, 2)), float(self.sizes.max(initial=0.0))) if others.size else 0.0
        kept = sizes > np.sqrt(_FLAT) * widest
        return np.asarray((left[:, kept] * sizes[kept]) @ right[kept])

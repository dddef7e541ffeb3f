"""The axes of a normal distribution, with columns in any units and flat directions left out.

    S = D R D,  R = V diag(values) V^T,  F = V diag(values)^1/2

D holds the standard deviations. A direction is flat when its eigenvalue of the correlation matrix R is at most 1e-12
of the largest: V (d, r) spans the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from assay.arrays import Array, Mask
from assay.errors import DataError

_FLAT = 1e-12
_INDEFINITE = 1e-8  # a smallest eigenvalue this far below zero is no rounding
_OFF = 1e-5  # distance from the support, in standard deviations, that rounding may leave
_HELD = 1e-12  # relative distance from its mean that rounding may leave of a constant column


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
                near = off <= _OFF * (1.0 + np.linalg.norm(u, axis=1))
                on = np.asarray(on & near & (np.abs(deviations) <= _HELD * held)[:, constant].all(axis=1))
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

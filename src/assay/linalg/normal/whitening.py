"""Rows in coordinates in which their covariance is the identity: squared distances and what each column adds.

    z = (x - m) / s                                    estimate  V diag(spread) V^T + ridge (I - V V^T)
    d^2 = sum of (V^T z)^2 / spread + |z - V V^T z|^2 / ridge = sum_j u_j^2
    u = V diag(spread)^-1/2 V^T z + (z - V V^T z) / ridge^1/2

u is the whitening that stays nearest to z (zero-phase, ZCA): with s the standard deviations, each u_j correlates with
column j as much as whitened coordinates together can, so that u_j^2 is the part of d^2 that is column j's.
Reference: Kessy, Lewin & Strimmer, The American Statistician 72, 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array

OFF_PLANE = 1e-5  # distance from the plane of the rows, in standard deviations, that rounding may leave
HELD = 1e-12  # relative distance from a constant that rounding may leave


@dataclass(frozen=True, eq=False)
class Whitening:
    """Distances by an estimate of centre and covariance.

    Attributes:
        location: (d,) m.
        scale: (d,) s; zero for constant columns, from which nothing may differ.
        axes: (d, k) V, orthonormal; zero in the rows of constant columns.
        spread: (k,) variance along the axes, positive.
        ridge: variance in all other directions; 0 for none, and what leaves the axes is infinitely far.

    >>> unit = Whitening(np.zeros(2), np.ones(2), np.eye(2), np.array([4.0, 1.0]))
    >>> unit.far(np.array([[2.0, 3.0]]))
    array([10.])
    """

    location: Array
    scale: Array
    axes: Array
    spread: Array
    ridge: float = 0.0

    def far(self, rows: NDArray[Any]) -> Array:
        """(n,) squared distances of (n, d) rows; NaN or infinite where they leave the range of numbers."""
        with np.errstate(over="ignore", invalid="ignore"):
            if not self._flat and not self._constant.any():
                along = (rows - self.location) @ self._whiten
                far: Array = np.einsum("ij,ij->i", along, along)
                return far
            z, rest = self._split(rows)
            along = z @ self._along
            far = np.einsum("ij,ij->i", along, along)
            if self._flat:
                square = np.einsum("ij,ij->i", rest, rest)
                far += square / self.ridge if self.ridge > 0.0 else np.where(square > self._near(z) ** 2, np.inf, 0.0)
            return np.where(self._broken(rows).any(axis=1), np.inf, far)

    def shares(self, rows: NDArray[Any]) -> Array:
        """(n, d) u^2, what each column adds to the squared distance; infinite for columns that break a relation."""
        with np.errstate(over="ignore", invalid="ignore"):
            z, rest = self._split(rows)
            u = (z @ self._along) @ self.axes.T
            if self._flat and self.ridge > 0.0:
                u += rest / np.sqrt(self.ridge)
            elif self._flat:
                near = self._near(z)
                off = np.linalg.norm(rest, axis=1) > near
                u[off[:, None] & (np.abs(rest) > near[:, None] / np.sqrt(rest.shape[1]))] = np.inf
            return np.where(self._broken(rows), np.inf, u**2)

    def deviations(self, rows: NDArray[Any]) -> Array:
        """(n, d) z; infinite for what differs from a constant column."""
        with np.errstate(over="ignore", invalid="ignore"):
            gap = rows - self.location
            return np.where(self._broken(rows), np.copysign(np.inf, gap), gap * self._unit)

    @cached_property
    def _constant(self) -> NDArray[np.bool_]:
        return np.asarray(self.scale == 0.0)

    @cached_property
    def _flat(self) -> bool:
        """Whether there are directions without an axis."""
        return bool(self.axes.shape[1] < np.count_nonzero(self.scale))

    @cached_property
    def _unit(self) -> Array:
        return np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0.0)

    @cached_property
    def _along(self) -> Array:
        return np.asarray(self.axes / np.sqrt(self.spread))

    @cached_property
    def _whiten(self) -> Array:
        return self._along * self._unit[:, None]

    def _split(self, rows: NDArray[Any]) -> tuple[Array, Array]:
        """(n, d) z, and what of it is along no axis."""
        z = (rows - self.location) * self._unit
        return z, z - (z @ self.axes) @ self.axes.T if self._flat else z

    def _near(self, z: Array) -> Array:
        """(n,) what rounding may leave off the axes."""
        near: Array = OFF_PLANE * (1.0 + np.linalg.norm(z, axis=1))
        return near

    def _broken(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """(n, d) whether a value differs from a constant column."""
        if not self._constant.any():
            return np.zeros((1, len(self.scale)), dtype=bool)
        return np.asarray(self._constant & (np.abs(rows - self.location) > HELD * np.abs(self.location)))

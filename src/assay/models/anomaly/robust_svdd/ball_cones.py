"""The two cones of a ball with slack, scaled after Nesterov and Todd, for all n rows at once.

Both losses are linear in r and in the slacks s >= 0 (n,), and at most quadratic in the centre c (d,), with one cone for
each row:

    hinge    z_i = r + s_i - |x_i|^2 + 2 x_i.c >= 0           r = R^2 - |c|^2: a quadratic program
    linear   z_i = (r + s_i, x_i - c),  |x_i - c| <= r + s_i    r = R >= 0: a second-order cone program

z and its multipliers y are (k, n): the first line is the head of each cone (y_0 are the weights a of the rows), the
others, for the linear loss alone, its d coordinates. A step changes them by  dy = g - M dz  with M the squared inverse
scaling; for row i the head moves by  da = g_0 - M_00 (dr + ds) - m.dc .
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from assay.arrays import Array


class Scaling(Protocol):
    """A point of the cones and its multipliers, and the linear algebra of a step from there."""

    @property
    def head(self) -> Array:
        """(n,) M_00."""
        ...

    @property
    def coupling(self) -> Array:
        """(d, n) m."""
        ...

    @classmethod
    def of(cls, rows: Array, z: Array, y: Array) -> Self:
        """Scale at slacks z and multipliers y, both (k, n), of (d, n) rows."""
        ...

    def schur(self, ratio: Array) -> Array:
        """(d, d) matrix of dc when z is head + ratio stiff in each row, without the curvature of the program."""
        ...

    def centring(self, mu: float, dz: Array | None, dy: Array | None) -> Array:
        """(k, n) g of a step that makes all products mu, corrected for the second order of an earlier step."""
        ...

    def force(self, y: Array) -> Array:
        """(d,) - sum of the multipliers times the derivative of their slacks by c."""
        ...

    def move(self, g: Array, top: Array, dc: Array) -> tuple[Array, Array]:
        """Dz and dy, (k, n), where the heads move by top and the centre by dc."""
        ...

    def longest(self, z: Array, dz: Array) -> float:
        """The largest share of a step that stays in the cones."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class HalfLines:
    """z >= 0 for each row: the hinge loss."""

    rows: Array
    z: Array
    y: Array
    head: Array
    coupling: Array

    @classmethod
    def of(cls, rows: Array, z: Array, y: Array) -> Self:
        """Scale: M = y / z."""
        head = y[0] / z[0]
        return cls(rows, z, y, head, 2.0 * head * rows)

    def schur(self, ratio: Array) -> Array:
        """M - M^2 / (M + ratio) is formed as M ratio / (M + ratio), which does not cancel."""
        weight = 4.0 * self.head * (ratio / (self.head + ratio))
        made: Array = (self.rows * weight) @ self.rows.T
        return made

    def centring(self, mu: float, dz: Array | None, dy: Array | None) -> Array:
        """(mu - z y - dz dy) / z."""
        second = 0.0 if dz is None or dy is None else dz * dy
        return np.asarray((mu - self.z * self.y - second) / self.z)

    def force(self, y: Array) -> Array:
        """- 2 sum a x."""
        return np.asarray(-2.0 * (self.rows @ y[0]))

    def move(self, g: Array, top: Array, dc: Array) -> tuple[Array, Array]:
        """Dz = top + 2 x.dc."""
        dz = (top + 2.0 * (dc @ self.rows))[None]
        return dz, g - self.head * dz

    def longest(self, z: Array, dz: Array) -> float:
        """Until the first one is zero."""
        return longest(z, dz)


@dataclass(frozen=True, slots=True, eq=False)
class SecondOrderCones:
    """|z_1| <= z_0 for each row: the linear loss.

    With w the scaling point of unit hyperbolic length and eta its size, W = eta (2 v v^T - J) maps y to W y = W^-1 z.

    Reference: Vandenberghe, The CVXOPT linear and quadratic cone program solvers, 2010.
    """

    head: Array
    coupling: Array
    w0: Array
    w: Array
    eta: Array
    product: Array

    @classmethod
    def of(cls, rows: Array, z: Array, y: Array) -> Self:
        """Scale: w = (z' + J y') / |.| with z', y' of unit hyperbolic length."""
        long_z, long_y = hyperbolic(z), hyperbolic(y)
        unit_z, unit_y = z / long_z, y / long_y
        twice = np.sqrt(2.0 + 2.0 * np.einsum("kn,kn->n", unit_z, unit_y))
        w = (unit_z[1:] - unit_y[1:]) / twice
        w0 = np.sqrt(1.0 + np.einsum("kn,kn->n", w, w))
        eta = np.sqrt(long_z / long_y)
        flat = long_y / long_z
        made = cls(flat * (2.0 * w0**2 - 1.0), 2.0 * flat * w0 * w, w0, w, eta, np.empty_like(y))
        made.product[:] = made._scaled(y, inverse=False)
        return made

    def schur(self, ratio: Array) -> Array:
        """M_11 - m m^T / (M_00 + ratio): flat (I - u u^T) and a radial part that does not cancel."""
        flat = self.eta**-2
        beta = ratio / flat
        along = 2.0 * flat * (beta - 1.0) / (2.0 * self.w0**2 - 1.0 + beta)
        made: Array = (self.w * along) @ self.w.T
        made[np.diag_indices_from(made)] += flat.sum()
        return made

    def centring(self, mu: float, dz: Array | None, dy: Array | None) -> Array:
        """W^-1 of what, in the product of the cone with W y, gives mu e - (W y)^2 - (W^-1 dz)(W dy)."""
        at = self.product
        wanted = -_jordan(at, at)
        wanted[0] += mu
        if dz is not None and dy is not None:
            wanted -= _jordan(self._scaled(dz, inverse=True), self._scaled(dy, inverse=False))
        head = (at[0] * wanted[0] - np.einsum("kn,kn->n", at[1:], wanted[1:])) / hyperbolic(at) ** 2
        wanted[0] = head
        wanted[1:] -= head * at[1:]
        wanted[1:] /= at[0]
        return self._scaled(wanted, inverse=True)

    def force(self, y: Array) -> Array:
        """Sum of y_1: z_1 = x - c falls as c grows."""
        return np.asarray(y[1:].sum(axis=1))

    def move(self, g: Array, top: Array, dc: Array) -> tuple[Array, Array]:
        """Dz = (top, -dc), dy = g - eta^-2 (2 Jw (Jw)^T - J) dz."""
        dz = np.vstack([top[None], np.broadcast_to(-dc[:, None], self.w.shape)])
        along, flat = self.w0 * top + dc @ self.w, self.eta**-2
        dy = g.copy()
        dy[0] -= flat * (2.0 * self.w0 * along - top)
        dy[1:] += flat * (2.0 * self.w * along + dc[:, None])
        return dz, dy

    def longest(self, z: Array, dz: Array) -> float:
        """Until the first one lies on the boundary: the root of |z + t dz|^2 = 0 in the hyperbolic square."""
        square = hyperbolic(z) ** 2
        product = z[0] * dz[0] - np.einsum("kn,kn->n", z[1:], dz[1:])
        step = dz[0] ** 2 - np.einsum("kn,kn->n", dz[1:], dz[1:])
        root = np.sqrt(np.maximum(product**2 - square * step, 0.0))
        outward = float(np.max((root - product) / square))
        return 1.0 / outward if outward > 0.0 else np.inf

    def _scaled(self, v: Array, *, inverse: bool) -> Array:
        """W v, or W^-1 v, which is W with -w and 1 / eta."""
        sign, size = (-1.0, 1.0 / self.eta) if inverse else (1.0, self.eta)
        along = sign * np.einsum("kn,kn->n", self.w, v[1:])
        made = np.empty(v.shape)
        made[0] = size * (self.w0 * v[0] + along)
        rest = made[1:]  # in place: fresh memory would cost more than the arithmetic
        np.multiply(self.w, sign * (v[0] + along / (1.0 + self.w0)), out=rest)
        rest += v[1:]
        rest *= size
        return made


def hyperbolic(z: Array) -> Array:
    """sqrt(z_0^2 - |z_1|^2) of each column; as a product, since the difference of squares would cancel.

    >>> hyperbolic(np.array([[5.0], [3.0]]))
    array([4.])
    """
    across = np.sqrt(np.einsum("kn,kn->n", z[1:], z[1:]))
    return np.asarray(np.sqrt((z[0] - across) * (z[0] + across)))


def longest(v: Array, dv: Array) -> float:
    """The largest t with v + t dv >= 0.

    >>> longest(np.array([1.0, 1.0]), np.array([-2.0, 3.0]))
    0.5
    """
    falling = dv < 0.0
    return float(np.min(-v[falling] / dv[falling])) if falling.any() else np.inf


def _jordan(a: Array, b: Array) -> Array:
    """The product of the cone: (a.b, a_0 b_1 + b_0 a_1)."""
    return np.vstack([np.einsum("kn,kn->n", a, b)[None], a[0] * b[1:] + b[0] * a[1:]])

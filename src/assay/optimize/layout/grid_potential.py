"""The potential of many equal charges by splines on a regular grid and two Fourier transforms.

    phi(y) = sum_j 1 / (1 + |y - y_j|^2)^a

with a = 1 is all that t-SNE's repulsion needs: Z = sum_i phi(y_i) - n, and sum_j (y_i - y_j) / (1 + |y_i - y_j|^2)^2 is
-grad phi(y_i) / 2; other powers make heavier or lighter tails. Charges are spread once with quintic B-splines M,
rho_g = sum_j M(y_j / h - g); the coefficients c = G * rho make phi(y) = sum_g M(y / h - g) c_g, and its gradient is the
spline's. With B the transform of M at the grid points, G^ = K^ / B^2 in each axis makes the field exact for charges and
points on the grid (smooth particle-mesh Ewald, Essmann et al. 1995, with an open boundary: the grid is doubled by
zeros). FIt-SNE (Linderman et al. 2019) transforms a field for each term of the force, there and back.

The kernel's width is 1, or 1 / sqrt(a) for a > 1, whatever the data; so one spacing h serves from start to end, and the
kernel's transform is made again only when the grid changes its size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from assay.arrays import Array
from assay.errors import DataError
from assay.optimize.team import Task, Team

SPREADS = 2  # grids charged apart and then added: fixed, so that sums do not depend on the number of threads
SUPPORT = 6  # grid points a quintic B-spline reaches
SINGLE = 2**14  # grid points above which transforms are in single precision
FINEST, SMALL = 0.25, 2**15  # a spacing that is used on grids of up to so many points: while points are close together
LARGEST = {1: 2**22, 2: 2**22, 3: 2**20}  # grid points by dimensions; a layout that needs more gets a wider spacing
FARTHEST = 1e9  # units; descent gone wrong
_RIM = SUPPORT + 2  # grid points beyond the extent of the charges
_SAMPLES = (66 / 120, 26 / 120, 1 / 120)  # M at 0, 1, 2


class GridPotential:
    """phi and its gradient, at the charges themselves or elsewhere among them.

    Transforms of large grids are in single precision: their rounding, 1e-7 of phi, is far below the error of the grid.
    While all charges are within a few units phi is nearly constant and its gradient is lost in such rounding, but then
    the grid is small.

    Args:
        n: how many charges.
        q: in how many dimensions: 1, 2 or 3.
        spacing: h. The error of the gradient (root of the mean square, relative to that of the gradient itself) is
            1.6e-2 at .5, 5e-3 at .4, 1e-3 at .3 and 3e-4 at .25 for a finished layout of 10,000 points, where that of
            openTSNE is 3e-2. It is smaller for more points closer together, larger for few far apart.
        power: a.
    """

    def __init__(self, n: int, q: int, spacing: float, power: float = 1.0) -> None:
        self.n, self.q, self.power = n, q, power
        narrower = float(np.sqrt(max(1.0, power)))
        self.finest, self.spacing = FINEST / narrower, spacing / narrower
        spacing = self.spacing
        self._sides: tuple[int, ...] = (0,) * q
        self._spacing, self._made = spacing, 0.0
        self._kernel: NDArray[np.floating] = np.empty(0)
        self._origin = np.zeros(q)
        self._grids = np.empty(0)
        self._coefficients = np.empty(0)

    def charge_tasks(self, Y: Array) -> list[Task]:
        """Tasks that charge the grid with the (n, q) points."""
        from assay.optimize.layout import _layout_kernels as kernels

        low, high = (np.array([end(axis) for axis in Y.T]) for end in (np.min, np.max))
        self._resize(high - low)
        # the outermost points have their whole spline on the grid
        self._origin = 0.5 * (low + high) - 0.5 * self._spacing * (np.asarray(self._sides) - SUPPORT)
        self._grids = np.zeros((SPREADS, *(1,) * (3 - self.q), *self._sides))
        cuts = [self.n * s // SPREADS for s in range(SPREADS + 1)]

        def spread(s: int) -> Task:
            return lambda: kernels.spread(Y, cuts[s], cuts[s + 1], self._origin, self._spacing, self._grids[s])

        return [spread(s) for s in range(SPREADS)]

    def solve(self, workers: int) -> None:
        """Make the coefficients of phi from the charges."""
        rho = self._grids.sum(axis=0)
        self._coefficients = self._convolved(rho.reshape(self._sides), workers).reshape(rho.shape)

    def gather_tasks(self, Y: Array, phi: Array, slope: Array, team: Team) -> list[Task]:
        """Tasks that write phi and its gradient at (m, q) points within the box of the charges."""
        from assay.optimize.layout import _layout_kernels as kernels

        def gather(lo: int, hi: int) -> None:
            kernels.gather(Y, lo, hi, self._origin, self._spacing, self._coefficients, phi, slope)

        return team.over_rows(len(Y), gather)

    def _convolved(self, rho: Array, workers: int) -> Array:
        """G * rho. Zeros are appended axis by axis, and cut off again, so that no line of zeros is transformed."""
        doubled = [2 * side for side in self._sides]
        work = fft.rfft(rho.astype(self._kernel.dtype), doubled[-1], axis=-1, workers=workers)
        for axis in range(self.q - 2, -1, -1):
            work = fft.fft(work, doubled[axis], axis=axis, workers=workers, overwrite_x=True)
        work *= self._kernel
        for axis in range(self.q - 1):
            kept = (*(slice(None),) * axis, slice(self._sides[axis]))
            work = fft.ifft(work, axis=axis, workers=workers, overwrite_x=True)[kept]
        full = fft.irfft(work, doubled[-1], axis=-1, workers=workers)
        return np.ascontiguousarray(full[..., : self._sides[-1]], dtype=np.float64)

    def _resize(self, extent: Array) -> None:
        """Grow or shrink the grid if it has to, with room to grow, and make the kernel's transform for it."""
        self._spacing = self._chosen(extent)
        needed = [int(cells) + _RIM for cells in extent / self._spacing]
        if self._made == self._spacing and all(
            0.7 * side <= need <= side for need, side in zip(needed, self._sides, strict=True)
        ):
            return
        self._made = self._spacing
        self._sides = tuple(int(fft.next_fast_len(int(1.06 * need) + 4, real=True)) for need in needed)
        square = np.zeros((1,) * self.q)
        for axis, side in enumerate(self._sides):
            k = np.arange(2 * side)
            square = square + _along(axis, self.q, (self._spacing * np.minimum(k, 2 * side - k)) ** 2)
        kernel = fft.rfftn((1.0 + square) ** -self.power, workers=-1).real
        for axis, side in enumerate(self._sides):
            angle = np.arange(kernel.shape[axis]) * (np.pi / side)
            samples = _SAMPLES[0] + 2 * _SAMPLES[1] * np.cos(angle) + 2 * _SAMPLES[2] * np.cos(2 * angle)
            kernel /= _along(axis, self.q, samples**2)
        self._kernel = kernel.astype(np.float32) if np.prod(self._sides) > SINGLE else kernel

    def _chosen(self, extent: Array) -> float:
        """The spacing for a layout of this extent: finer than asked where that is cheap, wider where it must be."""
        if not (extent < FARTHEST).all():
            raise DataError(
                f"the layout spreads over {extent.max():g} units; lower learning_rate or the spread of init"
            )
        if np.prod(extent / self.finest + _RIM) <= SMALL:
            return min(self.spacing, self.finest)
        excess = float(np.prod(extent / self.spacing + _RIM)) / LARGEST[self.q]
        # in steps, so that a layout that grows does not need a new kernel at every iteration
        return float(self.spacing * 1.2 ** max(0.0, np.ceil(np.log(excess) / (self.q * np.log(1.2)))))


def _along(axis: int, q: int, values: Array) -> Array:
    return values.reshape([-1 if a == axis else 1 for a in range(q)])

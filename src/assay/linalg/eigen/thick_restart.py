"""Lanczos with pairs of vectors, restarted thick: the largest eigenpairs from products, repeated ones among them.

    G V = V H + Q R E^T        V (n, j) orthonormal, H = V^T G V, Q (n, 2) what comes next, E the last two unit vectors
    H y = theta y              Ritz pair (theta, V y), |G V y - theta V y| = |R y_last|: known without a product

When V is full it is replaced by its leading Ritz vectors, which keep the form above.

The Krylov space of one random vector holds one copy of a repeated eigenvalue, that of two holds two; and of values that
differ by a share e, a third has a part of order e in it, which keeps the pairs after it from converging until it is
found. So where no two values found agree to 1e-6, none was overlooked; where two agree, the caller looks again.

Reference: Wu & Simon, SIAM J. Matrix Anal. Appl. 22, 2000; Golub & Underwood, The block Lanczos method, 1977.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from assay.arrays import Array

_PAIR = 2
_AGREE = 1e-6
_HELD = 2**25  # numbers of a basis: 256 MB, unless that many are asked for
_EPS = float(np.finfo(np.float64).eps)


class Leading(NamedTuple):
    """Eigenpairs, and whether two of their values agree, so that a third may have been overlooked.

    Attributes:
        values: (k,), descending.
        vectors: (n, k), orthonormal columns.
        residuals: (k,), the norm of G v - value v.
        agree: see above.
    """

    values: Array
    vectors: Array
    residuals: Array
    agree: bool


def thick_restart(
    apply: Callable[[Array], Array],
    n: int,
    k: int,
    rng: np.random.Generator,
    *,
    tol: float,
    rounding: float = 0.0,
    restarts: int = 300,
) -> Leading | None:
    """The k largest eigenpairs of a symmetric operator, or None where they did not converge.

    Args:
        apply: from (n,) to G times it.
        n: size of G.
        k: how many, at most n / 5.
        rng: of the start.
        tol: residual allowed for each pair, relative to its value.
        rounding: residual that products make by themselves, beside 16 eps of the largest value.
        restarts: most of them.

    >>> weights = np.repeat(np.arange(50.0), 2)
    >>> found = thick_restart(lambda v: weights * v, 100, 3, np.random.default_rng(0), tol=1e-11)
    >>> found.values.round(9), found.agree
    (array([49., 49., 48.]), True)
    """
    room = min(n - _PAIR, max(3 * k // 2 + 20, min(2 * k + 50, _HELD // n)))
    space = _Space(apply, n, room, rng)
    for turn in range(2 * restarts):
        # a look half way saves the other half of the last turn
        space.extend(room if turn % 2 else (space.size + room) // 2)
        values, Y = np.linalg.eigh(space.H[: space.size, : space.size])
        values, Y = values[::-1], Y[:, ::-1]
        residuals = np.linalg.norm(space.R @ Y[-_PAIR:], axis=0)
        size = np.abs(values)
        done = residuals <= np.maximum(tol * size, max(rounding, 16.0 * _EPS * float(size.max())))
        if space.size > k and done[:k].all():
            close = values[: k - 1] - values[1:k] <= _AGREE * size[: k - 1]
            vectors = space.V[:, : space.size] @ Y[:, :k]
            return Leading(values[:k], vectors, residuals[:k], bool(close.any()))
        if turn % 2:
            space.restart(values, Y, k + (space.size - k) // 3)
    return None


class _Space:
    """The basis V with H and R; `size` vectors of it have had their products taken."""

    def __init__(self, apply: Callable[[Array], Array], n: int, room: int, rng: np.random.Generator) -> None:
        self._apply, self._room, self._rng = apply, room, rng
        self.V = np.empty((n, room + _PAIR), order="F")
        self.H = np.zeros((room, room))
        self.R = np.zeros((_PAIR, _PAIR))
        self.size, self._kept, self._norm = 0, 0, 0.0
        self.V[:, :_PAIR] = np.linalg.qr(rng.standard_normal((n, _PAIR)))[0]

    def extend(self, end: int) -> None:
        while self.size + _PAIR <= end:
            old, new = self.size, self.size + _PAIR
            W = np.stack([self._apply(self.V[:, i]) for i in range(old, new)])
            # three terms but for what a restart kept; then once against all, for rounding
            near = slice(0 if old == self._kept else old - _PAIR, new)
            h = np.zeros((new, _PAIR))
            for i, w in enumerate(W):  # one by one: OpenBLAS takes four times as long for two columns of a long product
                for part in (near, slice(0, new)):
                    along = self.V[:, part].T @ w
                    w -= self.V[:, part] @ along
                    h[part, i] += along
            self.H[:new, old:new] = h
            self.H[old:new, :new] = h.T
            self.H[old:new, old:new] = 0.5 * (h[old:] + h[old:].T)
            self.R = self._next(W, new)
            self.size = new

    def restart(self, values: Array, Y: Array, kept: int) -> None:
        kept = min(kept, self.size - _PAIR)
        end = self.size
        self.V[:, :kept] = self.V[:, :end] @ Y[:, :kept]
        self.V[:, kept : kept + _PAIR] = self.V[:, end : end + _PAIR].copy()
        self.H[:] = 0.0
        self.H[range(kept), range(kept)] = values[:kept]
        self.size = self._kept = kept

    def _next(self, W: Array, end: int) -> Array:
        """The next vectors of the basis from the rows of W = R^T Q^T, by Gram and Schmidt; gives R.

        Where nothing is left of one, the space is invariant, and any direction outside of it continues.
        """
        R, largest = np.zeros((_PAIR, _PAIR)), np.abs(self.H[end - _PAIR : end, end - _PAIR : end]).max()
        self._norm = max(self._norm, float(largest))
        for i, w in enumerate(W):
            for _ in range(2):
                for j in range(i):
                    along = float(self.V[:, end + j] @ w)
                    w -= along * self.V[:, end + j]
                    R[j, i] += along
            R[i, i] = np.linalg.norm(w)
            if R[i, i] <= 64.0 * _EPS * self._norm:
                self.V[:, end + i], R[i, i] = self._fresh(end + i), 0.0
            else:
                np.divide(w, R[i, i], out=self.V[:, end + i])
        return R

    def _fresh(self, end: int) -> Array:
        outside, others = self._rng.standard_normal(len(self.V)), self.V[:, :end]
        for _ in range(2):
            outside -= others @ (others.T @ outside)
        return np.asarray(outside / np.linalg.norm(outside))

"""Krylov spaces of a symmetric matrix known by its products: one growth, one reading, and two ways to use them.

    A V = V H + Q R E^T        V (n, j) orthonormal, H = V^T A V, Q what comes next, E the last block of unit vectors
    H y = theta y              Ritz pair (theta, V y), |A V y - theta V y| = |R y_last|: known without a product

V spans [Y, A Y, ..., A^p Y] of a block Y. It holds the leading eigenvectors to within a factor that shrinks with every
product, by how far the wanted eigenvalues stand above the rest (Musco & Musco 2015). When V is full it may be replaced
by its leading Ritz vectors, which keep the form above (a thick restart).

Reference: Golub & Underwood, The block Lanczos method, 1977; Wu & Simon, SIAM J. Matrix Anal. Appl. 22, 2000.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dgeqrf, dorgqr

from assay.arrays import Array
from assay.linalg.eigen.ritz import EXACT, TopEigen, descending
from assay.linalg.eigen.spectral import fix_signs

_PAIR = 2
_AGREE = 1e-6
_HELD = 2**25  # numbers of a basis: 256 MB, unless that many are asked for
_EPS = float(np.finfo(np.float64).eps)
_ROUNDING = 64.0 * _EPS  # of the largest entry of H: a block shorter than this was made by rounding
_APART = 1e-3  # share of a column that must be left of it, or what rounding left along the basis counts


class RitzPairs(NamedTuple):
    """What a space knows of the eigenpairs.

    Attributes:
        values: (j,) all Ritz values, descending.
        weights: (j, j) of the basis, in each Ritz vector.
        residuals: (j,), the norm of A v - value v.
    """

    values: Array
    weights: Array
    residuals: Array

    @property
    def norm(self) -> float:
        """The largest |value|."""
        return float(np.abs(self.values).max())


class KrylovSpace:
    """The orthonormal basis V of a Krylov space, with H and R; grows by one product with a block at a time.

    Attributes:
        size: columns of the basis whose products are in H.

    >>> weights = 0.5 ** np.arange(9.0)[:, None]
    >>> space = KrylovSpace(lambda Q: weights * Q, np.ones((9, 1)), 9, np.random.default_rng(0))
    >>> for _ in range(9):
    ...     space.grow()
    >>> space.pairs().values[:2].round(9)
    array([1. , 0.5])
    """

    def __init__(
        self,
        apply: Callable[[Array], Array],
        start: Array,
        room: int,
        rng: np.random.Generator,
        *,
        outside: Array | None = None,
    ) -> None:
        """Begin with a block.

        Args:
            apply: from (n, b) to A times it.
            start: (n, b), of full rank.
            room: most columns of which products are taken.
            rng: of directions to go on with where the space is invariant.
            outside: (n, f) orthonormal; the space stays orthogonal to it.
        """
        n, width = start.shape
        self._apply, self._rng = apply, rng
        self._locked = 0 if outside is None else outside.shape[1]
        self._all = np.empty((n, self._locked + min(room + width, n - self._locked)), order="F")
        self._H = np.zeros((room, room))
        self._R = np.zeros((width, width))
        self._norm = 0.0
        self._near = 0  # of the columns before, from where on the matrix ties the block that waits to them
        self.size, self._last, self._waiting = 0, 0, width
        block = np.array(start, dtype=np.float64, order="F")
        if outside is not None:
            self._all[:, : self._locked] = outside
            _take_off(self._all[:, : self._locked], block)
        self._put(*_qr(block))

    @property
    def basis(self) -> Array:
        """(n, size + b) the basis with the block that waits for its product."""
        return self._all[:, self._locked : self._locked + self.size + self._waiting]

    @property
    def full(self) -> bool:
        """Whether the basis spans everything, or has no room for the next product."""
        return bool(self._waiting == 0 or self.size + self._waiting > len(self._H))

    def grow(self) -> None:
        """Take the product with the block that waits, and make the next one of what it adds."""
        old, new = self.size, self.size + self._waiting
        basis = self._all[:, : self._locked + new]
        W = np.array(self._apply(basis[:, self._locked + old :]), dtype=np.float64, order="F")
        h = np.zeros((basis.shape[1], W.shape[1]))
        # three terms but for what a restart kept; then once against all, for rounding
        for first in (self._locked + self._near, 0):
            h[first:] += _take_off(basis[:, first:], W)
        own = h[self._locked :]
        self._H[:new, old:new] = own
        self._H[old:new, :new] = own.T
        self._H[old:new, old:new] = 0.5 * (own[old:] + own[old:].T)
        self._norm = max(self._norm, float(np.abs(own[old:]).max()))
        # where nothing is left of a column, the space is invariant, and any direction outside of it continues
        gone = np.linalg.norm(W, axis=0) <= _ROUNDING * self._norm
        if gone.any():
            W[:, gone] = _EPS * (self._norm or 1.0) * self._rng.standard_normal((len(W), int(gone.sum())))
        Q, R = _qr(W)
        self.size, self._near, self._last = new, old, W.shape[1]
        self._put(Q, R, gone)

    def pairs(self) -> RitzPairs:
        """All Ritz pairs; residuals are those of the last product."""
        values, weights = descending(self._H[: self.size, : self.size])
        return RitzPairs(values, weights, np.linalg.norm(self._R @ weights[self.size - self._last :], axis=0))

    def vectors(self, pairs: RitzPairs, k: int) -> Array:
        """(n, k) the first Ritz vectors."""
        return np.asarray(self._all[:, self._locked : self._locked + self.size] @ pairs.weights[:, :k])

    def restart(self, pairs: RitzPairs, kept: int) -> None:
        """Go on with the first Ritz vectors and the block that waits.

        What is kept has its products, so none is taken again: the residuals of all Ritz vectors lie in that one block.
        """
        waiting = self.basis[:, self.size :].copy()
        first = self._locked
        self._all[:, first : first + kept] = self.vectors(pairs, kept)
        self._all[:, first + kept : first + kept + self._waiting] = waiting
        self._H[:] = 0.0
        self._H[range(kept), range(kept)] = pairs.values[:kept]
        self.size, self._near = kept, 0

    def _put(self, Q: Array, R: Array, gone: Array | None = None) -> None:
        """The next block of the basis, orthogonal to it to working precision, as far as there is room in it."""
        end = self._locked + self.size
        self._waiting = min(Q.shape[1], self._all.shape[1] - end)
        Q, R = Q[:, : self._waiting], R[: self._waiting]
        if gone is not None:
            lengths = np.linalg.norm(R[:, : self._waiting], axis=0)
            clean = not gone.any() and bool((np.abs(np.diag(R)) > _APART * lengths).all())
            for _ in range(0 if clean or not self._waiting else 4):
                # columns that nearly agree, and random ones, have something along the basis left in Q
                _take_off(self._all[:, :end], Q)
                Q, more = _qr(Q)
                R = more @ R
                if (np.abs(np.diag(more)) > _APART).all():
                    break
            R[:, gone] = 0.0
        self._all[:, end : end + self._waiting] = Q
        self._R = R


def _qr(W: Array) -> tuple[Array, Array]:
    """Q and R of W, column-major, which is overwritten: LAPACK without the copies around it, half the time for two."""
    factored, tau, _, _ = dgeqrf(W, lwork=64 * W.shape[1], overwrite_a=1)
    R = np.triu(factored[: W.shape[1]])
    return np.asarray(dorgqr(factored, tau, lwork=64 * W.shape[1], overwrite_a=1)[0]), R


def _take_off(basis: Array, W: Array) -> Array:
    """Take what lies along the columns of a basis off W, in place; gives how much it was, (j, b)."""
    if W.shape[1] > _PAIR:
        along: Array = basis.T @ W
        W -= basis @ along
        return along
    along = np.empty((basis.shape[1], W.shape[1]))
    for i in range(W.shape[1]):  # one by one: OpenBLAS takes four times as long for two columns of a long product
        along[:, i] = basis.T @ W[:, i]
        W[:, i] -= basis @ along[:, i]
    return along


def block_krylov(apply: Callable[[Array], Array], n: int, k: int, *, passes: int = 8, seed: int = 0) -> TopEigen | None:
    """The top k eigenpairs to a residual of 1e-10, or None as soon as `passes` products are not going to be enough.

    Args:
        apply: from a block (n, b) to G times it; G symmetric, not negative.
        n: size of G.
        k: how many pairs; the block has 2 k columns.
        passes: most products with the block.
        seed: of the block.

    >>> weights = 0.5 ** np.arange(60.0)[:, None]
    >>> found = block_krylov(lambda Q: weights * Q, 60, 2)
    >>> found.values.round(9), found.converged
    (array([1. , 0.5]), True)
    """
    rng, width = np.random.default_rng(seed), min(2 * k, n)
    space = KrylovSpace(apply, rng.standard_normal((n, width)), min(passes * width, n), rng)
    worst = np.inf
    for step in range(1, passes + 1):
        space.grow()
        pairs = space.pairs()
        values, residuals = pairs.values[:k], pairs.residuals[:k]
        if (residuals <= EXACT * max(values[0], 0.0)).all():
            return TopEigen(values, fix_signs(space.vectors(pairs, k)), residuals, step, True, "randomised")
        before, worst = worst, float(residuals.max() / max(values[0], np.finfo(float).tiny))
        if space.full or _out_of_reach(before, worst, passes - step):
            return None
    return None


def _out_of_reach(before: float, worst: float, left: int) -> bool:
    """Whether the residual, falling by the factor it last fell by, stays above the tolerance."""
    return bool(np.isfinite(before) and worst * min(worst / before, 1.0) ** left > EXACT)


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
    """The k largest eigenpairs of a symmetric operator from pairs of vectors, or None where they did not converge.

    The Krylov space of one random vector holds one copy of a repeated eigenvalue, that of two holds two; and of values
    that differ by a share e, a third has a part of order e in it, which keeps the pairs after it from converging until
    it is found. So where no two values found agree to 1e-6, none was overlooked; where two agree, the caller looks
    again.

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
    space = KrylovSpace(lambda Q: np.stack([apply(q) for q in Q.T]).T, rng.standard_normal((n, _PAIR)), room, rng)
    for turn in range(2 * restarts):
        # a look half way saves the other half of the last turn
        end = room if turn % 2 else (space.size + room) // 2
        while space.size + _PAIR <= end:
            space.grow()
        pairs = space.pairs()
        size = np.abs(pairs.values)
        done = pairs.residuals <= np.maximum(tol * size, max(rounding, 16.0 * _EPS * pairs.norm))
        if space.size > k and done[:k].all():
            values = pairs.values[:k]
            close = values[:-1] - values[1:] <= _AGREE * size[: k - 1]
            return Leading(values, space.vectors(pairs, k), pairs.residuals[:k], bool(close.any()))
        if turn % 2:
            space.restart(pairs, min(k + (space.size - k) // 3, space.size - _PAIR))
    return None

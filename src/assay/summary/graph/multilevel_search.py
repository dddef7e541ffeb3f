"""Block Davidson search for the smallest eigenpairs: Rayleigh-Ritz on a space grown by preconditioned residuals.

    V (m, n) orthonormal rows, H = V A V^T, H y = theta y       Ritz pairs (theta, x = V^T y)
    grow     by T (A x - theta x), T about A^-1                 restart  with the Ritz vectors, these and the last ones

With the last ones kept it needs hardly more steps than a space that is never cut (the same idea as in LOBPCG).

Reference: Stathopoulos, SIAM Journal on Scientific Computing 29, 2007 (GD+k).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from assay.arrays import Array

_ROOM = 5  # blocks held before the space is cut
_LOST = 1e-10  # squared length, after projection, of a direction that brings nothing new


@dataclass(frozen=True, slots=True, eq=False)
class FoundCut:
    """Ritz pairs and how far they are from eigenpairs.

    Attributes:
        values: (b,) ascending.
        vectors: (n, b) orthonormal columns.
        residuals: (b,) norms of A x - value x.
        rounds: how often the space was grown.
    """

    values: Array
    vectors: Array
    residuals: Array
    rounds: int


class _Space:
    """Orthonormal rows V, their images A V and H, with room for so many."""

    def __init__(self, A: sp.csr_array, null: Array, room: int) -> None:
        n = int(A.shape[0])
        self.A = A
        self.null = null / np.linalg.norm(null)
        self.V, self.images, self.H = np.empty((room, n)), np.empty((room, n)), np.empty((room, room))
        self.size = 0

    def add(self, Z: Array) -> int:
        """Grow by rows of Z (c, n), outside the null vector; how many of them were new."""
        s, V = self.size, self.V[: self.size]
        for _ in range(2):  # once is not enough to be orthogonal to working precision
            Z = Z - np.outer(Z @ self.null, self.null)
            Z -= (Z @ V.T) @ V
            lengths = np.sqrt(np.einsum("ij,ij->i", Z, Z))
            Z = Z[lengths > 0] / lengths[lengths > 0, None]
            w, U = np.linalg.eigh(Z @ Z.T)
            Z = (U[:, w > _LOST] / np.sqrt(w[w > _LOST])).T @ Z
        e = s + len(Z)
        self.V[s:e] = Z
        self.images[s:e] = (self.A @ np.ascontiguousarray(Z.T)).T
        self.H[s:e, :e] = self.images[s:e] @ self.V[:e].T
        self.H[:s, s:e] = self.H[s:e, :s].T
        self.size = e
        return len(Z)

    def ritz(self, b: int) -> tuple[Array, Array]:
        H = self.H[: self.size, : self.size]
        values, Y = np.linalg.eigh(0.5 * (H + H.T))
        return values[:b], Y[:, :b]

    def cut(self, Q: Array) -> None:
        """Keep the space spanned by Q^T V, Q (size, c) orthonormal columns."""
        s, c = self.size, Q.shape[1]
        self.V[:c] = Q.T @ self.V[:s]
        self.images[:c] = Q.T @ self.images[:s]
        self.H[:c, :c] = Q.T @ self.H[:s, :s] @ Q
        self.size = c


def davidson(
    A: sp.csr_array,
    null: Array,
    start: Array,
    k: int,
    *,
    precondition: Callable[[Array], Array],
    tol: float,
    rounds: int,
) -> FoundCut:
    """Improve guesses of the smallest eigenvectors of A outside its null vector.

    Args:
        A: (n, n) symmetric.
        null: (n,) what is left out.
        start: (n, b) guesses; those beyond the first k only keep the k apart from the rest of the spectrum.
        k: how many are wanted.
        precondition: (n, m) residuals to corrections.
        tol: wanted of the k residuals, relative to the k-th value.
        rounds: at most so many.

    >>> path = sp.csr_array(sp.diags_array([[1.0, 2, 2, 1], [-1.0, -1, -1], [-1.0, -1, -1]], offsets=[0, 1, -1]))
    >>> guess = np.array([[1.0, 0.5, -0.5, -1.0]]).T
    >>> davidson(path, np.ones(4), guess, 1, precondition=lambda r: r, tol=1e-9, rounds=9).values.round(6)
    array([0.585786])
    """
    b = start.shape[1]
    space = _Space(A, null, _ROOM * b)
    space.add(np.ascontiguousarray(start.T))
    before = np.empty((0, 0))
    for done in range(rounds + 1):
        values, Y = space.ritz(b)
        X = Y.T @ space.V[: space.size]
        R = Y.T @ space.images[: space.size] - values[:, None] * X
        residuals = np.sqrt(np.einsum("ij,ij->i", R, R))
        far = np.flatnonzero(residuals[:k] > tol * values[min(k, len(values)) - 1])
        if not len(far) or done == rounds:
            break
        if space.size + len(far) > len(space.V):
            last = np.zeros((space.size, before.shape[1]))
            last[: len(before)] = before
            space.cut(np.linalg.qr(np.column_stack([Y, last]))[0])
            Y = np.eye(space.size)[:, : Y.shape[1]]
        before = Y
        if not space.add(np.ascontiguousarray(precondition(np.ascontiguousarray(R[far].T)).T)):
            break
    return FoundCut(values, np.ascontiguousarray(X.T), residuals, done)

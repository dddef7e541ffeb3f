"""Least squares with a penalty on the size of coefficients and on their squares, for a whole path of penalties.

    minimise  c / 2 - q^T w + w^T Q w / 2 + l1 |w|_1 + l2 / 2 |w|^2
    products  Q = X^T X / n (d, d),  q = X^T y / n (d,),  c = y^T y / n
    optimal   q_j - (Q w)_j - l2 w_j = l1 sign(w_j) where w_j is not zero, at most l1 in modulus where it is

From products, or from rows fewer than columns: then only products of columns in use are formed, (a, a).
Certificates: a duality gap in which nothing cancels, and by how much the conditions fail.

Reference: Friedman, Hastie & Tibshirani, Regularization paths for generalized linear models via coordinate descent,
J. Statistical Software 33, 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array

_AT_ONCE = 100  # columns that may enter at a time, while there are fewer


@dataclass(frozen=True, slots=True, eq=False)
class NetPath:
    """Solutions along a path of penalties.

    Attributes:
        coef: (k, d).
        gap: (k,) by how much the objective is above its least, at most.
        violation: (k,) largest failure of the conditions above.
        sweeps: (k,) over the coordinates.
        converged: (k,) whether the gap is at most tol times c, or times q^T w where that is less.
    """

    coef: Array
    gap: Array
    violation: Array
    sweeps: NDArray[np.intp]
    converged: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class WideProducts:
    """Products of the columns of rows fewer than they, made as they are needed.

    Attributes:
        X: (n, d) rows, about their mean and times root weights over the total.
        y: (n,) the target, likewise.
    """

    X: Array
    y: Array

    @cached_property
    def q(self) -> Array:
        """(d,) products with the target."""
        return np.asarray(self.y @ self.X)

    @property
    def c(self) -> float:
        """Square of the target."""
        return float(self.y @ self.y)


def net_path(
    Q: Array, q: Array, c: float, ones: Array, twos: Array, *, positive: bool, tol: float, max_iter: int
) -> NetPath:
    """From products of columns.

    Args:
        Q: (d, d), q: (d,), c: as above.
        ones, twos: (k,) penalties l1 and l2, best descending: each solution begins at the one before.
        positive: whether no coefficient may be below 0.
        tol: duality gap at the end, in units of c, or of q^T w where that is less: a high penalty leaves little to be
            fitted, and beside c that little could not be told from nothing.
        max_iter: sweeps over the coordinates for each penalty.

    >>> q, one = np.array([3.0, 0.5]), np.array([1.0])
    >>> found = net_path(np.eye(2), q, 10.0, one, one, positive=False, tol=1e-9, max_iter=99)
    >>> found.coef.round(9), bool(found.gap[0] < 1e-9)
    (array([[1., 0.]]), True)
    """
    from assay.models.prediction.elastic_net._elastic_net_kernels import path

    W, told = np.zeros((len(ones), len(q))), np.zeros((len(ones), 3))
    path(np.ascontiguousarray(Q), np.ascontiguousarray(q), c, ones, twos, positive, tol, max_iter, W, told)
    return _named(W, told, tol, c, q)


def wide_net_path(
    rows: WideProducts, ones: Array, twos: Array, *, positive: bool, tol: float, max_iter: int
) -> NetPath:
    """From rows; arguments as for `net_path`.

    The columns in use only grow along the path, so that each product of two is made once.
    """
    from assay.models.prediction.elastic_net._elastic_net_kernels import descend, fitted, gap, violation

    X, q, c = rows.X, rows.q, rows.c
    w, inside, used = np.zeros(len(q)), np.zeros(len(q), dtype=bool), np.zeros(0, dtype=np.intp)
    W, told, P, Z = np.zeros((len(ones), len(q))), np.zeros((len(ones), 3)), np.zeros((0, 0)), X[:, :0]
    for k, (l1, l2) in enumerate(zip(ones, twos, strict=True)):
        goal, sweeps = 0.5 * tol, 0
        for _ in range(100):
            g = (rows.y - Z @ w[used]) @ X
            told[k, 0] = gap(c, q, w, g, l1, l2, positive)
            h = g - l2 * w
            new = np.flatnonzero(((h if positive else np.abs(h)) > l1 * (1.0 + 1e-14)) & ~inside)
            if told[k, 0] <= tol * fitted(c, q, w) or sweeps >= max_iter or not (len(new) or len(used)):
                break
            if not len(new):  # nothing enters, and still it is not met: rounding
                goal *= 0.1
            most = max(_AT_ONCE, len(used))
            if len(new) > most:
                steep = np.abs(h[new])
                new = np.sort(new[np.argpartition(-steep, most)[:most]])
            P, Z = _grown(P, Z, X[:, new])
            used, inside[new] = np.concatenate([used, new]), True
            u, slope = w[used], g[used]
            sweeps += descend(P, q[used], c, u, slope, l1, l2, positive, goal, max_iter - sweeps)
            w[used] = u
        W[k], told[k, 1:] = w, (violation(g, w, l1, l2, positive), sweeps)
    return _named(W, told, tol, c, q)


def _grown(P: Array, Z: Array, more: Array) -> tuple[Array, Array]:
    """Products of columns, with more columns."""
    if not more.shape[1]:
        return P, Z
    across = Z.T @ more
    return np.block([[P, across], [across.T, more.T @ more]]), np.hstack([Z, more])


def _named(W: Array, told: Array, tol: float, c: float, q: Array) -> NetPath:
    allowed = tol * np.clip(W @ q, np.finfo(np.float64).eps * c, c)
    return NetPath(W, told[:, 0], told[:, 1], told[:, 2].astype(np.intp), told[:, 0] <= allowed)

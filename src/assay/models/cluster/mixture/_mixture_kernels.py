"""Expectation step of normal mixtures and the sums for the maximisation step. Imported only when it runs.

A chunk's whitened residuals W (k, d, chunk) stay in the second-level cache from one call to the next. Rows run along
the last axis, so that every inner loop is over contiguous numbers; of W only as many are used as R has rows. Compiled
without NaN and infinity in mind: callers pass finite, clipped numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from assay.compiled import njit


@njit(cache=True, nogil=True, fastmath=True)
def whiten_triangular(Z: Any, A: Any, c: Any, base: Any, W: Any, R: Any) -> None:
    """Residuals w = A_g z - c_g with A_g lower triangular, and log joint densities base_g - w^2 / 2.

    Z (d, n), A (k, d, d), c (k, d), base (k,) -> W (k, d, n), R (k, n).
    """
    n = Z.shape[1]
    for g in range(len(A)):
        r = R[g]
        for t in range(n):
            r[t] = base[g]
        for j in range(A.shape[1]):
            a, w, shift = A[g, j], W[g, j], c[g, j]
            for t in range(n):
                w[t] = -shift
            terms = j + 1
            whole = terms - terms % 4
            # four at a time, so that w is read and written less
            for i in range(0, whole, 4):
                z0, z1, z2, z3 = Z[i], Z[i + 1], Z[i + 2], Z[i + 3]
                a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
                for t in range(n):
                    w[t] += a0 * z0[t] + a1 * z1[t] + a2 * z2[t] + a3 * z3[t]
            for i in range(whole, terms):
                z0, a0 = Z[i], a[i]
                for t in range(n):
                    w[t] += a0 * z0[t]
            for t in range(n):
                r[t] -= 0.5 * w[t] * w[t]


@njit(cache=True, nogil=True, fastmath=True)
def whiten_diagonal(Z: Any, A: Any, c: Any, base: Any, W: Any, R: Any) -> None:
    """Residuals w = A_g z - c_g with A_g diagonal, A (k, d), and log joint densities base_g - w^2 / 2."""
    n = Z.shape[1]
    for g in range(len(A)):
        r = R[g]
        for t in range(n):
            r[t] = base[g]
        for j in range(A.shape[1]):
            z, w, a, shift = Z[j], W[g, j], A[g, j], c[g, j]
            for t in range(n):
                w[t] = a * z[t] - shift
                r[t] -= 0.5 * w[t] * w[t]


@njit(cache=True, nogil=True, fastmath=True)
def normalise(R: Any, logs: Any) -> None:
    """From log joint densities (k, n) to responsibilities, in place, and log densities (n,)."""
    k, n = R.shape
    total = np.zeros(n)
    for t in range(n):
        logs[t] = R[0, t]
    for g in range(1, k):
        r = R[g]
        for t in range(n):
            logs[t] = max(logs[t], r[t])
    for g in range(k):
        r = R[g]
        for t in range(n):
            r[t] = math.exp(r[t] - logs[t])
            total[t] += r[t]
    for t in range(n):
        logs[t] += math.log(total[t])
        total[t] = 1.0 / total[t]
    for g in range(k):
        r = R[g]
        for t in range(n):
            r[t] *= total[t]


@njit(cache=True, nogil=True, fastmath=True)
def add_scatter(R: Any, W: Any, mass: Any, first: Any, second: Any) -> None:
    """Add the sums of r to mass (k,), of r w to first (k, d), and the lower half of r w w^T to second (k, e, e).

    W and second have an even number e of columns, the last one zero where d is odd: entries are made in squares of two
    by two, so that each number read serves twice. R and W are overwritten.
    """
    k, n = R.shape
    for g in range(k):
        r, total = R[g], 0.0
        for t in range(n):
            total += r[t]
            r[t] = math.sqrt(r[t])
        mass[g] += total
        for j in range(first.shape[1]):
            w, total = W[g, j], 0.0
            for t in range(n):
                w[t] *= r[t]
                total += w[t] * r[t]
            first[g, j] += total
        for i in range(0, W.shape[1], 2):
            u0, u1 = W[g, i], W[g, i + 1]
            for j in range(0, i + 1, 2):
                v0, v1 = W[g, j], W[g, j + 1]
                s00, s01, s10, s11 = 0.0, 0.0, 0.0, 0.0
                for t in range(n):
                    s00 += u0[t] * v0[t]
                    s01 += u0[t] * v1[t]
                    s10 += u1[t] * v0[t]
                    s11 += u1[t] * v1[t]
                second[g, i, j] += s00
                second[g, i, j + 1] += s01
                second[g, i + 1, j] += s10
                second[g, i + 1, j + 1] += s11


@njit(cache=True, nogil=True, fastmath=True)
def add_squares(R: Any, W: Any, mass: Any, first: Any, second: Any) -> None:
    """Add the sums of r to mass (k,), of r w to first and of r w^2 to second, (k, d) each."""
    k, n = R.shape
    for g in range(k):
        r, total = R[g], 0.0
        for t in range(n):
            total += r[t]
        mass[g] += total
        for j in range(first.shape[1]):
            w, total, square = W[g, j], 0.0, 0.0
            for t in range(n):
                rw = r[t] * w[t]
                total += rw
                square += rw * w[t]
            first[g, j] += total
            second[g, j] += square

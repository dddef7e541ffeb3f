"""Compiled half-steps of alternating least squares: each row is solved on its own. Imported only when they run.

Sums over the ratings of a row run in their order, four at a time, and rows share nothing: the same bits for any number
of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit

# Columns of what a half-step tells of each row: squared norms of the gradient before it and of its right side, the loss
# and the penalty after it.
GRADIENT, RIGHT, LOSS, PENALTY = range(4)
_ROUNDING = 1e-24  # squared


@njit(cache=True, nogil=True)
def _gather(A: Any, h: Any, F: Any, index: Any, weights: Any, rights: Any, m: int) -> None:
    """A += sum_j weights_j f_j f_j^T, lower half; h += sum_j rights_j f_j."""
    k, j = F.shape[1], 0
    while j + 4 <= m:
        f0, f1, f2, f3 = F[index[j]], F[index[j + 1]], F[index[j + 2]], F[index[j + 3]]
        for a in range(k):
            w0, w1 = weights[j] * f0[a], weights[j + 1] * f1[a]
            w2, w3 = weights[j + 2] * f2[a], weights[j + 3] * f3[a]
            h[a] += rights[j] * f0[a] + rights[j + 1] * f1[a] + rights[j + 2] * f2[a] + rights[j + 3] * f3[a]
            row = A[a]
            for b in range(a + 1):
                row[b] += w0 * f0[b] + w1 * f1[b] + w2 * f2[b] + w3 * f3[b]
        j += 4
    while j < m:
        f = F[index[j]]
        for a in range(k):
            w = weights[j] * f[a]
            h[a] += rights[j] * f[a]
            row = A[a]
            for b in range(a + 1):
                row[b] += w * f[b]
        j += 1


@njit(cache=True, nogil=True)
def _solve(A: Any, x: Any, k: int) -> None:
    """X of A x = h, A positive semidefinite, lower half; x holds h and is overwritten, as A is.

    A direction without any curvature has x = 0: what is left is still a least-squares solution.
    """
    largest = 0.0
    for a in range(k):
        largest = max(largest, A[a, a])
    least = largest * k * 1e-14
    for a in range(k):
        for b in range(a):
            if A[b, b] > 0.0:
                sum_ = A[a, b]
                for c in range(b):
                    sum_ -= A[a, c] * A[b, c]
                A[a, b] = sum_ / A[b, b]
            else:
                A[a, b] = 0.0
        sum_ = A[a, a]
        for c in range(a):
            sum_ -= A[a, c] * A[a, c]
        A[a, a] = np.sqrt(sum_) if sum_ > least else 0.0
    for a in range(k):
        sum_ = x[a]
        for c in range(a):
            sum_ -= A[a, c] * x[c]
        x[a] = sum_ / A[a, a] if A[a, a] > 0.0 else 0.0
    for a in range(k - 1, -1, -1):
        if A[a, a] > 0.0:
            sum_ = x[a]
            for c in range(a + 1, k):
                sum_ -= A[c, a] * x[c]
            x[a] = sum_ / A[a, a]
        else:
            x[a] = 0.0


@njit(cache=True, nogil=True)
def _gradient(A: Any, h: Any, x: Any, told: Any, k: int, rights: Any, m: int) -> None:
    """Squared norms of A x - h and of h; of h at least that of its rounding, which is all there is if it cancels."""
    miss, size, trace = 0.0, 0.0, 0.0
    for a in range(k):
        trace += A[a, a]
    for j in range(m):
        size += _ROUNDING * trace * rights[j] * rights[j]
    for a in range(k):
        sum_ = -h[a]
        for b in range(k):
            sum_ += (A[a, b] if b <= a else A[b, a]) * x[b]
        miss += sum_ * sum_
        size += h[a] * h[a]
    told[GRADIENT], told[RIGHT] = miss, size


@njit(cache=True, nogil=True)
def _short_row(A: Any, h: Any, w: Any, F: Any, own: Any, target: Any, x: Any, costs: Any, told: Any, m: int) -> None:
    """The same solution for fewer ratings than parameters: x = D^-1 F^T (F D^-1 F^T + I)^-1 t, D = diag(costs) > 0."""
    k = len(costs)
    trace, square = 0.0, 0.0
    for a in range(k):
        h[a] = 0.0
        trace += costs[a]
    for i in range(m):
        f = F[own[i]]
        fit = 0.0
        for a in range(k):
            fit += f[a] * x[a]
            trace += f[a] * f[a]
        w[i] = fit - target[i]
        square += target[i] * target[i]
        for j in range(i + 1):
            g, sum_ = F[own[j]], 0.0
            for a in range(k):
                sum_ += f[a] * g[a] / costs[a]
            A[i, j] = sum_
        A[i, i] += 1.0
    miss, size = 0.0, _ROUNDING * trace * square
    for a in range(k):
        gradient, right = costs[a] * x[a], 0.0
        for i in range(m):
            gradient += w[i] * F[own[i], a]
            right += target[i] * F[own[i], a]
        miss += gradient * gradient
        size += right * right
    told[GRADIENT], told[RIGHT] = miss, size
    for i in range(m):
        w[i] = target[i]
    _solve(A, w, m)
    for i in range(m):
        f = F[own[i]]
        for a in range(k):
            h[a] += w[i] * f[a]
    for a in range(k):
        x[a] = h[a] / costs[a]


@njit(cache=True, nogil=True)
def explicit_rows(
    first: int,
    last: int,
    starts: Any,
    index: Any,
    value: Any,
    F: Any,
    offset: Any,
    X: Any,
    penalty: Any,
    bias_penalty: float,
    told: Any,
) -> None:
    """Least squares of value_j on (f_j, 1), offset by the other side's bias, for some of the rows.

    Args:
        first: the first row.
        last: the row after the last.
        starts: (n + 1,) where the ratings of each row begin.
        index: (m,) the other side of each.
        value: (m,)
        F: (d, k + 1) factors of the other side, then a column of ones.
        offset: (d,) biases of the other side.
        X: (n, k + 1) factors and bias of this side; overwritten.
        penalty: (n,) of the factors of each row.
        bias_penalty: of its bias.
        told: (n, 4) filled.
    """
    k = F.shape[1]
    A, h = np.empty((k, k)), np.empty(k)
    longest = 0
    for row in range(first, last):
        longest = max(longest, starts[row + 1] - starts[row])
    target, ones = np.empty(longest), np.ones(longest)
    costs, w = np.empty(k), np.empty(k)
    for row in range(first, last):
        start, m = starts[row], starts[row + 1] - starts[row]
        own, x = index[start : start + m], X[row]
        for j in range(m):
            target[j] = value[start + j] - offset[own[j]]
        if m < k and penalty[row] > 0.0 and bias_penalty > 0.0:
            costs[:] = penalty[row]
            costs[k - 1] = bias_penalty
            _short_row(A, h, w, F, own, target, x, costs, told[row], m)
        else:
            A[:] = 0.0
            h[:] = 0.0
            _gather(A, h, F, own, ones, target, m)
            for a in range(k - 1):
                A[a, a] += penalty[row]
            A[k - 1, k - 1] += bias_penalty
            _gradient(A, h, x, told[row], k, target, m)
            x[:] = h
            _solve(A, x, k)
        loss = 0.0
        for j in range(m):
            f, rest = F[own[j]], target[j]
            for a in range(k):
                rest -= f[a] * x[a]
            loss += rest * rest
        price = 0.0
        for a in range(k - 1):
            price += x[a] * x[a]
        told[row, LOSS] = loss
        told[row, PENALTY] = penalty[row] * price + bias_penalty * x[k - 1] * x[k - 1]


@njit(cache=True, nogil=True)
def implicit_rows(
    first: int, last: int, starts: Any, index: Any, extra: Any, F: Any, G: Any, X: Any, penalty: Any, told: Any
) -> None:
    """Weighted least squares of all cells of some rows: 1 with weight 1 + extra where there is a count, else 0.

    Args:
        first: the first row.
        last: the row after the last.
        starts: (n + 1,) where the counts of each row begin.
        index: (m,) the other side of each.
        extra: (m,) weights above 1.
        F: (d, k) factors of the other side.
        G: (k, k) F^T F: what all cells give together, had they weight 1.
        X: (n, k) factors of this side; overwritten.
        penalty: (n,) of the factors of each row.
        told: (n, 4) filled.
    """
    k = F.shape[1]
    A, h = np.empty((k, k)), np.empty(k)
    for row in range(first, last):
        start, m = starts[row], starts[row + 1] - starts[row]
        own, x, more = index[start : start + m], X[row], extra[start : start + m]
        A[:] = G
        h[:] = 0.0
        _gather(A, h, F, own, more, more + 1.0, m)
        for a in range(k):
            A[a, a] += penalty[row]
        _gradient(A, h, x, told[row], k, more + 1.0, m)
        x[:] = h
        _solve(A, x, k)
        loss, price = 0.0, 0.0
        for a in range(k):
            price += x[a] * x[a]
            for b in range(k):
                loss += x[a] * G[a, b] * x[b]
        for j in range(m):
            f, fit = F[own[j]], 0.0
            for a in range(k):
                fit += f[a] * x[a]
            loss += (1.0 + more[j]) * (1.0 - fit) ** 2 - fit * fit
        told[row, LOSS], told[row, PENALTY] = loss, penalty[row] * price


@njit(cache=True, nogil=True)
def cells(user: Any, item: Any, P: Any, Q: Any, out: Any) -> None:
    """p_u . q_i of each pair."""
    for j in range(len(user)):
        p, q, sum_ = P[user[j]], Q[item[j]], 0.0
        for a in range(P.shape[1]):
            sum_ += p[a] * q[a]
        out[j] = sum_

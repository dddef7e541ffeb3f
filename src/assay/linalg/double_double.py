"""Arithmetic with about 32 digits, on pairs (high, low) of float64 arrays whose sum is the value.

Error-free transformations (Knuth's two-sum, Dekker's product with Veltkamp's split). Sums kept this way round to
the same float64 in whatever order they were taken, for all but one case in about 2**50, and a part added can be taken
out again without a trace. Values must stay below 1e290 in modulus, or the split overflows.

`residual` rounds once: b - A x cancels nearly all its digits, so that formed in float64 it is mostly rounding, and
iterative refinement lives on what is left. Every machine gives the same digits.

Reference: Ogita, Rump, Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 2005.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from assay.arrays import Array

Pair: TypeAlias = tuple[Array, Array]

_SPLITTER = 134217729.0  # 2**27 + 1


def two_sum(a: Array, b: Array) -> Pair:
    """The rounded sum and what rounding lost.

    >>> high, low = two_sum(np.float64(1.0), np.float64(1e-20))
    >>> float(high), float(low)
    (1.0, 1e-20)
    """
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _renormalise(high: Array, low: Array) -> Pair:
    s = high + low
    return s, low - (s - high)


def _split(a: Array) -> Pair:
    t = _SPLITTER * a
    high = t - (t - a)
    return high, a - high


def two_product(a: Array, b: Array) -> Pair:
    """The rounded product and what rounding lost."""
    p = a * b
    ah, al = _split(a)
    bh, bl = _split(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def pair(value: float | Array) -> Pair:
    """A float64 value as a pair."""
    high = np.asarray(value, dtype=np.float64)
    return high, np.zeros_like(high)


def add(x: Pair, y: Pair) -> Pair:
    """X + y."""
    s, e = two_sum(x[0], y[0])
    t, f = two_sum(x[1], y[1])
    s, e = _renormalise(s, e + t)
    return _renormalise(s, e + f)


def add_three(x: Pair, y: Pair, z: Pair) -> Pair:
    """Give x + y + z in half the operations of two sums; the same with x and y exchanged, to the bit."""
    s, e = two_sum(x[0], y[0])
    s, f = two_sum(s, z[0])
    return _renormalise(s, ((x[1] + y[1]) + z[1]) + (e + f))


def negative(x: Pair) -> Pair:
    """-x, exactly."""
    return -x[0], -x[1]


def multiply(x: Pair, y: Pair) -> Pair:
    """X * y."""
    p, e = two_product(x[0], y[0])
    return _renormalise(p, e + (x[0] * y[1] + x[1] * y[0]))


def divide(x: Pair, y: Pair) -> Pair:
    """X / y."""
    q1 = x[0] / y[0]
    r = add(x, negative(multiply(y, pair(q1))))
    q2 = r[0] / y[0]
    r = add(r, negative(multiply(y, pair(q2))))
    return add(_renormalise(q1, q2), pair(r[0] / y[0]))


def square_root(x: Pair) -> Pair:
    """The square root of a positive x."""
    s = np.sqrt(x[0])
    rest = add(x, negative(two_product(s, s)))
    return _renormalise(s, rest[0] / (2.0 * s))


def outer(x: Pair, y: Pair) -> Pair:
    """The outer product of two vectors; of a vector with itself it is symmetric to the last bit.

    >>> v = pair(np.array([1.0, 2.0]))
    >>> outer(v, v)[0]
    array([[1., 2.],
           [2., 4.]])
    """
    times = np.multiply.outer
    (xa, xb), (ya, yb) = _split(x[0]), _split(y[0])
    p = times(x[0], y[0])
    # mixed terms are summed in pairs first, so that (i, j) and (j, i) round alike
    e = ((times(xa, ya) - p) + (times(xa, yb) + times(xb, ya))) + times(xb, yb)
    return _renormalise(p, e + (times(x[0], y[1]) + times(x[1], y[0])))


# Up to so many entries residuals are formed this way (20 to 50 ns each); beyond, the caller uses plain float64.
CAREFUL = 1_000_000
_CHUNK = 1 << 15  # entries worked on at a time: temporaries stay in cache


def residual(A: Array, x: Array, *terms: Array) -> Array:
    """Form b - A x as if in twice the working precision; b may be given as several terms to be added.

    Args:
        A: (m, n), of moderate scale (entries and products far from 1e290).
        x: (n,) or (n, p).
        terms: each (m,) or (m, p).

    Returns:
        (m,) or (m, p).

    >>> float(residual(np.array([[1e16, 1.0]]), np.array([1.0, 1.0]), np.array([1e16]))[0])
    -1.0
    """
    if x.ndim == 2:
        return np.column_stack([residual(A, x[:, j], *(t[:, j] for t in terms)) for j in range(x.shape[1])])
    m, n = A.shape
    rows = max(1, _CHUNK // n)
    out = np.empty(m)
    for start in range(0, m, rows):
        part = slice(start, start + rows)
        columns = np.ascontiguousarray(A[part].T)
        high, low = two_product(columns, np.broadcast_to(-x[:, None], columns.shape))
        given = [term[None, part] for term in terms]
        out[part] = _sum_columns(np.vstack([high, *given]), np.vstack([low, *(np.zeros_like(g) for g in given)]))
    return out


def _sum_columns(high: Array, low: Array) -> Array:
    """Add pairs down each column by halving (in place); errors of the high parts go to the low ones."""
    count = high.shape[0]
    while count > 1:
        half = (count + 1) // 2
        upper, lower = slice(0, count - half), slice(half, count)
        high[upper], error = two_sum(high[upper], high[lower])
        low[upper] += low[lower] + error
        count = half
    return np.asarray(high[0] + low[0])

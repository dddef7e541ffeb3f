"""The triangle of a tall table, one strip of rows after the other.

    R^T R = A^T A,  R (k, k) upper triangular,  by Householder reflections of [R; next rows]

R holds what A^T A holds without having squared anything: what is solved with it loses digits with the condition number
of A, not with its square.

Reference: Golub, Van Loan, Matrix Computations, section 5.2.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgeqrf

from assay.arrays import Array


def triangle(*strips: Array) -> Array:
    """The (k, k) triangle of strips of rows, one above the other.

    Args:
        strips: (b, k) each; triangles of other rows may be among them. They are not changed.

    >>> abs(triangle(np.array([[3.0]]), np.array([[4.0]])))
    array([[5.]])
    """
    k = strips[0].shape[1]
    # column-major, so that LAPACK takes it without a copy
    stack = np.empty((sum(map(len, strips)), k), order="F")
    np.concatenate(strips, out=stack)
    # dgeqrf lets go of the interpreter where numpy.linalg.qr does not: two threads are twice as fast
    factored = dgeqrf(stack, lwork=64 * k, overwrite_a=1)[0]
    R = np.zeros((k, k))
    R[: len(factored)] = np.triu(factored[:k])
    return R

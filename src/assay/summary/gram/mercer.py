"""Is this a kernel? A symmetric matrix without negative eigenvalues, as Mercer's condition asks of every Gram matrix.

    yes   K + t I = L L^T succeeds: no eigenvalue lies below -t; the least one by Lanczos on the inverse
    no    v with v^T K v < -t v^T v: a witness that anyone can multiply out, by Lanczos on the inverse of K + s I with
          the first s of t, 30 t, 900 t ... for which that can be factored

t is what rounding of the values can do to an eigenvalue: n eps times the largest modulus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg as sla
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.spectral import part_of_spectrum
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import as_square, power_of_two
from assay.summary.distances.distances import as_rows
from assay.summary.gram.gram import HOLD_LIMIT, Gram
from assay.summary.gram.kernels import Kernel, Precomputed, as_kernel

_SMALL = 500  # rows: up to here all eigenvalues cost nothing
_ROUNDING = 4 * np.finfo(np.float64).eps  # of a value, times the number of rows
_RAISE = 30.0  # factor between shifts
_CLOSE = 1e-3  # relative error of the inverse's eigenvalue; of the quotient its square
_NAMED = 10  # rows of a witness that are named


@dataclass(frozen=True, slots=True, eq=False)
class Mercer:
    """What was found.

    Attributes:
        is_kernel: whether the matrix is symmetric and no eigenvalue lies below minus the tolerance.
        symmetric: whether values and their mirror images differ by no more than rounding.
        asymmetry: largest difference between K[i, j] and K[j, i].
        smallest: least eigenvalue (of the symmetric part); beyond 500 rows an upper bound, close to it.
        tolerance: how far below zero rounding can bring it.
        witness: (n,) v of length 1 with v^T K v < 0; None for a kernel, or where only symmetry fails.
        value: v^T K v; None without a witness.
        rows: rows that bear most of the witness, the largest share first, or the two whose values differ most; empty
            for a kernel.
        n: rows of the matrix.
        method: "lapack", or beyond 500 rows "cholesky".
        verdict: all this in a sentence.
    """

    is_kernel: bool
    symmetric: bool
    asymmetry: float
    smallest: float
    tolerance: float
    witness: Array | None
    value: float | None
    rows: tuple[int, ...]
    n: int
    method: Literal["lapack", "cholesky"]
    verdict: str

    def __bool__(self) -> bool:
        """Whether it is a kernel, so that `if mercer_check(K):` asks what it says."""
        return self.is_kernel


def mercer_check(K: Any, X: Any = None, *, tol: float | None = None) -> Mercer:
    """Tell whether a matrix, or a kernel on given rows, is a Mercer kernel, with a witness if it is not.

    Args:
        K: (n, n) values, a `Gram`, or with X a kernel, its name or a function of two sets of rows.
        X: (n, d) rows to evaluate a kernel on. A pass on these rows is no proof for others.
        tol: how negative an eigenvalue may be; None for what rounding can do, 4 n eps times the largest value.

    Returns:
        Mercer.

    >>> check = mercer_check([[1.0, 2.0], [2.0, 1.0]])
    >>> check.is_kernel, round(check.smallest, 6), check.rows
    (False, -1.0, (0, 1))
    >>> mercer_check("gaussian", [[0.0], [1.0], [5.0]]).is_kernel
    True
    """
    given = _values(K, X)
    unit = power_of_two(given)  # divided by it nothing is rounded, and nothing overflows
    values = given / unit
    n, size = len(values), float(np.abs(values).max())
    rounding = _ROUNDING * n * size
    if tol is not None and not (isinstance(tol, int | float | np.number) and np.isfinite(tol) and tol >= 0):
        raise ParameterError(f"tol is how negative an eigenvalue may be, at least 0; got {tol!r}")
    allowed = rounding if tol is None else float(tol) / unit
    gap = np.abs(values - values.T)
    asymmetry = float(gap.max())
    pair = tuple(int(i) for i in np.unravel_index(int(np.argmax(gap)), gap.shape))
    symmetric = asymmetry <= max(1e-10 * size, allowed)
    S = values if asymmetry == 0.0 else 0.5 * (values + values.T)
    smallest, v, method = _least(S, max(allowed, rounding))
    negative = smallest < -allowed
    rows: tuple[int, ...] = () if symmetric else pair
    if negative:
        order = np.argsort(-np.abs(v), kind="stable")
        rows = tuple(int(i) for i in order[:_NAMED] if abs(v[i]) > 1e-3 * abs(v[order[0]]))
    return Mercer(
        is_kernel=symmetric and not negative,
        symmetric=symmetric,
        asymmetry=asymmetry * unit,
        smallest=smallest * unit,
        tolerance=allowed * unit,
        witness=v if negative else None,
        value=float(v @ S @ v) * unit if negative else None,
        rows=rows,
        n=n,
        method=method,
        verdict=_sentence(
            symmetric, asymmetry * unit, pair, smallest * unit if negative else None, allowed * unit, rows
        ),
    )


def _values(K: Any, X: Any) -> Array:
    if isinstance(K, Gram):
        return K.values
    if X is None:
        if callable(K) or isinstance(K, str):
            raise ParameterError("a kernel is judged on rows: give them as X, mercer_check(kernel, X)")
        return as_square(K, name="the kernel matrix")
    kernel, rows = as_kernel(K), as_rows(X)
    if len(rows) ** 2 > HOLD_LIMIT:
        raise DataError(
            f"{len(rows)} rows have {len(rows) ** 2 / 2**27:.1f} GiB of kernel values (the limit is 1 GiB). "
            "Take a sample"
        )
    if isinstance(kernel, Precomputed):
        return as_square(rows, name="the kernel matrix")
    # a copy, so that a function's asymmetry is told rather than refused
    resolved: Kernel = kernel.resolve(rows)
    return resolved(rows, rows.copy())


def _least(S: Array, shift: float) -> tuple[float, Array, Literal["lapack", "cholesky"]]:
    """The least eigenvalue of a symmetric matrix, as the Rayleigh quotient of its vector.

    With the least shift that lets S + shift I be factored, it is the largest eigenvalue of the inverse by far, however
    close together the small ones are compared with the large.
    """
    n = len(S)
    if n <= _SMALL:
        values, vectors = part_of_spectrum(S, 0, 0)
        return float(values[0]), vectors[:, 0], "lapack"
    shift = shift or np.finfo(np.float64).tiny
    while True:
        lifted = S.copy(order="F")
        lifted[np.diag_indices(n)] += shift
        factor, failed = sla.lapack.dpotrf(lifted, lower=1, clean=0, overwrite_a=1)
        if failed == 0:
            break
        shift *= _RAISE

    def solve(x: Array) -> Array:
        return np.asarray(sla.lapack.dpotrs(factor, x, lower=1)[0])

    inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    with one_blas_thread():
        try:
            found = eigsh(inverse, k=1, which="LA", v0=start, tol=_CLOSE, maxiter=n)[1][:, 0]
        except ArpackError:  # many equal ones at the bottom
            values, vectors = part_of_spectrum(S, 0, 0)
            return float(values[0]), vectors[:, 0], "lapack"
        v = solve(found)
    v /= np.linalg.norm(v)  # solved once more, which leaves nothing of the large eigenvalues' vectors
    return float(v @ S @ v), v, "cholesky"


def _sentence(
    symmetric: bool, asymmetry: float, pair: tuple[int, ...], smallest: float | None, tol: float, rows: tuple[int, ...]
) -> str:
    if symmetric and smallest is None:
        return f"a kernel on these rows: symmetric, and no eigenvalue is below -{tol:.2g}"
    told = []
    if not symmetric:
        told.append(f"rows {pair[0]} and {pair[1]} differ by {asymmetry:.2g} in their two values")
    if smallest is not None:
        told.append(f"its least eigenvalue is {smallest:.2g}, borne mostly by rows {', '.join(map(str, rows))}")
    return f"not a kernel: {'; '.join(told)}"

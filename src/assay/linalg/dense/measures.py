"""Single numbers that sum up a matrix: norms, trace, determinant. Safe for entries of 1e300 and 1e-300."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg as sla
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dgetrf

from assay.arrays import Array
from assay.errors import ParameterError
from assay.linalg.validate import as_matrix, as_square, as_vector, power_of_two


@dataclass(frozen=True, slots=True)
class LogDeterminant:
    """A determinant that may be too large or small for a float: sign * exp(log).

    Attributes:
        sign: 1.0, -1.0, or 0.0 for a singular matrix.
        log: the logarithm of the modulus; -inf for a singular matrix.
    """

    sign: float
    log: float


def norm(A: ArrayLike, kind: Literal[1, 2, "frobenius", "spectral"] = 2) -> float:
    """Measure the size of a vector or a matrix.

    Args:
        A: (n,) or (m, n).
        kind: of a vector, 1 is the sum of moduli and 2 the length. Of a matrix, 1 is the largest column sum of
            moduli, 2 or "spectral" the largest singular value, "frobenius" the root of the sum of squares.

    Returns:
        The norm; infinite only when it exceeds the largest float.

    >>> norm([3, 4]), norm([[3, 0], [4, 0]], 1), norm([[3, 0], [0, 4]], "frobenius"), norm([[3, 0], [0, 4]])
    (5.0, 7.0, 5.0, 4.0)
    """
    vector = np.ndim(A) == 1
    array = as_vector(A) if vector else as_matrix(A)
    allowed = (1, 2) if vector else (1, 2, "frobenius", "spectral")
    if kind not in allowed:
        raise ParameterError(f"kind must be one of {allowed} for a {'vector' if vector else 'matrix'}, is {kind!r}.")
    scale = power_of_two(array)
    scaled = array / scale
    if kind == 1:
        size = float(np.abs(scaled).sum(axis=0).max())
    elif vector or kind == "frobenius":
        size = float(np.linalg.norm(scaled.ravel()))
    else:
        size = float(sla.svdvals(scaled, check_finite=False)[0])
    return size * scale  # Python floats: too large becomes infinite without a warning


def trace(A: ArrayLike) -> float:
    """Add up the diagonal: the sum of the eigenvalues.

    >>> trace([[1, 2], [3, 4]])
    5.0
    """
    diagonal = np.diag(as_square(A))
    scale = power_of_two(diagonal)
    return float((diagonal / scale).sum()) * scale


def determinant(A: ArrayLike) -> float:
    """Find the factor by which a matrix changes volumes, with the sign of its orientation.

    Intermediate products neither overflow nor underflow; the result does only when it has to.

    >>> round(determinant([[1, 2], [3, 4]]), 12)
    -2.0
    """
    pivots, sign = _pivots(as_square(A))
    mantissas, exponents = np.frexp(pivots)
    total, shift = sign, 0
    for mantissa in mantissas.tolist():
        part, more = np.frexp(total * mantissa)
        total, shift = float(part), shift + int(more)
    # Beyond the range of floats, ldexp gives 0 or inf and would warn.
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(total, np.clip(int(exponents.sum()) + shift, -5000, 5000)))


def log_determinant(A: ArrayLike) -> LogDeterminant:
    """Find the logarithm and the sign of a determinant.

    >>> log_determinant([[1e300, 0], [0, -1e300]])
    LogDeterminant(sign=-1.0, log=1381.551...)
    """
    pivots, sign = _pivots(as_square(A))
    if np.any(pivots == 0):
        return LogDeterminant(0.0, float("-inf"))
    return LogDeterminant(float(sign * np.prod(np.sign(pivots))), float(np.log(np.abs(pivots)).sum()))


def _pivots(matrix: Array) -> tuple[Array, float]:
    packed, exchanges, _ = dgetrf(matrix)
    swaps = int(np.count_nonzero(exchanges != np.arange(exchanges.size)))
    return np.diag(packed), -1.0 if swaps % 2 else 1.0

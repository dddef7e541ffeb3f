"""One face for what can be multiplied: a dense array, a SciPy sparse matrix or a LinearOperator, brought to scale one.

ARPACK takes values below 4e-11 for converged zeros, and products of entries near 1e300 overflow: so every iterative
solver here works on A / scale, scale a power of two, and multiplies its values by it at the end.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from assay.arrays import Array
from assay.errors import DataError
from assay.linalg.sparse.centred import CentredRows
from assay.linalg.sparse.structure import as_sparse
from assay.linalg.validate import as_matrix, as_symmetric, power_of_two

_COLUMNS = 64

Multipliable: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix | LinearOperator | CentredRows


class Operand:
    """A matrix of scale one that can be applied from both sides and counts its passes.

    Attributes:
        shape: (m, n).
        scale: the power of two taken out; the matrix given is scale times this one.
        dense: the scaled array, or None when it is sparse or known by its products only.
        passes: how often it was multiplied by something.
    """

    def __init__(self, matrix: Any, shape: tuple[int, int], scale: float, factor: float) -> None:
        self.shape = shape
        self.scale = scale
        self.dense: Array | None = matrix if isinstance(matrix, np.ndarray) else None
        self.passes = 0
        self._matrix = matrix
        # made once: a transposed view costs a tenth of a product
        self._turned = matrix.H if isinstance(matrix, LinearOperator) else matrix.T
        self._factor = factor  # what is still to be multiplied after a product; 1 for matrices scaled in place

    def apply(self, x: Array) -> Array:
        """Form A x for a vector or the columns of a matrix."""
        self.passes += 1
        product = np.asarray(self._matrix @ x, dtype=np.float64)
        return product if self._factor == 1.0 else product * self._factor

    def adjoint(self, y: Array) -> Array:
        """Form A^T y for a vector or the columns of a matrix."""
        self.passes += 1
        product = np.asarray(self._turned @ y, dtype=np.float64)
        return product if self._factor == 1.0 else product * self._factor

    def transposed(self) -> Operand:
        """Give the same matrix with its sides exchanged (nothing is copied), its passes counted anew."""
        return Operand(self._turned, (self.shape[1], self.shape[0]), self.scale, self._factor)

    def toarray(self) -> Array:
        """Write the scaled matrix out."""
        if self.dense is not None:
            return self.dense
        if not hasattr(self._matrix, "toarray"):
            n = self.shape[1]  # some columns at a time, since what lies between its factors may be far wider than it is
            parts = [self.apply(np.eye(n, min(_COLUMNS, n - start), -start)) for start in range(0, n, _COLUMNS)]
            self.passes -= len(parts) - 1
            return np.concatenate(parts, axis=1)
        return np.asarray(self._matrix.toarray(), dtype=np.float64)


def symmetric_operand(A: Multipliable) -> Operand:
    """Take a symmetric matrix for an eigen-solver.

    A LinearOperator is believed when it says that it is square; its symmetry cannot be seen.
    """
    operand = _operand(A, symmetric=True)
    if operand.shape[0] != operand.shape[1]:
        raise DataError(f"A must be square, has shape {operand.shape}.")
    return operand


def any_operand(A: Multipliable) -> Operand:
    """Take any matrix for a singular value solver."""
    return _operand(A, symmetric=False)


def _operand(A: Multipliable, *, symmetric: bool) -> Operand:
    if isinstance(A, LinearOperator | CentredRows):
        return _known_by_products(A)
    if sp.issparse(A):
        return _sparse(A, symmetric=symmetric)
    matrix = as_symmetric(A) if symmetric else as_matrix(A)  # type: ignore[arg-type]  # what is left is dense
    scale = _needed(power_of_two(matrix))
    return Operand(matrix if scale == 1.0 else matrix / scale, (matrix.shape[0], matrix.shape[1]), scale, 1.0)


def _sparse(A: Any, *, symmetric: bool) -> Operand:
    if np.iscomplexobj(A):
        raise DataError(f"A must be real, is complex ({A.dtype}). Pass its real part if that is meant.")
    matrix = sp.csr_array(as_sparse(A, name="A"), dtype=np.float64)
    if 0 in matrix.shape:
        raise DataError(f"A must not be empty, has shape {matrix.shape}.")
    wrong = np.flatnonzero(~np.isfinite(matrix.data))
    if wrong.size:
        entry = matrix.tocoo()
        raise DataError(
            f"A must be finite: row {entry.row[wrong[0]]}, column {entry.col[wrong[0]]} (counted from 0) is "
            f"{'NaN' if np.isnan(entry.data[wrong[0]]) else 'infinite'} ({wrong.size} such in all). "
            "Fill or drop missing values first."
        )
    scale = _needed(power_of_two(matrix.data))
    if scale != 1.0:
        matrix = sp.csr_array((matrix.data / scale, matrix.indices, matrix.indptr), shape=matrix.shape)
    if symmetric and matrix.shape[0] == matrix.shape[1]:
        gap = abs(matrix - matrix.T).tocoo()
        if gap.nnz and gap.data.max() > 1e-10 * np.abs(matrix.data).max():
            worst = int(np.argmax(gap.data))
            raise DataError(
                f"A must be symmetric: row {gap.row[worst]}, column {gap.col[worst]} (counted from 0) differs from "
                f"its mirror image by {gap.data[worst] * scale:.6g}. If only the symmetric part is meant, pass "
                "(A + A.T) / 2."
            )
    return Operand(matrix, (int(matrix.shape[0]), int(matrix.shape[1])), scale, 1.0)


def _known_by_products(A: LinearOperator | CentredRows) -> Operand:
    m, n = (int(side) for side in A.shape)
    if 0 in (m, n):
        raise DataError(f"A must not be empty, has shape {(m, n)}.")
    if isinstance(A, LinearOperator) and A.dtype is not None and np.issubdtype(A.dtype, np.complexfloating):
        raise DataError(f"A must be real, is complex ({A.dtype}). Pass its real part if that is meant.")
    # A fixed probe only sets the scale, so it needs no random_state.
    probe = np.asarray(A @ np.random.default_rng(0).standard_normal(n), dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(probe))
    if wrong.size:
        raise DataError(f"A must be finite: its product with a finite vector is not, first in entry {wrong[0]}.")
    scale = _needed(power_of_two(probe))
    return Operand(A, (m, n), scale, 1.0 / scale)


def _needed(scale: float) -> float:
    # Near one nothing is gained by dividing, and a copy of the matrix or a pass over every product is saved.
    return 1.0 if 2.0**-8 <= scale <= 2.0**8 else scale

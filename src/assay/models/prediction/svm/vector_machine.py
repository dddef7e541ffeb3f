"""What SVM and SVR share: options, rows read in passes, kernel matrices, and the record of a path over values of C."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from assay.arrays import Array, Whole
from assay.data.source import Source
from assay.engine.current import is_local
from assay.errors import NotConverged, ParameterError
from assay.models.prediction.svm.passes import GAP, Line
from assay.models.supervised import _Predictor
from assay.summary.distances.distances import as_rows
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernel_rows import exact_gram
from assay.summary.gram.kernels import Gaussian, Kernel, Linear, Precomputed, as_kernel

# what is not finite is found by as_rows, which says where
CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False}


@dataclass(frozen=True, slots=True, eq=False)
class MachinePath:
    """One machine for each value of C, each the start of the next.

    Attributes:
        C: (k,) rising.
        objective: of the dual: (k,) of an `SVR`, (k, p) for each pair of classes of an `SVM`.
        n_support: (k,) rows with a weight.
        iterations: (k,) steps of the solver, over all pairs.
        kkt_residual: (k,) largest violation of the conditions of a solution.
        held_out_error: (k,) on the rows kept aside: mean absolute error of an `SVR`, share of the rows that get another
            class than their own of an `SVM`; None without any.
        margin: (k, p) one over the length of w, of an `SVM`; None of an `SVR`.
    """

    C: Array
    objective: Array
    n_support: Whole
    iterations: Whole
    kkt_residual: Array
    held_out_error: Array | None
    margin: Array | None = None


class _VectorMachine(_Predictor):
    """Base of `SVM` and `SVR`."""

    kernel: Any
    solver: Any
    tol: Any
    nu: float | None
    kernel_: Kernel
    support_: Any  # these are None where no weights of rows are kept
    support_vectors_: Any
    dual_coef_: Any
    kkt_residual_: Any
    coef_: Any

    def _kernel(self) -> Kernel:
        return as_kernel(Gaussian() if self.kernel is None else self.kernel)

    def _reads_passes(self, X: Any, *, able: bool) -> bool:
        """Whether rows are read in passes and not held, where they are able to be."""
        if self.solver not in ("auto", "primal"):
            raise ParameterError(f"solver is 'auto' or 'primal'; got {self.solver!r}")
        able = able and isinstance(self._kernel(), Linear)
        return able and (self.solver == "primal" or (isinstance(X, Source) and X.portable and not is_local()))

    def _rows_of_passes(self, X: Any, y: Any) -> tuple[Any, Any, int]:
        """Rows that are not held, their target, and how many there are."""
        X, y = self._taken_apart(X, y)
        if isinstance(X, Source):
            return self._as_numbers(X, reset=True), y, len(y)
        rows = self._checked(X, reset=True, **CHECKS | {"ensure_all_finite": True})
        return rows, y, rows.shape[0]

    def _keep_no_rows(self) -> None:
        """Passes find coefficients, and no weights of rows."""
        self.kernel_, self.route_ = Linear(), "primal in passes"
        self.support_ = self.support_vectors_ = self.dual_coef_ = self.kkt_residual_ = None

    def _warn_of_passes(self, lines: Sequence[Line]) -> None:
        """Say so where a duality gap is larger than allowed."""
        if all(line.converged for line in lines):
            return
        worst = max(line.duality_gap / line.objective for line in lines)
        warnings.warn(
            f"{type(self).__name__}: the duality gap is {worst:.2g} of the objective after "
            f"{max(line.iterations for line in lines)} steps, allowed is {GAP * self.tol:.2g}: lower C, rescale the "
            "columns, or raise tol",
            NotConverged,
            stacklevel=5,
        )

    def _known_gram(self, gram: Gram) -> Gram:
        """A kernel matrix to fit from, its columns recorded."""
        gram = exact_gram(gram, type(self).__name__)
        self._record_columns(None, gram.n if gram.points is None else gram.points.shape[1])
        return gram

    def _new_rows(self, X: Any) -> Array:
        """(m, d) rows to judge."""
        return as_rows(self._checked(X, reset=False, **CHECKS))

    def _check_tol(self) -> None:
        if not (_is_number(self.tol) and self.tol > 0.0):
            raise ParameterError(f"tol is a positive number; got {self.tol!r}")

    def _check_nu(self) -> None:
        if self.nu is not None and not (_is_number(self.nu) and 0.0 < self.nu <= 1.0):
            raise ParameterError(f"nu is a share of the rows, above 0 and at most 1; got {self.nu!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        return tags


def rising_values(Cs: Any) -> Array:
    """(k,) the values of C of a path, rising, each once.

    >>> rising_values([1, 0.1, 1])
    array([0.1, 1. ])
    """
    values = np.unique(np.asarray(Cs, dtype=np.float64))
    if not len(values) or not (np.isfinite(values).all() and values[0] > 0):
        raise ParameterError(f"Cs are positive finite numbers; got {Cs!r}")
    return values


def kernel_told(kernel: Any) -> str:
    """A kernel in words.

    >>> kernel_told(Gaussian(sigma=1 / 3))
    'Gaussian kernel (sigma 0.3333)'
    """
    name = type(kernel).__name__
    own = {each.name: getattr(kernel, each.name) for each in fields(kernel)} if is_dataclass(kernel) else {}
    numbers = [f"{key} {value:.4g}" for key, value in own.items() if isinstance(value, (int, float))]
    return f"{name} kernel ({', '.join(numbers)})" if numbers else f"{name} kernel"


def is_positive(C: Any) -> bool:
    """Whether it is a positive number, infinity among them.

    >>> is_positive(2.0), is_positive(True), is_positive("1")
    (True, False, False)
    """
    return _is_number(C) and bool(C > 0.0)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)

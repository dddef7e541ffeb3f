"""The Gram matrix K_ij = k(x_i, x_j): held, computed by rows when asked, or as a factor K = F F^T.

Centring moves the origin of feature space to the mean of the training rows: K_c = H K H with H = I - 1 1^T / n. For a
factor it is the factor that is centred, which keeps the digits that K - row means - column means + mean would lose for
data far from zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.linalg.validate import RandomState, as_matrix, as_symmetric
from assay.summary.distances.distances import as_rows
from assay.summary.gram.kernels import Kernel, Linear, Precomputed, as_kernel
from assay.summary.gram.landmarks import Landmarks, choose_landmarks

HOLD_LIMIT = 2**27  # entries: up to 11,585 rows, 1 GiB, are held
BLOCK = 2**22  # entries computed at a time, 32 MiB


@dataclass(frozen=True, slots=True, eq=False)
class Centring:
    """What centring took away.

    Attributes:
        row_means: (n,) mean of each row of K.
        mean: Of all of K.
        origin: (r,) mean of the factor's rows; None without a factor.
    """

    row_means: Array
    mean: float
    origin: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Gram:
    """Inner products of the training rows in feature space; make one with `of`, `precomputed` or `landmarks`.

    Attributes:
        kernel: With data-dependent defaults filled in.
        n: Number of training rows.
        points: (n, d) the training rows; None when K was given.
        held: (n, n) the values, centred when the Gram is; None when they are computed on demand.
        factor: (n, r) with K = F F^T, centred when the Gram is; None when there is none but K itself.
        centring: What was taken away; None when nothing was.
        marks: The landmarks of an approximate Gram, with their error; None when it is exact.

    >>> gram = Gram.of([[0.0, 0.0], [3.0, 4.0]])
    >>> gram.values
    array([[ 0.,  0.],
           [ 0., 25.]])
    >>> gram.centred().trace
    12.5
    """

    kernel: Kernel
    n: int
    points: Array | None
    held: Array | None
    factor: Array | None = None
    centring: Centring | None = None
    marks: Landmarks | None = None

    @staticmethod
    def of(X: Any, kernel: Any = None, *, hold: bool | Literal["auto"] = "auto") -> Gram:
        """The Gram matrix of rows.

        Args:
            X: (n, d) training rows; with Precomputed() the (n, n) values.
            kernel: A kernel, its name or a function; Linear() when not given.
            hold: Whether to keep the n x n values; "auto" keeps up to 1 GiB.
        """
        kernel = as_kernel(Linear() if kernel is None else kernel)
        if isinstance(kernel, Precomputed):
            return Gram.precomputed(X)
        if hold not in (True, False, "auto"):
            raise ParameterError(f'hold must be True, False or "auto", is {hold!r}.')
        X = as_rows(X).copy()
        kernel = kernel.resolve(X)
        keep = len(X) ** 2 <= HOLD_LIMIT if hold == "auto" else hold
        if not keep:
            kernel.diagonal(X)  # refuses what overflows now, not in the middle of a later product
        factor = X if isinstance(kernel, Linear) else None
        return Gram(kernel, len(X), X, kernel(X) if keep else None, factor)

    @staticmethod
    def precomputed(K: npt.ArrayLike) -> Gram:
        """A Gram matrix from its (n, n) values, symmetric."""
        values = as_symmetric(K, name="the kernel matrix").copy()
        return Gram(Precomputed(), len(values), None, values)

    @staticmethod
    def landmarks(X: Any, m: int, kernel: Any = None, random_state: RandomState = 0) -> Gram:
        """An approximate Gram matrix from at most m of its columns, n m numbers instead of n n.

        Args:
            X: (n, d) training rows.
            m: Number of landmarks.
            kernel: A kernel, its name or a function, positive semidefinite; Linear() when not given.
            random_state: For the choice of landmarks.

        Returns:
            A Gram with `factor` and `marks`; `trace_error` says what it leaves out.
        """
        kernel = as_kernel(Linear() if kernel is None else kernel)
        if isinstance(kernel, Precomputed):
            raise ParameterError("landmarks save computing K, and Precomputed() has it already. Give rows instead.")
        X = as_rows(X).copy()
        kernel = kernel.resolve(X)
        marks, factor = choose_landmarks(X, m, kernel, random_state)
        return Gram(kernel, len(X), X, None, factor, marks=marks)

    def among(self, kept: Whole) -> Gram:
        """The matrix of some of the rows, an exact one that is not centred; its kernel is the same."""
        held = None if self.held is None else self.held[np.ix_(kept, kept)]
        points, factor = (None if part is None else part[kept] for part in (self.points, self.factor))
        return Gram(self.kernel, len(kept), points, held, factor)

    @property
    def approximate(self) -> bool:
        """Whether landmarks stand for all rows."""
        return self.marks is not None

    @property
    def trace_error(self) -> float:
        """Trace of K minus trace of F F^T, before centring: 0 when exact, never negative."""
        return 0.0 if self.marks is None else self.marks.trace_error

    @property
    def values(self) -> Array:
        """(n, n) the values, if held."""
        if self.held is None:
            raise ParameterError(
                f"this Gram of {self.n} rows does not hold its values ({self.n**2 / 2**27:.2g} GiB). "
                "Use rows(), row_blocks() or @, or make it with hold=True."
            )
        return self.held

    @property
    def diagonal(self) -> Array:
        """(n,) the values K_ii."""
        if self.held is not None:
            return np.diag(self.held).copy()
        if self.factor is not None:
            squares: Array = np.einsum("ij,ij->i", self.factor, self.factor)
            return squares
        raw = self.kernel.diagonal(self.points)
        return raw if self.centring is None else raw - 2 * self.centring.row_means + self.centring.mean

    @property
    def trace(self) -> float:
        """Sum of the diagonal."""
        return float(self.diagonal.sum())

    def rows(self, start: int, stop: int) -> Array:
        """(stop - start, n) the rows of K from start to stop."""
        if not 0 <= start <= stop <= self.n:
            raise ParameterError(f"rows must lie within 0 to {self.n}, are {start} to {stop}.")
        if self.held is not None:
            return self.held[start:stop]
        if self.factor is not None:
            return np.asarray(self.factor[start:stop] @ self.factor.T)
        assert self.points is not None  # neither held nor a factor: computed from rows
        raw = self.kernel(self.points[start:stop], self.points) if stop > start else np.empty((0, self.n))
        if self.centring is None:
            return raw
        means = self.centring.row_means
        raw -= means - self.centring.mean
        raw -= means[start:stop, None]
        return raw

    def row_blocks(self, size: int | None = None) -> Iterator[tuple[int, Array]]:
        """(first row, rows) in blocks of `size` rows; about 32 MiB each when not given."""
        size = max(1, BLOCK // self.n) if size is None else size
        for start in range(0, self.n, size):
            yield start, self.rows(start, min(start + size, self.n))

    def __matmul__(self, V: npt.ArrayLike) -> Array:
        """K V for V of shape (n,) or (n, p), without holding K."""
        right: Array = np.asarray(V, dtype=np.float64)
        if right.ndim not in (1, 2) or len(right) != self.n:
            raise DataError(f"K has {self.n} columns, it cannot be multiplied with shape {right.shape}.")
        if self.held is not None:
            return np.asarray(self.held @ right)
        if self.factor is not None:
            return np.asarray(self.factor @ (self.factor.T @ right))
        return np.concatenate([rows @ right for _, rows in self.row_blocks()])

    def centred(self) -> Gram:
        """The Gram of the rows moved so that their mean in feature space is the origin; itself when centred already."""
        if self.centring is not None:
            return self
        centring = self._centring()
        if self.factor is not None and centring.origin is not None:
            factor = self.factor - centring.origin
            held = None if self.held is None else factor @ factor.T
            return replace(self, held=held, factor=factor, centring=centring)
        held = self.held
        if held is not None:
            # the two means are added first: taken off one after the other, K would not be symmetric to the last bit
            held = held - np.add.outer(centring.row_means, centring.row_means)
            held += centring.mean
        return replace(self, held=held, centring=centring)

    def centre_new(self, K_new: npt.ArrayLike) -> Array:
        """Kernel values of new rows with the training rows, (m, n), centred as the training rows are.

        On a Gram not centred yet the means are computed for this call; take `centred()` once when there are several.
        """
        values = as_matrix(K_new, name="the new kernel values")
        if values.shape[1] != self.n:
            raise DataError(
                f"the new kernel values must have one column for each of the {self.n} training rows, "
                f"have {values.shape[1]}."
            )
        centring = self.centring or self._centring()
        centred = values - values.mean(axis=1, keepdims=True)
        centred -= centring.row_means - centring.mean
        return np.asarray(centred)

    def against(self, X_new: Any, *, centred: bool = False) -> Array:
        """(m, n) kernel values of new rows with the training rows.

        Args:
            X_new: (m, d) new rows; for a precomputed Gram the (m, n) raw values themselves.
            centred: Whether to centre them; for linear and landmark Grams better than `centre_new` far from zero.
        """
        if self.factor is not None:
            new = self.features(X_new)
            if self.centring is None:
                if centred:
                    return replace(self, held=None).centred().against(X_new, centred=True)
                return np.asarray(new @ self.factor.T)
            origin = self.centring.origin
            assert origin is not None  # set whenever there is a factor
            return np.asarray((new - origin) @ self.factor.T if centred else new @ (self.factor + origin).T)
        points = np.empty((self.n, 0)) if self.points is None else self.points
        rows = X_new if self.points is None else as_rows(X_new, "X_new", self.points.shape[1])
        raw = self.kernel(rows, points)
        return self.centre_new(raw) if centred else raw

    def features(self, X_new: Any) -> Array:
        """(m, r) rows of the factor for new rows, not centred."""
        if self.factor is None or self.points is None:
            raise ParameterError(f"a Gram with kernel {self.kernel!r} has no factor. Use against(), or landmarks.")
        if self.marks is not None:
            return self.marks.features(X_new, self.kernel)
        return as_rows(X_new, "X_new", self.points.shape[1])

    def as_linear_operator(self, *, centred: bool = True) -> LinearOperator[Any]:
        """K, or H K H, as what ARPACK asks for: products with vectors, each one pass over K."""

        def product(V: Array) -> Array:
            if not centred:
                return self @ V
            out = self @ (V - V.mean(axis=0))
            return np.asarray(out - out.mean(axis=0))

        shape = (self.n, self.n)
        return LinearOperator(shape, matvec=product, rmatvec=product, matmat=product, dtype=np.dtype(np.float64))

    def _centring(self) -> Centring:
        if self.factor is not None:
            # clipped into the range, so that a constant column is centred to exact zeros
            origin = np.clip(self.factor.mean(axis=0), self.factor.min(axis=0), self.factor.max(axis=0))
            return Centring(self.factor @ origin, float(origin @ origin), origin)
        means = np.concatenate([rows.mean(axis=1) for _, rows in self.row_blocks()])
        return Centring(means, float(means.mean()))

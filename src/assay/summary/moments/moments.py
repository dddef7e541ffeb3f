"""Count, mean and scatter of a table: the summary that carries the linear methods.

    weight  w = sum w_i          mean  m = sum w_i x_i / w          scatter  S = sum w_i (x_i - m)(x_i - m)^T

Two summaries merge by  S = S_a + S_b + (w_a w_b / w) (m_a - m_b)(m_a - m_b)^T  (Chan, Golub & LeVeque 1979), which
never forms raw sums of squares. Mean and scatter are kept as pairs of float64 (linalg.double_double), so that the
order of merging does not show in the result and a part that was added can be taken out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.data.blocks import block_slices, float_blocks
from assay.engine.current import map_reduce
from assay.errors import DataError, FileFormatError, ParameterError
from assay.linalg import double_double as dd
from assay.shown import a_few
from assay.summary.moments.accumulate import Accumulator, checked_weights
from assay.summary.moments.merging import combined_scatter, weighted_gap
from assay.summary.moments.stored import Stored

Columns: TypeAlias = int | str | slice | Sequence[int] | Sequence[str] | NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Moments(Stored):
    """Count, mean and scatter, as an algebra.

    `a + b` summarises both data sets, `a - b` takes a part out, `m[columns]` restricts, `m @ A` transforms the rows to
    `x @ A`, `m.given(columns)` takes out what these explain, `m.forget(keep)` lets old rows fade.

    Attributes:
        count: rows summarised.
        weight_pair, mean_pair, scatter_pair: the sums, as double-double pairs; read `weight`, `mean`, `scatter`.
        columns: names of the columns, or None.

    >>> m = Moments.of([[1.0, 2.0], [3.0, 6.0]])
    >>> m.mean, m.covariance
    (array([2., 4.]), array([[2., 4.],
           [4., 8.]]))
    >>> (m + m - m).count
    2
    """

    count: int
    weight_pair: dd.Pair
    mean_pair: dd.Pair
    scatter_pair: dd.Pair
    columns: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        weights: ArrayLike | None = None,
        columns: Sequence[str] | None = None,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Moments:
        """Summarise rows in one pass.

        Args:
            data: (n, d) array, data frame, `Source`, or an iterable of (b, d) blocks.
            weights: (n,) non-negative weight of each row; weight 2 counts as the row twice. For arrays only.
            columns: names; taken from the data where they have some.
            threads: workers; the result does not depend on it.
            progress: called with the number of blocks done.
        """
        if weights is not None:
            X = np.asarray(data)
            w = checked_weights(weights, len(X))
            work: Iterable[Any] = ((s.start, X[s], w[s]) for s in block_slices(*_shape(X)))
            names = tuple(columns) if columns is not None else None
        else:
            work = float_blocks(data)
            names = tuple(columns) if columns is not None else work.columns

        def summarise(part: tuple[int, Array] | tuple[int, Array, Array]) -> Moments:
            start, rows, *weights = part
            weight = weights[0] if weights else None
            accumulator = Accumulator(rows.shape[1], names=names)
            accumulator.add(rows, weight, first_row=start)
            return cls.from_accumulator(accumulator, names)

        return map_reduce(work, summarise, cls.__add__, threads=threads, progress=progress)

    @classmethod
    def from_accumulator(cls, done: Accumulator, columns: tuple[str, ...] | None) -> Moments:
        """The summary of what an accumulator took in."""
        weight, mean, scatter = done.finish()
        return cls(done.count, dd.pair(weight), mean, dd.pair(scatter), columns)

    @classmethod
    def empty(cls, d: int, columns: Sequence[str] | None = None) -> Moments:
        """The summary of no rows: `m + Moments.empty(m.d)` is m."""
        names = None if columns is None else tuple(columns)
        return cls(0, dd.pair(0.0), dd.pair(np.zeros(d)), _no_scatter(d), names)

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.mean_pair[0])

    @property
    def weight(self) -> float:
        """Sum of the weights; the count where no weights were given."""
        return float(self.weight_pair[0])

    @property
    def mean(self) -> Array:
        """(d,) mean of each column."""
        return self.mean_pair[0]

    @property
    def scatter(self) -> Array:
        """(d, d) sum of products of deviations from the mean."""
        return self.scatter_pair[0]

    @property
    def covariance(self) -> Array:
        """(d, d) scatter / (weight - 1)."""
        if self.weight <= 1.0:
            raise DataError(f"a covariance needs more than one row; there is a weight of {self.weight:g}")
        return self.scatter / (self.weight - 1.0)

    @property
    def variance(self) -> Array:
        """(d,) variance of each column."""
        if self.weight <= 1.0:
            raise DataError(f"a variance needs more than one row; there is a weight of {self.weight:g}")
        return np.diag(self.scatter) / (self.weight - 1.0)

    @property
    def correlation(self) -> Array:
        """(d, d) correlation; NaN in the rows and columns of constant columns."""
        spread = np.sqrt(np.diag(self.scatter))
        spread = np.where(spread > 0.0, spread, np.nan)
        # dividing twice, not by the product of the spreads, which over- or underflows first
        R = self.scatter / spread[:, None] / spread
        R = np.clip((R + R.T) / 2.0, -1.0, 1.0)
        np.fill_diagonal(R, np.where(np.isnan(spread), np.nan, 1.0))
        return R

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        self._same_columns(other)
        if self.weight == 0.0:
            return Moments(self.count + other.count, *other._pairs(), self.columns or other.columns)
        if other.weight == 0.0:
            return Moments(self.count + other.count, *self._pairs(), self.columns or other.columns)
        wa, wb = self.weight_pair, other.weight_pair
        weight = dd.add(wa, wb)
        moved = dd.add(dd.multiply(wa, self.mean_pair), dd.multiply(wb, other.mean_pair))
        gap = weighted_gap(wa, wb, weight, self.mean_pair, other.mean_pair)
        scatter = combined_scatter(self.scatter_pair, other.scatter_pair, gap, 1.0)
        return Moments(
            self.count + other.count, weight, dd.divide(moved, weight), scatter, self.columns or other.columns
        )

    def __radd__(self, other: object) -> Moments:
        # so that sum() of summaries works
        return self if other == 0 else NotImplemented

    def __sub__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        self._same_columns(other)
        if other.count > self.count or other.weight > self.weight:
            raise DataError(f"cannot take {other.count} rows out of {self.count}: the part must have been added before")
        if other.count == self.count:
            return Moments.empty(self.d, self.columns)
        if other.weight == 0.0:
            return Moments(self.count - other.count, *self._pairs(), self.columns)
        left = self.count - other.count
        wa, wb = self.weight_pair, other.weight_pair
        weight = dd.add(wa, dd.negative(wb))
        moved = dd.add(dd.multiply(wa, self.mean_pair), dd.negative(dd.multiply(wb, other.mean_pair)))
        mean = dd.divide(moved, weight)
        gap = weighted_gap(weight, wb, wa, mean, other.mean_pair)
        if left <= 1:
            return Moments(left, weight, mean, _no_scatter(self.d), self.columns)
        # gap^2 is known as well as the means, whose rounding is that of their size
        apart = np.abs(gap[0])
        terms = np.diag(self.scatter) + apart * (apart + np.sqrt(self.weight) * np.abs(self.mean))
        scatter = combined_scatter(self.scatter_pair, other.scatter_pair, gap, -1.0, terms)
        return Moments(left, weight, mean, scatter, self.columns)

    def __getitem__(self, columns: Columns) -> Moments:
        picked = self._positions(columns)
        grid = np.ix_(picked, picked)
        names = None if self.columns is None else tuple(self.columns[i] for i in picked)
        return Moments(
            self.count,
            self.weight_pair,
            (self.mean_pair[0][picked], self.mean_pair[1][picked]),
            (self.scatter_pair[0][grid], self.scatter_pair[1][grid]),
            names,
        )

    def __matmul__(self, A: ArrayLike) -> Moments:
        """The summary of the rows x @ A."""
        T = np.asarray(A, dtype=np.float64)
        if T.ndim != 2 or T.shape[0] != self.d:
            raise ParameterError(f"a transform of {self.d} columns has shape ({self.d}, k); got {T.shape}")
        scatter = T.T @ self.scatter @ T + T.T @ self.scatter_pair[1] @ T
        # what rounding leaves of a variance that is 0: the terms of its sum are at most |T_ij| |T_kj| s_i s_k
        terms = (np.sqrt(np.diag(self.scatter)) @ np.abs(T)) ** 2
        flat = np.diag(scatter) <= self.d * np.finfo(np.float64).eps * terms
        scatter[flat] = scatter[:, flat] = 0.0
        mean = dd.two_sum(self.mean @ T, self.mean_pair[1] @ T)
        return Moments(self.count, self.weight_pair, mean, dd.pair((scatter + scatter.T) / 2.0))

    def forget(self, keep: float) -> Moments:
        """The same mean and covariance structure at `keep` times the weight, so that new rows count more.

        Args:
            keep: share of the weight that stays, in (0, 1].
        """
        if not 0.0 < keep <= 1.0:
            raise ParameterError(f"keep is a share in (0, 1]; got {keep}")
        factor = dd.pair(keep)
        return Moments(
            self.count,
            dd.multiply(self.weight_pair, factor),
            self.mean_pair,
            dd.multiply(self.scatter_pair, factor),
            self.columns,
        )

    def standardised(self) -> Moments:
        """The summary of (x - mean) / standard deviation; a constant column becomes all zeros."""
        spread = np.sqrt(self.variance)
        scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
        scatter = scale[:, None] * self.scatter * scale
        np.fill_diagonal(scatter, np.where(spread > 0.0, self.weight - 1.0, 0.0))
        return Moments(self.count, self.weight_pair, dd.pair(np.zeros(self.d)), dd.pair(scatter), self.columns)

    def given(self, columns: Columns) -> Moments:
        """The summary of what is left of the other columns once these have explained them, by least squares.

        scatter  S_aa - S_az S_zz^+ S_za (Schur's complement); as many rows fewer as these columns have directions,
        which is what is left of normal rows: covariances, correlations and tests of the rest are partial ones.

        Args:
            columns: those held fixed, some but not all.
        """
        fixed = self._positions(columns)
        rest = np.setdiff1d(np.arange(self.d), fixed)
        if not len(rest) or not len(fixed):
            raise ParameterError(f"some but not all of the {self.d} columns are held fixed; got {len(fixed)}")
        fit, rank = self._explained_by(fixed, rest)
        if self.weight - rank <= 1.0:
            raise DataError(
                f"{rank} directions held fixed leave nothing of a weight of {self.weight:g}: hold fewer columns fixed"
            )
        full = self.scatter[np.ix_(rest, rest)]
        scatter = full - self.scatter[np.ix_(rest, fixed)] @ fit
        # what rounding leaves of a column that is explained whole
        flat = np.diag(scatter) <= 8.0 * self.d * np.finfo(np.float64).eps * np.diag(full)
        scatter[flat] = scatter[:, flat] = 0.0
        part = self[rest]
        weight = dd.add(self.weight_pair, dd.pair(-float(rank)))
        return Moments(self.count - rank, weight, part.mean_pair, dd.pair((scatter + scatter.T) / 2.0), part.columns)

    def explained(self, columns: Columns) -> Array:
        """(g, a) least squares coefficients of the other columns on these."""
        fixed = self._positions(columns)
        return self._explained_by(fixed, np.setdiff1d(np.arange(self.d), fixed))[0]

    def _explained_by(self, fixed: NDArray[np.intp], rest: NDArray[np.intp]) -> tuple[Array, int]:
        """S_zz^+ S_za, (g, a), and the rank of S_zz."""
        spread = np.sqrt(np.diag(self.scatter)[fixed])
        scale = np.where(spread > 0.0, spread, 1.0)
        values, V = np.linalg.eigh(self.scatter[np.ix_(fixed, fixed)] / scale[:, None] / scale)
        keep = values > 8.0 * len(fixed) * np.finfo(np.float64).eps * values[-1]
        V, values = V[:, keep], values[keep]
        fit = (V / values) @ (V.T @ (self.scatter[np.ix_(fixed, rest)] / scale[:, None]))
        return fit / scale[:, None], len(values)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays of the file."""
        arrays = {
            f"{name}_{part}": value
            for name, both in zip(("weight", "mean", "scatter"), self._pairs(), strict=True)
            for part, value in zip(("high", "low"), both, strict=True)
        }
        return {"count": self.count, "columns": self.columns and list(self.columns)}, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Moments:
        """Rebuild from the content of a file."""
        try:
            weight, mean, scatter = (
                (arrays[f"{name}_high"], arrays[f"{name}_low"]) for name in ("weight", "mean", "scatter")
            )
            names = header["columns"]
            m = cls(header["count"], weight, mean, scatter, None if names is None else tuple(map(str, names)))
            shapes = [part.shape for both in m._pairs() for part in both]
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"the file does not hold whole Moments: {error}") from error
        if shapes != [(), (), (m.d,), (m.d,), (m.d, m.d), (m.d, m.d)]:
            raise FileFormatError(f"the file does not hold whole Moments: its arrays have shapes {shapes}")
        from assay.summary.moments.stacked import possible  # which is made of moments itself

        return possible(m)

    def _pairs(self) -> tuple[dd.Pair, dd.Pair, dd.Pair]:
        return self.weight_pair, self.mean_pair, self.scatter_pair

    def _same_columns(self, other: Moments) -> None:
        if self.d != other.d:
            raise DataError(f"summaries of {self.d} and of {other.d} columns cannot be combined")
        if self.columns and other.columns and self.columns != other.columns:
            i = next(i for i, pair in enumerate(zip(self.columns, other.columns, strict=True)) if len(set(pair)) > 1)
            raise DataError(
                f"summaries of different columns cannot be combined: column {i} is "
                f"{self.columns[i]!r} in one and {other.columns[i]!r} in the other"
            )

    def _positions(self, columns: Columns) -> NDArray[np.intp]:
        asked = columns if isinstance(columns, slice) else np.atleast_1d(np.asarray(columns))
        if isinstance(asked, np.ndarray) and asked.dtype.kind in "UO":
            if self.columns is None:
                raise ParameterError("these moments have no column names; select by number")
            place = {name: i for i, name in enumerate(self.columns)}
            missing = [name for name in asked.tolist() if name not in place]
            if missing:
                raise ParameterError(f"no column {missing[0]!r}; there are {a_few(self.columns)}")
            asked = np.array([place[name] for name in asked.tolist()])
        return np.arange(self.d)[asked]

    def __repr__(self) -> str:
        return f"Moments(count={self.count}, d={self.d})"


def _no_scatter(d: int) -> dd.Pair:
    return dd.pair(np.zeros((d, d)))


def _shape(X: NDArray[Any]) -> tuple[int, int]:
    if X.ndim != 2:
        raise DataError(f"a table has two dimensions, rows and columns; got {X.ndim}")
    return X.shape[0], X.shape[1]

"""What detectors of unusual rows share: scores block by block, p-values, flags, which columns drive a row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import as_float, block_slices, float_blocks
from assay.data.source import Source
from assay.engine.current import mapped_blocks
from assay.engine.local import in_threads
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.principal import dense
from assay.linalg.one_thread import one_blas_thread
from assay.models.base import Estimator
from assay.models.explained import Explained
from assay.summary.moments.accumulate import chunk_rows

Work: TypeAlias = Callable[[NDArray[Any]], Array]


class Measure(Protocol):
    """How far out (n, d) rows are. What leaves the range of numbers may be NaN or infinite."""

    def far(self, rows: NDArray[Any]) -> Array:
        """(n,) on the scale of `offset_`."""

    def shares(self, rows: NDArray[Any]) -> Array:
        """(n, d) what each column adds."""

    def deviations(self, rows: NDArray[Any]) -> Array:
        """(n, d) standard deviations from the centre."""


class _Detector(OutlierMixin, Estimator):
    """Rows far from the rest. Subclasses measure how far, and how often a clean row is as far."""

    level: float
    offset_: float
    n_samples_: int

    @abstractmethod
    def fit(self, X: Any, y: None = None) -> Self:
        """Learn what is usual."""

    @abstractmethod
    def _measure(self) -> Measure:
        """How far out rows are, and why."""

    @abstractmethod
    def _distances(self, far: Array) -> Array:
        """What `Measure.far` gives, in standard deviations."""

    @abstractmethod
    def _tail(self, far: Array, *, fitted: bool) -> Array:
        """(n,) chance that a clean row is at least so far out."""

    def score_samples(self, X: Any) -> Array:
        """(n,) scores of rows; the lower, the farther out. A source is read block by block."""
        return -self._measured(X)

    def decision_function(self, X: Any) -> Array:
        """(n,) scores less `offset_`: negative for rows that `predict` flags."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """(n,) -1 for rows too far out to be clean, else 1; rows are judged as new ones."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def fit_predict(self, X: Any, y: None = None, **kwargs: Any) -> NDArray[np.int64]:
        """Fit, and flag the rows fitted by -1: `flagged` says which.

        Args:
            X: rows, or a `Source`, which is read twice.
            y: not used.
            kwargs: not used.
        """
        self.fit(X)
        marks = np.ones(self.n_samples_, dtype=np.int64)
        marks[self.flagged(X)] = -1
        return marks

    def p_values(self, X: Any, *, fitted: bool = False) -> Array:
        """(n,) chance that a clean normal row is at least so far out, for each row on its own.

        Args:
            X: rows.
            fitted: whether they are the rows of `fit`, which are nearer to a centre that they helped to find.
        """
        far = self._measured(X)
        if fitted:
            self._refuse_others(len(far))
        return self._tail(far, fitted=fitted)

    def flagged(self, X: Any) -> NDArray[np.intp]:
        """Numbers (from 0) of the flagged rows among those of `fit`, which are given again: p at most level / n."""
        return np.flatnonzero(self.p_values(X, fitted=True) <= self._level)

    def contributions(self, X: Any) -> Array:
        """(n, d) what each column adds to how far a row is out."""
        check_is_fitted(self)
        return self._over(X, self._measure().shares, wide=True)

    def explain(self, X: Any, rows: ArrayLike | None = None, *, fitted: bool = False) -> Explained:
        """Say which columns drive rows.

        Args:
            X: rows, or a `Source`.
            rows: numbers (from 0) of those to explain; those with p at most level / n by default.
            fitted: whether X are the rows of `fit`.
        """
        far = self._measured(X)
        if fitted:
            self._refuse_others(len(far))
        p = self._tail(far, fitted=fitted)
        picked = np.flatnonzero(p <= self._level) if rows is None else _row_numbers(rows, len(far))
        values = self._picked(X, picked)
        names = getattr(self, "feature_names_in_", [f"column {j}" for j in range(self.n_features_in_)])
        measure = self._measure()
        shares = measure.shares(values)
        shares[np.isnan(shares)] = np.inf
        return Explained(
            picked,
            self._distances(far[picked]),
            p[picked],
            tuple(map(str, names)),
            shares,
            measure.deviations(values),
        )

    @property
    def _level(self) -> float:
        """Of each row, so that no row of a clean table of this size is flagged but with chance level (Bonferroni)."""
        return self.level / self.n_samples_

    def _check_alpha(self) -> None:
        if not (isinstance(self.level, (int, float, np.floating)) and 0.0 < self.level < 1.0):
            raise ParameterError(f"level is a chance between 0 and 1; got {self.level!r}")

    def _refuse_others(self, n: int) -> None:
        if n != self.n_samples_:
            raise DataError(
                f"the rows of fit are asked for, {self.n_samples_} of them; got {n}: new rows are judged by predict, "
                "p_values and explain without fitted=True"
            )

    def _measured(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._over(X, self._measure().far, wide=False)

    def _over(self, X: Any, work: Work, *, wide: bool) -> Array:
        """Work done on blocks of rows in threads: (n,), or (n, d) where wide. A source is never held."""
        names = self._names()

        def checked(part: tuple[int, NDArray[Any]]) -> Array:
            start, rows = part
            done = work(rows)
            if not np.isfinite(done.sum()):  # what is missing shows here; else it is a row beyond the range of numbers
                _refuse_missing(rows, start, names)
                done[np.isnan(done)] = np.inf
            return done

        if isinstance(X, Source):
            parts = mapped_blocks(float_blocks(self._as_numbers(X, reset=False)), checked)
            return np.concatenate(parts) if parts else np.empty((0, self.n_features_in_) if wide else 0)
        rows = self._checked(X, reset=False, accept_sparse="csr", ensure_all_finite=False)
        n, d = rows.shape
        step = chunk_rows(d)
        if n <= step:  # not worth a thread
            return checked((0, as_float(dense(rows))))
        result = np.empty((n, d) if wide else n)

        def fill(part: slice) -> None:
            for start in range(part.start, part.stop, step):
                some = slice(start, min(start + step, part.stop))
                result[some] = checked((start, as_float(dense(rows[some]))))

        with one_blas_thread():
            in_threads(fill, block_slices(n, d))
        return result

    def _picked(self, X: Any, picked: NDArray[np.intp]) -> NDArray[Any]:
        """The values of some rows."""
        if not isinstance(X, Source):
            rows = self._checked(X, reset=False, accept_sparse="csr", ensure_all_finite=False)
            return as_float(dense(rows[picked]))

        def taken(part: tuple[int, NDArray[Any]]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
            start, block = part
            here = (picked >= start) & (picked < start + len(block))
            return here, block[picked[here] - start]

        found = np.empty((len(picked), self.n_features_in_))
        for here, values in mapped_blocks(float_blocks(self._as_numbers(X, reset=False)), taken):
            found[here] = values
        return found

    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # as an "outlier_detector" scikit-learn would have it flag something in every table; "none" is an answer here
        tags.estimator_type = None
        return tags


def _refuse_missing(rows: NDArray[Any], first_row: int, names: tuple[str, ...] | None) -> None:
    """Raise for the first value that is not finite, and say where it is."""
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        i, j = map(int, bad[0])
        where = f"row {first_row + i}, " + (f"column {j}" if names is None else f"column {names[j]!r}")
        raise DataError(
            f"{where} is {'missing (NaN)' if np.isnan(rows[i, j]) else 'infinite'}: a distance needs finite numbers; "
            "leave such rows out, or fill them by assay.FillMissing"
        )


def _row_numbers(rows: ArrayLike, n: int) -> NDArray[np.intp]:
    asked = np.atleast_1d(np.asarray(rows))
    if asked.ndim != 1 or (asked.size and asked.dtype.kind not in "iu") or ((asked < 0) | (asked >= n)).any():
        raise ParameterError(f"rows are numbers from 0 to {n - 1}; got {rows!r}")
    return asked.astype(np.intp)

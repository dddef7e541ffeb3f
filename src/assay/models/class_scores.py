"""What classifiers share that give each row a number for each class, and can be fitted from one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import as_float, block_slices, float_blocks
from assay.data.source import Source
from assay.engine.current import mapped_blocks
from assay.engine.local import in_threads
from assay.linalg.one_thread import one_blas_thread
from assay.models.supervised import _Classifier
from assay.summary.moments.accumulate import chunk_rows

Scores: TypeAlias = Callable[[Any, int], Array]

# Rows of a sparse matrix at a time: its rows are short.
_SPARSE_STEP = 8192


class _ClassScorer(_Classifier):
    """Base of classifiers that read a source block by block, to learn and to judge."""

    def _gathered(
        self, X: Any, y: Any, *, fewest: int = 2, reset: bool = True, **checks: Any
    ) -> tuple[Any, NDArray[np.intp]]:
        """Checked rows, or an encoded source that is not held, and the number of each row's class; sets `classes_`."""
        X, y = self._taken_apart(X, y)
        if not isinstance(X, Source):
            X = self._checked(X, reset=reset, **checks)
            return X, self._class_numbers(y, X.shape[0], fewest)
        numbers = self._as_numbers(X, reset=reset)
        return numbers, self._class_numbers(y, len(y), fewest)

    def _scored(self, X: Any, scores: Scores, **checks: Any) -> Array:
        """(n, k) scores of rows, block by block in threads; a source is never held.

        Args:
            X: rows, or a `Source`.
            scores: from (b, d) rows and the number of the first to (b, k).
            checks: of `validate_data`.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            numbers = self._as_numbers(X, reset=False)
            parts = mapped_blocks(float_blocks(numbers), lambda part: scores(part[1], part[0]))
            return np.concatenate(parts) if parts else np.empty((0, len(self.classes_)))
        rows = self._checked(X, reset=False, **checks)
        n, d = rows.shape
        sparse = bool(issparse(rows))
        step = _SPARSE_STEP if sparse else chunk_rows(d)
        result = np.empty((n, len(self.classes_)))

        def fill(part: slice) -> None:
            for start in range(part.start, part.stop, step):
                some = slice(start, min(start + step, part.stop))
                result[some] = scores(rows[some] if sparse else as_float(rows[some]), start)

        if n <= step:  # not worth a thread
            fill(slice(0, n))
        else:
            with one_blas_thread():
                in_threads(fill, block_slices(n, d))
        return result

    def _column_names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)

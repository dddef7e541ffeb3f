"""Models whose cost grows faster than the number of rows: of a large source they fit a fair sample, and place the rest.

The sample is the rows with the smallest keys, and a key depends on the number of the row alone: the same rows for every
model of the same size, on every engine, whatever the blocks. Every row has the same chance, so the sample has the
density of the data, which maps and trees are about; what is rarer than one row in the sample's share may be missing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.partitions import numbered_blocks, numbered_floats
from assay.data.sampling import RowSample
from assay.data.source import Source, float_matrix
from assay.engine.current import map_reduce
from assay.errors import Caution, DataError
from assay.models.base import Estimator


class _Sampled(Estimator):
    """Base of these models.

    Attributes:
        sample_: (m,) numbers of the rows of a source that were fitted, from 0; None where all were.
    """

    _most_rows: int
    sample_: Any

    def _checked(self, X: Any, *, reset: bool, **checks: Any) -> Any:
        """The rows as numbers; on fit, of a source with more than a model can take, a fair sample of them."""
        if reset:
            self.sample_ = None
        if not reset or not isinstance(X, Source):
            return super()._checked(X, reset=reset, **checks)
        if self.__sklearn_tags__().input_tags.pairwise:
            found = super()._checked(X, reset=True, **checks)
            if len(found) > self._most_rows:
                raise DataError(
                    f"{X.name} holds the distances of {len(found):,} rows, and {type(self).__name__} takes at most "
                    f"{self._most_rows:,}; distances of a sample are some of the rows and the same columns, give these"
                )
            return found
        numbers = self._as_numbers(X, reset=True)
        names = numbers.numeric_columns
        sample = self._drawn(numbers)
        if self.sample_ is not None:
            warnings.warn(
                f"{type(self).__name__} was fitted on a fair sample of {len(self.sample_):,} of {numbers.rows_read:,} "
                "rows (sample_); give it the source again to place all",
                Caution,
                stacklevel=3,
            )
        return float_matrix(sample.table, names)

    def _sampled_labels(self, y: Any) -> Any:
        """The labels of the rows that were fitted."""
        return y if y is None or self.sample_ is None else np.asarray(y, dtype=object)[self.sample_]

    def _drawn(self, numbers: Source) -> RowSample:
        most, known = self._most_rows, numbers.rows

        def draw(block: tuple[int, pa.RecordBatch]) -> RowSample:
            return RowSample.of(block[1], first_row=block[0], size=most, total=known)

        sample = map_reduce(numbered_blocks(numbers), draw, RowSample.__add__).sorted()
        if numbers.rows_read > len(sample.rows):
            self.sample_ = sample.rows
        return sample

    def _block_by_block(self, X: Source, place: Callable[[Any, NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
        """What becomes of all rows of a source, worked out by the workers of the engine in use, in order.

        Args:
            X: the rows.
            place: from this model, fitted, and some rows to what becomes of each.
        """
        numbers = self._as_numbers(X, reset=False)
        model = copy(self)
        for name in ("feature_names_in_", "encoding_"):  # compared already
            model.__dict__.pop(name, None)
        if hasattr(model, "callback"):  # of the fit, and nothing for other machines
            model.callback = None

        def one(block: tuple[int, NDArray[Any]]) -> list[NDArray[Any]]:
            first, rows = block
            try:
                return [place(model, rows)]
            except DataError as error:
                raise DataError(
                    f"{X.name}, in the block of {len(rows):,} rows from row {first + 1:,} on: {error}"
                ) from error

        return np.concatenate(map_reduce(numbered_floats(numbers), one, list.__add__))

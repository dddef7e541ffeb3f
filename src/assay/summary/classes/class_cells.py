"""The cells of a block of rows, checked for the kind of their columns; what cannot be used is named by its place."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from assay.arrays import Array
from assay.errors import DataError


class ClassPlace(NamedTuple):
    """Where a block of cells is in the table.

    Attributes:
        first_row: number of its first row.
        columns: numbers of its columns.
        names: of all columns of the table, or None.
    """

    first_row: int
    columns: NDArray[np.intp]
    names: tuple[str, ...] | None

    def of(self, i: int, j: int) -> str:
        """How messages call the cell in row i, column j of the block."""
        column = int(self.columns[j])
        return f"row {self.first_row + i}, column {column if self.names is None else repr(self.names[column])}"


def counted(cells: Any, place: ClassPlace) -> Any:
    """Multinomial cells, (b, q) dense or sparse: finite and not negative; a missing count is 0, which adds nothing."""
    values = _stored(cells)
    if not values.size or (values.min() >= 0.0 and values.max() < np.inf):
        return cells
    refuse_infinite(cells, place)
    if (values < 0.0).any():
        i, j = _first(cells, lambda x: x < 0.0)
        # scikit-learn's checks look for these words
        raise DataError(
            f"Negative values in data: {place.of(i, j)} is {cells[i, j]:g}, but multinomial columns are counts; "
            "name another kind for the column"
        )
    filled = cells.copy()
    _stored(filled)[np.isnan(values)] = 0.0
    return filled


def answered(cells: Any, place: ClassPlace) -> tuple[Any, Array | None]:
    """Bernoulli cells as 0/1: which are above zero, and which are not.

    Returns:
        Both (b, q), the first sparse where the cells are; the second None where no cell is missing.
    """
    refuse_infinite(cells, place)
    if _is_sparse(cells):
        if np.isnan(cells.data).any():
            i, j = _first(cells, np.isnan)
            raise DataError(f"{place.of(i, j)} is missing (NaN): a sparse matrix cannot tell gaps; give a dense array")
        return (cells > 0.0).astype(np.float64), None
    yes = (cells > 0.0).astype(np.float64)
    return yes, (cells <= 0.0).astype(np.float64) if np.isnan(cells).any() else None


def refuse_infinite(cells: Any, place: ClassPlace) -> None:
    """Raise for the first infinite cell."""
    values = _stored(cells)
    if np.isinf(values).any():
        i, j = _first(cells, np.isinf)
        raise DataError(
            f"{place.of(i, j)} is infinite (inf): naive Bayes needs finite numbers; make it missing (NaN), "
            "which is left out"
        )


def _is_sparse(cells: Any) -> bool:
    return bool(issparse(cells))


def _stored(cells: Any) -> Any:
    return cells.data if _is_sparse(cells) else cells


def _first(cells: Any, wrong: Any) -> tuple[int, int]:
    """Row and column of the first cell of which something is true."""
    if not _is_sparse(cells):
        i, j = np.argwhere(wrong(cells))[0]
        return int(i), int(j)
    stored = cells.tocoo()
    first = int(np.flatnonzero(wrong(stored.data))[0])
    return int(stored.row[first]), int(stored.col[first])

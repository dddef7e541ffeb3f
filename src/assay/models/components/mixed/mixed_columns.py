"""Columns of the user as numbers and indicators of levels, learned on fit and met again later."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from assay.arrays import Array
from assay.data.arrow_validation import sound
from assay.data.columns.typed import TypedColumn, told_levels, typed_columns
from assay.data.source import Source
from assay.errors import DataError
from assay.models.base import Estimator

_MOST_COLUMNS = 4_096  # moments of so many take 128 MB


class _MixedColumns(Estimator):
    """Base of every model that gives levels of categories columns of their own, beside numbers."""

    min_share: float
    mean_: Array
    _only_levels: ClassVar[bool]

    def _unit_of(self, variables: int) -> float:
        raise NotImplementedError

    def _kinds_of(self, X: Source) -> dict[str, Any]:
        """Options of the encoding of a source."""
        raise NotImplementedError

    def _source_as_numbers(self, X: Source) -> Source:
        from assay.data.columns.encoded import EncodedSource, encode

        if not isinstance(X, EncodedSource):
            X = encode(X, log="never", min_share=self.min_share, max_levels=_MOST_COLUMNS, **self._kinds_of(X))
        encoding = self.encoding_ = X.encoding
        used = [column for column in encoding.columns if column.used]
        if not used:
            raise DataError("no column of the source became numbers: there are no axes; see its kinds, or declare them")
        numbers = [column.name for column in used if column.kind != "category"]
        if self._only_levels and numbers:
            raise DataError(
                f"MCA takes categories, and column {numbers[0]!r} was encoded as a number: use MixedPCA, leave it out "
                "with assay.encode(source, drop=[...]), or declare it: assay.read(..., kinds={...: 'category'})"
            )
        outputs = [column.outputs for column in used]
        groups = np.repeat(np.arange(len(used)), outputs)
        levels = [
            np.array(encoding.levels(column.name), dtype=object) if column.kind == "category" else None
            for column in used
        ]
        self._describe([column.name for column in used], levels, groups, list(encoding.names))
        self._raw = False
        return X

    def _typed(self, X: Any, *, reset: bool) -> list[TypedColumn]:
        """Columns of an array or a frame, none of them with a missing value."""
        if hasattr(X, "__dataframe__") or hasattr(X, "dtypes") or hasattr(X, "column_names"):
            validate_data(self, sound(X), reset=reset, skip_check_array=True)
        else:
            if isinstance(X, (list, tuple)):  # NumPy makes texts of numbers beside texts
                X = np.array(X, dtype=object)
            X = validate_data(
                self, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=2 if reset else 1
            )
        columns = typed_columns(X, categories=self._only_levels)
        if reset and (not columns or len(columns[0]) < 2):
            raise DataError(f"axes need at least 2 rows and a column; got {len(columns)} columns of too few rows")
        known = getattr(self, "feature_names_in_", None)
        for j, column in enumerate(columns):
            infinite = _infinite(column)
            bad = column.missing | infinite
            if bad.any():
                what = "infinity" if infinite[np.argmax(bad)] else "NaN"
                raise DataError(
                    f"column {repr(known[j]) if known is not None else j} has no value in row {int(np.argmax(bad))}: "
                    "fill it (FillMissing), leave the row out, or make a level of what is missing. "
                    f"Input X contains {what}"
                )
        return columns

    def _encoded(self, columns: list[TypedColumn], *, reset: bool) -> Any:
        """(n, d) sparse rows of numbers and indicators."""
        if reset:
            self._learn(columns)
        n, at = len(columns[0]), 0
        where, which, what = [], [], []
        rows = np.arange(n)
        for j, (column, levels) in enumerate(zip(columns, self.levels_, strict=True)):
            if levels is None:
                if column.values is None:
                    raise DataError(f"column {self.variables_[j]!r} was a number on fit; these are levels")
                where.append(rows)
                which.append(np.full(n, at))
                what.append(column.values)
                at += 1
                continue
            codes = self._codes(column, j)
            known = codes >= 0
            where.append(rows[known])
            which.append(at + codes[known])
            what.append(np.ones(int(known.sum())))
            width = int(np.count_nonzero(self.groups_ == j))
            if not known.all():  # says nothing: the shares of all rows
                new = rows[~known]
                where.append(np.repeat(new, width))
                which.append(np.tile(np.arange(at, at + width), len(new)))
                what.append(np.tile(self.mean_[at : at + width], len(new)))
            at += width
        parts = (np.concatenate(what), (np.concatenate(where), np.concatenate(which)))
        return sp.csr_array(sp.coo_array(parts, shape=(n, at)))

    def _learn(self, columns: list[TypedColumn]) -> None:
        """Levels of each column, the rare ones of which are pooled."""
        known = getattr(self, "feature_names_in_", None)
        names = [f"x{j}" for j in range(len(columns))] if known is None else [str(name) for name in known]
        levels: list[NDArray[Any] | None] = []
        told: list[str] = []
        groups: list[int] = []
        self._pooled: list[bool] = []
        for j, column in enumerate(columns):
            if column.number:
                levels.append(None)
                told.append(names[j])
                groups.append(j)
                self._pooled.append(False)
                continue
            found, counts = column.levels, np.bincount(column.codes, minlength=len(column.levels))
            rare = counts < self.min_share * len(column)
            levels.append(found[~rare])
            shown = told_levels(found[~rare].tolist()) + ([f"other ({rare.sum():,} levels)"] if rare.any() else [])
            told += [f"{names[j]} = {level}" for level in shown]
            groups += [j] * len(shown)
            self._pooled.append(bool(rare.any()))
        if len(told) > _MOST_COLUMNS:
            raise DataError(
                f"the columns have {len(told):,} levels together, more than {_MOST_COLUMNS:,}: pool rare ones with "
                "min_share=0.01, or leave out columns that name rows"
            )
        self._describe(names, levels, np.array(groups, dtype=np.intp), told)
        self._raw = True

    def _codes(self, column: TypedColumn, j: int) -> NDArray[np.intp]:
        """The level of each row, -1 where it was not met on fit and nothing was pooled."""
        levels, met = self.levels_[j], column.levels
        if column.number or (len(levels) and (levels.dtype.kind == "O") != (met.dtype.kind == "O")):
            raise DataError(f"column {self.variables_[j]!r} was fitted on levels of another type than these")
        place = np.minimum(np.searchsorted(levels, met), max(len(levels) - 1, 0))
        found = levels[place] == met if len(levels) else np.zeros(len(met), dtype=bool)
        return np.where(found, place, len(levels) if self._pooled[j] else -1).astype(np.intp)[column.codes]

    def _describe(self, names: list[str], levels: list[Any], groups: NDArray[np.intp], told: list[str]) -> None:
        self.variables_ = np.array(names, dtype=object)
        self.levels_ = levels
        self.groups_ = groups
        self.column_names_ = np.array(told, dtype=object)
        self._unit = self._unit_of(len(names))

    def _numbers_of(self, X: Any) -> Any:
        if self._raw and not isinstance(X, Source):
            return self._encoded(self._typed(X, reset=False), reset=False)
        rows = np.array(self._checked(X, reset=False), dtype=np.float64)
        for g, levels in enumerate(self.levels_):
            if levels is not None:
                inside = np.flatnonzero(self.groups_ == g)
                rows[np.ix_(~rows[:, inside].any(axis=1), inside)] = self.mean_[inside]
        return rows


def _infinite(column: TypedColumn) -> NDArray[np.bool_]:
    if column.values is not None:
        return np.isinf(column.values)
    if column.levels.dtype.kind != "f":
        return np.zeros(len(column), dtype=bool)
    return np.append(np.isinf(column.levels), False)[column.codes]  # the last for a missing one

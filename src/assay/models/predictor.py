"""A line that predicts a column of a table, with all that rows of another table need to be predicted by it.

    x (D,)   the columns as numbers by the encoding, gaps filled with the mean m (D,)
    f (q,)   b + W' (x - m) / s, s (D,) the spread of the columns
    number   f;  classes  the largest of softmax(f), of two classes of (0, f)

It is saved as data, and nothing in its file can run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
from scipy.special import softmax

from assay.arrays import Array
from assay.data.columns.encoding import Encoding
from assay.data.files import write_archive
from assay.data.problems import Problems
from assay.data.source import Source
from assay.errors import DataError
from assay.models.files import Arrays, from_parts, to_parts
from assay.shown import a_few, meant


@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """What was learned.

    Attributes:
        target: the column.
        classes: its classes; empty where it is a number.
        encoding: of the other columns.
        mean, spread: (D,) of these as numbers; a spread of 0 is that of a column that does not vary.
        weights: (D, q) of the standardised numbers.
        middle: (q,) what is predicted for a row of means.
        half_width: of the interval that holds 90% of new rows; NaN for classes.
        judged: how well it does on unseen rows, in words and numbers.
    """

    target: str
    classes: tuple[str, ...]
    encoding: Encoding
    mean: Array
    spread: Array
    weights: Array
    middle: Array
    half_width: float
    judged: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table that it needs."""
        return tuple(column.name for column in self.encoding.columns if column.outputs)

    def check(self, source: Source) -> None:
        """Refuse a table that lacks a column.

        Args:
            source: the table.
        """
        names = source.arrow_schema.names
        lacking = [name for name in self.columns if name not in names]
        if lacking:
            near = meant(lacking[0], [name for name in names if name not in self.columns])
            which = f"column {lacking[0]!r}" if len(lacking) == 1 else f"{len(lacking)} columns, {a_few(lacking, 5)}"
            raise DataError(
                f"{source.name} lacks {which}, from which {self.target} is predicted{near}; add what is missing, or "
                "fit a model without it"
            )

    def scores(self, batch: pa.RecordBatch, problems: Problems | None = None, first_row: int = 0) -> Array:
        """(b, q) what is predicted for some rows: values, or probabilities of the classes.

        Args:
            batch: the rows, columns in any order.
            problems: takes in what did not fit.
            first_row: how many rows came before.
        """
        known = {name: batch.column(name) for name in batch.schema.names}
        arrays = [known.get(each.name, pa.nulls(batch.num_rows)) for each in self.encoding.fields]
        rows = pa.RecordBatch.from_arrays(arrays, names=[each.name for each in self.encoding.fields])
        Z = self.standardised(self.encoding.transform(rows, problems=problems, first_row=first_row))
        found = self.middle + Z @ self.weights
        if not self.classes:
            return np.asarray(found)
        if found.shape[1] == 1:
            found = np.hstack([np.zeros_like(found), found])
        return np.asarray(softmax(found, axis=1))

    def standardised(self, X: Array) -> Array:
        """(b, D) numbers with gaps filled, in standard deviations from the mean.

        Args:
            X: (b, D).
        """
        scale = np.divide(1.0, self.spread, out=np.zeros_like(self.spread), where=self.spread > 0)
        return np.asarray(np.where(np.isnan(X), 0.0, (X - self.mean) * scale))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file that holds data only; `assay.load` reads it.

        Args:
            path: the file.
        """
        header, arrays = self.to_parts()
        write_archive(path, type(self).__name__, header, arrays)

    def to_parts(self) -> tuple[dict[str, Any], Arrays]:
        """Header and arrays, for a file."""
        return to_parts({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        """What `to_parts` took apart.

        Args:
            header: the header.
            arrays: the arrays.
        """
        told = from_parts(header, arrays)
        found = cls(**told)
        D, q = len(found.encoding.names), max(len(found.classes), 1)
        shapes = ((D, q if q != 2 else 1), (D,), (D,))
        if (found.weights.shape, found.mean.shape, found.spread.shape) != shapes:
            raise DataError("its numbers do not fit its columns")
        return found

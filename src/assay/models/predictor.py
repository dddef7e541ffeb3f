"""A model that predicts a column of a table, with all that rows of another table need to be predicted by it.

    x (D,)   the columns as numbers by the encoding, gaps filled with the mean m (D,)
    z (D,)   (x - m) / s, s (D,) the spread of the columns
    number   b + u f(z), f the model, b and u middle and unit of the target;  classes  f(z), and their probabilities

It is saved as data, and nothing in its file can run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.as_frames import table_of
from assay.data.columns.encoding import Encoding
from assay.data.files import write_archive
from assay.data.problems import Problems
from assay.data.read import read
from assay.data.source import Source
from assay.errors import DataError
from assay.models.files import Arrays, from_parts, to_parts
from assay.shown import a_few, meant


@dataclass(frozen=True, slots=True, eq=False)
class PredictedRows:
    """Rows of a table as a model predicts them.

    Attributes:
        table: row number, columns that identify rows, the prediction; then the ends of its interval, or the
            probabilities of the classes where the model has some.
        lacking: by column from which it is predicted, the rows in which it is missing or means nothing to the model.
        problems: what did not fit, in sentences.
    """

    table: pa.Table
    lacking: Mapping[str, int]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Predictor:
    """What `assay predict --save` learned; `assay.load` reads it.

    Attributes:
        target: the column.
        classes: its classes; empty where it is a number.
        encoding: of the other columns.
        mean, spread: (D,) of these as numbers; a spread of 0 is that of a column that does not vary.
        model: learned from standardised numbers; of classes their places, of numbers the target in units of `unit`.
        middle, unit: of the target, where it is a number.
        half_width: of the interval that holds 90% of new rows; NaN for classes, infinite where rows were too few.
        judged: how well it does on unseen rows, in words and numbers.
    """

    target: str
    classes: tuple[str, ...]
    encoding: Encoding
    mean: Array
    spread: Array
    model: Any
    middle: float
    unit: float
    half_width: float
    judged: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """What it predicts, from what, and how well."""
        from_what = f"from {len(self.columns)} columns: {a_few(self.columns, 8)}"
        said = self.judged.get("sentence", "")
        return f"Predictor of {self.target} by {type(self.model).__name__}, {from_what}\n{said}".rstrip()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table that it needs."""
        return tuple(column.name for column in self.encoding.columns if column.outputs)

    @property
    def probable(self) -> bool:
        """Whether the model gives probabilities of classes."""
        return bool(self.classes) and hasattr(self.model, "predict_proba")

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

    def predict(self, data: Any, *, progress: Callable[[int, float | None], object] | None = None) -> PredictedRows:
        """Predict the rows of a table, which may have its columns in any order and others beside.

        A value that is missing, a level that was never seen and a text where a number was learned count as missing: the
        mean of the column stands in. Which rows that are is told.

        Args:
            data: anything `assay.read` takes.
            progress: told how many rows are done, and which share of all.
        """
        source = read(data)
        self.check(source)
        names = [each.name for each in source.schema if each.kind == "identifier" and each.name not in self.columns]
        problems, lacking = Problems(), dict.fromkeys(self.columns, 0)
        found, chances, identifiers = [], [], []
        for first, block in source.numbered_blocks():
            X = self._numbers(block, problems, first)
            for j, known in enumerate(self.encoding.columns):
                if known.outputs:
                    lacking[known.name] += int(np.isnan(X[:, self.encoding.spans[j]]).any(axis=1).sum())
            Z = self.standardised(X)
            found.append(self.predictions(Z))
            chances += [self.model.predict_proba(Z)] if self.probable else []
            identifiers.append(pa.Table.from_batches([block.select(names)]))
            if progress is not None:
                progress(first + block.num_rows, source.fraction_read)
        if not found:
            raise DataError(f"{source.name} has a header but no rows: there is nothing to predict")
        beside = dict(zip(names, pa.concat_tables(identifiers).columns, strict=True)) if names else {}
        table = self._told(np.concatenate(found), np.concatenate(chances) if chances else None, beside)
        said = tuple(problem.sentence() for problem in (*source.problems, *problems))
        return PredictedRows(table, {name: rows for name, rows in lacking.items() if rows}, said)

    def predictions(self, Z: Array) -> NDArray[Any]:
        """(b,) what is predicted of standardised rows: numbers, or places of the classes.

        Args:
            Z: (b, D).
        """
        said = np.asarray(self.model.predict(Z))
        return said if self.classes else np.asarray(self.middle + self.unit * said.ravel())

    def standardised(self, X: Array) -> Array:
        """(b, D) numbers with gaps filled, in standard deviations from the mean.

        Args:
            X: (b, D).
        """
        scale = np.divide(1.0, self.spread, out=np.zeros_like(self.spread), where=self.spread > 0)
        return np.asarray(np.where(np.isnan(X), 0.0, (X - self.mean) * scale))

    def _numbers(self, batch: pa.RecordBatch, problems: Problems, first_row: int) -> Array:
        known = {name: batch.column(name) for name in batch.schema.names}
        arrays = [known.get(each.name, pa.nulls(batch.num_rows)) for each in self.encoding.fields]
        rows = pa.RecordBatch.from_arrays(arrays, names=[each.name for each in self.encoding.fields])
        return self.encoding.transform(rows, problems=problems, first_row=first_row)

    def _told(self, found: NDArray[Any], chances: Array | None, beside: Mapping[str, Any]) -> pa.Table:
        columns: dict[str, Any] = {"row": np.arange(1, len(found) + 1), **beside}
        if not self.classes:
            columns[f"predicted {self.target}"] = found
            if np.isfinite(self.half_width):
                columns |= {"low": found - self.half_width, "high": found + self.half_width}
            return table_of(columns)
        columns[f"predicted {self.target}"] = [self.classes[int(j)] for j in found]
        if chances is not None:
            columns |= {f"probability of {name}": chances[:, j] for j, name in enumerate(self.classes)}
        return table_of(columns)

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
        D = len(found.encoding.names)
        known = getattr(found.model, "n_features_in_", None)
        if (found.mean.shape, found.spread.shape, known) != ((D,), (D,), D):
            raise DataError("its numbers do not fit its columns")
        if found.classes and len(found.model.classes_) != len(found.classes):
            raise DataError("its classes are not those of its model")
        return found

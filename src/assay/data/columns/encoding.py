"""From columns of every kind to numbers, and back: what was decided for each column is a value that can be kept.

>>> import pyarrow as pa
>>> from assay.data.source import ArrowSource
>>> table = pa.table({"weight": [1.5, 2.5, 4.0, 8.0], "smokes": ["yes", "no", "no", "yes"]})
>>> encoding = Encoding.fit(ArrowSource(table))
>>> encoding.names
('weight', 'smokes')
>>> encoding.transform(table.to_batches()[0])[:2]
array([[1.5, 1. ],
       [2.5, 0. ]])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.columns._codecs import INFINITE
from assay.data.columns.cells import cell_at
from assay.data.columns.column_stats import TableStats, empty_stats, stats_of
from assay.data.columns.encoding_layout import EncodingLayout
from assay.data.columns.encoding_notes import EncodedColumn, Place, contradictions, note, row_number
from assay.data.columns.encoding_rules import EncodingOptions, decide
from assay.data.columns.kinds import with_kind
from assay.data.field import AS_ASKED, Declared, Field, Kind
from assay.data.partitions import numbered_blocks
from assay.data.problems import EXAMPLES, Problem, Problems
from assay.data.source import Source
from assay.engine.current import map_reduce
from assay.errors import DataError, ParameterError
from assay.shown import a_few

Log: TypeAlias = Literal["auto", "never"] | Sequence[str]


@dataclass(frozen=True)
class Encoding(EncodingLayout):
    """How each column becomes numbers, decided in one pass and applied block by block.

    Attributes:
        fields: the columns of the user, as the whole data show them.
        columns: what was done with each, in words.
        codecs: what does it.
        rows: rows it was fitted on.
    """

    @classmethod
    def fit(
        cls,
        source: Source,
        *,
        log: Log = "auto",
        max_levels: int = 20,
        min_share: float = 0.01,
        words: int = 30,
        drop: Sequence[str] = (),
        single: bool = False,
        as_kind: Mapping[str, Kind] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Encoding:
        """Decide from one pass over a source.

        Args:
            source: the data.
            log: "auto" takes log(1 + x) of skewed columns by the rule in `encoding_rules`, "never" of none, a list of
                columns of those.
            max_levels: levels of a category with a number of their own, at most.
            min_share: share of the rows that such a level needs; the others are pooled.
            words: words of a text with a number of their own, at most; 0 sets text aside.
            drop: columns to set aside.
            single: one number a column: codes of categories, times without their parts, no texts; for metrics that
                compare columns by their kinds.
            as_kind: kinds of columns that were understood wrongly, by name.
            progress: told the number of rows read.
        """
        options = EncodingOptions(log, max_levels, min_share, words, frozenset(drop), single)
        options.check([known.name for known in source.schema])
        fields = source.schema
        if as_kind:
            known = next(source.blocks(), pa.RecordBatch.from_pylist([], schema=source.arrow_schema))
            fields = _as_asked(fields, known, as_kind)
        nothing = empty_stats(source.arrow_schema, fields)
        stats = map_reduce(
            numbered_blocks(source),
            lambda part: stats_of(part[1], fields, part[0]),
            TableStats.__add__,
            progress=None if progress is None else lambda done: progress(source.rows_read),
            empty=nothing,
        )
        return cls._decided(fields, nothing + stats, options)

    @classmethod
    def of(
        cls,
        fields: Sequence[Field],
        stats: TableStats,
        *,
        log: Log = "auto",
        max_levels: int = 20,
        min_share: float = 0.01,
        words: int = 30,
        drop: Sequence[str] = (),
    ) -> Encoding:
        """Decide from statistics, however gathered and merged.

        Args:
            fields: the columns.
            stats: of all rows, gathered for these columns.
            log, max_levels, min_share, words, drop: see `fit`.
        """
        return cls._decided(fields, stats, EncodingOptions(log, max_levels, min_share, words, frozenset(drop)))

    @classmethod
    def _decided(cls, fields: Sequence[Field], stats: TableStats, options: EncodingOptions) -> Encoding:
        if tuple(fields) != stats.fields:
            raise ParameterError("the statistics were gathered for other columns than these; gather them again")
        options.check([known.name for known in fields])
        seen = stats.columns()
        made = [decide(*column, options) for column in zip(stats.settled, stats.forms, seen, strict=True)]
        columns = tuple(EncodedColumn.of(d, c) for d, c in zip(made, seen, strict=True))
        return cls(tuple(d.field for d in made), columns, tuple(d.codec for d in made), stats.rows)

    def transform(
        self,
        batch: pa.RecordBatch,
        *,
        problems: Problems | None = None,
        first_row: int = 0,
        place: Place = row_number,
    ) -> Array:
        """Rows as numbers.

        Args:
            batch: rows with the columns the encoding was fitted on, in any order.
            problems: takes in what did not fit.
            first_row: how many rows came before.
            place: how a row (from 0) is called.

        Returns:
            (b, D), column-major, missing values as NaN.
        """
        columns = self._columns_of(batch)
        out = np.empty((len(self.names), batch.num_rows))
        found: list[tuple[int, str, NDArray[np.bool_]]] = []
        for j, (known, codec, span) in enumerate(zip(self.fields, self.codecs, self.spans, strict=True)):
            if span.start < span.stop:
                found += [(j, what, mask) for what, mask in codec.write(columns[j], known, out[span])]
        found += [(self._source[i], INFINITE, mask) for i, mask in _infinite(out)]
        for j, what, mask in found:
            if problems is not None:
                rows = np.flatnonzero(mask)
                shown = [(first_row + r, cell_at(columns[j], r)) for r in rows[:EXAMPLES].tolist()]
                note(problems, what, self.fields[j].name, len(rows), shown, place)
        return out.T

    def _columns_of(self, batch: pa.RecordBatch) -> list[pa.Array]:
        names = [known.name for known in self.fields]
        if batch.schema.names == names:
            return list(batch.columns)
        missing = [name for name in names if name not in batch.schema.names]
        if missing:
            there = a_few(batch.schema.names)
            raise DataError(f"column {missing[0]!r}, which the encoding was fitted on, is missing; there are {there}")
        return [batch.column(name) for name in names]

    def decode(self, values: Array) -> pa.Table:
        """Numbers told in the columns of the user: levels, dates, and x for log(1 + x).

        Args:
            values: (m, D), such as the centre of a cluster; the most likely level and the nearest step are taken.

        Returns:
            One column for each that is not set aside.
        """
        rows = np.asarray(values, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.names):
            raise ParameterError(f"values to decode have shape (m, {len(self.names)}); got {rows.shape}")
        used = [j for j, column in enumerate(self.columns) if column.outputs]
        arrays = [self.codecs[j].decode(rows[:, self.spans[j]]) for j in used]
        return pa.Table.from_arrays(arrays, names=[self.fields[j].name for j in used])

    def problems(self, stats: TableStats, source: Source | None = None) -> tuple[Problem, ...]:
        """The values that contradict the kind of their column, as the pass that gathered the statistics met them.

        Args:
            stats: from which the encoding was made.
            source: tells the lines of the file; without it rows are numbered.
        """
        used = {column.name for column in self.columns if column.used}
        found = contradictions(stats, row_number if source is None else source.place_of)
        return tuple(problem for problem in found if problem.column in used)


def _infinite(out: Array) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Make infinite values in the rows of an array missing; tells where they were."""
    with np.errstate(over="ignore", invalid="ignore"):
        totals = out.sum(axis=1)  # much faster than a look at each value, and not finite if one of them is not
    for i in np.flatnonzero(~np.isfinite(totals)).tolist():
        infinite = np.isinf(out[i])
        if infinite.any():
            out[i][infinite] = np.nan
            yield i, infinite


def _as_asked(fields: tuple[Field, ...], block: pa.RecordBatch, kinds: Mapping[str, Kind]) -> tuple[Field, ...]:
    Declared(kinds=kinds).check([known.name for known in fields])
    return tuple(
        with_kind(known, kinds[known.name], block.column(j), AS_ASKED) if known.name in kinds else known
        for j, known in enumerate(fields)
    )

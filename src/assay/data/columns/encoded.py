"""The rows of a source as numbers only, by an encoding."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pyarrow as pa

from assay.arrays import Array
from assay.data.columns._codecs import Number
from assay.data.columns.encoding import Encoding
from assay.data.derived import DerivedSource
from assay.data.field import Field
from assay.data.problems import Problems
from assay.data.row_cache import KeptSource
from assay.data.source import Source
from assay.engine.local import ahead
from assay.errors import ParameterError


class EncodedSource(DerivedSource):
    """The rows of a source as numbers only.

    Attributes:
        source: the rows as they are.
        encoding: how they become numbers.
    """

    def __init__(self, source: Source, encoding: Encoding) -> None:
        super().__init__(source)
        self.encoding = encoding

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([(name, pa.float64()) for name in self.encoding.names])

    def _numbered_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        for row, block in self._encoded():
            yield row, pa.RecordBatch.from_arrays([pa.array(x) for x in block.T], schema=self.arrow_schema)

    def _encoded(self) -> Iterator[tuple[int, Array]]:
        def work(part: tuple[int, pa.RecordBatch]) -> tuple[int, Array, Problems]:
            row, block = part
            found = Problems()
            place = self.source.place_of
            return row, self.encoding.transform(block, problems=found, first_row=row, place=place), found

        for row, values, found in ahead(work, self.source.numbered_blocks()):
            self.problems.extend(found)
            yield row, values
        self.problems.extend(self.source.problems)

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The numbers, each with the role of the column it comes from."""
        encoding = self.encoding
        return tuple(
            Field(name, "number", known.unit if isinstance(codec, Number) else None, known.role, None, column.encoded)
            for known, codec, column, span in zip(
                encoding.fields, encoding.codecs, encoding.columns, encoding.spans, strict=True
            )
            for name in encoding.names[span]
        )

    def numbered_floats(self) -> Iterator[tuple[int, Array]]:
        """The rows in (b, D) column-major blocks with the number of the first, missing values as NaN."""
        self.begin_pass()
        for row, block in self._encoded():
            self.rows_read += len(block)
            yield row, block


def encode(source: Source, encoding: Encoding | None = None, **options: Any) -> EncodedSource:
    """A source as numbers only: decided in one pass, then read block by block like any other source.

    Rows are kept between the passes where they are few, or can be read only once.

    Args:
        source: the data, as `assay.read` gives them.
        encoding: one that was decided before, on other rows; then nothing is decided here.
        options: see `Encoding.fit`.

    >>> from assay.data.source import ArrowSource
    >>> source = ArrowSource(pa.table({"size": ["S", "L", "M", "S"], "x": [0.5, 1.5, 2.5, 4.5]}))
    >>> [name for name in encode(source).numeric_columns]
    ['size', 'x']
    """
    if encoding is not None:
        if options:
            raise ParameterError(f"the encoding is given, so {', '.join(options)} cannot be decided; give one of them")
        return EncodedSource(source, encoding)
    kept = source if isinstance(source, KeptSource) else KeptSource(source)
    return EncodedSource(kept, Encoding.fit(kept, **options))

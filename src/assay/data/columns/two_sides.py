"""Two choices of columns of one source, as numbers, read together."""

from __future__ import annotations

from collections.abc import Iterator
from operator import methodcaller
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.columns.chosen import ChosenColumns
from assay.data.columns.encoded import EncodedSource
from assay.data.columns.encoding import Encoding
from assay.data.derived import DerivedSource
from assay.data.partitions import Blocks
from assay.data.problems import Problems
from assay.data.row_cache import KeptSource
from assay.data.source import Source
from assay.engine.local import ahead


class TwoEncodings(DerivedSource):
    """The rows of a source as numbers in two ways.

    Attributes:
        source: the rows as they are.
        encodings: how some of its columns become the numbers of one side, and others those of the other.
    """

    def __init__(self, source: Source, encodings: tuple[Encoding, Encoding]) -> None:
        super().__init__(source)
        self.encodings = encodings

    def _arrow_schema(self) -> pa.Schema:
        return self.source.arrow_schema

    def numbered_sides(self) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.float64]]]:
        """Number of the first row, and (b, p) and (b, q) numbers of each block, missing values as NaN."""

        def work(part: tuple[int, pa.RecordBatch]) -> tuple[int, list[NDArray[np.float64]], Problems]:
            row, block = part
            found, place = Problems(), self.source.place_of
            sides = [each.transform(block, problems=found, first_row=row, place=place) for each in self.encodings]
            return row, sides, found

        self.begin_pass()
        for row, (x, y), found in ahead(work, self.source.numbered_blocks()):
            self.problems.extend(found)
            self.rows_read += len(x)
            yield row, x, y
        self.problems.extend(self.source.problems)


def both_sides(X: Any, Y: Any) -> Blocks[Any] | None:
    """Blocks of (first row, rows of X, rows of Y) where both are columns of one source; else None.

    Args:
        X, Y: as a model of two sides has them.
    """
    if not (isinstance(X, EncodedSource) and isinstance(Y, EncodedSource)):
        return None
    left, right = X.source, Y.source
    sides = [side.source if type(side) is KeptSource else side for side in (left, right)]
    if not all(isinstance(side, ChosenColumns) for side in sides):
        return None
    roots: list[Any] = [side.source for side in sides]  # type: ignore[attr-defined]
    if roots[0] is not roots[1]:
        return None
    return Blocks(TwoEncodings(roots[0], (X.encoding, Y.encoding)), methodcaller("numbered_sides"))

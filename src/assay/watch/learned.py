"""What the reference rows teach: how columns become numbers, the law of the rows, what drift is measured against."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from assay.arrays import Array
from assay.data.columns.encoding import Encoding
from assay.data.problems import Problems
from assay.data.source import ArrowSource
from assay.errors import DataError, NotConverged
from assay.watch.drift import Aspects
from assay.watch.law import RowLaw

FEWEST = 100
ROWS_PER_NUMBER = 5


@dataclass(frozen=True, slots=True, eq=False)
class LearnedStream:
    """What the reference rows teach.

    Attributes:
        encoding: how columns become numbers.
        law: of the first half of the rows.
        aspects: of the second half, for drift.
        scores: (n,) squared distances of the second half by the law.
        columns: (d, n) all rows as numbers.
    """

    encoding: Encoding
    law: RowLaw
    aspects: Aspects
    scores: Array
    columns: Array

    @classmethod
    def of(cls, table: pa.Table, drop: Sequence[str], problems: Problems) -> LearnedStream:
        """From the rows in their order; columns of times are set aside, as a clock always drifts."""
        source = ArrowSource(table, "the reference")
        clocks = [field.name for field in source.schema if field.kind == "time"]
        encoding = Encoding.fit(source, drop=tuple(dict.fromkeys([*drop, *clocks])))
        d = len(encoding.names)
        if not d:
            aside = "; ".join(f"{column.name}: {column.note}" for column in encoding.columns[:5])
            raise DataError(f"no column of the reference can be watched ({aside}); declare kinds, or give other rows")
        rows = table.num_rows
        if rows < max(FEWEST, ROWS_PER_NUMBER * d):
            raise DataError(
                f"the reference has {rows:,} rows, and {d} columns of numbers need at least "
                f"{max(FEWEST, ROWS_PER_NUMBER * d):,}: give a longer reference, or leave columns out"
            )
        columns = encoded(encoding, table, problems)
        half = rows // 2
        with warnings.catch_warnings():  # the scores need no law that is exact
            warnings.simplefilter("ignore", NotConverged)
            law = RowLaw.of(np.ascontiguousarray(columns[:, :half].T))
        later = np.ascontiguousarray(columns[:, half:])
        whole = ~np.isnan(later.sum(axis=0))
        aspects = Aspects.of(law, np.ascontiguousarray(later[:, whole]), half)
        return cls(encoding, law, aspects, distances(law, later)[1], columns)


def encoded(encoding: Encoding, table: pa.Table, problems: Problems, first_row: int = 0) -> Array:
    """(d, n) rows as numbers, missing ones as NaN."""
    parts = []
    for batch in table.to_batches():
        parts.append(encoding.transform(batch, problems=problems, first_row=first_row).T)
        first_row += batch.num_rows
    return np.concatenate(parts, axis=1) if len(parts) > 1 else np.ascontiguousarray(parts[0])


def distances(law: RowLaw, columns: Array) -> tuple[Array, Array]:
    """(d, n) whitened columns, of use where nothing is missing, and (n,) squared distances of all rows."""
    whitened, far = law.whitened(columns)
    gaps = np.flatnonzero(np.isnan(far))
    if len(gaps):
        far[gaps] = law.far_with_gaps(columns[:, gaps])
    return whitened, far

"""What an encoding needs to know of each column, gathered block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.columns.cells import Coded, Form, as_values, cell_at, coded, form_of, readings
from assay.data.columns.dates import DAY
from assay.data.columns.settled import is_reread
from assay.data.columns.table_stats import ColumnStats, Slot, TableStats
from assay.data.columns.tally import Tally
from assay.data.columns.third_moments import ThirdMoments
from assay.data.field import Field, Kind
from assay.data.problems import EXAMPLES
from assay.data.tokens import terms_of

__all__ = ["ColumnStats", "TableStats", "analyzer", "empty_stats", "stats_of"]


# log(1 + x) is slow to compute: it is looked at in these first rows and in every 16th after them
_LOG_ROWS, _LOG_STEP = 1 << 16, 16
# words are counted in these first rows, and so many different ones are kept
WORD_ROWS, _WORDS_KEPT = 100_000, 50_000
# values looked at together: about what a processor's second cache holds
_TILE = 1 << 16


def stats_of(block: pa.RecordBatch, fields: Sequence[Field], first_row: int = 0) -> TableStats:
    """The statistics of one block.

    Args:
        block: rows of a source.
        fields: its columns.
        first_row: how many rows came before; places are told by it, and it decides which rows are sampled.

    >>> block = pa.record_batch({"x": [1.0, 2.0, 6.0]})
    >>> stats_of(block, [Field("x", "number")]).columns()[0].mean
    3.0
    """
    columns = block.columns
    forms = tuple(form_of(column.type) for column in columns)
    found = _Gathered(_slots(tuple(fields), forms, tuple(column.type for column in columns)), first_row, len(block))
    missing = np.array([column.null_count for column in columns], dtype=np.int64)
    levels, texts, documents = {}, {}, {}
    for j, (column, known) in enumerate(zip(columns, fields, strict=True)):
        if _has_levels(known, forms[j]):
            cells = coded(column)
            missing[j] = int((cells.codes < 0).sum())
            levels[j] = Tally.of(cells.cells, cells.counts())
        elif known.kind == "text":
            texts[j], documents[j] = _word_counts(column, WORD_ROWS - first_row)
    found.gather(columns)
    return found.stats(tuple(fields), forms, missing, levels, texts, documents)


def _has_levels(known: Field, form: Form) -> bool:
    # text that had one value or none so far may turn out to have more
    return known.kind == "category" or (form == "text" and known.kind in ("boolean", "constant", "empty"))


# what a column with one value or none at first is read as, in case more come
_KIND_OF_FORM: dict[Form, Kind] = {"number": "number", "boolean": "boolean", "time": "time", "clock": "time"}


@lru_cache(maxsize=16)
def _slots(fields: tuple[Field, ...], forms: tuple[Form, ...], types: tuple[pa.DataType, ...]) -> tuple[Slot, ...]:
    slots = []
    for j, (known, form, type_) in enumerate(zip(fields, forms, types, strict=True)):
        read = known
        if known.kind in ("constant", "empty") and form in _KIND_OF_FORM:
            read = replace(known, kind=_KIND_OF_FORM[form])
        elif known.kind == "boolean" and form == "number" and known.inferred:
            read = replace(known, kind="count")  # whether all are 0 and 1 is seen by the least and the largest
        if read.kind in ("number", "count", "ordered", "boolean", "time"):
            slots += [Slot(j, read, reading) for reading in readings(read, type_)]
        if is_reread(known, form, type_):
            read = replace(known, kind="count")
            slots += [Slot(j, read, reading, again=True) for reading in readings(read, type_)]
    return tuple(slots)


class _Gathered:
    """The slots of one block, measured a tile of columns at a time."""

    def __init__(self, slots: tuple[Slot, ...], first_row: int, rows: int) -> None:
        s = len(slots)
        self.slots, self.rows, self.first_row = slots, rows, first_row
        self.absent, self.bad, self.not_finite = (np.zeros(s, dtype=np.int64) for _ in range(3))
        self.low, self.high = np.full(s, np.inf), np.full(s, -np.inf)
        self.whole = np.zeros(s, dtype=np.int8)
        self.text: Coded | None = None
        self.examples: dict[int, tuple[tuple[int, str], ...]] = {}
        self.moments: list[ThirdMoments] = []
        self.log_moments: list[ThirdMoments] = []

    def gather(self, columns: list[pa.Array]) -> None:
        together = max(1, _TILE // max(self.rows, 1))
        self.work = np.empty((2, min(together, len(self.slots)), self.rows))
        for start in range(0, len(self.slots), together):
            stop = min(start + together, len(self.slots))
            rows = [self._read(i, columns[self.slots[i].column]) for i in range(start, stop)]
            self._measure(slice(start, stop), rows[0][None, :] if len(rows) == 1 else np.stack(rows))

    def _read(self, i: int, column: pa.Array) -> Array:
        slot = self.slots[i]
        before = self.slots[i - 1] if i else None
        if slot.reading and (before is None or before.column != slot.column or not before.reading):
            self.text = coded(column)  # once for all readings of the column
        values, bad = as_values(column, slot.field, slot.reading, self.text if slot.reading else None)
        if bad is not None:
            self.bad[i] = int(bad.sum())
            first = np.flatnonzero(bad)[:EXAMPLES].tolist()
            self.examples[i] = tuple((self.first_row + r, cell_at(column, r)[:80]) for r in first)
        return values

    def _measure(self, part: slice, X: Array) -> None:
        moments = ThirdMoments.of(X, self.work)
        self.moments.append(moments)
        if (moments.n == self.rows).all():
            low, high = X.min(axis=1, initial=np.inf), X.max(axis=1, initial=-np.inf)
        else:
            nan, finite = np.isnan(X).sum(axis=1), np.isfinite(X)
            self.absent[part] = nan - self.bad[part]
            self.not_finite[part] = self.rows - nan - moments.n.astype(np.int64)
            low = np.where(finite, X, np.inf).min(axis=1, initial=np.inf)
            high = np.where(finite, X, -np.inf).max(axis=1, initial=-np.inf)
        self.low[part], self.high[part] = low, high
        slots = self.slots[part]
        for k, slot in enumerate(slots):
            if slot.field.kind != "number":
                self.whole[part.start + k] = _whole(X[k], slot.field.kind == "time")
        self.log_moments.append(self._logs(X, low, slots))

    def _logs(self, X: Array, low: Array, slots: tuple[Slot, ...]) -> ThirdMoments:
        suited = np.array([slot.field.kind in ("number", "count") for slot in slots]) & (low >= 0)
        head = max(0, _LOG_ROWS - self.first_row)
        first_sampled = head + (-(self.first_row + head)) % _LOG_STEP
        found = ThirdMoments.empty(len(slots))
        if suited.any():
            for rows in (X[:, :head], X[:, first_sampled::_LOG_STEP]):
                if rows.shape[1]:
                    part = rows if suited.all() else np.where(suited[:, None], rows, np.nan)
                    with np.errstate(invalid="ignore"):  # minus infinity is no finite value, so it is not in `low`
                        logs = np.log1p(part)
                    found = found + ThirdMoments.of(logs, self.work)
        return found

    def stats(
        self,
        fields: tuple[Field, ...],
        forms: tuple[Form, ...],
        missing: NDArray[np.int64],
        levels: dict[int, Tally],
        words: dict[int, Tally],
        documents: dict[int, int],
    ) -> TableStats:
        return TableStats(
            fields, forms, self.slots, self.rows, missing, self.absent, self.bad, self.not_finite, self.low, self.high,
            self.whole, _joined(self.moments), _joined(self.log_moments), self.examples, levels, words, documents,
        )  # fmt: skip


def _whole(x: Array, time: bool) -> int:
    values = x[np.isfinite(x)] / (DAY if time else 1)
    if not (np.floor(values) == values).all():
        return 0
    if not time:
        return 1
    days = values.astype(np.int64).astype("datetime64[D]")
    return 2 if (days == days.astype("datetime64[M]")).all() else 1


def _joined(parts: list[ThirdMoments]) -> ThirdMoments:
    if not parts:
        return ThirdMoments.empty(0)
    return ThirdMoments(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("n", "mean", "m2", "m3")))


@cache
def analyzer() -> Callable[[str], list[str]]:
    """How a text is cut into words: in small letters, two letters or more, English stop words left out."""
    return terms_of("english")


def _word_counts(column: pa.Array, at_most: int) -> tuple[Tally, int]:
    found = coded(column.slice(0, max(0, at_most)))
    rows = found.counts().tolist()
    counts: dict[str, int] = {}
    for text, count in zip(found.cells, rows, strict=True):
        for word in set(analyzer()(text)):
            counts[word] = counts.get(word, 0) + count
    return Tally.of(counts, counts.values(), bound=_WORDS_KEPT), sum(rows)


def empty_stats(schema: pa.Schema, fields: Sequence[Field]) -> TableStats:
    """The statistics of no rows."""
    batch = pa.RecordBatch.from_arrays([pa.array([], f.type) for f in schema], schema=schema)
    return stats_of(batch, fields)

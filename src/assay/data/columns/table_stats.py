"""The statistics of a table, column by column, as values that merge: `a + b` describes both blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.columns.cells import Form
from assay.data.columns.kind_rules import Numbers
from assay.data.columns.settled import settled, yes_or_number
from assay.data.columns.tally import Tally
from assay.data.columns.third_moments import ThirdMoments
from assay.data.field import Field
from assay.data.problems import EXAMPLES


@dataclass(frozen=True, slots=True)
class Slot:
    """One way to read one column as numbers.

    Attributes:
        column: index of the column.
        field: the column as it is read, with a kind that is a number in the end.
        reading: see `cells.readings`.
        again: whether it is read so only in case later rows contradict the kind, see `settled`.
    """

    column: int
    field: Field
    reading: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """What is known of one column.

    Attributes:
        rows, missing: of all rows, and how many have no value.
        bad, examples: values that contradict the kind, and the first few as (row, value).
        not_finite: infinite values.
        reading: how text was read, see `cells.readings`.
        n, low, high, mean, variance, skewness: of the finite values, times in microseconds.
        log_skewness: of log(1 + x), NaN where a value is below zero.
        whole: 1 if all values are whole numbers or whole days, 2 if all are first days of months, else 0; 0 for plain
            numbers, where it is not looked at.
        levels: how often each level occurs, for categories.
        words, documents: in how many of how many texts a word occurs.
    """

    rows: int
    missing: int
    bad: int = 0
    examples: tuple[tuple[int, str], ...] = ()
    not_finite: int = 0
    reading: str = ""
    n: int = 0
    low: float = np.nan
    high: float = np.nan
    mean: float = np.nan
    variance: float = np.nan
    skewness: float = np.nan
    log_skewness: float = np.nan
    whole: int = 0
    levels: Tally | None = None
    words: Tally | None = None
    documents: int = 0


@dataclass(frozen=True, eq=False)
class TableStats:
    """What is known of all columns, from one pass; made by `stats_of`, merged by `+`.

    Attributes:
        fields: the columns.
        forms: how each is stored.
        slots: the columns that are read as numbers, some in several ways.
        rows: how many.
        missing: (columns,) rows without a value.
        absent, bad, not_finite, low, high, whole: (slots,).
        moments, log_moments: of the slots.
        examples: first contradictions by slot, as (row, value).
        levels, words: tallies by column.
        documents: texts in which words were counted.
    """

    fields: tuple[Field, ...]
    forms: tuple[Form, ...]
    slots: tuple[Slot, ...]
    rows: int
    missing: NDArray[np.int64]
    absent: NDArray[np.int64]
    bad: NDArray[np.int64]
    not_finite: NDArray[np.int64]
    low: Array
    high: Array
    whole: NDArray[np.int8]
    moments: ThirdMoments
    log_moments: ThirdMoments
    examples: Mapping[int, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    levels: Mapping[int, Tally] = field(default_factory=dict)
    words: Mapping[int, Tally] = field(default_factory=dict)
    documents: Mapping[int, int] = field(default_factory=dict)

    def __add__(self, other: TableStats) -> TableStats:
        """The statistics of these rows followed by the other's."""
        return replace(
            self,
            rows=self.rows + other.rows,
            missing=self.missing + other.missing,
            absent=self.absent + other.absent,
            bad=self.bad + other.bad,
            not_finite=self.not_finite + other.not_finite,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            whole=np.minimum(self.whole, other.whole),
            moments=self.moments + other.moments,
            log_moments=self.log_moments + other.log_moments,
            examples={
                i: tuple(sorted((*self.examples.get(i, ()), *other.examples.get(i, ())))[:EXAMPLES])
                for i in sorted({*self.examples, *other.examples})
            },
            levels=_merged(self.levels, other.levels),
            words=_merged(self.words, other.words),
            documents=_merged(self.documents, other.documents),
        )

    def columns(self) -> tuple[ColumnStats, ...]:
        """One by one; of several ways to read a column, the one that leaves the fewest cells unread."""
        return self._one_by_one[1]

    @property
    def settled(self) -> tuple[Field, ...]:
        """The columns, with the kinds that all rows show."""
        return self._one_by_one[0]

    @cached_property
    def _one_by_one(self) -> tuple[tuple[Field, ...], tuple[ColumnStats, ...]]:
        best: tuple[dict[int, int], dict[int, int]] = {}, {}
        for i, slot in enumerate(self.slots):
            here = best[slot.again]
            if slot.column not in here or self.bad[i] < self.bad[here[slot.column]]:
                here[slot.column] = i
        # as Python's numbers all at once: one by one, those of NumPy take most of the time of wide tables
        slots = zip(
            *(
                each.tolist()
                for each in (
                    self.absent, self.bad, self.not_finite, self.moments.n.astype(np.int64), self.low, self.high,
                    self.moments.mean, self.moments.variance, self.moments.skewness, self.log_moments.skewness,
                    self.whole,
                )
            ),
            strict=True,
        )  # fmt: skip
        seen, missing = list(slots), self.missing.tolist()
        fields, columns = list(self.fields), []
        for j, known in enumerate(self.fields):
            at, again = best[0].get(j), best[1].get(j)
            if again is not None:
                fields[j] = self._reread(j, at, again)
                at = at if fields[j] is known else again
            elif known.kind == "boolean" and at is not None and self.slots[at].field.kind != "boolean":
                fields[j] = yes_or_number(known, float(self.low[at]), float(self.high[at]), bool(self.whole[at]))
            columns.append(self._column(j, missing[j], at, None if at is None else seen[at]))
        return tuple(fields), tuple(columns)

    def _reread(self, j: int, i: int | None, again: int) -> Field:
        low, high, whole = float(self.low[again]), float(self.high[again]), bool(self.whole[again])
        numbers = Numbers(int(self.moments.n[again]), low, high, whole)
        misread = 0 if i is None else int(self.bad[i])
        return settled(self.fields[j], misread, numbers, int(self.bad[again]), self.levels.get(j))

    def _column(self, j: int, missing: int, i: int | None, seen: tuple[Any, ...] | None) -> ColumnStats:
        levels, words, documents = self.levels.get(j), self.words.get(j), self.documents.get(j, 0)
        if i is None or seen is None:
            return ColumnStats(self.rows, missing, levels=levels, words=words, documents=documents)
        if self.slots[i].again:
            levels = None  # it is no column of levels
        absent, bad, not_finite, n, low, high, mean, variance, skewness, log_skewness, whole = seen
        return ColumnStats(
            self.rows,
            absent,
            bad,
            self.examples.get(i, ()),
            not_finite,
            self.slots[i].reading,
            n,
            low=low if n else math.nan,
            high=high if n else math.nan,
            mean=mean if n else math.nan,
            variance=variance,
            skewness=skewness,
            log_skewness=log_skewness if n and low >= 0 else math.nan,
            whole=whole if n else 0,
            levels=levels,
            words=words,
            documents=documents,
        )


def _merged(a: Mapping[int, Any], b: Mapping[int, Any]) -> dict[int, Any]:
    return {j: a[j] + b[j] if j in a and j in b else a.get(j, b.get(j)) for j in sorted({*a, *b})}

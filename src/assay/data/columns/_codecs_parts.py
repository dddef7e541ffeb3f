"""Codecs that make several numbers of one cell: the parts of a date, the words of a text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from assay.arrays import Array
from assay.data.columns._codecs import NOT_READ, Aside, Boolean, Codec, Codes, LevelCodec, Misfits, Number, Ordered
from assay.data.columns.cells import as_values, coded
from assay.data.columns.column_stats import analyzer
from assay.data.columns.dates import DAY
from assay.data.field import Field

_HOUR = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Time(Codec):
    """Days since the first day in the data, and the parts of the date that can matter over its span."""

    kind = "time"
    origin: int
    reading: str = ""
    clock: bool = False
    whole_days: bool = False
    month: bool = False
    weekday: bool = False
    hour: bool = False

    def names(self, name: str) -> tuple[str, ...]:
        if self.clock:
            return (f"{name} (hours since midnight)",)
        parts = ((self.month, "month"), (self.weekday, "weekday (Monday = 1)"), (self.hour, "hour"))
        first_day = np.datetime64(self.origin, "D")
        return (f"{name} (days since {first_day})", *(f"{name}: {part}" for wanted, part in parts if wanted))

    def write(self, column: pa.Array, field: Field, out: Array) -> Misfits:
        micro, bad = as_values(column, field, self.reading)
        found: Misfits = [] if bad is None else [(NOT_READ["time"], bad)]
        if self.clock:
            out[0] = micro / _HOUR
            return found
        out[0] = (micro - self.origin * DAY) / DAY
        gone = np.isnan(micro)
        instants = np.where(gone, 0.0, micro).astype(np.int64).astype("datetime64[us]")
        days = instants.astype("datetime64[D]")
        rows = iter(out[1:])
        if self.month:
            next(rows)[:] = days.astype("datetime64[M]").astype(np.int64) % 12 + 1
        if self.weekday:
            next(rows)[:] = (days.astype(np.int64) + 3) % 7 + 1  # 1970-01-01 was a Thursday
        if self.hour:
            next(rows)[:] = (instants - days).astype(np.int64) / _HOUR
        out[1:, gone] = np.nan
        return found

    def decode(self, values: Array) -> pa.Array:
        unit = _HOUR if self.clock else DAY
        origin = 0 if self.clock else self.origin * DAY
        # the int64 range of microseconds, and a day of 24 hours for times of day
        low, high = (0, 24 * _HOUR - 1) if self.clock else (-(2**62), 2**62)
        gone = np.isnan(values[:, 0])
        micro = np.clip(np.round(np.where(gone, 0.0, values[:, 0]) * unit) + origin, low, high).astype(np.int64)
        if self.clock:
            return pa.array(micro, mask=gone).cast(pa.time64("us"))
        told = pa.array(micro, mask=gone).cast(pa.timestamp("us"))
        return told.cast(pa.date32(), safe=False) if self.whole_days else told


@dataclass(frozen=True, slots=True)
class WordCodec(Codec):
    """How often each of some words comes in a text, times how rare it is: tf * idf.

    Attributes:
        words: the words.
        weights: ln((1 + texts) / (1 + texts with the word)) + 1 for each.
    """

    kind = "words"
    words: tuple[str, ...]
    weights: tuple[float, ...]

    def names(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name}: {word}" for word in self.words)

    def write(self, column: pa.Array, field: Field, out: Array) -> Misfits:
        place = {word: i for i, word in enumerate(self.words)}
        found, split = coded(column), analyzer()
        weights = np.zeros((len(self.words), len(found.cells) + 1))
        weights[:, -1] = np.nan  # where code -1, missing, finds it
        for j, text in enumerate(found.cells):
            for word, count in Counter(word for word in split(text) if word in place).items():
                weights[place[word], j] = count * self.weights[place[word]]
        np.take(weights, found.codes, axis=1, out=out, mode="wrap")
        return []

    def decode(self, values: Array) -> pa.Array:
        def told(row: Array) -> str | None:
            if np.isnan(row).any():
                return None
            strong = sorted(np.flatnonzero(row >= 0.5 * np.array(self.weights)), key=lambda i: -row[i])
            return " ".join(self.words[i] for i in strong)

        return pa.array([told(row) for row in values], pa.string())


_CODECS: dict[str, type[Codec]] = {
    c.kind: c for c in (Number, Boolean, Ordered, LevelCodec, Codes, Time, WordCodec, Aside)
}


def codec_from(header: dict[str, Any]) -> Codec:
    """The codec that a header describes; nothing but the known ones is ever made."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in header.items()}
    return _CODECS[str(values.pop("codec"))](**values)

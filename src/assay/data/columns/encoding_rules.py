"""Which numbers stand for a column: decided by stated rules from its statistics, and said in words.

log(1 + x) is taken where no value is below zero, the skewness is above 2 (that of an exponential distribution: beyond
it a few rows carry most of the variance), the largest value is at least 10 (below, log(1 + x) is nearly a straight
line), there are at least 20 values, and the skewness of log(1 + x) is closer to zero.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from assay.data.columns._codecs import Aside, Boolean, Codec, Codes, LevelCodec, Number, Ordered
from assay.data.columns._codecs_parts import Time, WordCodec
from assay.data.columns.cells import CLOCK, DAY_FIRST, MONTH_FIRST, Form
from assay.data.columns.dates import DAY
from assay.data.columns.kinds import natural
from assay.data.columns.table_stats import ColumnStats
from assay.data.columns.words import BOOLEAN, folded
from assay.data.field import Field, Kind
from assay.errors import ParameterError
from assay.shown import a_few

_SKEWED, _REACH, _ENOUGH = 2.0, 10.0, 20
_RARE_WORD, _COMMON_WORD, _FEWEST_TEXTS = 0.01, 0.5, 5
# a category whose levels are nearly all rare would become one number that is nearly constant
_COMMON_LEVELS = 0.1


@dataclass(frozen=True, slots=True)
class EncodingOptions:
    """What the user may decide about an encoding; see `Encoding.fit`."""

    log: Literal["auto", "never"] | Sequence[str] = "auto"
    max_levels: int = 20
    min_share: float = 0.01
    words: int = 30
    drop: Collection[str] = ()
    single: bool = False

    def check(self, names: Sequence[str]) -> None:
        """Refuse values that make no sense and columns that do not exist."""
        if isinstance(self.log, str) and self.log not in ("auto", "never"):
            raise ParameterError(f"log is 'auto', 'never' or a list of columns; got {self.log!r}")
        if self.max_levels < 1 or self.words < 0 or not 0.0 <= self.min_share < 1.0:
            raise ParameterError(
                "max_levels is at least 1, words at least 0, min_share from 0 to below 1; "
                f"got {self.max_levels}, {self.words}, {self.min_share}"
            )
        asked = [("drop", self.drop), ("take the log of", () if isinstance(self.log, str) else self.log)]
        there = frozenset(names)
        for verb, columns in asked:
            unknown = [name for name in columns if name not in there]
            if unknown:
                raise ParameterError(f"there is no column {unknown[0]!r} to {verb}; there are {a_few(names)}")


@dataclass(frozen=True, slots=True)
class Decision:
    """How one column is encoded.

    Attributes:
        field: the column, as the whole data show it.
        codec: does it.
        encoded: in a few words, such as "log(1 + x)"; empty if set aside.
        note: why, or why it was set aside.
    """

    field: Field
    codec: Codec
    encoded: str
    note: str


def decide(field: Field, form: Form, seen: ColumnStats, options: EncodingOptions) -> Decision:
    """How a column is encoded.

    Args:
        field: as understood from the first rows.
        form: how it is stored.
        seen: statistics of all rows.
        options: what the user decided.
    """
    if field.name in options.drop:
        return _aside(field, "left out on request")
    if field.kind == "identifier":
        return _aside(field, f"identifier: {field.why}" if field.why else "identifier")
    if field.kind == "other":
        return _aside(field, "lists, records and bytes are not encoded")
    if field.kind == "text" and options.single:
        return _aside(field, "text, which is no single number")
    if field.kind == "text":
        return _words(field, seen, options)
    later = field.kind in ("constant", "empty")
    if seen.levels is not None and (later or field.kind == "category"):
        return _levels(field, form, seen, options)
    if seen.n == 0:
        return _aside(field, "no values", "empty")
    if seen.low == seen.high:
        return _aside(field, "one value in all rows", "constant")
    if later:
        kind: Kind = "boolean" if form == "boolean" else "time" if form in ("time", "clock") else "number"
        field = replace(field, kind=kind, why=f"{field.why} at first, more values later")
    if field.kind == "boolean":
        return Decision(field, Boolean(_boolean_words(seen)), "0 or 1", "")
    if field.kind == "ordered":
        encoded = "its numbers" if field.levels is None else f"rank 0 to {len(field.levels) - 1}"
        return Decision(field, Ordered(field.levels), encoded, "" if field.levels is None else " < ".join(field.levels))
    return _time(field, form, seen, options.single) if field.kind == "time" else _number(field, seen, options)


def _aside(field: Field, note: str, kind: Kind | None = None) -> Decision:
    return Decision(field if kind is None else replace(field, kind=kind, levels=None), Aside(), "", note)


def _number(field: Field, seen: ColumnStats, options: EncodingOptions) -> Decision:
    asked = not isinstance(options.log, str) and field.name in options.log
    if asked and seen.low < 0:
        raise ParameterError(
            f"log(1 + x) needs values from zero up; column {field.name!r} has values below zero; leave it out of log"
        )
    if field.kind == "count" and (seen.low < 0 or not seen.whole):
        later = "below zero" if seen.low < 0 else "with fractions"
        field = replace(field, kind="number", why=f"{field.why} at first, values {later} later")
    skewed = (
        options.log == "auto"
        and seen.low >= 0
        and seen.high >= _REACH
        and seen.n >= _ENOUGH
        and seen.skewness > _SKEWED
        and abs(seen.log_skewness) < seen.skewness
    )
    if asked or skewed:
        why = f"skewness {seen.skewness:.1f}, of log(1 + x) {seen.log_skewness:.1f}".replace("-", "−")
        return Decision(field, Number(seen.reading, True), "log(1 + x)", f"as asked; {why}" if asked else why)
    return Decision(field, Number(seen.reading, False), "as it is", "")


def _boolean_words(seen: ColumnStats) -> tuple[str, str] | None:
    if seen.levels is None:
        return None
    told: dict[float, str] = {}
    for word, _ in seen.levels.most():
        value = BOOLEAN.get(folded(word))
        if value is not None:
            told.setdefault(value, word)
    return (told[0.0], told[1.0]) if len(told) == 2 else None


def _levels(field: Field, form: Form, seen: ColumnStats, options: EncodingOptions) -> Decision:
    tally = seen.levels
    assert tally is not None
    if not tally.counts:
        return _aside(field, "no values", "empty")
    if len(tally.counts) == 1 and tally.exact:
        return _aside(field, "one value in all rows", "constant")
    if field.kind != "category":
        field = replace(field, kind="category", why=f"{field.why} at first, more values later")
    total = tally.total
    most = tally.most()
    if options.single:
        met = tuple(sorted((level for level, _ in most), key=natural))
        return Decision(field, Codes(met, form == "number"), f"codes of {len(met):,} levels", "")
    kept = [(level, count) for level, count in most if count >= options.min_share * total][: options.max_levels]
    common = sum(count for _, count in kept)
    if common < _COMMON_LEVELS * total:
        least = f"{100 * options.min_share:.3g}% of the rows or more"
        told = f"those with {least} hold {100 * common / total:.2g}% together" if kept else f"none has {least}"
        return _aside(field, f"{len(most):,} levels, nearly all rare: {told}")
    rare = [level for level, _ in most[len(kept) :]]
    kept.sort(key=lambda item: natural(item[0]))
    shares = [count / total for _, count in kept]
    pooled = bool(rare) or not tally.exact
    if pooled:
        shares.append(1.0 - sum(shares))
    codec = LevelCodec(
        tuple(level for level, _ in kept),
        tuple(shares),
        tuple(sorted(rare)) if pooled else None,
        0 if tally.exact else 1,
        form == "number",
    )
    encoded = f"one per level: {len(kept)} {'level' if len(kept) == 1 else 'levels'}"
    return Decision(field, codec, f"{encoded}, {len(rare):,} rare pooled" if pooled else encoded, "")


def _time(field: Field, form: Form, seen: ColumnStats, single: bool) -> Decision:
    if form == "clock" or seen.reading == CLOCK:
        return Decision(field, Time(0, seen.reading, True), "hours since midnight", "")
    span = (seen.high - seen.low) / DAY
    codec = Time(
        math.floor(seen.low / DAY),
        seen.reading,
        False,
        seen.whole >= 1,
        month=not single and span >= 2 * 365.25,
        weekday=not single and span >= 14 and seen.whole < 2,
        hour=not single and span >= 2 and seen.whole == 0,
    )
    parts = [part for part in ("month", "weekday", "hour") if getattr(codec, part)]
    ordered = next((order for order in (MONTH_FIRST, DAY_FIRST) if order in field.why), "")
    if ordered and ordered != seen.reading:
        field = replace(field, why=f"dates, {seen.reading}, as later rows show")
    first = np.datetime64(codec.origin, "D")
    note = f"{first} to {np.datetime64(math.floor(seen.high / DAY), 'D')}"
    return Decision(field, codec, ", ".join((f"days since {first}", *parts)), note)


def _words(field: Field, seen: ColumnStats, options: EncodingOptions) -> Decision:
    if options.words == 0:
        return _aside(field, "text, left out on request (words=0)")
    n = seen.documents
    if seen.words is None or n == 0:
        return _aside(field, "no values", "empty")
    least = max(_RARE_WORD * n, _FEWEST_TEXTS)
    fit = [(word, count) for word, count in seen.words.most() if least <= count <= _COMMON_WORD * n]
    chosen = sorted(word for word, _ in fit[: options.words])
    if not chosen:
        return _aside(field, f"text: no word is in {math.ceil(least):,} rows or more, and in at most half")
    count = dict(fit)
    weights = tuple(math.log((1 + n) / (1 + count[word])) + 1.0 for word in chosen)
    encoded = f"tf-idf of its {len(chosen)} most frequent words"
    return Decision(
        field,
        WordCodec(tuple(chosen), weights),
        encoded,
        f"words in at least {math.ceil(least):,} and at most half of the rows, no stop words",
    )

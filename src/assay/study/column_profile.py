"""The profile of a column, from what one pass over all rows told and from the rows that were drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from assay.arrays import Array, Indices
from assay.asking.coarse import FEWEST
from assay.asking.column_profile import ColumnProfile
from assay.asking.table import FirstLook
from assay.data.columns.column_stats import ColumnStats
from assay.data.columns.dates import DAY
from assay.shown import shortened
from assay.study.number_spread import TENTHS, TOP, NumberSpread

_NAME = 60
_MOSTLY_DIFFERENT = 0.5  # of the rows drawn: then the data have more values than can be told
_NUMBERS = ("number", "count", "ordered", "time", "constant")


def spread_of(look: FirstLook) -> NumberSpread:
    """What `profile_of` needs of all columns together.

    Args:
        look: the rows drawn.
    """
    numbers = np.flatnonzero([kind in _NUMBERS for kind in look.kinds])
    logged = np.array([name in look.log for name in look.columns], dtype=bool)
    return NumberSpread.of(look.values, _tenths(look), logged, numbers)


def profile_of(look: FirstLook, j: int, stats: ColumnStats, texts: list[str], spread: NumberSpread) -> ColumnProfile:
    """Describe one column.

    Args:
        look: the rows drawn.
        j: number of the column.
        stats: what the pass over all rows told.
        texts: of identifiers and texts, those of the rows drawn.
        spread: of all columns, by `spread_of`.
    """
    kind = look.kinds[j]
    whole = len(look.rows) == look.total
    missing = stats.missing + stats.bad + stats.not_finite
    count = max(look.total - missing, 0)
    sampled = 0 if whole else len(look.rows)
    if kind in ("text", "identifier"):
        different = len(set(texts))
        return ColumnProfile(count, _distinct(different, len(texts), whole), sampled=sampled)
    if stats.levels is not None and kind in ("category", "ordered", "boolean", "constant"):
        x = look.values[:, j]
        seen = x[np.isfinite(x)]
        most = stats.levels.most()
        top = tuple((shortened(name, _NAME), n) for name, n in most[:TOP] if n >= FEWEST)
        named = top[0][0] if top else "the most frequent"
        leading = float(np.bincount(seen.astype(np.intp)).argmax()) if len(seen) and seen.min() >= 0 else math.nan
        drift = _drift(look, np.where(np.isfinite(x), x == leading, np.nan).astype(np.float64))
        distinct = len(most) if stats.levels.exact else None
        return ColumnProfile(count, distinct, top=top, drift=drift, drift_of=f"share of {named}", sampled=sampled)
    if kind == "boolean":
        return _of_yes_and_no(look, look.values[:, j], count, sampled)
    if kind not in _NUMBERS or not spread.seen[j]:
        return ColumnProfile(count, 0 if not count else None, sampled=sampled)
    profile = _of_numbers(look, j, stats, spread, count, sampled)
    names = look.levels.get(look.columns[j], ()) if kind == "ordered" else ()
    return _in_names(profile, look, j, names) if names else profile


def day_of(days: float) -> str:
    """A day as it is written; a year alone where it is beyond all calendars.

    Args:
        days: since 1970.

    >>> day_of(19000.0)
    '2022-01-08'
    """
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=days)).date().isoformat()
    except OverflowError:
        return f"{days / 365.2425 + 1970:.0f}"


def _of_yes_and_no(look: FirstLook, x: Array, count: int, sampled: int) -> ColumnProfile:
    seen = x[np.isfinite(x)]
    yes = _for_all(int(np.count_nonzero(seen)), len(seen), count)
    top = sorted((("yes", yes), ("no", count - yes)), key=lambda pair: -pair[1])
    return ColumnProfile(
        count, len(np.unique(seen)), top=tuple(pair for pair in top if pair[1] >= FEWEST), drift=_drift(look, x),
        drift_of="share of yes", sampled=sampled,
    )  # fmt: skip


def _of_numbers(
    look: FirstLook, j: int, stats: ColumnStats, spread: NumberSpread, count: int, sampled: int
) -> ColumnProfile:
    time, seen = look.kinds[j] == "time", int(spread.seen[j])
    low, high = stats.low, stats.high
    if not (math.isfinite(low) and math.isfinite(high)):
        low, high = float(spread.low[j]), float(spread.high[j])
    elif time:
        low, high = low / DAY, high / DAY
    quarter, median, three_quarters = spread.quartiles[:, j].tolist()
    ends: tuple[Any, ...] = (low, quarter, median, three_quarters, high)
    lowest, quarter, median, three_quarters, highest = map(day_of, ends) if time else ends
    return ColumnProfile(
        count,
        _distinct(int(spread.distinct[j]), seen, not sampled),
        None if time else _for_all(int(spread.zeros[j]), seen, count),
        lowest,
        quarter,
        median,
        three_quarters,
        highest,
        mean=None if time else float(look.centre[j]),
        sd=None if time else float(look.scale[j]),
        top=_top(spread, j, time, seen, count) if spread.often[0, j] else (),
        drift=tuple(None if part != part else part for part in spread.drift[:, j].tolist()),
        drift_of="mean day" if time else "mean",
        sampled=sampled,
    )


def _in_names(profile: ColumnProfile, look: FirstLook, j: int, names: Sequence[str]) -> ColumnProfile:
    """The profile of steps that have names: their numbers are the study's, and mean nothing to a reader."""
    ends = (profile.low, profile.quarter, profile.median, profile.three_quarters, profile.high)
    low, quarter, median, three_quarters, high = (names[int(end)] if isinstance(end, float) else end for end in ends)
    x = look.values[:, j]
    leading = int(np.bincount(x[np.isfinite(x)].astype(np.intp)).argmax())
    return replace(
        profile,
        zeros=None,
        low=low,
        quarter=quarter,
        median=median,
        three_quarters=three_quarters,
        high=high,
        mean=None,
        sd=None,
        top=tuple((names[int(step)], rows) for step, rows in profile.top),
        drift=_drift(look, np.where(np.isfinite(x), x == leading, np.nan).astype(np.float64)),
        drift_of=f"share of {names[leading]}",
    )


def _top(spread: NumberSpread, j: int, time: bool, seen: int, count: int) -> tuple[tuple[str, int], ...]:
    return tuple(
        (day_of(value) if time else f"{value:.12g}", _for_all(rows, seen, count))
        for value, rows in zip(spread.top[:, j].tolist(), spread.often[:, j].tolist(), strict=True)
        if rows
    )


def _distinct(different: int, seen: int, whole: bool) -> int | None:
    """How many different values there are; not known where a sample had many, of which the data have more."""
    return different if whole or different <= _MOSTLY_DIFFERENT * seen else None


def _for_all(found: int, seen: int, count: int) -> int:
    return found if seen == count else round(found / max(seen, 1) * count)


def _tenths(look: FirstLook) -> Indices:
    """(m,) which tenth of the data each of the rows drawn lies in."""
    return np.minimum((look.rows - 1) * TENTHS // max(look.total, 1), TENTHS - 1)


def _drift(look: FirstLook, x: Array) -> tuple[float | None, ...]:
    """The mean of each tenth of the rows drawn, in their order; empty where they are too few."""
    if len(x) < 2 * TENTHS:
        return ()
    there = np.isfinite(x)
    sums = np.bincount(_tenths(look)[there], weights=x[there], minlength=TENTHS)
    many = np.bincount(_tenths(look)[there], minlength=TENTHS)
    return tuple(float(s / n) if n else None for s, n in zip(sums, many, strict=True))

"""What is said of each column: kind, use, gaps, encoding, typical and suspicious values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from assay.arrays import Array
from assay.asking.card import Column
from assay.asking.coarse import FEWEST
from assay.asking.table import FirstLook
from assay.data.columns.column_stats import ColumnStats
from assay.data.columns.dates import DAY
from assay.data.columns.encoding import Encoding
from assay.data.field import Field
from assay.shown import shortened
from assay.study.column_profile import day_of, profile_of, spread_of
from assay.study.profile import Profile
from assay.study.suspicious_values import suspect, suspicious_numbers, suspicious_texts, suspicious_times
from assay.views.axes.numbers import rounded

_LEVELS = 4
_NAME = 24


def described(
    profile: Profile, look: FirstLook, encoding: Encoding, aside: Mapping[str, str], today: date
) -> tuple[Column, ...]:
    """Every column in the order of the data.

    Args:
        profile: what one pass told.
        look: the first look.
        encoding: what the columns became.
        aside: by name, why a column is not used.
        today: the day of the study.
    """
    columns = []
    spread = spread_of(look)
    odd = suspect(spread, *_ends(profile), np.array([name in look.log for name in look.columns], dtype=bool))
    for j, (known, stats, done) in enumerate(zip(encoding.fields, profile.columns, encoding.columns, strict=True)):
        texts = _texts(profile, known, stats, j)
        logged = known.name in look.log
        columns.append(
            Column(
                name=known.name,
                kind=known.kind,
                used=known.name not in aside,
                missing=stats.missing + stats.bad + stats.not_finite,
                note=_remark(known, aside.get(known.name, ""), "" if logged else done.note),
                unit=known.unit,
                role=known.role,
                encoded="" if known.name in aside else f"{done.encoded}: {done.note}" if logged else done.encoded,
                typical=typical(known, stats, look.levels.get(known.name, ())),
                suspicious=_suspicious(known, stats, look, j, texts, today, odd=bool(odd[j])),
                why=known.why,
                profile=profile_of(look, j, stats, texts if known.kind in ("text", "identifier") else [], spread),
            )
        )
    return tuple(columns)


def _remark(known: Field, aside: str, note: str) -> str:
    """Why a column is set aside or what else is to be said, without what stands beside it anyway."""
    if aside:
        return aside.removesuffix(f": {known.why}") if known.why else aside
    return "" if known.kind == "time" else note


def typical(known: Field, stats: ColumnStats, steps: Sequence[str] = ()) -> str:
    """What the values of a column look like.

    Args:
        known: the column.
        stats: of all its values.
        steps: names of the steps of an order, where they have any.

    >>> typical(Field("x", "number", unit="kg"), ColumnStats(9, 0, n=9, low=1.0, high=3.5, mean=2.0))
    '1 to 3.5 kg, mean 2'
    >>> typical(Field("x", "number"), ColumnStats(9, 0, n=9, low=-1234.5, high=3.22e-05, mean=-2.0))
    '−1234 to 0.0000322, mean −2'
    """
    if known.kind == "ordered" and steps and stats.levels is None and stats.n:
        return " to ".join(dict.fromkeys(shortened(steps[int(end)], _NAME) for end in (stats.low, stats.high)))
    if known.kind == "boolean" and stats.n:
        return f"yes in {stats.mean:.0%}"
    if stats.levels is not None and known.kind in ("category", "ordered") and stats.levels.total:
        most = stats.levels.most()
        named = [(name, count) for name, count in most[:_LEVELS] if count >= FEWEST]
        if not named:
            return f"{len(most):,} levels, none of {FEWEST} rows or more"
        shown = ", ".join(f"{shortened(name, _NAME)} ({count / stats.levels.total:.0%})" for name, count in named)
        return shown + (f" and {len(most) - len(named)} more" if len(most) > len(named) else "")
    if known.kind == "time" and stats.n:
        return f"{day_of(stats.low / DAY)} to {day_of(stats.high / DAY)}"
    if known.kind in ("number", "count", "ordered", "constant") and stats.n:
        unit = f" {known.unit}" if known.unit else ""
        if stats.low == stats.high:
            return f"{rounded(stats.low)}{unit}"
        return f"{rounded(stats.low)} to {rounded(stats.high)}{unit}, mean {rounded(stats.mean)}"
    return ""


def _texts(profile: Profile, known: Field, stats: ColumnStats, j: int) -> list[str]:
    if stats.levels is not None:
        return list(stats.levels.counts)
    if known.kind in ("text", "identifier"):
        return [str(value) for value in profile.sample.table.column(j).to_pylist() if value is not None]
    return []


def _ends(profile: Profile) -> tuple[Array, Array]:
    """(d,) the least and the largest of all rows; NaN where they are not known."""
    ends = np.array([(stats.low, stats.high) for stats in profile.columns], dtype=np.float64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _suspicious(
    known: Field, stats: ColumnStats, look: FirstLook, j: int, texts: list[str], today: date, *, odd: bool
) -> str:
    if known.kind in ("number", "count") and math.isfinite(stats.low):
        if not odd:
            return ""
        return suspicious_numbers(look.values[:, j], stats.low, stats.high, log=known.name in look.log)
    if known.kind == "time":
        return suspicious_times(look.values[:, j], today=today)
    return suspicious_texts(texts, quoted=known.kind != "text") if texts and known.kind != "identifier" else ""

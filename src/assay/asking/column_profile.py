"""What people expect of a profile of one column: how many values, which, how they spread, and how they change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

Value: TypeAlias = float | str | None


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """Numbers of one column.

    What the pass over all rows gives is exact: count, least, largest, mean and standard deviation, and of categories
    distinct and top. The rest is of the rows drawn, which are all where they are few; `sampled` says of how many.

    Attributes:
        count: how many values there are.
        distinct: how many different ones; None where only a sample was seen and most of it differs.
        zeros: how many are zero; None for what is no number. Of a sample, taken for all.
        low, quarter, median, three_quarters, high: of numbers, and of times as ISO dates; None for others.
        mean, sd: of numbers; None for others.
        top: values that at least five rows have and how many rows, the most frequent first; none of identifiers and
            texts, and none where almost every value occurs once.
        drift: mean of each tenth of the rows in their order, or the share of the most frequent level; None where a
            tenth has no value. A description: nothing here is tested.
        drift_of: what that is, such as "mean" or "share of retail".
        sampled: rows behind what is not exact; 0 where all rows are.
    """

    count: int
    distinct: int | None = None
    zeros: int | None = None
    low: Value = None
    quarter: Value = None
    median: Value = None
    three_quarters: Value = None
    high: Value = None
    mean: float | None = None
    sd: float | None = None
    top: tuple[tuple[str, int], ...] = ()
    drift: tuple[float | None, ...] = ()
    drift_of: str = ""
    sampled: int = 0

    def as_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "count": self.count,
            "distinct": self.distinct,
            "zeros": self.zeros,
            "min": _json(self.low),
            "quartile_1": _json(self.quarter),
            "median": _json(self.median),
            "quartile_3": _json(self.three_quarters),
            "max": _json(self.high),
            "mean": _json(self.mean),
            "sd": _json(self.sd),
            "top": [{"value": value, "count": count} for value, count in self.top],
            "drift": {"of": self.drift_of, "tenths": [_json(part) for part in self.drift]},
            "sampled_rows": self.sampled,
        }


def _json(value: Value) -> Value:
    return None if isinstance(value, float) and not math.isfinite(value) else value

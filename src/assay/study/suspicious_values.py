"""Values that look wrong, in words: for the reader to judge, never changed or left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import date

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.study.number_spread import NumberSpread
from assay.views.axes.numbers import rounded

_FEWEST = 20
_FAR = 25.0
_MARKERS = frozenset(sign * float("9" * k) for k in range(2, 9) for sign in (1, -1)) | {-1.0, -9.0}
_DEFAULTS = {date(1900, 1, 1), date(1970, 1, 1), date(1899, 12, 30), date(9999, 12, 31)}
_FORMULA = re.compile(r"[=@]\s*[A-Za-z(]|[=@+-]\s*[A-Za-z]+\(")
_MARKUP = re.compile(r"</?[a-zA-Z!][^<>]*>")


def suspicious_numbers(x: Array, low: float, high: float, *, log: bool = False) -> str:
    """Numbers that may stand for something else, or lie far from all others.

    Args:
        x: values of a fair sample, NaN where missing.
        low, high: smallest and largest of all rows.
        log: whether the analysis takes logarithms.

    >>> suspicious_numbers(np.r_[np.arange(50.0), [-999.0] * 3], -999, 49)
    '-999 may stand for missing (3 of 53 in a sample)'
    """
    seen = x[np.isfinite(x)]
    if len(seen) < _FEWEST:
        return ""
    values, counts = np.unique(seen, return_counts=True)
    found = []
    for at in (0, -1):
        value, count = float(values[at]), int(counts[at])
        rest = seen[seen != value]
        if value in _MARKERS and count > 1 and len(rest) and _beyond(value, rest, 5.0):
            found.append(f"{value:g} may stand for missing ({count} of {len(seen)} in a sample)")
    if found:
        return "; ".join(found)
    scaled = np.log1p if log else np.asarray
    found = [
        f"{what} {rounded(value)} lies far from the rest"
        for what, value in (("smallest value", low), ("largest value", high))
        if np.isfinite(value) and _beyond(float(scaled(value)), np.asarray(scaled(seen)), _FAR)
    ]
    return "; ".join(found)


def suspect(spread: NumberSpread, low: Array, high: Array, log: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(d,) of which columns `suspicious_numbers` may have something to say: of the others it has nothing.

    Args:
        spread: of a fair sample.
        low, high: (d,) smallest and largest of all rows.
        log: (d,) whether the analysis takes logarithms.
    """
    markers = np.array(sorted(_MARKERS))
    marked = np.isin(spread.low, markers) | np.isin(spread.high, markers)
    first, _, third = np.where(log, spread.log_quartiles, spread.quartiles)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ends = [np.where(log, np.log1p(end), end) for end in (low, high)]
        width = third - first
        far = (width > 0.0) & ((ends[0] < first - _FAR * width) | (ends[1] > third + _FAR * width))
    return np.asarray((spread.seen >= _FEWEST) & (marked | far))


def _beyond(value: float, rest: Array, times: float) -> bool:
    """Whether a value lies so many times the middle half outside it."""
    first, third = np.quantile(rest, [0.25, 0.75])
    width = float(third - first)
    return width > 0.0 and (value < first - times * width or value > third + times * width)


def suspicious_texts(values: Iterable[str], *, quoted: bool = True) -> str:
    """Texts that differ only in case or blanks, and cells that hold formulas or markup.

    Args:
        values: of a column.
        quoted: whether they may be told, as levels may; not what somebody wrote.

    >>> suspicious_texts(["Male", "male ", "female"])
    "'Male' and 'male ' differ only in case or blanks"
    """
    spellings: dict[str, set[str]] = defaultdict(set)
    formulas = markup = 0
    for value in values:
        spellings[" ".join(value.casefold().split())].add(value)
        formulas += bool(_FORMULA.match(value))
        markup += bool(_MARKUP.search(value))
    twice = sorted(sorted(found) for found in spellings.values() if len(found) > 1)
    if not quoted and twice:
        found = [f"{len(twice)} {'text is' if len(twice) == 1 else 'texts are'} there twice but for case or blanks"]
    else:
        found = [f"{a[:30]!r} and {b[:30]!r} differ only in case or blanks" for a, b, *_ in twice[:2]]
    if quoted and len(twice) > 2:
        found.append(f"and {len(twice) - 2} more such pairs")
    if formulas:
        found.append("cells look like spreadsheet formulas; they were read as text and not evaluated")
    if markup:
        found.append("cells hold markup, shown as plain text")
    return "; ".join(found)


def suspicious_times(days: Array, *, today: date) -> str:
    """Dates that often stand for an unknown one, or lie in the future.

    Args:
        days: since 1970 of a fair sample, NaN where missing.
        today: the day of the study.
    """
    whole = days[np.isfinite(days)]
    if not len(whole):
        return ""
    found = []
    marked = {(day - date(1970, 1, 1)).days: day for day in _DEFAULTS}
    for number, day in sorted(marked.items()):
        count = int((np.floor(whole) == number).sum())
        if count and count < len(whole):
            found.append(f"{day.isoformat()} may stand for unknown ({count} of {len(whole)} in a sample)")
    ahead = int((whole > (today - date(1970, 1, 1)).days + 366).sum())
    if ahead:
        found.append(f"{ahead} of {len(whole)} in a sample lie more than a year in the future")
    return "; ".join(found)

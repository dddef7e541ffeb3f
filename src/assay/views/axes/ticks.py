"""Round positions for the few words that fit under a small picture: numbers, logarithms, times."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np

Tick: TypeAlias = tuple[float, str]

_Unit: TypeAlias = Literal["Y", "M", "D", "h", "m", "s"]
_TIMES: tuple[tuple[_Unit, tuple[int, ...]], ...] = (
    ("s", (1, 2, 5, 10, 15, 30)),
    ("m", (1, 2, 5, 10, 15, 30)),
    ("h", (1, 2, 3, 6, 12)),
    ("D", (1, 2, 5, 10, 15)),
    ("M", (1, 2, 3, 6)),
    ("Y", (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)),
)
_LETTERS = 20  # of all words under a small picture
_LAST_DAY = 3e6  # beyond the year 9999 it is no date
_MOST = {"s": 3, "m": 5, "h": 5, "D": 3, "M": 4, "Y": 5}  # by the length of their words
_SPANS = {"s": 1 / 86400, "m": 1 / 1440, "h": 1 / 24, "D": 1.0, "M": 30.4, "Y": 365.25}


def number_ticks(low: float, high: float, most: int = 5, *, whole: bool = False) -> list[Tick]:
    """Round numbers from low to high, with their words.

    Args:
        low: the least that is drawn.
        high: the most that is drawn.
        most: how many there may be.
        whole: whether only whole numbers mean something, as of years and counts.

    >>> number_ticks(0.0, 112_151.0)
    [(0.0, '0'), (50000.0, '50k'), (100000.0, '100k')]
    >>> [words for _, words in number_ticks(2006.5, 2008.5, whole=True)]
    ['2007', '2008']
    """
    reach = high / most - low / most
    if not (math.isfinite(reach) and reach > 0):
        return [(low, brief(low))]
    power = math.floor(math.log10(reach))
    for step in (1, 2, 5, 10, 20, 50):
        size = step * 10.0**power
        if size == 0 or not math.isfinite(size):
            break
        if whole and size < 1:
            continue
        first, last = math.ceil(low / size), math.floor(high / size)
        if last - first < most:
            ticks = [j * size for j in range(first, last + 1)]
            # as many digits as tell neighbours apart
            digits = next((k for k in range(3, 8) if len({brief(tick, k) for tick in ticks}) == len(ticks)), 8)
            if digits > 3 and all(tick == round(tick) and abs(tick) < 1e7 for tick in ticks):
                # codes: 90210 is no 90.21k; long words leave room for fewer
                shown = ticks[:: 2 if most <= 5 and len(ticks) * len(f"{ticks[-1]:.0f}") > _LETTERS else 1]
                return [(tick, f"{tick:.0f}".replace("-", "−")) for tick in shown]
            return [(tick, brief(tick, digits)) for tick in ticks] or [(low, brief(low))]
    return [(low, brief(low))]


def log_ticks(low: float, high: float, most: int = 4) -> list[Tick]:
    """Zero and powers of ten from low to high; round numbers where there are not two of these.

    Args:
        low: the least that is drawn, not negative.
        high: the most that is drawn.
        most: how many there may be.

    >>> [words for _, words in log_ticks(0.0, 112_151.0)]
    ['0', '10', '1000', '100k']
    """
    powers = [10.0**k for k in range(0, 308) if 10.0**k <= high]
    ticks = [tick for tick in (0.0, *powers) if low <= tick]
    if len(ticks) < 2:
        return number_ticks(low, high, most)
    # the largest stays, the others are thinned evenly from there
    thinned = ticks[::-1][:: math.ceil(len(ticks) / most)][::-1]
    return [(tick, brief(tick)) for tick in thinned]


def time_ticks(low: float, high: float) -> list[Tick]:
    """Round dates or hours from low to high.

    Args:
        low: the earliest that is drawn, in days since 1970.
        high: the latest that is drawn.

    >>> time_ticks(18262.0, 20000.0)
    [(18262.0, '2020'), (18628.0, '2021'), (18993.0, '2022'), (19358.0, '2023'), (19723.0, '2024')]
    """
    if not -_LAST_DAY < low <= high < _LAST_DAY:
        return number_ticks(low, high)
    for unit, steps in _TIMES if low < high else ():
        for step in steps:
            if (high - low) / (_SPANS[unit] * step) < 2 * _MOST[unit]:
                ticks = _times(low, high, unit, step)
                if len(ticks) <= _MOST[unit]:
                    return ticks or [(low, _date(low))]
    return [(low, _date(low))]


def _times(low: float, high: float, unit: _Unit, step: int) -> list[Tick]:
    start = np.datetime64(round(low * 86400), "s").astype(f"datetime64[{unit}]")
    end = np.datetime64(round(high * 86400), "s").astype(f"datetime64[{unit}]")
    if unit == "D":  # days are counted within their month, or "every tenth" would wander through it
        every = np.arange(start, end + 1)
        within = (every - every.astype("datetime64[M]").astype("datetime64[D]")).astype(int)
        marks = every[(within % step == 0) & (within + step <= 31)]
    else:
        origin = 1970 if unit == "Y" else 0
        number = np.arange(start.astype(int), end.astype(int) + 1)
        marks = number[(number + origin) % step == 0].astype(f"datetime64[{unit}]")
    days = marks.astype("datetime64[s]").astype(np.float64) / 86400
    keep = (days >= low) & (days <= high)
    return [(float(day), _date(float(day), unit)) for day in days[keep]]


def _date(day: float, unit: _Unit = "D") -> str:
    text = str(np.datetime64(round(day * 86400), "s"))
    year = text.index("-", 1)
    ends = {"Y": slice(year), "M": slice(year + 3), "D": slice(year + 6)}
    return text[ends[unit]] if unit in ends else text[year + 7 :][: 8 if unit == "s" else 5]


def brief(value: float, digits: int = 3) -> str:
    """A number in as few characters as it needs; below ten thousand as it is, since it may be a year or a code.

    Args:
        value: the number.
        digits: how many may be written.

    >>> brief(12_000.0), brief(2007.0), brief(-0.25), brief(1.5e6), brief(3e-7), brief(0.0)
    ('12k', '2007', '−0.25', '1.5M', '3e−7', '0')
    """
    size = abs(value)
    if size == 0 or not math.isfinite(value):
        return "0" if size == 0 else "∞"
    if 1e3 <= size < 9999.5:
        return f"{value:.{max(digits, 4)}g}".replace("-", "−")
    value = float(f"{value:.{digits}g}")
    for least, word in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if least <= abs(value) < 1e12:
            return f"{value / least:.{digits}g}{word}".replace("-", "−")
    mantissa, e, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa}{f'e{int(exponent)}' if e else ''}".replace("-", "−")


def power_ticks(low: float, high: float, most: int = 8) -> list[Tick]:
    """Powers of ten from low to high, thinned evenly; round numbers where there are not two of these.

    Args:
        low: the least that is drawn, above zero.
        high: the most that is drawn.
        most: how many there may be.

    >>> [words for _, words in power_ticks(0.01, 1000.0)]
    ['0.01', '0.1', '1', '10', '100', '1000']
    >>> [words for _, words in power_ticks(2.0, 9.0)]
    ['2', '4', '6', '8']
    """
    powers = np.arange(np.ceil(np.log10(low) - 1e-9), np.floor(np.log10(high) + 1e-9) + 1)
    powers = powers[:: max(1, -(-len(powers) // most))]
    if len(powers) < 2:
        return number_ticks(low, high, 5)
    return [(float(10.0**p), brief(float(10.0**p))) for p in powers]

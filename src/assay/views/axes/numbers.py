"""Numbers as a reader wants them: three digits that matter, no more."""

from __future__ import annotations

import math
from collections.abc import Sequence

MISSING = "–"
_BARS = "▁▂▃▄▅▆▇█"


def number(value: float | None) -> str:
    """Three significant digits, whole from a thousand on, with thousands apart from ten thousand on: 2007 is a year.

    >>> number(2.6438), number(0.05631), number(-1234.6), number(12345.6), number(1.2e-9), number(None)
    ('2.64', '0.0563', '−1235', '12,346', '1.20e−9', '–')
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size == 0:
        return "0"
    if not 1e-4 <= size < 1e7:
        mantissa, exponent = f"{value:.2e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
    elif size >= 9999.5:
        text = f"{value:,.0f}"
    elif size >= 999.5:
        text = f"{value:.0f}"
    else:
        text = f"{value:.{_decimals(size)}f}"
    return text.replace("-", "−")


def _decimals(size: float) -> int:
    """Decimals that leave three significant digits: 2.64, 12.3, 123, 0.0563."""
    return max(0, 2 - math.floor(math.log10(size)))


def sparkline(values: Sequence[float | None]) -> str:
    """Numbers as a line of small bars, for a cell of a table; a gap where one is not known.

    >>> sparkline([1.0, 2.0, None, 8.0]), sparkline([3.0, 3.0])
    ('▁▂ █', '▄▄')
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return ""
    low, high = min(known), max(known)
    half = high / 2 - low / 2  # halves, for high - low may overflow
    return "".join(
        " "
        if value is None or not math.isfinite(value)
        else _BARS[round((value / 2 - low / 2) / half * (len(_BARS) - 1))]
        if half
        else _BARS[3]
        for value in values
    )


def count(value: int) -> str:
    """Count in full, with thousands apart.

    >>> count(1000000)
    '1,000,000'
    """
    return f"{value:,}"


def counted(value: int, noun: str, plural: str | None = None) -> str:
    """Count things by name.

    >>> counted(1, "look"), counted(2, "look"), counted(0, "entry", "entries")
    ('1 look', '2 looks', '0 entries')
    """
    return f"{count(value)} {noun if value == 1 else plural or noun + 's'}"


def percent(share: float | None) -> str:
    """Share in percent with one decimal; a small one is not called zero, nor one that lacks little all.

    >>> percent(0.4408), percent(0.0001), percent(0.0), percent(0.9999), percent(1.0), percent(None)
    ('44.1%', '< 0.1%', '0.0%', '> 99.9%', '100.0%', '–')
    """
    if share is None or not math.isfinite(share):
        return MISSING
    if 0 < share < 0.0005:
        return "< 0.1%"
    if 0.9995 <= share < 1.0:
        return "> 99.9%"
    return f"{share:.1%}".replace("-", "−")


def fraction(value: float | None) -> str:
    """Number between 0 and 1 with two decimals and no leading zero, such as an alignment.

    >>> fraction(0.936), fraction(-1.0), fraction(-0.001), fraction(None)
    ('.94', '−1.00', '.00', '–')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    return _bare(f"{round(value, 2) + 0.0:.2f}")  # + 0.0 takes the sign off a rounded zero


def probability(p: float | None, *, bound: bool = False) -> str:
    """Relation and p without its leading zero.

    Args:
        p: the probability, None where nothing was tested.
        bound: whether p is the least that a simulation of this size can say.

    >>> probability(0.032), probability(0.005, bound=True), probability(1e-12), probability(0.4567), probability(1.0)
    ('= .032', '≤ .005', '< .0001', '= .46', '= 1')
    """
    if p is None or math.isnan(p):
        return MISSING
    if p < 1e-4:
        return "< .0001"
    if p > 0.995:
        return "= 1" if p == 1 else "> .99"
    relation = "≤" if bound else "="
    digits = 2 if p >= 0.1 else 3 if p >= 0.01 else 4
    text = f"{p:.{digits}f}"
    return f"{relation} {_bare(text.rstrip('0') if digits > 2 else text)}"


def _bare(text: str) -> str:
    bare = text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
    return bare.replace("-", "−")

"""Numbers as a reader wants them: three digits that matter, and more only where they tell two numbers apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

MISSING = "–"
_BARS = "▁▂▃▄▅▆▇█"
_MORE_DIGITS = 4


def number(value: float | None, digits: int = 3) -> str:
    """Three significant digits, whole from a thousand on, with thousands apart from ten thousand on: 2007 is a year.

    Args:
        value: the number.
        digits: significant ones below the point; see `told_apart`.

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
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
    else:
        text = f"{value:{',' if size >= 9999.5 else ''}.{_decimals(size, digits)}f}"
    return text.replace("-", "−")


def value(given: float, digits: int = 3) -> str:
    """A value of a column as `number` writes it; a whole one has no decimals, since a count of 5.00 is none.

    Args:
        given: the value.
        digits: significant ones below the point; see `told_apart`.

    >>> value(5.0), value(23.94), value(63.0), value(2007.0), value(-0.5)
    ('5', '23.9', '63', '2007', '−0.500')
    """
    whole = math.isfinite(given) and given == round(given) and abs(given) < 1e7
    return number(given, digits).partition(".")[0] if whole else number(given, digits)


def _decimals(size: float, digits: int) -> int:
    """Decimals that leave so many significant digits: 2.64, 12.3, 123, 0.0563."""
    return max(0, digits - 1 - math.floor(math.log10(size)))


def rounded(value: float) -> str:
    """A value of the data: four digits, so that no cell is told; no zeros at its end, and years as they are.

    >>> [rounded(x) for x in (112151.0, 2007.0, -1.5, 3.22e-5, 4.5e9, 7.25e-9, 0.0)]
    ['112,200', '2007', '−1.5', '0.0000322', '4,500,000,000', '7.25e−9', '0']
    """
    short = float(f"{value:.4g}")
    size = abs(short)
    if not math.isfinite(value) or size == 0:
        return number(value)
    if not 1e-6 <= size < 1e12:
        mantissa, exponent = f"{short:.3e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    elif size >= 1e4:
        text = f"{short:,.0f}"
    elif size >= 1e-4:
        text = f"{short:.4g}"
    else:
        text = f"{short:.10f}".rstrip("0")
    return text.replace("-", "−")


def told_apart(write: Callable[[float, int], str], values: Sequence[float], digits: int) -> list[str]:
    """Several numbers of one sentence, with as many digits as tell different ones apart.

    Args:
        write: how a number is written with so many digits.
        values: the numbers.
        digits: the fewest.

    >>> told_apart(percent, [0.00595, 0.00640], 1), told_apart(number, [2.641, 2.644], 3), told_apart(number, [1, 1], 3)
    (['0.60%', '0.64%'], ['2.641', '2.644'], ['1.00', '1.00'])
    """
    said: list[str] = []
    for some in range(digits, digits + _MORE_DIGITS):
        said = [write(value, some) for value in values]
        if len(set(said)) == len(set(values)):
            return said
    return [write(value, digits) for value in values]


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


def percent(share: float | None, digits: int = 1) -> str:
    """Share in percent with one decimal, none and all without; a small one is not called none, nor almost all all.

    Args:
        share: the share.
        digits: decimals; see `told_apart`.

    >>> percent(0.4408), percent(0.0001), percent(0.0), percent(0.9999), percent(1.0), percent(None)
    ('44.1%', '< 0.1%', '0%', '> 99.9%', '100%', '–')
    """
    if share is None or not math.isfinite(share):
        return MISSING
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    unit = 10.0**-digits
    if 0 < share < unit / 200:
        return f"< {unit:.{digits}f}%"
    if 1.0 - unit / 200 <= share < 1.0:
        return f"> {100 - unit:.{digits}f}%"
    return f"{share:.{digits}%}".replace("-", "−")


def fraction(value: float | None, digits: int = 2) -> str:
    """Number between 0 and 1 with two decimals and no leading zero, such as an alignment.

    Args:
        value: the number.
        digits: decimals; see `told_apart`.

    >>> fraction(0.936), fraction(-1.0), fraction(-0.001), fraction(None)
    ('.94', '−1.00', '.00', '–')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    return _bare(f"{round(value, digits) + 0.0:.{digits}f}")  # + 0.0 takes the sign off a rounded zero


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

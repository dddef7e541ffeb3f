"""How far a finding lies beyond chance: one number that compares findings of every kind.

scale      (statistic - median of chance) / (upper - median of chance): 0 is the middle of what chance alone makes, 1
           what it exceeds one time in twenty. Unlike a ratio it does not depend on where the zero of a statistic is.
no scale   where chance is a law of p alone, or has no spread: z(q) / z(.05), the same number for a normal statistic
verdict    what is supported lies at 1 or beyond, what chance makes as well at 1 or before: a verdict counts every test
           that was made, the reach of chance only those that its statistic is the largest of

Why, and what else was thought of: docs/adr/0034-one-scale-beyond-chance.md.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from assay.evidence.evidence import Evidence
from assay.views.axes.numbers import count

CAP = 20.0  # where the drawn scale ends
_LEVEL = 0.05
_SMALLEST = 1e-300  # of p, so that it has a normal quantile


def beyond(evidence: Evidence) -> float | None:
    """Times as far from the middle of chance as chance itself reaches one time in twenty; None where nothing is known.

    Args:
        evidence: of the finding.

    >>> from assay.evidence.evidence import Null
    >>> beyond(Evidence(4.0, Null("shuffled", 1.0, 2.0), p=.001, q=.001, verdict="supported"))
    3.0
    >>> round(beyond(Evidence(1.0, p=.0001, q=.0001, verdict="supported")), 2), beyond(Evidence(1.0))
    (2.26, None)
    """
    alone = _against_chance(evidence)
    if alone is None:
        return None
    found = max(alone, 0.0)
    if evidence.verdict == "supported":
        return max(found, 1.0)
    return min(found, 1.0) if evidence.verdict == "not distinguishable from chance" else found


def place(found: float) -> float:
    """Where a number of `beyond` is drawn, from 0 to 1: logarithmic, chance's reach always at the same place.

    >>> place(0.0), round(place(1.0), 3), place(CAP), place(math.inf)
    (0.0, 0.228, 1.0, 1.0)
    """
    return min(math.log1p(found) / math.log1p(CAP), 1.0)


def times(found: float) -> str:
    """The number in two digits, or whole.

    >>> times(0.0), times(0.234), times(3.14159), times(37.4), times(1234.0)
    ('0', '0.23', '3.1', '37', '1,234')
    """
    if found < 0.005:
        return "0"
    return f"{found:.2f}" if found < 0.995 else f"{found:.1f}" if found < 9.95 else count(round(found))


def _against_chance(evidence: Evidence) -> float | None:
    null = evidence.null
    if null is not None and all(map(math.isfinite, (evidence.statistic, null.median, null.upper))):
        reach = null.upper - null.median
        # a spread that is rounding is none
        if reach > 1e-12 * max(abs(null.upper), abs(null.median)):
            return (evidence.statistic - null.median) / reach
    q = evidence.p if evidence.q is None else evidence.q
    return None if q is None else _z(q) / _z(_LEVEL)


def _z(p: float) -> float:
    return -NormalDist().inv_cdf(min(max(p, _SMALLEST), 1.0 - 1e-12))

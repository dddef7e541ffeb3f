"""Counts as rates: exact intervals, and what a number of tables would notice.

A family, or several pooled, is called too high when more than c of n tables make a false claim, with the least c that a
true rate of 5% exceeds with a chance of at most 5%.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, binom

ALLOWED = 0.05  # rate of false claims that is promised
RISK = 0.05  # chance of a false alarm
SURE = 0.95  # chance of noticing
_MOST = 2000  # tables, beyond which nobody asks


def exact_interval(x: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of a rate.

    >>> exact_interval(0, 20)
    (0.0, 0.168...)
    """
    tail = (1.0 - level) / 2.0
    low = float(beta.ppf(tail, x, n - x + 1)) if x else 0.0
    high = float(beta.ppf(1.0 - tail, x + 1, n - x)) if x < n else 1.0
    return low, high


def most_allowed(n: int) -> int:
    """The least c with P(more than c of n) of at most 5% at a true rate of 5%.

    >>> most_allowed(298)
    21
    """
    return int(binom.isf(RISK, n, ALLOWED))


def chance_of_notice(n: int, rate: float) -> float:
    """Probability that n tables with this true rate are called too high."""
    return float(binom.sf(most_allowed(n), n, rate))


def noticed_rate(n: int) -> float:
    """The smallest true rate that n tables notice with probability .95."""
    if chance_of_notice(n, 1.0) < SURE:
        return 1.0
    return float(brentq(lambda rate: chance_of_notice(n, rate) - SURE, ALLOWED, 1.0))


def tables_needed(rate: float = 0.10) -> int:
    """The least number of tables from which this rate is always noticed with probability .95.

    >>> tables_needed()
    321
    """
    n = np.arange(1, _MOST + 1)
    missed = np.flatnonzero(binom.sf(binom.isf(RISK, n, ALLOWED), n, rate) < SURE)
    return int(n[missed[-1]]) + 1 if len(missed) else 1

"""How often chance does as well as the data, also where no draw did.

p of a few draws cannot be smaller than one in as many. Beyond the upper quarter of the draws their largest values are
taken to fall off like an exponential law whose mean is not known better than m of them tell: the chance of another to
lie x beyond is (1 + x / (m mean))^-m, the predictive law, which is a Pareto law. A quarter of the draws reach that far.
"""

from __future__ import annotations

import numpy as np

from assay.arrays import Array
from assay.linalg.noise.monte_carlo import rank_p

_UPPER = 0.25
_FEWEST = 10  # values in the upper quarter below which nothing is said of its shape


def tail_p(found: float, drawn: Array) -> float:
    """P of a value beside (n,) draws of chance: its rank, and beyond the largest of many draws the tail.

    >>> drawn = np.arange(99.0)
    >>> tail_p(50.0, drawn), tail_p(200.0, drawn) < 0.001
    (0.5, True)
    """
    rank = rank_p(int((drawn >= found).sum()), len(drawn))
    m = int(_UPPER * len(drawn))
    if m < _FEWEST or found <= drawn.max():
        return rank
    ordered = np.sort(drawn)
    start = ordered[-m - 1]
    mean = float((ordered[-m:] - start).mean())
    if mean <= 0.0:
        return rank
    return float(min(rank, m / len(drawn) * (1.0 + (found - start) / (m * mean)) ** -m))

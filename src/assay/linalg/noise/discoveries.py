"""How many of several findings chance may have made: q by Benjamini and Hochberg.

    q_(i) = min over j >= i of p_(j) m / j        p_(1) <= ... <= p_(m)

Reference: Benjamini and Hochberg, Controlling the false discovery rate, JRSS B 57 (1995).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array


def benjamini_hochberg(p: ArrayLike) -> Array:
    """(m,) the share of false findings at most, if each with a p as small is one.

    >>> benjamini_hochberg([0.04, 0.01, 0.03]).round(3)
    array([0.04, 0.03, 0.04])
    """
    own = np.asarray(p, dtype=np.float64)
    order = np.argsort(own, kind="stable")
    scaled = own[order] * (len(own) / np.arange(1, len(own) + 1))
    q = np.empty_like(own)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return q

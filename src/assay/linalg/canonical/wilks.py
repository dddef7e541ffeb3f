"""Wilks' lambda of two sets of columns and what chance does to it.

    lambda = prod (1 - r_k^2)     r_k the canonical correlations; of groups r^2 = l / (1 + l), l between over within
    chance   Rao's F, exact where a side has one or two columns: normal columns, sides that know nothing of each other

Reference: Rao, Bull. Int. Stat. Inst. 33 (1951).
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc

from assay.arrays import Array


def log_lambda(correlations: Array) -> float:
    """Logarithm of Wilks' lambda.

    Args:
        correlations: (k,) canonical ones.

    >>> round(log_lambda(np.array([0.6])), 6)
    -0.446287
    """
    return float(np.log(np.maximum(1.0 - correlations**2, 1e-300)).sum())


def wilks_p(correlations: Array, n: int, p: int, q: int) -> float:
    """Probability that chance makes a lambda as small.

    Args:
        correlations: (k,) canonical ones.
        n: rows.
        p, q: independent columns of both sides; of g groups q is g - 1.

    >>> round(wilks_p(np.array([0.5]), 20, 1, 1), 8)  # that of Student's t for a correlation of .5 in 20 rows
    0.02476956
    """
    many = p * p + q * q - 5
    s = np.sqrt((p * p * q * q - 4) / many) if many > 0 else 1.0
    free = (n - 1 - (p + q + 1) / 2) * s - p * q / 2 + 1
    return float(fdtrc(p * q, free, np.expm1(-log_lambda(correlations) / s) * free / (p * q)))

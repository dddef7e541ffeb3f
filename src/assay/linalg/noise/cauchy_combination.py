"""Several p-values of one hypothesis in one, however they depend on each other.

    T = sum w_i tan(pi (1/2 - p_i)),  p = 1/2 - arctan(T) / pi

Small p are added by their reciprocals, so that the smallest decides; for small p the law holds under any dependence.
Reference: Liu and Xie, Cauchy combination test, JASA 115 (2020).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array

_SMALL = 1e-8  # below, tan(pi (1/2 - p)) is 1 / (pi p) to full precision


def cauchy_combined(p: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """(...) one p of several along the first axis.

    Args:
        p: (m, ...) probabilities.
        weights: (m,) that sum to 1; equal if not given.

    >>> float(cauchy_combined([0.001, 0.5, 0.7]).round(4))
    0.003
    """
    given = np.clip(np.asarray(p, dtype=np.float64), 1e-300, 1.0 - 1e-12)
    m = len(given)
    w = np.full(m, 1.0 / m) if weights is None else np.asarray(weights, dtype=np.float64)
    heights = np.where(given < _SMALL, 1.0 / (np.pi * given), np.tan(np.pi * (0.5 - given)))
    total = np.tensordot(w, heights, axes=1)
    far = total > 1.0 / (np.pi * _SMALL)
    return np.asarray(np.where(far, 1.0 / (np.pi * np.maximum(total, 1.0)), 0.5 - np.arctan(total) / np.pi))

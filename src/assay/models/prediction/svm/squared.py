"""The machine whose slacks are squared.

    primal   min over w, b of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i f_i)^2,   f = <w, phi(x)> + b
    dual     min over a >= 0 of  1/2 a^T (Q + D) a - sum a,   y^T a = 0,  D = diag(1 / (2 C_i)):  no bound above

D is a ridge on the kernel matrix; the slack of a row is a_i / (2 C_i).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.arrays import Array
from assay.optimize.smo.smo import SMO


def ridge(prices: Array) -> Array:
    """(m,) the diagonal of D."""
    return np.asarray(0.5 / prices)


def with_gap(found: SMO, y: Array, prices: Array) -> SMO:
    """A solution of the dual with its duality gap: variables without a bound have none that slopes tell.

    Args:
        found: the solution; its gradient is (Q + D) a - 1.
        y: (m,) signs.
        prices: (m,) C of each row.
    """
    a, D = found.alpha, ridge(prices)
    of_kernel = y * (found.gradient + 1.0 - D * a)  # K (y a)
    square = max(float((y * a) @ of_kernel), 0.0)
    slack = np.maximum(1.0 - y * (of_kernel - found.rho), 0.0)
    primal = 0.5 * square + float(prices @ slack**2)
    return replace(found, duality_gap=max(primal + found.objective, 0.0))

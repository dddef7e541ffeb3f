"""The machine whose share of margin errors is given, in place of the price that leads to it.

    primal   min over w, b, r of  1/2 |w|^2 - nu r + sum_i p_i max(0, r - y_i (<w, phi(x_i)> + b)),   sum p = 1
    dual     min over a of  1/2 a^T Q a,   the a of either class sum to nu / 2,  0 <= a_i <= p_i

Each class is a line of `optimize.smo`. With G = K (y a) the conditions give y_i G_i = r + y_i rho on the edges of the
margin; divided by r this is the machine of price p / r, a / r its weights, and so it is judged. At most a share nu of
the weight of the rows lies within the margin, and at least that share has a_i > 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from assay.arrays import Array
from assay.linalg.one_thread import one_blas_thread
from assay.optimize.smo.rows import KernelRows
from assay.optimize.smo.smo import SMO, judged, smo

_NONE = 1e-5  # of the spread of the rows: hulls nearer to each other meet
_TRIES = 8


def most_nu(y: Array, shares: Array) -> float:
    """The largest nu that rows of two signs allow: each class has to bear half of it.

    >>> most_nu(np.array([1.0, 1.0, -1.0]), np.full(3, 1 / 3))
    0.6666666666666666
    """
    return float(2.0 * min(shares[y > 0].sum(), shares[y < 0].sum()) / shares.sum())


def solve_nu(
    kernel: KernelRows, y: Array, shares: Array, nu: float, unit: float, how: dict[str, Any]
) -> tuple[SMO, float] | None:
    """The machine as that of a price, and the price for a unit of share; None where the classes leave no margin.

    Args:
        kernel: of the rows.
        y: (m,) signs.
        shares: (m,) p, by which prices are in proportion to each other; of any sum.
        nu: share of the rows.
        unit: root mean square distance of the rows to their mean, in feature space.
        how: options of `optimize.smo.smo`.
    """
    p, tol, before = shares / shares.sum(), how["tol"], None
    allowed = tol * (0.1 * nu * unit**2 or 1.0)
    for _ in range(_TRIES):
        found = _solved(kernel, y, p, nu, before, {**how, "tol": allowed})
        r = 0.5 * float(found.rhos[0] - found.rhos[1])
        # the nearest points of the reduced hulls are w / (nu / 2) apart
        apart = float(np.sqrt(max(2.0 * found.objective, 0.0))) / (0.5 * nu)
        if apart <= _NONE * unit or r <= 0.0:
            return None
        if found.violation <= tol * r or not found.converged:
            break
        before, allowed = found, 0.5 * tol * r
    ones = np.ones(len(y))
    machine = judged(found.alpha / r, found.gradient / r - 1.0, -ones, 0.0, p / r, signs=y, tol=tol)
    machine = replace(
        machine,
        # where no weight of a class lies between its bounds many offsets are as good: the middle of each class's own
        rho=0.5 * float(found.rhos.sum()) / r,
        iterations=found.iterations,
        kernel_rows_computed=found.kernel_rows_computed,
        precision=found.precision,
        reason="" if machine.converged else found.reason or "rounding hides the rest; raise tol, or rescale the data",
    )
    return machine, float(1.0 / (r * shares.sum()))


def _solved(kernel: KernelRows, y: Array, p: Array, nu: float, before: SMO | None, how: dict[str, Any]) -> SMO:
    start: dict[str, Any] = {}
    if before is not None:
        start = {"start": before.alpha, "start_gradient": before.gradient}
    lines: dict[str, Any] = {"lines": (y < 0).astype(np.int64), "total": [0.5 * nu, -0.5 * nu]}
    with one_blas_thread():
        return smo(kernel, np.zeros(len(y)), 0.0, p, signs=y, **lines, **start, **how)

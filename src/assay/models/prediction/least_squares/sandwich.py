"""Covariance of least squares coefficients whose errors have variances of their own, from one pass over the rows.

rows       a_i = (w^-1/2, F^T (x_i - m)), (1 + r): columns about their mean where their products are the identity
sandwich   sum_i v_i e_i^2 / (1 - h_i)^k a_i a_i^T       e_i what the fit leaves of row i
k          HC0 and HC1 0, HC2 1, HC3 2                   HC1 times n / freedom
weights    a row counted f times: v = f, h = |a|^2       "frequency"
           a row of precision w:  v = w^2, h = w |a|^2   "precision", as of rows times root w

Reference: MacKinnon and White, J. Econometrics 29, 1985.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.engine.current import map_reduce
from assay.summary.moments.accumulate import chunk_rows
from assay.summary.regression.least_squares import LeastSquaresSolution
from assay.summary.regression.regression import Part, RegressionTable

POWERS = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}
_ITS_OWN = 1e-10  # one less the leverage of a row that the fit goes through whatever its target


@dataclass(frozen=True, slots=True, eq=False)
class Sandwich:
    """Covariances in the coordinates above.

    Attributes:
        middle: (p, i + r, i + r) one for each target; i is 1 with an intercept.
        leverage: the largest of a row.
    """

    middle: Array
    leverage: float

    @property
    def undefined(self) -> bool:
        """Whether some row determines its own fit, so that what is left of it says nothing about its error."""
        return self.leverage > 1.0 - _ITS_OWN


def sandwich(
    table: RegressionTable, found: LeastSquaresSolution, kind: str, *, intercept: bool, precision: bool
) -> Sandwich:
    """Read the rows once more.

    Args:
        table: the rows that were fitted.
        found: their solution, with degrees of freedom left.
        kind: "HC0" to "HC3".
        intercept: whether there is one.
        precision: what weights mean, see above.
    """
    root, coef, d, p = found.fit.root, found.fit.coef, table.d, table.p
    first, power, width = int(intercept), POWERS[kind], root.shape[1] + int(intercept)
    mean, target, own = found.centre[:d], found.centre[d:], found.weight**-0.5

    def work(part: Part) -> tuple[Array, float]:
        _, rows, targets, weights, _ = part
        total, most = np.zeros((p, width, width)), 0.0
        step = chunk_rows(d + width)
        for i in range(0, len(rows), step):
            here = slice(i, i + step)
            about = rows[here] - mean
            off = targets[here] - target - about @ coef
            w = np.ones(len(off)) if weights is None else weights[here]
            A = np.empty((len(off), width))
            A[:, :first] = own
            A[:, first:] = about @ root
            h = np.einsum("ij,ij->i", A, A) * (w if precision else 1.0)
            h[w == 0.0] = 0.0
            most = max(most, float(h.max()))
            v = (w**2 if precision else w) / np.maximum(1.0 - h, _ITS_OWN) ** power
            for k in range(p):
                total[k] += (A * (v * off[:, k] ** 2)[:, None]).T @ A
        return total, most

    middle, most = map_reduce(table.blocks(), work, lambda a, b: (a[0] + b[0], max(a[1], b[1])))
    return Sandwich(middle, most)

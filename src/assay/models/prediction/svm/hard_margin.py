"""The hard margin: the widest gap between two classes, or the proof that there is none worth the name.

    dual      max  sum a - 1/2 a^T Q a,  y^T a = 0,  a >= 0           bounded exactly when the classes are separable
    hulls     p = sum over y=1 of a_i phi_i / s,  q = the same for y=-1,  s = sum a / 2: points of both convex hulls
    bound     the margin, half the distance between the hulls, is at most |p - q| / 2 = sqrt(a^T Q a) / sum a

The price C of a soft margin is raised, each solution the start of the next. Once no a_i reaches C the price
played no part: this is the hard margin. Otherwise sum a grows with C while a^T Q a does not, and the bound falls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Whole
from assay.optimize.smo.smo import SMO

_NONE = 1e-5  # of the spread of the rows: a narrower margin is none
_RAISE = 8.0  # factor between prices


@dataclass(frozen=True, slots=True, eq=False)
class HardMargin:
    """What was found at the last price.

    Attributes:
        found: the solution; of the hard margin if `separable`.
        separable: whether no variable is held back by the price.
        largest_margin: no boundary has a wider one.
        unit: root mean square distance of the rows to their mean, in feature space.
        price: the last one tried.
        inside: rows that lie within the margin or beyond it at that price, the worst first.
    """

    found: SMO
    separable: bool
    largest_margin: float
    unit: float
    price: float
    inside: Whole

    @property
    def decided(self) -> bool:
        """Whether it is separable, or proved not to be, rather than short of steps."""
        return self.separable or self.largest_margin <= _NONE * self.unit


def hard_margin(solve: Callable[[float, SMO | None], SMO], signs: Array, unit: float) -> HardMargin:
    """Find the widest margin between rows of two signs.

    Args:
        solve: from a price, and what was found for a lower one, to the solution of the soft margin.
        signs: (n,) of 1 and -1, both there.
        unit: root mean square distance of the rows to their mean, in feature space.

    >>> from assay.optimize.smo.smo import smo
    >>> from assay.optimize.smo.rows import MatrixRows
    >>> x, y = np.array([-1.0, 0.0, 2.0]), np.array([-1.0, -1.0, 1.0])
    >>> hard = hard_margin(lambda C, _: smo(MatrixRows(np.outer(x, x)), -np.ones(3), 0.0, C, signs=y), y, 1.2)
    >>> hard.separable, round(hard.largest_margin, 6)
    (True, 1.0)
    """
    price, found = 1.0 / unit**2, None
    while True:
        found = solve(price, found)
        held = found.alpha >= price
        total = float(found.alpha.sum())
        length = float(np.sqrt(max(0.0, 2.0 * (found.objective + total))))
        slack = np.where(held, signs * found.rho - found.gradient, -np.inf)
        inside = np.argsort(-slack, kind="stable")[: int(held.sum())]
        hard = HardMargin(found, found.converged and not held.any(), length / total, unit, price, inside)
        if hard.decided or not found.converged:
            return hard
        price *= _RAISE

"""How large squared Mahalanobis distances of normal rows get when mean and covariance were estimated.

    new row, plain estimate        d^2 ~ r (n^2 - 1) / (n (n - r)) F(r, n - r)                          exact
    new row, shrunk estimate       d^2 ~ a F(f, g), first three cumulants by `shrinkage.inflation`      approximate
    row among the n fitted ones    d^2 moved to what it were, had the row been left out

At ridge 0 the second is the first. The third turns a fitted row into a new one for an estimate of n - 1 rows; for the
plain estimate this is the same as Wilks' law n d^2 / (n - 1)^2 ~ Beta(r / 2, (n - 1 - r) / 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, fdtrc

from assay.arrays import Array
from assay.linalg.normal.shrinkage import inflation

# Range of f / g: F(f, g) is a chi-square below it, and beyond it heavier in the tail than any sum of squares is.
_FLATTEST, _HEAVIEST = 1e-6, 9.0


@dataclass(frozen=True, slots=True, eq=False)
class DistanceLaw:
    """The law of squared distances of normal rows by the estimate keep S + ridge I of n rows.

    Attributes:
        values: (r,) eigenvalues of S that are not zero.
        d: number of columns.
        n: number of rows, or the sum of their weights.
        keep: factor of S.
        ridge: factor of the identity; 0 for the plain estimate, which sees the r directions only.

    >>> law = DistanceLaw(np.ones(3), 3, 50.0)
    >>> float(law.tail(law.quantile(0.001)).round(12))
    0.001

    References:
        Wilks, Sankhya A 25, 1963; Gnanadesikan & Kettenring, Biometrics 28, 1972.
    """

    values: Array
    d: int
    n: float
    keep: float = 1.0
    ridge: float = 0.0

    def tail(self, squares: Array | float, *, fitted: bool = False) -> Array:
        """Chance of a squared distance at least so large.

        Args:
            squares: squared distances, of any shape.
            fitted: whether they are of rows that took part in the estimate.
        """
        t = np.asarray(squares, dtype=np.float64)
        rows = self.n - 1.0 if fitted else self.n
        scale, f, g = self._matched(rows)
        return np.asarray(fdtrc(f, g, (self._left_out(t) if fitted else t) / scale))

    def quantile(self, level: float) -> float:
        """The squared distance that a new row exceeds with this chance."""
        scale, f, g = self._matched(self.n)
        rest = float(betaincinv(g / 2.0, f / 2.0, level))  # the small side, which keeps its digits
        return scale * (1.0 - rest) / rest * g / f

    def _left_out(self, squares: Array) -> Array:
        """Sherman and Morrison: the distance from the others, shrunk as far, of a row that was among the n."""
        n = self.n
        # a row alone in a direction has the largest possible distance, and is infinitely far from the others
        rest = np.maximum(1.0 - self.keep * squares * n / (n - 1.0) ** 2, 0.0)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            moved = (n / (n - 1.0)) ** 2 * (n - 2.0) / (n - 1.0) * squares / rest
        return np.where(rest > 0.0, moved, np.inf)

    def _matched(self, rows: float) -> tuple[float, float, float]:
        """Scale a and degrees of freedom f, g of the law a F(f, g) for an estimate from so many rows."""
        r = len(self.values)
        if self.ridge == 0.0:
            return r * (rows**2 - 1.0) / (rows * (rows - r)), r, rows - r
        # the values go with the rows they are of, whichever row is left out afterwards
        first, second, third = inflation(self.values, self.d, self.n - 1.0, self.keep, self.ridge)
        # with x = f / g:  first = a f,  second = a^2 f (1 + x),  third = a^3 f (1 + x) (1 + 2 x)
        bend = third * first / second**2
        x = float(np.clip((bend - 1.0) / max(2.0 - bend, 1e-300), _FLATTEST, _HEAVIEST))
        f = first**2 * (1.0 + x) / second
        g = f / x
        # g + 1 and its factor make this the law of the plain estimate as ridge falls to 0, for few rows too
        return first * g / (g + 1.0) * (1.0 + 1.0 / rows), f, g + 1.0

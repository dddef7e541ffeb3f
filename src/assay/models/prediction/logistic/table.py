"""Coefficients with what their likelihood says about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from assay.models.base import Array


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientTable:
    """Coefficients of a logistic regression, one row each, the intercept first.

    Attributes:
        names: (c,) columns; "(intercept)" for the intercept.
        classes: (c,) the class whose score it belongs to; for two classes always the second.
        coef: (c,) estimates.
        std_error: (c,) roots of the diagonal of the inverse curvature.
        z: (c,) estimates in standard errors.
        p: (c,) two-sided, of a z as large if the coefficient were zero (Wald).
        lower, upper: (c,) ends of the confidence interval.
        level: its level.
    """

    names: tuple[str, ...]
    classes: NDArray[Any]
    coef: Array
    std_error: Array
    z: Array
    p: Array
    lower: Array
    upper: Array
    level: float

    @classmethod
    def of(
        cls, names: tuple[str, ...], classes: NDArray[Any], coef: Array, std_error: Array, level: float
    ) -> CoefficientTable:
        """The table of estimates and their standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            z = coef / std_error
        width = float(ndtri(0.5 + 0.5 * level)) * std_error
        p = np.asarray(2.0 * ndtr(-np.abs(z)))
        return cls(names, classes, coef, std_error, z, p, coef - width, coef + width, level)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dictionary for each coefficient."""
        for i, name in enumerate(self.names):
            yield {
                "name": name,
                "class": self.classes[i],
                **{key: float(getattr(self, key)[i]) for key in ("coef", "std_error", "z", "p", "lower", "upper")},
            }

    def __str__(self) -> str:
        """The table as text."""
        several = len(set(map(str, self.classes))) > 1
        labels = [f"{c}: {name}" if several else name for name, c in zip(self.names, self.classes, strict=True)]
        wide = max(map(len, labels))
        head = f"{'':<{wide}} {'coef':>11} {'std error':>11} {'z':>8} {'p':>9}   {100 * self.level:g}% interval"
        lines = [
            f"{label:<{wide}} {self.coef[i]:>11.5g} {self.std_error[i]:>11.5g} {self.z[i]:>8.3f} {self.p[i]:>9.3g}"
            f"   {self.lower[i]:.5g} to {self.upper[i]:.5g}"
            for i, label in enumerate(labels)
        ]
        return "\n".join([head, *lines])

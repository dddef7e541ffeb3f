"""Coefficients as a table: estimate, standard error, interval, t and p."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from assay.errors import ParameterError

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """What is known about each coefficient of a linear model, one entry for each; print it for a table.

    Attributes:
        names: of the columns, the intercept first where there is one.
        estimate, std_error: (k,).
        t, p: (k,) estimate over its standard error, and the chance of one so far from zero if the truth were zero.
        low, high: (k,) ends of the confidence intervals.
        confidence: of these.
        freedom: degrees of freedom of t.
        residual_sd: standard deviation of the errors.
        r_squared: explained share of the variance.
        notes: what should be known, in sentences.
    """

    names: tuple[str, ...]
    estimate: Array
    std_error: Array
    t: Array
    p: Array
    low: Array
    high: Array
    confidence: float
    freedom: float
    residual_sd: float
    r_squared: float
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        estimate: Array,
        std_error: Array,
        *,
        freedom: float,
        confidence: float,
        residual_sd: float,
        r_squared: float,
        notes: tuple[str, ...],
    ) -> Self:
        """From estimates and their standard errors, infinite where nothing is known."""
        level = 0.5 + checked_confidence(confidence) / 2.0
        with np.errstate(divide="ignore", invalid="ignore"):
            t = estimate / std_error
        known = freedom > 0.0
        p: Array = 2.0 * np.asarray(stdtr(freedom, -np.abs(t)), dtype=np.float64) if known else np.full_like(t, np.nan)
        half = stdtrit(freedom, level) * std_error if known else np.full_like(t, np.nan)
        return cls(
            tuple(map(str, names)),
            estimate,
            std_error,
            t,
            p,
            estimate - half,
            estimate + half,
            confidence,
            freedom,
            residual_sd,
            r_squared,
            notes,
        )

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = [
            f"{name:<{width}}  {b:.4g} +- {se:.4g} ({low:.4g} to {high:.4g}), t {t:.4g}, p {p:.2g}"
            for name, b, se, low, high, t, p in zip(
                self.names, self.estimate, self.std_error, self.low, self.high, self.t, self.p, strict=True
            )
        ]
        lines.append(
            f"residual sd {self.residual_sd:.4g} from {self.freedom:g} degrees of freedom, R squared "
            f"{self.r_squared:.4g}"
        )
        return "\n".join([*lines, *self.notes])


def checked_confidence(confidence: float) -> float:
    """A share between 0 and 1, or a refusal."""
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence is a share between 0 and 1; got {confidence!r}")
    return confidence

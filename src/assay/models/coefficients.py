"""What is known about each coefficient of a regression: one table and one vocabulary for all of them.

statistic   estimate / se              t of `freedom` degrees for numbers predicted, z (infinite freedom) for classes
p           chance of a statistic as far from zero, were the coefficient zero
low, high   estimate -+ quantile * se

A penalty draws estimates towards zero by an amount that se does not hold: then there is no statistic, p or interval.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from assay.arrays import Array
from assay.data.as_frames import Backend, frame_of, table_of
from assay.errors import ParameterError
from assay.shown import visible

_NUMBERS = ("estimate", "se", "statistic", "p", "low", "high")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CoefficientTable:
    """Coefficients of a regression with their errors, one row each, the intercept first; print it to read it.

    Attributes:
        names: (k,) columns; "intercept" for the intercept.
        estimate, se: (k,) coefficients and their standard errors, infinite where the rows determine nothing.
        statistic: (k,) estimate over se; NaN, as what follows, where the model is penalised.
        p: (k,) chance of a statistic so far from zero if the truth were zero, each taken alone.
        low, high: (k,) ends of the confidence intervals.
        confidence: of these.
        freedom: degrees of freedom of t; infinite where the statistic is z, normal in large samples (Wald).
        errors: how they were found: "classical", "HC0" to "HC3", or "information", the inverse curvature of the
            likelihood.
        classes: (k,) the class whose log odds against `base` the coefficient moves; None where numbers are predicted.
        base: the class compared with; None where numbers are predicted.
        notes: what should be known, in sentences.
    """

    names: tuple[str, ...]
    estimate: Array
    se: Array
    statistic: Array
    p: Array
    low: Array
    high: Array
    confidence: float
    freedom: float
    errors: str
    classes: NDArray[Any] | None = None
    base: Any = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        estimate: Array,
        se: Array,
        *,
        confidence: float,
        freedom: float = np.inf,
        errors: str = "classical",
        penalised: bool = False,
        classes: NDArray[Any] | None = None,
        base: Any = None,
        notes: tuple[str, ...] = (),
    ) -> Self:
        """From estimates and their standard errors, infinite where nothing is known.

        Args:
            names, estimate, se, confidence, freedom, errors, classes, base, notes: as above.
            penalised: whether estimates were drawn towards zero, so that nothing can be tested.
        """
        level = 0.5 + checked_confidence(confidence) / 2.0
        if penalised or not freedom > 0.0:
            statistic, p, half = (np.full_like(estimate, np.nan) for _ in range(3))
            if not penalised:
                statistic = _ratio(estimate, se)
        else:
            statistic = _ratio(estimate, se)
            normal = not np.isfinite(freedom)
            tail = ndtr(-np.abs(statistic)) if normal else stdtr(freedom, -np.abs(statistic))
            p = 2.0 * np.asarray(tail, dtype=np.float64)
            half = float(ndtri(level) if normal else stdtrit(freedom, level)) * se
        low, high = estimate - half, estimate + half
        labels = tuple(map(str, names))
        return cls(
            labels, estimate, se, statistic, p, low, high, confidence, freedom, errors, classes, base, notes
        )  # fmt: skip

    @property
    def labels(self) -> tuple[str, ...]:
        """(k,) names, with their class before them where there are several."""
        if self.classes is None or len(set(map(str, self.classes))) == 1:
            return self.names
        return tuple(f"{c}: {name}" for name, c in zip(self.names, self.classes, strict=True))

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dictionary for each coefficient."""
        for i, name in enumerate(self.names):
            own = {} if self.classes is None else {"class": self.classes[i]}
            yield {"name": name, **own, **{key: float(getattr(self, key)[i]) for key in _NUMBERS}}

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The table as a frame, one coefficient a row; what cannot be said is missing.

        Args:
            backend: "pandas", "polars" or "pyarrow"; None for the first of them that is installed.
        """
        own: dict[str, Any] = {"name": self.names}
        if self.classes is not None:
            own["class"] = list(map(str, self.classes))
        return frame_of(table_of(own | {key: getattr(self, key) for key in _NUMBERS}), backend)

    def __repr__(self) -> str:
        """The table as text."""
        return str(self)

    def _repr_html_(self) -> str:
        """The table for a notebook; names are shown as they are, never read as HTML."""
        known = [key for key in _NUMBERS if not np.isnan(getattr(self, key)).all()]
        heads = [{"statistic": "t" if np.isfinite(self.freedom) else "z"}.get(key, key) for key in known]
        head = "".join(f"<th>{name}</th>" for name in ("", *heads))
        rows = "".join(
            f'<tr><td style="text-align:left">{html.escape(visible(label))}</td>'
            + "".join(f"<td>{getattr(self, key)[i]:.4g}</td>" for key in known)
            + "</tr>"
            for i, label in enumerate(self.labels)
        )
        several = len(set(map(str, self.classes if self.classes is not None else ()))) > 1
        notes = [*([f"each class against {self.base!r}"] if several else []), *self.notes]
        said = "".join(f"<p>{html.escape(visible(note))}</p>" for note in notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{said}"

    def __str__(self) -> str:
        """The table as text; statistics and intervals where there are some."""
        labels, tested, known = (
            tuple(map(visible, self.labels)),
            not np.isnan(self.statistic).all(),
            not np.isnan(self.se).all(),
        )
        wide = max(map(len, labels))
        head, kind = f"{'':<{wide}} {'estimate':>11}", "t" if np.isfinite(self.freedom) else "z"
        if known:
            head += f" {'se':>10}"
        if tested:
            head += f" {kind:>8} {'p':>9}   {100 * self.confidence:g}% interval"
        lines = [head]
        for i, label in enumerate(labels):
            line = f"{label:<{wide}} {self.estimate[i]:>11.5g}"
            if known:
                line += f" {self.se[i]:>10.4g}"
            if tested:
                line += f" {self.statistic[i]:>8.3f} {self.p[i]:>9.3g}   {self.low[i]:.5g} to {self.high[i]:.5g}"
            lines.append(line)
        if len(set(map(str, self.classes if self.classes is not None else ()))) > 1:
            lines.append(f"each class against {self.base!r}")
        return "\n".join([*lines, *self.notes])


def checked_confidence(confidence: float) -> float:
    """A share between 0 and 1, or a refusal."""
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence is a share between 0 and 1; got {confidence!r}")
    return confidence


def _ratio(estimate: Array, se: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(estimate / se)

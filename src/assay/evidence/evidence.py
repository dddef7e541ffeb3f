"""One value for every structure found: what it measured, against which chance, on how many looks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from assay.errors import ParameterError

Verdict = Literal["supported", "suggestive", "not distinguishable from chance", "not testable here"]


@dataclass(frozen=True, slots=True)
class Null:
    """What chance alone does to a statistic.

    Attributes:
        name: the chance mechanism, in words a reader understands.
        median: the middle of the null distribution.
        upper: the value that chance exceeds with probability level.
        draws: Monte Carlo draws taken, 0 for a law in closed form.
    """

    name: str
    median: float
    upper: float
    draws: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """How well a structure stands up: p and q against chance, and its size on unseen rows.

    Attributes:
        statistic: what was measured.
        null: what chance does to it, None where nothing could be tested.
        p: probability that chance alone does as well.
        q: p corrected for every look of the study.
        held_out: the effect on rows that were not used to find the structure.
        interval: 95% interval of `held_out`, and of nothing else; None where none is known.
        stability: how much of the structure comes back when rows change, 0 to 1.
        n: rows behind the statistic.
        looks: how many looks were taken by the question this belongs to.
        method: how p was obtained, one phrase.
        verdict: see `verdict_of`.
        limit: why it cannot be supported whatever p is, such as rows that depend on each other in a way for which no
            chance is known; the best verdict is then *suggestive*. Empty where it can.

    >>> Evidence(statistic=3.1, p=.01, q=.02, held_out=.4, interval=(.3, .5), n=99, looks=8,
    ...          method="permutation", verdict="supported").verdict
    'supported'
    """

    statistic: float
    null: Null | None = None
    p: float | None = None
    q: float | None = None
    held_out: float | None = None
    interval: tuple[float, float] | None = None
    stability: float | None = None
    n: int = 0
    looks: int = 1
    method: str = ""
    verdict: Verdict = "not testable here"
    limit: str = ""

    def __post_init__(self) -> None:
        if self.limit and self.verdict == "supported":
            object.__setattr__(self, "verdict", "suggestive")
        if self.verdict not in get_args(Verdict):
            raise ParameterError(f"a verdict is one of {', '.join(get_args(Verdict))}; got {self.verdict!r}")
        for name in ("p", "q"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= 1.0:
                raise ParameterError(f"{name} is a probability between 0 and 1; got {value}")
        self._refuse_other_intervals()

    def _refuse_other_intervals(self) -> None:
        if self.interval is None:
            return
        low, high = self.interval
        held_out = math.nan if self.held_out is None else self.held_out
        # ends cut to the range of a measure may miss it by the rounding of a mean
        slack = 1e-9 * max(1.0, abs(held_out))
        outside = held_out < low - slack or held_out > high + slack
        if outside or (self.held_out is None and not (math.isnan(low) and math.isnan(high))):
            raise ParameterError(
                f"interval is that of held_out and holds it; got {low} to {high} for {self.held_out}: what else has an "
                "interval gets a name of its own"
            )

    def stricter(self, factor: float, level: float, *, effect_holds: bool) -> Evidence:
        """The same where other questions were asked too: q times the factor, and the verdict that follows.

        Args:
            factor: what the other questions cost, at least 1.
            level: level of the study.
            effect_holds: whether the effect is there on unseen rows.

        >>> found = Evidence(statistic=3.1, p=.02, q=.02, verdict="supported")
        >>> found.stricter(2.0, 0.05, effect_holds=True).q, found.stricter(3.0, 0.05, effect_holds=True).verdict
        (0.04, 'suggestive')
        """
        q = None if self.q is None else min(self.q * factor, 1.0)
        return replace(self, q=q, verdict=verdict_of(q, effect_holds=effect_holds, level=level))

    def as_dict(self) -> dict[str, Any]:
        """The evidence as JSON-ready values; what is unknown or infinite becomes None."""
        return {
            "statistic": _finite(self.statistic),
            "p": _finite(self.p),
            "q": _finite(self.q),
            "held_out": _finite(self.held_out),
            "interval": None if self.interval is None else [_finite(x) for x in self.interval],
            "stability": _finite(self.stability),
            "n": self.n,
            "looks": self.looks,
            "method": self.method,
            "verdict": self.verdict,
            "limit": self.limit,
        }


def verdict_of(q: float | None, *, effect_holds: bool, level: float = 0.05) -> Verdict:
    """Judge from the corrected p and from whether the effect is there on unseen rows.

    p alone never supports: without an effect on unseen rows the best verdict is *suggestive*.

    >>> verdict_of(.001, effect_holds=True), verdict_of(.001, effect_holds=False), verdict_of(.5, effect_holds=True)
    ('supported', 'suggestive', 'not distinguishable from chance')
    """
    if q is None:
        return "not testable here"
    if q <= level:
        return "supported" if effect_holds else "suggestive"
    return "suggestive" if q <= 2 * level and effect_holds else "not distinguishable from chance"


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)

"""How each kind of structure is spoken of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assay.evidence.evidence import Evidence, Verdict
from assay.report.numbers import fraction, number, percent, probability

BADGES: dict[Verdict, tuple[str, str]] = {
    "supported": ("✓", "Supported"),
    "suggestive": ("≈", "Suggestive"),
    "not distinguishable from chance": ("○", "Not distinguishable from chance"),
    "not testable here": ("–", "Not testable here"),
}
SURVIVED: tuple[Verdict, ...] = ("supported", "suggestive")


@dataclass(frozen=True, slots=True)
class Kind:
    """The words for one kind of structure.

    Attributes:
        noun: one of them.
        plural: several.
        statistic: what was measured.
        held_out: what the value on unseen rows is of.
        held_out_format: how to write that value.
        stability: what stability means here.
        stability_format: how to write it.
        single: whether a study has no more than one.
        part: one part of such a one, where it has parts that can be counted.
    """

    noun: str
    plural: str
    statistic: str = "statistic"
    held_out: str = ""
    held_out_format: Callable[[float | None], str] = number
    stability: str = "Comes back"
    stability_format: Callable[[float | None], str] = fraction
    single: bool = False
    part: str = ""


_KINDS = {
    "component": Kind(
        "component",
        "components",
        statistic="Eigenvalue",
        held_out="of variance",
        held_out_format=percent,
        stability="Alignment of direction",
    ),
    "prediction": Kind(
        "prediction",
        "predictions",
        statistic="Share of variance explained on unseen rows",
        held_out="of the variance explained",
        held_out_format=percent,
        single=True,
    ),
    "canonical": Kind(
        "ways in which two sets of columns go together",
        "ways in which two sets of columns go together",
        statistic="Canonical correlation",
        held_out="on unseen rows",
        stability="Alike when a fold is left out",
        single=True,
        part="way in which two sets of columns go together",
    ),
    "correlations": Kind(
        "pairs of columns that go together",
        "pairs of columns that go together",
        statistic="Strength of the strongest pair",
        held_out="for the strongest pair of one half of the rows, in the other",
        stability="Found again in half of the rows",
        stability_format=percent,
        single=True,
        part="pair of columns that go together",
    ),
    "groups": Kind(
        "groups of rows",
        "groups of rows",
        statistic="Share of variance between groups",
        held_out="prediction strength",
        held_out_format=percent,
        stability="Of the weakest group comes back",
        stability_format=percent,
        single=True,
        part="group of rows",
    ),
    "anomalies": Kind(
        "rows that do not belong",
        "rows that do not belong",
        statistic="Distance of the farthest row",
        held_out="times as far out as a typical row",
        stability="Stand out again when rows are divided anew",
        stability_format=percent,
        single=True,
        part="row that does not belong",
    ),
    "map": Kind(
        "map of the rows",
        "maps of the rows",
        statistic="Share of nearest rows kept",
        held_out="of nearest rows kept",
        held_out_format=percent,
        stability="Agreement of two starts",
        stability_format=percent,
        single=True,
    ),
}


def chances(evidence: Evidence) -> tuple[str, str]:
    """Write p and q; where no simulated draw did as well, both are bounds.

    >>> from assay.evidence.evidence import Null
    >>> chances(Evidence(statistic=3.1, p=.01, q=.02, held_out=None, interval=None, n=99, looks=8,
    ...                  method="permutation", verdict="suggestive", null=Null("shuffled", 1.0, 2.0, draws=99)))
    ('≤ .01', '≤ .02')
    """
    draws = evidence.null.draws if evidence.null else 0
    bound = draws > 0 and evidence.p is not None and evidence.p * (draws + 1) < 1 + 1e-9
    return probability(evidence.p, bound=bound), probability(evidence.q, bound=bound)


def kind_of(name: str) -> Kind:
    """Find the words for a kind; one without words of its own is called by its name.

    >>> kind_of("component").plural, kind_of("group").plural
    ('components', 'groups')
    """
    return _KINDS.get(name) or Kind(name, f"{name}s", statistic="Statistic")

"""The answer to the whole study in one line, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.asking.finding import Finding
from assay.asking.words import EXAMINED
from assay.comparison.comparison import Comparison
from assay.evidence.evidence import Verdict
from assay.study.findings import Study
from assay.views.axes.numbers import counted


@dataclass(frozen=True, slots=True)
class Headline:
    """The overall verdict.

    Attributes:
        verdict: the best verdict among the findings.
        line: the answer, one sentence.
        why: one or two sentences behind it, may be empty.
    """

    verdict: Verdict
    line: str
    why: str


def headline(study: Study) -> Headline:
    """Say in one line what the study found; finding nothing is an answer too.

    Args:
        study: the study.

    Returns:
        The best verdict, the line, and the reason.

    >>> from assay.asking.card import DataCard
    >>> from assay.study.findings import Ledger
    >>> headline(Study(DataCard("a.csv", 9, 9, ()), (), Ledger(), "0")).line
    'Nothing was tested here.'
    """
    supported = _tally(study, "supported")
    suggestive = _tally(study, "suggestive")
    if supported:
        extra = f"Suggestive only: {suggestive}." if suggestive else ""
        line = f"{supported[0].upper()}{supported[1:]} would survive a second look."
        because = " ".join(filter(None, (answer.because() for answer in study.answers.values())))
        return Headline("supported", line, f"{because} {extra}".strip())
    if suggestive:
        line = f"Nothing here is established; {suggestive} would be worth a second look."
        new = "new data" if study.data.facts else "new rows"
        return Headline("suggestive", line, f"Suggestive is less than supported: look again with {new}.")
    if any(f.evidence.verdict == "not distinguishable from chance" for f in study.findings):
        tests = f"{counted(study.ledger.looks, *EXAMINED)} in {study.data.size}"
        near = " ".join(filter(None, (answer.missed_by() for answer in study.answers.values())))
        why = f"That is an answer: of {tests} none is larger than what chance alone makes. {near}"
        return Headline("not distinguishable from chance", "Nothing here is distinguishable from chance.", why.strip())
    return Headline("not testable here", "Nothing was tested here.", _untested(study))


def _tally(study: Study, verdict: Verdict) -> str:
    """What has this verdict, question by question: `2 components of 8 and 3 groups of rows`."""
    return _together([part for answer in study.answers.values() if (part := answer.headline(verdict))])


def _together(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def _untested(study: Study) -> str:
    return "No question could be put to these data; the reasons are below." if study.findings else ""


def comparison_headline(comparison: Comparison) -> Headline:
    """Say in one line whether two tables differ.

    Args:
        comparison: the comparison.
    """
    first, second = (card.name for card in comparison.data)
    by_verdict = {verdict: _by_kind(comparison.findings, verdict) for verdict in ("supported", "suggestive")}
    if comparison.differs:
        extra = f"Suggestive only: {by_verdict['suggestive']}." if by_verdict["suggestive"] else ""
        return Headline("supported", f"{first} and {second} differ: {by_verdict['supported']}.", extra)
    if by_verdict["suggestive"]:
        line = f"Nothing differs for sure; {by_verdict['suggestive']} would be worth a second look."
        return Headline("suggestive", line, "Suggestive is less than supported: look again with new rows.")
    tested = [f for f in comparison.findings if f.evidence.verdict == "not distinguishable from chance"]
    if not tested:
        return Headline("not testable here", "Nothing could be compared here.", "")
    why = f"That is an answer: of {counted(comparison.ledger.looks, *EXAMINED)} none exceeds what chance alone makes."
    return Headline("not distinguishable from chance", f"{first} and {second} do not differ beyond chance.", why)


def _by_kind(findings: Sequence[Finding], verdict: Verdict) -> str:
    """What has this verdict, kind by kind: `2 columns and 1 pair of columns`."""
    some = [f for f in findings if f.evidence.verdict == verdict]
    kinds = dict.fromkeys(f.kind for f in some)
    alike = [[f for f in some if f.kind == kind] for kind in kinds]
    return _together([of_kind[0].spoken.several(len({f.subject for f in of_kind})) for of_kind in alike])

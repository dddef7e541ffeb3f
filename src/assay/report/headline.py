"""The answer to the whole study in one line, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.evidence.evidence import Verdict
from assay.report.kinds import Kind, kind_of
from assay.report.numbers import count, counted, percent
from assay.study.findings import Study

# where the number of parts of a structure is found: the question's numbers, and their attribute
_PARTS = {
    "groups": ("clusters", "k"),
    "anomalies": ("anomalies", "n_rows"),
    "correlations": ("correlations", "n_pairs"),
    "canonical": ("canonical", "n_pairs"),
}


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

    >>> from assay.study.findings import DataCard, Ledger
    >>> headline(Study(DataCard("a.csv", 9, 9, ()), (), Ledger(), "0")).line
    'Nothing was tested here.'
    """
    supported = _tally(study, "supported")
    suggestive = _tally(study, "suggestive")
    if supported:
        extra = f"Suggestive only: {suggestive}." if suggestive else ""
        line = f"{supported[0].upper()}{supported[1:]} would survive a second look."
        return Headline("supported", line, f"{_carried(study)} {extra}".strip())
    if suggestive:
        line = f"Nothing here is established; {suggestive} would be worth a second look."
        return Headline("suggestive", line, "Suggestive is less than supported: look again with new rows.")
    if any(f.evidence.verdict == "not distinguishable from chance" for f in study.findings):
        looks = f"{counted(study.ledger.looks, 'look')} at {counted(study.data.rows_used, 'row')}"
        why = f"That is an answer: {looks} found nothing larger than what chance alone makes. {_missed(study)}"
        return Headline("not distinguishable from chance", "Nothing here is distinguishable from chance.", why.strip())
    return Headline("not testable here", "Nothing was tested here.", _untested(study))


def _tally(study: Study, verdict: Verdict) -> str:
    """How many of each kind have this verdict, of how many that could have: `2 components of 8`."""
    parts = []
    for kind in dict.fromkeys(f.kind for f in study.findings):
        words = kind_of(kind)
        having = sum(f.kind == kind and f.evidence.verdict == verdict for f in study.findings)
        if having:
            total = max(_possible(study, kind), having)
            several = f"{counted(having, words.noun, words.plural)} of {count(total)}"
            parts.append(_single(study, kind, words) if words.single else several)
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def _single(study: Study, kind: str, words: Kind) -> str:
    """A structure of which there is one, with the number of its parts where it has any."""
    parts = _PARTS.get(kind)
    found = study.results.get(parts[0]) if parts else None
    if found is None or parts is None:
        return f"the {words.noun}"
    many = getattr(found, parts[1])
    return counted(many, words.part, words.noun) if many else f"the {words.noun}"


def _possible(study: Study, kind: str) -> int:
    result = study.results.get("components")
    if kind == "component" and result is not None:
        return len(result.values)
    return sum(f.kind == kind for f in study.findings)


def _carried(study: Study) -> str:
    result: Any = study.results.get("components")
    if result is None or not result.n_real:
        return ""
    k = min(result.n_real, len(result.held_out))
    who = "It carries" if result.n_real == 1 else f"Together the {result.n_real} above chance carry"
    seen = f"{who} {percent(float(result.share[: result.n_real].sum()))} of the variance on these rows"
    # every one tested was above chance: the tests ended before the components did
    more = " Testing stopped there; more may be real." if _stopped_early(result) else ""
    if k < result.n_real:
        return f"{seen}.{more}"
    them = "it" if result.n_real == 1 else "them"
    return f"{seen} and {percent(float(result.held_out[:k].sum()))} on rows that were not used to find {them}.{more}"


def _stopped_early(result: Any) -> bool:
    left = int(np.count_nonzero(np.asarray(result.values) > 1e-9 * result.values[0])) - result.n_real
    return bool(result.n_real == len(result.evidence) and left > 1)


def _missed(study: Study) -> str:
    """How near the largest component came, so that nothing found is not mistaken for nothing done."""
    result: Any = study.results.get("components")
    if result is None or not len(result.chance_upper) or not len(result.values) or result.values[0] <= 0:
        return ""
    needed = float(result.chance_upper[0] * result.share[0] / result.values[0])
    if not math.isfinite(needed):
        return ""
    largest = percent(float(result.share[0]))
    return f"The largest component carries {largest} of the variance; it would have to exceed {percent(needed)}."


def _untested(study: Study) -> str:
    return "No question could be put to these data; the reasons are below." if study.findings else ""

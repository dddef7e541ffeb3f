"""Findings as cards: the verdict in words, the sentence, the evidence beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.asking.finding import Finding
from assay.asking.words import BADGES, Words, chances, shown
from assay.evidence.evidence import Evidence
from assay.views.axes.numbers import count
from assay.views.html.elements import definitions, details, table
from assay.views.html.escape import escaped

CARDS = 30
_LINES = 1000


def badge(evidence: Evidence) -> str:
    """Write the verdict as a sign and words, so that colour only repeats it.

    Args:
        evidence: the evidence that was judged.
    """
    sign, words = BADGES[evidence.verdict]
    slug = evidence.verdict.split()[-1]
    return f'<span class="badge {slug}"><span aria-hidden="true">{sign}</span> {words}</span>'


def cards(findings: Sequence[Finding]) -> str:
    """Lay out findings, the first thirty as cards, the rest as a table folded away.

    Args:
        findings: the strongest first.
    """
    shown = "".join(_card(finding) for finding in findings[:CARDS])
    rest = findings[CARDS : CARDS + _LINES]
    if not rest:
        return f'<div class="cards">{shown}</div>'
    rows = [[escaped(f.sentence), BADGES[f.evidence.verdict][1], *chances(f.evidence)] for f in rest]
    more = table("The other findings", ["Finding", "Verdict", "p", "q"], rows, numeric=(2, 3))
    beyond = len(findings) - CARDS - len(rest)
    tail = f"<p>{count(beyond)} more are in the JSON of this report.</p>" if beyond else ""
    return f'<div class="cards">{shown}</div>{details(f"{count(len(rest))} more", more + tail)}'


def _card(finding: Finding) -> str:
    evidence, words = finding.evidence, finding.spoken
    name = f"finding-{'-'.join(escaped(finding.id).split())}"  # a blank would make two ids of one
    return (
        f'<article class="card {evidence.verdict.split()[-1]}" id="{name}" aria-labelledby="{name}-sentence">'
        f'<p class="verdict">{badge(evidence)}</p>'
        f'<h3 id="{name}-sentence">{escaped(finding.sentence)}</h3>'
        f"{_gauge(evidence, words)}{definitions(shown(evidence, words))}"
        f"{details('One by one', finding.inside) if finding.inside else ''}</article>"
    )


def _gauge(evidence: Evidence, words: Words) -> str:
    """Draw the statistic beside what chance reaches; the same numbers stand below it in words."""
    null, write = evidence.null, words.statistic_format
    if null is None or not all(map(math.isfinite, (evidence.statistic, null.upper))):
        return ""
    top = max(evidence.statistic, null.upper, 0.0) * 1.06
    if top <= 0:
        return ""
    found, chance = (max(value, 0.0) / top * 100 for value in (evidence.statistic, null.upper))
    return (
        f'<div class="gauge" style="--found:{found:.1f}%;--chance:{chance:.1f}%">'
        f'<div class="track" aria-hidden="true"><i class="by-chance"></i><i class="found"></i></div>'
        f"<p>{escaped(words.statistic)} <b>{write(evidence.statistic)}</b>; "
        f"chance alone reaches <b>{write(null.upper)}</b></p></div>"
    )

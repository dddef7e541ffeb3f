"""Findings as cards: the verdict in words, the sentence, the evidence beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.evidence.evidence import Evidence
from assay.report.elements import definitions, details, table
from assay.report.escape import escaped
from assay.report.kinds import BADGES, Kind, chances, kind_of
from assay.report.numbers import count, number
from assay.study.findings import Finding

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
    evidence, kind = finding.evidence, kind_of(finding.kind)
    name = f"finding-{'-'.join(escaped(finding.id).split())}"  # a blank would make two ids of one
    return (
        f'<article class="card {evidence.verdict.split()[-1]}" id="{name}" aria-labelledby="{name}-sentence">'
        f'<p class="verdict">{badge(evidence)}</p>'
        f'<h3 id="{name}-sentence">{escaped(finding.sentence)}</h3>'
        f"{_gauge(evidence, kind)}{definitions(_evidence(evidence, kind))}</article>"
    )


def _evidence(evidence: Evidence, kind: Kind) -> list[tuple[str, str]]:
    p, q = chances(evidence)
    pairs = [("p", p.removeprefix("= ")), ("q, all looks", q.removeprefix("= "))]
    if evidence.held_out is not None:
        pairs.append(("On unseen rows", _held_out(evidence, kind)))
    if evidence.stability is not None:
        pairs.append((kind.stability, kind.stability_format(evidence.stability)))
    return [
        *pairs,
        ("Rows", count(evidence.n)),
        ("Looks", count(evidence.looks)),
        ("Method", evidence.method),
    ]


def _held_out(evidence: Evidence, kind: Kind) -> str:
    said = f"{kind.held_out_format(evidence.held_out)} {kind.held_out}".strip()
    if evidence.interval is None:
        return said
    low, high = (kind.held_out_format(end) for end in evidence.interval)
    return f"{said} ({low} to {high})"


def _gauge(evidence: Evidence, kind: Kind) -> str:
    """Draw the statistic beside what chance reaches; the same numbers stand below it in words."""
    null = evidence.null
    if null is None or not all(map(math.isfinite, (evidence.statistic, null.upper))):
        return ""
    top = max(evidence.statistic, null.upper, 0.0) * 1.06
    if top <= 0:
        return ""
    found, chance = (max(value, 0.0) / top * 100 for value in (evidence.statistic, null.upper))
    return (
        f'<div class="gauge" style="--found:{found:.1f}%;--chance:{chance:.1f}%">'
        f'<div class="track" aria-hidden="true"><i class="by-chance"></i><i class="found"></i></div>'
        f"<p>{escaped(kind.statistic)} <b>{number(evidence.statistic)}</b>; "
        f"chance alone reaches <b>{number(null.upper)}</b></p></div>"
    )

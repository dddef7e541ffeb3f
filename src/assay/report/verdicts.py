"""Findings as rows: the verdict in one line each, the strongest first, and what stands behind it folded away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.asking.beyond import CAP, place, times
from assay.asking.finding import Finding, a_few_of_each, strongest_first
from assay.asking.words import BADGES, LINE, chances, odds, shown
from assay.evidence.evidence import Evidence
from assay.views.axes.numbers import MISSING, count, counted
from assay.views.html.elements import definitions, details
from assay.views.html.escape import escaped
from assay.views.html.searchable import searchable

_HEADS = ("Finding", "Kind", "Verdict", "Times as far as chance reaches", "q, every test counted")


@dataclass(frozen=True, slots=True)
class Behind:
    """What stands behind a finding, beside its evidence.

    Attributes:
        reading: how to read it, plain text.
        guide: the page of the documentation that says more.
        views: ids and titles of its figures and tables on the page.
    """

    reading: str = ""
    guide: str = ""
    views: tuple[tuple[str, str], ...] = ()


def badge(evidence: Evidence) -> str:
    """Write the verdict as a sign and words, so that colour only repeats it.

    Args:
        evidence: the evidence that was judged.
    """
    sign, words = BADGES[evidence.verdict]
    slug = evidence.verdict.split()[-1]
    return f'<span class="badge {slug}"><span aria-hidden="true">{sign}</span> {words}</span>'


def verdicts(findings: Sequence[Finding], identifier: str, behind: Mapping[str, Behind] | None = None) -> str:
    """List findings, a few of each kind as rows that unfold, the rest in one table to search.

    Args:
        findings: in any order; one or more.
        identifier: of the list, from which its table takes its id.
        behind: what stands behind them, by their ids.
    """
    first, rest = a_few_of_each(strongest_first(findings))
    rows = "".join(_row(finding, (behind or {}).get(finding.id, Behind())) for finding in first)
    listed = f'{_scale()}<ol class="verdicts">{rows}</ol>'
    if not rest:
        return listed
    cells = [
        [
            f.line,
            f.spoken.noun,
            BADGES[f.evidence.verdict][1],
            MISSING if f.beyond_chance is None else times(f.beyond_chance),
            chances(f.evidence)[1].removeprefix("= "),
        ]
        for f in rest
    ]
    many = Counter((f.spoken.noun, f.spoken.plural) for f in rest).most_common(3)
    kinds = ", ".join(counted(n, *words) for words, n in many)
    more = searchable(
        f"{identifier}-more", "The other findings, the strongest first", _HEADS, cells, numeric=(3, 4), choices=(1, 2),
        of="a finding", first=LINE,
    )  # fmt: skip
    return f'{listed}<div class="more">{details(f"{count(len(rest))} more: {kinds}", more)}</div>'


def how_to_read(reading: str, guide: str) -> str:
    """Two sentences, and the page of the documentation that says more; empty where nothing is said.

    Args:
        reading: the sentences, plain text.
        guide: the name of the page inside the documentation.
    """
    more = f" More in the documentation of assay: <code>docs/{escaped(guide)}</code>." if guide else ""
    return f'<p class="how">{escaped(reading)}{more}</p>' if reading else ""


def gauge(finding: Finding) -> str:
    """How far a finding lies beyond chance: a dot on the one scale of all findings, and the same in words.

    Args:
        finding: the finding.
    """
    found = finding.beyond_chance
    if found is None:
        return '<span class="gauge none"></span>'
    words = f"{times(found)} times as far as chance reaches one time in twenty"
    far = " far" if found > CAP else ""
    return (
        f'<span class="gauge{far}" role="img" aria-label="{words}" title="{words}" '
        f'style="--found:{place(found):.1%};--reach:{place(1.0):.1%}">'
        f'<span class="track"><i class="by-chance"></i><i class="found"></i></span><b>{times(found)}×</b></span>'
    )


def _scale() -> str:
    return (
        '<p class="scale">Dots show how far a finding lies beyond chance, on one scale for all: 0 is what chance '
        "usually makes, the mark at 1 what it reaches one time in twenty, 10 ten times as far. A row unfolds to its "
        "evidence.</p>"
    )


def _row(finding: Finding, behind: Behind) -> str:
    evidence = finding.evidence
    name = f"finding-{'-'.join(escaped(finding.id).split())}"  # a blank would make two ids of one
    links = ", ".join(f'<a href="#{escaped(where)}">{escaped(title)}</a>' for where, title in behind.views)
    views = f'<p class="links">Drawn in: {links}.</p>' if links else ""
    inside = f'<div class="inside">{finding.inside}</div>' if finding.inside else ""
    told = how_to_read(behind.reading, behind.guide)
    reading = f"<h4>How to read this</h4>{told}" if told else ""
    slug = evidence.verdict.split()[-1]
    return (
        f'<li class="verdict {slug}" id="{name}"><details><summary>{badge(evidence)}'
        f'<h3 class="line">{escaped(finding.line)}</h3>{gauge(finding)}<span class="odds">{odds(evidence)}</span>'
        f'</summary><div class="behind"><p class="sentence">{escaped(finding.sentence)}</p>'
        f"{definitions(shown(evidence, finding.spoken))}{inside}{reading}{views}"
        "</div></details></li>"
    )

"""Findings for the terminal: sober at 80 columns, and the same without colour when piped."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from assay.asking.finding import Finding
from assay.asking.words import BADGES, SURVIVED, evidence_line
from assay.report.headline import headline
from assay.study.findings import Study
from assay.views.escape import visible
from assay.views.numbers import count, counted

_STYLES = {
    "supported": "bold green",
    "suggestive": "bold yellow",
    "not distinguishable from chance": "dim",
    "not testable here": "dim",
}
_PROBLEMS = 5
# consoles that know no more than Latin-1 still show these
_PLAIN = str.maketrans({"−": "-", "–": "-", "≤": "<=", "…": "...", "∞": "inf"})


def render(study: Study, *, width: int = 80) -> str:
    """Write the study as plain text.

    Args:
        study: the study.
        width: characters per line.

    Returns:
        Lines without trailing blanks, with a newline at the end.

    >>> from assay.asking.card import DataCard
    >>> from assay.study.findings import Ledger
    >>> print(render(Study(DataCard("a.csv", 9, 9, ()), (), Ledger(), "0.1.0")).splitlines()[0])
    a.csv: 9 rows, 0 of 0 columns used
    """
    file = io.StringIO()
    show(study, Console(file=file, width=width, color_system=None, force_terminal=False, legacy_windows=False))
    return file.getvalue()


def show(study: Study, console: Console) -> None:
    """Print the study on a console, with colour where the console has it.

    Args:
        study: the study.
        console: a rich console.
    """
    for indent, style, words in _lines(study):
        lines = Text(visible(words).translate(_PLAIN), style=style).wrap(console, max(console.width - indent, 20))
        for line in lines or [Text()]:
            line.rstrip()
            console.print(Text(" " * indent if line.plain else "") + line, soft_wrap=True, highlight=False)


def _lines(study: Study) -> Iterator[tuple[int, str, str]]:
    """Paragraphs as (indent, style, words); words may come from the data and are not yet safe to show."""
    answer = headline(study)
    used = sum(column.used for column in study.data.columns)
    rows = counted(study.data.rows_used, "row")
    if study.data.rows_used != study.data.rows:
        rows = f"{count(study.data.rows_used)} of {counted(study.data.rows, 'row')}"
    yield 0, "", f"{study.data.name}: {rows}, {count(used)} of {counted(len(study.data.columns), 'column')} used"
    if study.data.duplicates is not None:
        yield 0, "", study.data.duplicates.sentence()
    for note in study.data.notes:
        yield 0, "yellow", f"Note: {note}"
    problems = study.data.problems
    for problem in problems[:_PROBLEMS]:
        yield 0, "yellow", f"While reading: {problem}"
    if len(problems) > _PROBLEMS:
        yield 0, "yellow", f"While reading: {count(len(problems) - _PROBLEMS)} more, listed on the page."
    yield 0, "", ""
    yield 0, "bold", answer.line
    if answer.why:
        yield 0, "", answer.why
    stood = [f for f in study.findings if f.evidence.verdict in SURVIVED]
    fell = [f for f in study.findings if f.evidence.verdict not in SURVIVED]
    for title, findings in (("Findings", stood), ("What did not survive", fell)):
        if findings:
            yield 0, "", ""
            yield 0, "bold", title
        for finding in findings:
            yield from _finding(finding)
    yield 0, "", ""
    yield 0, "", _ledger(study)


def _finding(finding: Finding) -> Iterator[tuple[int, str, str]]:
    verdict = finding.evidence.verdict
    yield 2, _STYLES[verdict], BADGES[verdict][1]
    yield 4, "", finding.sentence
    yield 4, "dim", evidence_line(finding.evidence, finding.spoken)


def _ledger(study: Study) -> str:
    ledger = study.ledger
    asked = "; ".join(
        f"{q.question} {counted(q.looks, 'look')}, {counted(q.tests, 'test')} ({q.correction})"
        for q in ledger.questions
    )
    silent = "".join(f" Not asked: {q.question} {q.why[:1].upper()}{q.why[1:]}." for q in ledger.not_asked)
    opening = f"Ledger: {counted(ledger.looks, 'look')} at alpha {ledger.alpha:g}, seed {ledger.seed}"
    together = f" {ledger.together}" if ledger.together else ""
    return (f"{opening}: {asked}." if asked else f"{opening}.") + together + silent

"""Findings for the terminal: sober at 80 columns, and the same without colour when piped."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from rich.console import Console
from rich.text import Text

from assay.asking.card import DataCard
from assay.asking.finding import Finding, a_few_of_each, strongest_first
from assay.asking.words import BADGES, EXAMINED, SURVIVED, evidence_line
from assay.report.headline import Headline, headline
from assay.study.findings import Ledger, Study
from assay.views.axes.numbers import count, counted
from assay.views.html.escape import visible

Line: TypeAlias = tuple[int, str, str]

_STYLES = {
    "supported": "bold green",
    "suggestive": "bold yellow",
    "not distinguishable from chance": "dim",
    "not testable here": "dim",
}
_PROBLEMS = 5
# consoles that know no more than Latin-1 still show these
_PLAIN = str.maketrans({"−": "-", "–": "-", "≤": "<=", "…": "...", "∞": "inf", "→": "->"})


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
    say(_lines(study), console)


def say(lines: Iterable[Line], console: Console) -> None:
    """Print paragraphs, wrapped to the console.

    Args:
        lines: indent, style and words of each; words may come from the data.
        console: a rich console.
    """
    for indent, style, words in lines:
        wrapped = Text(visible(words).translate(_PLAIN), style=style).wrap(console, max(console.width - indent, 20))
        for line in wrapped or [Text()]:
            line.rstrip()
            console.print(Text(" " * indent if line.plain else "") + line, soft_wrap=True, highlight=False)


def _lines(study: Study) -> Iterator[Line]:
    """Paragraphs as (indent, style, words); words may come from the data and are not yet safe to show."""
    yield from card_lines(study.data)
    yield from answer_lines(headline(study), study.findings, study.ledger)


def card_lines(data: DataCard) -> Iterator[Line]:
    """What was read and what is to be known of it.

    Args:
        data: the card.
    """
    if data.facts:
        yield 0, "", f"{data.name}: {', '.join(data.facts)}"
    else:
        yield 0, "", f"{data.name}: {_rows_and_columns(data)}"
    if data.duplicates is not None:
        yield 0, "", data.duplicates.sentence()
    for note in data.notes:
        yield 0, "yellow", f"Note: {note}"
    for problem in data.problems[:_PROBLEMS]:
        yield 0, "yellow", f"While reading: {problem}"
    if len(data.problems) > _PROBLEMS:
        yield 0, "yellow", f"While reading: {count(len(data.problems) - _PROBLEMS)} more, listed on the page."


def _rows_and_columns(data: DataCard) -> str:
    used = sum(column.used for column in data.columns)
    rows = counted(data.rows_used, "row")
    if data.rows_used != data.rows:
        rows = f"{count(data.rows_used)} of {counted(data.rows, 'row')}"
    return f"{rows}, {count(used)} of {counted(len(data.columns), 'column')} used"


def answer_lines(answer: Headline, findings: Sequence[Finding], ledger: Ledger) -> Iterator[Line]:
    """The answer in one line, what it rests on, and how much was tested.

    Args:
        answer: the line.
        findings: in any order.
        ledger: of all tests.
    """
    yield 0, "", ""
    yield 0, "bold", answer.line
    if answer.why:
        yield 0, "", answer.why
    yield from finding_lines(findings)
    yield 0, "", ""
    yield from ledger_lines(ledger)


def finding_lines(findings: Sequence[Finding]) -> Iterator[Line]:
    """Findings under two headings, those that stood up and the others, the strongest first; a few of many of a kind.

    Args:
        findings: in any order.
    """
    ordered = strongest_first(findings)
    stood = [f for f in ordered if f.evidence.verdict in SURVIVED]
    fell = [f for f in ordered if f.evidence.verdict not in SURVIVED]
    for title, some in (("Findings", stood), ("What did not survive", fell)):
        if some:
            yield 0, "", ""
            yield 0, "bold", title
            yield from _listed(some)


def _listed(findings: Sequence[Finding]) -> Iterator[Line]:
    """Lines under their verdicts, each with how often chance does as well and how far beyond it lies."""
    first, rest = a_few_of_each(findings)
    for verdict, some in groupby(first, key=lambda finding: finding.evidence.verdict):
        yield 2, _STYLES[verdict], BADGES[verdict][1]
        for finding in some:
            yield 4, "", finding.line
            if said := evidence_line(finding.evidence):
                yield 6, "dim", said
    if rest:
        yield 4, "dim", f"and {count(len(rest))} more, listed on the page and in the JSON"


def ledger_lines(ledger: Ledger) -> Iterator[Line]:
    """How much was examined and tested, and what was not asked; the page has every question.

    Args:
        ledger: of the study.
    """
    tests = sum(question.tests for question in ledger.questions)
    asked = f"{counted(ledger.looks, *EXAMINED)} by {counted(tests, 'test')}"
    questions = counted(len(ledger.questions), "question")
    spent = "" if ledger.effort == "standard" else f", {ledger.effort} effort"
    yield 0, "", f"{asked} for {questions}, level {ledger.level:g}, seed {ledger.seed}{spent}."
    yield 0, "", "The page and --json have every finding in full, with its numbers, and what each question tested."
    for silent in ledger.not_asked:
        yield 0, "dim", f"Not asked: {silent.question} {silent.why[:1].upper()}{silent.why[1:]}."

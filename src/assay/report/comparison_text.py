"""A comparison for the terminal, in the same dress as a study."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from assay.comparison.comparison import Comparison
from assay.report.headline import comparison_headline
from assay.report.text import Line, answer_lines, card_lines, say


def show(comparison: Comparison, console: Console) -> None:
    """Print a comparison on a console, with colour where the console has it.

    Args:
        comparison: the comparison.
        console: a rich console.
    """
    say(_lines(comparison), console)


def _lines(comparison: Comparison) -> Iterator[Line]:
    for card in comparison.data:
        yield from card_lines(card)
    for note in comparison.notes:
        yield 0, "yellow", f"Note: {note}"
    yield from answer_lines(comparison_headline(comparison), comparison.findings, comparison.ledger)

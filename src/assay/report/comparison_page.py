"""Two tables side by side as one HTML file that needs nothing else."""

from __future__ import annotations

import numpy as np

from assay.asking.card import Column
from assay.asking.words import EXAMINED, SURVIVED
from assay.comparison.comparison import Comparison, Spread
from assay.report.data_section import ledger_section, problems_list, reading_section
from assay.report.document import document, opening, text_of
from assay.report.headline import comparison_headline
from assay.report.verdicts import Behind, verdicts
from assay.views.axes.numbers import count, counted, number, percent
from assay.views.columns.two_histograms import levels_beside, overlaid
from assay.views.html.elements import NAME, name_cell, table
from assay.views.html.escape import escaped, visible
from assay.views.html.searchable import CELL

DRAWN = 60
_GUIDE = "guide/compare.md"
_LISTED = 500
_LEVELLED = ("category", "boolean")


def render(comparison: Comparison, *, framed: bool = False) -> str:
    """Write a comparison as a page; the same comparison gives the same bytes.

    Args:
        comparison: the comparison.
        framed: whether it is shown in a frame of a notebook, where links within the page need help.

    Returns:
        HTML.
    """
    stood = [f for f in comparison.findings if f.evidence.verdict in SURVIVED]
    fell = [f for f in comparison.findings if f.evidence.verdict not in SURVIVED]
    behind = {f.id: Behind(f.spoken.reading, _GUIDE) for f in comparison.findings}
    nothing = '<p>Nothing differs beyond chance. What was looked at is <a href="#fallen">below</a>.</p>'
    parts = [
        ("findings", "What differs", verdicts(stood, "findings", behind) if stood else nothing),
        ("beside", "Both tables, column by column", _spreads(comparison)),
        ("fallen", "What does not differ beyond chance", verdicts(fell, "fallen", behind) if fell else ""),
        ("ledger", "Everything that was tested", ledger_section(comparison.ledger)),
        ("data", "The data", _data(comparison)),
        ("reading", "How to read this", reading_section(comparison.findings)),
    ]
    name = " and ".join(card.name for card in comparison.data)
    footer = (
        f"<footer><p>Made by assay {escaped(comparison.version)}, seed {comparison.ledger.seed}. This file fetches "
        "nothing and shows shares and quartiles, no rows of the data.</p></footer>"
    )
    scripts = [text_of("tables.js") + text_of("page.js") + (text_of("framed.js") if framed else "")]
    return document(name, comparison.version, _header(comparison, name), parts, footer, scripts)


def _header(comparison: Comparison, name: str) -> str:
    facts = [f"{counted(card.rows_used, 'row')} of {escaped(card.name, NAME)}" for card in comparison.data]
    facts += [
        f"{counted(len(comparison.spreads), 'column')} compared",
        counted(comparison.ledger.looks, *EXAMINED),
    ]
    notes = [f"{card.name}: {note}" for card in comparison.data for note in card.notes]
    return opening("assay compare", name, facts, comparison_headline(comparison), [*comparison.notes, *notes])


def _spreads(comparison: Comparison) -> str:
    """Every column compared, as small drawings; those that differ first."""
    if not comparison.spreads:
        return ""
    stood = {f.subject for f in comparison.findings if f.kind == "column" and f.evidence.verdict in SURVIVED}
    ranked = sorted(comparison.spreads, key=lambda spread: spread.name not in stood)
    items = "".join(_spread(spread, comparison, spread.name in stood) for spread in ranked[:DRAWN])
    more = f"<p>{count(len(ranked) - DRAWN)} more columns are not drawn.</p>" if len(ranked) > DRAWN else ""
    first, second = (escaped(card.name, NAME) for card in comparison.data)
    key = (
        f'<ul class="key"><li><i class="first" aria-hidden="true"></i>{first}</li>'
        f'<li><i class="second" aria-hidden="true"></i>{second}</li></ul>'
    )
    words = "Shares of the rows of each table, columns that differ first. Far values are counted in the outermost bars."
    return f'{key}<p>{words}</p><ul class="histograms">{items}</ul>{more}'


def _spread(spread: Spread, comparison: Comparison, differs: bool) -> str:
    gaps = [float(np.isnan(x).mean()) for x in (spread.first, spread.second)]
    missing = f"missing {percent(gaps[0])} and {percent(gaps[1])}" if any(gaps) else "none missing"
    said = " · ".join(filter(None, (spread.kind, missing, "differs" if differs else "")))
    names = [visible(card.name, NAME) for card in comparison.data]
    head = f"<h4>{name_cell(spread.name)}</h4><p>{escaped(said, 160)}</p>"
    return f"<li>{head}{_drawing(spread, names)}</li>"


def _drawing(spread: Spread, names: list[str]) -> str:
    sides = [x[np.isfinite(x)] for x in (spread.first, spread.second)]
    if spread.kind in _LEVELLED:
        levels = spread.levels or ("no", "yes")
        counts = [np.bincount(x.astype(np.intp), minlength=len(levels)) for x in sides]
        order = np.argsort(-(counts[0] + counts[1]), kind="stable")
        shown = [visible(levels[j], NAME) for j in order]
        shares = [f"{levels[j]} {' and '.join(_share(one, j) for one in counts)}" for j in order[:7]]
        label = f"{visible(spread.name, NAME)}, shares in {names[0]} and {names[1]}: {visible(', '.join(shares), 400)}"
        return levels_beside(counts[0][order].tolist(), counts[1][order].tolist(), shown, label=label)
    middles = [number(float(np.quantile(x, 0.5, method="inverted_cdf"))) if len(x) else "none" for x in sides]
    label = f"{visible(spread.name, NAME)}: median {middles[0]} in {names[0]}, {middles[1]} in {names[1]}"
    return overlaid(*sides, whole=spread.kind in ("count", "ordered", "text"), label=label)


def _share(counts: np.ndarray, j: int) -> str:
    return percent(float(counts[j] / max(counts.sum(), 1)))


def _data(comparison: Comparison) -> str:
    """Every column of either table, what it is in both."""
    first, second = comparison.data
    known = [{column.name: column for column in card.columns} for card in comparison.data]
    names = list(dict.fromkeys([*known[0], *known[1]]))
    compared = {spread.name for spread in comparison.spreads}
    heads = ["Column", "Compared"]
    heads += [
        f"{what} in {visible(card.name, 40)}" for what in ("Kind", "Missing", "Values") for card in (first, second)
    ]
    rows = []
    for name in names[:_LISTED]:
        here = [one.get(name) for one in known]
        cells = [
            what(column, card.rows)
            for what in (_kind, _missing, _values)
            for column, card in zip(here, (first, second), strict=True)
        ]
        rows.append([name_cell(name), "yes" if name in compared else "no", *(escaped(cell, CELL) for cell in cells)])
    more = f"<p>{count(len(names) - _LISTED)} more columns are in the JSON.</p>" if len(names) > _LISTED else ""
    problems = [f"{card.name}: {problem}" for card in comparison.data for problem in card.problems]
    beside = table("Every column of either table", heads, rows, numeric=(4, 5))
    return beside + more + problems_list(problems)


def _kind(column: Column | None, rows: int) -> str:
    return "no such column" if column is None else ", ".join(filter(None, (column.kind, column.unit or "")))


def _missing(column: Column | None, rows: int) -> str:
    return "" if column is None or not rows else percent(column.missing / rows) if column.missing else "0"


def _values(column: Column | None, rows: int) -> str:
    return "" if column is None else column.typical

"""A study as one HTML file that needs nothing else: no network, no fonts, no server.

Every answer draws itself. The page knows where views belong, with the columns, the rows or the first look, and in which
order questions come; it knows no question by name, tests nothing and draws nothing at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from assay.asking.page import Page
from assay.asking.table import ROWS_SHOWN
from assay.asking.words import BADGES, SURVIVED
from assay.report.cards import cards
from assay.report.data_section import data_section, ledger_section, reading_section
from assay.report.first_look import array_views
from assay.report.headline import headline
from assay.report.histograms import histograms
from assay.study.findings import Study
from assay.views.elements import details, section
from assay.views.embed import embed, library
from assay.views.escape import escaped
from assay.views.figure_file import behaviour, policy
from assay.views.numbers import count, counted
from assay.views.view import About, View

_ABREAST = 60


def render(study: Study, *, order: Sequence[str] = ()) -> str:
    """Write a study as a page; the same study gives the same bytes.

    Args:
        study: the study.
        order: columns to draw first in the array plot; the rest by kind.

    Returns:
        HTML.

    >>> from assay.asking.card import DataCard
    >>> from assay.study.findings import Ledger
    >>> render(Study(DataCard("a.csv", 9, 9, ()), (), Ledger(), "0.1.0"))[:15]
    '<!doctype html>'
    """
    page = Page(study.answers.values(), alpha=study.ledger.alpha)
    answered = [list(answer.views(page)) for answer in study.answers.values()]
    first = array_views(study.look, order=tuple(order)) if study.look is not None else []
    views = [*(view for views in answered for view in views), *first]
    figures = {view.name: view.figure for view in views if view.figure is not None}
    script, places = embed(figures)
    own = _text("tables.js") + _text("page.js")
    scripts = [library(), script, behaviour() + own] if figures else [own]
    parts = [
        ("findings", "Findings", _findings(study)),
        ("views", "The views behind this", _views(study, answered, places)),
        ("fallen", "What did not survive", _fallen(study)),
        ("ledger", "The ledger of looks", ledger_section(study)),
        ("first-look", "A first look at the data", _first_look(study, first, answered, places)),
        ("data", "The data", data_section(study)),
        ("reading", "How to read this", reading_section(study)),
    ]
    parts = [part for part in parts if part[2]]
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in parts)
    body = "".join(section(name, title, content) for name, title, content in parts)
    title = escaped(study.data.name, 120)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{policy(scripts)}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="generator" content="assay {escaped(study.version)}">\n'
        f"<title>{title} – assay</title>\n<style>\n{_text('page.css')}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#findings">Skip to the findings</a>\n{_header(study)}\n'
        f'<nav aria-label="On this page"><ul>{links}</ul></nav>\n<main>{body}</main>\n{_footer(study)}\n'
        f"{''.join(f'<script>{text}</script>' for text in scripts)}\n</body>\n</html>\n"
    )


def _text(name: str) -> str:
    return resources.files("assay.report").joinpath(name).read_text(encoding="utf-8")


def _header(study: Study) -> str:
    answer, data = headline(study), study.data
    used = sum(column.used for column in data.columns)
    facts = [
        f"{counted(data.rows_used, 'row')}"
        if data.rows == data.rows_used
        else f"{count(data.rows_used)} of {counted(data.rows, 'row')}",
        f"{count(used)} of {counted(len(data.columns), 'column')} used",
        counted(study.ledger.looks, "look"),
    ]
    if data.problems:
        facts.append(f'<a href="#problems">{counted(len(data.problems), "problem")} while reading</a>')
    notes = "".join(f"<li>{escaped(note)}</li>" for note in data.notes)
    warning = (
        '<aside class="notes" aria-labelledby="notes"><h2 id="notes">Before you rely on this</h2>'
        f"<ul>{notes}</ul></aside>"
    )
    return (
        f'<header><p class="brand">assay report</p><h1>{escaped(data.name, 120)}</h1>'
        f'<p class="facts">{" · ".join(facts)}</p>'
        f'<div class="answer {answer.verdict.split()[-1]}">'
        f'<p class="sign" aria-hidden="true">{BADGES[answer.verdict][0]}</p>'
        f'<div><p class="line">{escaped(answer.line)}</p><p class="why">{escaped(answer.why)}</p></div></div>'
        f"{warning if notes else ''}</header>"
    )


def _findings(study: Study) -> str:
    stood = [f for f in study.findings if f.evidence.verdict in SURVIVED]
    if stood:
        return cards(stood)
    return (
        '<p>No structure stood up. What was looked for is listed under <a href="#fallen">what did not survive</a>.</p>'
    )


def _fallen(study: Study) -> str:
    fallen = [f for f in study.findings if f.evidence.verdict not in SURVIVED]
    return cards(fallen) if fallen else "<p>Nothing: every structure that was tested stood up.</p>"


def _views(study: Study, answered: list[list[View]], places: dict[str, str]) -> str:
    """Figures and tables about the columns, then those about the rows, then remarks on what is not drawn."""
    columns, rows = (_figures(_about(answered, about), places) for about in ("columns", "rows"))
    content = columns + _blocks(answered, "columns")
    if rows:
        content += (
            f"<h3>The rows</h3><p>{_scope_of_rows(study)} "
            "Select rows in one view, by dragging over them or touching one, and they are selected in all.</p>"
            '<p class="selected"><output id="selected-rows" aria-live="polite">No rows are selected.</output></p>'
            f"{rows}"
        )
    return content + _blocks(answered, "rows")


def _about(answered: list[list[View]], about: About) -> list[list[View]]:
    return [[view for view in views if view.about == about] for views in answered]


def _figures(groups: list[list[View]], places: dict[str, str], layout: str = "figures") -> str:
    """Figures two abreast, those of one answer together: where one leaves a gap, another of odd number comes next."""
    left = [drawn for views in groups if (drawn := [view for view in views if view.figure is not None])]
    shown: list[View] = []
    while left:
        odd = len(shown) % 2 == 1
        fits = next((i for i, views in enumerate(left) if len(views) % 2 == 1), 0) if odd else 0
        shown += left.pop(fits)
    content = "".join(_figure(view, places[view.name]) for view in shown)
    return f'<div class="{layout}">{content}</div>' if shown else ""


def _blocks(answered: list[list[View]], about: About) -> str:
    """Tables under a heading, and remarks."""
    views = [view for group in _about(answered, about) for view in group if view.figure is None]
    tables = "".join(f"<h3>{escaped(view.title)}</h3>{view.numbers}" for view in views if view.numbers)
    return tables + "".join(f"<p class=aside>{escaped(view.caption)}</p>" for view in views if not view.numbers)


def _scope_of_rows(study: Study) -> str:
    """Which rows are drawn, and how they are numbered."""
    n = study.data.rows_used
    numbered = "counted from 1" if study.data.rows == n else "counted from 1 among the rows used"
    if n <= ROWS_SHOWN:
        return f"All {count(n)} rows are drawn, {numbered}."
    return f"{count(ROWS_SHOWN)} rows, a fair sample of {count(n)}, are drawn; rows are {numbered}."


def _first_look(study: Study, first: list[View], answered: list[list[View]], places: dict[str, str]) -> str:
    if study.look is None:
        return ""
    alone = "figures alone" if len(study.look.columns) > _ABREAST else "figures"
    figures = _figures([[*first, *(view for group in _about(answered, "table") for view in group)]], places, alone)
    return figures + _blocks(answered, "table") + histograms(study.look, study.data)


def _figure(view: View, place: str) -> str:
    key = "".join(f'<li><i class="{swatch}" aria-hidden="true"></i>{escaped(words)}</li>' for swatch, words in view.key)
    numbers = details("The numbers", view.numbers) if view.numbers else ""
    name = escaped(view.name)
    return (
        f'<figure aria-labelledby="{name}-title" aria-describedby="{name}-caption">'
        f'<h3 id="{name}-title">{escaped(view.title)}</h3><ul class="key">{key}</ul>{place}'
        "<noscript><p>The figure needs JavaScript.</p></noscript>"
        f'<figcaption><p id="{name}-caption">{escaped(view.caption)}</p>{numbers}</figcaption></figure>'
    )


def _footer(study: Study) -> str:
    return (
        f"<footer><p>Made by assay {escaped(study.version)}, seed {study.ledger.seed}. This file holds its own figures "
        "and fetches nothing; it shows row numbers, scores and, of columns that go together, values; no whole rows of "
        "the data.</p></footer>"
    )

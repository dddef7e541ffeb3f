"""A study as one HTML file that needs nothing else: no network, no fonts, no server.

Every answer draws itself. The page knows where views belong, with the columns, the rows or the first look, and in which
order questions come; it knows no question by name, tests nothing and draws nothing at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from assay.asking.card import DataCard
from assay.asking.finding import strongest_first
from assay.asking.found import found
from assay.asking.page import Page
from assay.asking.table import ROWS_SHOWN
from assay.asking.words import EXAMINED, SURVIVED
from assay.report.data_section import data_section, ledger_section, reading_section
from assay.report.document import document, opening, text_of
from assay.report.explore import explorable, explore_section, privacy_words
from assay.report.first_look import array_views
from assay.report.headline import headline
from assay.report.histograms import histograms
from assay.report.verdicts import Behind, how_to_read, verdicts
from assay.study.findings import Study
from assay.views.axes.numbers import count, counted
from assay.views.html.elements import details
from assay.views.html.embed import embed, library
from assay.views.html.escape import escaped
from assay.views.html.figure_file import behaviour
from assay.views.html.view import About, View

_ABREAST = 60


def render(study: Study, *, order: Sequence[str] = (), include_rows: bool = False, framed: bool = False) -> str:
    """Write a study as a page; the same study gives the same bytes.

    Args:
        study: the study.
        order: columns to draw first in the array plot; the rest by kind.
        include_rows: whether the page may hold rows as they came; without it values are coarse.
        framed: whether it is shown in a frame of a notebook, where links within the page need help.

    Returns:
        HTML.

    >>> from assay.asking.card import DataCard
    >>> from assay.study.findings import Ledger
    >>> render(Study(DataCard("a.csv", 9, 9, ()), (), Ledger(), "0.1.0"))[:15]
    '<!doctype html>'
    """
    page = Page(study.answers.values(), level=study.ledger.level, include_rows=include_rows)
    answered = [list(answer.views(page)) for answer in study.answers.values()]
    first = array_views(study.look, order=tuple(order)) if study.look is not None else []
    explored = explorable(study, page)
    views = [*(view for views in answered for view in views), *first, *([explored.view] if explored else [])]
    figures = {view.name: view.figure for view in views if view.figure is not None}
    script, places = embed(figures)
    own = text_of("tables.js") + text_of("page.js") + text_of("explore.js")
    own += text_of("framed.js") if framed else ""
    scripts = [library(), script, behaviour() + own] if figures else [own]
    behind = _behind(study, answered)
    answered = _in_order(study, answered)
    parts = [
        ("findings", "Findings", _findings(study, behind)),
        ("views", "The views behind this", _views(study, answered, places)),
        (
            "explore",
            "Explore",
            explore_section(explored, places.get("explore", ""), study.data.units, above=_rows_drawn(answered)),
        ),
        ("fallen", "What did not survive", _fallen(study, behind)),
        ("ledger", "Everything that was tested", ledger_section(study.ledger)),
        ("first-look", "A first look at the data", _first_look(study, first, answered, places)),
        ("data", "The data", data_section(study)),
        ("reading", "How to read this", reading_section(study.findings)),
    ]
    return document(study.data.name, study.version, _header(study), parts, _footer(study, include_rows), scripts)


def _header(study: Study) -> str:
    answer, data = headline(study), study.data
    facts = [
        *map(escaped, data.facts or _rows_and_columns(data)),
        counted(study.ledger.looks, *EXAMINED),
    ]
    if data.problems:
        facts.append(f'<a href="#problems">{counted(len(data.problems), "problem")} while reading</a>')
    return opening("assay report", data.name, facts, answer, data.notes)


def _rows_and_columns(data: DataCard) -> tuple[str, str]:
    used = sum(column.used for column in data.columns)
    rows = "" if data.rows == data.rows_used else f"{count(data.rows_used)} of "
    return f"{rows}{counted(data.rows, 'row')}", f"{count(used)} of {counted(len(data.columns), 'column')} used"


def _behind(study: Study, answered: list[list[View]]) -> dict[str, Behind]:
    """By the id of each finding, how to read it and where it is drawn."""
    drawn = {
        name: tuple((f"{view.name}-title", view.title) for view in views if view.figure is not None)
        for name, views in zip(study.answers, answered, strict=True)
    }
    return {f.id: Behind(*_reading(f.question), drawn.get(f.question, ())) for f in study.findings}


def _reading(name: str) -> tuple[str, str]:
    """How the answer to a question is read, and the page that says more; both may be empty."""
    known = next((question for question in found().questions if question.name == name), None)
    return ("", "") if known is None else (known.reading, known.guide)


def _in_order(study: Study, answered: list[list[View]]) -> list[list[View]]:
    """The views in the order of the findings that they are behind."""
    order = list(dict.fromkeys(f.question for f in strongest_first(study.findings)))
    place = {question: k for k, question in enumerate(order)}
    named = sorted(zip(study.answers, answered, strict=True), key=lambda one: place.get(one[0], len(place)))
    return [_with_reading(views, name) for name, views in named]


def _with_reading(views: list[View], name: str) -> list[View]:
    """The same, where the first figure of the answer says how to read it."""
    told = how_to_read(*_reading(name))
    first = next((i for i, view in enumerate(views) if view.figure is not None), None)
    if first is None or not told:
        return views
    return [*views[:first], replace(views[first], reading=told), *views[first + 1 :]]


def _findings(study: Study, behind: dict[str, Behind]) -> str:
    stood = [f for f in study.findings if f.evidence.verdict in SURVIVED]
    if stood:
        return verdicts(stood, "findings", behind)
    return (
        '<p>No structure stood up. What was looked for is listed under <a href="#fallen">what did not survive</a>.</p>'
    )


def _fallen(study: Study, behind: dict[str, Behind]) -> str:
    fallen = [f for f in study.findings if f.evidence.verdict not in SURVIVED]
    return (
        verdicts(fallen, "fallen", behind)
        if fallen
        else "<p>Nothing: every question found something that stood up.</p>"
    )


def _views(study: Study, answered: list[list[View]], places: dict[str, str]) -> str:
    """Figures and tables about the columns, then those about the rows, then remarks on what is not drawn."""
    columns, rows = (_figures(_about(answered, about), places) for about in ("columns", "rows"))
    content = columns + _blocks(answered, "columns")
    if rows:
        one, several = study.data.units
        scope = "" if study.data.facts else f"{_scope_of_rows(study)} "
        content += (
            f"<h3>The {several}</h3><p>{scope}<span class=on-screen>"
            f"Select {several} in one view, by dragging over them or touching one, and they are selected in all."
            "</span></p>"
            f'<p class="selected"><output id="selected-rows" data-one="{one}" data-several="{several}" '
            f'aria-live="polite">No {several} are selected.</output></p>{rows}'
        )
    return content + _blocks(answered, "rows")


def _rows_drawn(answered: list[list[View]]) -> bool:
    return any(view.figure is not None for view in chain.from_iterable(_about(answered, "rows")))


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
    """Tables under a heading, beside each other where they fit, and remarks."""
    views = [view for group in _about(answered, about) for view in group if view.figure is None]
    tables = "".join(f"<div><h3>{escaped(view.title)}</h3>{view.numbers}</div>" for view in views if view.numbers)
    flowing = f'<div class="blocks">{tables}</div>' if tables else ""
    return flowing + "".join(f"<p class=aside>{escaped(view.caption)}</p>" for view in views if not view.numbers)


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
    reading = details("How to read this", view.reading) if view.reading else ""
    name = escaped(view.name)
    return (
        f'<figure aria-labelledby="{name}-title" aria-describedby="{name}-caption">'
        f'<h3 id="{name}-title">{escaped(view.title)}</h3><ul class="key">{key}</ul>{place}'
        "<noscript><p>The figure needs JavaScript.</p></noscript>"
        f'<figcaption><p id="{name}-caption">{escaped(view.caption)}</p>{reading}{numbers}</figcaption></figure>'
    )


def _footer(study: Study, include_rows: bool) -> str:
    return (
        f"<footer><p>Made by assay {escaped(study.version)}, seed {study.ledger.seed}. This file holds its own figures "
        f"and fetches nothing. {privacy_words(study, include_rows)}</p></footer>"
    )

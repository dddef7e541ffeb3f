"""A study as one HTML file that needs nothing else: no network, no fonts, no server."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

from assay.report.anomaly_views import anomaly_views
from assay.report.cards import cards
from assay.report.component_views import (
    View,
    loading_tables,
    rows_source,
    scope_of_rows,
    score_views,
    spectrum_views,
)
from assay.report.correlation_views import canonical_views, correlation_views
from assay.report.data_section import data_section, ledger_section, reading_section
from assay.report.elements import details, section
from assay.report.escape import escaped
from assay.report.first_look import array_views
from assay.report.group_views import group_names, group_table, group_views
from assay.report.headline import headline
from assay.report.histograms import histograms
from assay.report.kinds import BADGES, SURVIVED
from assay.report.map_views import map_views
from assay.report.numbers import count, counted
from assay.report.prediction_views import prediction_table, prediction_views
from assay.study.findings import DataCard, Study
from assay.study.first_look import FirstLook
from assay.views.embed import embed, library
from assay.views.figure_file import behaviour, policy

_ABREAST = 60


def render(study: Study, *, order: Sequence[str] = ()) -> str:
    """Write a study as a page; the same study gives the same bytes.

    Args:
        study: the study.
        order: columns to draw first in the array plot; the rest by kind.

    Returns:
        HTML.

    >>> from assay.study.findings import DataCard, Ledger
    >>> render(Study(DataCard("a.csv", 9, 9, ()), (), Ledger(), "0.1.0"))[:15]
    '<!doctype html>'
    """
    result = study.results.get("components")
    columns = _column_views(study, result)
    source = rows_source(result) if result is not None else None
    rows = _row_views(study, result, source)
    look = study.results.get("first_look")
    arrays = array_views(look, order=tuple(order)) if look is not None else []
    drawn = [*columns, *rows, *arrays]
    script, places = embed({view.name: view.figure for view in drawn})
    own = _text("tables.js") + _text("page.js")
    scripts = [library(), script, behaviour() + own] if drawn else [own]
    parts = [
        ("findings", "Findings", _findings(study)),
        ("views", "The views behind this", _views(study, columns, rows, places) if columns else ""),
        ("fallen", "What did not survive", _fallen(study)),
        ("ledger", "The ledger of looks", ledger_section(study)),
        ("first-look", "A first look at the data", _first_look(study.data, look, arrays, places)),
        ("data", "The data", data_section(study)),
        ("reading", "How to read this", reading_section()),
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


def _column_views(study: Study, result: Any) -> list[View]:
    predicted = prediction_views(study.results.get("prediction"))
    linked = correlation_views(study.results.get("correlations"), study.ledger.alpha)
    others = canonical_views(study.results.get("canonical"))
    others += spectrum_views(result) if result is not None else []
    # figures stand two abreast, and the others come in twos
    return [*predicted, *linked, *others] if len(predicted) % 2 else [*predicted, *others, *linked]


def _row_views(study: Study, result: Any, source: Any) -> list[View]:
    groups = study.results.get("clusters")
    rows = score_views(result, source) if result is not None else []
    rows += group_views(groups, result, source)
    rows += map_views(study.results.get("map"), source, group_names(groups))
    return rows + anomaly_views(study.results.get("anomalies"))


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


def _views(study: Study, columns: list[View], rows: list[View], places: dict[str, str]) -> str:
    result, drawn = study.results["components"], study.results.get("map")
    content = _figures(columns, places) + prediction_table(study.results.get("prediction"))
    if result.n_real:
        heat, every = loading_tables(result)
        content += f'<h3>What the components are made of</h3><div class="heats">{heat}</div>'
        content += details(f"Find any of the {count(len(result.columns))} columns", every) if every else ""
    if rows:
        shown = len(result.score_rows) if drawn is None else len(drawn.rows)
        content += (
            "<h3>The rows</h3>"
            f"<p>{scope_of_rows(shown, result.n, all_used=study.data.rows == study.data.rows_used)} "
            "Select rows in one view, by dragging over them or touching one, and they are selected in all.</p>"
            '<p class="selected"><output id="selected-rows" aria-live="polite">No rows are selected.</output></p>'
            f"{_figures(rows, places)}"
        )
    content += group_table(study.results.get("clusters"))
    return content + "".join(f"<p class=aside>{words}</p>" for words in _not_drawn(result, drawn))


def _not_drawn(result: Any, drawn: Any) -> list[str]:
    words = []
    if not result.n_real:
        words.append("The rows are not drawn along components: their axes would be noise.")
    elif not len(result.scores):
        words.append("The rows are not drawn along the components: they were summarised, not kept.")
    if drawn is not None and drawn.evidence.verdict not in SURVIVED:
        words.append("No map of the rows is drawn: shuffled columns give one that is as good.")
    return words


def _figures(views: list[View], places: dict[str, str]) -> str:
    return f'<div class="figures">{"".join(_figure(view, places[view.name]) for view in views)}</div>'


def _first_look(data: DataCard, look: FirstLook | None, arrays: list[View], places: dict[str, str]) -> str:
    if look is None:
        return ""
    figures = "".join(_figure(view, places[view.name]) for view in arrays)
    alone = " alone" if len(look.columns) > _ABREAST else ""
    return (f'<div class="figures{alone}">{figures}</div>' if figures else "") + histograms(look, data)


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
        "and fetches nothing; it shows row numbers and scores, no rows of the data.</p></footer>"
    )

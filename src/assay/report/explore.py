"""Exploring inside the file: any two columns, any colour, filters, and how rows that are selected differ.

The page holds the rows that are drawn, one byte a cell: each number by its step, each category by its level. Only where
the rows were asked for does it hold them as they came (ADR 35). `explore.js` does the rest.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.asking.coarse import FEWEST, LEVELS, MISSING, OTHER, STEPS, pooled, stepped
from assay.asking.page import Page, PairsTold
from assay.asking.table import FirstLook
from assay.asking.words import BADGES
from assay.study.findings import Study
from assay.views.axes.numbers import count, counted, probability
from assay.views.clusters.groups import COLOURS, MARKERS
from assay.views.html.elements import NAME
from assay.views.html.escape import escaped, visible
from assay.views.html.view import View
from assay.views.rows.chosen_pair import chosen_pair
from assay.views.rows.embedding import RAMP

COLUMNS = 60
TEXTS = 8
_FEWEST = 2  # rows
_LEVEL = 60
_NUMBERS = ("number", "count", "time")
_BYTES = 1_000_000  # of values as they came
_VERDICTS = tuple(BADGES)
_GROUPS = "Groups found"


@dataclass(frozen=True, slots=True, eq=False)
class Explore:
    """What the reader explores.

    Attributes:
        view: the figure of two columns.
        held: the rows, as JSON that is no markup.
        columns: how many columns there are to choose from.
        of_columns: how many could be, if there were room.
        rows: how many rows are held.
        of_rows: how many there are.
    """

    view: View
    held: str
    columns: int
    of_columns: int
    rows: int
    of_rows: int


def explorable(study: Study, page: Page) -> Explore | None:
    """Gather what can be explored; None where there are no rows or no column with values to show.

    Args:
        study: the study.
        page: what answers offer: groups, and what was found of pairs.
    """
    look = None if study.look is None else _in_use(study.look)
    if look is None or len(look.rows) < _FEWEST:
        return None
    ranked = _ranked(study, look, page.pairs)
    most = COLUMNS if not page.include_rows else min(COLUMNS, _BYTES // (11 * len(look.rows)))
    chosen: list[int] = []
    columns: list[dict[str, Any]] = []
    for j in ranked:
        if len(chosen) == most:
            break
        if (column := _column(look, j, exact=page.include_rows)) is not None:
            chosen.append(j)
            columns.append(column)
    if not columns:
        return None
    linked = look.among_used is not None
    shown = look.rows if look.among_used is None else look.among_used
    held = {
        "rows": shown.tolist(),
        "columns": columns + _groups(page, shown),
        "pairs": _pairs(page.pairs, [look.columns[j] for j in chosen]),
        "tested": [look.columns[j] in page.pairs.columns for j in chosen],
        "unlisted": _VERDICTS.index(page.pairs.unlisted),
        "verdicts": [list(BADGES[verdict]) for verdict in _VERDICTS],
        "slugs": [verdict.split()[-1] for verdict in _VERDICTS],
        "colours": list(COLOURS),
        "shapes": list(MARKERS),
        "ramp": list(RAMP),
        "exact": page.include_rows,
        "texts": _texts(look) if page.include_rows else [],
    }
    figure = View("explore", "Two columns of your choice", chosen_pair(shown, linked=linked), about="rows")
    return Explore(figure, _literal(held), len(columns), len(ranked), len(look.rows), look.total)


def _in_use(look: FirstLook) -> FirstLook:
    """The rows that views of rows show, as far as these are known."""
    if look.among_used is None or look.among_used.all():
        return look
    kept = look.among_used > 0
    texts = {name: tuple(np.array(cells, dtype=object)[kept]) for name, cells in look.texts.items()}
    return replace(
        look, rows=look.rows[kept], values=look.values[kept], among_used=look.among_used[kept], texts=texts
    )  # fmt: skip


def _ranked(study: Study, look: FirstLook, pairs: PairsTold) -> list[int]:
    """Columns that can be chosen: those of pairs that stand, then outcomes, then all in use, then the others."""
    stands: dict[str, int] = {}
    for of, told in pairs.of.items():
        if told.verdict in ("supported", "suggestive"):
            for name in of:
                stands.setdefault(name, len(stands))
    known = {column.name: column for column in study.data.columns}

    def place(j: int) -> tuple[int, bool, bool, int]:
        name = look.columns[j]
        column = known.get(name)
        role = column is not None and bool(column.role)
        return stands.get(name, len(look.columns)), not role, not (column is not None and column.used), j

    drawable = [j for j, kind in enumerate(look.kinds) if kind in (*_NUMBERS, "ordered", "boolean", "category")]
    return sorted(drawable, key=place)


def _column(look: FirstLook, j: int, *, exact: bool) -> dict[str, Any] | None:
    """A column as the script reads it; None where it has no value."""
    name, kind, values = look.columns[j], look.kinds[j], look.values[:, j]
    told: dict[str, Any] = {"name": visible(name, NAME), "kind": kind}
    if look.units[j]:
        told["unit"] = visible(look.units[j] or "", NAME)
    if kind in ("category", "boolean") or name in look.levels:
        names = ("no", "yes") if kind == "boolean" and name not in look.levels else look.levels.get(name, ())
        if np.nanmin(values, initial=0.0) < 0.0:
            return None
        if kind == "boolean":
            codes = np.where(np.isfinite(values), values, MISSING).astype(np.uint8)
            return told | {"levels": list(names), "codes": _bytes(codes)}
        levels = pooled(values, names, ordered=kind == "ordered", fewest=1 if exact else FEWEST)
        if not levels.names:
            return None
        shown = [visible(level, _LEVEL) for level in levels.names]
        if levels.pooled:
            shown[-1] = f"{OTHER} ({counted(levels.pooled, 'level')})"
        return told | {"levels": shown, "codes": _bytes(levels.codes)}
    steps = stepped(values, log=name in look.log)
    if steps is None:
        return None
    if name in look.log and float(steps.low[0]) > -1.0:
        told["log"] = True
    if exact:
        return told | {"exact": _bytes(values.astype("<f8"))}
    return told | {"low": steps.low.tolist(), "high": steps.high.tolist(), "codes": _bytes(steps.codes)}


def _groups(page: Page, rows: np.ndarray[Any, Any]) -> list[dict[str, Any]]:
    """The groups found, as a column; none where none stand out."""
    if page.groups is None or page.group_rows is None:
        return []
    names = sorted(set(page.groups), key=lambda name: (len(name), name))[:LEVELS]
    place = {name: k for k, name in enumerate(names)}
    of_row = {int(row): place.get(name, MISSING) for row, name in zip(page.group_rows, page.groups, strict=True)}
    codes = np.array([of_row.get(int(row), MISSING) for row in rows], dtype=np.uint8)
    return [{"name": _GROUPS, "kind": "groups", "levels": names, "codes": _bytes(codes)}]


def _pairs(pairs: PairsTold, names: list[str]) -> list[list[Any]]:
    """What was found of pairs of the columns held: places, verdict, measure, size, p, q, size on unseen rows."""
    place = {name: j for j, name in enumerate(names)}
    return [
        [
            place[a], place[b], _VERDICTS.index(told.verdict), told.measure, round(told.size, 2),
            probability(told.p), probability(told.q), None if told.unseen is None else round(told.unseen, 2),
        ]
        for (a, b), told in pairs.of.items()
        if a in place and b in place
    ]  # fmt: skip


def _texts(look: FirstLook) -> list[dict[str, Any]]:
    """Identifiers and texts of the rows, for a page that was asked to show them."""
    return [
        {"name": visible(name, NAME), "cells": [visible(cell) for cell in cells]}
        for name, cells in list(look.texts.items())[:TEXTS]
    ]


def _bytes(values: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


def _literal(value: object) -> str:
    """JSON with nothing in it that is markup."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def explore_section(found: Explore | None, place: str, units: tuple[str, str], *, above: bool = True) -> str:
    """The section of the page; empty where there is nothing to explore.

    Args:
        found: what can be explored.
        place: the element that the figure goes into.
        units: one and several of what is drawn.
        above: whether other views of these stand above.
    """
    if found is None:
        return ""
    one, several = units
    which = "" if found.columns == found.of_columns else f" of {count(found.of_columns)}, those of findings first"
    rows = f"All {count(found.rows)} {several}" if found.rows == found.of_rows else (
        f"{count(found.rows)} of {count(found.of_rows)} {several}, a fair sample"
    )  # fmt: skip
    linked = (
        f"What you choose here also colours, narrows and selects in every view of {several} above. " if above else ""
    )
    where = f"in any view of {several}, above or here" if above else "here"
    return (
        f"<p>{rows}, and {counted(found.columns, 'column')}{escaped(which)}. {linked}What is found by looking around "
        "is an idea, not a finding: the study did not test it.</p>"
        '<div class="explore" id="explore-tools">'
        '<div class="tools"><label>Across <select id="explore-x"></select></label>'
        '<label>Up <select id="explore-y"></select></label>'
        '<button type="button" id="explore-swap">Swap</button>'
        '<label>Colour by <select id="explore-colour"></select></label></div>'
        '<div class="tools"><label id="explore-known-label">Pairs that stood up '
        '<select id="explore-known"></select></label></div>'
        f'<fieldset class="tools"><legend>{several.capitalize()} where</legend>'
        '<label><span class="unseen">Column to filter by</span><select id="explore-filter"></select></label>'
        '<span id="explore-levels"><label>is <select id="explore-level"></select></label></span>'
        '<span id="explore-range"><label>from <input type="number" step="any" id="explore-from"></label> '
        '<label>to <input type="number" step="any" id="explore-to"></label></span>'
        '<button type="button" id="explore-add">Show only them</button> '
        '<button type="button" id="explore-pick">Select them</button>'
        '<ul id="explore-filters" aria-label="Filters in use"></ul></fieldset>'
        '<output id="explore-left" aria-live="polite"></output></div>'
        f'<figure class="explored" aria-labelledby="explore-title" aria-describedby="explore-told">'
        f'<h3 id="explore-title">{escaped(found.view.title)}</h3>'
        '<p id="explore-told" class="told" aria-live="polite"></p><ul class="key" id="explore-key"></ul>'
        f"{place}<noscript><p>Exploring needs JavaScript.</p></noscript>"
        '<figcaption id="explore-caption"></figcaption></figure>'
        f'<div class="difference"><h3>How the selected {several} differ from the rest</h3>'
        f'<p><output id="explore-selected" data-one="{one}" data-several="{several}" data-where="{where}" '
        'aria-live="polite"></output> '
        '<button type="button" id="explore-clear" hidden>Select none</button></p>'
        '<div id="explore-difference"></div></div>'
        f'<template id="explore-data">{found.held}</template>'
    )


def privacy_words(study: Study, include_rows: bool) -> str:
    """What of the data the page holds, for its footer.

    Args:
        study: the study.
        include_rows: whether rows were asked for.
    """
    if study.look is None:
        return "It shows numbers and names of what was studied, and scores."
    if include_rows:
        return "It holds rows of the data as they came, with their identifiers: pass it on as you would the data."
    return (
        "It holds no rows of the data: of the rows drawn it has coarse values, numbers in at most "
        f"{STEPS} steps and levels that at least {FEWEST} of them have, and no identifiers or texts. To include "
        "them, use --include-rows."
    )

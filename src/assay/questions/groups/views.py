"""The groups of rows: how many stand out beside chance, where they lie, and what tells them apart."""

from __future__ import annotations

import numpy as np

from assay.asking.page import Page, Plane
from assay.asking.words import SURVIVED, listed
from assay.questions.groups.answer import Groups
from assay.views.axes.numbers import count, number, percent, probability
from assay.views.html.elements import heat_cell, name_cell, table
from assay.views.html.escape import escaped
from assay.views.html.view import View
from assay.views.rows.embedding import add_map, embedding_map

_COLUMNS = 25
_LARGEST = 3.0  # standard deviations that fill a cell


def names(found: Groups) -> list[str] | None:
    """What each row drawn is called by its group; None where no groups stand out."""
    if found.evidence.verdict not in SURVIVED:
        return None
    return [f"group {label + 1}" for label in found.drawn]


def views(found: Groups, page: Page) -> list[View]:
    """The rows in the colours of their groups, and what tells these apart; nothing where no groups stand out.

    Args:
        found: the numbers behind the finding.
        page: what figures share: the plane of the rows, where another answer offers one.
    """
    called = names(found)
    if called is None:
        return []
    plane = page.plane
    if plane is None and found.plane is not None:
        plane = Plane(found.plane, ("component 1 of the columns grouped", "component 2"))
    drawn = [] if plane is None else _drawn(found, page, plane, called)
    return [*drawn, _apart(found)]


def _drawn(found: Groups, page: Page, plane: Plane, called: list[str]) -> list[View]:
    if page.source is None:
        figure = embedding_map(plane.places, rows=found.rows + 1, groups=called, axes=plane.axes)
    else:
        figure = embedding_map(
            add_map(page.source, plane.places, prefix="g"), groups=called, prefix="g", axes=plane.axes
        )
    each = [count(int(size)) for size in found.sizes]
    sizes = " and ".join(filter(None, (", ".join(each[:-1]), each[-1])))
    return [
        View(
            "groups", "The groups on components 1 and 2", figure, (("dot soft", "a row"),),
            f"{found.k} groups, of {sizes} rows: {found.way}. Groups that overlap here may lie apart along further "
            "directions. The search is compared with the same one in tables with the same correlations and no groups.",
            _searched_table(found) + _profile_table(found), "rows",
        )
    ]  # fmt: skip


def _apart(found: Groups) -> View:
    """Where the groups lie in the columns, those that differ most first."""
    order = np.argsort(-np.asarray(found.between), kind="stable")[:_COLUMNS]
    heads = ["Column", *(f"Group {g + 1}" for g in range(found.k)), "Between groups", "By chance", "q"]
    rows = [
        [
            name_cell(found.columns[j]),
            *(heat_cell(float(found.means[g, j]), _LARGEST) for g in range(found.k)),
            percent(float(found.between[j])),
            percent(float(found.between_by_chance[j])),
            escaped(probability(float(found.column_q[j])).removeprefix("= ")),
        ]
        for j in order
    ]
    scope = (
        f"the {len(order)} that differ most of {count(len(found.columns))}" if len(found.columns) > len(order) else ""
    )
    caption = f"Means of the groups in standard deviations from the mean of all rows{'; ' + scope if scope else ''}"
    words = (
        '<p class="aside">Any grouping makes the columns differ that it was made of. "By chance" is how much of a '
        "column lies between the groups that the same search makes in tables without any; q compares with that.</p>"
    )
    heat = table(caption, heads, rows, numeric=range(1, len(heads)))
    content = f'{words}<div class="heats">{heat}</div>'
    return View("groups-apart", "What tells the groups apart", numbers=content, about="rows")


def _searched_table(found: Groups) -> str:
    rows = [[escaped(what), number(gain)] for what, gain in found.beyond]
    caption = "What was searched, and how far it is beyond chance, in its standard deviations"
    return table(caption, ["Search", "Beyond chance"], rows, numeric=(1,))


def _profile_table(found: Groups) -> str:
    heads = ["", "Rows", "Set apart by", "Coincides with", "Far from its middle", "Comes back"]
    rows = [
        [
            f"Group {g + 1}",
            count(int(found.sizes[g])),
            escaped(found.names[g] or "no single column"),
            escaped(", ".join(one.said() for one in found.coincide if one.group == g) or "no category"),
            _rows(found, g),
            percent(float(found.stability[g])),
        ]
        for g in range(found.k)
    ]
    caption = "The groups; comes back: how much of each is found again among rows drawn again"
    return table(caption, heads, rows, numeric=(1, 5))


def _rows(found: Groups, g: int) -> str:
    """Numbers of the rows of a group that are far from its middle, the first few."""
    numbers = [str(int(row) + 1) for row in found.anomalies[g]]
    return escaped(f"row {listed(numbers)}" if len(numbers) == 1 else f"rows {listed(numbers)}") if numbers else "none"

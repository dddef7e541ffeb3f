"""The groups of rows: how many stand out beside chance, where they lie, and what tells them apart."""

from __future__ import annotations

import numpy as np

from assay.asking.page import Page, Plane
from assay.asking.words import SURVIVED
from assay.questions.groups.answer import Groups
from assay.questions.groups.group_search import SIZES
from assay.views.elements import heat_cell, name_cell, table
from assay.views.embedding import add_map, embedding_map
from assay.views.escape import escaped
from assay.views.numbers import count, number, percent, probability
from assay.views.view import View

_COLUMNS = 25
_LARGEST = 3.0  # standard deviations that fill a cell


def names(found: Groups) -> list[str] | None:
    """What each row drawn is called by its group; None where no groups stand out."""
    if found.evidence.verdict not in SURVIVED:
        return None
    return [f"group {label + 1}" for label in found.labels]


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
    sizes = ", ".join(count(int(size)) for size in found.sizes)
    return [
        View(
            "groups", "The groups on components 1 and 2", figure, (("dot soft", "a row"),),
            f"{found.k} groups of {sizes} rows, found by k-means in {found.axes} dimensions. Groups that overlap here "
            "may lie apart along further ones. Numbers of groups were compared with what chance cuts out of tables "
            "with the same correlations and no groups.",
            _sizes_table(found) + _stability_table(found), "rows",
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
        "column lies between groups that k-means cuts out of tables without groups; q compares with that.</p>"
    )
    heat = table(caption, heads, rows, numeric=range(1, len(heads)))
    content = f'{words}<div class="heats">{heat}</div>'
    return View("groups-apart", "What tells the groups apart", numbers=content, about="rows")


def _sizes_table(found: Groups) -> str:
    rows = [[str(k), number(float(gain))] for k, gain in zip(SIZES, found.gains, strict=True)]
    caption = "How far the groups stand out, in standard deviations of chance"
    return table(caption, ["Groups", "Beyond chance"], rows, numeric=(0, 1))


def _stability_table(found: Groups) -> str:
    rows = [[f"Group {g + 1}", count(int(found.sizes[g])), percent(float(found.stability[g]))] for g in range(found.k)]
    return table(
        "How much of each group comes back on rows drawn again", ["", "Rows", "Comes back"], rows, numeric=(1, 2)
    )

"""The groups of rows: how many stand out beside chance, where they lie, and what tells them apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.evidence.group_search import SIZES
from assay.report.component_views import View, heat_cell
from assay.report.elements import name_cell, table
from assay.report.escape import escaped
from assay.report.kinds import SURVIVED
from assay.report.numbers import count, number, percent, probability
from assay.views.embedding import add_map, embedding_map

_COLUMNS = 25
_LARGEST = 3.0  # standard deviations that fill a cell


def group_names(found: Any) -> list[str] | None:
    """What each row drawn is called by its group; None where no groups stand out.

    Args:
        found: the numbers behind the finding on groups; None where there is none.
    """
    if found is None or found.evidence.verdict not in SURVIVED:
        return None
    return [f"group {label + 1}" for label in found.labels]


def group_views(found: Any, result: Any, source: Any) -> list[View]:
    """The rows on the two leading components, each in the colour of its group.

    Args:
        found: the numbers behind the finding on groups; None where there is none.
        result: the numbers behind the findings on components.
        source: the same rows as other figures draw them; None where none do.
    """
    names = group_names(found)
    if names is None or source is None or result.scores.shape[1] < 2:
        return []
    axes = tuple(f"component {j + 1} ({percent(float(result.share[j]))} of variance)" for j in range(2))
    figure = embedding_map(
        add_map(source, result.scores[:, :2], prefix="g"), groups=names, prefix="g", axes=(axes[0], axes[1])
    )
    sizes = ", ".join(count(int(size)) for size in found.sizes)
    return [
        View(
            "groups", "The groups on components 1 and 2", figure, (("dot soft", "a row"),),
            f"{found.k} groups of {sizes} rows, found by k-means in {found.axes} dimensions. Groups that overlap here "
            "may lie apart along further ones. Numbers of groups were compared with what chance cuts out of tables "
            "with the same correlations and no groups.",
            _sizes_table(found) + _stability_table(found),
        )
    ]  # fmt: skip


def group_table(found: Any) -> str:
    """Where the groups lie in the columns, those that differ most first; nothing where no groups stand out.

    Args:
        found: the numbers behind the finding on groups; None where there is none.
    """
    if group_names(found) is None:
        return ""
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
    return f'<h3>What tells the groups apart</h3>{words}<div class="heats">{heat}</div>'


def _sizes_table(found: Any) -> str:
    rows = [[str(k), number(float(gain))] for k, gain in zip(SIZES, found.gains, strict=True)]
    caption = "How far the groups stand out, in standard deviations of chance"
    return table(caption, ["Groups", "Beyond chance"], rows, numeric=(0, 1))


def _stability_table(found: Any) -> str:
    rows = [[f"Group {g + 1}", count(int(found.sizes[g])), percent(float(found.stability[g]))] for g in range(found.k)]
    return table(
        "How much of each group comes back on rows drawn again", ["", "Rows", "Comes back"], rows, numeric=(1, 2)
    )

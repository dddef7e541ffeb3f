"""The rows that do not belong: how far out every row lies, and which columns put the flagged ones there."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.asking.words import SURVIVED
from assay.questions.anomalies.answer import Anomalies
from assay.views.axes.numbers import count, counted, number, percent, probability
from assay.views.html.elements import table
from assay.views.html.escape import escaped, visible
from assay.views.html.view import View
from assay.views.rows.anomaly_map import anomaly_map
from assay.views.rows.contribution_map import contribution_map
from assay.views.rows.density import sample

_DRAWN = 2000
_TABLED = 40
_NAMED = 3


def views(found: Anomalies) -> list[View]:
    """Distances of the rows in their order, and the columns behind those that stand out; nothing where none does.

    Args:
        found: the numbers behind the finding.
    """
    if found.evidence.verdict not in SURVIVED or not len(found.rows):
        return []
    flagged = np.zeros(len(found.scores), dtype=bool)
    flagged[found.rows] = True
    drawn = sample(len(flagged), _DRAWN + len(found.rows), always=found.rows)
    driven = _driven(found)
    told = np.array([driven.get(int(row), "") for row in drawn], dtype=object)
    distances = anomaly_map(
        np.column_stack([drawn + 1.0, found.scores[drawn]]),
        -found.scores[drawn],
        flagged[drawn],
        rows=drawn + 1,
        details={"columns": told},
        boundary=_reach(found),
        axes=("row, in the order of the data", "distance"),
        equal=False,
    )
    shown = len(found.contributions)
    columns = contribution_map(
        found.contributions, [visible(name) for name in found.columns], rows=found.rows[:shown] + 1,
        values=found.deviations,
    )  # fmt: skip
    scope = (
        "" if len(drawn) == len(found.scores) else f" {count(len(drawn))} of {count(len(found.scores))} rows are drawn."
    )
    return [
        View(
            "distances", "How far out the rows lie", distances, (),
            f"Mahalanobis distance of each row from {_from(found)}, measured by rows that it had no part in. A typical "
            f"row lies at {number(found.typical)}; the line is where chance alone takes one row of so many one time in "
            f"twenty.{_below(found)}{scope}",
            _table(found), "rows",
        ),
        View(
            "contributions", "Why these rows stand out", columns, (),
            "Share of each column in the squared distance, given how the columns go together. Under the pointer: where "
            "the row lies in that column, in robust standard deviations from its middle.", about="rows",
        ),
    ]  # fmt: skip


def _from(found: Anomalies) -> str:
    return "the middle of the bulk" if found.groups == 1 else f"the nearest of {count(found.groups)} groups"


def _below(found: Anomalies) -> str:
    """What is said of flagged rows that lie below the line."""
    if not found.lonely.any():
        return ""
    return f" {counted(int(found.lonely.sum()), 'row')} below the line have no neighbours as near as others have."


def _reach(found: Anomalies) -> Any:
    """Where chance alone takes one row of the table one time in twenty; None where that is not known."""
    null = found.evidence.null
    return None if null is None else lambda places: null.upper - places[:, 1]


def _driven(found: Anomalies) -> dict[int, str]:
    """For each flagged row the columns that put it there, in words."""
    words = {}
    for row, share, place in zip(found.rows, found.contributions, found.deviations, strict=False):
        top = [j for j in np.argsort(-share)[:_NAMED] if share[j] >= 0.1]
        parts = [f"{visible(found.columns[j])} {percent(float(share[j]))} ({_signed(place[j])} SD)" for j in top]
        words[int(row)] = ", ".join(parts) or "many together"
    return words


def _signed(deviations: float) -> str:
    return f"{deviations:+.1f}".replace("-", "−")


def _beside(found: Anomalies) -> list[str]:
    """For each flagged row whether it lies with others of them."""
    words = ["far from its neighbours" if lonely else "alone" for lonely in found.lonely]
    for members in found.clumps():
        for place in members:
            words[place] = f"with {counted(len(members) - 1, 'other')}"
    return words


def _table(found: Anomalies) -> str:
    driven = _driven(found)
    rows = [
        [
            count(int(row) + 1),
            number(float(distance)),
            escaped(probability(float(q)).removeprefix("= ")),
            escaped(driven.get(int(row), "")),
            escaped(beside),
        ]
        for row, distance, q, beside in zip(
            found.rows[:_TABLED], found.distances, found.q, _beside(found), strict=False
        )
    ]
    caption = "Rows that do not belong, the farthest first"
    if len(found.rows) > _TABLED:
        caption += f"; the first {_TABLED} of {count(len(found.rows))}"
    return table(caption, ["Row", "Distance", "q", "Columns", "Lies"], rows, numeric=(0, 1, 2))

"""Rows that do not belong, in plain words."""

from __future__ import annotations

import numpy as np

from assay.asking.words import Words, chance, listed
from assay.questions.anomalies.answer import Anomalies
from assay.views.numbers import count, number, percent

WORDS = Words(
    "row that does not belong",
    "rows that do not belong",
    statistic="Distance of the farthest row",
    held_out="times as far out as a typical row",
    stability="Stand out again when rows are divided anew",
    stability_format=percent,
)


def subject(found: Anomalies) -> str:
    """The rows that do not belong, counted from 1."""
    return _rows(found) if len(found.rows) else "the rows"


def sentence(found: Anomalies) -> str:
    """Which rows do not belong, how far out the farthest lies, and which columns put it there."""
    evidence, n = found.evidence, len(found.scores)
    row, distance = found.best
    far = f"{number(distance / found.typical)} times as far out as a typical row"
    if evidence.verdict == "suggestive":
        who = f"{_rows(found)[0].upper()}{_rows(found)[1:]}" if len(found.rows) else f"Row {count(row + 1)}"
        return f"{who} may not belong: row {count(row + 1)} is {far} ({chance(evidence)})."
    if evidence.verdict != "supported":
        rows = f"{chance(evidence)} among {count(n)} rows"
        return f"No row stands out: the farthest, row {count(row + 1)}, is {far} ({rows})."
    many, reach = len(found.rows), ""
    if evidence.null is not None:
        times = number(evidence.null.upper / found.typical)
        reach = f"; chance alone takes one row of {count(n)} to {times} times one time in twenty"
    return (
        f"{count(many)} of {count(n)} rows {'does' if many == 1 else 'do'} not belong: {_rows(found)}. The farthest, "
        f"row {count(row + 1)}, is {far}, {_driven(found)}{reach} ({chance(evidence)})."
    )


def _driven(found: Anomalies) -> str:
    share = found.contributions[0]
    top = [j for j in np.argsort(-share)[:3] if share[j] >= 0.1]
    if not top:
        return "by many columns together"
    named = listed([f"{found.columns[j]} ({percent(float(share[j]))} of the squared distance)" for j in top[:1]])
    more = listed([f"{found.columns[j]} ({percent(float(share[j]))})" for j in top[1:]]) if len(top) > 1 else ""
    return f"by {named}{' and ' + more if more else ''}"


def _rows(found: Anomalies) -> str:
    names = [count(int(row) + 1) for row in found.rows]
    return f"{'row' if len(names) == 1 else 'rows'} {listed(names)}"

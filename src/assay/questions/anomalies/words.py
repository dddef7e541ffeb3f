"""Rows that do not belong, in plain words."""

from __future__ import annotations

import numpy as np

from assay.asking.words import SURVIVED, Words, chance, listed
from assay.questions.anomalies.answer import Anomalies
from assay.questions.anomalies.gap import HEAVY
from assay.views.axes.numbers import count, number, percent

WORDS = Words(
    "row that does not belong",
    "rows that do not belong",
    statistic="Distance of the farthest row",
    held_out="times as far out as a typical row, or as far from its nearest rows as these are from theirs",
    stability="Stand out again when rows are split otherwise",
    stability_format=percent,
)


def subject(found: Anomalies) -> str:
    """The rows that do not belong, counted from 1."""
    return _rows(found) if len(found.rows) else "the rows"


def line(found: Anomalies) -> str:
    """Which rows, or how far out the farthest is."""
    row, distance = found.best
    far = f"{number(distance / found.typical)} times as far out as a typical row"
    if found.evidence.verdict not in SURVIVED:
        return f"No row stands out: the farthest, row {count(row + 1)}, is {far}"
    if found.evidence.verdict == "suggestive":
        return f"Row {count(row + 1)} may not belong: it is {far}"
    many = len(found.rows)
    return (
        f"{count(many)} of {count(len(found.scores))} rows {'does' if many == 1 else 'do'} not belong: {_rows(found)}"
    )


def sentence(found: Anomalies) -> str:
    """Which rows do not belong, how far out the farthest lies, which columns put it there, and which lie together."""
    evidence, n = found.evidence, len(found.scores)
    row, distance = found.best
    far = f"{number(distance / found.typical)} times as far out as a typical row"
    slow = " Distances fall off slowly here: rows far out are to be expected." if found.heaviness > HEAVY else ""
    if evidence.verdict == "suggestive":
        who = f"{_rows(found)[0].upper()}{_rows(found)[1:]}" if len(found.rows) else f"Row {count(row + 1)}"
        return f"{who} may not belong: row {count(row + 1)} is {far} ({chance(evidence)}).{slow}"
    if evidence.verdict != "supported":
        rows = f"{chance(evidence)} among {count(n)} rows"
        return f"No row stands out: the farthest, row {count(row + 1)}, is {far} ({rows}).{slow}"
    many = len(found.rows)
    begun = f"{count(many)} of {count(n)} rows {'does' if many == 1 else 'do'} not belong: {_rows(found)}."
    if found.lonely.all():
        return f"{begun} {_lonely(found)} ({chance(evidence)})."
    reach = ""
    if evidence.null is not None:
        times = number(evidence.null.upper / found.typical)
        reach = f"; chance alone takes one row of {count(n)} to {times} times one time in twenty"
    more = "".join(f" {part}" for part in (_together(found), _centres(found)) if part)
    return f"{begun} The farthest, row {count(row + 1)}, is {far}, {_driven(found)}{reach} ({chance(evidence)}).{more}"


def _lonely(found: Anomalies) -> str:
    times = number(found.evidence.held_out)
    who = "It is" if len(found.rows) == 1 else "They are"
    return f"{who} not far out, but {times} times as far from the neighbours as these are from theirs"


def _together(found: Anomalies) -> str:
    """How many of the rows lie together, and where."""
    clumps = found.clumps()
    if not clumps:
        return ""
    of_shown = "" if len(found.together) == len(found.rows) else f" of the first {count(len(found.together))}"
    share = found.contributions[clumps[0]].mean(axis=0)
    first, sizes = int(np.argmax(share)), listed([count(len(members)) for members in clumps])
    driven = f", most of all by {found.columns[first]}" if share[first] >= 2.0 / (1.0 + len(share)) else ""
    several = "Groups of " if len(clumps) > 1 else ""
    return f"{several}{sizes}{of_shown} lie together, away from all others{driven}."


def _centres(found: Anomalies) -> str:
    return f"Rows are measured from the nearest of {count(found.groups)} groups." if found.groups > 1 else ""


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

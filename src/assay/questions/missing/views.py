"""Missing values drawn: which sets of columns are missing together, which gaps go together, and what they go with."""

from __future__ import annotations

import numpy as np

from assay.asking.words import SURVIVED
from assay.questions.missing.answer import GapPair, MissingValues
from assay.questions.missing.words import run_sentence
from assay.views.axes.numbers import count, counted, percent, probability
from assay.views.columns.correlation import correlation_view
from assay.views.columns.gap_patterns import COLUMNS, PATTERNS, gap_patterns
from assay.views.html.elements import name_cell, table
from assay.views.html.escape import escaped, visible
from assay.views.html.view import View

_TABLED = 40
_FEWEST_CROSSED = 3  # columns from which on gaps are crossed in a picture


def views(found: MissingValues) -> list[View]:
    """The sets of columns that are missing together, with what they go with; then gaps with gaps.

    Args:
        found: the numbers behind the findings.
    """
    shown = np.argsort(-found.share, kind="stable")[:COLUMNS]
    names = [found.columns[j] for j in shown]
    sets = np.array([[name in one.columns for name in names] for one in found.patterns])
    drawn = gap_patterns(sets, [one.rows for one in found.patterns], [visible(name) for name in names])
    return [
        View(
            "missing-patterns", "Values missing in the same rows", drawn,
            (("lacking", "missing"),),
            _caption(found), _shares(found) + _pairs(found),
        ),
        *_crossed(found),
    ]  # fmt: skip


def _caption(found: MissingValues) -> str:
    drawn = "" if found.rows == found.total else f" Counted in {count(found.rows)} rows drawn of {count(found.total)}."
    rest = len(found.patterns) - PATTERNS
    more = f" {counted(rest, 'rarer set')} {'is' if rest == 1 else 'are'} not drawn." if rest > 0 else ""
    columns = f" The {COLUMNS} columns that lack most are drawn." if len(found.columns) > COLUMNS else ""
    runs = " ".join(["", *(run_sentence(found, run) for run in found.runs[:3])])
    return (
        "Each line is a set of columns that are missing in the same rows, the commonest on top; columns that lack most "
        f"stand first.{columns}{more}{drawn}{runs}"
    )


def _shares(found: MissingValues) -> str:
    order = np.argsort(-found.share, kind="stable")
    rows = [[name_cell(found.columns[j]), percent(float(found.share[j]))] for j in order[:_TABLED]]
    caption = "Share missing, of all rows"
    if len(order) > _TABLED:
        caption += f"; the first {_TABLED} of {count(len(order))} columns"
    return table(caption, ["Column", "Missing"], rows, numeric=(1,))


def _pairs(found: MissingValues) -> str:
    if found.values is None or found.values.evidence.verdict not in SURVIVED:
        return ""
    pairs = found.values.standing(2.0 * found.level)[:_TABLED]
    rows = [
        [
            name_cell(pair.lacking),
            escaped(_with(pair)),
            percent(pair.upper),
            percent(pair.lower),
            escaped(probability(pair.q).removeprefix("= ")),
        ]
        for pair in pairs
    ]
    heads = ["Missing", "Goes with", "Upper side", "Lower side", "q"]
    return table("What gaps go with: share missing on both sides", heads, rows, numeric=(2, 3, 4))


def _with(pair: GapPair) -> str:
    return {
        "high": f"{pair.column}: highest and lowest quarter",
        "far": f"{pair.column}: far from its middle and near",
        "level": f"{pair.column}: {pair.side.level} and others",
        "order": "the order of rows: last and first quarter",
        "gap": f"{pair.column} missing and there",
    }[pair.side.way]


def _crossed(found: MissingValues) -> list[View]:
    """Correlations of gaps, where some stood up."""
    family = found.together
    if family is None or family.evidence.verdict not in SURVIVED or len(found.compared) < _FEWEST_CROSSED:
        return []
    sure = np.eye(len(found.compared), dtype=bool)
    place = {name: k for k, name in enumerate(found.compared)}
    for pair in family.standing(found.level):
        i, j = place[pair.lacking], place[pair.column]
        sure[i, j] = sure[j, i] = True
    drawn = correlation_view(found.crossed, [visible(name) for name in found.compared], supported=sure)
    told = (
        "Correlation of being missing: 1 where two columns are always missing in the same rows, below 0 where one is "
        "there when the other is not. A pair that chance explains is faint."
    )
    return [View("missing-together", "Columns that are missing together", drawn, (), told)]

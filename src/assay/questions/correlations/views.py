"""The columns that go together: all of them in one picture, the pairs in a table, the strongest as their rows came."""

from __future__ import annotations

import numpy as np

from assay.arrays import Array
from assay.asking.page import Page
from assay.asking.words import SURVIVED
from assay.questions.correlations.answer import Correlations
from assay.questions.correlations.drawn import drawn_pairs
from assay.questions.correlations.words import strength_name, unseen
from assay.summary.pairs.pairs import CORRELATION_RATIO, V
from assay.views.axes.numbers import count, fraction, probability
from assay.views.columns.correlation import correlation_view
from assay.views.html.elements import name_cell, table
from assay.views.html.escape import escaped, visible
from assay.views.html.view import View

_TABLED = 100
_SIGNED = 4


def views(found: Correlations, page: Page) -> list[View]:
    """The matrix of correlations, those that chance explains faint, then pairs; nothing where no pair stands out.

    Args:
        found: the numbers behind the finding.
        page: what figures share.
    """
    pearson = found.found.pearson
    if found.evidence.verdict not in SURVIVED:
        return []
    if pearson is None:
        return drawn_pairs(found, max(found.n_pairs, 1), include_rows=page.include_rows)
    d = found.found
    supported = np.eye(len(d.columns), dtype=bool)
    first, second = d.pairs.first[: found.n_pairs], d.pairs.second[: found.n_pairs]
    supported[first, second] = supported[second, first] = True
    figure = correlation_view(
        pearson, [visible(name) for name in d.columns], order=found.order,
        rank=d.rank if _differ(pearson, d.rank) else None, supported=supported,
    )  # fmt: skip
    return [
        View(
            "correlations", "The columns that go together", figure, (),
            f"{_measures(found)} A pair that chance explains is faint. Columns that go together stand side by side."
            f"{_bent(found)}",
            _table(found),
        ),
        *drawn_pairs(found, max(found.n_pairs, 1), include_rows=page.include_rows),
    ]  # fmt: skip


def _differ(pearson: Array, rank: Array | None) -> bool:
    """Whether ranks say anything that the values do not: of categories both are Cramér's V."""
    return rank is not None and not np.allclose(pearson, rank, equal_nan=True)


def _measures(found: Correlations) -> str:
    """What the numbers are, as far as the picture has them."""
    d = found.found
    assert d.pearson is not None
    if not _differ(d.pearson, d.rank):
        known = "The numbers are Cramér's V, 0 for columns that go their own ways and 1 where one tells the other."
        return f"{known}{_signs(found)}"
    ratios = np.isin(d.pairs.strength_name, (CORRELATION_RATIO, V)).any()
    many = ratios or any(len(own) > 2 for own in found.closer.levels)
    levels = (
        "; with a category of three levels or more the number is the correlation ratio, between two of these Cramér's "
        "V, and neither has a sign"
    )
    return f"Pearson's correlation is above the diagonal, that of ranks below{levels if many else ''}."


def _signs(found: Correlations) -> str:
    """Which way two columns of two levels go together, where that is drawn."""
    d = found.found
    if d.pearson is None or np.nanmin(d.pearson) >= 0.0:
        return ""
    levels = dict(zip(d.columns, found.closer.levels, strict=False))
    two = [f"{visible(name)} ({visible(own[0])}, {visible(own[1])})" for name, own in levels.items() if len(own) == 2]
    return (
        " Between columns of two levels they have a sign, below 0 where the first level of one goes with the second of "
        f"the other: {', '.join(two[:_SIGNED])}{' and others' if len(two) > _SIGNED else ''}."
    )


def _bent(found: Correlations) -> str:
    """Pairs that stand with a number near 0 need a word."""
    low, high = found.intervals
    stands = slice(found.n_pairs)
    bent = ~found.found.pairs.monotone[stands] | ((low[stands] <= 0.0) & (high[stands] >= 0.0))
    return " A pair that bends stands out whatever its number." if bent.any() else ""


def _table(found: Correlations) -> str:
    pairs, names, standing = found.found.pairs, found.found.columns, found.n_pairs
    shown = range(min(standing, _TABLED, len(pairs)))
    low, high = found.intervals
    lagged = bool(pairs.lag[: len(shown)].any())
    rows = [
        [
            name_cell(names[pairs.first[k]]),
            name_cell(names[pairs.second[k]]),
            escaped(strength_name(found, k)) + (", stands by its shape" if low[k] <= 0.0 <= high[k] else ""),
            fraction(float(pairs.strength[k])),
            fraction(unseen(found, k)),
            f"{fraction(low[k])} to {fraction(high[k])}" if np.isfinite(low[k]) else "",
            *([f"{pairs.lag[k]:+d}".replace("-", "−") if pairs.lag[k] else "0"] if lagged else []),
            escaped(probability(float(found.q[k])).removeprefix("= ")),
        ]
        for k in shown
    ]
    caption = "Pairs of columns that go together, the strongest on unseen rows first"
    if standing > _TABLED:
        caption += f"; the first {_TABLED} of {count(standing)}"
    heads = ["Column", "Column", "Measure", "These rows", "Unseen rows", "95% interval", *(["Leads by"] * lagged), "q"]
    return table(caption, heads, rows, numeric=range(3, len(heads)))

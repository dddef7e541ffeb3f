"""The columns that go together: all of them in one picture, and the pairs in a table."""

from __future__ import annotations

import numpy as np

from assay.asking.page import Page
from assay.asking.words import SURVIVED
from assay.questions.correlations.answer import Correlations
from assay.views.correlation import correlation_view
from assay.views.elements import name_cell, table
from assay.views.escape import escaped, visible
from assay.views.numbers import count, fraction, probability
from assay.views.view import View

_TABLED = 100


def views(found: Correlations, page: Page) -> list[View]:
    """The matrix of correlations, those that chance explains faint; nothing where no pair stands out.

    Args:
        found: the numbers behind the finding.
        page: what figures share.
    """
    pearson = found.found.pearson
    if found.evidence.verdict not in SURVIVED or pearson is None:
        return []
    d = found.found
    supported = np.eye(len(d.columns), dtype=bool)
    first, second = d.pairs.first[: found.n_pairs], d.pairs.second[: found.n_pairs]
    supported[first, second] = supported[second, first] = True
    figure = correlation_view(
        pearson, [visible(name) for name in d.columns], order=found.order, rank=d.rank, supported=supported
    )
    return [
        View(
            "correlations", "The columns that go together", figure, (),
            "Pearson's correlation is above the diagonal, that of ranks below; a pair that chance explains is faint. "
            "Columns that go together stand side by side. With a category the number is the correlation ratio, between "
            "two categories Cramér's V; neither has a sign.",
            _table(found, found.n_pairs),
        )
    ]  # fmt: skip


def _table(found: Correlations, standing: int) -> str:
    pairs, names = found.found.pairs, found.found.columns
    rows = [
        [
            name_cell(names[pairs.first[k]]),
            name_cell(names[pairs.second[k]]),
            fraction(float(pairs.rank[k])),
            _range(float(pairs.low[k]), float(pairs.high[k])),
            fraction(float(pairs.pearson[k])),
            escaped(probability(float(found.q[k])).removeprefix("= ")),
        ]
        for k in range(min(standing, _TABLED, len(pairs)))
    ]
    caption = "Pairs of columns that go together, the least likely by chance first"
    if standing > _TABLED:
        caption += f"; the first {_TABLED} of {count(standing)}"
    return table(caption, ["Column", "Column", "Ranks", "95% interval", "Pearson", "q"], rows, numeric=(2, 3, 4, 5))


def _range(low: float, high: float) -> str:
    return f"{fraction(low)} to {fraction(high)}" if np.isfinite(low) else ""

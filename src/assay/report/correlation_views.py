"""The columns that go together: all of them in one picture, and the pairs in a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.report.component_views import View
from assay.report.elements import name_cell, table
from assay.report.escape import escaped, visible
from assay.report.kinds import SURVIVED
from assay.report.numbers import count, fraction, probability
from assay.views.canonical_pairs import canonical_pairs_view, loadings_view
from assay.views.correlation import correlation_view

_TABLED = 100


def correlation_views(found: Any, alpha: float) -> list[View]:
    """The matrix of correlations, those that chance explains faint; nothing where no pair stands out.

    Args:
        found: the numbers behind the finding on columns that go together; None where there is none.
        alpha: level of the study.
    """
    if found is None or found.evidence.verdict not in SURVIVED or found.found.pearson is None:
        return []
    d = found.found
    supported = np.eye(len(d.columns), dtype=bool)
    stands = found.q <= alpha
    first, second = d.pairs.first[stands], d.pairs.second[stands]
    supported[first, second] = supported[second, first] = True
    figure = correlation_view(
        d.pearson, [visible(name) for name in d.columns], order=found.order, rank=d.rank, supported=supported
    )
    return [
        View(
            "correlations", "The columns that go together", figure, (),
            "Pearson's correlation is above the diagonal, that of ranks below; a pair that chance explains is faint. "
            "Columns that go together stand side by side. With a category the number is the correlation ratio, between "
            "two categories Cramér's V; neither has a sign.",
            _table(found, int(stands.sum())),
        )
    ]  # fmt: skip


def canonical_views(found: Any) -> list[View]:
    """The variates of each pair that stands, and the columns that carry it; nothing where none does.

    Args:
        found: the numbers behind the finding on two sets of columns; None where there is none.
    """
    if found is None or found.evidence.verdict not in SURVIVED:
        return []
    k = max(1, found.n_pairs)
    sides = visible(found.sides[0]), visible(found.sides[1])
    u, v = (side[:, :k] for side in found.variates)
    pairs = canonical_pairs_view(u, v, found.correlations[:k], found.held_out[:k], sides=sides)
    views = []
    for j, (title, figure) in enumerate(pairs.items()):
        carried = loadings_view(
            *(side[:, j] for side in found.loadings), *([visible(c) for c in names] for names in found.columns),
            sides=sides,
        )  # fmt: skip
        placed = "Each point is a row, placed by its variate on either side, of unit variance."
        told = "How each column goes with the variate of its own side."
        views += [
            View(f"pair-{j + 1}", f"{title} of the two sets of columns", figure, (), placed),
            View(f"pair-{j + 1}-columns", f"What carries {title.lower()}", carried, (), told),
        ]
    return views


def _table(found: Any, standing: int) -> str:
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
        for k in range(min(standing, _TABLED))
    ]
    caption = "Pairs of columns that go together, the least likely by chance first"
    if standing > _TABLED:
        caption += f"; the first {_TABLED} of {count(standing)}"
    return table(caption, ["Column", "Column", "Ranks", "95% interval", "Pearson", "q"], rows, numeric=(2, 3, 4, 5))


def _range(low: float, high: float) -> str:
    return f"{fraction(low)} to {fraction(high)}" if np.isfinite(low) else ""

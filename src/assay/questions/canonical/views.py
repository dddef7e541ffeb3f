"""Two sets of columns: the variates of each pair that stands, and the columns that carry it."""

from __future__ import annotations

from assay.asking.words import SURVIVED
from assay.questions.canonical.answer import Canonical
from assay.views.columns.canonical_pairs import canonical_pairs_view, loadings_view
from assay.views.html.escape import visible
from assay.views.html.view import View


def views(found: Canonical) -> list[View]:
    """The variates of each pair that stands, and the columns that carry it; nothing where none does.

    Args:
        found: the numbers behind the finding.
    """
    if found.evidence.verdict not in SURVIVED:
        return []
    k = max(1, found.n_pairs)
    sides = visible(found.sides[0]), visible(found.sides[1])
    u, v = (side[:, :k] for side in found.variates)
    pairs = canonical_pairs_view(u, v, found.correlations[:k], found.held_out[:k], sides=sides)
    drawn = []
    for j, (title, figure) in enumerate(pairs.items()):
        carried = loadings_view(
            found.loadings[0][:, j], found.loadings[1][:, j],
            [visible(c) for c in found.columns[0]], [visible(c) for c in found.columns[1]], sides=sides,
        )  # fmt: skip
        placed = "Each point is a row, placed by its variate on either side, of unit variance."
        told = "How each column goes with the variate of its own side."
        drawn += [
            View(f"pair-{j + 1}", f"{title} of the two sets of columns", figure, (), placed),
            View(f"pair-{j + 1}-columns", f"What carries {title.lower()}", carried, (), told),
        ]
    return drawn

"""Two tables as figures: the columns that differ first."""

from __future__ import annotations

import numpy as np

from assay.asking.words import SURVIVED
from assay.comparison.comparison import Comparison, Spread
from assay.shown import visible
from assay.views.axes.numbers import count, percent
from assay.views.columns.two_tables import levels_of_both, numbers_of_both
from assay.views.html.view import View

DRAWN = 6
_LEVELLED = ("category", "boolean")


def views(comparison: Comparison) -> list[View]:
    """A figure for each of the first columns: those that differ, then the others in the order of the tables.

    Args:
        comparison: the comparison.
    """
    stood = [f.subject for f in comparison.findings if f.kind == "column" and f.evidence.verdict in SURVIVED]
    ranked = sorted(comparison.spreads, key=lambda one: stood.index(one.name) if one.name in stood else len(stood))
    left = len(ranked) - DRAWN
    more = f" {count(left)} more columns are not drawn; the page has them." if left > 0 else ""
    found = []
    for place, one in enumerate(ranked[:DRAWN]):
        gaps = [float(np.isnan(x).mean()) if len(x) else 0.0 for x in (one.first, one.second)]
        missing = f" Missing: {percent(gaps[0])} and {percent(gaps[1])}." if any(gaps) else ""
        said = "Differs beyond chance." if one.name in stood else "Does not differ beyond chance."
        drawn = _drawn(one, (comparison.data[0].name, comparison.data[1].name))
        if drawn is not None:
            words = f"{said}{missing}{more if place == 0 else ''}"
            found.append(View(f"column-{place + 1}", visible(one.name), drawn, caption=words))
    return found


def _drawn(spread: Spread, names: tuple[str, str]) -> object:
    sides = [x[np.isfinite(x)] for x in (spread.first, spread.second)]
    if spread.kind in _LEVELLED:
        levels = spread.levels or ("no", "yes")
        counts = [np.bincount(x.astype(np.intp), minlength=len(levels)) for x in sides]
        return levels_of_both(counts[0], counts[1], levels, names)
    whole = spread.kind in ("count", "ordered", "text")
    what = f"{spread.name}, length of the text" if spread.kind == "text" else spread.name
    return numbers_of_both(sides[0], sides[1], names, x_label=what, whole=whole)

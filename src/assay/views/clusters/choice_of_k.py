"""How many groups: inertia with its inflection, and the Calinski-Harabasz index with its best k."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.legend import note
from assay.views.axes.theme import CHANCE, REAL, figure, hover, label
from assay.views.axes.ticks import number_ticks

_DESCRIPTION = "A description, not evidence: rows without groups have such a k too."
_TICKS = 15


def choice_of_k(
    k: ArrayLike,
    inertia: ArrayLike,
    calinski_harabasz: ArrayLike,
    *,
    inflection: int | None = None,
    best_k: int | None = None,
) -> dict[str, Any]:
    """Draw what k-means came to over the number of groups, as `assay.choose_k` tells it.

    Args:
        k: (m,) numbers of groups, ascending.
        inertia: (m,) sums of squares within the groups.
        calinski_harabasz: (m,) indices; nan where there is none.
        inflection: the k at the bend of the inertia.
        best_k: the k of the largest index.

    Returns:
        Two Bokeh figures by heading, as `write_figure` takes them.

    >>> list(choice_of_k([1, 2, 3], [9.0, 2.0, 1.0], [float("nan"), 8.0, 5.0], inflection=2, best_k=2))
    ['Inertia', 'Calinski-Harabasz index']
    """
    at = np.asarray(k)
    curves = [np.asarray(curve, dtype=np.float64) for curve in (inertia, calinski_harabasz)]
    if at.ndim != 1 or not len(at) or any(curve.shape != at.shape for curve in curves):
        raise ParameterError(
            f"there is one inertia and one index for each k, {at.shape}; got {curves[0].shape} and {curves[1].shape}"
        )
    within = _curve(at, curves[0], "sum of squares within groups", inflection, "inflection", top=True)
    if inflection is not None and np.isfinite(curves[0][[0, -1]]).all():
        plain = {"line_color": CHANCE, "line_dash": "dashed", "line_width": 1.5}
        within.line(at[[0, -1]], curves[0][[0, -1]], **plain)
        note(within, f"Inflection: farthest below the dashed line between the ends. {_DESCRIPTION}")
    index = _curve(at, curves[1], "between / within (n - k) / (k - 1)", best_k, "largest", top=False)
    note(index, f"Larger means groups further apart for their width. {_DESCRIPTION}")
    return {"Inertia": within, "Calinski-Harabasz index": index}


def _curve(at: NDArray[Any], values: Array, words: str, marked: int | None, why: str, *, top: bool) -> Any:
    plot = figure(x_label="groups, k", y_label=words)
    plot.xaxis.ticker = FixedTicker(ticks=at[:: -(-len(at) // _TICKS)].tolist())
    known = np.isfinite(values)
    if not known.any():
        return plot
    ticks = number_ticks(float(values[known].min()), float(values[known].max()), 7)
    plot.yaxis.ticker = FixedTicker(ticks=[y for y, _ in ticks])
    plot.yaxis.major_label_overrides = dict(ticks)
    source = ColumnDataSource({"k": at[known], "value": values[known], "told": [f"{v:,.6g}" for v in values[known]]})
    plot.line("k", "value", source=source, line_color=REAL, line_width=2)
    marks = plot.scatter("k", "value", source=source, size=8, color=REAL)
    plot.add_tools(hover([marks], [("k", "@k"), (words, "@told")]))
    if marked is not None:
        plot.add_layout(Span(location=marked, dimension="height", line_color=CHANCE, line_dash="dotted", line_width=2))
        left = marked > (at[0] + at[-1]) / 2
        height = float(values[known].max() if top else values[known].min())
        place: dict[str, Any] = {"text_align": "right" if left else "left", "x_offset": -6 if left else 6}
        place["text_baseline"] = "top" if top else "bottom"  # where the curve is not
        plot.add_layout(label(float(marked), height, f"{why}: k = {marked}", **place))
    return plot

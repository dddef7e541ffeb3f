"""The smallest eigenvalues of a Laplacian, and the gap after which groups are counted.

The gap is a ratio, so the axis is logarithmic: equal ratios are equally wide. Zeros stand at its lower end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from bokeh.models.annotations.geometry import BoxAnnotation
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.legend import legend
from assay.views.axes.theme import CHANCE, REAL, figure, hover


def eigengap(values: ArrayLike, k: int) -> Any:
    """Draw eigenvalues in rising order on a log axis, the k that make the groups filled, the gap above them shaded.

    Args:
        values: (m,) ascending, none below zero, such as `eigenvalues_` of `SpectralClustering`.
        k: how many groups were chosen, at most m.

    Returns:
        A Bokeh figure.

    >>> eigengap([0.0, 0.01, 0.3, 0.4], 2).yaxis.axis_label.text
    'eigenvalue (log scale)'
    """
    rising = np.asarray(values, dtype=np.float64)
    if rising.ndim != 1 or not len(rising) or not np.isfinite(rising).all():
        raise ParameterError("values are finite eigenvalues, one after the other; got something else")
    if rising[0] < 0 or np.any(np.diff(rising) < 0):
        raise ParameterError("values are eigenvalues of a Laplacian in rising order, none below zero; sort them first")
    if not 1 <= k <= len(rising):
        raise ParameterError(f"k is how many of the {len(rising)} eigenvalues make the groups; got {k}")
    zero, heights = _heights(rising)
    plot = figure(
        x_label="eigenvalue number",
        y_label="eigenvalue (log scale)",
        x_range=(0.3, max(len(rising), 3) + 0.7),
        y_range=(zero / 1.5, 1.5 * heights[-1]),
        y_axis_type="log",
    )
    decades = 10.0 ** np.arange(np.ceil(np.log10(1.5 * zero)), np.floor(np.log10(heights[-1])) + 1)
    plot.yaxis.ticker = FixedTicker(ticks=[zero, *decades])
    plot.yaxis.major_label_overrides = {zero: "0", **{at: f"{at:g}" for at in decades.tolist()}}
    plot.xaxis.ticker = FixedTicker(ticks=list(range(1, len(rising) + 1)))
    if k < len(rising):
        low, high = heights[k - 1 : k + 1].tolist()
        plot.add_layout(BoxAnnotation(bottom=low, top=high, fill_color=CHANCE, fill_alpha=0.15, line_width=0))
    numbers = np.arange(1, len(rising) + 1)
    ratios = np.divide(rising[1:], rising[:-1], out=np.full(len(rising) - 1, np.inf), where=rising[:-1] > 0)
    told = [*(f"{ratio:.3g}" if np.isfinite(ratio) else "from zero" for ratio in ratios), "not known"]
    entries = []
    for words, which, style in (
        ("groups", numbers <= k, {"color": REAL}),
        ("beyond the gap", numbers > k, {"line_color": REAL, "fill_alpha": 0.0}),
    ):
        if which.any():
            columns = {"number": numbers, "value": rising, "height": heights, "told": np.array(told)}
            source = ColumnDataSource({name: column[which] for name, column in columns.items()})
            marks = plot.scatter("number", "height", source=source, size=9, line_width=2, **style)
            rows = [("number", "@number"), ("eigenvalue", "@value{0.000e+0}"), ("next over this", "@told")]
            plot.add_tools(hover([marks], rows))
            entries.append((words, [marks], None))
    legend(plot, entries)
    return plot


def _heights(rising: Array) -> tuple[float, Array]:
    """Where zero is drawn, a factor of ten below the first eigenvalue above it, and where all are."""
    above = rising[rising > 0]
    zero = float(above[0]) / 10.0 if len(above) else 0.1
    return zero, np.where(rising > 0, rising, zero)

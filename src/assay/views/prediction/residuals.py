"""What a prediction leaves over: whether it still depends on the prediction, and whether its law is normal."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from assay.arrays import Array
from assay.views.axes.given import padded, row_numbers, vector
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, LINE, REAL, UNSEEN, figure
from assay.views.rows.cloud import TOOLS, drawn_rows, row_source, scatter_rows, shade_rows

_FEWEST = 20  # rows from which on a running median says more than the points
_WINDOWS = 30
_EXTREMES = 100
_CORNERS = 200


def residual_view(
    predicted: ArrayLike,
    residuals: ArrayLike,
    *,
    rows: ArrayLike | None = None,
    unit: str = "",
    height: int = 380,
) -> dict[str, Any]:
    """Draw residuals over predictions, and over what normal ones would be.

    Args:
        predicted: (n,) predictions.
        residuals: (n,) true less predicted.
        rows: (n,) row numbers as they are to be shown; by default counted from 1.
        unit: of the target, for the axes.
        height: in pixels.

    Returns:
        Two Bokeh figures by heading, as `write_figure` takes them; rows selected in one are selected in both.

    >>> list(residual_view([1.0, 2.0], [0.1, -0.1]))
    ['Residuals over predictions', 'Residuals beside a normal law']
    """
    at = vector("predicted", predicted)
    left = vector("residuals", residuals, len(at))
    numbers = row_numbers(rows, len(at))
    order = np.argsort(left, kind="stable")
    drawn = drawn_rows(len(at), np.r_[order[:_EXTREMES], order[::-1][:_EXTREMES]])
    normal = np.empty(len(at))
    normal[order] = ndtri((np.arange(len(at)) + 0.5) / max(len(at), 1))
    columns = {"predicted": at, "residual": left, "normal": normal}
    source = row_source(numbers, columns, drawn, said={"predicted_text": at, "residual_text": left})
    said = [("predicted", "@predicted_text"), ("residual", "@residual_text")]
    words = f"true − predicted ({unit})" if unit else "true − predicted"
    look: dict[str, Any] = {"y_label": words, "height": height, "tools": TOOLS, "y_range": padded(left)}
    over = figure(x_label="predicted" + (f" ({unit})" if unit else ""), x_range=padded(at), **look)
    scatter_rows(over, source, "predicted", "residual", said)
    told = shade_rows(over, np.stack([at, left], axis=1), drawn)
    _draw_middle(over, at, left, told)
    beside = figure(x_label="normal quantile (standard deviations)", x_range=padded(normal), **look)
    scatter_rows(beside, source, "normal", "residual", [*said, ("normal quantile", "@normal{0.00}")])
    _draw_law(beside, left[order], normal[order])
    return {"Residuals over predictions": over, "Residuals beside a normal law": beside}


def running_quantiles(at: Array, values: Array, shares: tuple[float, ...]) -> tuple[Array, Array]:
    """Quantiles of values in windows of as many rows each, along another number.

    Args:
        at: (n,) where the rows lie.
        values: (n,) what they have there.
        shares: (q,) which quantiles.

    Returns:
        (w,) medians of the places in each window, ascending, and (q, w) quantiles of its values. Windows overlap, hold
        a tenth of the rows, and never fewer than ten.

    >>> x = np.arange(100.0)
    >>> middle, (median,) = running_quantiles(x, x, (0.5,))
    >>> bool(np.allclose(middle, median))
    True
    """
    order = np.argsort(at, kind="stable")
    n = len(order)
    size = min(n, max(10, n // 10))
    starts = np.unique(np.linspace(0, n - size, min(_WINDOWS, n - size + 1)).round().astype(int))
    windows = [order[start : start + size] for start in starts]
    middle = np.array([np.median(at[window]) for window in windows])
    return middle, np.stack([np.quantile(values[window], shares) for window in windows], axis=1)


def _draw_middle(plot: Any, at: Array, left: Array, told: list[str]) -> None:
    plot.add_layout(Span(location=0, dimension="width", line_color=CHANCE, line_width=1.5))
    if len(at) >= _FEWEST and at.max() > at.min():
        x, (low, median, high) = running_quantiles(at, left, (0.1, 0.5, 0.9))
        band = plot.varea(x, low, high, fill_color=UNSEEN, fill_alpha=0.16, level="underlay")
        line = plot.line(x, median, line_color=UNSEEN, line_width=2.5)
        legend(plot, [("running median", [line], None), ("8 of 10 rows nearby", [band], None)])
        told = [*told, "A median off zero: the prediction misses a bend. A band that widens: errors grow."]
    if told:
        note(plot, " ".join(told))


def _draw_law(plot: Any, left: Array, normal: Array) -> None:
    """The normal law with the quartiles of the residuals, and where 95% of such a sample lie at each place."""
    if len(left) < 2:
        return
    n = len(left)
    quartile = np.quantile(left, [0.25, 0.75])
    slope = float((quartile[1] - quartile[0]) / (2 * ndtri(0.75)))
    middle = float(quartile.mean())
    # the i-th of n uniform numbers in order follows Beta(i, n + 1 - i)
    place = np.unique(np.linspace(1, n, min(n, _CORNERS)).round())
    low, high = (middle + slope * ndtri(betaincinv(place, n + 1 - place, q)) for q in (0.025, 0.975))
    x = ndtri((place - 0.5) / n)
    band = plot.varea(x, low, high, fill_color=CHANCE, fill_alpha=0.22, level="underlay")
    ends = normal[[0, -1]]
    line = plot.line(ends, middle + slope * ends, line_color=LINE, line_width=1.5, line_dash="dashed")
    key = plot.scatter([np.nan], [np.nan], size=8, color=REAL, fill_alpha=0.45)
    entries: list[Any] = [("a row", [key], None), ("normal law with their quartiles", [line], None)]
    legend(plot, [*entries, ("range of 95% of normal samples", [band], None)])
    note(plot, "Steeper than the line at the ends: more large errors than a normal law has. Flatter: fewer.")

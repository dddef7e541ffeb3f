"""One column of two tables as a figure: shares of the rows of each, so that tables of any size compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, PlainText
from numpy.typing import ArrayLike

from assay.shown import shortened, visible
from assay.views.axes.legend import legend
from assay.views.axes.theme import REAL, UNSEEN, figure, hover
from assay.views.columns.two_histograms import binned_beside

LEVELS = 12  # of a category that are drawn, the commonest
_NAME = 22


def numbers_of_both(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str], *, x_label: str, whole: bool = False
) -> Any:
    """Draw numbers of two tables over each other: the first as bars, the second as steps.

    Args:
        first, second: NaN where missing.
        names: of the tables.
        x_label: the column, with its unit.
        whole: whether these are whole numbers.

    Returns:
        A Bokeh figure; None where there are no values.

    >>> numbers_of_both([1.0, 2.0], [2.0, 3.0], ("old", "new"), x_label="age").yaxis.axis_label.text
    'share of the rows'
    """
    made = binned_beside(first, second, whole=whole)
    if made is None:
        return None
    bins, shares = made
    half = (bins.high - bins.low) / 2 or 0.5
    middle = (bins.high + bins.low) / 2
    edges = np.linspace(middle - half, middle + half, len(bins.counts) + 1)
    told = {
        "left": edges[:-1], "right": edges[1:], "first": shares[0], "second": shares[1],
        "here": [f"{share:.1%}" for share in shares[0]], "there": [f"{share:.1%}" for share in shares[1]],
    }  # fmt: skip
    source = ColumnDataSource(told)
    plot = figure(x_label=visible(x_label), y_label="share of the rows", height=280)
    bars = plot.quad(
        left="left", right="right", bottom=0, top="first", source=source, fill_color=REAL, fill_alpha=0.35,
        line_color=REAL, line_alpha=0.5,
    )  # fmt: skip
    steps = plot.line(np.repeat(edges, 2), [0.0, *np.repeat(shares[1], 2), 0.0], line_color=UNSEEN, line_width=2)
    plot.y_range.start = 0
    plot.add_tools(hover([bars], [("from", "@left"), ("to", "@right"), ("first", "@here"), ("second", "@there")]))
    legend(plot, [(visible(names[0]), [bars], None), (visible(names[1]), [steps], None)])
    return plot


def levels_of_both(first: ArrayLike, second: ArrayLike, levels: Sequence[str], names: tuple[str, str]) -> Any:
    """Draw the shares of levels in two tables, the commonest first.

    Args:
        first, second: (k,) counts.
        levels: (k,) names.
        names: of the tables.

    Returns:
        A Bokeh figure; None where there are no values.

    >>> plot = levels_of_both([1, 1], [2, 0], ["a", "b"], ("old", "new"))
    >>> plot.renderers[1].data_source.data["share"].tolist()
    [1.0, 0.0]
    """
    counts = np.array([first, second], dtype=np.float64)
    total = counts.sum(axis=1, keepdims=True)
    if not total.any():
        return None
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    shown = np.argsort(-counts.sum(axis=0), kind="stable")[:LEVELS]
    places = np.arange(len(shown))[::-1]
    plot = figure(x_label="share of the rows", y_label="", height=110 + 30 * len(shown))
    marks = []
    for side, (colour, shift) in enumerate(((REAL, 0.2), (UNSEEN, -0.2))):
        own = shares[side, shown]
        told = {
            "y": places + shift, "share": own, "text": [f"{share:.1%}" for share in own],
            "level": [visible(levels[j]) for j in shown],
        }  # fmt: skip
        bars = plot.hbar(
            y="y", right="share", left=0, height=0.36, source=ColumnDataSource(told), color=colour, fill_alpha=0.6
        )
        plot.add_tools(hover([bars], [("level", "@level"), ("share", "@text")]))
        marks.append(bars)
    plot.x_range.start = 0
    plot.yaxis.ticker = FixedTicker(ticks=places.tolist())
    plot.yaxis.major_label_overrides = {
        int(place): PlainText(text=shortened(visible(levels[j]), _NAME)) for place, j in zip(places, shown, strict=True)
    }
    legend(plot, [(visible(name), [mark], None) for name, mark in zip(names, marks, strict=True)])
    return plot

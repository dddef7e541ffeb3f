"""How well each score tells links: dots on a line, beside chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import ColumnDataSource, NumeralTickFormatter
from bokeh.models.annotations.geometry import Span

from assay.views.axes.legend import legend
from assay.views.axes.theme import CHANCE, LINE, REAL, figure, hover


def link_scores(
    names: Sequence[str], like: Sequence[float], every: Sequence[float], *, by_chance: Sequence[float] = ()
) -> Any:
    """Draw how often a link is above another pair, for each score.

    Args:
        names: of the scores, the first is drawn on top.
        like: (k,) share of pairs of like degrees that a link is above.
        every: (k,) share of all pairs.
        by_chance: what the statistic is in random graphs; drawn as ticks at the foot.

    Returns:
        A Bokeh figure.

    >>> link_scores(["degrees", "common"], [0.5, 0.8], [0.8, 0.9]).renderers[0].data_source.data["x"]
    [0.5, 0.8]
    """
    rows = [*reversed(names)]
    plot = figure(
        x_label="above pairs without a link", y_label="", height=150 + 26 * len(rows),
        x_range=(min(0.47, *like, *every) - 0.02, 1.02), y_range=["random networks", *rows] if len(by_chance) else rows,
    )  # fmt: skip
    marks = []
    for values, colour, shape in ((like, REAL, "circle"), (every, LINE, "diamond")):
        source = ColumnDataSource({"x": list(values), "y": list(names)})
        marks.append(plot.scatter("x", "y", source=source, size=11, marker=shape, color=colour, fill_alpha=0.55))
    if len(by_chance):
        drawn = ColumnDataSource({"x": list(by_chance), "y": ["random networks"] * len(by_chance)})
        marks.append(plot.scatter("x", "y", source=drawn, size=13, marker="dash", angle=1.5708, color=CHANCE))
    plot.add_layout(Span(location=0.5, dimension="height", line_color=CHANCE, line_dash="dashed"))
    plot.xaxis.formatter = NumeralTickFormatter(format="0%")
    plot.add_tools(hover(marks[:2], [("score", "@y"), ("above", "@x{0.0%}")]))
    words = ["above a pair with as many links", "above any pair", "the chosen score, in a random network"]
    legend(plot, [(word, [mark], 0) for word, mark in zip(words, marks, strict=False)])
    return plot

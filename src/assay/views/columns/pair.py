"""Two columns side by side: rows as points with a running median and quartiles, or boxes where one of them has levels.

A band of quartiles shows what a single line hides: whether the spread grows, and whether there are two branches. With
groups, each has a colour, a shape and a line of its own, so that a pair that rises overall and falls in every group is
seen at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from bokeh.models import AllLabels, ColumnDataSource, FixedTicker, NoOverlap, NumeralTickFormatter, PlainText
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.given import padded, row_numbers, vector
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import LINE, REAL, UNSEEN, figure, hover
from assay.views.axes.ticks import log_ticks, time_ticks
from assay.views.clusters.groups import GroupLooks, grouped
from assay.views.prediction.residuals import running_quantiles
from assay.views.rows.cloud import as_text, group_key, scatter_rows

Scale: TypeAlias = Literal["plain", "log", "time"]

ROWS = 2000
LEVELS = 12
_TOOLS = "pan,box_zoom,reset,save"
_FEWEST = 20  # rows from which on a running median says more than the points
_NAME = 16
_APART = 1e4  # from here on thousands stand apart, and 2007 is a year
_LINE_OF_NAMES = 33  # letters that stand side by side, on a phone too
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One of the two columns.

    Attributes:
        name: what is written beside the axis, with its unit.
        values: (n,) numbers; of a category the number of the level.
        scale: "log" draws log(1 + x), for values above -1; "time" takes days since 1970.
        levels: what the numbers stand for, where they are levels.
        whole: whether only whole numbers mean something, as of counts and years.
    """

    name: str
    values: ArrayLike
    scale: Scale = "plain"
    levels: Sequence[str] = ()
    whole: bool = False

    def places(self, n: int | None = None) -> Array:
        """(n,) where the values are drawn."""
        values = vector(self.name, self.values, n)
        if self.scale == "log" and np.any(values <= -1):
            raise ParameterError(f"{self.name} has values of -1 or less, which have no log(1 + x)")
        return np.log1p(values) if self.scale == "log" else values

    def dress(self, axis: Any, at: Array) -> None:
        """Name an axis of a figure and its ticks."""
        axis.axis_label = PlainText(text=self.name)
        if self.whole and self.scale == "plain" and not self.levels:
            axis.ticker.min_interval = 1
        if self.scale == "plain" and not self.levels and np.abs(at).max(initial=0.0) >= _APART:
            axis.formatter = NumeralTickFormatter(format="0,0")
        if self.levels:
            _name_levels(axis, [shortened(words, _NAME) for words in self.levels])
            axis.major_label_policy = NoOverlap(min_distance=1)
        elif self.scale != "plain" and at.size:
            low, high = float(at.min()), float(at.max())
            log = self.scale == "log"
            ticks = log_ticks(float(np.expm1(low)), float(np.expm1(high))) if log else time_ticks(low, high)
            places = [float(np.log1p(tick)) if log else tick for tick, _ in ticks]
            axis.ticker = FixedTicker(ticks=places)
            axis.major_label_overrides = {
                place: PlainText(text=words) for place, (_, words) in zip(places, ticks, strict=True)
            }


def pair_view(
    across: Axis, up: Axis, *, groups: Sequence[Any] | None = None, rows: ArrayLike | None = None, height: int = 380
) -> Any:
    """Draw two columns of numbers, at most 2,000 rows of them.

    Args:
        across: the column along the horizontal axis.
        up: the other.
        groups: (n,) labels; each group has its own running median.
        rows: (n,) row numbers as they are to be shown; by default counted from 1.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> pair_view(Axis("dose", [1.0, 2.0, 3.0]), Axis("effect", [0.1, 0.3, 0.2])).xaxis.axis_label.text
    'dose'
    """
    x = across.places()
    y = up.places(len(x))
    numbers = row_numbers(rows, len(x))
    told = []
    if len(x) > ROWS:
        kept = np.unique(np.linspace(0, len(x) - 1, ROWS).round().astype(np.intp))
        told = [f"{len(kept):,} of {len(x):,} rows are drawn; the lines are those of all."]
    else:
        kept = np.arange(len(x))
    plot = figure(x_label="", y_label="", height=height, tools=_TOOLS, x_range=padded(x), y_range=padded(y))
    across.dress(plot.xaxis[0], x)
    up.dress(plot.yaxis[0], y)
    looks = None if groups is None else grouped(groups)
    source = _source(across, up, x, y, kept, numbers, looks)
    said = [("across", "@x_text"), ("up", "@y_text"), *([("group", "@group")] if looks is not None else [])]
    scatter_rows(plot, source, "x", "y", said, grouped=looks is not None)
    if looks is None:
        _draw_middle(plot, x, y)
    else:
        _draw_groups(plot, x, y, looks)
    if told:
        note(plot, " ".join(told))
    return plot


def _source(
    across: Axis,
    up: Axis,
    x: Array,
    y: Array,
    kept: NDArray[np.intp],
    rows: NDArray[Any],
    looks: GroupLooks | None,
) -> ColumnDataSource:
    """The points; not among the rows that a page selects together, as these are drawn from the data as they came."""
    data = {
        "row": rows[kept], "x": x[kept], "y": y[kept],
        "x_text": as_text(np.asarray(across.values, dtype=np.float64)[kept]),
        "y_text": as_text(np.asarray(up.values, dtype=np.float64)[kept]),
    }  # fmt: skip
    if looks is not None:
        code = looks.code[kept]
        data |= {
            "tint": np.array(looks.colours, dtype=object)[code], "shape": np.array(looks.markers, dtype=object)[code],
            "group": np.array(looks.texts, dtype=object)[kept],
        }  # fmt: skip
    return ColumnDataSource(data)


def _draw_middle(plot: Any, x: Array, y: Array) -> None:
    if len(x) < _FEWEST or x.min() == x.max():
        return
    at, (low, median, high) = running_quantiles(x, y, (0.25, 0.5, 0.75))
    band = plot.varea(at, low, high, fill_color=UNSEEN, fill_alpha=0.2)
    line = plot.line(at, median, line_color=UNSEEN, line_width=3)
    legend(plot, [("running median", [line], None), ("half of the rows nearby", [band], None)])


def _draw_groups(plot: Any, x: Array, y: Array, looks: GroupLooks) -> None:
    """A running median for each group, and a dashed one for all rows."""
    for k, colour in enumerate(looks.colours):
        here = looks.code == k
        if here.sum() >= _FEWEST and x[here].min() < x[here].max():
            at, (median,) = running_quantiles(x[here], y[here], (0.5,))
            plot.line(at, median, line_color=colour, line_width=3)
    entries: list[Any] = [*group_key(plot, looks)]
    if len(x) >= _FEWEST and x.min() < x.max():
        at, (median,) = running_quantiles(x, y, (0.5,))
        line = plot.line(at, median, line_color=LINE, line_width=2.5, line_dash="dashed")
        entries.append(("all rows", [line], None))
    legend(plot, entries)


def boxes_view(across: Axis, up: Axis, *, height: int = 380) -> Any:
    """Draw a number by the levels of another column: median, quartiles, and where nine of ten rows lie.

    Of more than 12 levels those with most rows are drawn.

    Args:
        across: the column with levels; its values are their numbers.
        up: the number.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> plot = boxes_view(Axis("arm", [0, 0, 1, 1], levels=("a", "b")), Axis("effect", [1.0, 2.0, 3.0, 5.0]))
    >>> plot.xaxis.axis_label.text
    'arm'
    """
    codes = vector(across.name, across.values).astype(np.intp)
    y = up.places(len(codes))
    if not across.levels or (len(codes) and not 0 <= codes.min() <= codes.max() < len(across.levels)):
        raise ParameterError(f"{across.name} needs a name for each of its levels, which are numbered from 0")
    counts = np.bincount(codes, minlength=len(across.levels))
    most = np.sort(np.argsort(-counts, kind="stable")[:LEVELS])
    chosen = most[counts[most] > 0]
    names = [f"{shortened(across.levels[k], _NAME)} ({counts[k]:,})" for k in chosen]
    lines = [f"{shortened(across.levels[k], _NAME)}\n({counts[k]:,})" for k in chosen]
    ends = np.array([np.quantile(y[codes == k], _QUANTILES) for k in chosen]).reshape(-1, 5)
    plot = figure(
        x_label="", y_label="", height=height, tools="reset,save", x_range=(-0.6, max(len(chosen), 1) - 0.4),
        y_range=padded(ends.ravel()),
    )  # fmt: skip
    Axis(across.name, codes).dress(plot.xaxis[0], np.empty(0))
    steep = sum(max(map(len, line.split("\n"))) for line in lines) > _LINE_OF_NAMES
    _name_levels(plot.xaxis[0], names if steep else lines, steep=steep)
    up.dress(plot.yaxis[0], ends.ravel())
    _draw_boxes(plot, ends, np.expm1(ends) if up.scale == "log" else ends, names)
    if len(chosen) < np.count_nonzero(counts):
        note(plot, f"The {len(chosen)} levels with most rows of {np.count_nonzero(counts):,} are drawn.")
    return plot


def _name_levels(axis: Any, names: Sequence[str], *, steep: bool = False) -> None:
    """Name every level under its place; slanted where side by side they would have no room."""
    axis.ticker = FixedTicker(ticks=list(range(len(names))))
    axis.major_label_overrides = {j: PlainText(text=words) for j, words in enumerate(names)}
    axis.major_label_policy = AllLabels()
    axis.major_label_orientation = 0.7 if steep else "horizontal"


def _draw_boxes(plot: Any, ends: Array, said: Array, names: list[str]) -> None:
    places = {f"y{k}": ends[:, k] for k in range(5)}
    texts = {f"t{k}": as_text(said[:, k]) for k in range(5)}
    source = ColumnDataSource({"x": np.arange(len(names)), "level": names, **places, **texts})
    whiskers = [
        plot.segment("x", low, "x", high, source=source, line_color=LINE, line_width=2)
        for low, high in (("y0", "y1"), ("y3", "y4"))
    ]
    box = plot.vbar("x", 0.6, "y3", "y1", source=source, fill_color=REAL, fill_alpha=0.45, line_color=REAL)
    line = plot.rect("x", "y2", 0.6, 3, source=source, height_units="screen", fill_color=UNSEEN, line_color=None)
    legend(plot, [("median", [line], None), ("half of the rows", [box], None), ("nine of ten rows", whiskers, None)])
    told = [("level", "@level"), ("median", "@t2"), ("half of the rows", "@t1 to @t3"), ("nine of ten", "@t0 to @t4")]
    plot.add_tools(hover([box], told))

"""Where the rows lie along the components: biplot, pairs, order and strip, selected together.

Every figure here draws from one `score_source`, so rows selected in one figure are selected in all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from bokeh.models import BoxSelectTool, ColumnDataSource, NumeralTickFormatter
from bokeh.models.annotations.arrows import Arrow, NormalHead
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.placing import place_arrow_names, spread
from assay.views.axes.theme import ARROW, CHANCE, REAL, figure, hover, label
from assay.views.rows.cloud import TOOLS

ARROWS = 12
_NAME = 18
_UNIT = re.compile(r" \[[^\]]*\]$")
_HEIGHT = 430
_SHORT = 0.25  # of the longest arrow: shorter ones are drawn, and named under the pointer alone
_LENGTHS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)  # of the longest arrow, in distances of the farthest row
_ENOUGH = 0.05
_EDGE = 24.0  # pixels that a figure leaves free around its data
_PHONE_EDGE = 10.0
_NEARER = 8.0  # pixels by which another tip must be nearer before a name seems to be its
_FRAME = np.array([380.0, 330.0])  # pixels for the data on half a page
_NARROW = np.array([240.0, 330.0])  # and on a phone, where names without room are left to the pointer


def score_source(scores: ArrayLike, rows: ArrayLike) -> ColumnDataSource:
    """Hold the rows shown, once, for every figure that draws them.

    Args:
        scores: (m, k) positions along the components.
        rows: (m,) row numbers as they are to be shown.

    Returns:
        A source with the columns row, strip, c1 ... ck.

    >>> sorted(score_source([[0.5], [1.5]], [1, 2]).data)
    ['c1', 'row', 'strip']
    """
    scores, rows = np.asarray(scores, dtype=np.float64), np.asarray(rows)
    if scores.ndim != 2 or rows.shape != scores.shape[:1]:
        raise ParameterError(
            f"scores has one line per row shown; got shape {scores.shape} and row numbers {rows.shape}"
        )
    data: dict[str, Any] = {f"c{j + 1}": scores[:, j] for j in range(scores.shape[1])}
    data |= {"row": rows, "strip": spread(scores[:, 0])}
    return ColumnDataSource(data, name="rows")


def biplot(source: ColumnDataSource, loadings: ArrayLike, names: Sequence[str], share: ArrayLike) -> Any:
    """Rows and columns in one map: points along the two leading components, arrows for the columns.

    An arrow points where its column grows; its length is the column's correlation with the two components.
    The twelve longest are drawn, all stretched alike so that they and their names lie among the rows; names of arrows
    that are short beside the others are shown under the pointer alone.

    Args:
        source: from `score_source`, with at least two components.
        loadings: (d, k) correlations of columns with components.
        names: (d,) of the columns.
        share: (k,) shares of the variance, for the axes.

    Returns:
        A Bokeh figure.

    >>> source = score_source([[0.0, 1.0], [1.0, 0.0]], [1, 2])
    >>> biplot(source, [[0.9, 0.1]], ["Milk"], [0.6, 0.3]).xaxis.axis_label.text
    'component 1 (60.0% of variance)'
    """
    loadings = np.asarray(loadings, dtype=np.float64)[:, :2]
    if len(names) != len(loadings):
        raise ParameterError(f"names are one per column; got {len(names)} for {len(loadings)} columns")
    plot = score_pair(source, 1, 2, share)
    length = np.hypot(loadings[:, 0], loadings[:, 1])
    longest = np.argsort(-length, kind="stable")[:ARROWS]
    longest = longest[length[longest] > 0]
    if not len(longest):
        return plot
    points = np.stack([source.data["c1"], source.data["c2"]], axis=1)
    written = _told_apart(_without_units([names[i] for i in longest]))
    called = [
        name if length[i] >= _SHORT * length[longest[0]] else "" for i, name in zip(longest, written, strict=True)
    ]
    tips, layout = _fitted(loadings[longest] / length[longest[0]], called, points)
    arrows = ColumnDataSource(
        {
            "x": tips[:, 0],
            "y": tips[:, 1],
            "name": [names[i] for i in longest],
            "first": loadings[longest, 0],
            "second": loadings[longest, 1],
        }
    )
    shafts = Arrow(x_start=0, y_start=0, x_end="x", y_end="y", source=arrows)
    shafts.end = NormalHead(size=9, fill_color=ARROW, line_color=ARROW)
    shafts.update(line_color=ARROW, line_width=2)
    plot.add_layout(shafts)
    ends = plot.scatter("x", "y", source=arrows, size=16, alpha=0.0, selection_alpha=0.0, nonselection_alpha=0.0)
    said = [("column", "@name"), ("with component 1", "@first{0.00}"), ("with component 2", "@second{0.00}")]
    plot.add_tools(hover([ends], said))
    _write_names(plot, tips, called, layout)
    return plot


def _without_units(names: Sequence[str]) -> list[str]:
    """Names too long to write without what stands in parentheses at their end, if that leaves them different.

    >>> _without_units(["sold (days since 2007-01-09)", "sold: weekday (Monday = 1)"])
    ['sold', 'sold: weekday']
    """
    bare = [
        name[: name.rfind(" (")] if len(name) > _NAME and name.endswith(")") and " (" in name else name
        for name in names
    ]
    return [own if bare.count(own) == 1 else name for own, name in zip(bare, names, strict=True)]


def _called(name: str) -> str:
    """A name short enough to write; of a level of a column the level, which tells it from the others.

    >>> _called("Milk"), _called("education = secondary school"), _called("level at 249 Hz [dB]")
    ('Milk', '…secondary school', 'level at 249 Hz')
    """
    name = _UNIT.sub("", name)
    column, _, level = name.rpartition(" = ")
    return shortened(f"…{level}" if column and len(name) > _NAME else name, _NAME)


def _told_apart(names: list[str]) -> list[str]:
    """Names short enough to write; those that would be written alike without what they begin with alike.

    >>> _told_apart(["level of the sound at 249 hertz here", "level of the sound at 493 hertz here", "loudness"])
    ['…249 hertz here', '…493 hertz here', 'loudness']
    """
    called = [_called(name) for name in names]
    alike = {text: [name for name, said in zip(names, called, strict=True) if said == text] for text in called}
    return [
        text if len(alike[text]) == 1 else shortened(f"…{name[_shared(alike[text]) :]}", _NAME)
        for name, text in zip(names, called, strict=True)
    ]


def _shared(names: list[str]) -> int:
    """How many letters all of them begin with alike."""
    return next((k for k, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Where names go.

    Attributes:
        offsets: (m, 2) from the tip to the middle of each name, in pixels; NaN where it has no place beside its tip.
        corners: (c, 2) of the names, in units of the data.
        wide: (m,) names that have no room on a narrow page.
    """

    offsets: Array
    corners: Array
    wide: NDArray[np.bool_]


def _fitted(shafts: Array, names: list[str], points: Array) -> tuple[Array, _Layout]:
    """Arrows as long as leaves them and their names among the rows; as short as may be where names are too long.

    Args:
        shafts: (m, 2) the longest of length 1.
        names: (m,) empty where none is written.
        points: (n, 2) the rows.
    """
    reach = float(np.hypot(points[:, 0], points[:, 1]).max(initial=1.0))
    best: tuple[float, Array, _Layout] | None = None
    for part in _LENGTHS:
        tips = shafts * part * reach
        layout = _laid_out(tips, names, np.vstack([tips, points]))
        both = np.vstack([points, tips, layout.corners])
        across = np.ptp(points, axis=0) if len(points) else np.zeros(2)
        room = float((np.ptp(both, axis=0) / np.maximum(across, 1e-12)).max())
        if best is None or room < best[0] - _ENOUGH:
            best = room, tips, layout
        if room <= 1.0 + _ENOUGH:
            break
    assert best is not None
    return best[1], best[2]


def _laid_out(tips: Array, names: list[str], drawn: Array) -> _Layout:
    """Names beside the tips, for a frame of the usual size."""
    named = np.flatnonzero([bool(name) for name in names])
    offsets, wide = np.full_like(tips, np.nan), np.zeros(len(tips), dtype=bool)
    corners = drawn
    for _ in range(4):  # names at the edges widen the range, which shrinks the pixels per unit they were placed by
        pixels = _pixels(_FRAME, drawn, corners)
        places, half = place_arrow_names(tips[named] * pixels, [len(names[i]) for i in named])
        own = _own(places, half, tips[named] * pixels)
        named, places, half = named[own], places[own], half[own]
        corners = np.vstack([places - half, places + half]) / pixels if len(named) else drawn
    offsets[named] = places - tips[named] * pixels
    # the same names where the tips are nearer to each other and to the edges
    pixels = _pixels(_NARROW, drawn, corners)
    ends = np.vstack([drawn, corners])
    low, high = ends.min(axis=0) * pixels, ends.max(axis=0) * pixels
    middles = tips[named] * pixels + offsets[named]
    shown: list[int] = []
    for k, i in enumerate(named):
        inside = np.all((middles[k] - half[k] >= low - _PHONE_EDGE) & (middles[k] + half[k] <= high + _PHONE_EDGE))
        covers = any(np.all(np.abs(middles[k] - middles[j]) < half[k] + half[j]) for j in shown)
        if inside and not covers:
            shown.append(k)
        else:
            wide[i] = True
    return _Layout(offsets, corners, wide)


def _own(places: Array, half: Array, tips: Array) -> NDArray[np.bool_]:
    """Which names lie nearer to their own tip than to any other, so that none is read as the name of another arrow."""
    apart = np.maximum(np.abs(places[:, None] - tips) - half[:, None], 0.0)
    far = np.hypot(apart[..., 0], apart[..., 1])
    own: NDArray[np.bool_] = far.diagonal() <= far.min(axis=1, initial=np.inf) + _NEARER
    return own


def _pixels(frame: Array, drawn: Array, corners: Array) -> float:
    return float(np.min(frame / np.maximum(np.ptp(np.vstack([drawn, corners]), axis=0), 1e-12)))


def _write_names(plot: Any, tips: Array, names: list[str], layout: _Layout) -> None:
    """Write names beside the tips, and make room for them where they lie at the edges."""
    for (x, y), name, (right, up), wide in zip(tips, names, layout.offsets, layout.wide, strict=True):
        if not name or np.isnan(right):
            continue
        words = label(
            float(x), float(y), name, text_align="center", text_baseline="middle", text_font_style="bold",
            x_offset=float(right), y_offset=float(up), background_fill_color="#ffffff", background_fill_alpha=0.7,
        )  # fmt: skip
        words.tags = ["name", float(_FRAME[0] - _EDGE) if wide else 0.0]
        plot.add_layout(words)
    plot.scatter(layout.corners[:, 0], layout.corners[:, 1], size=0, alpha=0.0)


def score_pair(source: ColumnDataSource, x: int, y: int, share: ArrayLike) -> Any:
    """Rows along two components.

    Args:
        source: from `score_source`.
        x: number of the component across, from 1.
        y: number of the component upward, from 1.
        share: (k,) shares of the variance.

    Returns:
        A Bokeh figure.

    >>> source = score_source([[0.0, 1.0], [1.0, 0.0]], [1, 2])
    >>> score_pair(source, 1, 2, [0.6, 0.3]).yaxis.axis_label.text
    'component 2 (30.0% of variance)'
    """
    plot = figure(x_label=_axis(x, share), y_label=_axis(y, share), height=_HEIGHT, tools=TOOLS, match_aspect=True)
    _quiet_zero(plot, "height")
    _quiet_zero(plot, "width")
    said = [("row", "@row"), (f"component {x}", f"@c{x}{{0.00}}"), (f"component {y}", f"@c{y}{{0.00}}")]
    _points(plot, source, f"c{x}", f"c{y}", said)
    return plot


def score_by_row(source: ColumnDataSource, number: int, share: ArrayLike) -> Any:
    """Rows along one component in the order of the data: a drift or steps mean that rows are not independent.

    Args:
        source: from `score_source`.
        number: of the component, from 1.
        share: (k,) shares of the variance.

    Returns:
        A Bokeh figure.

    >>> score_by_row(score_source([[0.5], [1.5]], [1, 2]), 1, [1.0]).xaxis.axis_label.text
    'row, in the order of the data'
    """
    plot = figure(x_label="row, in the order of the data", y_label=_axis(number, share), height=_HEIGHT, tools=TOOLS)
    plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    _quiet_zero(plot, "width")
    _points(plot, source, "row", f"c{number}", [("row", "@row"), (f"component {number}", f"@c{number}{{0.00}}")])
    return plot


def score_strip(source: ColumnDataSource, share: ArrayLike) -> Any:
    """Rows along the first component alone, as a strip of dots that is thick where rows are many.

    Args:
        source: from `score_source`.
        share: (k,) shares of the variance.

    Returns:
        A Bokeh figure.

    >>> score_strip(score_source([[0.5], [1.5]], [1, 2]), [1.0]).yaxis.visible
    False
    """
    plot = figure(x_label=_axis(1, share), y_label="", height=_HEIGHT, tools=TOOLS, y_range=(-1.8, 1.8))
    plot.yaxis.visible = False
    plot.ygrid.visible = False
    _quiet_zero(plot, "height")
    _points(plot, source, "c1", "strip", [("row", "@row"), ("component 1", "@c1{0.00}")])
    return plot


def _points(plot: Any, source: ColumnDataSource, x: str, y: str, said: list[tuple[str, str]]) -> None:
    marks = plot.scatter(
        x, y, source=source, size=7, fill_color=REAL, fill_alpha=0.28, line_color=REAL, line_alpha=0.75,
        selection_fill_alpha=0.75, selection_line_alpha=1.0,
        nonselection_fill_alpha=0.05, nonselection_line_alpha=0.2,
    )  # fmt: skip
    plot.add_tools(hover([marks], said))
    plot.toolbar.active_drag = plot.select_one(BoxSelectTool)


def _quiet_zero(plot: Any, dimension: Literal["width", "height"]) -> None:
    zero = Span(location=0, dimension=dimension, line_color=CHANCE, line_alpha=0.5, line_width=1)
    zero.level = "underlay"
    plot.add_layout(zero)


def _axis(number: int, share: ArrayLike) -> str:
    return f"component {number} ({np.asarray(share)[number - 1]:.1%} of variance)"

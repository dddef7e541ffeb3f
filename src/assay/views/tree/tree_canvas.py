"""A figure for a tree: heights along one axis, the ends of its branches along the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, PlainText
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.theme import figure
from assay.views.tree.tree_scale import HeightScale

Orientation: TypeAlias = Literal["left", "top"]

SLOT = 15  # pixels of a line of words
_AROUND = 70
_TALL = 430
_NAME = 24
OVER = 1.03  # the trunk stands out over the last merge
UNDER = 0.045  # room for marks below height zero


class TreeCanvas:
    """An empty figure that takes heights and places, whichever way the tree hangs.

    Args:
        length: ends lie between 0 and this.
        heights: the scale of the heights.
        orientation: where the last merge is.
        words: what the heights are.

    >>> canvas = TreeCanvas(3.0, HeightScale("linear", 2.0, 0.0), "top", "height, km")
    >>> canvas.plot.yaxis.axis_label.text
    'height, km'
    """

    def __init__(self, length: float, heights: HeightScale, orientation: Orientation, words: str) -> None:
        if orientation not in ("left", "top"):
            raise ParameterError(f"orientation is 'left' or 'top'; got {orientation!r}")
        self.heights, self.length, self.upright = heights, length, orientation == "top"
        look: dict[str, Any] = {"x_range": (OVER, -UNDER), "y_range": (length, 0.0), "y_axis_location": "right"}
        look["height"] = _AROUND + round(SLOT * max(length, 4.0))
        if self.upright:
            look = {"x_range": (0.0, length), "y_range": (-UNDER, OVER), "height": _TALL}
        self.plot = figure(x_label="", y_label="", tools="box_zoom,reset,save", **look)
        rule, self.ends = (self.plot.yaxis, self.plot.xaxis) if self.upright else (self.plot.xaxis, self.plot.yaxis)
        ticks = heights.ticks()
        rule.update(axis_label=PlainText(text=words + heights.words), bounds=(0.0, OVER))
        rule.update(ticker=FixedTicker(ticks=[at for at, _ in ticks]), major_label_overrides=dict(ticks))
        self.plot.xgrid.visible, self.plot.ygrid.visible = not self.upright, self.upright
        self.ends.update(axis_line_alpha=0.0, major_tick_line_alpha=0.0, major_label_standoff=0)
        self.ends.major_label_orientation = np.pi / 2 if self.upright else "horizontal"

    def at(self, heights: ArrayLike) -> Array:
        """Where heights lie on the axis of heights."""
        return self.heights.place(heights)

    def segments(self, start: tuple[Any, Any], end: tuple[Any, Any], **style: Any) -> Any:
        """Draw lines between (heights, places), heights as `at` gives them; styles may differ from line to line."""
        (x0, y0), (x1, y1) = self._turned(*start), self._turned(*end)
        return self._drawn(self.plot.segment, {"x0": x0, "y0": y0, "x1": x1, "y1": y1}, {}, style)

    def marks(self, heights: Any, places: Any, told: dict[str, Any], **style: Any) -> Any:
        """Draw marks that know what is told of them."""
        x, y = self._turned(heights, places)
        return self._drawn(self.plot.scatter, {"x": x, "y": y}, told, style)

    def patches(self, heights: list[Any], places: list[Any], told: dict[str, Any], **style: Any) -> Any:
        """Draw shapes by their corners."""
        x, y = self._turned(heights, places)
        return self._drawn(self.plot.patches, {"xs": x, "ys": y}, told, style)

    def name(self, places: Array, words: Sequence[str]) -> None:
        """Write words beside the ends."""
        self.ends.ticker = FixedTicker(ticks=places.tolist())
        self.ends.major_label_overrides = {
            at: PlainText(text=shortened(text, _NAME)) for at, text in zip(places.tolist(), words, strict=True)
        }

    def _turned(self, heights: Any, places: Any) -> tuple[Any, Any]:
        return (places, heights) if self.upright else (heights, places)

    @staticmethod
    def _drawn(glyph: Any, spots: dict[str, Any], told: dict[str, Any], style: dict[str, Any]) -> Any:
        many = {key: value for key, value in style.items() if isinstance(value, list)}
        source = ColumnDataSource({**spots, **told, **many})
        return glyph(source=source, **{key: key for key in spots}, **(style | {key: key for key in many}))

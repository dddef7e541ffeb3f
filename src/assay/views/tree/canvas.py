"""A figure for a tree: heights along one axis, on a scale that tells merges apart, ends of branches along the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, PlainText
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.theme import figure
from assay.views.axes.ticks import Tick, brief, number_ticks

Orientation: TypeAlias = Literal["left", "top"]
Kind: TypeAlias = Literal["auto", "linear", "sqrt", "log"]

_ROOT_BELOW = 0.2  # the middle of the heights, as a share of the largest
_LOG_BELOW = 0.01
_BELOW = 1.5  # on a log scale zero lies at the lowest height over this
_WORDS = {"linear": "", "sqrt": " (√ scale)", "log": " (log scale)"}

SLOT = 15  # pixels of a line of words
_AROUND = 70
_TALL = 430
_NAME = 24
OVER = 1.03  # the trunk stands out over the last merge
UNDER = 0.045  # room for marks below height zero


@dataclass(frozen=True, slots=True)
class HeightScale:
    """Heights to places from 0 to 1.

    Attributes:
        kind: "linear", "sqrt" or "log".
        top: the height at place 1.
        floor: the height at place 0.
    """

    kind: Literal["linear", "sqrt", "log"]
    top: float
    floor: float

    @classmethod
    def of(cls, heights: ArrayLike, kind: Kind = "auto") -> HeightScale:
        """Choose a scale: plain unless half of the heights lie within a fifth of the largest, then the square root; a
        logarithm where they lie within a hundredth.

        Args:
            heights: those that are drawn.
            kind: or the scale itself.

        >>> HeightScale.of([1.0, 2.0, 90.0]).kind
        'sqrt'
        """
        if kind not in ("auto", *_WORDS):
            raise ParameterError(f"scale is 'auto', 'linear', 'sqrt' or 'log'; got {kind!r}")
        found = np.asarray(heights, dtype=np.float64)
        found = found[found > 0]
        if not len(found):
            return cls("linear", 1.0, 0.0)
        top, middle = float(found.max()), float(np.median(found / found.max()))
        if kind == "auto":
            kind = "linear" if middle >= _ROOT_BELOW else "sqrt" if middle >= _LOG_BELOW else "log"
        return cls(kind, top, float(found.min()) / _BELOW if kind == "log" else 0.0)

    def place(self, heights: ArrayLike) -> Array:
        """Where heights lie.

        >>> HeightScale("sqrt", 100.0, 0.0).place([0.0, 25.0, 100.0]).tolist()
        [0.0, 0.5, 1.0]
        """
        share = np.asarray(heights, dtype=np.float64) / self.top
        if self.kind == "log":
            lowest = np.log(self.floor / self.top)
            return np.asarray(1.0 - np.log(np.maximum(share, self.floor / self.top)) / lowest)
        return np.asarray(np.sqrt(share) if self.kind == "sqrt" else share)

    @property
    def words(self) -> str:
        """What to add to the name of the axis."""
        return _WORDS[self.kind]

    def ticks(self, apart: float = 0.09) -> list[Tick]:
        """Places of round heights with their words.

        Args:
            apart: how far apart they are at least.

        >>> HeightScale("sqrt", 100.0, 0.0).ticks(0.2)
        [(0.0, '0'), (0.22360679774997896, '5'), (0.4472135954999579, '20'), (0.7071067811865476, '50'), (1.0, '100')]
        """
        if self.kind == "linear":
            return [(tick / self.top, words) for tick, words in number_ticks(0.0, self.top, 8)]
        power = np.floor(np.log10(self.top))
        steps = [digit * 10.0 ** (power - k) for k in range(16) for digit in (5.0, 2.0, 1.0)]
        kept: list[Tick] = []
        for height in [step for step in steps if self.floor < step <= self.top]:
            at = float(self.place(height))
            if at >= apart and (not kept or kept[-1][0] - at >= apart):
                kept.append((at, brief(height)))
        return [(0.0, "0")] * (self.kind == "sqrt") + kept[::-1]


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
        words += heights.words
        across, up = ("", words) if self.upright else (words, "")
        self.plot = figure(x_label=across, y_label=up, tools="box_zoom,reset,save", **look)
        rule, self.ends = (self.plot.yaxis, self.plot.xaxis) if self.upright else (self.plot.xaxis, self.plot.yaxis)
        ticks = heights.ticks()
        rule.bounds = (0.0, OVER)
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

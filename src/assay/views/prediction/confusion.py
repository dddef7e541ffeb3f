"""Which class is taken for which: what is right stays quiet, what is confused stands out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, FixedTicker, NoOverlap, PlainText
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.given import names_of
from assay.views.axes.legend import legend, note
from assay.views.axes.numbers import percent
from assay.views.axes.theme import CHANCE, FONT, UNSEEN, figure, hover

CLASSES = 30
NUMBERS = 12  # classes up to which the counts are written into the cells
_SHARES = 6  # classes up to which the shares stand there too
_NAMED = 3
_NAME = 16
_RIGHT = "#dfe3e7"


def confusion_view(matrix: ArrayLike, names: Sequence[str] | None = None) -> Any:
    """Draw counts of true against predicted classes, coloured by their share of the true class.

    Of more than 30 classes those that take part in most confusions are drawn.

    Args:
        matrix: (g, g) rows of a class (down) called a class (across), as `assay.confusion` counts them.
        names: (g,) of the classes.

    Returns:
        A Bokeh figure.

    >>> plot = confusion_view([[8, 2], [0, 10]], ["cat", "dog"])
    >>> plot.below[-1].items[0].label.value
    '18 of 20 rows are right (90.0%). Most confused: cat taken for dog (2, 20.0%).'
    """
    counts = np.asarray(matrix)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not len(counts):
        raise ParameterError(f"matrix has a line and a place for each class, (g, g); got shape {counts.shape}")
    if not np.all(np.isfinite(counts)) or np.any(counts < 0) or np.any(counts != np.round(counts)):
        raise ParameterError("matrix holds counts of rows: whole numbers that are not negative")
    counts = counts.astype(np.int64)
    called = names_of(names, len(counts), word="class")
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)
    chosen = _most_confused(counts)
    m = len(chosen)
    written = [called[j] for j in chosen]
    side = int(np.clip(46 * m, 190, 560))
    plot = figure(
        x_label="predicted", y_label="true", height=side + 170, max_width=side + 260, x_range=(-0.5, m - 0.5),
        y_range=(m - 0.5, -0.5),
    )  # fmt: skip
    plot.grid.visible = False
    _draw_cells(plot, counts[np.ix_(chosen, chosen)], shares[np.ix_(chosen, chosen)], written)
    for axis in (plot.xaxis, plot.yaxis):
        axis.ticker = FixedTicker(ticks=list(range(m)))
        axis.major_label_overrides = {j: PlainText(text=shortened(name, _NAME)) for j, name in enumerate(written)}
        axis.major_label_policy = NoOverlap(min_distance=1)
        axis.update(axis_line_alpha=0.0, major_tick_out=0)
    plot.xaxis.major_label_orientation = "horizontal" if max(map(len, written)) * m <= 40 else 0.9
    _name_colours(plot)
    note(plot, _caption(counts, shares, called, m))
    return plot


def _most_confused(counts: NDArray[np.int64]) -> NDArray[np.intp]:
    wrong = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts)
    return np.sort(np.argsort(-wrong, kind="stable")[:CLASSES])


def _draw_cells(plot: Any, counts: NDArray[np.int64], shares: Array, names: list[str]) -> None:
    m = len(names)
    down, across = np.divmod(np.arange(m * m), m)
    right, many, part = down == across, counts.ravel(), shares.ravel()
    told = np.array([percent(float(share)) for share in part], dtype=object)
    source = ColumnDataSource(
        {
            "x": across, "y": down, "count": many, "share": told,
            "true": np.array(names, dtype=object)[down], "called": np.array(names, dtype=object)[across],
            "tint": [_RIGHT if own else _tint(float(share)) for own, share in zip(right, part, strict=True)],
            "seen": np.where(right | (many > 0), 1.0, 0.0),
            "text": [f"{n:,}" if n else "" for n in many],
            "below": [f"{share:.0%}" if n else "" for n, share in zip(many, part, strict=True)],
        }
    )  # fmt: skip
    cells = plot.rect(
        "x", "y", 0.96, 0.94, source=source, fill_color="tint", fill_alpha="seen", line_color=CHANCE, line_alpha=0.25
    )
    said = [("true", "@true"), ("predicted", "@called"), ("rows", "@count{0,0}"), ("of its class", "@share")]
    plot.add_tools(hover([cells], said))
    if m <= NUMBERS:
        style: dict[str, Any] = {"source": source, "text_align": "center", "text_font": value(FONT)}
        two = m <= _SHARES
        plot.text("x", "y", "text", text_font_size="13px" if two else "11px",
                  text_baseline="bottom" if two else "middle", **style)  # fmt: skip
        if two:
            plot.text("x", "y", "below", text_font_size="11px", text_baseline="top", y_offset=2, **style)


def _tint(share: float) -> str:
    """From nearly white to orange: a single row of thousands can still be seen, and words on it be read."""
    part = 0.12 + 0.75 * share**0.5
    mixed = (round(255 + part * (int(UNSEEN[k : k + 2], 16) - 255)) for k in (1, 3, 5))
    return "#" + "".join(f"{level:02x}" for level in mixed)


def _name_colours(plot: Any) -> None:
    nowhere = [np.nan]
    style: dict[str, Any] = {"marker": "square", "size": 13, "line_color": CHANCE}
    entries: list[Any] = [("right", [plot.scatter(nowhere, nowhere, fill_color=_RIGHT, **style)], None)]
    for share in (0.01, 0.1, 0.5):
        key = plot.scatter(nowhere, nowhere, fill_color=_tint(share), **style)
        entries.append((f"{share:.0%}{' of a class' if share == 0.5 else ''} confused", [key], None))
    legend(plot, entries)


def _caption(counts: NDArray[np.int64], shares: Array, names: list[str], m: int) -> str:
    g, n, right = len(counts), int(counts.sum()), int(np.trace(counts))
    told = [f"{right:,} of {n:,} rows are right ({percent(right / n)})." if n else "There are no rows."]
    off = np.where(np.eye(g, dtype=bool), 0, counts).ravel()
    largest = [int(at) for at in np.argsort(-off, kind="stable")[:_NAMED] if off[at] > 0]
    if largest:
        pairs = [
            f"{shortened(names[at // g], _NAME)} taken for {shortened(names[at % g], _NAME)} "
            f"({off[at]:,}, {percent(float(shares.ravel()[at]))})"
            for at in largest
        ]
        told.append(f"Most confused: {'; '.join(pairs)}.")
    if m < g:
        told.append(f"{m} of {g:,} classes are drawn, those in most confusions.")
    return " ".join(told)

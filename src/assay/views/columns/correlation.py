"""The correlation picture: every pair of columns a coloured cell, related columns side by side.

Blue is together, orange is against each other, as strong as they are far from white; both differ in lightness from
white, and in hue for every kind of colour vision. A pair that is not supported is faint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, FixedTicker, LinearColorMapper, NoOverlap, PlainText
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.given import names_of
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, FONT, figure, hover
from assay.views.columns.array_plot import palette

COLUMNS = 150
CELLS = 60  # columns up to which each cell is drawn on its own
NUMBERS = 8  # columns up to which the numbers are written into the cells
_NAME = 18
_WIDE, _CARD = 88, 440  # pixels of a cell where there are few, and of all of them in the width of a card
_WRITTEN = 33  # pixels of a cell that its number needs
_LETTER = 7  # pixels of a letter of a name
_WORDS = 125  # pixels above and below for tools, colours and note
_BLOCK = 512
_FAINT = 0.75  # share of the ground mixed into what is not supported
_GROUND = 243
_DIAGONAL = 125
_UNKNOWN = 126
_ROUNDING = 1e-6  # of single precision


def correlation_view(
    matrix: ArrayLike,
    names: Sequence[str] | None = None,
    *,
    order: ArrayLike | None = None,
    rank: ArrayLike | None = None,
    supported: ArrayLike | None = None,
) -> Any:
    """Draw a matrix of correlations; with rank correlations, these below the diagonal and the others above.

    Of more than 150 columns those with the strongest correlations are drawn, and the note tells what the others reach.

    Args:
        matrix: (d, d) correlations, symmetric; NaN where there is none, as for a constant column.
        names: (d,) of the columns.
        order: (d,) numbers of the columns in the order they are drawn, such as a seriation puts them.
        rank: (d, d) rank correlations.
        supported: (d, d) true where a pair is distinguished from chance; the others are faint.

    Returns:
        A Bokeh figure.

    >>> plot = correlation_view([[1.0, 0.8], [0.8, 1.0]], ["age", "dose"])
    >>> plot.renderers[0].data_source.data["said"].tolist()
    ['', '0.80', '0.80', '']
    """
    pearson = _square("matrix", matrix)
    d = len(pearson)
    called = names_of(names, d)
    ranks = None if rank is None else _square("rank", rank, d)
    sure = None if supported is None else _flags(supported, d)
    chosen, rest = _strongest(pearson)
    chosen = _ordered(chosen, order, d)
    shown = np.array(pearson[np.ix_(chosen, chosen)])
    if ranks is not None:
        below = np.tril_indices(len(chosen), -1)
        shown[below] = ranks[np.ix_(chosen, chosen)][below]
    clear = None if sure is None else sure[np.ix_(chosen, chosen)]
    shades = _shades(shown, clear)
    m = len(chosen)
    written = [called[j] for j in chosen]
    side = int(np.clip(max(26 * m, min(_WIDE * m, _CARD)), 260, 620))
    room = _LETTER * max((len(shortened(name, _NAME)) for name in written), default=0)
    plot = figure(
        x_label="", y_label="", height=side + room + _WORDS, max_width=side + room + 20, tools="box_zoom,reset,save",
        x_range=(-0.5, max(m, 1) - 0.5), y_range=(max(m, 1) - 0.5, -0.5),
    )  # fmt: skip
    plot.update(sizing_mode="scale_width", width=side + room + 20)  # cells stay nearly square on a narrow page
    plot.grid.visible = False
    mapper = LinearColorMapper(palette=_palette(), low=-0.5, high=_UNKNOWN + 0.5)
    kinds = ("correlation", "correlation") if ranks is None else ("Pearson", "rank")
    if m <= CELLS:
        cells = _draw_cells(plot, shown, shades, clear, written, mapper, kinds)
    else:
        cells = _draw_image(plot, shown, shades, clear, written, mapper, kinds)
    said = [("columns", "@one, @other"), ("", "@kind @said"), *([("supported", "@sure")] if clear is not None else [])]
    plot.add_tools(hover([cells], said))
    _name_sides(plot, written)
    _name_colours(plot, mapper, clear is not None)
    if told := _caption(shown, m, d, rest, ranks is not None):
        note(plot, told)
    return plot


def _square(name: str, values: ArrayLike, d: int | None = None) -> Array:
    table = np.asarray(values)
    table = table if table.dtype in (np.float32, np.float64) else table.astype(np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or (d is not None and len(table) != d):
        wanted = "(d, d)" if d is None else f"({d}, {d})"
        raise ParameterError(f"{name} has one line and one place per column, {wanted}; got shape {table.shape}")
    for start in range(0, len(table), _BLOCK):  # of 20,000 columns no second copy is made
        part = table[start : start + _BLOCK]
        if np.any(np.abs(part) > 1 + _ROUNDING):
            i, j = np.argwhere(np.abs(part) > 1 + _ROUNDING)[0]
            raise ParameterError(
                f"{name} holds correlations, between -1 and 1; got {part[i, j]:.6g} at ({start + i}, {j}), from 0"
            )
    return table


def _flags(supported: ArrayLike, d: int) -> NDArray[np.bool_]:
    sure = np.asarray(supported)
    if sure.shape != (d, d) or sure.dtype != np.bool_:
        raise ParameterError(
            f"supported is true or false for each pair, ({d}, {d}); got {sure.dtype} values of shape {sure.shape}"
        )
    return sure


def _strongest(table: Array) -> tuple[NDArray[np.intp], float]:
    """Columns that are drawn, and the largest correlation of any other: strongest pairs stay together."""
    d = len(table)
    if d <= COLUMNS:
        return np.arange(d), 0.0
    reach = np.empty(d)
    for start in range(0, d, _BLOCK):
        part = np.nan_to_num(np.abs(table[start : start + _BLOCK]))
        part[np.arange(len(part)), start + np.arange(len(part))] = 0.0
        reach[start : start + len(part)] = part.max(axis=1)
    ranked = np.argsort(-reach, kind="stable")
    return np.sort(ranked[:COLUMNS]), float(reach[ranked[COLUMNS]])


def _ordered(chosen: NDArray[np.intp], order: ArrayLike | None, d: int) -> NDArray[np.intp]:
    if order is None:
        return chosen
    given = np.asarray(order)
    if given.shape != (d,) or not np.array_equal(np.sort(given), np.arange(d)):
        raise ParameterError(f"order names each of the {d} columns once, from 0; got shape {given.shape}")
    kept: NDArray[np.intp] = given[np.isin(given, chosen)].astype(np.intp)
    return kept


def _shades(shown: Array, clear: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    """0 to 61 as the array plot has them, 62 to 124 the same but faint, then the diagonal and what is not known."""
    steps = 31 + np.round(30 * np.clip(np.nan_to_num(shown), -1, 1))
    if clear is not None:
        steps = np.where(clear, steps, steps + 62)
    steps[np.isnan(shown)] = _UNKNOWN
    np.fill_diagonal(steps, _DIAGONAL)
    return steps.astype(np.uint8)


def _palette() -> list[str]:
    strong = palette()
    levels = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in strong], dtype=np.float64)
    mixed = (levels + _FAINT * (_GROUND - levels)).round().astype(int)
    faint = [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in mixed]
    return [*strong, *faint, faint[0], "#d5d8dc", CHANCE]


def _draw_cells(
    plot: Any, shown: Array, shades: NDArray[np.uint8], clear: NDArray[np.bool_] | None, names: list[str],
    mapper: Any, kinds: tuple[str, str],
) -> Any:  # fmt: skip
    m = len(names)
    down, across = np.divmod(np.arange(m * m), max(m, 1))
    values, sure = shown.ravel(), np.ones(m * m, dtype=bool) if clear is None else clear.ravel()
    near = values.round(2) + 0.0  # takes the sign off a rounded zero
    texts = np.array(["not known" if np.isnan(v) else f"{v:.2f}".replace("-", "−") for v in near], dtype=object)
    texts[down == across] = ""
    short = np.array([text.replace("0.", ".", 1) if text != "not known" else "" for text in texts], dtype=object)
    kind = np.where(down > across, kinds[1], kinds[0])
    source = ColumnDataSource(
        {
            "x": across, "y": down, "shade": shades.ravel(), "said": texts, "short": short, "kind": kind.astype(object),
            "one": np.array(names, dtype=object)[down], "other": np.array(names, dtype=object)[across],
            "sure": np.where(sure, "yes", "no").astype(object),
            "ink": np.where(sure, "#1c2025", CHANCE).astype(object),
        }
    )  # fmt: skip
    cells = plot.rect(
        "x", "y", 0.96, 0.96, source=source, line_color=None, fill_color={"field": "shade", "transform": mapper}
    )
    if m <= NUMBERS:
        written = plot.text(
            "x", "y", "short", source=source, text_font=value(FONT), text_font_size="12px", text_color="ink",
            text_align="center", text_baseline="middle",
        )  # fmt: skip
        written.tags = ["name", _WRITTEN * m]
    return cells


def _draw_image(
    plot: Any, shown: Array, shades: NDArray[np.uint8], clear: NDArray[np.bool_] | None, names: list[str],
    mapper: Any, kinds: tuple[str, str],
) -> Any:  # fmt: skip
    """All cells as one image; the page writes the words of a cell from its names and number, as figures.js does."""
    m = len(names)
    known = ~np.isnan(shown)
    sure = np.ones((m, m), dtype=bool) if clear is None else clear
    source = ColumnDataSource(
        {
            "image": [shades], "hundredths": [np.round(100 * np.where(known, shown, 0)).astype(np.int8)],
            "known": [known.astype(np.uint8)], "sure": [sure.astype(np.uint8)],
        }
    )  # fmt: skip
    plot.tags = ["pairs", names, kinds]
    return plot.image("image", source=source, x=-0.5, y=-0.5, dw=m, dh=m, color_mapper=mapper)


def _name_sides(plot: Any, names: list[str]) -> None:
    for axis in (plot.xaxis, plot.yaxis):
        axis.ticker = FixedTicker(ticks=list(range(len(names))))
        axis.major_label_overrides = {j: PlainText(text=shortened(name, _NAME)) for j, name in enumerate(names)}
        axis.major_label_policy = NoOverlap(min_distance=1)
        axis.update(axis_line_alpha=0.0, major_tick_out=0)
    plot.xaxis.major_label_orientation = "vertical"


def _name_colours(plot: Any, mapper: Any, faint: bool) -> None:
    levels = [-1.0, -0.5, 0.0, 0.5, 1.0]
    shades = [31 + round(30 * level) for level in levels] + ([31 + 62 + 24] if faint else [])
    nowhere = np.full(len(shades), np.nan)
    key = ColumnDataSource({"x": nowhere, "y": nowhere, "shade": shades})
    tint: Any = {"field": "shade", "transform": mapper}
    marks = plot.scatter("x", "y", source=key, size=13, marker="square", fill_color=tint, line_color=CHANCE)
    words = [f"{level:g}".replace("-", "−") for level in levels] + (["faint: not supported"] if faint else [])
    legend(plot, [(text, [marks], j) for j, text in enumerate(words)], title="correlation")


def _caption(shown: Array, m: int, d: int, rest: float, ranked: bool) -> str:
    told = ["Above the diagonal: Pearson. Below: rank."] if ranked else []
    if m < d:
        told.append(
            f"{m} of {d:,} columns are drawn, those with the strongest correlations; "
            f"no other reaches more than {rest:.2f} with any column."
        )
    unknown = int(np.isnan(shown).sum()) - int(np.isnan(np.diag(shown)).sum())
    told += [f"Grey: not known, {unknown:,} cells."] if unknown else []
    return " ".join(told)

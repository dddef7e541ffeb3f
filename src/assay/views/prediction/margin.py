"""The margin of a rule for two classes in the plane: where it decides, how surely, and which rows hold it there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from bokeh.models import LinearColorMapper
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.given import matrix, padded, row_numbers, vector
from assay.views.axes.legend import legend, note
from assay.views.axes.numbers import percent
from assay.views.axes.theme import LINE, figure
from assay.views.clusters.groups import GroupLooks, grouped
from assay.views.rows.cloud import TOOLS, drawn_rows, group_key, row_source, scatter_rows, shade_rows

Decision: TypeAlias = Callable[[Array], ArrayLike] | tuple[ArrayLike, ArrayLike, ArrayLike]

_GRID = 161
_RINGED = 300


def margin_view(
    X: ArrayLike,
    classes: ArrayLike,
    decision: Decision,
    *,
    support: ArrayLike | None = None,
    at_rows: ArrayLike | None = None,
    rows: ArrayLike | None = None,
    axes: tuple[str, str] = ("column 1", "column 2"),
    height: int = 460,
) -> Any:
    """Draw rows of two classes, the regions of the decision, the line between and both margins.

    Args:
        X: (n, 2) rows.
        classes: (n,) two of them; the decision is positive for the second in order, as `classes_[1]`.
        decision: from (m, 2) places to (m,) decisions, such as an SVM's `decision_function`; or decisions on a grid,
            as (a,) places across, (b,) upward, both ascending, and the (b, a) values there.
        support: numbers of the rows that are support vectors, from 0, such as `support_`; they get a ring.
        at_rows: (n,) decisions of the rows; by default the function is asked. Without either, rows on the wrong side
            are not marked.
        rows: (n,) row numbers as they are to be shown; by default counted from 1.
        axes: what the two columns are, with their units.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> plot = margin_view([[-2.0, 0.0], [2.0, 0.0]], ["a", "b"], lambda at: at[:, 0], support=[0, 1])
    >>> plot.renderers[0].data_source.data["row"].tolist()
    [1, 2]
    """
    places = matrix("X", X, (None, 2))
    looks, positive = _two(classes, len(places))
    numbers = row_numbers(rows, len(places))
    held = _support(support, len(places))
    values = _decisions(decision, at_rows, places)
    wrong = np.zeros(len(places), dtype=bool) if values is None else (values > 0) != positive
    drawn = drawn_rows(len(places), held if len(held) <= _RINGED else None)
    across, upward = padded(places[:, 0], 0.08), padded(places[:, 1], 0.08)
    plot = figure(x_label=axes[0], y_label=axes[1], height=height, tools=TOOLS, x_range=across, y_range=upward)
    plot.grid.visible = False
    columns: dict[str, Any] = {"x": places[:, 0], "y": places[:, 1], "class": np.array(looks.texts, dtype=object)}
    columns |= {"tint": np.array(looks.colours)[looks.code], "shape": np.array(looks.markers)[looks.code]}
    said = [("class", "@class"), *([("decision", "@decision")] if values is not None else [])]
    source = row_source(numbers, columns, drawn, said={} if values is None else {"decision": values})
    scatter_rows(plot, source, "x", "y", said, grouped=True)
    entries: list[Any] = [*group_key(plot, looks)]
    entries += _draw_rule(plot, _grid(decision, across, upward), looks)
    entries += _draw_marks(plot, places, drawn, held, wrong)
    told = shade_rows(plot, places, drawn)
    legend(plot, entries)
    note(plot, " ".join([*_counted(len(places), held, None if values is None else wrong), *told]))
    return plot


def _two(classes: ArrayLike, n: int) -> tuple[GroupLooks, NDArray[np.bool_]]:
    labels = np.asarray(classes)
    if labels.shape != (n,):
        raise ParameterError(f"classes has one entry per row; got shape {labels.shape} for {n} rows")
    looks = grouped(labels)
    if len(set(looks.texts)) != 2 or "not known" in looks.texts:
        found = ", ".join(sorted(set(looks.texts))[:4]) or "none"
        raise ParameterError(
            f"a margin lies between two known classes; got {found}. Draw one pair of classes at a time"
        )
    return looks, looks.code == 1


def _support(support: ArrayLike | None, n: int) -> NDArray[np.intp]:
    held = np.asarray(() if support is None else support)
    held = np.flatnonzero(held) if held.dtype == np.bool_ else held.astype(np.intp)
    if held.ndim != 1 or np.any((held < 0) | (held >= n)):
        raise ParameterError(f"support holds numbers of rows, from 0 to {n - 1}; got {held.tolist()[:5]}")
    return held


def _decisions(decision: Decision, at_rows: ArrayLike | None, places: Array) -> Array | None:
    if at_rows is not None:
        return vector("at_rows", at_rows, len(places))
    if callable(decision):
        return _asked(decision, places)
    return None


def _asked(decision: Callable[[Array], ArrayLike], places: Array) -> Array:
    values = np.asarray(decision(places), dtype=np.float64)
    if values.shape != (len(places),):
        raise ParameterError(f"decision gives one number per place; got shape {values.shape} for {len(places)} places")
    return vector("decision", values)


def _grid(decision: Decision, across: tuple[float, float], upward: tuple[float, float]) -> tuple[Array, Array, Array]:
    """Places across and upward, and the decision at each."""
    if not callable(decision):
        x, y = (vector("decision", side, what="place") for side in decision[:2])
        values = matrix("decision", decision[2], (len(y), len(x)))
        if min(len(x), len(y)) < 2 or np.any(np.diff(x) <= 0) or np.any(np.diff(y) <= 0):
            raise ParameterError("decisions on a grid have two ascending places or more across and upward")
        return x, y, values
    x, y = np.linspace(*across, _GRID), np.linspace(*upward, _GRID)
    every = np.stack([side.ravel() for side in np.meshgrid(x, y)], axis=1)
    return x, y, _asked(decision, every).reshape(_GRID, _GRID)


def _draw_rule(plot: Any, grid: tuple[Array, Array, Array], looks: GroupLooks) -> list[Any]:
    x, y, values = grid
    low, high = looks.colours
    mapper = LinearColorMapper(palette=[f"{low}22", f"{high}22"], low=0, high=1)
    half = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2  # a value stands for the cell around its place
    plot.image(
        image=[(values > 0).astype(np.uint8)], x=x[0] - half[0], y=y[0] - half[1], dw=x[-1] - x[0] + 2 * half[0],
        dh=y[-1] - y[0] + 2 * half[1], color_mapper=mapper, level="underlay",
    )  # fmt: skip
    nowhere = [np.nan]
    entries = []
    for levels, words, dash, width in (
        ([0.0], "decision 0", "solid", 2.5),
        ([-1.0, 1.0], "margins ±1", "dashed", 1.5),
    ):
        if any(values.min() < level < values.max() for level in levels):
            plot.contour(x, y, values, levels, line_color=LINE, line_width=width, line_dash=dash)
            key = plot.line(nowhere, nowhere, line_color=LINE, line_width=width, line_dash=dash)
            entries.append((words, [key], None))
    return entries


def _draw_marks(
    plot: Any, places: Array, drawn: NDArray[np.intp], held: NDArray[np.intp], wrong: NDArray[np.bool_]
) -> list[Any]:
    entries = []
    ringed = np.intersect1d(held, drawn)
    if len(ringed):
        ring: dict[str, Any] = {"size": 15, "fill_alpha": 0.0, "line_color": LINE, "line_width": 1.2}
        plot.scatter(places[ringed, 0], places[ringed, 1], **ring)
        entries.append(("support", [plot.scatter([np.nan], [np.nan], **ring)], None))
    crossed = drawn[wrong[drawn]]
    if len(crossed):
        size = float(np.clip(15 - 4 * np.log10(len(crossed)), 4, 11))
        cross: dict[str, Any] = {
            "marker": "x",
            "size": size,
            "line_color": LINE,
            "line_width": size / 5.5,
            "line_alpha": 0.8,
        }
        plot.scatter(places[crossed, 0], places[crossed, 1], **cross)
        entries.append(("wrong side", [plot.scatter([np.nan], [np.nan], **cross)], None))
    return entries


def _counted(n: int, held: NDArray[np.intp], wrong: NDArray[np.bool_] | None) -> list[str]:
    told = [f"{len(held):,} of {n:,} rows are support vectors."] if len(held) else []
    if wrong is not None:
        told.append(
            f"{np.count_nonzero(wrong):,} of {n:,} rows lie on the wrong side ({percent(float(wrong.mean()))})."
        )
    return told

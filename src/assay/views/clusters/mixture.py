"""A Gaussian mixture seen: its components as ellipses over the rows, and how the BIC chose their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, LINE, figure, hover, label
from assay.views.axes.ticks import number_ticks
from assay.views.clusters.groups import COLOURS, MARKERS, grouped
from assay.views.rows.embedding import embedding_map

_TURN = np.linspace(0.0, 2.0 * np.pi, 97)
_TOLD = "Ellipses at 1 (solid) and 2 (dashed) standard deviations hold 39% and 86% of a component's rows."


def mixture_map(
    points: ArrayLike,
    means: ArrayLike,
    covariances: ArrayLike,
    covariance_type: Literal["full", "tied", "diag", "spherical"] = "full",
    *,
    weights: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    columns: tuple[int, int] = (0, 1),
    plane: ArrayLike | None = None,
    axes: tuple[str, str] | None = None,
    height: int = 430,
) -> Any:
    """Draw rows and the components of a mixture on two columns, or on any plane.

    What is drawn of a component is its exact law on these two axes, whatever the other columns do.

    Args:
        points: (n, d) rows.
        means: (k, d).
        covariances: (k, d, d), (d, d), (k, d) or (k,), as the type asks for.
        covariance_type: of the mixture.
        weights: (k,) shares of the components, shown under the pointer.
        labels: (n,) component of each row, from 0, for its colour.
        columns: numbers of the two columns drawn.
        plane: (d, 2) directions instead of columns, such as two principal axes.
        axes: what the two axes are; by default the numbers of the columns.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> plot = mixture_map([[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5]], [[[1.0, 0.0], [0.0, 4.0]]])
    >>> plot.xaxis.axis_label.text
    'column 0'
    """
    rows, centres = np.asarray(points, dtype=np.float64), np.asarray(means, dtype=np.float64)
    if rows.ndim != 2 or centres.ndim != 2 or rows.shape[1] != centres.shape[1]:
        raise ParameterError(f"points and means have the same columns; got shapes {rows.shape} and {centres.shape}")
    A, words = _plane(rows.shape[1], columns, plane)
    S = np.einsum("ia,kij,jb->kab", A, _dense(covariances, covariance_type, *centres.shape), A)
    told = np.full(len(centres), np.nan) if weights is None else np.asarray(weights, dtype=np.float64)
    if told.shape != (len(centres),):
        raise ParameterError(f"weights has one number per component, {len(centres)}; got shape {told.shape}")
    plot = embedding_map(rows @ A, groups=labels, axes=words if axes is None else axes, height=height, equal=False)
    colours = _colours(len(centres), labels)
    for deviations, dash in ((1.0, "solid"), (2.0, "dashed")):
        rings = [ellipse(m, C, deviations) for m, C in zip(centres @ A, S, strict=True)]
        lines = ColumnDataSource(
            {
                "x": [ring[:, 0] for ring in rings],
                "y": [ring[:, 1] for ring in rings],
                "tint": colours,
                "component": np.arange(len(centres)),
                "weight": told,
            }
        )
        drawn = plot.multi_line("x", "y", source=lines, line_color="tint", line_width=2.5, line_dash=dash)
        said = [("component", "@component"), *([("weight", "@weight{0.0%}")] if weights is not None else [])]
        plot.add_tools(hover([drawn], said))
    note(plot, _TOLD)
    return plot


def bic_choice(
    n_components: ArrayLike,
    bic: ArrayLike,
    covariance_types: Sequence[str],
    *,
    chosen: int | None = None,
) -> Any:
    """Draw the BIC of mixtures over their number of components, one line for each shape; smaller is better.

    Args:
        n_components: (m,) numbers tried, ascending.
        bic: (m, s) of each number and shape.
        covariance_types: (s,) the shapes.
        chosen: the number that was taken.

    Returns:
        A Bokeh figure.

    >>> bic_choice([1, 2], [[9.0], [7.0]], ["full"], chosen=2).yaxis.axis_label.text
    'BIC (smaller is better)'
    """
    at, values = np.asarray(n_components), np.asarray(bic, dtype=np.float64)
    if at.ndim != 1 or not len(at) or values.shape != (len(at), len(covariance_types)):
        raise ParameterError(
            f"bic has one line per number tried and one column per shape; got shape {values.shape} for {at.shape} "
            f"numbers and {len(covariance_types)} shapes"
        )
    plot = figure(x_label="components", y_label="BIC (smaller is better)")
    plot.xaxis.ticker = FixedTicker(ticks=at.tolist())
    ticks = number_ticks(float(values.min()), float(values.max()), 7)
    plot.yaxis.ticker = FixedTicker(ticks=[y for y, _ in ticks])
    plot.yaxis.major_label_overrides = dict(ticks)
    if chosen is not None:
        plot.add_layout(Span(location=chosen, dimension="height", line_color=CHANCE, line_dash="dotted", line_width=2))
        align = {"text_align": "right", "x_offset": -6} if chosen > at.mean() else {"text_align": "left", "x_offset": 6}
        plot.add_layout(label(float(chosen), float(values.max()), f"chosen: {chosen}", text_baseline="top", **align))
    entries = []
    for column, name, colour, marker in zip(values.T, covariance_types, COLOURS, MARKERS, strict=False):
        source = ColumnDataSource({"k": at, "bic": column, "told": [f"{value:,.1f}" for value in column]})
        line = plot.line("k", "bic", source=source, line_color=colour, line_width=2)
        marks = plot.scatter("k", "bic", source=source, size=8, marker=marker, color=colour)
        plot.add_tools(hover([marks], [("shape", name), ("components", "@k"), ("BIC", "@told")]))
        entries.append((name, [line, marks], None))
    legend(plot, entries)
    return plot


def ellipse(mean: Array, covariance: Array, deviations: float) -> Array:
    """(97, 2) points of a closed curve at so many standard deviations from a mean (2,)."""
    values, vectors = np.linalg.eigh(covariance)
    circle = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1)
    return np.asarray(mean + deviations * (circle * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _plane(d: int, columns: tuple[int, int], plane: ArrayLike | None) -> tuple[Array, tuple[str, str]]:
    if plane is not None:
        A = np.asarray(plane, dtype=np.float64)
        if A.shape != (d, 2):
            raise ParameterError(f"plane has shape ({d}, 2), a direction for each axis; got {A.shape}")
        return A, ("direction 1", "direction 2")
    x, y = columns
    if x == y or not all(0 <= column < d for column in columns):
        raise ParameterError(f"columns are two different numbers from 0 to {d - 1}; got {columns}")
    return np.eye(d)[:, [x, y]], (f"column {x}", f"column {y}")


def _dense(given: ArrayLike, covariance_type: str, k: int, d: int) -> Array:
    """Covariances of any type as (k, d, d)."""
    covariances = np.asarray(given, dtype=np.float64)
    shapes = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}
    if covariance_type not in shapes:
        raise ParameterError(f"covariance_type is one of {', '.join(map(repr, shapes))}; got {covariance_type!r}")
    if covariances.shape != shapes[covariance_type]:
        raise ParameterError(
            f"{covariance_type} covariances have shape {shapes[covariance_type]} here; got {covariances.shape}"
        )
    if covariance_type in ("full", "tied"):
        return np.broadcast_to(covariances, (k, d, d))
    return np.stack([np.diag(np.broadcast_to(line, d)) for line in covariances])


def _colours(k: int, labels: ArrayLike | None) -> list[str]:
    """The colour of each component: that of its rows, or ink where there are none."""
    if labels is None:
        return [LINE] * k
    looks, known = grouped(labels), np.asarray(labels)
    own = [np.flatnonzero(known == g) for g in range(k)]
    return [looks.colours[looks.code[rows[0]]] if len(rows) else LINE for rows in own]

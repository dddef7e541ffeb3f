"""The cells of centres: all places nearer to one than to any other, drawn exactly.

In two columns these are Voronoi cells. In more, a plane cuts through them. With c = a + (a part at right angles to the
plane, of squared length h) the squared distance of a place u in it is (u - c)^2 = (u - a)^2 + h, so that what the plane
cuts out of a cell is a polygon too (a power diagram).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.legend import note
from assay.views.axes.theme import CHANCE, LINE, hover
from assay.views.clusters.groups import grouped
from assay.views.rows.embedding import embedding_map

_MARGIN = 0.06


def voronoi(
    points: ArrayLike,
    centers: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    plane: ArrayLike | None = None,
    axes: tuple[str, str] | None = None,
    height: int = 430,
) -> Any:
    """Draw rows, centres and the cells of the centres.

    Args:
        points: (n, d) rows.
        centers: (k, d) centres, finite.
        labels: (n,) number of the centre of each row, for the colours of rows and cells.
        plane: (d, 2) directions at right angles, of length 1, of the plane through the mean of the centres that is
            drawn; by default the one in which the centres are widest apart. Two columns are drawn as they are.
        axes: what the two axes are.
        height: in pixels.

    Returns:
        A Bokeh figure. Its note tells what the cells are, and how many rows are drawn outside that of their centre.

    >>> plot = voronoi([[0.0, 0.0], [4.0, 1.0]], [[1.0, 0.0], [3.0, 0.0]])
    >>> len(plot.renderers)
    3
    """
    rows, sites = np.asarray(points, dtype=np.float64), np.asarray(centers, dtype=np.float64)
    if rows.ndim != 2 or sites.ndim != 2 or rows.shape[1] != sites.shape[1] or not len(sites):
        raise ParameterError(f"points and centers have the same columns; got shapes {rows.shape} and {sites.shape}")
    if not np.isfinite(sites).all():
        raise ParameterError("centers are finite, else they have no cells")
    if labels is not None and not np.isin(np.asarray(labels), np.arange(len(sites))).all():
        raise ParameterError(f"labels are numbers of centres, from 0 to {len(sites) - 1}")
    flat = rows.shape[1] <= 2 and plane is None
    origin, A = (np.zeros(rows.shape[1]), np.eye(2)[: rows.shape[1]]) if flat else _plane(sites, plane)
    drawn, at = (rows - origin) @ A, (sites - origin) @ A
    heights = (
        np.maximum(((sites - origin) ** 2).sum(axis=1) - (at**2).sum(axis=1), 0.0) if not flat else np.zeros(len(at))
    )
    words = axes or (("column 0", "column 1") if flat else ("direction 1", "direction 2"))
    plot = embedding_map(drawn, groups=labels, axes=words, height=height)
    plot.grid.visible = False  # it would cut the lines of the cells
    tints = _tints(len(at), labels)
    _draw_cells(plot, cells(at, heights, _box(np.vstack([drawn[np.isfinite(drawn).all(axis=1)], at]))), tints)
    _draw_centres(plot, at, tints)
    note(plot, _caption(drawn, at, heights, labels, flat=flat))
    return plot


def cells(sites: ArrayLike, heights: ArrayLike, box: tuple[Array, Array]) -> list[Array]:
    """Polygons of the places u with the least (u - a)^2 + h, cut off at a box.

    Args:
        sites: (k, 2) the a.
        heights: (k,) the h; zero for a Voronoi diagram.
        box: lower left and upper right corner, (2,) each.

    Returns:
        For each site the (v, 2) corners of its cell, counter-clockwise; none where no place in the box is its own. Of
        equal sites the first has the cell.

    >>> [c.tolist() for c in cells([[1.0, 1.0], [3.0, 1.0]], [0.0, 0.0], (np.zeros(2), np.array([4.0, 2.0])))][0]
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]
    """
    low, high = box
    unit = float((high - low).max())
    a = (np.asarray(sites, dtype=np.float64) - low) / unit
    level = (a**2).sum(axis=1) + np.asarray(heights, dtype=np.float64) / unit**2
    corner = (high - low) / unit
    whole = np.array([[0.0, 0.0], [corner[0], 0.0], corner, [0.0, corner[1]]])
    return [low + unit * _cell(i, a, level, whole) for i in range(len(a))]


def _cell(i: int, a: Array, level: Array, polygon: Array) -> Array:
    """Cut away what is nearer to another site, the farthest overlap first, until nothing is."""
    normal, limit = 2.0 * (a - a[i]), level - level[i]
    same = (normal == 0.0).all(axis=1)
    if (same & ((limit < 0.0) | ((limit == 0.0) & (np.arange(len(a)) < i)))).any():
        return np.empty((0, 2))
    length = np.where(same, 1.0, np.linalg.norm(normal, axis=1))
    normal, limit = normal / length[:, None], np.where(same, np.inf, limit / length)
    while len(polygon):
        beyond = (polygon @ normal.T).max(axis=0) - limit
        worst = int(beyond.argmax())
        if beyond[worst] <= 1e-12:
            break
        polygon = _clipped(polygon, normal[worst], float(limit[worst]))
    return polygon


def _clipped(polygon: Array, normal: Array, limit: float) -> Array:
    """The part of a convex polygon where normal . u <= limit (Sutherland & Hodgman 1974)."""
    over = polygon @ normal - limit
    corners: list[Array] = []
    for p, q, s, t in zip(polygon, np.roll(polygon, -1, axis=0), over, np.roll(over, -1), strict=True):
        if s <= 0.0:
            corners.append(p)
        if (s < 0.0 < t) or (t < 0.0 < s):
            corners.append(p + s / (s - t) * (q - p))
    return np.array(corners) if len(corners) > 2 else np.empty((0, 2))


def _plane(sites: Array, plane: ArrayLike | None) -> tuple[Array, Array]:
    """A point of the plane, and its (d, 2) directions."""
    origin, d = sites.mean(axis=0), sites.shape[1]
    if plane is None:
        A = np.zeros((d, 2))
        found = np.linalg.svd(sites - origin, full_matrices=len(sites) < 2)[2][:2]
        A[:, : len(found)] = found.T
        return origin, A
    A = np.asarray(plane, dtype=np.float64)
    if A.shape != (d, 2) or not np.allclose(A.T @ A, np.eye(2), atol=1e-8):
        raise ParameterError(f"plane has shape ({d}, 2), two directions of length 1 at right angles; got {A.shape}")
    return origin, A


def _box(places: Array) -> tuple[Array, Array]:
    low, high = places.min(axis=0), places.max(axis=0)
    size = float((high - low).max()) or max(1.0, float(np.abs(low).max()))
    return low - _MARGIN * size, high + _MARGIN * size


def _tints(k: int, labels: ArrayLike | None) -> list[str]:
    """The colour of each centre: that of its rows; grey without any."""
    if labels is None:
        return [CHANCE] * k
    looks, known = grouped(labels), np.asarray(labels)
    own = [np.flatnonzero(known == g)[:1] for g in range(k)]
    return [looks.colours[looks.code[rows[0]]] if len(rows) else CHANCE for rows in own]


def _draw_cells(plot: Any, polygons: list[Array], tints: list[str]) -> None:
    shown = [g for g, polygon in enumerate(polygons) if len(polygon)]
    source = ColumnDataSource(
        {
            "x": [polygons[g][:, 0] for g in shown],
            "y": [polygons[g][:, 1] for g in shown],
            "tint": [tints[g] for g in shown],
            "centre": shown,
        }
    )
    plot.patches(
        "x", "y", source=source, fill_color="tint", fill_alpha=0.1, line_color=CHANCE, line_width=1.5, level="underlay",
    )  # fmt: skip


def _draw_centres(plot: Any, at: Array, tints: list[str]) -> None:
    source = ColumnDataSource({"x": at[:, 0], "y": at[:, 1], "tint": tints, "centre": np.arange(len(at))})
    marks = plot.scatter(
        "x", "y", source=source, marker="circle_x", size=15, fill_color="tint", line_color=LINE, line_width=1.5,
        fill_alpha=0.9,
    )  # fmt: skip
    plot.add_tools(hover([marks], [("centre", "@centre")]))


def _caption(drawn: Array, at: Array, heights: Array, labels: ArrayLike | None, *, flat: bool) -> str:
    """What the cells are, and how far the drawing can be trusted."""
    told = "Circles with a cross are centres; a cell holds all places nearer to its centre than to any other."
    if flat:
        return told
    told += " More than two columns: the cells are cut by the plane that is drawn, and rows are projected to it."
    if labels is not None and len(drawn):
        known = np.asarray(labels)
        outside = sum(
            int((_nearest(part, at, heights) != known[lo : lo + len(part)]).sum())
            for lo, part in ((lo, drawn[lo : lo + 4096]) for lo in range(0, len(drawn), 4096))
        )
        told += f" {outside / len(drawn):.0%} of the rows are drawn outside the cell of their own centre."
    return told


def _nearest(drawn: Array, at: Array, heights: Array) -> NDArray[np.intp]:
    squares: Array = (at**2).sum(axis=1) + heights - 2.0 * drawn @ at.T
    nearest: NDArray[np.intp] = squares.argmin(axis=1)
    return nearest

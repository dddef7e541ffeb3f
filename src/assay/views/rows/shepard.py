"""The Shepard diagram: do distances on the map follow the dissimilarities they were made from?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import REAL, UNSEEN, figure, hover
from assay.views.rows.density import draw_density, sample

PAIRS = 3000
_CORNERS = 400


def shepard(
    dissimilarities: ArrayLike,
    distances: ArrayLike,
    disparities: ArrayLike | None = None,
    *,
    rows: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    height: int = 380,
) -> Any:
    """Draw each pair of rows by how unlike they are and how far apart the map puts them.

    On a map that keeps every distance all pairs lie on the line; pairs below it are nearer on the map than they should
    be. Beyond 3,000 pairs a fair sample is drawn, the same each time, before a shade that counts them all.

    Args:
        dissimilarities: (n, n) as given to the method, or (m,) of pairs; what is missing is not finite, and counted.
        distances: on the map, of the same shape.
        disparities: of the same shape, the monotone function of the dissimilarities that the method fitted; drawn as
            steps. Without them the line is that of equal distances.
        rows: (n,) row numbers as they are to be shown; by default counted from 1, where matrices are given.
        names: (n,) of the rows, where matrices are given.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> shepard([[0, 1], [1, 0]], [[0, 1.1], [1.1, 0]]).xaxis.axis_label.text
    'dissimilarity'
    """
    given, kept = np.asarray(dissimilarities, dtype=np.float64), np.asarray(distances, dtype=np.float64)
    fitted = kept if disparities is None else np.asarray(disparities, dtype=np.float64)
    if not given.shape == kept.shape == fitted.shape or given.ndim not in (1, 2):
        shapes = ", ".join(str(array.shape) for array in (given, kept, fitted))
        raise ParameterError(f"dissimilarities, distances and disparities are (n, n) or (m,) alike; got {shapes}")
    who = {"rows": rows, "names": names} if given.ndim == 2 else {}
    pairs = np.stack(np.triu_indices(len(given), 1)) if given.ndim == 2 else np.empty((2, 0), dtype=np.intp)
    if given.ndim == 2:
        given, kept, fitted = given[*pairs], kept[*pairs], fitted[*pairs]
    known = np.flatnonzero(np.isfinite(given) & np.isfinite(kept) & np.isfinite(fitted))
    drawn = known[sample(len(known), PAIRS)]
    plot = figure(x_label="dissimilarity", y_label="distance on the map", height=height, tools="box_zoom,reset,save")
    columns, said = _ends(pairs[:, drawn], **who) if who else ({}, [])
    source = ColumnDataSource({"given": given[drawn], "kept": kept[drawn], **columns})
    marks = _points(plot, source)
    plot.add_tools(hover([marks], [*said, ("dissimilarity", "@given{0.[000]}"), ("on the map", "@kept{0.[000]}")]))
    if len(drawn) < len(known):
        draw_density(plot, np.stack([given[known], kept[known]], axis=1), equal=False)
    line, words = _line(plot, given[known], None if disparities is None else fitted[known])
    # the mark in the legend lies nowhere, for those of many pairs are faint
    key = plot.scatter([np.nan], [np.nan], size=7, color=REAL, fill_alpha=0.4)
    legend(plot, [("a pair of rows", [key], None), (words, [line], None)])
    if counted := _counted(len(drawn), len(known), len(given)):
        note(plot, counted)
    return plot


def _ends(pairs: NDArray[np.intp], rows: Any, names: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Row numbers and names of the two rows of each pair drawn, and the lines that show them."""
    top = int(pairs.max(initial=-1)) + 1
    numbers = np.arange(1, top + 1) if rows is None else np.asarray(rows)
    texts = None if names is None else np.asarray(names, dtype=object)
    for key, values in (("rows", numbers), ("names", texts)):
        if values is not None and (values.ndim != 1 or len(values) < top):
            raise ParameterError(f"{key} has one entry per row; got shape {values.shape} for {top} rows")
    columns: dict[str, Any] = {"first": numbers[pairs[0]], "second": numbers[pairs[1]]}
    said = [("rows", "@first and @second")]
    if texts is not None:
        columns |= {"one": texts[pairs[0]], "other": texts[pairs[1]]}
        said.append(("names", "@one, @other"))
    return columns, said


def _points(plot: Any, source: ColumnDataSource) -> Any:
    crowd = float(np.clip(np.log10(max(len(source.data["given"]), 1)) - 2, 0.0, 1.5))
    return plot.scatter(
        "given", "kept", source=source, size=7 - 2 * crowd, fill_color=REAL, line_color=REAL,
        fill_alpha=0.4 - 0.2 * crowd, line_alpha=0.85 - 0.4 * crowd,
    )  # fmt: skip


def _line(plot: Any, given: Array, fitted: Array | None) -> tuple[Any, str]:
    """Where pairs ought to lie: on the fitted steps, or at equal distance."""
    style = {"line_color": UNSEEN, "line_width": 2.5}
    if fitted is None:
        ends = np.array([given.min(initial=0.0), given.max(initial=0.0)])
        return plot.line(ends, ends, line_dash="dashed", **style), "equal distance"
    order = np.lexsort((fitted, given))
    across, up = given[order], fitted[order]
    # a step is kept where it begins and where it ends; too many are thinned evenly
    turn = np.flatnonzero(np.r_[True, up[1:] != up[:-1]] | np.r_[up[1:] != up[:-1], True]) if len(up) else order
    turn = turn[np.unique(np.linspace(0, len(turn) - 1, min(len(turn), _CORNERS)).round().astype(int))]
    return plot.line(across[turn], up[turn], **style), "fitted, monotone"


def _counted(drawn: int, known: int, every: int) -> str:
    told = f"{drawn:,} of {known:,} pairs are drawn, at random; the shade counts all. " if drawn < known else ""
    lost = f"Pairs without a dissimilarity or distance: {every - known:,}." if known < every else ""
    return (told + lost).strip()

"""The rows in a plane, with those that do not belong outlined, named and explained.

What is flagged differs by colour, shape and size at once, so it is seen by every eye and in print without colour; the
others stay faint, as the ground it stands out from. Where the plane is the data itself, the boundary of the detector is
drawn too.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.legend import legend, note
from assay.views.axes.placing import NAMED, write_names
from assay.views.axes.theme import CHANCE, LINE, UNSEEN, hover
from assay.views.axes.ticks import brief
from assay.views.rows.cloud import map_figure
from assay.views.rows.density import draw_density, sample

Boundary: TypeAlias = Callable[[Array], ArrayLike]

WHOLE = 5000
SAMPLE = 2000
FLAGGED = 1000
_TITLE = 60
_GRID = 160
_REACH = 0.3
_LETTERS = 60
_NAMED_OF_MANY = 12  # beyond what can be named, those that say most


def anomaly_map(
    coordinates: ArrayLike,
    scores: ArrayLike,
    flagged: ArrayLike,
    *,
    rows: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    details: Mapping[str, Sequence[Any] | ArrayLike] | None = None,
    boundary: Boundary | None = None,
    axes: tuple[str, str] | None = None,
    title: str = "",
    height: int = 430,
    equal: bool = True,
) -> Any:
    """Draw rows where they lie, and show which of them are flagged and why.

    Args:
        coordinates: (n, k) two columns, components or a map; the first two are drawn. Rows with NaN are counted.
        scores: (n,) the higher the more normal, as `score_samples` gives them; the lowest of the flagged are named.
        flagged: (n,) true where a row does not belong.
        rows: (n,) row numbers as they are to be shown; by default counted from 1.
        names: (n,) of the rows, instead of their numbers.
        details: what else is shown under the pointer, by its words: p or q, the columns that drive the score.
        boundary: from (m, 2) places to decisions, negative outside, such as a detector's `decision_function`, where the
            plane is the data it was fitted on; the line between is drawn.
        axes: what the two axes are, with their units; without it there are none.
        title: what is shown, above the figure.
        height: in pixels.
        equal: let both axes have the same scale, so that distances can be seen.

    Returns:
        A Bokeh figure.

    >>> plot = anomaly_map([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]], [-0.1, -0.1, -7.0], [False, False, True])
    >>> plot.renderers[0].data_source.data["row"].tolist()
    [1, 2, 3]
    """
    places, score, out = _checked(coordinates, scores, flagged)
    n = len(places)
    numbers = np.arange(1, n + 1) if rows is None else _per_row(rows, "rows", n)
    called = np.array([f"{row}" for row in numbers], dtype=object) if names is None else _texts(names, "names", n)
    extra = {words: _texts(values, words, n) for words, values in (details or {}).items()}
    found = np.all(np.isfinite(places), axis=1)
    drawn = _drawn(found, out, score)
    columns = {"row": numbers, "x": places[:, 0], "y": places[:, 1], "score": score, "name": called}
    columns |= {f"detail{j}": values for j, values in enumerate(extra.values())}
    source = ColumnDataSource({key: values[drawn] for key, values in columns.items()} | _looks(out[drawn]), name="rows")
    plot = map_figure(axes, height, equal)
    marks = plot.scatter(
        "x", "y", source=source, marker="shape", size="size", fill_color="tint", line_color="tint", line_width="width",
        fill_alpha="fill", line_alpha="line", selection_fill_alpha=0.75, selection_line_alpha=1.0,
        nonselection_fill_alpha=0.05, nonselection_line_alpha=0.25,
    )  # fmt: skip
    said = [("row", "@row"), *([("name", "@name")] if names is not None else []), ("score", "@score{0.[000]}")]
    said += [(_plain(words), f"@detail{j}") for j, words in enumerate(extra)]
    plot.add_tools(hover([marks], said))
    told = [_counted(int(out.sum()), n)]
    if len(drawn) < np.count_nonzero(found):
        draw_density(plot, places[found], equal=equal)
        told.append(f"{len(drawn):,} rows are drawn as points; the shade counts all {np.count_nonzero(found):,}.")
    if boundary is not None:
        _draw_boundary(plot, boundary, places[found], equal)
    told += _lost(out, found, drawn)
    told += _write_names(plot, places[drawn], called[drawn], out[drawn], score[drawn], height, axes is not None, equal)
    if not equal:
        plot.x_range.renderers = [marks]  # rows in their order, and nothing beyond the first and the last
    _name_marks(plot, bool(out.any()), boundary is not None, title)
    note(plot, " ".join(told))
    return plot


def _checked(coordinates: ArrayLike, scores: ArrayLike, flagged: ArrayLike) -> tuple[Array, Array, NDArray[np.bool_]]:
    places = np.asarray(coordinates, dtype=np.float64)
    if places.ndim != 2 or places.shape[1] < 2:
        raise ParameterError(f"coordinates have two numbers or more per row; got an array of shape {places.shape}")
    infinite = np.isinf(places[:, :2]).any(axis=1)
    if infinite.any():
        raise ParameterError(f"coordinates are finite or NaN; row {int(np.argmax(infinite))} (counted from 0) is not")
    score = _per_row(scores, "scores", len(places)).astype(np.float64)
    out = _per_row(flagged, "flagged", len(places))
    if out.dtype != np.bool_:
        raise ParameterError(
            f"flagged is true or false for each row; got {out.dtype} values. From predictions: predict(X) == -1"
        )
    return places[:, :2], score, out


def _per_row(values: Any, what: str, n: int) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (n,):
        raise ParameterError(f"{what} has one entry per row; got shape {array.shape} for {n} rows")
    return array


def _texts(values: Any, what: str, n: int) -> NDArray[np.object_]:
    """Entries as words; numbers in few digits, None as nothing."""
    given = _per_row(np.array([*values, None], dtype=object)[:-1], what, n)
    numbers = (float, int, np.floating, np.integer)
    return np.array(
        ["" if v is None else brief(float(v)) if isinstance(v, numbers) else str(v) for v in given], dtype=object
    )


def _drawn(found: NDArray[np.bool_], out: NDArray[np.bool_], score: Array) -> NDArray[np.intp]:
    """Rows drawn as points, the flagged on top: all, or fair samples of either, the most unusual always."""
    flagged, others = np.flatnonzero(out & found), np.flatnonzero(~out & found)
    if len(flagged) + len(others) > WHOLE:
        lowest = np.argsort(score[flagged], kind="stable")[:NAMED]
        flagged, others = flagged[sample(len(flagged), FLAGGED, lowest)], others[sample(len(others), SAMPLE)]
    return np.concatenate([others, flagged])


def _looks(out: NDArray[np.bool_]) -> dict[str, Any]:
    """Circles, the smaller and fainter the more there are, and larger diamonds, fainter where they are a crowd too."""
    tens, flagged = np.log10(max(len(out), 1)), np.log10(max(int(out.sum()), 1))
    crowd, size = float(np.clip(tens - 2, 0.0, 1.7)), float(np.clip(13 - 2.7 * tens, 4, 8))
    many = float(np.clip(flagged - 2, 0.0, 1.0))
    return {
        "shape": np.where(out, "diamond", "circle").astype(object),
        "tint": np.where(out, UNSEEN, CHANCE).astype(object),
        "size": np.where(out, 11.0 - 3.0 * many, size),
        "width": np.where(out, 1.8 - 0.8 * many, 0.8),
        "fill": np.where(out, 0.3 - 0.2 * many, 0.28 - 0.1 * crowd),
        "line": np.where(out, 1.0 - 0.4 * many, 0.6 - 0.2 * crowd),
    }


def _draw_boundary(plot: Any, boundary: Boundary, places: Array, equal: bool) -> None:
    """The line where the decision is zero, on a grid that reaches beyond the rows, in a plane to all sides."""
    if not len(places):
        return
    low, high = places.min(axis=0), places.max(axis=0)
    size = np.where(high > low, high - low, 1.0)
    # where the axes have nothing in common there are no rows to the left of the first or to the right of the last
    reach = np.full(2, _REACH * float((high - low).max() or 1.0)) if equal else np.array([0.0, _REACH]) * size
    across, upward = (np.linspace(low[j] - reach[j], high[j] + reach[j], _GRID) for j in range(2))
    grid = np.stack([side.ravel() for side in np.meshgrid(across, upward)], axis=1)
    decided = np.asarray(boundary(grid), dtype=np.float64)
    if decided.shape != (len(grid),):
        raise ParameterError(f"boundary gives one decision per place; got shape {decided.shape} for {len(grid)} places")
    plot.contour(
        across, upward, decided.reshape(_GRID, _GRID), [0.0], line_color=LINE, line_width=2, line_dash="dashed"
    )


def _write_names(
    plot: Any, places: Array, names: NDArray[np.object_], out: NDArray[np.bool_], score: Array,
    height: int, axes: bool, equal: bool,
) -> list[str]:  # fmt: skip
    flagged = np.flatnonzero(out)
    most = len(flagged) if len(flagged) <= NAMED else _NAMED_OF_MANY
    lowest = flagged[np.argsort(score[flagged], kind="stable")[:most]]
    written = np.full(len(names), "", dtype=object)
    written[lowest] = names[lowest]
    whole = write_names(plot, places, written.tolist(), height=height, axes=axes, equal=equal)
    if whole and len(lowest) == len(flagged):
        return []
    which = f"The {most} most unusual are named" if most < len(flagged) else "Names are written"
    return [f"{which} where there is room; the pointer shows all."]


def _name_marks(plot: Any, any_flagged: bool, bounded: bool, title: str) -> None:
    # the legend's own marks lie nowhere: those of the rows are faint
    nowhere = [np.nan]
    other = plot.scatter(nowhere, nowhere, size=8, color=CHANCE, fill_alpha=0.3)
    entries = [("other rows", [other], None)]
    if any_flagged:
        mark = plot.scatter(nowhere, nowhere, size=11, marker="diamond", color=UNSEEN, fill_alpha=0.3, line_width=1.8)
        entries.insert(0, ("flagged", [mark], None))
    if bounded:
        line = plot.line(nowhere, nowhere, line_color=LINE, line_width=2, line_dash="dashed")
        entries.append(("boundary of the detector", [line], None))
    legend(plot, entries, title=shortened(title, _TITLE))


def _counted(flagged: int, n: int) -> str:
    if not flagged:
        return f"None of {n:,} rows is flagged."
    share = 100 * flagged / n
    return f"{flagged:,} of {n:,} rows {'is' if flagged == 1 else 'are'} flagged ({brief(share, 2)}%)."


def _lost(out: NDArray[np.bool_], found: NDArray[np.bool_], drawn: NDArray[np.intp]) -> list[str]:
    told = []
    seen = int(np.count_nonzero(out[drawn]))
    if seen < np.count_nonzero(out & found):
        told.append(f"Of those flagged {seen:,} are drawn, the most unusual among them.")
    lost = int(np.count_nonzero(~found))
    if lost:
        of_them = int(np.count_nonzero(out & ~found))
        told.append(f"Rows without a place on the map: {lost:,}{f', {of_them:,} of them flagged' if of_them else ''}.")
    return told


def _plain(words: str) -> str:
    """Words of the user's as HTML that Bokeh's template for tooltips does not read: no tags, fields or formats."""
    text = html.escape(shortened(words, _LETTERS))
    return text.replace("@", "&#64;").replace("$", "&#36;").replace("{", "&#123;")

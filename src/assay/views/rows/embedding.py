"""The map of the rows: an embedding drawn so that crowds, groups and doubtful places can be told.

Points are clear inside and outlined, so that a crowd is dark and a single point is still seen. The more there are, the
smaller and fainter each; beyond 5,000 a shade that counts all of them lies behind a fair sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.legend import legend, note
from assay.views.axes.placing import spread, write_names, written
from assay.views.axes.theme import CHANCE, REAL, hover
from assay.views.axes.ticks import number_ticks
from assay.views.clusters.groups import UNKNOWN, GroupLooks, grouped
from assay.views.rows.cloud import map_figure
from assay.views.rows.density import draw_density, sample

WHOLE = 5000
SAMPLE = 2000
_STRIP = 0.08
RAMP = ("#3f62c8", "#b0559c", "#f2a33a")  # lightness grows with the value, so it can be read without colour
_TITLE = 40
_STEPS = 64
_SAID = (
    ("name", "name", ""), ("group", "group", ""), ("value", "value", "{0.[000]}"),
    ("faint", "not to be trusted", "{0%}"),
)  # fmt: skip


def add_map(source: ColumnDataSource, coordinates: ArrayLike, *, prefix: str = "m") -> ColumnDataSource:
    """Give the rows of a source places on a map, so that rows selected there are selected in its other figures.

    Args:
        source: from `views.scores.score_source`.
        coordinates: (n, k) of the same rows in the same order; the first two are drawn.
        prefix: of the columns of this map; another map of the same rows needs another one.

    Returns:
        The same source, with the columns m1 and m2.

    >>> from assay.views.rows.scores import score_source
    >>> sorted(add_map(score_source([[0.5], [1.5]], [1, 2]), [[0, 1], [1, 0]]).data)
    ['c1', 'm1', 'm2', 'row', 'strip']
    """
    places, n = _places(coordinates), len(source.data["row"])
    if len(places) != n:
        raise ParameterError(f"a map has one place per row; got {len(places)} for {n} rows")
    source.data.update({f"{prefix}1": places[:, 0], f"{prefix}2": places[:, 1]})
    return source


def embedding_map(
    places: ColumnDataSource | ArrayLike,
    *,
    rows: ArrayLike | None = None,
    groups: ArrayLike | Sequence[Any] | None = None,
    colour: ArrayLike | None = None,
    colour_label: str = "",
    names: Sequence[str] | None = None,
    faint: ArrayLike | None = None,
    behind: ArrayLike | None = None,
    axes: tuple[str, str] | None = None,
    height: int = 430,
    equal: bool = True,
    prefix: str = "m",
    called: str = "rows",
    ungrouped: str = UNKNOWN,
) -> Any:
    """Draw the rows where an embedding puts them.

    Args:
        places: (n, k) coordinates, the first two drawn, a single one as a strip; rows with NaN have no place, and are
            counted. Or a source that `add_map` gave places to, which is drawn whole and keeps the columns of this map.
        rows: (n,) row numbers as they are to be shown; by default counted from 1. A source has its own.
        groups: (n,) labels; the ten largest groups get a colour and a shape each, the rest are drawn alike.
        colour: (n,) numbers instead of groups, from blue, low, to orange, high; grey where not finite.
        colour_label: what these numbers are.
        names: (n,) shown under the pointer; where at most 60 are not empty, also written beside their points.
        faint: (n,) from 0 to 1, how little the neighbourhood of a row can be trusted; drawn faint by as much.
        behind: (m, k) places of more rows than are drawn one by one, as a shade behind them.
        axes: what the two axes are, with their units; without it there are none, for the coordinates of most
            embeddings mean nothing by themselves.
        height: in pixels.
        equal: let both axes have the same scale, so that distances can be seen.
        prefix: as in `add_map`.
        called: what is drawn, several of them.
        ungrouped: what is said of rows whose group is None or NaN.

    Returns:
        A Bokeh figure.

    >>> embedding_map([[0.0, 1.0], [1.0, 0.0]], names=["north", "east"]).renderers[0].data_source.data["row"].tolist()
    [1, 2]
    """
    if groups is not None and colour is not None:
        raise ParameterError("a map is coloured by groups or by colour; got both, so leave one out")
    given = {"groups": groups, "value": colour, "name": names, "faint": faint}
    if isinstance(places, ColumnDataSource):
        if rows is not None or f"{prefix}2" not in places.data:
            raise ParameterError(f"a source has its row numbers, and places from add_map(..., prefix={prefix!r})")
        source, columns = places, _columns(len(places.data["row"]), given)
    else:
        everyone = _places(places)
        source, columns = _sampled(everyone, rows, _columns(len(everyone), given), prefix)
        behind = everyone if behind is None and np.count_nonzero(_found(everyone)) > WHOLE else behind
    columns |= _clearness(len(source.data["row"]), columns.get("faint", 0.0))
    source.data.update({f"{prefix}_{key}": values for key, values in columns.items()})
    plot = map_figure(axes, height, equal)
    mapper = _mapper(np.asarray(colour, dtype=np.float64)) if colour is not None else None
    marks = _points(plot, source, prefix, mapper, coloured=groups is not None)
    said = [(words, f"@{prefix}_{key}{form}") for key, words, form in _SAID if key in columns]
    plot.add_tools(hover([marks], [("row", "@row"), *said]))
    if groups is not None:
        _name_groups(plot, grouped(groups, unknown=ungrouped))
    if mapper is not None:
        _name_colours(plot, mapper, colour_label)
    shown = np.stack([source.data[f"{prefix}1"], source.data[f"{prefix}2"]], axis=1)
    told = _shaded(plot, shown, behind, equal, called)
    lost = np.count_nonzero(~_found(shown if isinstance(places, ColumnDataSource) else everyone))
    told += [f"{called.capitalize()} without a place on the map: {lost:,}."] if lost else []
    told += ["Faint: neighbours on the map are not to be trusted."] if faint is not None else []
    if names is not None and not write_names(
        plot, shown, columns["name"], height=height, axes=axes is not None, equal=equal
    ):
        told.append("Names are written where there is room; the pointer shows all.")
    if told:
        note(plot, " ".join(told))
    return plot


def _places(coordinates: ArrayLike) -> Array:
    """The two coordinates drawn; a single one is spread out to a strip that is thick where rows are many."""
    places = np.asarray(coordinates, dtype=np.float64)
    if places.ndim != 2 or places.shape[1] == 0:
        raise ParameterError(f"coordinates have one line per row; got an array of shape {places.shape}")
    infinite = np.isinf(places[:, :2]).any(axis=1)
    if infinite.any():
        raise ParameterError(f"coordinates are finite or NaN; row {int(np.argmax(infinite))} (counted from 0) is not")
    if places.shape[1] == 1:
        upward, found = np.full(len(places), np.nan), _found(places)
        upward[found] = _STRIP * np.ptp(places[found], axis=None) * spread(places[found, 0]) if found.any() else 0.0
        places = np.column_stack([places, upward])
    return places[:, :2]


def _found(places: Array) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.all(np.isfinite(places), axis=1)
    return found


def _columns(n: int, given: dict[str, Any]) -> dict[str, Any]:
    """What is known of each row, checked, as arrays to draw from."""
    columns = {key: np.asarray(values, dtype=object) for key, values in given.items() if values is not None}
    for key, values in columns.items():
        if values.shape != (n,):
            raise ParameterError(f"{key} has one entry per row; got shape {values.shape} for {n} rows")
    for key in {"value", "faint"} & set(columns):
        columns[key] = columns[key].astype(np.float64)
    faint = columns.get("faint", np.zeros(0))
    if not np.all((faint >= 0) & (faint <= 1)):
        wrong = faint[~((faint >= 0) & (faint <= 1))][0]
        raise ParameterError(f"faint runs from 0, to be trusted, to 1, not to be trusted; got {wrong}")
    if "name" in columns:
        columns["name"] = np.array(["" if name is None else str(name) for name in columns["name"]], dtype=object)
    if "groups" in columns:
        looks = grouped(columns.pop("groups"))
        columns["group"] = np.array(looks.texts, dtype=object)
        columns["tint"] = np.array(looks.colours, dtype=object)[looks.code]
        columns["shape"] = np.array(looks.markers, dtype=object)[looks.code]
    return columns


def _sampled(
    places: Array, rows: ArrayLike | None, columns: dict[str, Any], prefix: str
) -> tuple[ColumnDataSource, dict[str, Any]]:
    """A source of all rows, or of a fair sample where they are too many; rows whose names are written stay."""
    n = len(places)
    numbers = np.arange(1, n + 1) if rows is None else np.asarray(rows)
    if numbers.shape != (n,):
        raise ParameterError(f"rows has one number per row; got shape {numbers.shape} for {n} rows")
    drawn = np.flatnonzero(_found(places))
    if len(drawn) > WHOLE:
        named = np.isin(drawn, written(columns.get("name", [])))
        drawn = drawn[sample(len(drawn), SAMPLE, np.flatnonzero(named))]
    source = add_map(ColumnDataSource({"row": numbers[drawn]}, name="rows"), places[drawn], prefix=prefix)
    return source, {key: values[drawn] for key, values in columns.items()}


def _shaded(plot: Any, shown: Array, behind: ArrayLike | None, equal: bool, called: str) -> list[str]:
    """Shade the map by all rows where there are more than are drawn, and say so."""
    if behind is None:
        return []
    everyone = _places(behind)
    everyone = everyone[_found(everyone)]
    if len(everyone):
        draw_density(plot, everyone, equal=equal)
    drawn = np.count_nonzero(_found(shown))
    return [f"{drawn:,} {called} are drawn as points; the shade counts all {len(everyone):,}."]


def _clearness(m: int, faint: Any) -> dict[str, Array]:
    """How opaque fill and outline of each of m points are: the more points, the clearer, and the doubtful ones more."""
    doubt = np.broadcast_to(np.asarray(faint), (m,))
    crowd = np.clip(np.log10(max(m, 1)) - 2, 0.0, 1.7)  # from a hundred points to five thousand
    return {"fill": (0.45 - 0.18 * crowd) * (1 - 0.85 * doubt), "line": (0.9 - 0.26 * crowd) * (1 - 0.7 * doubt)}


def _points(plot: Any, source: ColumnDataSource, prefix: str, mapper: Any, *, coloured: bool) -> Any:
    m = len(source.data["row"])
    tint: Any = {"field": f"{prefix}_value", "transform": mapper} if mapper else f"{prefix}_tint" if coloured else REAL
    return plot.scatter(
        f"{prefix}1", f"{prefix}2", source=source, size=float(np.clip(14 - 2.7 * np.log10(max(m, 1)), 4, 9)),
        marker=f"{prefix}_shape" if coloured else "circle", fill_color=tint, line_color=tint,
        fill_alpha=f"{prefix}_fill", line_alpha=f"{prefix}_line",
        selection_fill_alpha=0.75, selection_line_alpha=1.0,
        nonselection_fill_alpha=0.05, nonselection_line_alpha=0.2,
    )  # fmt: skip


def _name_groups(plot: Any, looks: GroupLooks) -> None:
    # the legend's own marks lie nowhere: those of the rows may be faint
    nowhere = np.full(len(looks.names), np.nan)
    key = ColumnDataSource({"x": nowhere, "y": nowhere, "tint": looks.colours, "shape": looks.markers})
    marks = plot.scatter("x", "y", source=key, marker="shape", size=11, color="tint", fill_alpha=0.45, line_width=1.5)
    legend(plot, [(name, [marks], j) for j, name in enumerate(looks.names)])


def _name_colours(plot: Any, mapper: Any, words: str) -> None:
    ticks = number_ticks(mapper.low, mapper.high, 9)
    nowhere = np.full(len(ticks), np.nan)
    key = ColumnDataSource({"x": nowhere, "y": nowhere, "value": [at for at, _ in ticks]})
    tint: Any = {"field": "value", "transform": mapper}
    marks = plot.scatter("x", "y", source=key, size=11, color=tint, fill_alpha=0.6)
    legend(plot, [(number, [marks], j) for j, (_, number) in enumerate(ticks)], title=shortened(words, _TITLE))


def _mapper(values: Array) -> LinearColorMapper:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    ends = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in RAMP], dtype=np.float64)
    at = np.linspace(0, len(RAMP) - 1, _STEPS)
    mixed = np.stack([np.interp(at, np.arange(len(RAMP)), ends[:, j]) for j in range(3)], axis=1).round().astype(int)
    palette = [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in mixed]
    return LinearColorMapper(palette=palette, low=low, high=high if high > low else low + 1.0, nan_color=CHANCE)

"""Coefficients as dots with their intervals: which are there, and which could as well be zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, PlainText
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.given import names_of, padded, vector
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, REAL, figure, hover
from assay.views.axes.ticks import brief

SHOWN = 25
_NAME = 22
_LINE, _AROUND = 22, 120


def coefficient_view(
    estimate: ArrayLike,
    names: Sequence[str] | None = None,
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    x_label: str = "coefficient",
    in_order: bool = False,
) -> Any:
    """Draw coefficients, those farthest from zero first, with intervals where they are known.

    Of more than 25 columns the first are drawn: by how many half intervals they are from zero, or by size without any.

    Args:
        estimate: (d,) coefficients.
        names: (d,) of the columns.
        low: (d,) lower end of their intervals; not finite where there is none.
        high: (d,) upper end.
        x_label: what coefficients are, with their unit.
        in_order: draw them as given, where being zero or not is no question.

    Returns:
        A Bokeh figure.

    >>> plot = coefficient_view([0.1, -2.0], ["age", "dose"], low=[-0.3, -2.5], high=[0.5, -1.5])
    >>> plot.renderers[0].data_source.data["name"].tolist()
    ['dose']
    """
    at = vector("estimate", estimate, what="column")
    if not len(at):
        raise ParameterError("a picture of coefficients needs one or more; got none")
    if (low is None) != (high is None):
        raise ParameterError("low and high go together; got one of them")
    called = names_of(names, len(at))
    ends = _ends(at, low, high)
    known: NDArray[np.bool_] = np.asarray(np.isfinite(ends).all(axis=1))
    shown = np.arange(len(at))[:SHOWN] if in_order else np.argsort(-_farness(at, ends, known), kind="stable")[:SHOWN]
    clear = in_order | ~known | (ends[:, 0] > 0) | (ends[:, 1] < 0)
    m = len(shown)
    plot = _figure(np.concatenate([at[shown], ends[shown][known[shown]].ravel(), [0.0]]), m, x_label)
    columns: dict[str, Any] = {
        "y": np.arange(m), "name": _texts(called[j] for j in shown), "value": at[shown],
        "text": _texts(brief(float(x), 4) for x in at[shown]),
        "low": np.where(known, ends[:, 0], at)[shown], "high": np.where(known, ends[:, 1], at)[shown],
        "span": _texts(_span(*ends[j]) if known[j] else "not known" for j in shown),
    }  # fmt: skip
    said = [("", "@name"), (x_label, "@text")] if in_order else [("column", "@name"), ("coefficient", "@text")]
    _draw(plot, columns, clear[shown], bool(known.any()), said, "" if in_order else "differs from zero")
    plot.yaxis.ticker = FixedTicker(ticks=list(range(m)))
    plot.yaxis.major_label_overrides = {k: PlainText(text=shortened(called[j], _NAME)) for k, j in enumerate(shown)}
    plot.yaxis.update(axis_line_alpha=0.0, major_tick_out=0)
    if m < len(at):
        note(plot, f"{m} of {len(at):,} columns are drawn, {'the first' if in_order else 'those farthest from zero'}.")
    return plot


def _ends(at: Array, low: ArrayLike | None, high: ArrayLike | None) -> Array:
    if low is None or high is None:
        return np.full((len(at), 2), np.nan)
    ends = np.stack([np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)], axis=-1)
    if ends.shape != (len(at), 2):
        raise ParameterError(f"low and high have one number per column, {len(at)}; got shape {ends.shape[:-1]}")
    return ends


def _farness(at: Array, ends: Array, known: NDArray[np.bool_]) -> Array:
    """How many half intervals each is from zero; without intervals its size."""
    if not known.all():
        return np.abs(at)
    half = (ends[:, 1] - ends[:, 0]) / 2
    return np.divide(np.abs(at), half, out=np.where(at != 0, np.inf, 0.0), where=half > 0)


def _figure(drawn: Array, m: int, x_label: str) -> Any:
    plot = figure(
        x_label=x_label, y_label="", height=_AROUND + _LINE * max(m, 3), x_range=padded(drawn, 0.06),
        y_range=(max(m, 3) - 0.4, -0.6),
    )  # fmt: skip
    plot.xgrid.visible, plot.ygrid.visible = True, False
    plot.add_layout(Span(location=0, dimension="height", line_color=CHANCE, line_width=1.5, level="underlay"))
    return plot


def _texts(texts: Iterable[str]) -> NDArray[Any]:
    return np.array(list(texts), dtype=np.object_)


def _span(low: float, high: float) -> str:
    return f"{brief(low, 4)} to {brief(high, 4)}"


def _draw(
    plot: Any,
    columns: dict[str, Any],
    clear: NDArray[np.bool_],
    ranged: bool,
    said: list[tuple[str, str]],
    differs: str,
) -> None:
    entries: list[Any] = []
    said = [*said, *([("interval", "@span")] if ranged else [])]
    for words, which, style in (
        (differs if ranged else "", clear, {"color": REAL}),
        ("could be zero", ~clear, {"line_color": REAL, "fill_color": "#ffffff"}),
    ):
        if which.any():
            source = ColumnDataSource({key: column[which] for key, column in columns.items()})
            if ranged:
                plot.segment("low", "y", "high", "y", source=source, line_color=REAL, line_width=2)
            marks = plot.scatter("value", "y", source=source, size=9, line_width=2, **style)
            plot.add_tools(hover([marks], said))
            entries += [(words, [marks], None)] if words else []
    if entries:
        legend(plot, entries)

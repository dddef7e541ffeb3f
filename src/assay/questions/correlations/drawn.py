"""The pairs that are named, drawn as their rows came: points and a running median, boxes by level, or shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.asking.coarse import coarse_look
from assay.asking.table import FirstLook
from assay.questions.correlations.answer import Correlations
from assay.questions.correlations.closer import NAMED
from assay.questions.correlations.given import GivenThird
from assay.questions.correlations.levels import LENGTH
from assay.questions.correlations.shape import PairShape
from assay.questions.correlations.words import turned_by
from assay.views.axes.numbers import count, percent
from assay.views.columns.pair import Axis, Scale, boxes_view, pair_view
from assay.views.html.elements import name_cell, table
from assay.views.html.escape import visible
from assay.views.html.view import View

DRAWN, _MOST = 3, 5  # strongest pairs; and with those that bend or are turned: with the matrix three rows of figures
_FEWEST = 3  # rows that both columns must have
_VALUES = 12  # up to so many values a number is drawn as levels
_NUMBERS = ("number", "count", "ordered", "boolean", "time", "text")
_LEVELS = 12


def drawn_pairs(found: Correlations, standing: int, *, include_rows: bool = False) -> list[View]:
    """A figure or a table for pairs that a third column turns, for those whose shape is told, and for the strongest.

    Args:
        found: the numbers behind the finding.
        standing: how many pairs stand.
        include_rows: whether values may be shown as they came; otherwise they are coarse.
    """
    pairs, look = found.found.pairs, found.closer.look
    if look is None:
        return []
    turned: dict[tuple[int, int], GivenThird] = {}
    for one in found.turned():
        turned.setdefault((one.first, one.second), one)
    shown = [k for k in range(min(standing, len(pairs))) if not pairs.lag[k]]
    strongest = [(int(pairs.first[k]), int(pairs.second[k])) for k in shown]
    bent = [pair for pair in strongest[:NAMED] if _bends(found.closer.shape(*pair))]
    chosen = dict.fromkeys([*list(turned)[:DRAWN], *bent, *strongest[:DRAWN]])
    came = " as they came"
    if not include_rows:
        look, came = coarse_look(look, _wanted(found, chosen, turned)), ""
    views: list[View] = []
    for pair in chosen:
        view = _view(found, look, pair, turned.get(pair), len(views) + 1, came)
        views += [view] if view is not None and len(views) < _MOST else []
    return views


def _wanted(
    found: Correlations, chosen: Iterable[tuple[int, int]], turned: Mapping[tuple[int, int], GivenThird]
) -> set[str]:
    """Names of the columns of pairs, and of those that turn them: making 150,000 coarse for ten takes half a minute."""
    places = {j for pair in chosen for j in (*pair, *([turned[pair].third] if pair in turned else []))}
    names = {found.found.columns[j] for j in places}
    return names | {name.removeprefix(LENGTH) for name in names}


def _bends(shape: PairShape | None) -> bool:
    """Whether two numbers do more than rise or fall together."""
    return shape is not None and shape.form in ("level", "spread", "ring", "cross") and not shape.monotone


def _view(
    found: Correlations, look: FirstLook, pair: tuple[int, int], given: GivenThird | None, number: int, came: str
) -> View | None:
    names = found.found.columns
    shape = found.closer.shape(*pair)
    x, y = pair if shape is None else (shape.along, shape.of)
    here = [place for j in (x, y) if (place := _place(look, names[j])) is not None]
    if len(here) < 2:
        return None
    kept = np.asarray(np.isfinite(look.values[:, here]).all(axis=1))
    if kept.sum() < _FEWEST:
        return None
    told = "" if shape is None else found.closer.told(shape, names)
    if given is not None:
        told = turned_by(given, names).removesuffix(".")
    title = f"{visible(names[x])} and {visible(names[y])}"
    levelled = [_levelled(look, j, kept) for j in here]
    name = f"pair-{number}"
    if all(levelled):
        return View(name, title, caption=told, numbers=_shares(look, here, kept))
    caption = f"{visible(told)}. " if told else ""
    if any(levelled):
        across, up = here if levelled[0] else here[::-1]
        figure = boxes_view(_axis(look, across, kept), _axis(look, up, kept))
        return View(name, title, figure, (), f"{caption}Each box holds the middle half of the rows of a level.")
    groups = None if given is None else _groups(look, names[given.third], kept)
    figure = pair_view(_axis(look, here[0], kept), _axis(look, here[1], kept), groups=groups, rows=look.rows[kept])
    inside = (
        f" Lines are within {visible(names[given.third])}; the dashed one is of all rows." if groups and given else ""
    )
    total = f"{'All ' if kept.sum() == look.total else ''}{count(int(kept.sum()))} rows"
    return View(name, title, figure, (), f"{caption}{total}{came}.{inside}")


def _place(look: FirstLook, name: str) -> int | None:
    """The column of the first look; of a text it has the length."""
    text = name.removeprefix(LENGTH)
    if name in look.columns:
        return look.columns.index(name)
    return look.columns.index(text) if text in look.columns else None


def _levelled(look: FirstLook, j: int, kept: NDArray[np.bool_]) -> bool:
    """Whether a column is drawn by its levels: a category, or a number that is shown with few values."""
    if look.kinds[j] not in _NUMBERS or look.kinds[j] == "boolean" or look.columns[j] in look.levels:
        return True
    return look.kinds[j] != "time" and len(np.unique(look.values[kept, j])) <= _VALUES


def _axis(look: FirstLook, j: int, kept: NDArray[np.bool_]) -> Axis:
    values, unit = look.values[kept, j], look.units[j]
    length = LENGTH if look.kinds[j] == "text" else ""
    name = length + visible(look.columns[j]) + (f" ({visible(unit)})" if unit else "")
    if _levelled(look, j, kept):
        codes, names = _coded(look, j, values)
        return Axis(name, codes, levels=names)
    logged = look.columns[j] in look.log and bool((values > -1).all())
    scale: Scale = "time" if look.kinds[j] == "time" else "log" if logged else "plain"
    return Axis(f"{name}, log scale" if logged else name, values, scale, whole=look.kinds[j] == "count")


def _coded(look: FirstLook, j: int, values: Array) -> tuple[Any, list[str]]:
    """Numbers of the levels that there are, from 0, and their names."""
    there, codes = np.unique(values, return_inverse=True)
    known = look.levels.get(look.columns[j], ())
    if look.kinds[j] == "boolean" and not known:
        known = ("no", "yes")
    named = [visible(known[int(v)]) if 0 <= v < len(known) and v == int(v) else f"{v:g}" for v in there]
    return codes, named


def _groups(look: FirstLook, third: str, kept: NDArray[np.bool_]) -> list[str] | None:
    """The level of the third column in each row; None where it has too many to be told apart."""
    if third not in look.columns or not _levelled(look, look.columns.index(third), kept):
        return None
    j = look.columns.index(third)
    values = look.values[kept, j]
    codes, names = _coded(look, j, np.where(np.isfinite(values), values, -1.0))
    return [names[code] if np.isfinite(value) else "not known" for code, value in zip(codes, values, strict=True)]


def _shares(look: FirstLook, here: list[int], kept: NDArray[np.bool_]) -> str:
    """How the levels of one column share out among those of the other, the most frequent ones."""
    (a, one), (b, other) = (_coded(look, j, look.values[kept, j]) for j in here)
    counts = np.zeros((len(one), len(other)))
    np.add.at(counts, (a, b), 1.0)
    rows, columns = (np.sort(np.argsort(-counts.sum(axis=k), kind="stable")[:_LEVELS]) for k in (1, 0))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    cells = [
        [name_cell(one[i]), count(int(counts[i].sum())), *(_share_cell(float(shares[i, k])) for k in columns)]
        for i in rows
    ]
    caption = f"The rows of each level of {look.columns[here[0]]}, shared out by {look.columns[here[1]]}"
    heads = [look.columns[here[0]], "Rows", *(other[k] for k in columns)]
    return table(caption, heads, cells, numeric=range(1, len(heads)))


def _share_cell(share: float) -> str:
    return f'<td class="num heat pos" style="--w:{share:.2f}">{percent(share)}'

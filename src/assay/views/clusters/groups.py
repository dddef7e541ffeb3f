"""Groups of points told apart twice, by colour and by shape, so that neither alone is needed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.shown import shortened
from assay.views.axes.theme import CHANCE

MOST = 10
# Middle tones, 3:1 or more against white and against the dark page; the order keeps neighbours apart for the
# colour-blind. Derived from M. Okabe and K. Ito, Color Universal Design (2008), and filled up by shape.
COLOURS = (
    "#2787cf", "#d9680f", "#119b74", "#c2549d", "#a08410", "#7c6ad6", "#2595a8", "#b35f44", "#5f8f2f", "#d8567b",
)  # fmt: skip
MARKERS = (
    "circle", "square", "triangle", "diamond", "inverted_triangle", "hex", "star", "plus", "square_pin", "triangle_pin",
)  # fmt: skip
_NAME = 18
_OTHER, UNKNOWN = "other", "not known"


@dataclass(frozen=True, slots=True, eq=False)
class GroupLooks:
    """Which group each point is in, and how each group is drawn and named.

    Attributes:
        code: (n,) number of the group of each point.
        texts: (n,) the label of each point as text.
        names: (g,) what the legend says of each group.
        colours: (g,) of each group.
        markers: (g,) shape of each group.
    """

    code: NDArray[np.intp]
    texts: list[str]
    names: list[str]
    colours: list[str]
    markers: list[str]


def grouped(labels: ArrayLike | Sequence[Any], rows: ArrayLike | None = None, *, unknown: str = UNKNOWN) -> GroupLooks:
    """Sort labels into at most ten groups of their own, the largest; the rest are drawn alike.

    Args:
        labels: (n,) text or numbers; None and NaN are not known.
        rows: (n,) how many rows each point stands for; one by default.
        unknown: what is said of points without a label.

    Returns:
        The groups, in the order of their labels, then "other" and those without a label where there are any.

    >>> groups = grouped(["b", "a", "b", None])
    >>> groups.names, groups.code.tolist()
    (['a (1)', 'b (2)', 'not known (1)'], [1, 0, 1, 2])
    """
    values = np.asarray(labels, dtype=object).ravel().tolist()
    known = [value is not None and value == value for value in values]
    weight = np.ones(len(values), dtype=np.int64) if rows is None else np.asarray(rows, dtype=np.int64)
    counts: dict[Any, int] = {}
    for value, there, many in zip(values, known, weight.tolist(), strict=True):
        if there:
            counts[value] = counts.get(value, 0) + many
    largest = sorted(counts, key=lambda value: -counts[value])[:MOST]
    order = sorted(largest, key=_rank)
    place = {value: j for j, value in enumerate(order)}
    code = np.array([place.get(v, MOST) if k else MOST + 1 for v, k in zip(values, known, strict=True)], dtype=np.intp)
    names = [f"{shortened(str(value), _NAME)} ({counts[value]:,})" for value in order]
    colours, markers = list(COLOURS[: len(order)]), list(MARKERS[: len(order)])
    for at, word in zip((MOST, MOST + 1), (_OTHER, unknown), strict=True):
        if (here := code == at).any():
            code[here] = len(names)
            names.append(f"{word} ({int(weight[here].sum()):,})")
            colours.append(CHANCE)
            markers.append("circle" if at == MOST else "x")
    texts = [str(value) if there else unknown for value, there in zip(values, known, strict=True)]
    return GroupLooks(code, texts, names, colours, markers)


def _rank(value: Any) -> tuple[bool, float, str]:
    """Numbers before texts, and texts that begin with a number by it: 3: a, 12: b."""
    if isinstance(value, (int, float, np.number)):
        return False, float(value), ""
    text = str(value)
    begins = re.match(r"\d{1,15}", text, re.ASCII)
    return True, float(begins[0]) if begins else math.inf, text

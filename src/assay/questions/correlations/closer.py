"""A closer look at the pairs that are named: their shape, what third columns do to them, their rows as they came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.evidence.design import Design
from assay.questions.correlations.given import Given, turned_by_others
from assay.questions.correlations.shape import Shape, shape_of, told

if TYPE_CHECKING:
    from assay.asking.table import FirstLook

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

NAMED = 10  # pairs that are looked at more closely
_ROWS = 20_000  # more show no other shape


@dataclass(frozen=True, slots=True, eq=False)
class Closer:
    """What a closer look at the strongest pairs shows.

    Attributes:
        shapes: of these pairs, in their order.
        given: what third columns turn round or away, the surest first.
        looks: pairs x third columns that were looked at for that; `given` is corrected for them.
        levels: (d,) names of the levels of each column; empty for numbers.
        look: rows as they came, to be drawn; None where there are none.
    """

    shapes: tuple[Shape, ...] = ()
    given: tuple[Given, ...] = ()
    looks: int = 0
    levels: tuple[tuple[str, ...], ...] = ()
    look: FirstLook | None = None

    def shape(self, first: int, second: int) -> Shape | None:
        """Of a pair of columns; None where it was not looked at."""
        return next((one for one in self.shapes if (one.first, one.second) == (first, second)), None)

    def turned(self, factor: float, alpha: float) -> tuple[Given, ...]:
        """The third columns that turn pairs, where other questions were asked too: those that still stand."""
        return tuple(one for one in self.given if one.q * factor <= alpha)

    def told(self, shape: Shape, columns: tuple[str, ...]) -> str:
        """A shape in words."""
        return told(shape, columns, self.levels)


def closer_look(
    X: Array,
    groups: Indices,
    pairs: list[tuple[int, int]],
    *,
    levels: tuple[tuple[str, ...], ...],
    look: FirstLook | None,
    design: Design,
    alpha: float,
    seed: int,
) -> Closer:
    """Look more closely at pairs that stand.

    Args:
        X: (n, D) rows, none missing.
        groups: (D,) the column that each number belongs to, ascending from 0 without gaps.
        pairs: numbers of two columns each, the strongest first.
        levels: (d,) names of the levels of each column; empty for numbers.
        look: rows as they came.
        design: how rows depend on each other.
        alpha: level of the study.
        seed: of halves and samples.
    """
    pairs = pairs[:NAMED]
    if not pairs:
        return Closer()
    given, looks = turned_by_others(X, groups, pairs, design=design, alpha=alpha, seed=seed)
    if len(X) > _ROWS:
        some = np.sort(np.random.default_rng(seed).choice(len(X), _ROWS, replace=False))
        X, design = X[some], design.among(some)
    sides = [(X[:, groups == i], X[:, groups == j]) for i, j in pairs]
    shapes = [shape_of(side, pair, design=design, seed=seed) for side, pair in zip(sides, pairs, strict=True)]
    known = tuple(names if len(names) == max(int((groups == j).sum()), 2) else () for j, names in enumerate(levels))
    return Closer(tuple(_nameable(shape, known) for shape in shapes), given, looks, known, look)


def _nameable(shape: Shape, levels: tuple[tuple[str, ...], ...]) -> Shape:
    """The same, or none where it is that of levels whose names are not known."""
    needed = {"highest": (shape.along,), "together": (shape.first, shape.second)}.get(shape.form, ())
    if all(levels[column] for column in needed):
        return shape
    return Shape(shape.first, shape.second, "none", shape.of, shape.along)


def as_dicts(closer: Closer, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """Shapes as JSON-ready values."""
    return [
        {
            "columns": [columns[one.first], columns[one.second]],
            "form": one.form,
            "of": columns[one.of],
            "along": columns[one.along],
            "signs": list(one.signs),
            "words": closer.told(one, columns),
        }
        for one in closer.shapes
    ]

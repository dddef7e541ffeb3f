"""A closer look at the pairs that are named: their shape, what third columns do to them, their rows as they came."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.arrays import Array, Indices
from assay.asking.words import SURVIVED
from assay.evidence.design import Design
from assay.questions.correlations.columns import NumberColumns
from assay.questions.correlations.given import GivenThird, turned_by_others
from assay.questions.correlations.levels import level_names
from assay.questions.correlations.shape import PairShape, shape_of, told

if TYPE_CHECKING:  # the answer holds what is found here
    from assay.asking.question import Context
    from assay.asking.table import FirstLook, Table
    from assay.questions.correlations.answer import Correlations


NAMED = 10  # pairs that are looked at more closely
_ROWS = 5000  # more show no other shape
_FEWEST = 3


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

    shapes: tuple[PairShape, ...] = ()
    given: tuple[GivenThird, ...] = ()
    looks: int = 0
    levels: tuple[tuple[str, ...], ...] = ()
    look: FirstLook | None = None

    def shape(self, first: int, second: int) -> PairShape | None:
        """Of a pair of columns; None where it was not looked at."""
        return next((one for one in self.shapes if (one.first, one.second) == (first, second)), None)

    def turned(self, factor: float, level: float) -> tuple[GivenThird, ...]:
        """The third columns that turn pairs, where other questions were asked too: those that still stand."""
        return tuple(one for one in self.given if one.q * factor <= level)

    def told(self, shape: PairShape, columns: tuple[str, ...], *, brief: bool = False) -> str:
        """A shape in words."""
        return told(shape, columns, self.levels, brief=brief)


def looked_closer(found: Correlations, given: NumberColumns, table: Table, context: Context) -> Correlations:
    """The answer with a closer look at the pairs that stand, where any does.

    Args:
        found: the answer.
        given: the columns as numbers.
        table: the data.
        context: how the question is asked.
    """
    if found.evidence.verdict not in SURVIVED:
        return found
    pairs = found.found.pairs
    # what goes together some rows apart has no rows of its own to look at
    listed = [k for k in range(min(max(found.n_pairs, 1), len(pairs))) if not pairs.lag[k]]
    closer = closer_look(
        given.X,
        given.groups,
        [(int(pairs.first[k]), int(pairs.second[k])) for k in listed],
        levels=level_names(table, given),
        look=table.look,
        design=table.design,
        level=context.level,
        seed=context.seed,
    )
    return replace(found, closer=closer)


def closer_look(
    X: Array,
    groups: Indices,
    pairs: list[tuple[int, int]],
    *,
    levels: tuple[tuple[str, ...], ...],
    look: FirstLook | None,
    design: Design,
    level: float,
    seed: int,
) -> Closer:
    """Look more closely at pairs that stand.

    Args:
        X: (n, D) rows, NaN where missing.
        groups: (D,) the column that each number belongs to, ascending from 0 without gaps.
        pairs: numbers of two columns each, the strongest first.
        levels: (d,) names of the levels of each column; empty for numbers.
        look: rows as they came.
        design: how rows depend on each other.
        level: level of the study.
        seed: of halves and samples.
    """
    pairs = pairs[:NAMED]
    if not pairs:
        return Closer()
    given, looks = turned_by_others(X, groups, pairs, design=design, level=level, seed=seed)
    if len(X) > _ROWS:
        some = np.sort(np.random.default_rng(seed).choice(len(X), _ROWS, replace=False))
        X, design = X[some], design.among(some)
    shapes = [_shape(X[:, groups == i], X[:, groups == j], (i, j), design, seed) for i, j in pairs]
    return Closer(tuple(_nameable(shape, levels) for shape in shapes), given, looks, levels, look)


def _shape(A: Array, B: Array, pair: tuple[int, int], design: Design, seed: int) -> PairShape:
    """By the rows where both have a value."""
    kept = np.flatnonzero(~(np.isnan(A[:, 0]) | np.isnan(B[:, 0])))
    if len(kept) < _FEWEST:
        return PairShape(*pair, "none", pair[1], pair[0])
    if len(kept) < len(A):
        A, B, design = A[kept], B[kept], design.among(kept)
    return shape_of((A, B), pair, design=design, seed=seed)


def _nameable(shape: PairShape, levels: tuple[tuple[str, ...], ...]) -> PairShape:
    """The same, or none where it is that of levels whose names are not known."""
    columns = {"highest": (shape.along, shape.along), "together": (shape.first, shape.second)}.get(shape.form, ())
    told = [k < len(levels[column]) and levels[column][k] for column, k in zip(columns, shape.levels, strict=True)]
    return shape if all(told) else PairShape(shape.first, shape.second, "none", shape.of, shape.along)


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

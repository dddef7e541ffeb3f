"""Does a third column turn a pair round, or away? Each pair that stands, given each other column: `partial`.

    round   within levels, or at equal values, of the third column the pair has the other sign: |z| beyond the point of
            Bonferroni for all pairs x third columns
    away    there it is compatible with nothing (p above .05), much of it is in no level, and it is less than half of
            what it is as a whole (Bonferroni again), and the third is linked to both more strongly than they are to
            each other

Among columns that share one factor every partial correlation shrinks; that is neither. Rows count as many as the design
says they are worth, less those that the third column took.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from assay.arrays import Array, Indices
from assay.evidence.design import Design
from assay.linalg.ranks import average_ranks
from assay.questions.correlations.partial import (
    Third,
    beyond_chance,
    category_left,
    cubic,
    left_of,
    levels_of,
    number_left,
    orthonormal,
    ranked,
    strength,
)

_ROWS = 5000  # more say nothing new about what is turned round
_CELLS = 2_000_000  # of wide tables fewer
_FEWEST_ROWS = 1000
_IN_EACH = 10  # rows that a level must have for a say in "within each"
_CUBIC = 3  # degrees of freedom that a cubic takes
_SLACK = 0.8  # of the least that the links must explain, as cubics and strata explain more than lines
_LEFT = 0.6  # share of the whole that may be left by ranks over all levels, for a look at ranks within them
_COPY = 1e-12  # of the variance: a third column that is one of the pair leaves nothing
_MUCH = 0.3  # correlation within one level that is not next to nothing
_NOTHING = 0.05  # p from which on a pair is compatible with nothing


@dataclass(frozen=True, slots=True)
class GivenThird:
    """What becomes of a pair once a third column is known.

    Attributes:
        first, second, third: numbers of the columns.
        turned: "round" or "away".
        overall: rank correlation of the pair, or its strength where it has a category of several levels.
        within: the same within levels, or at equal values, of the third column.
        low, high: interval of `within` that holds for all pairs and third columns together.
        q: Bonferroni's p of what makes the claim.
        levels: how many the third column has; 0 where its values are too many to be levels.
        each: whether the pair has the sign of `within` in each level of ten rows or more.
        signed: whether strengths have a sign; without one they cannot turn round.
    """

    first: int
    second: int
    third: int
    turned: Literal["round", "away"]
    overall: float
    within: float
    low: float
    high: float
    q: float
    levels: int
    each: bool
    signed: bool = True

    def as_dict(self, columns: Sequence[str]) -> dict[str, Any]:
        """JSON-ready values, columns by name."""
        return {
            "columns": [columns[self.first], columns[self.second]],
            "given": columns[self.third],
            "turned": self.turned,
            "overall": self.overall,
            "within": self.within,
            "interval": [self.low, self.high],
            "q": self.q,
            "levels": self.levels,
            "in_each_level": self.each,
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """A pair as a whole, its weaker link to the third column, and how many looks are taken."""

    pair: tuple[int, int]
    sides: tuple[Array, Array]
    overall: float
    link: float
    looks: int

    @property
    def signed(self) -> bool:
        return all(side.shape[1] == 1 for side in self.sides)


def turned_by_others(
    X: Array,
    groups: Indices,
    pairs: Sequence[tuple[int, int]],
    *,
    design: Design,
    level: float = 0.05,
    seed: int = 0,
) -> tuple[tuple[GivenThird, ...], int]:
    """The pairs that a third column turns round or away, the surest first; and how many pairs x columns were looked at.

    Args:
        X: (n, D) rows, NaN where missing: there a number has its median and a category none of its levels, which
            weakens what is left and what there was alike.
        groups: (D,) the column that each number belongs to, ascending from 0 without gaps.
        pairs: numbers of two columns each, pairs that stand.
        design: how rows depend on each other.
        level: level, for all pairs and third columns together.
        seed: of the rows used where they are more than 5,000.
    """
    most = min(_ROWS, max(_FEWEST_ROWS, _CELLS // X.shape[1]))
    if len(X) > most:
        some = np.sort(np.random.default_rng(seed).choice(len(X), most, replace=False))
        X, design = X[some], design.among(some)
    starts = np.searchsorted(groups, np.arange(int(groups.max()) + 2))
    blocks = [_filled(X[:, a:b]) for a, b in pairwise(starts)]
    named = sorted({j for pair in pairs for j in pair})
    whole = {j: orthonormal(ranked(blocks[j])) for j in named}
    strengths = {(i, j): strength(whole[i], whole[j]) for i, j in pairs if whole[i].size and whole[j].size}
    looks = len(pairs) * (len(blocks) - 2)
    if not looks or not strengths:
        return (), looks
    found: list[GivenThird] = []
    for third, owed in _thirds(blocks, whole, strengths):
        for (i, j), overall in strengths.items():
            look = _Look((i, j), (blocks[i], blocks[j]), overall, min(owed.link(i), owed.link(j)), looks)
            if third.number not in (i, j) and _possible(look, third, owed, len(X), level):
                told = _given_third(look, third, design, level)
                found += [told] if told is not None else []
    return tuple(sorted(found, key=lambda g: (g.q, g.first, g.second, g.third))), looks


def _filled(block: Array) -> Array:
    gaps = np.isnan(block)
    if not gaps.any():
        return block
    middle = 0.0 if block.shape[1] > 1 or gaps.all() else float(np.nanmedian(block))
    return np.where(gaps, middle, block)


@dataclass(frozen=True, slots=True, eq=False)
class _Owed:
    """What the columns that are named owe to a third one: products of its space with each of them."""

    products: dict[int, Array]

    def link(self, j: int) -> float:
        """How strongly a column is linked to the third."""
        P = self.products[j]
        return float(np.sqrt((P**2).sum() / max(min(P.shape), 1)))

    def left(self, i: int, j: int, overall: float) -> float:
        """Partial correlation of two columns of one number, by their ranks over all rows."""
        a, b = self.products[i][:, 0], self.products[j][:, 0]
        variance = (1.0 - a @ a) * (1.0 - b @ b)
        return float((overall - a @ b) / np.sqrt(variance)) if variance > _COPY else 0.0


def _possible(look: _Look, third: Third, owed: _Owed, n: int, level: float) -> bool:
    """Whether the third column can turn the pair at all, before ranks are taken anew: few can."""
    (i, j), overall, own = look.pair, look.overall, level / look.looks
    # what a third column can turn is at most what both owe to it
    if owed.link(i) * owed.link(j) < _SLACK * abs(overall) / 2:
        return False
    if not look.signed:
        return True
    left = float(np.clip(owed.left(i, j, overall), -1.0, 1.0))
    if third.codes is not None:
        return bool(np.sign(overall) * left <= _LEFT * abs(overall))
    if n - third.taken < _IN_EACH:
        return False
    most = number_left(left, overall, n - third.taken, own)  # as sure as it can be: rows that depend count less
    return (left * overall < 0 and most.nothing <= own) or (most.half <= own and look.link > abs(overall))


def _thirds(
    blocks: list[Array], whole: dict[int, Array], strengths: dict[tuple[int, int], float]
) -> Iterator[tuple[Third, _Owed]]:
    """Every column that may be a third one, and what each column that is named owes to it."""
    # a number of many values takes three degrees of freedom: where that leaves too few, none is looked at
    many = _numbers_linked(blocks, whole, strengths) if len(blocks[0]) - _CUBIC >= _IN_EACH else frozenset()
    every = np.concatenate(list(whole.values()), axis=1)
    ends = np.cumsum([Z.shape[1] for Z in whole.values()])[:-1]
    for number, block in enumerate(blocks):
        codes = levels_of(block)
        if codes is None and number not in many:
            continue
        Q = orthonormal(cubic(block[:, 0])) if codes is None else None
        space = orthonormal(np.eye(int(codes.max()) + 1)[codes]) if codes is not None else Q
        if space is not None and space.shape[1]:
            parts = np.split(space.T @ every, ends, axis=1)
            yield Third(number, codes, Q), _Owed(dict(zip(whole, parts, strict=True)))


def _numbers_linked(
    blocks: list[Array], whole: dict[int, Array], strengths: dict[tuple[int, int], float]
) -> frozenset[int]:
    """Columns of one number whose ranks are linked to both sides of a pair strongly enough to matter."""
    single = np.array([k for k, block in enumerate(blocks) if block.shape[1] == 1], dtype=np.intp)
    if not len(single):
        return frozenset()
    R = average_ranks(np.concatenate([blocks[k] for k in single], axis=1), axis=0)
    R -= R.mean(axis=0)
    R /= np.maximum(np.sqrt((R**2).sum(axis=0)), 1e-300)
    links = {j: np.sqrt(((R.T @ Z) ** 2).sum(axis=1) / max(Z.shape[1], 1)) for j, Z in whole.items()}
    enough = np.zeros(len(single), dtype=bool)
    for (i, j), overall in strengths.items():
        enough |= links[i] * links[j] >= _SLACK * abs(overall) / 2
    return frozenset(single[enough].tolist())


def _given_third(look: _Look, third: Third, design: Design, level: float) -> GivenThird | None:
    """What the third column does to the pair, if it does anything."""
    used, A, B = left_of(look.sides, third)
    if not (A.shape[1] and B.shape[1]):
        return None
    within, whole = strength(A, B), look.overall
    rows = float(design.among(used).effective(np.concatenate([A[:, :1], B[:, :1]], axis=1))[0, 1]) - third.taken
    own = level / look.looks
    if rows < _IN_EACH or not beyond_chance(whole, rows, own):
        return None
    left = number_left(within, whole, rows, own) if look.signed else category_left(A, B, whole, rows, own)
    turned: Literal["round", "away"]
    if look.signed and within * whole < 0 and left.nothing <= own:
        turned, p = "round", left.nothing
    elif left.nothing > _NOTHING and left.half <= own and look.link > abs(whole):
        turned, p = "away", left.half
    else:
        return None
    codes = third.codes if look.signed else None
    if turned == "away" and codes is not None and _in_some(look.sides, codes, (rows + third.taken) / len(codes)):
        return None
    each = codes is not None and _in_each(look.sides, codes, within)
    q = min(p * look.looks, 1.0)
    return GivenThird(
        *look.pair, third.number, turned, whole, within, left.low, left.high, q, third.levels, each, look.signed
    )


def _by_level(sides: tuple[Array, Array], codes: Indices) -> Iterator[tuple[int, float]]:
    """The rows of each level that has enough, and the strength of the pair there; NaN where a side does not vary."""
    counts = np.bincount(codes)
    for level in np.flatnonzero(counts >= _IN_EACH):
        A, B = (orthonormal(ranked(side[codes == level])) for side in sides)
        yield int(counts[level]), strength(A, B) if A.shape[1] and B.shape[1] else float("nan")


def _in_each(sides: tuple[Array, Array], codes: Indices, within: float) -> bool:
    return all(here * within > 0 for _, here in _by_level(sides, codes))


def _in_some(sides: tuple[Array, Array], codes: Indices, worth: float) -> bool:
    """Whether levels have the pair, though their mean does not: +.6 in one, -.4 in another. `worth` of rows count."""
    found = [(worth * n, here) for n, here in _by_level(sides, codes) if np.isfinite(here)]
    return any(abs(here) >= _MUCH and beyond_chance(here, rows, _NOTHING / len(found)) for rows, here in found)

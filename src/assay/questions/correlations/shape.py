"""What shape a pair of columns has, as far as both halves of the rows agree.

    numbers      y along x: swings of its ranks' means in bins of x, or of their spread; also x along y
    a category   levels where the number is highest and lowest
    categories   the cell that holds most more than it would by chance

Location is told before spread, but for one case: noise that grows with x is larger where y is far out, so x along y
bends; what is told is the noise. With two branches where the spread is largest (y nearly as far from its middle in all
rows there) a spread that is largest in the middle is a ring, and one that is smallest there a cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from assay.arrays import Array, Mask
from assay.evidence.design import Design
from assay.linalg.ranks import average_ranks
from assay.questions.correlations.partial import orthonormal, strength
from assay.questions.correlations.swings import Means, bins_along, swings

Form: TypeAlias = Literal["level", "spread", "ring", "cross", "highest", "together", "none"]

_SURE = 2.5  # errors of a rank correlation that is called a rise where bins are too coarse
_AGAIN = 1.0  # errors in either half
_NOISE, _BRANCHED = 0.72, 0.82  # (mean |y|)^2 / mean y^2: normal .64, uniform .75, two points 1


@dataclass(frozen=True, slots=True)
class PairShape:
    """The shape of a pair.

    Attributes:
        first, second: numbers of the columns.
        form: "level" or "spread" of `of` along `along`; "ring", "cross"; "highest" and lowest by levels; levels that go
            "together"; "none" that both halves of the rows show.
        of, along: which column is told along which.
        signs: +1 for each rise and -1 for each fall along it, in their order.
        levels: numbers of the levels with the highest and the lowest values; or the two that go together.
        ends: whether the highest and the lowest level are told; not where others share their values.
    """

    first: int
    second: int
    form: Form
    of: int
    along: int
    signs: tuple[int, ...] = ()
    levels: tuple[int, ...] = ()
    ends: tuple[bool, bool] = (True, True)

    @property
    def monotone(self) -> bool:
        """Whether one rises or falls with the other and that is all."""
        return self.form == "level" and len(self.signs) == 1


def shape_of(sides: tuple[Array, Array], pair: tuple[int, int], *, design: Design, seed: int = 0) -> PairShape:
    """Name the shape of a pair.

    Args:
        sides: (n, w) and (n, v): one number, or the indicators of a category.
        pair: numbers of the columns.
        design: how rows depend on each other.
        seed: of the halves.
    """
    half = design.half(np.random.default_rng(seed))
    wide = [side.shape[1] > 1 for side in sides]
    if all(wide):
        return _cells(sides, pair, half)
    if any(wide):
        number = int(wide[0])
        return _by_level(sides[number][:, 0], sides[1 - number], (pair[number], pair[1 - number]), pair, half)
    x, y = sides[0][:, 0], sides[1][:, 0]
    Z = np.concatenate([orthonormal(average_ranks(v)[:, None]) for v in (x, y)], axis=1)
    worth = float(design.effective(Z)[0, 1]) / len(x) if Z.shape[1] == 2 else 1.0
    return _numbers(x, y, pair, half, worth)


def _numbers(x: Array, y: Array, pair: tuple[int, int], half: Mask, worth: float) -> PairShape:
    turned = (y, x, pair), (x, y, (pair[1], pair[0]))  # y along x, and x along y
    along = [(_level(value, across, half, worth), named) for value, across, named in turned]
    bent = [(signs, share, named) for (signs, share), named in along if len(signs) > 1]
    if bent:
        signs, _, (by, of) = max(bent, key=lambda one: one[1])
        flat = len(bent) == 1 and not any(found for (found, _), named in along if named != (by, of))
        if flat and len(signs) == 2 and not _rise(x, y, half, worth):
            noise, branched = _spread(*((x, y) if of == pair[1] else (y, x)), half, worth)
            if len(noise) == 1 and branched < _NOISE:
                return PairShape(*pair, "spread", by, of, noise)
        return PairShape(*pair, "level", of, by, signs)
    rise = _rise(x, y, half, worth)
    straight = [signs for (signs, _), _ in along if signs]
    if rise or straight:
        return PairShape(*pair, "level", pair[1], pair[0], (rise,) if rise else straight[0])
    for value, across, (by, of) in turned:
        signs, branched = _spread(value, across, half, worth)
        if signs:
            form: Form = "spread"
            if branched > _BRANCHED and len(signs) == 2:
                form = "ring" if signs[0] > 0 else "cross"
            return PairShape(*pair, form, of, by, signs)
    return PairShape(*pair, "none", pair[1], pair[0])


def _level(y: Array, x: Array, half: Mask, worth: float) -> tuple[tuple[int, ...], float]:
    """Rises and falls of y along x, and the share of the variance of its ranks that bins of x explain."""
    codes, v = bins_along(x), average_ranks(y) / len(y)
    means = Means.of(v, codes, int(codes.max()) + 1, 1.0).mean[codes]
    share = float(means.var() / max(v.var(), 1e-300))
    return tuple(int(np.sign(by)) for _, _, by in swings(v, codes, half, worth)), share


def _spread(y: Array, x: Array, half: Mask, worth: float) -> tuple[tuple[int, ...], float]:
    """Rises and falls of the spread of y along x; and how much y has two branches where that is largest."""
    codes, v = bins_along(x), average_ranks(y) / len(y)
    bins = int(codes.max()) + 1
    middle = np.array([_middle(v[codes == b]) for b in range(bins)])
    wide = np.abs(v - middle[codes])
    signs = tuple(int(np.sign(by)) for _, _, by in swings(wide, codes, half, worth))
    most = int(np.argmax(Means.of(wide, codes, bins, 1.0).mean))
    return signs, _branches(y[codes == most])


def _branches(y: Array) -> float:
    """(mean |y|)^2 / mean y^2, about their middle: 1 for two points, less the more lies between and beyond."""
    far = np.abs(y - _middle(y))
    largest = float(far.max())
    if not largest:
        return 0.0
    far = far / largest  # whose squares stay in the range of numbers
    return float(far.mean() ** 2 / (far**2).mean())


def _middle(values: Array) -> float:
    """Between the quartiles: of two branches the median lies on one."""
    return float(np.quantile(values, [0.25, 0.75]).mean())


def _rise(x: Array, y: Array, half: Mask, worth: float) -> int:
    """+1 or -1 where y rises or falls with x on the whole and in either half; 0 otherwise."""
    z = []
    for part in (np.ones(len(x), dtype=bool), half, ~half):
        Z = [orthonormal(average_ranks(v[part])[:, None]) for v in (x, y)]
        r = strength(Z[0], Z[1]) if Z[0].size and Z[1].size else 0.0
        z.append(float(np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12)) * np.sqrt(max(part.sum() * worth - 3, 0.0))))
    sign = int(np.sign(z[0]))
    return sign if abs(z[0]) >= _SURE and all(sign * one >= _AGAIN for one in z[1:]) else 0


def _by_level(y: Array, block: Array, named: tuple[int, int], pair: tuple[int, int], half: Mask) -> PairShape:
    """Levels where a number is highest and lowest, as far as either half agrees that one is above the other."""
    codes, v = np.where(block.any(axis=1), block.argmax(axis=1), block.shape[1]), average_ranks(y) / len(y)
    bins = block.shape[1] + 1
    parts = [Means.of(v[part], codes[part], bins, 1.0) for part in (np.ones(len(y), dtype=bool), half, ~half)]
    known = np.flatnonzero(np.isfinite(parts[0].mean[: block.shape[1]]))  # a level without a name is not told
    if len(known) < 2:
        return PairShape(*pair, "none", *named)
    low, high = (int(known[at(parts[0].mean[known])]) for at in (np.argmin, np.argmax))
    there = parts[0].z(low, high) >= _SURE and all(part.z(low, high) >= _AGAIN for part in parts[1:])
    # of levels that share the highest or the lowest values none is the one
    means = parts[0].mean[known]
    ends = tuple(int(np.isclose(means, parts[0].mean[k]).sum()) == 1 for k in (high, low))
    if not there or not any(ends):
        return PairShape(*pair, "none", *named)
    return PairShape(*pair, "highest", *named, levels=(high, low), ends=(ends[0], ends[1]))


def _cells(sides: tuple[Array, Array], pair: tuple[int, int], half: Mask) -> PairShape:
    """The two levels that go together most, by the adjusted residual of their cell, which either half has too."""
    whole, *halves = (_residuals(sides[0][part], sides[1][part]) for part in (np.ones(len(half), bool), half, ~half))
    a, b = np.unravel_index(int(np.argmax(whole)), whole.shape)
    there = whole[a, b] >= _SURE and all(one[a, b] >= _AGAIN for one in halves)
    form: Form = "together" if there else "none"
    return PairShape(*pair, form, pair[1], pair[0], levels=(int(a), int(b)) if there else ())


def _residuals(A: Array, B: Array) -> Array:
    """Haberman's adjusted residuals of a table of counts."""
    n, counts = float(len(A)), A.T @ B
    p, q = A.sum(axis=0) / max(n, 1.0), B.sum(axis=0) / max(n, 1.0)
    error = np.sqrt(np.maximum(n * np.outer(p * (1 - p), q * (1 - q)), 1e-12))
    return np.asarray((counts - n * np.outer(p, q)) / error)


def told(shape: PairShape, names: Sequence[str], levels: Sequence[Sequence[str]], *, brief: bool = False) -> str:
    """The shape in words; empty where there is none.

    Args:
        shape: the shape.
        names: of all columns.
        levels: of all columns, the names of their levels; empty for numbers.
        brief: without an explanation.

    >>> told(PairShape(0, 1, "level", 1, 0, (1, -1)), ["Fresh", "Milk"], [(), ()])
    'Milk is highest at middling Fresh'
    """
    of, along = names[shape.of], names[shape.along]
    if shape.form == "none":
        return ""
    if shape.form in ("ring", "cross"):
        form = f"{names[shape.first]} and {names[shape.second]} form a {shape.form}"
        return form if brief else f"{form}: neither rises with the other, but they are not independent"
    if shape.form == "highest":
        high, low = (levels[shape.along][k] for k in shape.levels)
        two = len(levels[shape.of]) == 2
        most, least = ("most often", "least often") if two else ("highest", "lowest")
        value = f" {levels[shape.of][1]}" if two else ""
        end, level = (most, high) if shape.ends[0] else (least, low)
        more = f" and {least} where it is {low}" if all(shape.ends) else ""
        return f"{of} is {end}{value} where {along} is {level}{more}"
    if shape.form == "together":
        a, b = levels[shape.first][shape.levels[0]], levels[shape.second][shape.levels[1]]
        return f"{names[shape.first]} {a} goes with {names[shape.second]} {b}"
    return _along(shape, of, along, levels)


def _along(shape: PairShape, of: str, along: str, levels: Sequence[Sequence[str]]) -> str:
    up = shape.signs[0] > 0
    if shape.form == "spread":
        if len(shape.signs) == 1:
            return f"{of} varies {'more' if up else 'less'} the higher {along} is"
        if len(shape.signs) == 2:
            return f"{of} varies {'most' if up else 'least'} at middling {along}"
        return f"how much {of} varies changes with {along}"
    if len(shape.signs) == 1:
        return _rising(shape, of, along, up, levels)
    if len(shape.signs) == 2:
        return f"{of} is {'highest' if up else 'lowest'} at middling {along}"
    if len(shape.signs) == 3:
        return f"{of} {'rises, then falls, then rises' if up else 'falls, then rises, then falls'} along {along}"
    return f"{of} goes up and down along {along}"


def _rising(shape: PairShape, of: str, along: str, up: bool, levels: Sequence[Sequence[str]]) -> str:
    """A rise between two levels is a difference between them."""
    two = [len(levels[k]) == 2 for k in (shape.of, shape.along)]
    if all(two):
        return f"{of} is more often {levels[shape.of][1]} where {along} is {levels[shape.along][int(up)]}"
    if two[1]:
        return f"{of} is higher where {along} is {levels[shape.along][int(up)]}"
    if two[0]:
        return f"{along} is higher where {of} is {levels[shape.of][int(up)]}"
    return f"{of} rises with {along}" if up else f"{of} falls as {along} rises"

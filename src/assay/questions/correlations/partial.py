"""What is left of a pair of columns within levels, or at equal values, of a third one.

    levels    ranks within each level, from -1/2 to 1/2: pooled, every row weighs the same (van Elteren)
    numbers   ranks, less what a cubic of the third column's ranks explains: partial Spearman
    a side that is a category   its indicators, less the same

What is left is made orthonormal, A and B, and its strength is |A'B| / sqrt(min(r)): partial rank correlation,
correlation ratio or Cramer's V. Chance: Fisher's z of ranks; for strengths without a sign chi^2, which is not central
where something is left.

References: van Elteren, Bull. Int. Stat. Inst. 37 (1960); Fieller, Hartley and Pearson, Biometrika 44 (1957): 1.06.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, chndtr, chndtrinc, ndtr, ndtri

from assay.arrays import Array, Indices
from assay.linalg.ranks import average_ranks

_VALUES = 10  # up to so many a number has levels
_IN_LEVEL = 5  # rows that a level must have to count
_KNOWN = 0.5  # share of the rows that such levels must hold
_SPEARMAN = 1.06  # variance of Fisher's z of ranks, times (n - 3)
_VARIES = 1e-9
_ONE = 1 - 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Third:
    """A third column: levels, or the space that a cubic of its ranks spans."""

    number: int
    codes: Indices | None
    Q: Array | None

    @property
    def levels(self) -> int:
        """How many; 0 for a number of many values."""
        return 0 if self.codes is None else int(self.codes.max()) + 1

    @property
    def taken(self) -> int:
        """Degrees of freedom that knowing it costs."""
        return self.levels - 1 if self.Q is None else self.Q.shape[1]


def levels_of(block: Array) -> Indices | None:
    """(n,) level of each row, where the column has few that hold enough rows; None otherwise."""
    if block.shape[1] > 1:
        codes = np.where(block.any(axis=1), block.argmax(axis=1), block.shape[1])
    else:
        if len(np.unique(block[:200, 0])) > _VALUES:
            return None
        codes = block[:, 0]
    values, codes = np.unique(codes, return_inverse=True)
    counts = np.bincount(codes)
    if block.shape[1] == 1 and len(values) > _VALUES:
        return None
    large = counts[counts >= _IN_LEVEL]
    return codes if len(large) > 1 and large.sum() >= _KNOWN * len(codes) else None


def left_of(sides: tuple[Array, Array], third: Third) -> tuple[Indices, Array, Array]:
    """Rows in use, and both columns less what the third one explains, orthonormal."""
    if third.codes is None:
        assert third.Q is not None
        Q = third.Q
        left = [Z - Q @ (Q.T @ Z) for Z in (ranked(side) for side in sides)]
        return np.arange(len(Q)), orthonormal(left[0]), orthonormal(left[1])
    counts = np.bincount(third.codes)
    used = np.flatnonzero(counts[third.codes] >= _IN_LEVEL)
    codes = third.codes[used]
    kept = [_pooled(side[used], codes, len(counts)) for side in sides]
    return used, orthonormal(kept[0]), orthonormal(kept[1])


def _pooled(side: Array, codes: Indices, levels: int) -> Array:
    """A number by its rank in its level, a category by its indicators less their shares there."""
    left = np.array(side, dtype=np.float64)
    for level in range(levels):
        here = np.flatnonzero(codes == level)
        if len(here) and side.shape[1] == 1:
            left[here, 0] = (average_ranks(side[here, 0]) - 0.5) / len(here)
        if len(here):
            left[here] -= left[here].mean(axis=0)
    return left


def ranked(block: Array) -> Array:
    """Centred: the ranks of a number, the indicators of a category."""
    Z = average_ranks(block, axis=0) / len(block) if block.shape[1] == 1 else block
    return np.asarray(Z - Z.mean(axis=0))


def cubic(values: Array) -> Array:
    """(n, 3) powers of the ranks of a number."""
    u = 2.0 * average_ranks(values) / (len(values) + 1) - 1.0
    return np.stack([u, u**2, u**3], axis=1)


def orthonormal(Z: Array) -> Array:
    """An orthonormal basis of centred columns, as many as differ; one column keeps its sign."""
    Z = Z - Z.mean(axis=0)
    if Z.shape[1] == 1:
        length = float(np.sqrt((Z**2).sum()))
        return Z / length if length > _VARIES * np.sqrt(len(Z)) else Z[:, :0]
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return np.asarray(U[:, s > _VARIES * np.sqrt(len(Z))])


def strength(A: Array, B: Array) -> float:
    """Of two orthonormal sets of columns; with a sign where both are one."""
    T = A.T @ B
    if T.shape == (1, 1):
        return float(np.clip(T[0, 0], -1.0, 1.0))
    return float(np.sqrt((T**2).sum() / min(T.shape)))


@dataclass(frozen=True, slots=True)
class LeftOfPair:
    """What is left of a pair: an interval at the level, p of nothing being left, p of half of the whole or more."""

    low: float
    high: float
    nothing: float
    half: float


def number_left(r: float, overall: float, rows: float, level: float) -> LeftOfPair:
    """Of a rank correlation, by Fisher's z."""
    z, error = np.arctanh(np.clip(r, -_ONE, _ONE)), np.sqrt(_SPEARMAN / (rows - 3))
    low, high = (float(np.tanh(z + side * error * -ndtri(level / 2))) for side in (-1, 1))
    nothing, half = 2 * ndtr(-abs(z) / error), ndtr((abs(z) - np.arctanh(abs(overall) / 2)) / error)
    return LeftOfPair(low, high, float(nothing), float(half))


def category_left(A: Array, B: Array, overall: float, rows: float, level: float) -> LeftOfPair:
    """Of a strength without a sign, by chi^2: under a strength of its own it is not central."""
    df, least = float(A.shape[1] * B.shape[1]), float(min(A.shape[1], B.shape[1]))
    chi2 = rows * least * strength(A, B) ** 2
    ends = [max(float(chndtrinc(chi2, df, p)), 0.0) for p in (1 - level / 2, level / 2)]
    low, high = (min(float(np.sqrt(np.nan_to_num(end) / (rows * least))), 1.0) for end in ends)
    half = chndtr(chi2, df, rows * least * (overall / 2) ** 2)
    return LeftOfPair(low, high, float(chdtrc(df, chi2)), float(half))


def beyond_chance(overall: float, rows: float, level: float) -> bool:
    """Whether a correlation is one that chance does not reach at the level."""
    return bool(abs(np.arctanh(np.clip(overall, -_ONE, _ONE))) > np.sqrt(_SPEARMAN / (rows - 3)) * -ndtri(level / 2))

"""Does a direction come back? The axes of one half of the rows beside those of the other.

    statistic  M = V_a' V_b, (k, k) cosines between the axes of two halves, over several halvings; of m components the
               least squared singular value c of their part of M, so that every direction of theirs has to come back
    chance     c less what they have in common with another axis of the other half, or m (1 - c) / (d - m), as with any
               direction: 0 where halves have no more in common than that, in all d dimensions or in a plane in which
               two directions of the same variance turn into each other
    all rows   halves err independently, so what is left is a^2, a the alignment of a half with the truth; errors of
               directions fall as 1 / n, so its odds a / (1 - a) are twice as large for all rows
    sets       a component that does not come back alone may do so with those beside it: their plane stays

Columns are in units of their spread in all rows, so that both halves have the same coordinates. Without halves, the
alignment is that of the formula (`linalg.spike_direction`), which knows independent, nearly normal rows only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from math import comb
from operator import add
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.evidence.design import Design
from assay.linalg.eigen.principal import axes_of_covariance
from assay.summary.moments.grouped import GroupedMoments

Span: TypeAlias = tuple[int, int]

# Two thirds of the direction found are that of the population: the axes of two halves of the rows have a cosine of 1/2.
COMES_BACK = 2.0 / 3.0
# halvings: at most, of rows and of folds, and at least; so many that another seed changes an alignment by little
_OF_ROWS, _OF_FOLDS, _FEWEST = 100, 20, 4
_PRODUCTS = 5e8  # numbers multiplied, over all halvings, that take about a third of a second
_ROUNDING = 1e-6  # of the longest axis: less is what rounding leaves of rows given twice
_DIRECT = 2e8  # products of one half and its columns, beyond which sums over folds are halved instead


@dataclass(frozen=True, slots=True, eq=False)
class Directions:
    """Which components point where they would in other rows.

    Attributes:
        alignment: (t,) expected squared cosine of each component with its direction in the population, 0 as by chance;
            of those that come back only together, that of their worst direction.
        halves: (t,) squared cosine of each component of one half with that of the other; NaN where not measured.
        together: (t, 2) first and one past the last of the components it comes back with, itself alone for most.
        halvings: how often rows were halved; 0 for the formula.
    """

    alignment: Array
    halves: Array
    together: NDArray[np.intp]
    halvings: int

    def comes_back(self, j: int) -> bool:
        """Whether a component comes back, alone or with others."""
        return bool(self.alignment[j] >= COMES_BACK)


def by_formula(alignment: Array, tested: int) -> Directions:
    """What the law of a spectrum says, where there are no rows to halve.

    Args:
        alignment: (k,) of the components above chance.
        tested: how many were tested, at least k.
    """
    whole = np.zeros(tested)
    whole[: len(alignment)] = alignment
    own = np.arange(tested)
    return Directions(whole, np.full(tested, np.nan), np.stack([own, own + 1], axis=1), 0)


def by_halves(crossed: Array, d: int, n_real: int) -> Directions:
    """What comes back, from the cosines of axes.

    Args:
        crossed: (h, t, t) cosines between the axes of two halves, for each halving.
        d: columns.
        n_real: how many of the t components are above chance; only these come back together.
    """
    t = crossed.shape[1]
    alignment = np.array([_alignment(crossed, (j, j + 1), d) for j in range(t)])
    together = np.stack([np.arange(t), np.arange(t) + 1], axis=1)
    for first, last in _sets(crossed, n_real, d):
        alignment[first:last] = _alignment(crossed, (first, last), d)
        together[first:last] = first, last
    return Directions(alignment, np.diagonal((crossed**2).mean(axis=0)).copy(), together, len(crossed))


def _sets(crossed: Array, n_real: int, d: int) -> list[Span]:
    """The components that come back, in as small sets as can be.

    One that does not, alone or with those after it, is tried with the set before it, into which it may turn.
    """
    found: list[Span] = []
    first = 0
    while first < n_real:
        before = [found[-1][0]] if found and found[-1][1] == first else []
        fitting = (_smallest(crossed, start, first + 1, n_real, d) for start in (first, *before))
        span = next((one for one in fitting if one is not None), None)
        if span is not None and span[0] < first:
            found.pop()
        found += [] if span is None else [span]
        first = first + 1 if span is None else span[1]
    return found


def _smallest(crossed: Array, start: int, end: int, n_real: int, d: int) -> Span | None:
    """The smallest set of components from `start` to at least `end` that comes back."""
    spans = ((start, last) for last in range(end, n_real + 1))
    return next((span for span in spans if _alignment(crossed, span, d) >= COMES_BACK), None)


def _alignment(crossed: Array, span: Span, d: int) -> float:
    part = crossed[:, span[0] : span[1], span[0] : span[1]]
    m = part.shape[1]
    if m >= d:
        return 0.0
    least = float((np.linalg.svd(part, compute_uv=False)[:, -1] ** 2).mean())
    squares = (crossed**2).mean(axis=0)
    others = np.delete((squares + squares.T)[span[0] : span[1]].sum(axis=0) / 2.0, np.arange(*span))
    half = float(np.sqrt(max(least - max(m * (1.0 - least) / (d - m), others.max(initial=0.0)), 0.0)))
    return 2.0 * half / (1.0 + half)


def crossed_halves(
    k: int, *, rows: Array | None, folds: GroupedMoments | None, design: Design, seed: int
) -> Array | None:
    """(h, k, k) cosines between the axes of two halves of the rows; None where there is nothing to halve.

    Args:
        k: how many axes.
        rows: (n, d) rows, where they are at hand.
        folds: moments per fold, which are halved where rows are not at hand or too many.
        design: how rows depend on each other, which gives the halves.
        seed: of the halvings.
    """
    rng = np.random.default_rng(seed)
    if rows is not None and (folds is None or rows.size * min(rows.shape) <= _DIRECT):
        found = _of_rows(rows, k, design, rng)
    elif folds is not None and len(folds.parts) > 1:
        found = _of_folds(folds, k, rng)
    else:
        return None
    return np.stack([_padded(one, k) for one in found])


def _of_rows(X: Array, k: int, design: Design, rng: np.random.Generator) -> Iterator[Array]:
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, np.inf)
    n, d = Z.shape
    wide = d > n
    inner = Z @ Z.T if wide else Z
    for _ in range(_times(0.2 * n**3 if wide else n * d * d, _OF_ROWS)):
        half = design.half(rng)
        if min(half.sum(), n - half.sum()) < 2:
            yield np.empty((0, 0))
        else:
            yield _dual_cosines(inner, half, k) if wide else _axes(Z[half], k).T @ _axes(Z[~half], k)


def _of_folds(folds: GroupedMoments, k: int, rng: np.random.Generator) -> Iterator[Array]:
    spread = np.sqrt(folds.total.variance)
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
    m = len(folds.parts)
    for _ in range(min(_times(0.2 * folds.total.d**3, _OF_FOLDS), comb(m, m // 2))):
        order = rng.permutation(m)
        axes = []
        for side in (order[: m // 2], order[m // 2 :]):
            scatter = reduce(add, (folds.parts[i] for i in side)).scatter
            axes.append(axes_of_covariance(inverse[:, None] * scatter * inverse, k, "moments", 0).vectors[:, :k])
        yield axes[0].T @ axes[1]


def _times(products: float, most: int) -> int:
    """How many halvings are worth their time, by the numbers that each multiplies."""
    return int(np.clip(_PRODUCTS / products, _FEWEST, most))


def _axes(Z: Array, k: int) -> Array:
    centred = Z - Z.mean(axis=0)
    k = min(k, len(Z) - 1, Z.shape[1])
    return axes_of_covariance(centred.T @ centred, k, "moments", 0).vectors[:, :k]


def _dual_cosines(inner: Array, half: NDArray[np.bool_], k: int) -> Array:
    """The same for more columns than rows: axes are X' u / |X' u|, so cosines need only products of rows."""
    sides = []
    for some in (half, ~half):
        own = inner[np.ix_(some, some)]
        own = own - own.mean(axis=0) - own.mean(axis=1)[:, None] + own.mean()
        found = axes_of_covariance(own, min(k, len(own) - 1), "moments", 0)
        length = np.sqrt(np.maximum(found.values, 0.0))
        sure = length > _ROUNDING * length.max(initial=0.0)
        sides.append(np.divide(found.vectors, length, out=np.zeros_like(found.vectors), where=sure)[:, :k])
    # eigenvectors of centred products sum to 0, so that they centre what they are multiplied with
    return np.asarray(sides[0].T @ inner[np.ix_(half, ~half)] @ sides[1])


def _padded(cosines: Array, k: int) -> Array:
    """(k, k) with zeros for axes that a half is too small to have."""
    whole = np.zeros((k, k))
    whole[: cosines.shape[0], : cosines.shape[1]] = cosines
    return whole

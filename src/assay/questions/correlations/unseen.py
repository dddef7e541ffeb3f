"""What halves of the rows say of pairs of columns: how strong on unseen rows, and whether each half shows the pair by
itself.

Every pair is looked for in a half by what showed it in all rows: ranks, shape, exact cells, or a lag.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from assay.arrays import Array, Indices, Mask
from assay.evidence.design import Design
from assay.linalg.ranks import average_ranks
from assay.models.correlation.dependence.dependence import Dependence, dependence_of
from assay.questions.correlations.halves import Halves, ProductBlocks, curve, unseen_strength
from assay.summary.pairs.association import ColumnsWithGaps, Standard, shared_correlations
from assay.summary.pairs.association_chance import chance_of_share
from assay.summary.pairs.pair_chance import EXACT, LAGGED, RANK, SHAPE, Chances
from assay.summary.pairs.pairs import CURVES, Pairs
from assay.summary.pairs.rank_shapes import COSINES, EXPECTED, Shapes, weighted_tail
from assay.summary.pairs.shared_rows import Gaps, part_of

AGAIN = 0.05  # the level at which a pair counts as found in half of the rows
_WAVES = 0.2  # of the variance of a curve that may go the other way
_CURVED = 0.05  # by how much curves must go together better than ranks, on unseen rows
_RANKED = 10_000_000  # values that are ranked anew
_PRODUCTS = 1_000_000  # of numbers of pairs, looked at in halves


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The columns behind pairs.

    Attributes:
        X: (n, D) rows, NaN where missing.
        groups: (D,) the column that each number belongs to.
        design: how rows depend on each other; None for independent ones.
    """

    X: Array
    groups: Indices
    design: Design | None

    def among(self, rows: Indices, columns: Indices) -> Numbers:
        """Some columns, ascending, in some rows."""
        design = None if self.design is None else self.design.among(rows)
        return Numbers(*part_of(self.X, self.groups, rows, columns), design)

    def ranked_anew(self, pairs: Pairs, places: Indices) -> Pairs:
        """Pairs with Spearman's correlation of the rows where both have a value, as other programs print it.

        Ranks of all rows of a column give nearly the same, and are quicker for all pairs. Of very many rows they stay.

        Args:
            pairs: all of them.
            places: which are to be changed, where both are numbers, one has gaps and they are monotone.
        """
        starts, width = np.searchsorted(self.groups, np.arange(int(self.groups[-1]) + 1)), np.bincount(self.groups)
        rank = pairs.rank.copy()
        budget = _RANKED // max(len(self.X), 1)
        for k in places[:budget]:
            i, j = pairs.first[k], pairs.second[k]
            if width[i] == width[j] == 1 and pairs.monotone[k] and not pairs.lag[k]:
                both = self.X[:, [starts[i], starts[j]]]
                both = both[~np.isnan(both).any(axis=1)]
                if len(both) < len(self.X):
                    ranks = average_ranks(both, axis=0)
                    rank[k] = np.asarray(np.corrcoef(ranks.T))[0, 1]
        return replace(pairs, rank=rank, strength=np.where(rank == pairs.rank, pairs.strength, rank))


def seen_again(found: Dependence, asked: Indices, halves: Halves, numbers: Numbers, seed: int = 0) -> Pairs:
    """The pairs, with what halves say of those that are asked; those judged by their rows alone are so here, too.

    Args:
        found: every pair tested.
        asked: (k,) places in `found.pairs`.
        halves: of the rows.
        numbers: the columns.
        seed: of the rows in which shapes are looked at, where they are many.
    """
    chances = found.chances
    if chances is None or chances.apart is None or (numbers.design is not None and numbers.design.kind == "time"):
        return _together(found, asked, halves)  # lags are of all rows
    first, second = found.pairs.first, found.pairs.second
    alone = chances.apart[first[asked], second[asked]]
    pairs = found.pairs
    if not alone.all():
        pairs = numbers.ranked_anew(_together(found, asked[~alone], halves), asked[~alone])
    asked = asked[alone]
    assert chances.levels.seen is not None
    for rows, which in Gaps(chances.levels.seen).by_rows(first[asked], second[asked]):
        columns, place = np.unique(np.stack([first[asked[which]], second[asked[which]]]), return_inverse=True)
        part = numbers.among(rows, columns)
        names = tuple(found.columns[c] for c in columns)
        one = dependence_of(part.X, part.groups, names, tested_by="any", rows=part.design, seed=seed, hold=True)
        i, j = place.reshape(2, -1)
        listed = {pair: k for k, pair in enumerate(zip(one.pairs.first, one.pairs.second, strict=True))}
        at = np.array([listed.get(pair, -1) for pair in zip(i, j, strict=True)])
        there = _together(one, at[at >= 0], halves.among(rows))
        pairs = _replaced(pairs, asked[which[at >= 0]], there, at[at >= 0])
    return pairs


def _replaced(pairs: Pairs, places: Indices, by: Pairs, at: Indices) -> Pairs:
    """Pairs with what other rows say of some."""
    changed = {}
    for name in ("rank", "low", "high", "strength", "unseen", "monotone", "again", "curves"):
        changed[name] = getattr(pairs, name).copy()
        changed[name][places] = getattr(by, name)[at]
    names = pairs.strength_name.copy()
    names[places] = np.where(by.monotone[at], names[places], CURVES)
    return replace(pairs, **changed, strength_name=names)


def _together(found: Dependence, asked: Indices, halves: Halves) -> Pairs:
    """The same by products of all columns."""
    pairs = found.pairs
    standard = found.ranks
    asked = _affordable(asked, pairs, standard)
    first, second, lag = pairs.first[asked], pairs.second[asked], pairs.lag[asked]
    by = np.zeros(len(asked), np.int8) if found.chances is None else found.chances.by[first, second]
    blocks = ProductBlocks.of(standard.starts, first, second)
    C = _with_lags(standard, halves, blocks, lag)
    unseen = unseen_strength(C, blocks)
    numbers = (standard.sizes[first] == 1) & (standard.sizes[second] == 1)
    signed = standard.signed[first] & standard.signed[second]
    sign = np.where(signed, np.sign(pairs.strength[asked]), 1.0)
    again = np.zeros(len(asked))
    ranked = np.isin(by, (RANK, LAGGED))
    by_ranks = _by_ranks(standard, halves, blocks, C, pairs.effective[asked], sign * numbers)
    again[ranked] = by_ranks[ranked]
    told = _Told(pairs.strength[asked], pairs.strength_name[asked], sign * unseen, np.ones(len(asked), bool))
    curves = np.full((len(asked), 2, COSINES), np.nan)
    if found.chances is not None:
        exact = by == EXACT
        again[exact] = _by_cells(found.chances, halves, first[exact], second[exact])
        shaped = np.flatnonzero(by == SHAPE)
        by_shape = _by_shape(found.chances, halves, first[shaped], second[shaped], told, shaped, curves)
        # a line that all rows show best by its shape comes back by its ranks where halves have few rows that count
        again[shaped] = np.maximum(by_shape, by_ranks[shaped])
    return _filled(pairs, asked, told, again, curves)


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """What is said of each pair that is asked; filled in place."""

    strength: Array
    name: NDArray[np.str_]
    unseen: Array
    monotone: Mask


def _filled(pairs: Pairs, asked: Indices, told: _Told, again: Array, curves: Array) -> Pairs:
    parts = {"strength": told.strength, "strength_name": told.name, "unseen": told.unseen, "monotone": told.monotone}
    parts |= {"again": again, "curves": curves}
    filled = {}
    for name, values in parts.items():
        filled[name] = getattr(pairs, name).copy()
        filled[name][asked] = values
    return replace(pairs, **filled)


def _affordable(asked: Indices, pairs: Pairs, standard: Standard) -> Indices:
    """As many pairs, from the first on, as their products allow."""
    sizes = np.maximum(standard.sizes, 1)
    products = np.cumsum(sizes[pairs.first[asked]] * sizes[pairs.second[asked]])
    return asked[: max(1, int(np.searchsorted(products, _PRODUCTS)))]


def _with_lags(standard: Standard, halves: Halves, blocks: ProductBlocks, lag: Indices) -> Array:
    """(2, K, m) products in halves, of series at their lags."""
    later = np.flatnonzero(lag)
    if not len(later):
        return halves.correlations(standard.Z, blocks.first, blocks.second, standard.seen)
    at = blocks.starts[later]
    second = blocks.second.copy()
    second[at] = standard.Z.shape[1] + np.arange(len(later))
    moved = _moved(standard.Z, blocks.second[at], lag[later])
    seen = None if standard.seen is None else _moved(standard.seen, blocks.second[at], lag[later])
    return halves.correlations(moved, blocks.first, second, seen)


def _moved(Z: NDArray[Any], columns: Indices, lag: Indices) -> NDArray[Any]:
    """(n, D + k) with columns as many rows earlier as they lag behind, nothing at the ends."""
    moved = np.zeros((len(columns), len(Z)), dtype=Z.dtype)
    for row, k, column in zip(moved, lag, columns, strict=True):
        row[: len(Z) - max(k, 0)][max(-k, 0) :] = Z[max(k, 0) : len(Z) + min(k, 0), column]
    return np.concatenate([Z.T, moved]).T


def _by_ranks(
    standard: Standard, halves: Halves, blocks: ProductBlocks, C: Array, effective: Array, sign: Array
) -> Array:
    """(k,) share of halves in which ranks show a pair, with its sign where it has one."""
    assert standard.counts is not None
    n = len(standard.Z)
    often = standard.counts[blocks.first] * standard.counts[blocks.second] >= EXPECTED * n
    used = blocks.summed(often.astype(np.float64))
    one = blocks.sizes.min(axis=0) == 1
    rows = effective * (halves.counts / n)[..., None]
    p = chance_of_share(
        np.minimum(blocks.summed(np.where(often, C**2, 0.0)), blocks.sizes.min(axis=0)), used, rows, one
    )
    same = (np.sign(C[..., blocks.starts]) == sign) | (sign == 0.0)
    return np.asarray(((p <= AGAIN) & same).mean(axis=(0, 1)))


def _by_cells(chances: Chances, halves: Halves, first: Indices, second: Indices) -> Array:
    """(k,) share of halves in which exact cells show a pair."""
    if not len(first):
        return np.empty(0)
    shown = np.zeros(len(first))
    for side in halves.sides:
        in_first = side[halves.part]
        for rows in (np.flatnonzero(in_first), np.flatnonzero(~in_first)):
            shown += chances.levels.among(rows).chance(first, second) <= AGAIN
    return shown / (2.0 * len(halves.sides))


def _by_shape(
    chances: Chances, halves: Halves, first: Indices, second: Indices, told: _Told, at: Indices, curves: Array
) -> Array:
    """(k,) share of halves in which shape shows a pair; what is said of pairs that are not monotone is filled in."""
    features = chances.shapes
    if features is None or not len(first):
        return np.zeros(len(first))
    skip = features.numbers.astype(np.intp)  # the rank itself, which stands before the cosines
    blocks = ProductBlocks.of(features.starts, first, second, skip)
    some = halves.among(chances.rows)
    there = chances.levels.seen
    seen = None
    if there is not None:
        seen = np.repeat(there[chances.rows].astype(bool), np.diff(features.starts), axis=1)
    C = some.correlations(features.F, blocks.first, blocks.second, seen)
    again = _shape_again(features, some, blocks, C, chances.effective[first, second] / len(halves.part))
    for k, (i, j) in enumerate(zip(first, second, strict=True)):
        r, s = (int(x) for x in blocks.sizes[:, k])
        span = slice(int(blocks.starts[k]), int(blocks.starts[k]) + r * s)
        a, b = _own(features, i), _own(features, j)
        if seen is None:
            whole = features.F[:, a].T @ features.F[:, b]
        else:
            one, other = (
                ColumnsWithGaps(features.F[:, c], seen[:, c][:, :1], np.zeros(c.stop - c.start, np.intp))
                for c in (a, b)
            )
            whole = np.nan_to_num(shared_correlations(one, other)[0])
        found = curve(C[..., span].reshape(*C.shape[:2], r, s), whole)
        drawn = np.stack([_cosines(features, c, w) for c, w in zip((i, j), found.weights, strict=True)])
        if found.unseen > abs(told.unseen[at[k]]) + _CURVED and not all(_one_way(weights) for weights in drawn):
            told.strength[at[k]], told.unseen[at[k]] = found.strength, found.unseen
            told.name[at[k]], told.monotone[at[k]] = CURVES, False
            curves[at[k]] = drawn
    return again


def _cosines(features: Shapes, column: int, weights: Array) -> Array:
    """(6,) the weights of cosines of a number; NaN for a category."""
    if not features.numbers[column]:
        return np.full(COSINES, np.nan)
    found = np.zeros(COSINES)
    found[_orders(features, column)] = weights
    return found


def _one_way(weights: Array) -> bool:
    """Whether a curve goes one way, but for the waves that six cosines make of a step; a category has no way."""
    if np.isnan(weights).any():
        return True
    values = weights @ np.cos(np.pi * np.outer(np.arange(1, COSINES + 1), (np.arange(99) + 0.5) / 99))
    left = min(float(((isotonic_regression(sign * values).x - sign * values) ** 2).sum()) for sign in (1.0, -1.0))
    return left <= _WAVES * float(((values - values.mean()) ** 2).sum())


def _own(features: Shapes, column: int) -> slice:
    return slice(features.starts[column] + int(features.numbers[column]), features.starts[column + 1])


def _orders(features: Shapes, column: int) -> Indices:
    """Which cosines a number has: w_j = j^(-1/2)."""
    return np.rint(features.weights[_own(features, column)] ** -2.0).astype(np.intp) - 1


def _shape_again(features: Shapes, halves: Halves, blocks: ProductBlocks, C: Array, share: Array) -> Array:
    """(k,) share of halves in which the sum of squared products is beyond chance; `share` of the rows count."""
    weights = features.weights[blocks.first] * features.weights[blocks.second]
    weights[features.counts[blocks.first] * features.counts[blocks.second] < EXPECTED * len(features.F)] = 0.0
    scale = 1.0 / (halves.counts[..., None] * share)
    mean, square, cube = (blocks.summed(weights**power) * scale**power for power in (1, 2, 3))
    return np.asarray((weighted_tail(blocks.summed(weights * C**2), mean, square, cube) <= AGAIN).mean(axis=(0, 1)))

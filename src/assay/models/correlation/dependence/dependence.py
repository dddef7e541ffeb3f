"""Which columns of a table go together, how strongly, and which of it could be chance.

summary  Z^T Z, (d, d) in tiles: summary.association         reading  rho, and sigma_j^2 (1 - rho_ij^2): what is left
chance   t, F or chi^2 for each pair, Benjamini and Hochberg over all pairs            of column j once i is known
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from assay.arrays import Array, Indices
from assay.data.columns.by_column import numbers_by_column
from assay.engine.local import in_threads
from assay.errors import DataError, ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.models.correlation.dependence.top_pairs import FoundPairs, Strongest
from assay.summary.pairs.association import Standard, standardised
from assay.summary.pairs.association_chance import Likely, chance, fisher_interval
from assay.summary.pairs.pair_chance import WIDEST, Chances, DependentRows, TileChances, pair_chances
from assay.summary.pairs.pairs import CORRELATION_RATIO, CURVES, RANK_CORRELATION, Pairs, V
from assay.summary.pairs.rank_shapes import COSINES

Tested: TypeAlias = Literal["any", "rank", "pearson"]

_SIDE = 512  # columns of a tile
_AT_ONCE = 8  # tiles, so that what waits to be collected stays small
_HELD = 1 << 30  # bytes of a matrix that is kept whole
_FEWEST = 3
_FEW_PAIRS = 100_000  # up to here each has its exact p at once


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """How the columns of a table go together.

    The strength of two numbers is Pearson's correlation, or Spearman's of their ranks; of a number and a category the
    correlation ratio, the root of the share of variance that the category explains; of two categories Cramer's V. The
    last two have no sign.

    Attributes:
        columns: (d,) names.
        kinds: (d,) "number", "category" or "constant".
        rows: how many.
        pearson, rank: (d, d) strengths, symmetric to the last bit; NaN, which is neither tested nor drawn as a link,
            for constant columns and for pairs with too few rows in common to vary there. None where they would take
            more than 1 GiB each, see `block` and the argument `hold`.
        spread: (d,) standard deviation of each number, NaN for categories.
        pairs: those with the smallest p.
        tested: how many pairs were tested.
        found: the order of p among all pairs tested.
        tested_by: "any", "rank" or "pearson": what is behind p.
        chances: of every pair, where dependence of any shape was tested; None otherwise.
    """

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    rows: int
    pearson: Array | None
    rank: Array | None
    spread: Array
    pairs: Pairs
    tested: int
    found: FoundPairs
    tested_by: Tested
    chances: Chances | None
    _ready: tuple[Standard | None, Standard | None]

    @property
    def ranks(self) -> Standard:
        """Ranks of the numbers and contrasts of the levels, made ready for products."""
        standard = self._ready[1]
        assert standard is not None
        return standard

    def without_rows(self) -> Dependence:
        """The same without one number a row, where matrices of all pairs are held: they take more memory than these."""
        if self.pearson is None or self.rank is None:
            return self
        known = self.chances
        if known is not None:
            known = replace(known, shapes=None, levels=known.levels.among(np.empty(0, np.intp)))
        return replace(self, _ready=(None, None), chances=known)

    def block(self, first: slice, second: slice, *, ranks: bool = False) -> Array:
        """Strengths of some columns with others, as a (a, b) array, whatever the size of the table.

        Args:
            first, second: slices of the columns.
            ranks: whether of the ranks.
        """
        d = len(self.columns)
        a, b = (slice(*part.indices(d)[:2]) for part in (first, second))
        standard = self._ready[int(ranks)]
        if standard is None:  # let go of as soon as the whole matrix was there
            matrix = self.rank if ranks else self.pearson
            assert matrix is not None
            return matrix[a, b].copy()
        return standard.strengths(a, b)[0]

    def unexplained(self, predicted: int | str, by: int | str) -> float:
        """What is left of the variance of a number once another column is known: sigma^2 (1 - rho^2).

        Args:
            predicted: name or number of a column of numbers.
            by: of any other.
        """
        j, i = self._number(predicted), self._number(by)
        if self.kinds[j] != "number":
            raise ParameterError(f"{self.columns[j]!r} is a {self.kinds[j]}: only a number has a variance to explain")
        if self.kinds[i] == "constant":
            return float(self.spread[j] ** 2)
        rho = self.block(slice(i, i + 1), slice(j, j + 1))[0, 0]
        return float(self.spread[j] ** 2 * (1.0 - rho**2))

    def significant(self, level: float = 0.05) -> int:
        """How many pairs have q at most level, listed in `pairs` or not."""
        return self.found.called(level)

    def _number(self, column: int | str) -> int:
        if isinstance(column, str):
            if column not in self.columns:
                raise ParameterError(f"no column {column!r}; there are {', '.join(self.columns[:20])}")
            return self.columns.index(column)
        return range(len(self.columns))[column]


def dependence(
    data: Any,
    *,
    tested_by: Tested = "rank",
    keep: int = 10_000,
    hold: bool | None = None,
    columns: Sequence[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Dependence:
    """Pearson and rank correlations of all pairs of columns, with what chance does, in one go.

    Pairs are taken by the rows where both columns have a value.

    Args:
        data: (n, d) array of numbers, or anything `assay.read` takes: then categories are categories.
        tested_by: which strengths p and q are of. Those of ranks hold whatever the law of the columns, and one far row
            does not make one. "any" looks for dependence of any shape too, and takes exact chances where levels are
            rare: for up to 500 columns; beyond, ranks and rare levels.
        keep: pairs to list, those with the smallest p; all of them count in q.
        hold: whether to keep the matrices whole; None where each takes at most 1 GiB.
        columns: names of the columns of an array.
        progress: told the tiles done and their number.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(100)
    >>> found = dependence(np.stack([x, x + rng.standard_normal(100), rng.standard_normal(100)], axis=1))
    >>> found.pearson.round(2)[0], found.significant()
    (array([ 1.  ,  0.73, -0.01]), 1)
    """
    if tested_by not in ("any", "rank", "pearson"):
        raise ParameterError(f"tested_by is 'any', 'rank' or 'pearson'; got {tested_by!r}")
    if keep < 1:
        raise ParameterError(f"keep is a number of pairs, at least 1; got {keep}")
    X, groups, names = numbers_by_column(data, columns)
    if len(X) < _FEWEST:
        raise DataError(f"correlations need at least {_FEWEST} rows; there are {len(X)}")
    return dependence_of(X, groups, names, tested_by=tested_by, keep=keep, hold=hold, progress=progress)


def dependence_of(
    X: Array,
    groups: Indices,
    names: tuple[str, ...],
    *,
    tested_by: Tested = "rank",
    keep: int = 10_000,
    hold: bool | None = None,
    progress: Callable[[int, int], object] | None = None,
    rows: DependentRows | None = None,
    seed: int = 0,
) -> Dependence:
    """The same of columns that are numbers already.

    Args:
        X: (n, D) at least 3 rows, NaN where missing.
        groups: (D,) the column that each number belongs to, ascending from 0 without gaps.
        names: (d,) the columns.
        tested_by, keep, hold, progress: as for `dependence`.
        rows: how they depend on each other, in the order of time for series; None for independent ones. Used by "any".
        seed: of the rows in which shapes are looked at, where they are many.
    """
    d = len(names)
    any_shape = tested_by == "any"
    whole = hold if hold is not None else 8 * d * d <= _HELD
    held = (np.empty((d, d)), np.empty((d, d))) if whole else None
    values: Standard | None = standardised(X, groups, ranks=False)
    assert values is not None
    kinds = _kinds(values.sizes, np.bincount(groups))
    if any_shape and held is not None:  # one of the two is held at a time
        _fill(held[0], values)
        values = None
    ranked = standardised(X, groups, ranks=True, counted=any_shape)
    ready = values, ranked
    by = int(tested_by != "pearson")
    own, other = (ranked, values) if by or values is None else (values, ranked)
    chances = pair_chances(X, groups, ranked, rows, seed) if any_shape and d <= WIDEST else None
    tiles = TileChances.of(X, groups, ranked, rows) if any_shape and chances is None else None
    strongest = Strongest(keep)
    places = _places(d)
    many = own.plain and d * (d - 1) > 2 * max(keep, _FEW_PAIRS)
    simple = tiles is None or (rows is None and not np.isfinite(tiles.levels.rarest).any())
    likely = own.likely() if many and simple and chances is None else None
    known = None if likely is not None else chances or tiles
    with one_blas_thread():
        for start in range(0, len(places), _AT_ONCE):
            some = places[start : start + _AT_ONCE]
            for tested, untested in in_threads(lambda place: _tile(own, other, held, likely, known, *place), some):
                strongest.add(*tested)
                strongest.count(untested)
            if progress is not None:
                progress(start + len(some), len(places))
    found = strongest.found(None if likely is None else partial(_exactly, own))
    return Dependence(
        columns=names,
        kinds=kinds,
        rows=len(X),
        pearson=held and held[0],
        rank=held and held[1],
        spread=_spread(X, groups, np.bincount(groups)),
        pairs=_pairs(found, ready, by, held, chances),
        tested=found.tested,
        found=found,
        tested_by=tested_by,
        chances=chances,
        _ready=ready,
    )


def _places(d: int) -> list[tuple[slice, slice]]:
    parts = [slice(start, min(start + _SIDE, d)) for start in range(0, d, _SIDE)]
    return [(rows, cols) for i, rows in enumerate(parts) for cols in parts[i:]]


def _fill(matrix: Array, standard: Standard) -> None:
    """All strengths of one sort."""

    def tile(place: tuple[slice, slice]) -> None:
        rows, cols = place
        matrix[rows, cols] = standard.strengths(rows, cols)[0]
        matrix[cols, rows] = matrix[rows, cols].T

    with one_blas_thread():
        in_threads(tile, _places(len(matrix)))


def _tile(
    own: Standard,
    other: Standard | None,
    held: tuple[Array, Array] | None,
    likely: Likely | None,
    known: Chances | TileChances | None,
    rows: slice,
    cols: slice,
) -> tuple[tuple[Indices, Indices, Array], int]:
    """Work out a tile: the pairs in it that may matter, with p, and how many others there are."""
    strength, n = own.strengths(rows, cols)
    if held is not None:
        for standard in (own,) if other is None else (own, other):
            found = strength if standard is own else standard.strengths(rows, cols)[0]
            held[int(standard.ranks)][rows, cols] = found
            held[int(standard.ranks)][cols, rows] = found.T
    once = np.triu(np.ones(strength.shape, dtype=bool), 1) if rows == cols else np.ones(strength.shape, dtype=bool)
    once &= ~np.isnan(strength)
    some = once if likely is None else once & (np.abs(strength) >= likely.least)
    i, j = np.nonzero(some)
    sizes = own.sizes
    if likely is not None:
        p = likely(strength[i, j])
    elif known is not None:
        p = (known.p[rows, cols] if isinstance(known, Chances) else known(rows, cols)[0])[i, j]
        if held is not None:  # what cannot be compared has no strength either
            a, b = i[np.isnan(p)] + rows.start, j[np.isnan(p)] + cols.start
            for matrix in held:
                matrix[a, b] = matrix[b, a] = np.nan
    else:
        p = chance(
            strength[i, j], n if isinstance(n, float) else n[i, j], sizes[rows][i], sizes[cols][j], ranks=own.ranks
        )
    told = ~np.isnan(p)  # a category of as many levels as there are rows leaves nothing to test with
    return (i[told] + rows.start, j[told] + cols.start, p[told]), int(once.sum()) - len(p)


def _exactly(standard: Standard, first: Indices, second: Indices) -> Array:
    strength, n = standard.of_pairs(first, second)
    return chance(strength, n.astype(np.float64), standard.sizes[first], standard.sizes[second], ranks=standard.ranks)


def _pairs(
    found: FoundPairs,
    ready: tuple[Standard | None, Standard],
    by: int,
    held: tuple[Array, Array] | None,
    chances: Chances | None,
) -> Pairs:
    """The pairs found, with both strengths and an interval."""
    k, first, second = len(found.p), found.first, found.second
    strengths = np.empty((2, k))
    n = np.full(k, len(ready[1].Z), dtype=np.int64)
    for which, standard in enumerate(ready):
        if held is not None and (standard is None or standard.seen is None):
            strengths[which] = held[which][first, second]
        elif standard is not None:
            strengths[which], n[:] = standard.of_pairs(first, second)
    effective = n.astype(np.float64)
    strength, lag = strengths[by].copy(), np.zeros(k, np.intp)
    if chances is not None:
        effective, lag = chances.effective[first, second], chances.lag[first, second]
        strength[lag != 0] = chances.lagged[first, second][lag != 0]
    categories = (~ready[1].signed[first]).astype(np.intp) + ~ready[1].signed[second]
    low, high = fisher_interval(strength, effective, ranks=bool(by))
    return Pairs(
        first=first,
        second=second,
        pearson=strengths[0],
        rank=strengths[1],
        low=np.where(categories == 0, low, np.nan),
        high=np.where(categories == 0, high, np.nan),
        p=found.p,
        q=found.q,
        n=n,
        strength=strength,
        strength_name=np.array([RANK_CORRELATION if by else "correlation", CORRELATION_RATIO, V, CURVES])[categories],
        unseen=np.full(k, np.nan),
        again=np.full(k, np.nan),
        lag=lag,
        monotone=np.ones(k, dtype=bool),
        curves=np.full((k, 2, COSINES), np.nan),
        effective=effective,
    )


def _kinds(sizes: Indices, width: Indices) -> tuple[str, ...]:
    return tuple(
        "constant" if not size else "category" if w > 1 else "number" for size, w in zip(sizes, width, strict=True)
    )


def _spread(X: Array, groups: Indices, width: Indices) -> Array:
    """(d,) standard deviation of the values there are; NaN for categories."""
    spread = np.full(len(width), np.nan)
    for j in np.flatnonzero(width == 1):
        values = X[:, np.searchsorted(groups, j)]
        values = values[~np.isnan(values)]
        if len(values) > 1:
            scale = float(np.abs(values).max()) or 1.0  # so that squares stay in range
            spread[j] = float(np.std(values / scale, ddof=1)) * scale
    return spread

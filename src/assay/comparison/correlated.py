"""Correlations inside each of two tables, for any names of the tables, without what each column does alone.

Values become normal scores of their ranks inside their own table first: a column that lies elsewhere or spreads more in
one table changes no correlation. Pairs of values of which one is missing are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from assay.arrays import Array, Indices, Mask
from assay.comparison.pair import Pair
from assay.linalg.ranks import average_ranks

_WORK = 5e7  # products of columns over all rows, beyond which rows are drawn
_COLUMNS = 300
_COMMON = 0.95  # of the values of a table, the most that may be one and the same
_LEAST_ROWS = 10
_CLOSE = 0.999
_LEAST = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Columns as scores inside their tables.

    Attributes:
        Z: (n, d) of mean 0 and variance 1 in each table, 0 where missing.
        known: (n, d) 1 where a value is there.
        chosen: (d,) which numbers of the pair these are.
        rows: (n,) which rows of the pair.
        every: products of all rows, of both tables.
        left_out: why other numbers are not among them; empty where all are.
    """

    Z: Array
    known: Array
    chosen: Indices
    rows: Indices
    every: tuple[Array, Array, Array, Array]
    left_out: str

    @property
    def whole(self) -> bool:
        """Whether no value is missing."""
        return bool(self.known.all())

    def correlations(self, second: Mask) -> Array:
        """(2, d, d) correlations in both tables.

        Args:
            second: (n,) rows of the second table.
        """
        few = second if 2 * second.sum() <= len(second) else ~second
        part = _products(self.Z[few], self.known[few], whole=self.whole)
        rest = [every - own for every, own in zip(self.every, part, strict=True)]
        sides = (rest, part) if few is second else (part, rest)
        return np.stack([_correlations(*side) for side in sides])


def _products(Z: Array, known: Array, *, whole: bool) -> tuple[Array, Array, Array, Array]:
    """(d, d) products of scores; and of each column over rows in which another has a value: rows, sums and squares."""
    d, products = Z.shape[1], Z.T @ Z
    if whole:
        spread = [np.full(d, float(len(Z))), Z.sum(axis=0), np.diag(products).copy()]
        counts, sums, squares = (np.repeat(x[:, None], d, axis=1) for x in spread)
        return products, counts, sums, squares
    return products, known.T @ known, Z.T @ known, (Z**2).T @ known


def _correlations(products: Array, counts: Array, sums: Array, squares: Array) -> Array:
    rows = np.maximum(counts, 1.0)
    mean = sums / rows
    variance = np.maximum(squares / rows - mean**2, 1e-12)
    r = (products / rows - mean * mean.T) / np.sqrt(variance * variance.T)
    return np.asarray(np.clip(r, -_CLOSE, _CLOSE))


def sampling(second: Mask) -> float:
    """The sum of one over the rows of each table, by which a difference between them varies; a draw may change it.

    Args:
        second: (n,) rows of the second table.
    """
    rows = int(second.sum())
    return 1.0 / max(rows, 1) + 1.0 / max(len(second) - rows, 1)


def pair_variances(scores: Scores, i: Indices, j: Indices) -> Array:
    """(p,) rows times the variance of Fisher's z of pairs of columns, over the rows of both tables.

    Mean squares of u_i u_j - r (u_i^2 + u_j^2) / 2, u of variance 1, over (1 - r^2)^2: 1 for normal columns, more where
    far values come together.

    Args:
        scores: the columns.
        i: (p,) numbers of the first column.
        j: of the second.
    """
    found = np.empty(len(i))
    for k, (a, b) in enumerate(zip(i, j, strict=True)):
        both = (scores.known[:, a] * scores.known[:, b]) > 0
        u, v = scores.Z[both, a], scores.Z[both, b]
        u, v = u / max(u.std(), 1e-6), v / max(v.std(), 1e-6)
        r = float(np.clip((u * v).mean(), -_CLOSE, _CLOSE))
        found[k] = ((u * v - r * (u**2 + v**2) / 2.0) ** 2).mean() / (1.0 - r**2) ** 2
    return np.maximum(found, _LEAST)


def scores_of(pair: Pair, seed: int) -> Scores | None:
    """Scores of the numbers that vary enough in both tables; None where fewer than two do.

    Args:
        pair: the two tables.
        seed: of the rows drawn where they are many.
    """
    X, second = pair.numbers, pair.second
    fewer = min(int(second.sum()), int((~second).sum()))
    # first by the rows of both tables: a choice by what the smaller one happens to hold would not be chance's choice
    often = [j for j in range(X.shape[1]) if _other_values(X[:, j]) * fewer >= _LEAST_ROWS]
    enough = [j for j in often if all(_varies(X[side, j]) for side in (~second, second))]
    wide = len(enough) > _COLUMNS
    chosen = np.array(enough[:_COLUMNS], dtype=np.intp)
    if len(chosen) < 2:
        return None
    most = max(int(_WORK / len(chosen) ** 2), 2000)
    rows = np.arange(pair.n)
    if pair.n > most:
        rows = np.sort(np.random.default_rng(seed).permutation(pair.n)[:most])
    X, second = X[np.ix_(rows, chosen)], second[rows]
    Z = np.zeros_like(X)
    for side in (~second, second):
        for j in range(X.shape[1]):
            Z[side, j] = _normal_scores(X[side, j])
    left_out = f"the first {_COLUMNS} of {len(enough)} numbers" if wide else ""
    known = np.isfinite(X).astype(np.float64)
    every = _products(Z, known, whole=bool(known.all()))
    return Scores(Z, known, chosen, rows, every, left_out)


def _other_values(x: Array) -> float:
    """Share of the values that are not the most common one."""
    there = x[np.isfinite(x)]
    return 1.0 - float(np.unique(there, return_counts=True)[1].max()) / len(there) if len(there) else 0.0


def _varies(x: Array) -> bool:
    there = x[np.isfinite(x)]
    if len(there) < _LEAST_ROWS:
        return False
    return bool(np.unique(there, return_counts=True)[1].max() <= _COMMON * len(there))


def _normal_scores(x: Array) -> Array:
    """Of mean 0 and variance 1 among the values that are there; 0 elsewhere."""
    there = np.isfinite(x)
    z = np.zeros(len(x))
    if there.any():
        score = ndtri((average_ranks(x[there]) - 0.5) / there.sum())
        score = score - score.mean()
        size = score.std()
        z[there] = score / size if size > 0.0 else 0.0
    return z

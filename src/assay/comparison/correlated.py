"""Correlations inside each of two tables, for any names of the tables, without what each column does alone.

Values become normal scores of their ranks inside their own table first: a column that lies elsewhere or spreads more in
one table changes no correlation. Pairs of values of which one is missing are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from assay.comparison.pair import Pair

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

_WORK = 1e8  # products of columns over all rows, beyond which rows are drawn
_COLUMNS = 300
_COMMON = 0.95  # of the values of a table, the most that may be one and the same
_LEAST_ROWS = 10
_CLOSE = 0.999


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Columns as scores inside their tables.

    Attributes:
        Z: (n, d) of mean 0 and variance 1 in each table, 0 where missing.
        known: (n, d) 1 where a value is there.
        chosen: (d,) which numbers of the pair these are.
        rows: (n,) which rows of the pair.
        left_out: why other numbers are not among them; empty where all are.
    """

    Z: Array
    known: Array
    chosen: NDArray[np.intp]
    rows: NDArray[np.intp]
    left_out: str

    def correlations(self, second: Mask) -> tuple[Array, Array]:
        """(2, d, d) correlations in both tables, and (2, d, d) the variances of their Fisher transforms.

        Args:
            second: (n,) rows of the second table.
        """
        found = [_Sums(self.Z[rows], self.known[rows]) for rows in (~second, second)]
        R = np.stack([one.correlations for one in found])
        return R, np.stack([one.variance(r) for one, r in zip(found, R, strict=True)])

    def matrices(self, second: Mask) -> Array:
        """(2, d, d) the correlations alone.

        Args:
            second: (n,) rows of the second table.
        """
        return np.stack([_Sums(self.Z[rows], self.known[rows]).correlations for rows in (~second, second)])


class _Sums:
    """Products of the scores of one table.

    Args:
        Z: (n, d).
        known: (n, d) 1 where a value is there.
    """

    def __init__(self, Z: Array, known: Array) -> None:
        # a table as chance has it is no more centred than one as it is
        centred = (Z - Z.sum(axis=0) / np.maximum(known.sum(axis=0), 1.0)) * known
        self.Z, self.squares, self.known = centred, centred**2, known
        self.whole = bool(known.all())
        self.counts = np.maximum(self._with_known(known), 1.0)
        self.var = np.maximum(self._with_known(self.squares) / self.counts, 1e-12)
        self.unit = np.sqrt(self.var * self.var.T)

    def _with_known(self, P: Array) -> Array:
        """(d, d) sums of the i-th column over rows in which the j-th has a value."""
        if self.whole:
            return np.repeat(P.sum(axis=0)[:, None], P.shape[1], axis=1)
        return P.T @ self.known

    @property
    def correlations(self) -> Array:
        return np.asarray(np.clip(self.Z.T @ self.Z / self.counts / self.unit, -_CLOSE, _CLOSE))

    def variance(self, R: Array) -> Array:
        """Of atanh r: mean squares of u_i u_j - r (u_i^2 + u_j^2) / 2, u of variance 1, over n (1 - r^2)^2."""
        fourth = self._with_known(self.squares**2) / self.counts / self.var**2
        crossed = self.squares.T @ self.squares / self.counts / self.unit**2
        cubes = (self.squares * self.Z).T @ self.Z / self.counts / (self.var * self.unit)
        inner = crossed - R * (cubes + cubes.T) + R**2 / 4.0 * (fourth + fourth.T + 2.0 * crossed)
        normal = (1.0 - R**2) ** 2
        return np.asarray(np.maximum(inner, normal / 4.0) / self.counts / normal)


def scores_of(pair: Pair, seed: int) -> Scores | None:
    """Scores of the numbers that vary enough in both tables; None where fewer than two do.

    Args:
        pair: the two tables.
        seed: of the rows drawn where they are many.
    """
    X, second = pair.numbers, pair.second
    enough = [j for j in range(X.shape[1]) if all(_varies(X[side, j]) for side in (~second, second))]
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
    return Scores(Z, np.isfinite(X).astype(np.float64), chosen, rows, left_out)


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
        score = ndtri((rankdata(x[there]) - 0.5) / there.sum())
        score = score - score.mean()
        size = score.std()
        z[there] = score / size if size > 0.0 else 0.0
    return z

"""How rows depend on each other, and so what chance may exchange.

Every split, permutation and variance of a study goes through one of these. Rows that depend on each other stay together
in folds and halves, and a draw of chance moves them together: what is left is what columns have in common.

                drawn, what chance does     folds and halves      signature: Var(z_i' z_j) = sum_k S_ki S_kj
independent     a permutation               at random             1 / (n - 1)
time            a circular shift            runs of rows          periodograms: the variance over all shifts
groups          whole groups exchanged      whole groups          shares of variance between and within groups
place           a shift over the map        cells of the map      correlations by distance

The variance of a product of two columns over the draws of a design is bilinear in their signatures, so that one matrix
product gives it for all pairs: 1 / Var + 1 is the number of independent rows that would tell as much.

References: Clifford, Richardson and Hemon, Biometrics 45 (1989); Dutilleul, Biometrics 49 (1993): effective numbers of
rows. Chung and Fraser, JASA 53 (1958): permutations that keep a dependence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.data.folds import fold_numbers

Kind: TypeAlias = Literal["independent", "time", "groups", "place"]

_SIDE = 512  # columns of a tile of pairs


@dataclass(frozen=True, slots=True, eq=False)
class Design(ABC):
    """How n rows depend on each other.

    Attributes:
        n: how many.
        limit: why nothing can be called supported in these rows, in words; empty where it can.
    """

    n: int
    limit: str = field(default="", kw_only=True)

    kind: ClassVar[Kind]
    forward: ClassVar[bool] = False

    @abstractmethod
    def drawn(self, rng: np.random.Generator) -> Indices:
        """(n,) a draw of chance: the row whose values each row gets.

        Args:
            rng: source of the draw.
        """

    def drawn_each(self, rng: np.random.Generator, count: int) -> Indices:
        """(count, n) as many draws, those that `drawn` would give one after the other.

        Args:
            rng: source of the draws.
            count: how many.
        """
        return np.array([self.drawn(rng) for _ in range(count)], dtype=np.intp).reshape(count, self.n)

    @abstractmethod
    def folds(self, k: int, seed: int = 0) -> Indices:
        """(n,) fold of each row, from 0; at most k, fewer where not as many parts can be told apart.

        Args:
            k: how many folds, at least 2.
            seed: another seed, another assignment where there is one.
        """

    @abstractmethod
    def half(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """(n,) one of two halves that know as little of each other as can be.

        Args:
            rng: source of the draw.
        """

    @abstractmethod
    def signature(self, Z: Array) -> Array:
        """(m, D) what gives the variance of products, for columns that are centred and of length 1.

        Args:
            Z: (n, D).
        """

    @abstractmethod
    def among(self, numbers: Indices) -> Design:
        """The same for some of the rows.

        Args:
            numbers: of the rows, ascending.
        """

    @abstractmethod
    def thinned(self, rng: np.random.Generator) -> Indices:
        """Numbers of rows, ascending, that are nearly independent of each other.

        Args:
            rng: source of the choice.
        """

    def closed(self, Y: Array) -> Array:
        """(n, q) columns as draws take them: so that no draw can be told from the data by a seam.

        Args:
            Y: (n, q).
        """
        return Y

    def effective(self, Z: Array) -> Array:
        """(D, D) for each pair of columns, how many independent rows would tell as much; at most n.

        Args:
            Z: (n, D) columns centred and of length 1.
        """
        S = self.signature(Z)
        return np.minimum(1.0 + 1.0 / np.maximum(S.T @ S, 1.0 / self.n), float(self.n))

    def least_effective(self, Z: Array) -> float:
        """The least of `effective` among pairs of different columns; of a single column, of it and its like.

        No matrix of all pairs is made.

        Args:
            Z: (n, D) columns centred and of length 1.
        """
        return float(min(1.0 + 1.0 / max(_largest_product(self.signature(Z)), 1.0 / self.n), self.n))


def _largest_product(S: Array) -> float:
    """The largest s_i . s_j of different columns of (m, D), tile by tile of pairs that may have it.

    Columns come in order of their length: where s_i . s_j <= |s_i| |s_j| cannot reach what was found, neither can what
    comes after.
    """
    lengths = np.linalg.norm(S, axis=0)
    order = np.argsort(-lengths, kind="stable")
    S, lengths = S[:, order], lengths[order]
    d = S.shape[1]
    if d == 1:
        return float(S[:, 0] @ S[:, 0])
    most = float(S[:, 0] @ S[:, 1])
    for i in range(0, d, _SIDE):
        for j in range(i, d, _SIDE):
            if lengths[i] * lengths[j] * (1.0 + 1e-12) < most:  # more than products err by
                break
            found = S[:, i : i + _SIDE].T @ S[:, j : j + _SIDE]
            if i == j:
                np.fill_diagonal(found, -np.inf)
            most = max(most, float(found.max()))
    return most


@dataclass(frozen=True, slots=True, eq=False)
class Independent(Design):
    """Independent rows: any order is as likely as any other.

    >>> Independent(5).signature(np.zeros((5, 2)))
    array([[0.5, 0.5]])
    """

    kind: ClassVar[Kind] = "independent"

    def drawn(self, rng: np.random.Generator) -> Indices:
        """Any permutation."""
        return rng.permutation(self.n)

    def folds(self, k: int, seed: int = 0) -> Indices:
        """At random, by the numbers of rows alone."""
        return fold_numbers(0, self.n, k, seed)

    def half(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """At random."""
        return np.asarray(rng.permutation(self.n) < self.n // 2)

    def signature(self, Z: Array) -> Array:
        """One line: every pair of columns has the same variance."""
        return np.full((1, Z.shape[1]), 1.0 / np.sqrt(max(self.n - 1, 1)))

    def among(self, numbers: Indices) -> Independent:
        """Independent rows."""
        return Independent(len(numbers), limit=self.limit)

    def thinned(self, rng: np.random.Generator) -> Indices:
        """All rows."""
        return np.arange(self.n)

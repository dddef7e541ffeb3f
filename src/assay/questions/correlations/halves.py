"""Pairs of columns in halves of the rows: what one half says of the other.

Rows fall into parts, once, and every half is made of half of the parts, so that one pass over the rows gives the
correlations in as
many halves as one likes: sums, squares and products merge. Rows that depend on each other are in one part.

With C the products of the orthonormal numbers of two columns in one half and D those in the other,

    <C, D> / min(r, s)            estimates the square of the strength without the bias of squares, as both are from
    other rows u' D v, u and v of C          how curves that one half chose go together in the other
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices, Mask

_SPLITS = 20
_PARTS, _PARTS_OF_FEW, _FEW = 20, 40, 2000
_HELD = 2e6  # numbers of products that are held at once
_GEMM = 200  # how much faster products of all pairs are, for each


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """How rows are halved.

    Attributes:
        part: (n,) part of each row.
        sides: (K, G) which parts are in the first half of each split.
    """

    part: Indices
    sides: NDArray[np.bool_]

    @staticmethod
    def of(part: Indices, seed: int = 0) -> Halves:
        """Random halves of given parts.

        Args:
            part: (n,) part of each row, from 0.
            seed: of the halves.
        """
        G = int(part.max()) + 1
        rng = np.random.default_rng(seed)
        order = np.argsort(rng.random((_SPLITS if G > 2 else 1, G)), axis=1)
        return Halves(part, order < G // 2)

    @staticmethod
    def of_rows(n: int, seed: int = 0) -> Halves:
        """Halves of independent rows."""
        G = min(n, _PARTS_OF_FEW if n <= _FEW else _PARTS)
        return Halves.of(np.random.default_rng(seed).permutation(n) % G, seed)

    @property
    def counts(self) -> Array:
        """(2, K) rows in the halves of each split."""
        rows = np.bincount(self.part, minlength=self.sides.shape[1]).astype(np.float64)
        return np.stack([self.sides @ rows, ~self.sides @ rows])

    def among(self, rows: Indices) -> Halves:
        """The same for some rows."""
        return Halves(self.part[rows], self.sides)

    def correlations(self, Z: Array, first: Indices, second: Indices, seen: Mask | None = None) -> Array:
        """(2, K, m) correlations of pairs of columns in both halves of each split; 0 where one is constant.

        Args:
            Z: (n, D) columns.
            first, second: (m,) their numbers.
            seen: (n, D) where they have a value, Z being 0 elsewhere; None where none is missing. Each pair is by the
                rows where both have one.
        """
        if seen is not None and not seen[:, np.union1d(first, second)].all():
            return self._by_shared_rows(Z, first, second, seen)
        order = np.argsort(self.part, kind="stable")
        used, place = np.unique(np.concatenate([first, second]), return_inverse=True)
        first, second = place[: len(first)], place[len(first) :]
        bounds = np.searchsorted(self.part[order], np.arange(self.sides.shape[1] + 1))
        sums, squares, products = (
            np.stack(each) for each in zip(*_of_parts(Z.T, used, order, bounds, first, second), strict=True)
        )
        found = np.empty((2, len(self.sides), len(first)))
        for which, (sides, n) in enumerate(zip((self.sides, ~self.sides), self.counts, strict=True)):
            n = np.maximum(n, 1.0)  # all rows of a pair may lie in the other half
            mean = sides @ sums / n[:, None]
            spread = np.sqrt(np.maximum(sides @ squares / n[:, None] - mean**2, 0.0))
            scale = spread[:, first] * spread[:, second]
            both = sides @ products / n[:, None] - mean[:, first] * mean[:, second]
            found[which] = _divided(both, scale, 1e-12 / len(Z))
        return np.clip(found, -1.0, 1.0)

    def _by_shared_rows(self, Z: Array, first: Indices, second: Indices, seen: Mask) -> Array:
        """The same with gaps: rows, sums, squares and products of each pair merge as well."""
        used, place = np.unique(np.concatenate([first, second]), return_inverse=True)
        first, second = place[: len(first)], place[len(first) :]
        parts = np.zeros((6, self.sides.shape[1], len(first)))
        for part in np.unique(self.part):
            rows = np.flatnonzero(self.part == part)
            P, S = (np.ascontiguousarray(M[np.ix_(rows, used)].T, dtype=np.float64) for M in (Z, seen))
            parts[:, part] = _shared_sums(P, S, first, second)
        found = np.empty((2, len(self.sides), len(first)))
        for which, sides in enumerate((self.sides, ~self.sides)):
            n, a, b, aa, bb, ab = (sides @ sums for sums in parts)
            n = np.maximum(n, 1.0)
            scale = np.sqrt(np.maximum(aa / n - (a / n) ** 2, 0.0) * np.maximum(bb / n - (b / n) ** 2, 0.0))
            both = ab / n - a * b / n**2
            found[which] = _divided(both, scale, 1e-12 / len(Z))
        return np.clip(found, -1.0, 1.0)


def _divided(both: Array, scale: Array, least: float) -> Array:
    """Both by scale, 0 where that is no larger than rounding."""
    large = scale > least
    return np.where(large, both, 0.0) / np.where(large, scale, 1.0)


def _shared_sums(P: Array, S: Array, first: Indices, second: Indices) -> Array:
    """(6, m) rows where both columns of a pair have a value; sums, squares and products over these.

    Args:
        P: (D, n) columns, 0 where missing.
        S: (D, n) 1 where there is a value, else 0.
        first, second: (m,) columns of the pairs.
    """
    D, n = P.shape
    if _GEMM * len(first) >= D * D:
        sums, squares = P @ S.T, P**2 @ S.T
        both, products = S @ S.T, P @ P.T
        return np.stack([
            both[first, second], sums[first, second], sums[second, first], squares[first, second],
            squares[second, first], products[first, second],
        ])  # fmt: skip
    found = np.empty((6, len(first)))
    step = max(1, int(_HELD / max(n, 1)))
    for start in range(0, len(first), step):
        some = slice(start, start + step)
        both = S[first[some]] * S[second[some]]
        A, B = P[first[some]] * both, P[second[some]] * both
        found[:, some] = [part.sum(axis=1) for part in (both, A, B, A * A, B * B, A * B)]
    return found


def _of_parts(
    T: Array, used: Indices, order: Indices, bounds: Indices, first: Indices, second: Indices
) -> Iterator[tuple[Array, Array, Array]]:
    """Sums and squares of the (D, n) columns in use, and products of (m,) pairs of them, over the rows of each part."""
    every = len(used) == len(T)
    for a, b in pairwise(bounds):
        rows = order[a:b]
        P = np.ascontiguousarray(T[:, rows] if every else T[np.ix_(used, rows)])
        yield P.sum(axis=1), np.einsum("ij,ij->i", P, P), _products(P, first, second)


def _products(P: Array, first: Indices, second: Indices) -> Array:
    """(m,) sums of products over the rows of a part."""
    D, n = P.shape
    if _GEMM * len(first) >= D * D:
        return np.asarray((P @ P.T)[first, second])
    found = np.empty(len(first))
    step = max(1, int(_HELD / max(n, 1)))
    for start in range(0, len(first), step):
        some = slice(start, start + step)
        found[some] = (P[first[some]] * P[second[some]]).sum(axis=1)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class ProductBlocks:
    """Which numbers of two columns go into the products of each pair, one after the other.

    Attributes:
        first, second: (m,) numbers of the features.
        starts: (k,) where each pair begins.
        sizes: (2, k) features of the first and of the second column.
    """

    first: Indices
    second: Indices
    starts: Indices
    sizes: Indices

    @staticmethod
    def of(starts: Indices, first: Indices, second: Indices, skip: Indices | None = None) -> ProductBlocks:
        """All products of the features of pairs of columns.

        Args:
            starts: (d + 1,) the features of column j are starts[j] to starts[j + 1].
            first, second: (k,) columns.
            skip: (d,) features to leave out at the beginning of a column.
        """
        begin = starts[:-1] if skip is None else starts[:-1] + skip
        width = starts[1:] - begin
        r, s = width[first], width[second]
        cells = r * s
        at = np.cumsum(cells) - cells
        number = np.arange(int(cells.sum())) - np.repeat(at, cells)
        wide = np.repeat(s, cells)
        a = np.repeat(begin[first], cells) + number // np.maximum(wide, 1)
        b = np.repeat(begin[second], cells) + number % np.maximum(wide, 1)
        return ProductBlocks(a, b, at, np.stack([r, s]))

    def summed(self, values: Array) -> Array:
        """(..., k) sums over the products of each pair of (..., m) values."""
        if not len(self.starts):
            return values[..., :0]
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1))


def unseen_strength(C: Array, blocks: ProductBlocks) -> Array:
    """(k,) strengths on unseen rows, from products in halves: the root of the mean of <C, D> / min(r, s), 0 where
    negative.

    Args:
        C: (2, K, m) as of `Halves.correlations`.
        blocks: which products belong to which pair.
    """
    both = blocks.summed((C[0] * C[1]).mean(axis=0))
    return np.asarray(np.sqrt(np.clip(both / np.maximum(blocks.sizes.min(axis=0), 1), 0.0, 1.0)))


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """How a curve of one column goes with a curve of another.

    Attributes:
        strength: their correlation in all rows, the largest there is.
        unseen: in rows other than those that chose the curves.
        weights: the weights of the features of each column.
    """

    strength: float
    unseen: float
    weights: tuple[Array, Array]


def curve(C: Array, whole: Array) -> Curve:
    """The curves of two columns that go together most.

    Args:
        C: (2, K, r, s) products of their features in both halves of each split.
        whole: (r, s) in all rows.
    """
    u, s, vt = np.linalg.svd(whole, full_matrices=False)
    left, _, right = np.linalg.svd(C, full_matrices=False)
    other = C[::-1]  # what one half chose, measured in the other
    seen = np.einsum("hki,hkij,hkj->hk", left[..., 0], other, right[..., 0, :])
    return Curve(min(float(s[0]), 1.0), float(np.clip(seen.mean(), 0.0, 1.0)), (u[:, 0], vt[0]))

"""Labelled rows in blocks, in memory or read anew for each pass, in coordinates fit for solvers.

    design    z = ((x - centre) * scale, 1), (m,)         theta = phi * basis, or phi basis^T for (m, r) basis
    ridge     penalty |w|^2 = sum_j ridge_j phi_j^2 for the coefficients w that phi stands for

By default the basis divides each column by its spread, so that phi, its gradient and tolerances have no units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from assay.arrays import Array, Indices
from assay.data.blocks import block_slices
from assay.data.partitions import beside
from assay.engine.current import map_reduce, mapped_blocks
from assay.errors import DataError
from assay.models.prediction.logistic.columns import Blocks, Part, measured
from assay.models.prediction.logistic.terms import (
    Design,
    Terms,
    advantages,
    block_terms,
    score_ranges,
    sparse_bend,
    sparse_chances,
)

Worst: TypeAlias = tuple[Array, NDArray[np.intp], Array, Indices]

_SAMPLE = 1 << 24  # numbers in a sample at most: 128 MB


def blocks_of(X: Any, codes: Indices, weights: Array | None) -> Blocks:
    """Blocks of an array or a sparse matrix in memory, and what is known of its rows."""
    return beside(_Sliced(X), codes, weights)


@dataclass(frozen=True, slots=True, eq=False)
class _Sliced:
    """Numbered blocks of rows in memory; those of a sparse matrix stay sparse."""

    X: Any

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        parts = block_slices(*self.X.shape)
        if len(parts) == 1:  # a part of a sparse matrix is a copy
            return iter([(0, self.X)])
        return ((part.start, self.X[part]) for part in parts)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows with their classes.

    Attributes:
        blocks: (b, d) each, with the number of the first row, and classes and weights beside.
        codes: (n,) classes, counted from 0.
        weights: (n,), or None for 1 each.
        classes: how many.
        design: how rows enter products.
        basis: (m,) or (m, r), see above.
        ridge: (m,) or (r,), see above.
    """

    blocks: Blocks
    codes: Indices
    weights: Array | None
    classes: int
    design: Design
    basis: Array
    ridge: Array

    @classmethod
    def of(
        cls,
        blocks: Blocks,
        codes: Indices,
        weights: Array | None,
        classes: int,
        *,
        intercept: bool,
        penalty: float,
        names: tuple[str, ...] | None = None,
    ) -> Self:
        """Rows in units of their columns' spread; raises where a value is not finite, and says where.

        Args:
            blocks, codes, weights, classes: as above.
            intercept: whether columns may be centred.
            penalty: factor of the squared coefficients.
            names: of the columns, for messages.
        """
        design, spread, n = measured(blocks, intercept, penalty > 0.0, names)
        if n != len(codes):
            raise DataError(f"there are {n} rows and {len(codes)} classes of rows: give one for each")
        total = float(len(codes)) if weights is None else float(weights.sum())
        q = 1.0 if design.scale is None else design.scale
        # the curvature of a column's coefficient is at most a quarter of its squares, and the penalty
        squares = spread**2 + (4.0 * penalty / total * q**2 if penalty > 0.0 else 0.0)
        unit = np.sqrt(np.where(squares > 0.0, squares, 1.0))
        ridge = penalty * (q / unit) ** 2 if penalty > 0.0 else np.zeros(len(unit))
        ones, zeros = np.ones(int(intercept)), np.zeros(int(intercept))
        basis = np.concatenate([1.0 / unit, ones])
        return cls(blocks, codes, weights, classes, design, basis, np.concatenate([ridge, zeros]))

    @property
    def n(self) -> int:
        """How many rows."""
        return len(self.codes)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

    @property
    def shape(self) -> tuple[int, int]:
        """Of phi: (k, r)."""
        return self.classes - 1, self.basis.shape[-1]

    def terms(self, phi: Array, curvature: bool) -> Terms:
        """Loss, gradient and curvature at (k, r) parameters: one pass."""
        theta, design = self._theta(phi), self.design

        def added(part: Part) -> Terms:
            _, rows, codes, weights = part
            return block_terms(design, rows, _numbers(codes), weights, theta, curvature=curvature)

        raw = map_reduce(self.blocks, added, Terms.__add__)
        H = raw.curvature
        if self.basis.ndim == 1:
            if H is not None:
                every = np.tile(self.basis, len(phi))
                H = H * every[:, None] * every
            return Terms(raw.loss, raw.doubtful, raw.gradient * self.basis, H)
        if H is not None:
            (m, r), k = self.basis.shape, len(phi)
            H = np.einsum("mr,kmln,ns->krls", self.basis, H.reshape(k, m, k, m), self.basis, optimize=True)
            H = H.reshape(k * r, k * r)
        return Terms(raw.loss, raw.doubtful, raw.gradient @ self.basis, H)

    def held_terms(self) -> Callable[[Array, bool], Terms]:
        """`terms` of rows in memory that are evaluated very often: the design is made once, not in every pass."""
        Z, (codes, weights) = self.matrix(), (_numbers(self.codes), self.weights)
        plain = Design(None, None, self.design.intercept and self.basis.ndim == 1)
        # the column of ones is the design's own
        inside = np.ascontiguousarray(Z[:, : Z.shape[1] - plain.intercept])
        return lambda phi, curvature: block_terms(plain, inside, codes, weights, phi, curvature=curvature)

    def bend(self, phi: Array) -> Callable[[Array], Array]:
        """The function from a direction, (k, r), to the curvature at phi times it; of sparse rows in memory."""
        theta, design = self._theta(phi), self.design
        chances = np.concatenate(mapped_blocks(self.blocks, lambda part: sparse_chances(design, part[1], theta)))

        def bent(direction: Array) -> Array:
            along = self._theta(direction)

            def added(part: Part) -> Array:
                first, rows, _, weights = part
                return sparse_bend(design, rows, chances[first : first + rows.shape[0]], weights, along)

            return np.asarray(map_reduce(self.blocks, added, np.add) * self.basis)

        return bent

    def widest(self, phi: Array) -> Array:
        """Largest difference between two scores of a row, among the rows of each class: (g,)."""
        theta, design = self._theta(phi), self.design

        def widest(part: Part) -> Array:
            _, rows, codes, weights = part
            return score_ranges(design, rows, _numbers(codes), weights, theta)

        return map_reduce(self.blocks, widest, np.maximum)

    def worst(self, phi: Array, count: int) -> Worst:
        """Rows whose own class is least ahead: by how much, their numbers, their (b, r) design and classes.

        Rows of weight 0 are left out.
        """
        theta, design, basis = self._theta(phi), self.design, self.basis

        def of_block(part: Part) -> Worst:
            first, rows, codes, weights = part
            ahead = advantages(design, rows, _numbers(codes), theta)
            if weights is not None:
                ahead[weights == 0.0] = np.inf
            chosen = _lowest(ahead, count)
            Z = np.concatenate([chunk.copy() for _, chunk in design.chunks(rows[chosen])])
            inside = Z * basis if basis.ndim == 1 else Z @ basis
            return ahead[chosen], first + chosen, inside, _numbers(codes)[chosen]

        def merged(a: Worst, b: Worst) -> Worst:
            ahead, numbers, Z, codes = (np.concatenate(pair) for pair in zip(a, b, strict=True))
            chosen = _lowest(ahead, count)
            return ahead[chosen], numbers[chosen], Z[chosen], codes[chosen]

        ahead, numbers, Z, codes = map_reduce(self.blocks, of_block, merged)
        counted = ahead < np.inf
        return ahead[counted], numbers[counted], Z[counted], codes[counted]

    def sample(self, stride: int) -> Rows:
        """Every row whose number is a multiple of the stride, its weight in proportion, held in memory."""
        parts = mapped_blocks(self.blocks, lambda part: part[1][-part[0] % stride :: stride])
        X = vstack(parts, format="csr") if issparse(parts[0]) else np.concatenate(parts)
        codes = self.codes[::stride]
        weights = np.ones(len(codes)) if self.weights is None else self.weights[::stride]
        weights = weights * (self.total / float(weights.sum()))
        return replace(self, blocks=blocks_of(X, codes, weights), codes=codes, weights=weights)

    def sample_stride(self) -> int:
        """A tenth of the rows, or what fits into 128 MB."""
        return max(10, -(-self.n * len(self.basis) // _SAMPLE))

    def matrix(self) -> Array:
        """The whole design in these coordinates, (n, r), in memory."""
        Z = np.concatenate([chunk.copy() for _, rows, *_ in self.blocks for _, chunk in self.design.chunks(rows)])
        return Z * self.basis if self.basis.ndim == 1 else Z @ self.basis

    def _theta(self, phi: Array) -> Array:
        return phi * self.basis if self.basis.ndim == 1 else phi @ self.basis.T


def _numbers(codes: NDArray[Any]) -> Indices:
    return codes.astype(np.intp, copy=False)


def _lowest(values: Array, count: int) -> NDArray[np.intp]:
    count = min(count, len(values))
    lowest = np.argpartition(values, count - 1)[:count]
    return lowest[np.lexsort((lowest, values[lowest]))]

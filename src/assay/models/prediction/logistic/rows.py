"""Labelled rows in blocks, in memory or read anew for each pass, in coordinates fit for solvers.

    design    z = ((x - centre) * scale, 1), (m,)         theta = phi * basis, or phi basis^T for (m, r) basis
    ridge     penalty |w|^2 = sum_j ridge_j phi_j^2 for the coefficients w that phi stands for

By default the basis divides each column by its spread, so that phi, its gradient and tolerances have no units. Where
columns lie and how wide they are is measured in one pass; what cannot be used is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse, vstack

from assay.arrays import Array, Indices
from assay.data.blocks import block_slices
from assay.data.partitions import beside
from assay.engine.current import is_elsewhere, map_reduce, mapped_blocks
from assay.errors import DataError, ParameterError
from assay.models.prediction.logistic.terms import (
    LogisticDesign,
    Terms,
    advantages,
    block_terms,
    score_ranges,
    sparse_bend,
    sparse_chances,
)
from assay.summary.moments.accumulate import checked_weights

# number of the first row, rows, classes and weights of each block
Part: TypeAlias = tuple[int, Any, NDArray[Any], Array | None]
Blocks: TypeAlias = Iterable[Part]
Worst: TypeAlias = tuple[Array, NDArray[np.intp], Array, Indices]

_TINY = 1e-200  # mean squares below and above its inverse are not trusted
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
class LogisticRows:
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
    design: LogisticDesign
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
        plain = LogisticDesign(None, None, self.design.intercept and self.basis.ndim == 1)
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

    def sample(self, stride: int) -> LogisticRows:
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

    @property
    def factors(self) -> Array:
        """(d,) of phi in the coefficients: w = factors * phi."""
        own = self.basis[: len(self.basis) - self.design.intercept]
        return own if self.design.scale is None else np.asarray(own * self.design.scale)

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


def measured(
    blocks: Blocks, intercept: bool, penalised: bool, names: tuple[str, ...] | None
) -> tuple[LogisticDesign, Array, int]:
    """How columns are centred and scaled, and (d,) their spread after that, and the number of rows.

    Args:
        blocks: the rows.
        intercept: whether columns may be centred.
        penalised: whether columns of tiny values may stay so.
        names: of the columns, for messages.
    """
    # near the data is near enough: the middle of the first block
    near = map_reduce(blocks, _middle_of, _first) if is_elsewhere(blocks) else _middle_of(next(iter(blocks)))
    near = near if intercept else None
    design = LogisticDesign(near, None, False)
    n, mean, square = _mean_square(blocks, design)
    extreme = ~((square > _TINY) & (square < 1.0 / _TINY))
    if extreme.any():
        scale = _power_of_two_scale(_reach(blocks, design, names), extreme, penalised)
        design = LogisticDesign(near, scale, False)
        _, mean, square = _mean_square(blocks, design)
    if near is None:
        return LogisticDesign(None, design.scale, intercept), np.sqrt(square), n
    # rounding leaves no square negative; a constant column is at its value exactly, and its mean here 0
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    centre = near + (mean if design.scale is None else mean / design.scale)
    return LogisticDesign(centre, design.scale, intercept), spread, n


def _middle_of(part: Part) -> Array | None:
    """(d,) the middle of a block; None of a sparse one, which is not centred."""
    rows = part[1]
    if issparse(rows):
        return None
    few = np.asarray(rows[:: max(1, len(rows) // 4096)], dtype=np.float64)
    # halves, for a sum of values near 1e308 would overflow; clipped, so that a constant column becomes exact zeros
    with np.errstate(invalid="ignore", over="ignore"):
        middle: Array = np.clip(2.0 * (0.5 * few / len(few)).sum(axis=0), few.min(axis=0), few.max(axis=0))
    return middle


def _first(a: Array | None, b: Array | None) -> Array | None:
    return a


def _mean_square(blocks: Blocks, design: LogisticDesign) -> tuple[int, Array, Array]:
    def sums(part: Part) -> tuple[int, Array, Array]:
        rows = part[1]
        if issparse(rows):
            return _sums_of_sparse(part[1], design.scale)
        total, square = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            for _, Z in design.chunks(rows):
                total += np.ones(len(Z)) @ Z
                square += np.einsum("ij,ij->j", Z, Z)
        return len(rows), total, square

    n, total, square = map_reduce(blocks, sums, lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]))
    return n, total / n, square / n


def _sums_of_sparse(rows: Any, scale: Array | None) -> tuple[int, Array, Array]:
    values = rows if scale is None else rows.multiply(scale).tocsr()
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.asarray(values.multiply(values).sum(axis=0), dtype=np.float64).ravel()
        return rows.shape[0], np.asarray(values.sum(axis=0), dtype=np.float64).ravel(), squares


def _reach(blocks: Blocks, design: LogisticDesign, names: tuple[str, ...] | None) -> Array:
    """(d,) largest deviation from the centre; raises for a value that is not finite."""

    def largest(part: Part) -> Array:
        first, rows, *_ = part
        found = np.zeros(rows.shape[1])
        if issparse(rows):
            return _reach_of_sparse(rows, design.scale, first, names)
        with np.errstate(over="ignore", invalid="ignore"):
            for here, Z in design.chunks(rows):
                np.maximum(found, np.abs(Z).max(axis=0), out=found)
                if not np.isfinite(found).all():
                    _refuse(rows[here], first + here.start, names)
        return found

    return map_reduce(blocks, largest, np.maximum)


def _reach_of_sparse(rows: Any, scale: Array | None, first: int, names: tuple[str, ...] | None) -> Array:
    values = np.abs(rows.data) if scale is None else np.abs(rows.data * scale[rows.indices])
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        i = int(np.searchsorted(rows.indptr, wrong[0], side="right")) - 1
        _refuse(rows[i : i + 1], first + i, names)
    found = np.zeros(rows.shape[1])
    np.maximum.at(found, rows.indices, values)
    return found


def _refuse(rows: Any, first: int, names: tuple[str, ...] | None) -> None:
    values = rows.toarray() if hasattr(rows, "toarray") else rows
    bad = np.argwhere(~np.isfinite(values))
    if not len(bad):
        raise DataError(
            "the values of a column lie farther apart than floating point numbers reach: rescale the columns"
        )
    i, j = map(int, bad[0])
    where = f"column {j}" if names is None else f"column {names[j]!r}"
    what = "missing (NaN)" if np.isnan(values[i, j]) else "infinite (inf)"
    raise DataError(
        f"row {first + i}, {where} is {what}: Logistic needs finite numbers; leave such rows out, or fill them by "
        "assay.FillMissing"
    )


def _power_of_two_scale(reach: Array, extreme: NDArray[np.bool_], penalised: bool) -> Array | None:
    """Powers of two that bring extreme columns to about 1; with a penalty, small ones need not grow."""
    powers = np.where(extreme & (reach > 0.0), -np.frexp(reach)[1], 0)
    if penalised:
        powers = np.minimum(powers, 0)
    return np.ldexp(1.0, np.clip(powers, -1000, 1000)) if powers.any() else None


def row_weights(
    given: ArrayLike | None, class_weight: Any, codes: Indices, classes: NDArray[Any]
) -> tuple[Array | None, float]:
    """Weights of rows divided by a power of two near their mean, and that power; None and 1 where all weigh 1.

    Args:
        given: (n,) weights of the rows, or None.
        class_weight: None, "balanced" or weights by class.
        codes: (n,) classes of the rows, counted from 0.
        classes: (g,) their names.
    """
    if given is None and class_weight is None:
        return None, 1.0
    w = np.ones(len(codes)) if given is None else checked_weights(given, len(codes))
    w = w * _class_factors(class_weight, _sizes(codes, w, len(classes)), classes)[codes]
    sizes = _sizes(codes, w, len(classes))
    if not (sizes > 0.0).all():
        empty = classes.tolist()[int(np.argmin(sizes > 0.0))]
        raise DataError(f"all rows of class {empty!r} have weight zero, so nothing tells it apart: leave them out")
    unit = float(np.ldexp(1.0, int(np.frexp(w.mean())[1])))
    return w / unit, unit


def _sizes(codes: Indices, w: Array, g: int) -> Array:
    return np.asarray(np.bincount(codes, w, g), dtype=np.float64)


def _class_factors(class_weight: Any, sizes: Array, classes: NDArray[Any]) -> Array:
    if class_weight is None:
        return np.ones(len(sizes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(sizes.sum() / (len(sizes) * np.where(sizes > 0.0, sizes, np.inf)))
    if not isinstance(class_weight, dict):
        raise ParameterError(
            f"class_weight is None, 'balanced' or a dictionary of weights by class; got {class_weight!r}"
        )
    factors = np.array([float(class_weight.get(c, 1.0)) for c in classes.tolist()])
    if not (np.isfinite(factors) & (factors >= 0.0)).all():
        raise ParameterError(f"weights of classes are finite and not negative; got {class_weight!r}")
    return factors

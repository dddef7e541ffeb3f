"""Rows with gaps, completed by what a normal law expects of them.

With deviations e from the mean, covariance S, precision P = S^-1, m the missing and o the observed columns of a row:

    expected   e_m = -P_mm^-1 P_mo e_o = S_mo S_oo^-1 e_o
    left over  C = P_mm^-1 = S_mm - S_mo S_oo^-1 S_om
    density    log |S_oo| = log |S| + log |P_mm|

The smaller of the two blocks is factored, once for each pattern of gaps; rare patterns go through LAPACK in batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotri

from assay.arrays import Array, Indices, Mask
from assay.linalg.dense.factor import cholesky

# Numbers that one batch may gather: 8 MB, about what a cache holds.
_BATCH = 1 << 20
# A pattern of so many rows is worth products of its own.
_OFTEN = 8


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """Which values are missing together.

    Attributes:
        masks: (p, d) the distinct patterns, True where missing, by ascending number of gaps.
        counts: (p,) rows of each.
        order: (n,) row numbers, sorted by pattern.
    """

    masks: Mask
    counts: Indices
    order: Indices

    def groups(self) -> Iterator[tuple[Mask, Indices]]:
        """Each pattern with the numbers of its rows, ascending."""
        ends = np.cumsum(self.counts)
        return ((mask, self.order[end - n : end]) for mask, n, end in zip(self.masks, self.counts, ends, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A normal law about zero, ready for conditioning.

    Attributes:
        covariance: (d, d), positive definite.
        precision: (d, d), its inverse.
        log_determinant: of the covariance.
    """

    covariance: Array
    precision: Array
    log_determinant: float

    @classmethod
    def of(cls, covariance: Array) -> Law:
        """Factor a covariance; SingularError if it is not positive definite."""
        L = cholesky(covariance)
        inverse, _ = dpotri(L, lower=1)
        precision = np.tril(inverse) + np.tril(inverse, -1).T
        return cls(covariance, precision, 2.0 * float(np.log(np.diag(L)).sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Completed:
    """Rows with their gaps filled, and what filling leaves open.

    Attributes:
        deviations: (n, d) with the expected values in the gaps.
        left_over: (d, d) sum over the rows of the covariance of the missing given the observed.
        log_determinant: sum over the rows of log |S_oo|.
    """

    deviations: Array
    left_over: Array
    log_determinant: float


def pattern_keys(missing: Mask) -> NDArray[Any]:
    """(n,) one value for each row that is equal for equal patterns, and can be sorted.

    >>> keys = pattern_keys(np.array([[True, False], [False, False], [True, False]]))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    packed = np.packbits(missing, axis=1)
    words = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    # up to 64 columns one machine word, which sorts quickly; beyond that bytes
    return words.view(np.uint64 if words.shape[1] == 8 else f"V{words.shape[1]}").ravel()


def patterns_of(missing: Mask) -> Patterns:
    """Group rows by what they miss.

    Args:
        missing: (n, d) True where a value is missing.

    >>> patterns_of(np.array([[True, False], [False, False], [True, False]])).counts
    array([1, 2])
    """
    _, first, group, counts = np.unique(
        pattern_keys(missing), return_index=True, return_inverse=True, return_counts=True
    )
    masks = missing[first]
    by_gaps = np.argsort(masks.sum(axis=1), kind="stable")
    place = np.empty_like(by_gaps)
    place[by_gaps] = np.arange(len(by_gaps))
    return Patterns(masks[by_gaps], counts[by_gaps], np.argsort(place[group], kind="stable"))


def completed(deviations: Array, patterns: Patterns, law: Law) -> Completed:
    """Fill the gaps of rows with their conditional expectation.

    Args:
        deviations: (n, d) from the mean, zero where missing.
        patterns: of the same rows.
        law: the normal law of the deviations.

    >>> law = Law.of(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> done = completed(np.array([[2.0, 0.0]]), patterns_of(np.array([[False, True]])), law)
    >>> done.deviations, done.left_over.round(12)
    (array([[2., 1.]]), array([[0.  , 0.  ],
           [0.  , 0.75]]))
    """
    d = deviations.shape[1]
    filled = deviations.copy()
    left_over, log_determinant = np.zeros((d, d)), 0.0
    for batch in _batches(patterns):
        if batch.gaps == 0:
            log_determinant += len(batch.rows) * law.log_determinant
        elif batch.gaps == d:
            left_over += len(batch.rows) * law.covariance
        else:
            fill = _by_missing if batch.gaps <= d - batch.gaps else _by_observed
            log_determinant += fill(filled, left_over, batch, law)
    return Completed(filled, (left_over + left_over.T) / 2.0, log_determinant)


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Patterns with equally many gaps: masks (g, d), counts (g,), rows (r,) and the pattern of each in the batch."""

    masks: Mask
    counts: Indices
    rows: Indices
    of_row: Indices

    @property
    def gaps(self) -> int:
        return int(self.masks[0].sum())

    def columns(self, mask: Mask) -> Indices:
        """(g, k) the columns at which a mask with k True in each row is True."""
        return np.nonzero(mask)[1].reshape(len(mask), -1)

    def apply(self, values: Array, matrices: NDArray[Any]) -> Array:
        """(r, k) each row of values (r, j) times the matrix (g, j, k) of its pattern."""
        if len(matrices) == 1:
            return np.asarray(values @ matrices[0])
        return np.asarray(np.matmul(values[:, None, :], matrices[self.of_row])[:, 0])


def _batches(patterns: Patterns) -> Iterator[_Batch]:
    """Cut the patterns into batches; a frequent one is a batch of its own."""
    gaps, counts = patterns.masks.sum(axis=1), patterns.counts
    d = patterns.masks.shape[1]
    numbers = np.where(gaps <= d - gaps, gaps**2, (d - gaps) * d)  # gathered for each row
    ends = np.cumsum(counts)
    i = 0
    while i < len(gaps):
        first, j = ends[i] - counts[i], i + 1
        if counts[i] < _OFTEN:
            limit = first + _BATCH // max(int(numbers[i]), 1)
            while j < len(gaps) and gaps[j] == gaps[i] and counts[j] < _OFTEN and ends[j] <= limit:
                j += 1
        of_row = np.repeat(np.arange(j - i), counts[i:j])
        yield _Batch(patterns.masks[i:j], counts[i:j], patterns.order[first : ends[j - 1]], of_row)
        i = j


def _by_missing(filled: Array, left_over: Array, batch: _Batch, law: Law) -> float:
    """Through P_mm, for patterns with few gaps. Adds to left_over, returns the sum of log |S_oo|."""
    d = filled.shape[1]
    m = batch.columns(batch.masks)
    block = law.precision[m[:, :, None], m[:, None, :]]
    C = np.linalg.inv(block)
    logs = law.log_determinant + 2.0 * np.log(np.diagonal(np.linalg.cholesky(block), axis1=1, axis2=2)).sum(axis=1)
    values = filled[batch.rows]
    if len(m) == 1:
        pulled = values @ law.precision[:, m[0]]
    else:
        pulled = np.take_along_axis(values @ law.precision, m[batch.of_row], axis=1)
    filled[batch.rows[:, None], m[batch.of_row]] = -batch.apply(pulled, C)
    weights = batch.counts[:, None, None] * C
    cells = (m[:, :, None] * d + m[:, None, :]).ravel()
    left_over += np.bincount(cells, weights.ravel(), minlength=d * d).reshape(d, d)
    return float(batch.counts @ logs)


def _by_observed(filled: Array, left_over: Array, batch: _Batch, law: Law) -> float:
    """Through the Cholesky factor of S_oo, for patterns with few values. Adds to left_over as above."""
    d = filled.shape[1]
    o = batch.columns(~batch.masks)
    L = np.linalg.cholesky(law.covariance[o[:, :, None], o[:, None, :]])
    # X = L^-1 S_o: then S_mo S_oo^-1 e_o = X^T L^-1 e_o and C = S - X^T X without forming an inverse
    X = np.linalg.solve(L, law.covariance[o])
    whitener = np.linalg.solve(L, np.broadcast_to(np.eye(o.shape[1]), L.shape)).transpose(0, 2, 1)
    values = np.take_along_axis(filled[batch.rows], o[batch.of_row], axis=1)
    expected = batch.apply(batch.apply(values, whitener), X)
    filled[batch.rows] = np.where(batch.masks[batch.of_row], expected, filled[batch.rows])
    told = (np.sqrt(batch.counts)[:, None, None] * X).reshape(-1, d)
    left_over += len(batch.rows) * law.covariance - told.T @ told
    return float(batch.counts @ (2.0 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)))

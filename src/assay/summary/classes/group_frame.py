"""Groups of rows in one frame: units of the spread within groups and, where columns outnumber rows, axes of the rows.

    unit   s_j = standard deviation of column j about the group means        z = (x - m) / s, (d,)
    axes   z = t Q^T for every row fitted, Q (d, r) orthonormal, r < n       t = z Q, (r,)

Outside Q no row fitted differs from the mean, so a covariance there is what shrinkage adds and nothing else: (r, r)
matrices carry the whole problem, and none of size (d, d) is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.data.blocks import block_slices, float_blocks
from assay.data.codes import short
from assay.data.partitions import beside
from assay.engine.current import map_reduce
from assay.linalg.eigen.principal import axes_of_rows, dense
from assay.summary.classes.class_counts import ClassCounts
from assay.summary.moments.accumulate import refuse_unusable_rows
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments

_FLAT = 1e-12  # a variance at most this share of the largest is zero but for rounding
_HELD = 4.0 * np.finfo(float).eps  # relative spread that rounding may leave in a constant
_FAR = 1e100  # in units; squares of what lies beyond may leave the range of numbers


@dataclass(frozen=True, slots=True, eq=False)
class GroupFrame:
    """The moments of g groups, and how their columns are looked at.

    Attributes:
        centre: (d,) mean of all rows.
        scale: (d,) unit of each column; zero for a column that is constant in all rows, which is left out.
        axes: (d, r) orthonormal, the directions in which rows differ; None where the columns themselves serve.
        means: (g, d) of the groups, in the user's columns.
        centres: (g, r) of the groups, in the frame.
        parts: moments of each group: of the columns, or of coordinates along the axes.
    """

    centre: Array
    scale: Array
    axes: Array | None
    means: Array
    centres: Array
    parts: tuple[Moments, ...]

    @classmethod
    def of_moments(cls, grouped: GroupedMoments) -> GroupFrame:
        """The frame of a summary."""
        total = grouped.total
        within = np.sum([np.diag(part.scatter) for part in grouped.parts], axis=0)
        means = np.stack([part.mean for part in grouped.parts])
        scale = units_of(within, np.diag(total.scatter), total.weight, len(grouped), means)
        # what rounding of the means would cost far from zero is in the second halves of the pairs
        gaps = (means - total.mean) + (np.stack([part.mean_pair[1] for part in grouped.parts]) - total.mean_pair[1])
        varying = scale > 0.0
        centres = np.ascontiguousarray(gaps[:, varying] / scale[varying])
        return cls(total.mean, scale, None, means, centres, grouped.parts)

    @classmethod
    def of_rows(cls, X: Any, codes: Indices, names: tuple[str, ...] | None, weights: Array | None = None) -> GroupFrame:
        """The frame of (n, d) rows with more columns than rows.

        Args:
            X: dense or CSR.
            codes: (n,) group of each row, counted from 0.
            names: of the columns, for messages.
            weights: (n,) of the rows; None for 1. Those of weight zero are left out.
        """
        if weights is not None:
            kept = np.flatnonzero(weights)
            X, codes, weights = X[kept], codes[kept], weights[kept]
        counts = column_counts(X, codes, weights, names)
        weight, means, within = counts.weight, counts.mean, counts.squares.sum(axis=0)
        centre = weight @ means / weight.sum()
        total = within + weight @ (means - centre) ** 2
        scale = units_of(within, total, float(weight.sum()), len(means), means)
        varying = scale > 0.0
        picked = X if varying.all() else X[:, varying]
        spectrum = axes_of_rows(picked, centre[varying], scale[varying], None, "gram", 0)
        kept = spectrum.values > max(float(spectrum.values[0]), 0.0) * max(_FLAT, _HELD * X.shape[0])
        axes = np.zeros((len(scale), int(kept.sum())))
        axes[varying] = spectrum.vectors[:, kept]
        frame = cls(centre, scale, axes, means, np.empty((len(means), 0)), ())
        coordinates = np.concatenate([frame.along(frame.units(rows)) for rows in _row_blocks(X)])
        parts = GroupedMoments.of(coordinates, codes, weights=weights).parts
        return cls(centre, scale, axes, means, np.stack([part.mean for part in parts]), parts)

    @property
    def d(self) -> int:
        """Columns that vary."""
        return int(np.count_nonzero(self.scale))

    @property
    def r(self) -> int:
        """Coordinates of the frame."""
        return self.d if self.axes is None else self.axes.shape[1]

    @property
    def weights(self) -> Array:
        """(g,) weight of each group."""
        return np.array([part.weight for part in self.parts])

    def scatter(self, group: int) -> Array:
        """(r, r) scatter of one group about its mean, in the frame."""
        return self._in_frame(self.parts[group].scatter)

    def within(self) -> Array:
        """(r, r) scatter about the group means, summed over groups, in the frame."""
        total = np.zeros_like(self.parts[0].scatter)
        for part in self.parts:
            total += part.scatter
        return self._in_frame(total)

    def along(self, z: Array) -> Array:
        """(b, r) coordinates of rows in units: along the axes, or of the columns that vary."""
        if self.axes is not None:
            return z @ self.axes
        return z if self.d == len(self.scale) else np.ascontiguousarray(z[:, self.scale > 0.0])

    def units(self, rows: NDArray[Any]) -> Array:
        """(b, d) rows about the centre, in units of the columns; zero in those left out.

        Where a row is out of all proportion its direction alone counts, so that squares stay finite.
        """
        with np.errstate(over="ignore"):
            z = (rows - self.centre) * self._inverse
        size = max(float(z.max(initial=0.0)), -float(z.min(initial=0.0)))
        if not size <= _FAR:
            far = np.abs(z).max(axis=1, initial=0.0) > _FAR
            # halved, so that differences of numbers near the largest stay finite
            gap = (rows[far] / 2.0 - self.centre / 2.0) * (self.scale > 0.0)
            direction = gap / np.abs(gap).max(axis=1, keepdims=True) * self._inverse
            z[far] = direction * (_FAR / np.abs(direction).max(axis=1, keepdims=True))
        return z

    def columns(self, directions: Array) -> Array:
        """(k, d) linear functions of raw columns from (k, r) functions of coordinates."""
        if self.axes is not None:
            return np.asarray(directions @ self.axes.T * self._inverse)
        found = np.zeros((len(directions), len(self.scale)))
        found[:, self.scale > 0.0] = directions
        return found * self._inverse

    def fourth_powers(self, data: Any, codes: Indices, weights: Array | None = None) -> Array:
        """(g,) sums over the rows of each group of the fourth power of their distance from its mean, in the frame.

        Args:
            data: the rows.
            codes: (n,) group of each row, counted from 0.
            weights: (n,) of the rows; None for 1.
        """
        g, centre, inverse = len(self.means), self.centre, self._inverse
        centres = (self.means - centre) * inverse

        def work(part: tuple[int, NDArray[Any], NDArray[Any], Array | None]) -> Array:
            _, rows, code, weight = part
            z = (rows - centre) * inverse - centres[code]
            powers = np.einsum("ij,ij->i", z, z) ** 2
            powers = powers if weight is None else powers * weight
            return np.bincount(code, powers, g).astype(np.float64, copy=False)

        return map_reduce(beside(float_blocks(data), short(codes, g), weights), work, np.add)

    @property
    def _inverse(self) -> Array:
        return np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0.0)

    def _in_frame(self, scatter: Array) -> Array:
        if self.axes is not None:
            return scatter
        varying = self.scale > 0.0
        inner = scatter if varying.all() else scatter[np.ix_(varying, varying)]
        return np.asarray(inner / self.scale[varying] / self.scale[varying][:, None])


def column_counts(data: Any, codes: Indices, weights: Array | None, names: tuple[str, ...] | None) -> ClassCounts:
    """Weight, means and squares of the columns in each group, without gaps; no (d, d) product is made.

    Args:
        data: (n, d) array, sparse matrix or `Source`.
        codes: (n,) group of each row, counted from 0; each group has rows.
        weights: (n,) of the rows, or None.
        names: of the columns, for messages.
    """
    counts = ClassCounts.of(data, codes, labels=range(int(codes.max()) + 1), weights=weights, columns=names)
    if (counts.observed < counts.weight[:, None]).any():
        refuse_unusable_rows(float_blocks(data), names)
    return counts


def units_of(within: Array, total: Array, weight: float, groups: int, means: Array) -> Array:
    """Standard deviation within groups; about the total mean where there is none within, and zero where none at all.

    >>> units_of(np.array([4.0, 0.0]), np.array([9.0, 0.0]), 6.0, 2, np.ones((2, 2)))
    array([1., 0.])
    """
    least = (_HELD * np.abs(means).max(axis=0)) ** 2
    inside = within / max(weight - groups, 1.0)
    spread = np.where(inside > least, inside, total / max(weight - 1.0, 1.0))
    return np.where(spread > least, np.sqrt(spread), 0.0)


def _row_blocks(X: Any) -> Iterator[NDArray[Any]]:
    return (dense(X[part]) for part in block_slices(*X.shape))

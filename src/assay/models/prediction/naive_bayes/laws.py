"""The law of each column in each class, and the log-likelihood of rows under them.

gaussian     log p(x | c) = -log(2 pi v) / 2 - (x - m)^2 / (2 v),   v = max(squares / observed, floor V)
             or W / (observed + 1) for floor V; V variance of the column in all rows, W within classes
multinomial  log p(x | c) = x log q,   q_j = (t_j + s) / (sum of t over its group + s columns in the group)
bernoulli    log p(x | c) = log q or log(1 - q),   q = (t + s) / (observed + 2 s),   s the smoothing
categorical  log p(x | c) = log q_x,   q_l = (tally_l + s) / (observed + s levels)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.linalg.eigen.principal import dense
from assay.summary.classes.class_cells import ClassPlace, answered, counted, refuse_infinite
from assay.summary.classes.class_counts import ClassCounts

_LOG_2PI = float(np.log(2.0 * np.pi))
_LEAST = 1e-9  # of the variance of a column that is constant in every class


@dataclass(frozen=True, slots=True, eq=False)
class ClassLaws:
    """What k classes say of the cells of a row, column by column.

    Attributes:
        gaussian: numbers of the g gaussian columns.
        mean, variance: (k, g); a variance of 0 is that of a constant column, which says nothing.
        multinomial: numbers of the m multinomial columns.
        log_share: (k, m).
        bernoulli: numbers of the b bernoulli columns.
        log_yes, log_no: (k, b).
        categorical: numbers of the categorical columns.
        levels: for each of those, its levels in ascending order.
        log_level: for each of those, (k, levels).
    """

    gaussian: Indices
    mean: Array
    variance: Array
    multinomial: Indices
    log_share: Array
    bernoulli: Indices
    log_yes: Array
    log_no: Array
    categorical: Indices
    levels: tuple[Array, ...]
    log_level: tuple[Array, ...]

    @classmethod
    def of(cls, counts: ClassCounts, smoothing: float, floor: float | None) -> ClassLaws:
        """The laws of counted rows.

        Args:
            counts: the summary.
            smoothing: added to every count.
            floor: least variance, as a share of the variance of the whole column; None: what one more row would give
                that is off by the standard deviation within classes.
        """
        gaussian, multinomial = counts.of_kind("gaussian"), counts.of_kind("multinomial")
        bernoulli, categorical = counts.of_kind("bernoulli"), counts.of_kind("categorical")
        yes, seen = counts.totals[:, bernoulli] + smoothing, counts.observed[:, bernoulli] + 2.0 * smoothing
        # a level that only rows of weight 0 have was not met
        met = [counts.tallies[j].any(axis=0) for j in categorical.tolist()]
        tallies = [counts.tallies[j][:, own] + smoothing for j, own in zip(categorical.tolist(), met, strict=True)]
        return cls(
            gaussian,
            *_normal(counts, gaussian, floor),
            multinomial,
            _log_shares(counts.totals[:, multinomial] + smoothing, counts.groups[multinomial]),
            bernoulli,
            np.log(yes / seen),
            np.log((seen - yes) / seen),
            categorical,
            tuple(counts.levels[j][own] for j, own in zip(categorical.tolist(), met, strict=True)),
            tuple(np.log(own / own.sum(axis=1, keepdims=True)) for own in tallies),
        )

    def add_log_likelihood(self, rows: Any, out: Array, first_row: int, names: tuple[str, ...] | None) -> None:
        """Add log p(x | c) of (b, d) rows, dense or CSR, to (b, k) numbers; missing cells are left out."""

        def cells(columns: Indices) -> tuple[Any, ClassPlace]:
            whole = len(columns) == rows.shape[1]
            return rows if whole else rows[:, columns], ClassPlace(first_row, columns, names)

        if len(self.gaussian):
            self._add_normal(dense(cells(self.gaussian)[0]), out)
        if len(self.multinomial):
            out += counted(*cells(self.multinomial)) @ self.log_share.T
        if len(self.bernoulli):
            yes, no = answered(*cells(self.bernoulli))
            if no is None:
                out += yes @ (self.log_yes - self.log_no).T + self.log_no.sum(axis=1)
            else:
                out += yes @ self.log_yes.T + no @ self.log_no.T
        if len(self.categorical):
            some, place = cells(self.categorical)
            values = dense(some)
            refuse_infinite(values, place)
            for column, levels, log_level in zip(values.T, self.levels, self.log_level, strict=True):
                at = np.minimum(np.searchsorted(levels, column), max(len(levels) - 1, 0))
                known = levels[at] == column if len(levels) else np.zeros(len(column), bool)
                out[known] += log_level.T[at[known]]

    def _add_normal(self, cells: NDArray[Any], out: Array) -> None:
        from assay.summary.classes._class_kernels import log_densities

        says = self.variance > 0.0
        variance = np.where(says, self.variance, 1.0)
        scale = np.where(says, 1.0 / np.sqrt(variance), 0.0)
        size = np.where(says, -0.5 * (_LOG_2PI + np.log(variance)), 0.0)
        cells = np.ascontiguousarray(cells, dtype=np.float64)
        log_densities(cells, self.mean, scale, size, size.sum(axis=1), out)


def _normal(counts: ClassCounts, columns: Indices, floor: float | None) -> tuple[Array, Array]:
    """Mean and variance, (k, g) each; a class without a value in a column takes the law of all rows there."""
    observed, mean, squares = (part[:, columns] for part in (counts.observed, counts.mean, counts.squares))
    there = observed > 0.0
    total = np.maximum(observed.sum(axis=0), np.finfo(float).tiny)
    middle = (observed * mean).sum(axis=0) / total
    whole = (squares.sum(axis=0) + (observed * (mean - middle) ** 2).sum(axis=0)) / total
    # the mean of equal numbers may be off by a rounding error; what is left of their variance is none
    whole[whole <= (4.0 * np.finfo(float).eps * middle) ** 2] = 0.0
    own = np.divide(squares, observed, out=np.broadcast_to(whole, mean.shape).copy(), where=there)
    least = (_LEAST if floor is None else floor) * whole
    if floor is None:
        least = np.maximum(squares.sum(axis=0) / total / (observed + 1.0), least)
    return np.where(there, mean, middle), np.where(whole > 0.0, np.maximum(own, least), 0.0)


def _log_shares(counts: Array, groups: Indices) -> Array:
    """Logarithms of counts as shares of the sum over their group of columns."""
    total = np.zeros_like(counts)
    for group in np.unique(groups):
        own = groups == group
        total[:, own] = counts[:, own].sum(axis=1, keepdims=True)
    return np.log(counts / total)

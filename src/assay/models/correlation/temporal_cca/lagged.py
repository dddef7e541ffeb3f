"""Moments of a table beside itself some rows later, in one pass: what a time series says about its own future.

    P_j = sum_t (z_t - c)(z_(t+j) - c)^T,  j = 0 ... span        and the first and last `span` rows

Two stretches of one series, one after the other, merge: to P_j come the products across the seam, between the last j
rows of one and the first j of the other. The covariance of rows stacked with lags, [x_t, y_(t+l1), y_(t+l2), ...], is
block-Toeplitz, its block for the lags a and b being P_(b-a), but for the few rows at the ends that do not have all
lags; these are kept, and taken off exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.engine.current import map_reduce
from assay.engine.engine import Parted
from assay.errors import DataError, ParameterError
from assay.linalg import double_double as dd
from assay.summary.moments.accumulate import TINY, chunk_rows, refuse_unusable
from assay.summary.moments.moments import Moments


@dataclass(frozen=True, slots=True, eq=False)
class LaggedMoments:
    """Lagged products of a series; `a + b` is the summary of b's rows following a's.

    It holds its first and last rows as they are, so it is not a summary to share where rows must not be.

    Attributes:
        count: rows.
        first: (min(span, count), d) first rows.
        last: (min(span, count), d) last rows.
        centre: (d,) c, near the data.
        total: (d,) sum of z - c.
        products: (span + 1, d, d) P.

    >>> series = np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 2.0], [8.0, 4.0]])
    >>> whole = LaggedMoments.of([series[:2]], 1) + LaggedMoments.of([series[2:]], 1)
    >>> whole.stacked([1], 1).scatter.round(4)
    array([[4.6667, 4.6667],
           [4.6667, 4.6667]])
    """

    count: int
    first: Array
    last: Array
    centre: Array
    total: Array
    products: Array

    @classmethod
    def of(cls, blocks: Iterable[Any], span: int, names: tuple[str, ...] | None = None) -> LaggedMoments:
        """Summarise one series in one pass.

        Args:
            blocks: (b, d) stretches of rows, in order; or numbered blocks of a source, which workers may read.
            span: the largest distance between two rows whose product is wanted.
            names: of the columns, for messages.
        """
        if span < 0:
            raise ParameterError(f"span is a number of rows, not negative; got {span}")
        work: Iterable[Any] = blocks if isinstance(blocks, Parted) else _numbered(blocks)
        return map_reduce(work, lambda part: cls._of_block(part[0], part[1], span, names), cls.__add__)

    @classmethod
    def _of_block(cls, row: int, rows: NDArray[Any], span: int, names: tuple[str, ...] | None) -> LaggedMoments:
        b, d = rows.shape
        step, products = chunk_rows(d), np.zeros((span + 1, d, d))
        with np.errstate(all="ignore"):  # what overflows or is not finite is found and named below
            # clipped into the range, so that a constant column is centred to exact zeros
            mean = rows.mean(axis=0, dtype=np.float64)
            centre = np.clip(mean, rows.min(axis=0), rows.max(axis=0)).astype(np.float64)
            z = rows - centre
            for start in range(0, b, step):
                for j in range(min(span, b - 1 - start) + 1):
                    later = z[start + j : start + j + step]
                    products[j] += z[start : start + len(later)].T @ later
            total = z.sum(axis=0)
        squares = np.diag(products[0])
        if not (np.isfinite(total) & (squares > TINY**2) & (squares < np.inf)).all():
            refuse_unusable(rows, row, names)
        ends = np.asarray(rows, dtype=np.float64)
        return cls(b, ends[:span].copy(), ends[max(b - span, 0) :].copy(), centre, total, products)

    @property
    def span(self) -> int:
        """The largest lag."""
        return len(self.products) - 1

    def __add__(self, other: LaggedMoments) -> LaggedMoments:
        """The summary of other's rows coming right after these."""
        if not isinstance(other, LaggedMoments):
            return NotImplemented
        if self.products.shape != other.products.shape:
            raise DataError(
                f"summaries of {self.products.shape[1]} columns and span {self.span}, and of {other.products.shape[1]} "
                f"columns and span {other.span}, cannot be joined"
            )
        after = other._about(self.centre)
        products = self.products + after.products
        before, behind = self.last - self.centre, other.first - self.centre
        m = len(before)
        for j in range(1, self.span + 1):
            # row j before the seam meets the row j later; short stretches have not all of them
            low, high = max(0, j - m), min(j, len(behind))
            if high > low:
                products[j] += before[m - j + low : m - j + high].T @ behind[low:high]
        first = np.concatenate([self.first, other.first])[: self.span]
        last = np.concatenate([self.last, other.last])
        return LaggedMoments(
            self.count + other.count,
            first,
            last[max(len(last) - self.span, 0) :],
            self.centre,
            self.total + after.total,
            products,
        )

    def stacked(self, lags: Sequence[int], split: int) -> Moments:
        """Moments of [x_t, y_(t+l) for each lag l] over all t that have every lag.

        Args:
            lags: ascending; the span must cover their distances from each other and from 0.
            split: how many of the columns are x's, which come first.
        """
        low, high = min(0, *lags), max(0, *lags)
        m = self.count - (high - low)
        if high - low > self.span:
            raise ParameterError(f"lags from {low} to {high} need a span of {high - low}; this one is {self.span}")
        if m < 2:
            raise DataError(
                f"lags from {low} to {high} leave {max(m, 0)} of {self.count} rows with all of them; at least 2 are "
                "needed: take fewer lags, or longer series"
            )
        left, right = slice(None, split), slice(split, None)
        shifts = [(0, left)] + [(lag, right) for lag in lags]
        sums = np.concatenate([self._sum(shift, low, high)[side] for shift, side in shifts])
        rows = []
        for a, side_a in shifts:
            blocks = []
            for b, side_b in shifts:
                early, late = min(a, b), max(a, b)
                full = self._product(early, late, low, high)
                blocks.append((full if a <= b else full.T)[side_a, side_b])
            rows.append(np.hstack(blocks))
        scatter = np.vstack(rows) - np.multiply.outer(sums, sums / m)
        scatter = (scatter + scatter.T) / 2.0
        np.fill_diagonal(scatter, np.maximum(np.diag(scatter), 0.0))
        centre = np.concatenate([self.centre[side] for _, side in shifts])
        return Moments(m, dd.pair(float(m)), dd.two_sum(centre, sums / m), dd.pair(scatter))

    def _ends(self) -> tuple[Array, Array]:
        return self.first - self.centre, self.last - self.centre

    def _sum(self, shift: int, low: int, high: int) -> Array:
        """Sum of z_(t+shift) - c over the t that have every lag."""
        first, last = self._ends()
        # rows 0 ... shift - low - 1 and from n - high + shift on belong to no such t
        return np.asarray(
            self.total - first[: shift - low].sum(axis=0) - last[len(last) - (high - shift) :].sum(axis=0)
        )

    def _product(self, early: int, late: int, low: int, high: int) -> Array:
        """Sum of products of z_(t+early) with z_(t+late) over the t that have every lag."""
        first, last = self._ends()
        j, before, m = late - early, early - low, len(last)
        begin = first[:before].T @ first[j : j + before]
        after = high - late
        end = last[m - after - j : m - j].T @ last[m - after :]
        return np.asarray(self.products[j] - begin - end)

    def _about(self, centre: Array) -> LaggedMoments:
        """The same sums about another centre."""
        h = self.centre - centre
        first, last = self._ends()
        products = self.products.copy()
        for j in range(min(self.span, self.count - 1) + 1):
            early = self.total - last[len(last) - j :].sum(axis=0)
            late = self.total - first[:j].sum(axis=0)
            products[j] += np.multiply.outer(early, h) + np.multiply.outer(h, late)
            products[j] += (self.count - j) * np.multiply.outer(h, h)
        return LaggedMoments(self.count, self.first, self.last, centre, self.total + self.count * h, products)


def _numbered(blocks: Iterable[NDArray[Any]]) -> Iterable[tuple[int, NDArray[Any]]]:
    row = 0
    for block in blocks:
        if len(block):
            yield row, block
            row += len(block)

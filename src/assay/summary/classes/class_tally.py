"""Counts and moments by class of one block of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.arrays import Array
from assay.linalg.eigen.principal import dense
from assay.linalg.sparse.centred import as_entries, sparse_moments
from assay.summary.classes.class_cells import ClassPlace, answered, counted, refuse_infinite
from assay.summary.moments.accumulate import TINY, chunk_rows, refuse_unusable


class Tallied(NamedTuple):
    """The arrays of `ClassCounts`, of one block."""

    rows: NDArray[np.int64]
    weight: Array
    observed: Array
    mean: Array
    squares: Array
    totals: Array
    levels: tuple[Array, ...]
    tallies: tuple[Array, ...]


class Members(NamedTuple):
    """Which class each of b rows belongs to, and how much it counts.

    Attributes:
        codes: (b,) number of the class.
        weights: (b,).
        k: how many classes.
    """

    codes: NDArray[np.intp]
    weights: Array
    k: int

    def total(self, cells: Any) -> Array:
        """(k, q) sums over the rows of each class of (b, q) cells, dense or sparse."""
        b = len(self.codes)
        rows = csr_array((self.weights, (self.codes, np.arange(b))), shape=(self.k, b))
        return dense(rows @ cells)


def tally(rows: Any, members: Members, kinds: Sequence[str], first_row: int, names: tuple[str, ...] | None) -> Tallied:
    """Count the rows of a block.

    Args:
        rows: (b, d), dense or CSR.
        members: their classes.
        kinds: (d,) kinds of the columns.
        first_row: number of the first row.
        names: of the columns, or None.
    """
    k, d = members.k, len(kinds)
    weight = np.bincount(members.codes, members.weights, k).astype(np.float64)
    observed = np.repeat(weight[:, None], d, axis=1)
    mean, squares, totals = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    levels, tallies = [np.empty(0)] * d, [np.empty((k, 0))] * d
    for kind in dict.fromkeys(kinds):
        own = np.flatnonzero([known == kind for known in kinds])
        place = ClassPlace(first_row, own, names)
        cells = rows if len(own) == d else rows[:, own]
        if kind == "gaussian":
            observed[:, own], mean[:, own], squares[:, own] = _moments(cells, members, place)
        elif kind == "multinomial":
            totals[:, own] = members.total(counted(cells, place))
        elif kind == "bernoulli":
            yes, no = answered(cells, place)
            totals[:, own] = members.total(yes)
            if no is not None:
                observed[:, own] = totals[:, own] + members.total(no)
        else:
            for j, (met, tallied) in zip(own.tolist(), _levels(dense(cells), members, place), strict=True):
                levels[j], tallies[j], observed[:, j] = met, tallied, tallied.sum(axis=1)
    count = np.bincount(members.codes, minlength=k).astype(np.int64)
    return Tallied(count, weight, observed, mean, squares, totals, tuple(levels), tuple(tallies))


def _moments(cells: Any, members: Members, place: ClassPlace) -> tuple[Array, Array, Array]:
    """Weight observed, mean and squared deviations of (b, q) gaussian cells by class, (k, q) each."""
    if hasattr(cells, "toarray") and not np.isnan(cells.data).any():
        return _moments_of_sparse(as_entries(cells), members, place)
    from assay.summary.classes._class_kernels import chunk_moments

    b, q = cells.shape
    step = max(chunk_rows(q), 4 * members.k)  # so that merging costs little beside counting
    whole = np.zeros((3, members.k, q))
    with np.errstate(all="ignore"):  # what overflows or is not finite is found and named below
        for i in range(0, b, step):
            chunk = np.ascontiguousarray(dense(cells[i : i + step]), dtype=np.float64)
            part = np.zeros((3, members.k, q))
            chunk_moments(
                chunk,
                members.codes[i : i + step],
                members.weights[i : i + step],
                _near(chunk),
                part[0],
                part[1],
                part[2],
            )
            whole = part if i == 0 else np.stack(merged(*whole, *part))
        observed, mean, squares = whole
        spread = squares.sum(axis=0) + np.ptp(mean, axis=0) ** 2
        if not (np.isfinite(mean).all() and np.isfinite(squares).all() and (spread > TINY**2).all()):
            _refuse(dense(cells), place)
    return observed, mean, squares


def _moments_of_sparse(cells: csr_array, members: Members, place: ClassPlace) -> tuple[Array, Array, Array]:
    """The same from the entries of each class; a column without entries is zero in all rows, which is no fault."""
    q = int(cells.shape[1])
    observed, mean, squares = np.zeros((3, members.k, q))
    with np.errstate(all="ignore"):
        for c in np.unique(members.codes).tolist():
            own = np.flatnonzero(members.codes == c)
            if (weight := float(members.weights[own].sum())) > 0.0:
                observed[c] = weight
                mean[c], squares[c] = sparse_moments(cells[own], members.weights[own])
        spread = squares.sum(axis=0) + np.ptp(mean, axis=0) ** 2
        there = np.bincount(cells.indices[cells.data != 0.0], minlength=q) > 0
        fine = np.isfinite(mean).all(axis=0) & np.isfinite(squares).all(axis=0) & ((spread > TINY**2) | ~there)
    if not fine.all():
        wrong = np.flatnonzero(~fine)
        _refuse(cells[:, wrong].toarray(), place._replace(columns=place.columns[wrong]))
    return observed, mean, squares


def merged(
    observed: Array, mean: Array, squares: Array, more: Array, their_mean: Array, their_squares: Array
) -> tuple[Array, Array, Array]:
    """Moments of both of two sets of rows, cell by cell (Chan, Golub & LeVeque 1979)."""
    total = observed + more
    share = np.divide(more, total, out=np.zeros_like(total), where=total > 0.0)
    gap = their_mean - mean
    return total, mean + gap * share, squares + their_squares + gap**2 * (observed * share)


def _near(chunk: Array) -> Array:
    """(q,) a value of each column, so that sums of differences from it lose no digits; 0 where all are missing."""
    first: Array = chunk[0]
    return np.nan_to_num(np.fmin.reduce(chunk, axis=0)) if np.isnan(first).any() else first


def _refuse(cells: NDArray[Any], place: ClassPlace) -> None:
    """Raise for the first cell or column whose squares leave the range of numbers; gaps are no reason."""
    refuse_infinite(cells, place)
    for j, column in enumerate(place.columns.tolist()):
        values = cells[:, [j]]
        there = values[~np.isnan(values)]
        name = None if place.names is None else (place.names[column],)
        if len(there):
            filled = np.where(np.isnan(values), there[0], values)
            refuse_unusable(filled, place.first_row, name, first_column=column)


def _levels(cells: NDArray[Any], members: Members, place: ClassPlace) -> list[tuple[Array, Array]]:
    """For each of the (b, q) categorical columns: its levels, and (k, levels) weights of the rows at them."""
    refuse_infinite(cells, place)
    found = []
    for column in cells.T:
        there = ~np.isnan(column)
        levels, at = np.unique(column[there].astype(np.float64), return_inverse=True)
        cell = members.codes[there] * len(levels) + at
        tallied = np.bincount(cell, members.weights[there], members.k * len(levels)).astype(np.float64)
        found.append((levels, tallied.reshape(members.k, len(levels))))
    return found

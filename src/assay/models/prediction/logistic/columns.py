"""Columns of rows to be labelled: where they lie and how wide they are, in one pass; what cannot be used is named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from assay.arrays import Array
from assay.engine.current import is_elsewhere, map_reduce
from assay.errors import DataError
from assay.models.prediction.logistic.terms import Design

# number of the first row, rows, classes and weights of each block
Part: TypeAlias = tuple[int, Any, NDArray[Any], Array | None]
Blocks: TypeAlias = Iterable[Part]

_TINY = 1e-200  # mean squares below and above its inverse are not trusted


def measured(
    blocks: Blocks, intercept: bool, penalised: bool, names: tuple[str, ...] | None
) -> tuple[Design, Array, int]:
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
    design = Design(near, None, False)
    n, mean, square = _mean_square(blocks, design)
    extreme = ~((square > _TINY) & (square < 1.0 / _TINY))
    if extreme.any():
        scale = _power_of_two_scale(_reach(blocks, design, names), extreme, penalised)
        design = Design(near, scale, False)
        _, mean, square = _mean_square(blocks, design)
    if near is None:
        return Design(None, design.scale, intercept), np.sqrt(square), n
    # rounding leaves no square negative; a constant column is at its value exactly, and its mean here 0
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    centre = near + (mean if design.scale is None else mean / design.scale)
    return Design(centre, design.scale, intercept), spread, n


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


def _mean_square(blocks: Blocks, design: Design) -> tuple[int, Array, Array]:
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


def _reach(blocks: Blocks, design: Design, names: tuple[str, ...] | None) -> Array:
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

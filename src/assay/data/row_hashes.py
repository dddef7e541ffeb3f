"""Rows as one number each: the same for the same values, wherever a row stands and whatever block it comes in."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assay.arrays import Array, column_strips

Hashes: TypeAlias = NDArray[np.uint64]

_GAP = np.uint64(0x5DEECE66D1234567)  # of a missing value, as of any other
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_TILE = 1 << 16  # cells of numbers at a time
_STEP = np.uint64(0x100000001B3)  # odd, so that powers of it tell places apart
_BYTES = 1 << 22  # of texts that are hashed all at once; longer ones one by one


def likely_bound(rows: int | None, most: int) -> int:
    """A bound that about four times as many hashes lie below as may be kept in the end: no more need travel.

    Hashes below a bound that is halved until at most `most` are left: all the same where halving began.

    Args:
        rows: how many there are; None where that is not known, and nothing is left out.
        most: how many hashes are kept.

    >>> likely_bound(None, 10) == 2**63, likely_bound(10_000, 10) == 2**63 // 128
    (True, True)
    """
    return (1 << 63) >> max(0, ((rows or 0) // (4 * most)).bit_length() - 1)


def hashes_of_numbers(block: Array) -> Hashes:
    """(b,) of rows of numbers; missing values are alike, and so are both zeros. Below 2^63.

    Args:
        block: (b, D) NaN where missing.
    """
    total = np.zeros(len(block), dtype=np.uint64)
    factors = _factors(block.shape[1])
    for columns in column_strips(block.shape, _TILE):
        total += (_spread(_bits(block[:, columns].T)) * factors[columns, None]).sum(axis=0, dtype=np.uint64)
    return _mixed(total)


def hashes_of_batch(batch: pa.RecordBatch, columns: Sequence[str]) -> Hashes:
    """(b,) of rows as they came, by some columns. Below 2^63.

    Args:
        batch: the rows.
        columns: names of the columns that count.
    """
    total = np.zeros(batch.num_rows, dtype=np.uint64)
    factors, places = _factors(len(columns)), [batch.schema.get_field_index(name) for name in columns]
    plain = [pa.types.is_float64(batch.schema.field(j).type) for j in places]
    step = max(_TILE // max(batch.num_rows, 1), 1)
    start = 0
    while start < len(places):  # wide tables of numbers take most of their time in calls: many columns in each
        stop = start + 1
        while plain[start] and stop < min(start + step, len(places)) and plain[stop]:
            stop += 1
        if plain[start]:
            cells = _numbers(np.stack([batch.column(j).to_numpy(zero_copy_only=False) for j in places[start:stop]]))
            total += (_spread(cells) * factors[start:stop, None]).sum(axis=0, dtype=np.uint64)
        else:
            total += _spread(_cells(batch.column(places[start]))) * factors[start]
        start = stop
    return _mixed(total)


def _factors(d: int) -> Hashes:
    """(d,) odd, as many columns as there are."""
    drawn = np.random.default_rng(0).integers(1, 2**63, d, dtype=np.uint64)
    return np.asarray(drawn * np.uint64(2) + np.uint64(1))


def _bits(values: Array) -> Hashes:
    """One form of NaN, and of zero."""
    return np.ascontiguousarray(np.where(np.isnan(values), 0.5, values + 0.0)).view(np.uint64)


def _spread(bits: Hashes) -> Hashes:
    return np.asarray(bits ^ (bits >> np.uint64(29)))


def _mixed(total: Hashes) -> Hashes:
    total = (total ^ (total >> np.uint64(32))) * _MIXER
    return np.asarray((total ^ (total >> np.uint64(29))) >> np.uint64(1))


def _cells(column: Any) -> Hashes:
    """(b,) of the cells of one column."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_temporal(kind):
        whole = column if pa.types.is_integer(kind) else _whole(column)
        bits = pc.fill_null(whole, 0).to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)
    elif pa.types.is_floating(kind):
        return _numbers(pc.fill_null(column.cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False))
    else:
        bits = _of_texts(column)
    there = pc.is_valid(column).to_numpy(zero_copy_only=False)
    return np.where(there, bits * _MIXER, _GAP)


def _numbers(values: Array) -> Hashes:
    return np.where(np.isnan(values), _GAP, _bits(values) * _MIXER)


def _whole(column: Any) -> Any:
    """Yes and no, days and times as whole numbers."""
    if pa.types.is_date32(column.type) or pa.types.is_time32(column.type):
        column = column.cast(pa.int32())
    return column.cast(pa.int64())


def _of_texts(column: Any) -> Hashes:
    """Of texts; of what is none of the above, of how it is written."""
    kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        column = pa.array([None if cell is None else str(cell) for cell in column.to_pylist()], pa.large_string())
    column = column.cast(pa.large_string())
    if not len(column):
        return np.empty(0, dtype=np.uint64)
    _, places, content = column.buffers()
    ends = np.frombuffer(places, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    if ends[-1] - ends[0] > _BYTES:
        return np.array([_digest(cell) for cell in column.to_pylist()], dtype=np.uint64)
    letters = np.frombuffer(content, dtype=np.uint8)[ends[0] : ends[-1]] if content is not None else np.empty(0, "u1")
    starts, lengths = ends[:-1] - ends[0], np.diff(ends)
    powers = np.cumprod(np.full(int(lengths.max(initial=0)) + 1, _STEP, dtype=np.uint64))
    place = np.arange(len(letters)) - np.repeat(starts, lengths)
    sums = np.concatenate([[np.uint64(0)], np.cumsum((letters.astype(np.uint64) + np.uint64(1)) * powers[place])])
    return np.asarray(sums[ends[1:] - ends[0]] - sums[starts])


def _digest(text: str | None) -> int:
    return int.from_bytes(blake2b((text or "").encode(), digest_size=8).digest())

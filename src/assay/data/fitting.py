"""Columns from single values, and columns brought into another type; what does not fit is missing, and told."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.arrays import Whole
from assay.data.columns.cells import cell_text, is_text
from assay.data.columns.words import MISSING, folded
from assay.data.problems import Problems

# A column is of the type that this share of its values has; the others contradict it.
SHARE = 0.95
_CASTS = (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, TypeError, ValueError, OverflowError)
_NONE: Whole = np.empty(0, dtype=np.int64)


def column_of(values: Sequence[Any]) -> tuple[pa.Array, Whole]:
    """A column of the type that nearly all values have, and the rows of values that contradict it.

    Where no type holds for 95 values in 100, all are taken as text.

    >>> column, lost = column_of([1, 2.5, None, *range(40), "many"])
    >>> column.type, lost
    (DataType(double), array([43]))
    """
    try:
        return _inferred(values), _NONE
    except _CASTS:
        pass
    plain = [_plain(value) for value in values]
    families = Counter(_family(value) for value in plain if not _is_missing(value))
    if not families:
        return pa.nulls(len(plain)), _NONE
    family, count = families.most_common(1)[0]
    if count < SHARE * families.total() or family not in _TYPES:
        return pa.array([None if value is None else _as_text(value) for value in plain], type=pa.string()), _NONE
    return values_as(plain, _TYPES[family])


def values_as(values: Sequence[Any], type_: pa.DataType) -> tuple[pa.Array, Whole]:
    """Values as a column of one type, and the rows of those that do not fit.

    >>> values_as(["3", "x", "NA"], pa.float64())
    (<pyarrow.lib.DoubleArray object at ...>
    [
      3,
      null,
      null
    ], array([1]))
    """
    # where a time is expected, Arrow counts whole numbers from 1970; where one of these is, it cuts fractions off
    risky = int if pa.types.is_temporal(type_) else float if pa.types.is_integer(type_) else ()
    if not any(isinstance(value, risky) for value in values):
        try:
            return pa.array(values, type=type_, from_pandas=True), _NONE
        except _CASTS:
            pass
    convert = _converter(type_)
    result: list[Any] = []
    lost = []
    for i, value in enumerate(values):
        try:
            result.append(None if value is None else convert(value))
        except _CASTS:
            result.append(None)
            if not _is_missing(value):
                lost.append(i)
    return pa.array(result, type=type_, from_pandas=True), np.array(lost, dtype=np.int64)


def fitted(column: pa.Array, type_: pa.DataType) -> tuple[pa.Array, Whole]:
    """A column in another type, and the rows of values that do not fit it.

    >>> fitted(pa.array(["1", "x"]), pa.float64())[1]
    array([1])
    """
    if column.type == type_:
        return column, _NONE
    if pa.types.is_temporal(type_) == pa.types.is_temporal(column.type) or is_text(type_) or is_text(column.type):
        try:  # a number is never taken for a time or the other way round
            return column.cast(type_), _NONE
        except _CASTS:
            pass
    if pa.types.is_nested(column.type):
        return values_as(column.to_pylist(), type_)
    levels = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    casts, _ = values_as(levels.dictionary.to_pylist(), type_)
    result = casts.take(levels.indices)
    wrong = pc.and_(pc.is_valid(column), pc.is_null(result))
    words = np.array([_is_missing(value) for value in levels.dictionary.to_pylist()], dtype=bool)
    rows = np.flatnonzero(wrong.to_numpy(zero_copy_only=False))
    return result, rows[~words[levels.indices.take(pa.array(rows)).to_numpy()]] if len(rows) else _NONE


def add_misfits(
    problems: Problems,
    column: str,
    type_: pa.DataType,
    misfits: Iterable[tuple[str, Any]],
    *,
    shown: bool = True,
) -> None:
    """Count values that do not fit the type of their column.

    Args:
        problems: told of them.
        column: its name.
        type_: of the column.
        misfits: place and value of each.
        shown: whether values may be quoted.
    """
    is_ = pa.types
    what = "values do not fit the type of the column and count as missing"
    if is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_):
        what = "values are not numbers and count as missing"
    elif is_.is_temporal(type_):
        what = "values are not times and count as missing"
    elif is_.is_boolean(type_):
        what = "values are neither true nor false and count as missing"
    for place, value in misfits:
        problems.add(what, column=column, place=place, value=_as_text(value) if shown else None)


_TYPES: dict[str, pa.DataType] = {
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "time": pa.timestamp("us"),
    "clock": pa.time64("us"),
    "duration": pa.duration("us"),
    "text": pa.string(),
}


def _inferred(values: Sequence[Any]) -> pa.Array:
    column = pa.array(values, from_pandas=True)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    # dates and times together would lose the times, whatever came first
    if pa.types.is_date(column.type) and any(isinstance(value, dt.datetime) for value in values):
        raise pa.ArrowInvalid("dates and times")
    return column


def _family(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float, Decimal)):
        return "number"
    for name, types in (("time", dt.date), ("clock", dt.time), ("duration", dt.timedelta), ("text", str)):
        if isinstance(value, types):
            return name
    return "other"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value)):
        return None
    return value


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and folded(value) in MISSING)


def _converter(type_: pa.DataType) -> Callable[[Any], Any]:
    is_ = pa.types
    if is_.is_floating(type_):
        return lambda value: float(_number(value))
    if is_.is_integer(type_):
        return lambda value: pa.scalar(_whole(value), type=type_)
    if is_.is_timestamp(type_) or is_.is_date(type_):
        return lambda value: pa.scalar(_time(value), type=type_)
    if is_text(type_):
        return _as_text
    return lambda value: pa.scalar(value, type=type_)


def _number(value: Any) -> float | int:
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return float(value) if isinstance(value, Decimal) else value
    if not isinstance(value, str):
        raise TypeError("not a number")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    return int(number) if number.is_integer() else number


def _whole(value: Any) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError("not a whole number")
    return int(number)


def _time(value: Any) -> dt.datetime:
    moment = dt.datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
    if not isinstance(moment, dt.date):
        raise TypeError("not a time")
    if not isinstance(moment, dt.datetime):
        return dt.datetime.combine(moment, dt.time())
    return moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _as_text(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    text = value.isoformat() if isinstance(value, (dt.date, dt.time)) else cell_text(value)
    # half a character, as a JSON escape may leave it, has no UTF-8
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

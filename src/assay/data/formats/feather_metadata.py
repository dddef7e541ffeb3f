"""What the end of a Feather file of version 1 says of its columns, compared with the bytes there are.

Its reader believes every number: a wrong one makes it read beyond the file, and crash. The schema is feather.fbs of
Apache Arrow.
"""

from __future__ import annotations

from typing import IO

from assay.data.flatbuffer import FlatTable
from assay.data.place import Place
from assay.errors import FileFormatError, UnreadableError

_MAGIC = b"FEA1"
_TEXT, _LARGE_TEXT = (11, 12), (17, 18)  # types whose values are behind offsets of 4 and of 8 bytes
_WHOLE = range(1, 9)  # types of whole numbers
_CATEGORY, _TIMESTAMP = 1, 2  # what may be said of a column beside its values


def check_feather(place: Place) -> None:
    """Refuse a file whose columns are not within it.

    Args:
        place: the file.
    """
    with place.open() as handle:
        try:
            _check(handle)
        except FileFormatError as error:
            raise UnreadableError(
                f"cannot read {place}: it is a damaged Feather file ({error}); write it again as Parquet"
            ) from error


def _check(handle: IO[bytes]) -> None:
    size = handle.seek(0, 2)
    handle.seek(max(size - 8, 0))
    told = int.from_bytes(handle.read(4), "little")
    if size < 12 or handle.read(4) != _MAGIC or not 8 <= told <= size - 12:
        raise FileFormatError("its end is not that of a Feather file")
    handle.seek(size - 8 - told)
    table = FlatTable.root(handle.read(told))
    rows, padded = table.number(1, 8), table.number(3, 4) >= 2
    for field in (0, 4):
        table.check_text(field)
    if not table.has(2):
        raise FileFormatError("it has no columns")
    for column in table.tables(2):
        if not column.has(0):
            raise FileFormatError("a column has no name")
        for field in (0, 4):
            column.check_text(field)
        _check_array(column.table(1), rows, size, padded)
        said = column.number(2, 1)
        if said == _CATEGORY and column.table(1).number(0, 1) not in _WHOLE:
            raise FileFormatError("the levels of a column are told by others than whole numbers")
        if said == _CATEGORY:
            _check_array(column.table(3).table(0), None, size, padded)
        elif said == _TIMESTAMP:
            column.table(3).check_text(1)
        elif said:
            column.table(3)


def _check_array(array: FlatTable, rows: int | None, size: int, padded: bool) -> None:
    """Refuse values that are not within the file, or whose gaps and offsets take more bytes than they have."""
    kind, offset, length, gaps, taken = array.number(0, 1), *(array.number(field, 8) for field in (2, 3, 4, 5))
    if length < 0 or (rows is not None and length != rows):
        raise FileFormatError(f"a column has {length:,} values in {rows} rows")
    if not (0 <= offset <= size and 0 <= taken <= size - offset and 0 <= gaps <= length):
        raise FileFormatError(f"a column is at bytes {offset:,} to {offset + taken:,} of {size:,}")
    parts = [-(-length // 8) if gaps else 0]
    if kind in _TEXT or kind in _LARGE_TEXT:
        parts.append((length + 1) * (4 if kind in _TEXT else 8))
    if sum(-(-part // 8) * 8 if padded else part for part in parts) > taken:
        raise FileFormatError(f"{length:,} values do not fit into {taken:,} bytes")

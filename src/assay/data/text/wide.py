"""Text tables of very many columns: all cells as one long array, since each Arrow column has a price of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

# From here on a table of one long column is faster.
WIDE = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class WideCells:
    """The cells of whole rows.

    Attributes:
        text: (rows x width,) strings, row after row.
        rows: how many.
        ragged: (k, 2) of the records that are no rows: which, counted from 0 without empty ones, and their cells,
            none in a line of blanks.
    """

    text: pa.Array
    rows: int
    ragged: NDArray[np.int64]


def wide_cells(text: bytes, delimiter: bytes, width: int) -> WideCells:
    r"""Cut text without quotes into cells.

    Args:
        text: whole records.
        delimiter: one byte.
        width: cells in a row.

    >>> wide_cells(b"1,2\n3\n4,5\n", b",", 2).text.to_pylist()
    ['1', '2', '4', '5']
    """
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    codes = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(codes == ord("\n"))
    if len(codes) and codes[-1] != ord("\n"):
        ends = np.append(ends, len(codes))
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    marks = np.flatnonzero(codes == delimiter[0])
    counts = np.searchsorted(marks, ends) - np.searchsorted(marks, starts) + 1
    good = counts == width
    for at in np.flatnonzero(~good):
        if not text[starts[at] : ends[at]].strip():
            counts[at] = 0
    ragged = np.column_stack([np.flatnonzero(~good), counts[~good]])
    if not good.any():
        return WideCells(pa.array([], pa.string()), 0, ragged)
    rows = b"\n".join(text[start:end] for start, end in zip(starts[good], ends[good], strict=True))
    long = rows.replace(delimiter, b"\n") + b"\n"
    table = pa_csv.read_csv(
        pa.BufferReader(long),
        pa_csv.ReadOptions(column_names=["cell"], block_size=len(long) + 1, use_threads=False),
        # a mark that is not in the text: the one column must not be cut again
        pa_csv.ParseOptions(delimiter="\x1f", quote_char=False, ignore_empty_lines=False),
        pa_csv.ConvertOptions(column_types={"cell": pa.string()}, strings_can_be_null=False),
    )
    return WideCells(table.column(0).combine_chunks(), int(good.sum()), ragged)


def unquoted(text: bytes, delimiter: bytes) -> bytes | None:
    r"""The same text without quotes, where these are not needed; None where one is.

    Programs that quote every name, or every text, make each table look as if it needed quotes.

    Args:
        text: whole records.
        delimiter: one byte.

    >>> unquoted(b'"a","b"\n1,"c d"\n', b",")
    b'a,b\n1,c d\n'
    >>> unquoted(b'"a,b"\n', b",") is unquoted(b'"5"" pipe"\n', b",") is None
    True
    """
    codes = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(codes == ord('"'))
    if len(quotes) % 2:
        return None
    border = np.zeros(256, bool)
    border[list(delimiter + b"\n\r")] = True
    edge = border[codes]
    opening, closing = quotes[::2], quotes[1::2]
    outside = edge[opening[opening > 0] - 1].all() and edge[closing[closing < len(codes) - 1] + 1].all()
    if not outside:
        return None
    marks = np.flatnonzero(edge)
    if (np.searchsorted(marks, opening) != np.searchsorted(marks, closing)).any():
        return None
    return text.replace(b'"', b"")


def by_column(cells: WideCells, columns: NDArray[np.int64]) -> pa.Array:
    """The cells of some columns, column after column.

    Args:
        cells: row after row.
        columns: which.
    """
    if cells.rows == 0:
        return cells.text
    width = len(cells.text) // cells.rows
    order = (columns[:, None] + width * np.arange(cells.rows)[None, :]).ravel()
    return cells.text.take(pa.array(order))

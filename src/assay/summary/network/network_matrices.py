"""Networks kept as matrices of weights."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import io, sparse

from assay.arrays import Array
from assay.data.formats.edge_lists import EdgeListSource, is_number
from assay.data.place import Place
from assay.data.source import Source, is_numeric
from assay.data.text.encodings import Readable, unpacked
from assay.errors import DataError
from assay.summary.graph.graph import Graph, Meaning
from assay.summary.network.network_columns import where

Names = tuple[str, ...] | None
# Bytes of an entry at least.
_ENTRY = 2
# Nodes that a file may have however few its links, or for each link.
_NODES, _NODES_EACH = 10_000_000, 100
# The lines at its start that are no numbers, and what there may be in the others: also nan, inf and infinity.
_COMMENTS = re.compile(rb"\A(?:[ \t\r]*(?:%[^\n]*)?\n)*")
_NUMBERS = b"0123456789+-.eEnNaAiIfFtTyY \t\r\n"


def matrix_in_file(file: Path) -> Any:
    """The matrix in a file of the Matrix Market format."""
    place = Place.of(file)
    try:
        size = _checked_size(place)
        with place.open() as handle:
            _refuse_claims(io.mminfo(_ended(handle)), size)
        with place.open() as handle:
            return io.mmread(_ended(handle))
    except (ValueError, OSError, OverflowError, MemoryError, EOFError) as error:
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"cannot read {file} as a Matrix Market file: {told}") from error


def _refuse_claims(told: tuple[Any, ...], held: int) -> None:
    """Refuse a size that the bytes of a file do not bear out, before memory is taken for it."""
    rows, columns, entries, form, *_ = told
    cells = rows * columns // 2 if form == "array" else entries  # one half is enough where it is symmetric
    if _ENTRY * cells > held:
        raise DataError(f"it ends before its {cells:,} entries; write or copy it again")
    if max(rows, columns) > max(_NODES, _NODES_EACH * cells):
        raise DataError(
            f"it has {max(rows, columns):,} nodes with {cells:,} links, and there may be {_NODES_EACH} for each link, "
            f"or {_NODES:,}; leave out nodes without links"
        )


def _checked_size(place: Place) -> int:
    """Bytes of the text, unpacked; what is not of numbers behind the comments is refused, as SciPy's reader may die."""
    size = 0
    with place.open() as handle:
        text = unpacked(handle)
        while piece := text.read(1 << 20):
            odd = (piece if size else _COMMENTS.sub(b"", piece)).translate(None, _NUMBERS)
            if odd:
                raise DataError(f"it holds {odd[:1]!r} where numbers are expected")
            size += len(piece)
    return size


def _ended(handle: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", _Ended(unpacked(handle)))  # all that is asked of it is to read


class _Ended:
    """A text whose last line is ended, for a reader that would go on behind it."""

    def __init__(self, text: Readable) -> None:
        self._text = text
        self._end = b"\n"

    def read(self, size: int = 1 << 20, /) -> bytes:
        found = self._text.read(size if size >= 0 else 1 << 20)
        if not found:
            found, self._end = self._end, b""
        return found


def matrix_in_table(table: Source) -> tuple[Array, Names]:
    """The weights and names in a square table, with or without names above and beside them.

    An empty cell is no edge.
    """
    whole = table.to_arrow()
    names: list[str] | None = list(whole.column_names)
    offset = 0
    if isinstance(table, EdgeListSource) and not table.header:
        names = None
        if whole.num_rows > 1 and not is_number(whole.column(0)[0].as_py()):  # numbers for names, beside a corner
            names = [str(column[0].as_py()).strip() for column in whole.columns]
            whole, offset = whole.slice(1), 1
    rows, columns = whole.num_rows, whole.num_columns
    if columns not in (rows, rows + 1):
        raise DataError(f"{table.name} has {rows} rows and {columns} columns; the matrix of a network is square")
    beside = None
    if columns == rows + 1:
        beside = [str(cell).strip() for cell in whole.column(0).to_pylist()]
        whole = whole.select(range(1, columns))
        names = None if names is None else names[1:]
    W = np.column_stack([_weights(table, whole, j, offset) for j in range(rows)])
    if names is None or beside is None:
        found = names or beside
        return W, None if found is None else tuple(found)
    if sorted(names) != sorted(beside):
        odd = next(name for name in beside if name not in names or beside.count(name) > 1)
        raise DataError(
            f"{table.name} has a row {odd!r} that is not the name of one column; rows and columns are the nodes"
        )
    return W[[beside.index(name) for name in names]], tuple(names)


def graph_of_matrix(
    W: Any, names: Names, called: str, *, directed: bool | None, meaning: Meaning, weighted: bool
) -> Graph:
    """The graph of a matrix, with notes."""
    if not sparse.issparse(W):
        W = np.asarray(W)
    if W.dtype.kind not in "biuf":
        raise DataError(f"{called} holds {W.dtype}, but weights are real numbers")
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise DataError(f"{called} has shape {W.shape}; the matrix of a network is square")
    graph = Graph.of_adjacency(W, names, directed, meaning)
    if not weighted:
        graph = graph.unweighted()
    why = "as said" if directed is not None else f"the matrix is {'not ' if graph.directed else ''}symmetric"
    size = f"{graph.n:,} nodes, {graph.edge_count:,} edges."
    return replace(graph, notes=(size, f"Edges lead {'one way' if graph.directed else 'both ways'}: {why}."))


def _weights(table: Source, whole: pa.Table, j: int, offset: int) -> Array:
    column = whole.column(j).combine_chunks()
    if not is_numeric(column.type):
        texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
        texts = pc.if_else(pc.equal(texts, ""), None, texts)
        wrong = next((i for i, cell in enumerate(texts.to_pylist()) if cell is not None and not is_number(cell)), None)
        if wrong is not None:
            raise DataError(
                f"{table.name}, {where(table, wrong + offset)}: {texts[wrong].as_py()!r} in column "
                f"{whole.column_names[j]!r} is not a number"
            )
        column = texts
    return np.asarray(column.cast(pa.float64()).fill_null(0).to_numpy(zero_copy_only=False))

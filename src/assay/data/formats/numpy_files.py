"""NumPy's .npy and .npz files, read block by block; pickled objects in them are refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from assay.data.field import Declared
from assay.data.memory.arrays import RowsSource, SideBySide, SparseSource, block_rows
from assay.data.names import columns_to_read
from assay.data.place import Place
from assay.data.source import Source
from assay.errors import DataError, ParameterError

_LONGEST_HEADER = 1 << 20
_SPARSE = {"indices", "indptr", "format", "shape", "data"}


@dataclass(frozen=True, slots=True)
class Header:
    """What a .npy file says of its array.

    Attributes:
        shape: of the array.
        fortran: whether columns are stored one after the other.
        dtype: of its values.
        offset: where the values begin.
    """

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    offset: int


class NpyRows(RowsSource):
    """The array of a .npy file.

    Args:
        opened: gives a new handle on the bytes, at their start.
        name: how reports call the data.
        declared: what the user said about the columns.
        names: of the columns, numbered where None.
    """

    def __init__(
        self,
        opened: Callable[[], IO[bytes]],
        name: str,
        declared: Declared | None = None,
        names: list[str] | None = None,
    ) -> None:
        with opened() as handle:
            header = _header(handle, name)
        super().__init__(header.shape, header.dtype, name, declared, names)
        self._header = header
        self._opened = opened

    def _row_blocks(self) -> Iterator[NDArray[Any]]:
        n = self._header.shape[0]
        step = block_rows(self._width)
        with self._opened() as handle:
            whole = self._header.fortran and len(self._header.shape) == 2 and not _seeks_freely(handle)
            if whole:
                array = npy_format.read_array(handle, allow_pickle=False, max_header_size=_LONGEST_HEADER)
                yield from (array[start : start + step] for start in range(0, n, step))
                return
            handle.seek(self._header.offset)
            for start in range(0, n, step):
                yield self._rows(handle, start, min(step, n - start))

    def _rows(self, handle: IO[bytes], start: int, count: int) -> NDArray[Any]:
        header = self._header
        size = header.dtype.itemsize
        if not header.fortran or len(header.shape) == 1:
            text = _exactly(handle, count * self._width * size, self.name)
            return np.frombuffer(text, header.dtype).reshape(count, *header.shape[1:])
        columns = np.empty((self._width, count), dtype=header.dtype)
        for j, column in enumerate(columns):
            handle.seek(header.offset + (j * header.shape[0] + start) * size)
            column[:] = np.frombuffer(_exactly(handle, count * size, self.name), header.dtype)
        return columns.T


def open_npy(place: Place, declared: Declared) -> Source:
    """The source of a .npy file."""
    source = NpyRows(place.open, place.name, declared)
    header = source._header
    needed = header.offset + int(np.prod(header.shape, dtype=object)) * header.dtype.itemsize
    if place.size < needed:
        raise DataError(
            f"cannot read {place}: it ends after {place.size:,} of {needed:,} bytes; write or copy it again"
        )
    return source


def open_npz(place: Place, declared: Declared, *, array: str | None = None) -> Source:
    """The source of a .npz file: its only table, or arrays of equally many rows side by side.

    Args:
        place: where it is.
        declared: what the user said about the columns.
        array: the name of one array to read alone.
    """
    with _archive(place) as archive:
        names = [info.filename.removesuffix(".npy") for info in archive.infolist()]
    if array is not None and array not in names:
        raise ParameterError(f"{place} has no array {array!r}; there are {', '.join(names[:20])}")
    if array is None and set(names) >= _SPARSE - {"indptr", "indices"} and set(names) <= _SPARSE | {"row", "col"}:
        return _sparse(place, declared)
    if array is not None:
        return NpyRows(_member(place, array), place.name, declared)
    if len(names) == 1:
        return NpyRows(_member(place, names[0]), place.name, declared)
    return _beside(place, declared, names)


def _beside(place: Place, declared: Declared, names: list[str]) -> Source:
    headers = {}
    for name in names:
        with _member(place, name)() as handle:
            headers[name] = _header(handle, f"array {name!r} of {place}")
    tables = [name for name in names if len(headers[name].shape) == 2]
    lengths = {header.shape[0] if header.shape else None for header in headers.values()}
    flat = all(len(header.shape) in (1, 2) and not header.dtype.names for header in headers.values())
    if len(lengths) == 1 and flat:
        called = {name: _column_names(headers[name].shape, name) for name in names}
        if columns_to_read([column for part in called.values() for column in part], declared).notes:
            raise DataError(f"cannot read {place}: names of its columns come twice; choose one array with array=")
        parts = [
            NpyRows(_member(place, name), place.name, Declared(sensitive=declared.hidden(columns)), columns)
            for name, columns in called.items()
        ]
        return SideBySide([part for part in parts if len(part.arrow_schema)], place.name, declared)
    if len(tables) == 1:
        source = NpyRows(_member(place, tables[0]), place.name, declared)
        others = ", ".join(repr(name) for name in names if name != tables[0])
        source.notes = (*source.notes, f"Of several arrays the only table {tables[0]!r} was read, not {others}.")
        return source
    told = ", ".join(f"{name} {headers[name].shape}" for name in names[:20])
    raise DataError(
        f"cannot read {place}: it holds several arrays of different lengths ({told}); choose one with array="
    )


def _column_names(shape: tuple[int, ...], array: str) -> list[str]:
    return [array] if len(shape) == 1 else [f"{array} {j + 1}" for j in range(shape[1])]


def _sparse(place: Place, declared: Declared) -> Source:
    from scipy.sparse import load_npz

    try:
        with place.open() as handle:
            matrix = load_npz(io.BytesIO(handle.read()))
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise DataError(f"cannot read {place}: it is a damaged sparse matrix; write it again") from error
    source = SparseSource(matrix, place.name, declared)
    source.notes = (*source.notes, "The sparse matrix is held in memory.")
    return source


@contextmanager
def _archive(place: Place) -> Iterator[zipfile.ZipFile]:
    with place.open() as handle:
        try:
            with zipfile.ZipFile(handle) as archive:
                yield archive
        except zipfile.BadZipFile as error:
            raise DataError(f"cannot read {place}: it is damaged ({error}); write or copy it again") from error


def _member(place: Place, name: str) -> Callable[[], IO[bytes]]:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        with _archive(place) as archive, archive.open(f"{name}.npy") as handle:
            yield handle

    return opened  # type: ignore[return-value]  # only ever entered


def _header(handle: IO[bytes], name: str) -> Header:
    try:
        version = npy_format.read_magic(handle)
        read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        shape, fortran, dtype = read(handle, max_header_size=_LONGEST_HEADER)
    except (ValueError, TypeError, SyntaxError, TokenError, MemoryError, RecursionError, EOFError) as error:
        raise DataError(f"cannot read {name}: its header is not that of a .npy file; write it again") from error
    if version >= (3, 0) and dtype.names:  # read as Latin-1 above, but written in UTF-8
        found = dtype.names
        dtype = np.dtype(dtype)
        dtype.names = tuple(name.encode("latin-1").decode() for name in found)
    if dtype.hasobject:
        raise DataError(
            f"cannot read {name}: it holds Python objects as a pickle, which could run code when opened; "
            "save numbers or text, or use Parquet"
        )
    return Header(shape, fortran, dtype, handle.tell())


def _seeks_freely(handle: IO[bytes]) -> bool:
    return not isinstance(handle, zipfile.ZipExtFile) and handle.seekable()


def _exactly(handle: IO[bytes], count: int, name: str) -> bytes:
    text = handle.read(count)
    if len(text) < count:
        raise DataError(f"cannot read {name}: it ends too early; write or copy it again")
    return text

"""NumPy's .npy and .npz files, read block by block; pickled objects in them are refused.

What a file says of its size is compared with its bytes before anything is made of it.
"""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from assay.data.field import Declared
from assay.data.memory.arrays import RowsSource, SideBySide, block_rows
from assay.data.memory.sparse import SparseSource
from assay.data.names import columns_to_read, refuse_many
from assay.data.place import Place
from assay.data.source import Source
from assay.errors import DataError, ParameterError, UnreadableError

_LONGEST_HEADER = 1 << 20
_MOST_ARRAYS = 1_000
# What is unpacked whole may take so many bytes, or so many times those of the file.
_UNPACKED, _UNPACKED_TIMES = 1 << 28, 100
_SPARSE = {"format", "shape", "data"}
_INDICES = {"indices", "indptr", "offsets", "row", "col", "coords", "shape"}
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    ValueError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class ArrayHeader:
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

    @property
    def end(self) -> int:
        """Where the values end."""
        return self.offset + math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class _Array:
    """An array in a file.

    Attributes:
        open: gives a new handle on its bytes, at their start.
        name: how messages call it.
        size: of its bytes.
        packed: how many bytes of the file hold them.
    """

    open: Callable[[], IO[bytes]]
    name: str
    size: int
    packed: int

    def header(self) -> ArrayHeader:
        """What it says of itself, which its bytes bear out."""
        with self.open() as handle:
            found = _header(handle, self.name)
        if self.size < found.end:
            raise UnreadableError(
                f"cannot read {self.name}: it ends after {self.size:,} of {found.end:,} bytes; write or copy it again"
            )
        return found

    def whole(self) -> NDArray[Any]:
        """All of it in memory."""
        refuse_bomb(self.size, self.packed, self.name)
        self.header()
        with self.open() as handle:
            return npy_format.read_array(handle, allow_pickle=False, max_header_size=_LONGEST_HEADER)


class NpyRows(RowsSource):
    """The array of a .npy file, or of one in an archive.

    Args:
        array: where it is.
        name: how reports call the data.
        declared: what the user said about the columns.
        names: of the columns, numbered where None.
    """

    def __init__(
        self, array: _Array, name: str, declared: Declared | None = None, names: list[str] | None = None
    ) -> None:
        header = array.header()
        super().__init__(header.shape, header.dtype, name, declared, names)
        self._header = header
        self._kept = array

    def _row_blocks(self) -> Iterator[NDArray[Any]]:
        n = self._header.shape[0]
        step = block_rows(self._width)
        with self._kept.open() as handle:
            if self._header.fortran and len(self._header.shape) == 2 and not _seeks_freely(handle):
                array = self._kept.whole()
                yield from (array[start : start + step] for start in range(0, n, step))
                return
            handle.seek(self._header.offset)
            for start in range(0, n, step):
                yield self._rows(handle, start, min(step, n - start))

    def _rows(self, handle: IO[bytes], start: int, count: int) -> NDArray[Any]:
        header = self._header
        size = header.dtype.itemsize
        if not header.fortran or len(header.shape) == 1:
            text = _exactly(handle, count * self._width * size, self._kept.name)
            return np.frombuffer(text, header.dtype).reshape(count, *header.shape[1:])
        columns = np.empty((self._width, count), dtype=header.dtype)
        for j, column in enumerate(columns):
            handle.seek(header.offset + (j * header.shape[0] + start) * size)
            column[:] = np.frombuffer(_exactly(handle, count * size, self._kept.name), header.dtype)
        return columns.T


def open_npy(place: Place, declared: Declared) -> Source:
    """The source of a .npy file."""
    return NpyRows(_Array(place.open, str(place), place.size, place.size), place.name, declared)


def open_npz(place: Place, declared: Declared, *, array: str | None = None) -> Source:
    """The source of a .npz file: its only table, or arrays of equally many rows side by side.

    Args:
        place: where it is.
        declared: what the user said about the columns.
        array: the name of one array to read alone.
    """
    arrays = _arrays(place)
    names = list(arrays)
    if array is not None and array not in names:
        raise ParameterError(f"{place} has no array {array!r}; there are {', '.join(names[:20])}")
    if array is None and _SPARSE <= set(names) <= {*_SPARSE, *_INDICES, "_is_array"}:
        return _sparse(place, declared, arrays)
    if array is not None or len(names) == 1:
        return NpyRows(arrays[names[0] if array is None else array], place.name, declared)
    return _beside(place, declared, arrays)


def _arrays(place: Place) -> dict[str, _Array]:
    with _archive(place) as archive:
        entries = archive.infolist()
    found = {}
    for entry in entries:
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(
                f"cannot read {place}: {entry.filename!r} in it is encrypted, or packed unlike NumPy does it; write it "
                "again with numpy.savez"
            )
        name = entry.filename.removesuffix(".npy")
        called = f"array {name!r} of {place}"
        found[name] = _Array(_member(place, entry.filename), called, entry.file_size, entry.compress_size)
    return found


def _beside(place: Place, declared: Declared, arrays: Mapping[str, _Array]) -> Source:
    names = list(arrays)
    if len(names) > _MOST_ARRAYS:
        raise DataError(
            f"cannot read {place}: it holds {len(names):,} arrays, and at most {_MOST_ARRAYS:,} are read side by side; "
            "choose one with array="
        )
    headers = {name: array.header() for name, array in arrays.items()}
    tables = [name for name in names if len(headers[name].shape) == 2]
    lengths = {header.shape[0] if header.shape else None for header in headers.values()}
    flat = all(len(header.shape) in (1, 2) and not header.dtype.names for header in headers.values())
    if len(lengths) == 1 and flat:
        refuse_many(sum(math.prod(header.shape[1:]) for header in headers.values()), str(place))
        called = {name: _column_names(headers[name].shape, name) for name in names}
        if columns_to_read([column for part in called.values() for column in part], declared).notes:
            raise DataError(f"cannot read {place}: names of its columns come twice; choose one array with array=")
        parts = [
            NpyRows(arrays[name], place.name, Declared(sensitive=declared.hidden(columns)), columns)
            for name, columns in called.items()
        ]
        return SideBySide([part for part in parts if len(part.arrow_schema)], place.name, declared)
    if len(tables) == 1:
        source = NpyRows(arrays[tables[0]], place.name, declared)
        others = ", ".join(repr(name) for name in names if name != tables[0])
        source.notes = (*source.notes, f"Of several arrays the only table {tables[0]!r} was read, not {others}.")
        return source
    told = ", ".join(f"{name} {headers[name].shape}" for name in names[:20])
    raise DataError(
        f"cannot read {place}: it holds several arrays of different lengths ({told}); choose one with array="
    )


def _column_names(shape: tuple[int, ...], array: str) -> list[str]:
    return [array] if len(shape) == 1 else [f"{array} {j + 1}" for j in range(shape[1])]


def _sparse(place: Place, declared: Declared, arrays: Mapping[str, _Array]) -> Source:
    from assay.linalg.sparse.structure import structural_fault

    refuse_bomb(sum(array.size for array in arrays.values()), place.size, str(place))
    found = {name: array.whole() for name, array in arrays.items()}
    try:
        matrix = _matrix(found)
        wrong = structural_fault(matrix)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError) as error:
        wrong = str(error).partition("\n")[0] or type(error).__name__
    if wrong:
        raise UnreadableError(f"cannot read {place}: it is a damaged sparse matrix ({wrong}); write it again")
    source = SparseSource(matrix, place.name, declared)
    source.notes = (*source.notes, "The sparse matrix is held in memory.")
    return source


def _matrix(found: Mapping[str, NDArray[Any]]) -> Any:
    """The matrix that SciPy's `save_npz` took apart."""
    from scipy import sparse

    wrong = [name for name in _INDICES & found.keys() if found[name].dtype.kind not in "iu"]
    if wrong:
        raise ValueError(f"its {wrong[0]} are {found[wrong[0]].dtype}")
    given = found["format"].item()
    form = given.decode("ascii") if isinstance(given, bytes) else str(given)
    data, shape = found["data"], tuple(int(size) for size in found["shape"])
    if data.dtype.kind not in "biufc":
        raise ValueError(f"its values are {data.dtype}")
    if len(shape) != 2:
        raise ValueError(f"it has {len(shape)} dimensions")
    if form in ("csr", "csc", "bsr"):
        made = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[form]
        return made((data, found["indices"], found["indptr"]), shape=shape)
    if form == "dia":
        return sparse.dia_array((data, found["offsets"]), shape=shape)
    if form != "coo":
        raise ValueError(f"its format is {form!r}")
    row, col = found["coords"] if "coords" in found else (found["row"], found["col"])
    return sparse.coo_array((data, (row, col)), shape=shape)


def refuse_bomb(size: int, packed: int, name: str) -> None:
    """Refuse what unpacks to far more than its bytes, where it would be held whole.

    Args:
        size: bytes when unpacked.
        packed: bytes in the file.
        name: how messages call it.
    """
    if size > max(_UNPACKED, _UNPACKED_TIMES * packed):
        raise DataError(
            f"cannot read {name}: its {packed:,} bytes unpack to {size:,}, all of which would be held, and that may be "
            f"{_UNPACKED_TIMES} times as many, or {_UNPACKED >> 20} MB; save it without compression"
        )


@contextmanager
def _archive(place: Place) -> Iterator[zipfile.ZipFile]:
    with place.open() as handle:
        try:
            with zipfile.ZipFile(handle) as archive:
                yield archive
        except DataError:
            raise
        except _DAMAGE as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise UnreadableError(f"cannot read {place}: it is damaged ({reason}); write or copy it again") from error


def _member(place: Place, entry: str) -> Callable[[], IO[bytes]]:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        with _archive(place) as archive, archive.open(entry) as handle:
            yield handle

    return opened  # type: ignore[return-value]  # only ever entered


def _header(handle: IO[bytes], name: str) -> ArrayHeader:
    try:
        version = npy_format.read_magic(handle)
        read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        shape, fortran, dtype = read(handle, max_header_size=_LONGEST_HEADER)
        if version >= (3, 0) and dtype.names:  # read as Latin-1 above, but written in UTF-8
            found = dtype.names
            dtype = np.dtype(dtype)
            dtype.names = tuple(name.encode("latin-1").decode() for name in found)
        if min(shape, default=0) < 0:
            raise ValueError("a shape that is negative")
    except (ValueError, TypeError, SyntaxError, TokenError, MemoryError, RecursionError, EOFError) as error:
        raise DataError(f"cannot read {name}: its header is not that of a .npy file; write it again") from error
    if dtype.hasobject:
        raise DataError(
            f"cannot read {name}: it holds Python objects as a pickle, which could run code when opened; "
            "save numbers or text, or use Parquet"
        )
    return ArrayHeader(shape, fortran, dtype, handle.tell())


def _seeks_freely(handle: IO[bytes]) -> bool:
    return not isinstance(handle, zipfile.ZipExtFile) and handle.seekable()


def _exactly(handle: IO[bytes], count: int, name: str) -> bytes:
    text = handle.read(count)
    if len(text) < count:
        raise UnreadableError(f"cannot read {name}: it ends too early; write or copy it again")
    return text

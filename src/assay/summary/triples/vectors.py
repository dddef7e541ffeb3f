"""Vectors that may be larger than memory: in arrays or files, read and written a stripe at a time.

Files are read and written, not mapped: what a program maps counts as its memory until the system takes it back.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.data.files import atomic_write
from assay.errors import DataError, ParameterError
from assay.leftovers import TemporaryFolder

Given = ArrayLike | str | os.PathLike[str]
Read = Callable[[int, int], Array]


@dataclass(frozen=True, slots=True)
class StoredVector:
    """n numbers in a file.

    Attributes:
        path: of the file.
        n: how many.
        offset: where they begin, in bytes.
        type: of the numbers.
    """

    path: Path
    n: int
    offset: int = 0
    type: str = "<f8"

    @classmethod
    def scratch(cls, path: Path, n: int) -> StoredVector:
        """A new file of zeros, which take no room on most disks until they are written."""
        with path.open("wb") as handle:
            handle.truncate(8 * n)
        return cls(path, n)

    def read(self, lo: int, hi: int) -> Array:
        """The numbers lo .. hi - 1."""
        kind = np.dtype(self.type)
        found = np.fromfile(self.path, kind, hi - lo, offset=self.offset + lo * kind.itemsize)
        if len(found) < hi - lo:
            raise DataError(f"{self.path} ended before number {hi:,}; it is not whole, write it again")
        return found.astype(np.float64, copy=False)

    def write(self, lo: int, values: Array) -> None:
        """Put numbers from place lo on; several threads may, each to places of its own."""
        with self.path.open("r+b", buffering=0) as handle:
            handle.seek(self.offset + 8 * lo)
            handle.write(np.ascontiguousarray(values).view(np.uint8).data)


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder, removed at the end; a full disk is said in one sentence."""
    with TemporaryFolder() as folder:
        try:
            yield folder
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise DataError(
                f"the scratch files of a product do not fit into {folder.parent}: {error.strerror}; point TMPDIR "
                "to a larger disk"
            ) from error


def reader(given: Given, n: int, called: str) -> Read:
    """How to read stripes of a vector of n numbers: an array, a mapped one, or the path of a .npy file.

    Args:
        given: the vector.
        n: how many numbers it must have.
        called: in messages.
    """
    path: Any = given if isinstance(given, str | os.PathLike) else None
    array: Any = _mapped(Path(path)) if path is not None else given
    if not isinstance(array, np.ndarray):
        array = np.asarray(array)
    if array.dtype.kind not in "biuf":
        raise DataError(f"{called} holds {array.dtype}, but a vector holds real numbers")
    if array.shape != (n,):
        raise ParameterError(f"{called} must have one number for each of {n:,}; its shape is {array.shape}")
    file = getattr(array, "filename", None)
    if isinstance(array, np.memmap) and file is not None and array.flags.c_contiguous and n:
        return StoredVector(Path(file), n, _begin(array), array.dtype.str).read
    if array.dtype.kind == "b":  # a mask or a 0/1 vector
        return lambda lo, hi: array[lo:hi].astype(np.float64)
    return lambda lo, hi: np.ascontiguousarray(array[lo:hi], dtype=np.float64)


def _mapped(path: Path) -> Any:
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"cannot read {path} as a vector: {error}; give an array or a .npy file of one") from error
    if not isinstance(found, np.ndarray):
        found.close()
        raise DataError(f"cannot read {path} as a vector: it holds several arrays; give a .npy file of one")
    return found


def _begin(array: Any) -> int:
    """Where in its file a mapped array begins, which may be a part of another one."""
    pages = np.frombuffer(array._mmap, np.uint8)
    within = array.__array_interface__["data"][0] - pages.__array_interface__["data"][0]
    return int(within + array.offset - array.offset % mmap.ALLOCATIONGRANULARITY)


class Delivery:
    """A vector on its way out, in order: to an array, to a .npy file, or to a file without a name.

    Args:
        n: how many numbers.
        in_memory: whether an array may hold them, if no file is named.
        out: path of the .npy file; it is put in place whole or not at all.
    """

    def __init__(self, n: int, *, in_memory: bool, out: str | os.PathLike[str] | None) -> None:
        self._n, self._out, self._at = n, out, 0
        self._array = np.empty(n) if in_memory and out is None else None
        self._stack = ExitStack()
        self._handle: Any = None

    def __enter__(self) -> Delivery:
        if self._out is not None:
            self._handle = self._stack.enter_context(atomic_write(self._out))
            header = {"descr": "<f8", "fortran_order": False, "shape": (self._n,)}
            np.lib.format.write_array_header_1_0(self._handle, header)
        elif self._array is None:
            # the system removes it with the array that maps it
            self._handle = self._stack.enter_context(tempfile.TemporaryFile(prefix="assay-"))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def take(self, values: Array) -> None:
        """The next numbers."""
        if self._array is not None:
            self._array[self._at : self._at + len(values)] = values
        else:
            self._handle.write(np.ascontiguousarray(values).view(np.uint8).data)
        self._at += len(values)

    def finish(self) -> Array | None:
        """The array, where no file was named; to be asked before the end."""
        if self._array is not None or self._out is not None:
            return self._array
        self._handle.flush()
        return np.memmap(self._handle, np.float64, "r", shape=(self._n,)) if self._n else np.empty(0)


def delivered(read: Read, n: int, step: int, *, in_memory: bool, out: str | os.PathLike[str] | None) -> Array:
    """A stored vector as an array, or as a mapped file."""
    with Delivery(n, in_memory=in_memory, out=out) as delivery:
        for lo in range(0, n, step):
            delivery.take(read(lo, min(lo + step, n)))
        made = delivery.finish()
    return made if made is not None else mapped(out)


def mapped(path: Any) -> Array:
    """A .npy file that was just written, read where it is looked at."""
    return np.asanyarray(np.load(path, mmap_mode="r"))

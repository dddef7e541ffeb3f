"""Writing files whole or not at all, and archives that hold data only.

An archive is a ZIP file of entries that are not compressed: `assay.json`, which names format and kind, and one `.npy`
file for each array. Its comment, the last bytes of the file, is the SHA-256 sum of all bytes before it.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from assay.data.archive import (
    DIGEST,
    FORMATS,
    HEADER,
    TAIL,
    array_of,
    digest,
    document_of,
    looks_like_one,
    opened,
    rebuilding,
)
from assay.errors import DataError

T = TypeVar("T")


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write to a file beside `path` and put it in place only when the block ends well.

    A crash, an exception or an interrupt leaves what was there before untouched.

    Args:
        path: where the whole file shall be.

    Yields:
        A binary handle, which can also be read.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with atomic_write(target) as handle:
    ...     _ = handle.write(b"whole")
    >>> target.read_bytes()
    b'whole'
    """
    target = Path(path)
    check_writable(target)
    try:
        descriptor, partial = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from error
    try:
        with os.fdopen(descriptor, "w+b") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        Path(partial).chmod(mode)
        Path(partial).replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            Path(partial).unlink()
        if isinstance(error, OSError):  # a full disk, a lost share
            raise DataError(f"cannot write {target}: {error.strerror or error}") from error
        raise


def check_writable(target: Path, *, unlike: Path | None = None) -> None:
    """Refuse a place where no file can be put, before any work is done.

    Args:
        target: the file to be written.
        unlike: a file that must not be overwritten, such as the data.
    """
    if target.is_dir():
        raise DataError(f"cannot write {target}: it is a folder; give a file name")
    if not target.parent.is_dir():
        raise DataError(f"cannot write {target}: the folder {target.parent} does not exist; create it first")
    if not os.access(target.parent, os.W_OK):
        raise DataError(f"cannot write {target}: the folder {target.parent} is not writable")
    if unlike is not None and target.exists() and unlike.exists() and target.samefile(unlike):
        raise DataError(f"cannot write {target}: that is the data file itself; give another name")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_archive(
    path: str | os.PathLike[str], kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write named arrays and a JSON header into one file.

    Args:
        path: the file.
        kind: what the file holds, such as "Moments" or "PCA".
        header: JSON-ready values.
        arrays: named numeric, boolean or text arrays. They come back in the order of memory they have here, C or
            Fortran: BLAS takes another path for a transposed matrix, which may round otherwise.
    """
    with atomic_write(path) as handle:
        with zipfile.ZipFile(handle, "w") as archive:
            document = {"format": FORMATS[-1], "kind": kind, "header": dict(header)}
            _add(archive, HEADER, json.dumps(document, sort_keys=True, allow_nan=True).encode())
            for name in sorted(arrays):
                array = np.asarray(arrays[name])
                if not array.flags.forc:  # a view with gaps: closed up, rows or columns first as they were
                    array = array.copy(order="K")
                if array.dtype.hasobject:
                    raise DataError(f"{name} holds Python objects, which a data-only file cannot keep")
                buffer = BytesIO()
                np.lib.format.write_array(buffer, array, allow_pickle=False)
                _add(archive, f"{name}.npy", buffer.getvalue())
            archive.comment = bytes(TAIL)  # its length is part of what is summed
        end = handle.seek(-TAIL, os.SEEK_END)
        found = digest(handle, end)
        handle.seek(end)
        handle.write(DIGEST + found)


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # a fixed date keeps the file the same, byte for byte, for the same content
    archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), content)


def archive_kind(path: str | os.PathLike[str]) -> str | None:
    """What kind of thing assay saved in a file; None where it did not. What was saved and is damaged is refused.

    Args:
        path: the file.
    """
    source = Path(path)
    try:
        ours = source.is_file() and looks_like_one(source)
    except (OSError, ValueError):  # a name that is no path, a file that may not be read
        return None
    if not ours:
        return None
    with opened(source) as archive:
        return document_of(archive)[0]


def load_archive(path: str | os.PathLike[str], build: Callable[[str, dict[str, Any], dict[str, np.ndarray]], T]) -> T:
    """What is made of a file that `write_archive` wrote; whatever goes wrong is one `FileFormatError`.

    Args:
        path: the file.
        build: makes it of the kind, the header and the arrays.
    """
    kind, header, arrays = read_archive(path)
    with rebuilding(Path(path), kind):
        return build(kind, header, arrays)


def read_archive(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any], dict[str, np.ndarray]]:
    """Read what `write_archive` wrote. Nothing in the file can run: no pickles, no names to import.

    Args:
        path: the file.

    Returns:
        The kind, the header and the arrays.
    """
    source = Path(path)
    if not source.is_file():
        raise DataError(f"cannot load {source}: there is no such file")
    with opened(source) as archive:
        kind, header = document_of(archive)
        names = [name for name in archive.namelist() if name != HEADER]
        return kind, header, {name.removesuffix(".npy"): array_of(archive, name) for name in names}

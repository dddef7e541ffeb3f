"""Writing files whole or not at all, and archives that hold data only.

An archive is a ZIP file of entries that are not compressed: `assay.json`, which names format and kind, and one `.npy`
file for each array. Its comment, the last bytes of the file, is the SHA-256 sum of all bytes before it.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
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
from assay.leftovers import partial_file
from assay.system_errors import with_remedy

T = TypeVar("T")


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write to a file beside `path` and put it in place only when the block ends well.

    A crash, an exception or an interrupt leaves what was there before untouched. A link stays a link: what it leads to
    is replaced. Whatever else is there and is no file (a device, a pipe, a folder) is refused and stays.

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
    place, there = _placed(target)
    partial: Path | None = None
    try:
        descriptor, partial = partial_file(place.parent, 0o666 if there is None else 0o600)
        with os.fdopen(descriptor, "w+b") as handle:
            yield handle
            handle.flush()
            os.fsync(descriptor)
            again, there = _placed(target)  # hours may have passed
            if again != place:
                raise DataError(f"cannot write {target}: it became a link to another place; give another name")
            if there is not None:
                _take_over(partial, there)
            if os.name == "nt":  # where nothing that is open can be moved
                handle.close()
            partial.replace(place)
    except BaseException as error:
        if partial is not None:
            with contextlib.suppress(OSError):
                partial.unlink()
        if isinstance(error, OSError):  # a full disk, a lost share
            raise DataError(f"cannot write {target}: {with_remedy(error)}") from error
        raise


def check_writable(target: Path, *, unlike: Path | None = None) -> None:
    """Refuse a place where no file can be put, before any work is done.

    Args:
        target: the file to be written.
        unlike: a file that must not be overwritten, such as the data.
    """
    _, there = _placed(target)
    if there is not None and unlike is not None and _is(there, unlike):
        raise DataError(f"cannot write {target}: that is the data file itself; give another name")


def _is(known: os.stat_result, path: Path) -> bool:
    try:
        return os.path.samestat(known, path.stat())
    except (OSError, ValueError):  # no path, or one that may not be looked at
        return False


def _placed(target: Path) -> tuple[Path, os.stat_result | None]:
    """Where a file is to be put, links followed, and what is known of the one that is there."""
    try:
        there = _known(target)
        place = Path(os.path.realpath(target)) if target.is_symlink() else target
        found = there if place is target else _known(place)
        parent = _known(place.parent)
    except (OSError, ValueError) as error:  # a circle of links, a name too long, a folder that may not be entered
        raise DataError(f"cannot write {target}: {with_remedy(error)}") from error
    if there is not None and stat.S_ISDIR(there.st_mode):
        raise DataError(f"cannot write {target}: it is a folder; give a file name")
    if there is not None and not stat.S_ISREG(there.st_mode):
        raise DataError(
            f"cannot write {target}: it is {_sort(there.st_mode)}, not a file, and would be replaced; give the name of "
            "a file"
        )
    if parent is None or not stat.S_ISDIR(parent.st_mode):
        raise DataError(f"cannot write {target}: the folder {place.parent} does not exist; create it first")
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise DataError(f"cannot write {target}: the folder {place.parent} is not writable; take another one")
    if found is None and there is not None:  # by /proc/self/fd: it has no name any more
        raise DataError(f"cannot write {target}: it leads to a file that is in no folder; give the name of a file")
    if there is not None and not os.access(place, os.W_OK):
        raise DataError(f"cannot write {target}: it is write-protected; give another name, or chmod u+w")
    return place, there


def _known(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _sort(mode: int) -> str:
    sorts = {stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return sorts.get(stat.S_IFMT(mode), "something special")


def _take_over(partial: Path, there: os.stat_result) -> None:
    """Give a file the permissions, and as far as that is allowed the owner and group, of the one it will replace."""
    mode = there.st_mode & 0o777
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # the administrator may
            os.chown(partial, there.st_uid, -1)
        try:
            os.chown(partial, -1, there.st_gid)
        except OSError:
            mode &= ~0o070  # what that group might do, another may not
    partial.chmod(mode)


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

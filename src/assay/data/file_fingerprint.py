"""Files that must stay as they are while they are read: every pass begins and ends with a look at them.

On the machine of the first look the file system tells: size, times of the last writing and of the last change of any
sort. Where these may be equal although the content is not (a file written just now, another file in its place) some of
the content is compared as well; on another machine, which may have a copy, only that and the size are.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import platform
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import IO, Any

import pyarrow.fs as pa_fs

from assay.data.place import Place
from assay.errors import DataError, UnreadableError

# The content is compared in so many pieces of so many bytes, the first and the last among them: all of a small file.
_PIECES, _PIECE = 16, 1 << 12
# File systems keep times to two seconds at worst: of a file written since, they tell nothing.
_JUST_NOW = 2 * 10**9


@dataclass(frozen=True, slots=True)
class FileLook:
    """A file at one time.

    Attributes:
        size: in bytes.
        written: when it was written, in nanoseconds; None where the file system does not tell.
        altered: when anything about it was changed, also by whoever sets the time of writing back; None elsewhere.
        where: machine and device, then the number of the file there; None elsewhere.
        just_written: whether it was written so shortly before that times may not tell the next writing.
        sample: digest of some of its content.
    """

    size: int
    written: int | None
    altered: int | None
    where: tuple[str, int, int] | None
    just_written: bool
    sample: bytes


class Unchanged:
    """Files, each as it was at the first look.

    Args:
        places: the files; one that is not there counts as empty, and is left to whoever reads it.
        touched: files of which reading alters something, but not the content.
    """

    def __init__(self, places: Iterable[Place], touched: Iterable[Place] = ()) -> None:
        self._known = [(place, _look(place)) for place in places]
        self._known += [(place, replace(_look(place), altered=None)) for place in touched]

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(look.size for _, look in self._known)

    def identity(self) -> Any:
        """What tells the files from others, and from themselves once changed; None where times do not tell."""
        if any(look.just_written for _, look in self._known):
            return None
        return [(place.path, look.size, look.written, look.altered, look.sample) for place, look in self._known]

    def only(self, path: str) -> Unchanged:
        """One of the files, as it was.

        Args:
            path: of the file.
        """
        one = Unchanged(())
        one._known = [(place, look) for place, look in self._known if place.path == path]
        return one

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Refuse files that are not what they were, before something is done with them and after.

        Where that ends in an error, that a file changed is what there is to say.
        """
        self.check()
        try:
            yield
        except Exception:
            self.check()
            raise
        self.check()

    def check(self) -> None:
        """Refuse a file that is not what it was."""
        for place, known in self._known:
            now = _state(place)
            if now.size != known.size:
                gone = not now.size and now.written is None
                raise _changed(
                    place, "it is gone" if gone else f"{known.size:,} \N{RIGHTWARDS ARROW} {now.size:,} bytes"
                )
            if not now.size:
                continue
            here = known.where is None or (now.where is not None and known.where[:2] == now.where[:2])
            if here and now.written != known.written:
                raise _changed(place, f"written {_time(known.written)} \N{RIGHTWARDS ARROW} {_time(now.written)}")
            if here and known.altered is not None and now.altered != known.altered:
                raise _changed(place, f"altered {_time(known.altered)} \N{RIGHTWARDS ARROW} {_time(now.altered)}")
            sure = here and now.where == known.where and now.written is not None and not known.just_written
            if not sure and _sample(place, now.size) != known.sample:
                raise _changed(place, "other content of the same size")


def _changed(place: Place, how: str) -> DataError:
    return DataError(
        f"cannot read {place}: it changed while it was being read ({how}); start again when nobody writes to it"
    )


def _look(place: Place) -> FileLook:
    now = _state(place)
    # far from here a sample costs many requests, and times are the same for everybody
    sample = _sample(place, now.size) if now.where is not None or now.written is None else b""
    return replace(now, sample=sample)


def _state(place: Place) -> FileLook:
    """What the file system tells, without a sample; what is not there is empty."""
    absent = FileLook(0, None, None, None, False, b"")
    try:
        if place.filesystem is None or isinstance(place.filesystem, pa_fs.LocalFileSystem):
            found = Path(place.path).stat()
            recent = time.time_ns() - found.st_mtime_ns < _JUST_NOW
            where = _machine(), found.st_dev, found.st_ino
            return FileLook(found.st_size, found.st_mtime_ns, found.st_ctime_ns, where, recent, b"")
        info = place.filesystem.get_file_info(place.path)
    except OSError:
        return absent
    if info.type != pa_fs.FileType.File:
        return absent
    return FileLook(int(info.size or 0), info.mtime_ns, None, None, False, b"")


def _sample(place: Place, size: int) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    try:
        with place.open() as handle:
            for at in _places(size):
                found.update(_piece(handle, at, size))
    except (OSError, UnreadableError):
        return b""
    return found.digest()


def _piece(handle: IO[bytes], at: int, size: int) -> bytes:
    handle.seek(at)
    return handle.read(size if size <= _PIECES * _PIECE else _PIECE)


def _places(size: int) -> Iterable[int]:
    """Where pieces begin: once at the start of a small file, else from the first to the last piece."""
    if size <= _PIECES * _PIECE:
        return (0,)
    return (i * (size - _PIECE) // (_PIECES - 1) for i in range(_PIECES))


def _time(nanoseconds: int | None) -> str:
    if nanoseconds is None:
        return "at an unknown time"
    found = dt.datetime.fromtimestamp(nanoseconds // 10**9, dt.UTC)
    return f"{found:%Y-%m-%d %H:%M:%S}.{nanoseconds % 10**9 // 10**6:03d} UTC"


@cache
def _machine() -> str:
    return f"{platform.node()} {os.name}"

"""Where bytes are: a file on this machine, or on any file system that pyarrow knows by its URL."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.fs as pa_fs

from assay.errors import DataError, UnreadableError


@dataclass(frozen=True, slots=True)
class Place:
    """One file.

    Attributes:
        path: on its file system.
        filesystem: as pyarrow has it, or None for this machine's own.
        shown: how messages call it.
    """

    path: str
    filesystem: Any = None
    shown: str = ""

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Place:
        """A place from a path or a URL such as s3://bucket/table.parquet; what is not there is refused.

        >>> Place.of("no-such-file.csv")
        Traceback (most recent call last):
            ...
        assay.errors.DataError: cannot read no-such-file.csv: there is no such file
        """
        text = os.fspath(path)
        if "://" in text:
            return cls._remote(text)
        file = Path(text)
        if not file.exists():
            raise DataError(f"cannot read {text}: there is no such file")
        if not file.is_file() or not os.access(file, os.R_OK):
            raise DataError(f"cannot read {text}: it is not a file that may be read; check its permissions")
        return cls(os.path.abspath(text), None, text)  # noqa: PTH100  # a worker may be in another folder

    @classmethod
    def _remote(cls, url: str) -> Place:
        try:
            filesystem, path = pa_fs.FileSystem.from_uri(url)
            there = filesystem.get_file_info(path).type == pa_fs.FileType.File
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            raise DataError(f"cannot read {url}: {str(error).splitlines()[0]}") from error
        if not there:
            raise DataError(f"cannot read {url}: there is no such file")
        return cls(path, filesystem, url)

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.rstrip("/").rsplit("/", 1)[-1] if self.filesystem is not None else Path(self.path).name

    @property
    def size(self) -> int:
        """Bytes in the file."""
        if self.filesystem is None:
            return Path(self.path).stat().st_size
        return int(self.filesystem.get_file_info(self.path).size or 0)

    def identity(self) -> Any:
        """What tells the file as it is now from others, and from itself once it is changed; None where nothing does."""
        if self.filesystem is None:
            known = Path(self.path).stat()
            return self.path, known.st_size, known.st_mtime_ns, known.st_ctime_ns
        info = self.filesystem.get_file_info(self.path)
        return None if info.mtime_ns is None else (self.filesystem, self.path, info.size, info.mtime_ns)

    def open(self) -> IO[bytes]:
        """The raw bytes, seekable; whoever opens closes."""
        try:
            if self.filesystem is None:
                return Path(self.path).open("rb")
            return cast("IO[bytes]", self.filesystem.open_input_file(self.path))
        except OSError as error:
            raise UnreadableError(f"cannot read {self}: {error.strerror or error}") from error

    def start(self, count: int) -> bytes:
        """The first bytes."""
        with self.open() as handle:
            return handle.read(count)

    def __str__(self) -> str:
        return self.shown or self.path

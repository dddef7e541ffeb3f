"""Where bytes are: a file on this machine, or on any file system that pyarrow knows by its URL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.fs as pa_fs

from assay.data.file_exists import check_there
from assay.errors import DataError, UnreadableError
from assay.shown import HIDDEN, without_secrets


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
        check_there(text)
        if not Path(text).is_file():
            raise DataError(f"cannot read {text}: it is not a file that may be read; check its permissions")
        return cls(os.path.abspath(text), None, text)  # noqa: PTH100  # a worker may be in another folder

    @classmethod
    def _remote(cls, url: str) -> Place:
        filesystem, path = opened_address(url)
        with explaining(url):
            there = filesystem.get_file_info(path).type == pa_fs.FileType.File
        if not there:
            raise DataError(f"cannot read {url}: there is no such file")
        return cls(path, filesystem, without_secrets(url))

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
        there = _without_keys(self.filesystem)
        return None if info.mtime_ns is None else (*there, self.path, info.size, info.mtime_ns)

    def open(self) -> IO[bytes]:
        """The raw bytes, seekable; whoever opens closes."""
        try:
            if self.filesystem is None:
                return Path(self.path).open("rb")
            return cast("IO[bytes]", self.filesystem.open_input_file(self.path))
        except OSError as error:
            kept = "; keys in an address are not sent to workers: set them there" if HIDDEN in self.shown else ""
            raise UnreadableError(f"cannot read {self}: {error.strerror or error}{kept}") from error

    def start(self, count: int) -> bytes:
        """The first bytes."""
        with self.open() as handle:
            return handle.read(count)

    def __str__(self) -> str:
        return self.shown or self.path

    def __reduce__(self) -> tuple[Any, ...]:
        made_anew = None if self.filesystem is None else _without_keys(self.filesystem)
        return _arrived, (self.path, made_anew, self.shown)


def opened_address(url: str) -> tuple[Any, str]:
    """The file system of an address, and the path on it.

    Args:
        url: such as s3://bucket/folder.
    """
    with explaining(url):
        filesystem, path = pa_fs.FileSystem.from_uri(url)
    return filesystem, path


@contextmanager
def explaining(url: str) -> Iterator[None]:
    """Turn what a file system raises into one sentence, which repeats no secret of the address.

    Args:
        url: the address as the user gave it.
    """
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        said = without_secrets(str(error), url).splitlines()
        # not "from error": its text may hold the address
        raise DataError(f"cannot read {without_secrets(url)}: {said[0] if said else type(error).__name__}") from None


def _without_keys(filesystem: Any) -> tuple[Any, ...]:
    """How pyarrow makes the file system anew, without keys that were given: elsewhere the environment has them."""
    made, given, *_ = filesystem.__reduce__()
    return made, *(_hidden(each) if isinstance(each, dict) else each for each in given)


def _hidden(options: dict[str, Any]) -> dict[str, Any]:
    return {name: None if name in _KEYS else value for name, value in options.items()}


def _arrived(path: str, filesystem: tuple[Any, ...] | None, shown: str) -> Place:
    return Place(path, None if filesystem is None else filesystem[0](*filesystem[1:]), shown)


# by which S3, Azure and Google know a user
_KEYS = frozenset(
    ("access_key", "secret_key", "session_token", "account_key", "sas_token", "client_secret", "access_token")
)

"""Temporary files and folders that say whose they are, so that the next run removes what a killed one left.

Each bears a lock (flock) for as long as its process lives, however that ends. Whoever makes one in a folder first
looks there for others of this user by their names, and removes those whose lock is free: never one in use, and
nothing that is not of assay.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

# Windows has none: there, nothing that is open can be removed
fcntl: Any = import_module("fcntl") if os.name == "posix" else None

_OURS = re.compile(r"\.?assay-[0-9a-f]{16}\.part")
_swept: set[Path] = set()


def partial_file(folder: Path, mode: int) -> tuple[int, Path]:
    """Open a new file, in the place of which a whole one shall be, for reading and writing.

    Args:
        folder: where it is made.
        mode: who may read and write it, less what the umask takes away.

    Returns:
        Its descriptor, which holds the lock until it is closed, and its path.
    """
    _sweep(folder)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = folder / f".assay-{secrets.token_hex(8)}.part"
        descriptor = os.open(path, flags, mode)
        if _held(descriptor, path):
            return descriptor, path
        os.close(descriptor)


class TemporaryFolder:
    """A folder that goes with this object, with the process, or with the next one.

    Attributes:
        path: of the folder.

    >>> with TemporaryFolder() as folder:
    ...     _ = (folder / "a").write_text("b")
    >>> folder.exists()
    False
    """

    def __init__(self) -> None:
        around = Path(tempfile.gettempdir())
        _sweep(around)
        while True:
            self.path = around / f"assay-{secrets.token_hex(8)}.part"
            self.path.mkdir(mode=0o700)
            descriptor = os.open(self.path, os.O_RDONLY) if fcntl is not None else None
            if descriptor is None or _held(descriptor, self.path):
                break
            os.close(descriptor)
        self.remove = weakref.finalize(self, _removed, self.path, descriptor)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.remove()


def _removed(path: Path, descriptor: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if descriptor is not None:
        os.close(descriptor)


def _held(descriptor: int, path: Path) -> bool:
    """Lock what was just made; False where another process took it for a leftover in between."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, where nothing is swept either
        return True
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116  # as samestat takes it
    except FileNotFoundError:
        return False


def _sweep(folder: Path) -> None:
    """Remove what is left of processes that are gone, once for each folder."""
    with suppress(OSError):
        whole = folder.resolve()
        if whole in _swept:
            return
        _swept.add(whole)
        with os.scandir(whole) as entries:
            found = [Path(entry.path) for entry in entries if _OURS.fullmatch(entry.name)]
        for path in found:
            with suppress(OSError):
                _remove_if_left(path)


def _remove_if_left(path: Path) -> None:
    if fcntl is None:
        path.unlink()
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        known = os.fstat(descriptor)
        if known.st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISDIR(known.st_mode):
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(known.st_mode):
            path.unlink()
    finally:
        os.close(descriptor)

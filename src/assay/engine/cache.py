"""Results of long passes over large files, kept in the user's cache folder: a study that is repeated, or that was
interrupted, does not read them again.

What is kept are results of whole passes: moments, counts, and the rows drawn for pictures. A key stands for the file
(place, size, times, samples of its content), the options, the code of assay and its libraries: where anything differs,
also the version of assay, nothing is found. Files of which a column is sensitive are not kept at all. Whatever is wrong
with the folder or a file in it, damaged or of another user, is passed over: the work is done anew. See
docs/adr/0037-effort-and-cache.md.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from assay.engine.engine import Engine, Parted, Progress
from assay.engine.fingerprint import NoFingerprintError
from assay.engine.resume import ABSENT, SUFFIX, KeptResults, key_of
from assay.errors import DataError

Part = TypeVar("Part")

LARGE = 1 << 26  # bytes of files from which on a pass may be kept
LONG = 1.0  # seconds that a pass takes at least, to be kept
LIMIT = 1 << 30  # bytes of all that is kept: beyond, what was not used for longest is removed
_LARGEST = LIMIT // 4  # bytes of one result


def cache_folder() -> Path:
    """Where results are kept: `assay` in the user's folder for caches, as XDG_CACHE_HOME or the system says."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if given and Path(given).is_absolute():
        return Path(given) / "assay"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "assay"
    local = os.environ.get("LOCALAPPDATA", "")
    if os.name == "nt" and local:
        return Path(local) / "assay" / "Cache"
    return Path.home() / ".cache" / "assay"


class Cache(KeptResults):
    """Results of whole passes in a folder, no more of them than fit.

    Args:
        folder: it is made when something is to be kept; None for the user's own.

    Attributes:
        found: how many passes were found done.
        worked: how many were not, and could have been.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = cache_folder() if folder is None else Path(folder)
        self.found = self.worked = 0

    def map_reduce(
        self,
        engine: Engine,
        blocks: Parted[Any],
        map: Callable[[Any], Part],
        merge: Callable[[Part, Part], Part],
        progress: Progress | None = None,
    ) -> Part:
        """What `engine.map_reduce` gives; what is known from an earlier run is not done again.

        Args:
            engine: that of this process.
            blocks, map, merge, progress: as in `Engine.map_reduce`.
        """
        key = self._key(blocks, map, merge)
        if key is None:
            return engine.map_reduce(blocks, map, merge, progress)
        known = self._load(key)
        if known is not ABSENT:
            self.found += 1
            with contextlib.suppress(OSError):
                os.utime(self._path(key))
            blocks.begin()
            blocks.hear(known[1])
            return known[0]  # type: ignore[no-any-return]
        self.worked += 1
        start = time.monotonic()
        result = engine.map_reduce(blocks, map, merge, progress)
        if time.monotonic() - start >= LONG:
            self._save(key, (result, blocks.told()))  # type: ignore[attr-defined]
        return result

    @property
    def entries(self) -> list[tuple[float, int, Path]]:
        """When each was used last, its bytes and its place, the oldest first."""
        return sorted(_entries(self.folder))

    @property
    def size(self) -> int:
        """Bytes of all that is kept."""
        return sum(size for _, size, _ in self.entries)

    def _key(self, blocks: Any, map: Callable[..., Any], merge: Callable[..., Any]) -> str | None:
        """What tells the work from other work; None where nothing does, or it is not worth keeping."""
        files = blocks.kept_files() if hasattr(blocks, "kept_files") else None
        if files is None or files.size < LARGE:
            return None
        try:
            return key_of(b"cache", map, merge, blocks, files)
        except NoFingerprintError:
            return None

    def _load(self, key: str) -> Any:
        try:
            self._refuse_strange_folder()
            return super()._load(key)
        except (DataError, OSError):
            return ABSENT

    def _save(self, key: str, value: Any) -> None:
        """Keep a result where there is a place for it; whatever stands in the way, the run goes on."""
        with contextlib.suppress(DataError, OSError):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self._refuse_strange_folder()
            super()._save(key, value)
            self._make_room()

    def _make_room(self) -> None:
        entries = self.entries
        total = sum(size for _, size, _ in entries)
        for _, size, file in entries:
            if total <= LIMIT and size <= _LARGEST:
                continue
            with contextlib.suppress(OSError):
                file.unlink()
            total -= size


def _entries(folder: Path) -> Iterator[tuple[float, int, Path]]:
    for file in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):
            known = file.lstat()
            yield known.st_mtime, known.st_size, file

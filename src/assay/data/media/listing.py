"""What lies in a folder: its files, of what kind they are, and what must not be read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from assay.errors import DataError
from assay.system_errors import with_remedy

FolderKind: TypeAlias = Literal["images", "sounds", "texts"]

# Of kinds equally frequent the first is meant: texts are often there to describe the rest.
SUFFIXES: dict[FolderKind, frozenset[str]] = {
    "images": frozenset({".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pbm"}),
    "sounds": frozenset({".wav", ".wave"}),
    "texts": frozenset({".txt", ".text", ".md", ".rst"}),
}

SHUT = "folders cannot be opened and are left out"
_UNSEEN = "entries cannot be looked at and are left out"


@dataclass(frozen=True, slots=True)
class Listed:
    """What lies in a folder.

    Attributes:
        files: by relative path, sorted.
        left_out: entries that are not read, as (reason, relative path).
    """

    files: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


def listed(folder: Path) -> Listed:
    """List the files of a folder and its sub-folders; hidden ones are passed over, no link is followed out of it."""
    if not folder.is_dir():
        raise DataError(f"cannot read {folder}: there is no such folder")
    root = folder.resolve()
    files: list[str] = []
    left_out: list[tuple[str, str]] = []

    def refused(error: OSError) -> None:
        if Path(error.filename) == folder:
            raise DataError(f"cannot read {folder}: {with_remedy(error)}") from error
        left_out.append((SHUT, os.path.relpath(error.filename, folder)))

    for place, folders, names in os.walk(folder, onerror=refused):
        folders[:] = [name for name in folders if not name.startswith(".")]
        here = Path(place)
        for name in (*names, *folders):
            entry = here / name
            relative = entry.relative_to(folder).as_posix()
            if name.startswith("."):
                continue
            why = _left_out(entry, root)
            if why is not None:
                left_out.append((why, relative))
            elif entry.is_file():
                files.append(relative)
    if not files and any(why in (SHUT, _UNSEEN) for why, _ in left_out):
        raise DataError(f"cannot read {folder}: what is in it may not be looked at; have it allowed to you")
    return Listed(tuple(sorted(files)), tuple(sorted(left_out)))


def _left_out(entry: Path, root: Path) -> str | None:
    """Why an entry of a folder is not read; None where it is."""
    try:
        if entry.is_symlink() and not _target(entry).is_relative_to(root):
            return "links lead out of the folder and are not followed"
        if entry.is_symlink() and entry.is_dir():
            return "links to folders are not followed"
        if not entry.is_file() and not entry.is_dir():
            return "entries are not files and are left out"
    except OSError:  # names in a folder that can be listed and not entered
        return _UNSEEN
    return None


def _target(link: Path) -> Path:
    try:
        return link.resolve()
    except RuntimeError:  # a link to itself; later Pythons return it as it is
        return link.absolute()


def kind_of(file: str) -> FolderKind | None:
    """What a file is by its suffix.

    >>> kind_of("a/b.JPG")
    'images'
    """
    suffix = Path(file).suffix.lower()
    return next((kind for kind, suffixes in SUFFIXES.items() if suffix in suffixes), None)


def most_frequent(files: Sequence[str]) -> FolderKind | None:
    """The kind that most files have; None if another suffix is more frequent.

    >>> most_frequent(["a.png", "b.png", "readme.md"])
    'images'
    """
    counts = Counter(kind_of(file) or Path(file).suffix.lower() for file in files)
    most = max(counts.values(), default=0)
    return next((kind for kind in SUFFIXES if most and counts[kind] == most), None)

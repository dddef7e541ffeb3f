"""Which files a pattern or a folder means, here or on a file system that pyarrow knows by its URL."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow.fs as pa_fs

from assay.data.formats.recognise import format_by_name
from assay.data.media.listing import SHUT, kind_of, listed
from assay.data.place import Place, explaining, opened_address
from assay.errors import DataError
from assay.shown import without_secrets
from assay.system_errors import with_remedy

_MAGIC = re.compile(r"[*?\[]")
_LINK_OUT = "links lead out of the folder and are not followed"
_TOLD = 5


@dataclass(frozen=True, slots=True)
class Root:
    """A folder.

    Attributes:
        path: on its file system.
        filesystem: as pyarrow has it, or None for this machine's own.
        shown: how messages call it.
    """

    path: str
    filesystem: Any
    shown: str

    @classmethod
    def of(cls, text: str) -> Root:
        """A folder from a path or a URL, there or not."""
        if "://" not in text:
            return cls(text, None, text)
        filesystem, path = opened_address(text)
        # the machine's own files are walked here, so that links are seen
        local = isinstance(filesystem, pa_fs.LocalFileSystem)
        return cls(path, None if local else filesystem, without_secrets(text))

    @property
    def is_folder(self) -> bool:
        """Whether there is such a folder."""
        if self.filesystem is None:
            return Path(self.path).is_dir()
        with explaining(self.shown):
            return bool(self.filesystem.get_file_info(self.path).type == pa_fs.FileType.Directory)

    def place(self, name: str) -> Place:
        """A file in the folder."""
        shown, question, query = self.shown.partition("?") if self.filesystem is not None else (self.shown, "", "")
        path = f"{self.path.rstrip('/')}/{name}" if self.path else name
        return Place(path, self.filesystem, f"{shown.rstrip('/')}/{name}{question}{query}" if shown else name)


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """Files that are meant.

    Attributes:
        root: the folder they are in.
        names: their paths within it, sorted.
        notes: what was left out, in sentences.
    """

    root: Root
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def places(self) -> list[tuple[Place, str]]:
        """Where the files are, with their names."""
        return [(self.root.place(name), name) for name in self.names]


def is_pattern(text: str) -> bool:
    """Whether a path or URL stands for many files; in a URL a question mark begins the options.

    >>> is_pattern("data/*.csv"), is_pattern("s3://bucket/a.csv?region=eu"), is_pattern("a?.csv")
    (True, False, True)
    """
    if "://" in text:
        return bool(re.search(r"[*\[]", text.partition("?")[0]))
    return bool(_MAGIC.search(text)) and not os.path.exists(text)  # noqa: PTH110  # that of Path refuses long names


def matching(pattern: str) -> FoundFiles:
    """The files that a pattern names, sorted; ** stands for any number of folders.

    Args:
        pattern: a path or URL with *, ? or [...].
    """
    root, steps = _split(pattern)
    if root.filesystem is None:
        folder = Path(root.path or ".")
        inside: list[str] = []
        outside: list[str] = []
        shut: list[str] = []
        for name in dict.fromkeys(_descended(folder, steps, shut)):
            within = (folder / name).resolve().is_relative_to(folder.resolve())
            (inside if within else outside).append(name)
        notes = _left_out_notes([(_LINK_OUT, name) for name in sorted(outside)] + [(SHUT, name) for name in shut])
    else:
        inside = [name for name in _remote_files(root, deep=len(steps) > 1) if _matches(name.split("/"), steps)]
        notes = ()
    if not inside:
        raise DataError(f"cannot read {pattern}: no file has such a name")
    return FoundFiles(root, tuple(sorted(inside)), notes)


def tables_in(root: Root) -> tuple[FoundFiles, bool]:
    """The tables in a folder and its sub-folders, by their suffixes, and whether images, sounds or texts are more.

    Args:
        root: the folder.
    """
    if root.filesystem is None:
        found = listed(Path(root.path))
        files: Sequence[str] = found.files
        left_out = list(found.left_out)
    else:
        files, left_out = sorted(_remote_files(root, deep=True)), []
    files = [file for file in files if not any(step.startswith(("_", ".")) for step in file.split("/"))]
    tables = tuple(file for file in files if format_by_name(file) is not None)
    others = [file for file in files if format_by_name(file) is None]
    left_out += [("files are not tables and were left out", file) for file in others]
    media = Counter(kind for file in others if (kind := kind_of(file)) and not _describes(file))
    most = max(media.values(), default=0)
    return FoundFiles(root, tables, _left_out_notes(left_out)), root.filesystem is None and most > len(tables)


def _describes(file: str) -> bool:
    return Path(file).stem.lower() in ("readme", "license", "licence", "changelog", "notice", "citation", "authors")


def _split(pattern: str) -> tuple[Root, list[str]]:
    """The folder before the first step that has a wildcard, and the steps from there."""
    text, question, query = pattern.partition("?") if "://" in pattern else (pattern, "", "")
    steps = text.split("/")
    first = next(i for i, step in enumerate(steps) if _MAGIC.search(step))
    base = "/".join(steps[:first]) or ("/" if text.startswith("/") else "")
    return Root.of(base + question + query), steps[first:]


def _descended(folder: Path, steps: Sequence[str], shut: list[str], before: str = "") -> Iterator[str]:
    """Files that the steps lead to; ** follows no links. Folders that cannot be opened are added to `shut`."""
    step, rest = steps[0], steps[1:]
    if step == "**":
        yield from _descended(folder, rest or ["*"], shut, before)
    try:
        entries = sorted((folder / before).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        if not before:
            raise DataError(f"cannot read {folder}: {with_remedy(error)}") from error
        if before not in shut:
            shut.append(before)
        return
    for entry in entries:
        name = f"{before}{entry.name}"
        if entry.name.startswith(".") and not step.startswith("."):
            continue
        if step == "**":
            if entry.is_dir() and not entry.is_symlink():
                yield from _descended(folder, steps, shut, f"{name}/")
        elif fnmatchcase(entry.name, step):
            if rest and entry.is_dir():
                yield from _descended(folder, rest, shut, f"{name}/")
            elif not rest and entry.is_file():
                yield name


def _matches(parts: Sequence[str], steps: Sequence[str]) -> bool:
    if not parts or not steps:
        return not parts and (not steps or list(steps) == ["**"])
    if steps[0] == "**":
        return _matches(parts, steps[1:] or ["*"]) or _matches(parts[1:], steps)
    return fnmatchcase(parts[0], steps[0]) and _matches(parts[1:], steps[1:])


def _remote_files(root: Root, *, deep: bool) -> list[str]:
    base = root.path.rstrip("/")
    with explaining(root.shown):
        found = root.filesystem.get_file_info(pa_fs.FileSelector(base, recursive=deep))
    return [info.path[len(base) :].lstrip("/") for info in found if info.type == pa_fs.FileType.File]


def _left_out_notes(left_out: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    notes = []
    for reason, count in Counter(reason for reason, _ in left_out).items():
        names = [name for why, name in left_out if why == reason][:_TOLD]
        told = ", ".join(names) + (", ..." if count > _TOLD else "")
        notes.append(f"{reason.capitalize()}: {count:,} ({told}).")
    return tuple(notes)

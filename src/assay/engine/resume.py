"""Results of parts kept on disk, so that a run that was interrupted goes on where it ended.

A pass over parts that can be told from others (`fingerprint`) writes the result of each as it comes; a later run with
the same code, files and options takes what is there and works on the rest. Parts are merged in the same shape, so the
result is the same to the bit. What is found is a pickle: only files of this user are loaded, from a folder that no
one else can write to. See docs/adr/0029-resume.md.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from assay.engine.engine import BlockPart, Engine, InOrder, Overheard, Parted, Progress, worked
from assay.engine.fingerprint import NoFingerprintError, fingerprint
from assay.engine.local import LocalEngine
from assay.errors import DataError
from assay.leftovers import partial_file

Part = TypeVar("Part")

SUFFIX = ".assay-part"
_MAGIC = b"assay part 1\n"
_DIGEST = 32
_PLAINLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # no links, no waiting for a pipe
ABSENT: Any = object()


class KeptResults:
    """A folder of results.

    Args:
        folder: it is made where it is not there; its parent must be.

    Attributes:
        found: how many parts were found done, in all passes.
        worked: how many were not.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.found = self.worked = 0
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            known = self.folder.stat()
        except OSError as error:
            raise DataError(f"cannot resume from {self.folder}: {error.strerror or error}; give a folder") from error
        _refuse_strange(self.folder, known)

    def _refuse_strange_folder(self) -> None:
        _refuse_strange(self.folder, self.folder.stat())

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
            engine: does the rest.
            blocks, map, merge, progress: as in `Engine.map_reduce`.
        """
        parts = blocks.parts()
        try:
            work = fingerprint(map, merge)
            keys = [key_of(work, part) for part in parts]
        except NoFingerprintError:
            return engine.map_reduce(blocks, map, merge, progress)
        whole = key_of(b"whole", *keys)
        known = self._load(whole)
        if known is not ABSENT:
            self.found += len(parts)
            blocks.begin()
            for what in known[1]:
                blocks.hear(what)
            return known[0]  # type: ignore[no-any-return]
        told: list[Any] = []
        if hasattr(blocks, "heard_by"):  # workers keep them: the pass is short, and kept as a whole
            result = engine.map_reduce(blocks.heard_by(told.append), map, merge, progress)
            self.worked += len(parts)
        else:
            result = self._by_parts(engine, Overheard(blocks, told.append), keys, _Work(map, merge), progress)
        self._save(whole, (result, told))
        self._remove(keys)
        return result

    def _by_parts(
        self, engine: Engine, blocks: Any, keys: Sequence[str], work: _Work, progress: Progress | None
    ) -> Any:
        """The pass part by part, each result kept as it comes."""
        blocks.begin()
        order = InOrder(work.merge, blocks.hear, progress)
        parts = blocks.parts()
        rest = [number for number, key in enumerate(keys) if not self._path(key).exists()]
        done = 0

        def take_known(stop: int) -> None:
            nonlocal done
            for number in range(done, stop):
                result = self._load(keys[number])
                self.found += result is not ABSENT
                self.worked += result is ABSENT  # damaged
                order.take(number, work.done(parts[number]) if result is ABSENT else result)
            done = stop

        waiting = iter(rest)

        def take(result: Any) -> None:
            nonlocal done
            number = next(waiting)
            self._save(keys[number], result)
            take_known(number)
            order.take(number, result)
            done = number + 1
            self.worked += 1

        if isinstance(engine, LocalEngine):
            for number in rest:
                # threads run over the blocks of a part: no more of them are held than in a pass without this
                take((engine.map_reduce(iter(parts[number]), work.map, work.merge), parts[number].told()))
        elif rest:
            engine.map_reduce(_Rest([parts[i] for i in rest], take), work.on_whole, lambda a, b: None)
        take_known(len(parts))
        return order.whole()

    def clear(self) -> None:
        """Remove all results: they are of no use once the run has ended."""
        for file in self.folder.glob(f"*{SUFFIX}"):
            with contextlib.suppress(OSError):
                file.unlink()

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"

    def _load(self, key: str) -> Any:
        """What was kept; `ABSENT` where that is nothing, damaged, or not of this user."""
        try:
            descriptor = os.open(self._path(key), os.O_RDONLY | _PLAINLY)
        except OSError:
            return ABSENT
        with os.fdopen(descriptor, "rb") as file:
            known = os.fstat(descriptor)
            _refuse_strange(self._path(key), known)
            if not stat.S_ISREG(known.st_mode):
                return ABSENT
            content = file.read()
        start = len(_MAGIC) + _DIGEST
        digest, body = content[len(_MAGIC) : start], content[start:]
        if not content.startswith(_MAGIC) or hashlib.blake2b(body, digest_size=_DIGEST).digest() != digest:
            return ABSENT
        try:
            return pickle.loads(body)
        except Exception:  # of another version of a library
            return ABSENT

    def _save(self, key: str, value: Any) -> None:
        try:
            body = pickle.dumps(value, protocol=5)
        except Exception:  # what cannot be kept is worked on again
            return
        partial = None
        try:
            descriptor, partial = partial_file(self.folder, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(_MAGIC + hashlib.blake2b(body, digest_size=_DIGEST).digest())
                file.write(body)
                file.flush()
                if os.name == "nt":  # where nothing that is open can be moved
                    file.close()
                partial.replace(self._path(key))
        except BaseException as error:
            if partial is not None:
                partial.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise DataError(
                    f"cannot keep results in {self.folder}: {error.strerror or error}; make room, or run without it"
                ) from error
            raise

    def _remove(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._path(key).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What is done with a part."""

    map: Callable[[Any], Any]
    merge: Callable[[Any, Any], Any]

    def done(self, part: BlockPart[Any]) -> tuple[Any, Any]:
        """Its result, and what is told of it."""
        return worked(part, self.map, self.merge)

    def on_whole(self, whole: _Whole) -> None:
        """The same for a part as a block: what comes of it is told."""
        whole.result = self.done(whole.part)


class _Whole:
    """A part that is one block, and tells what was made of it: so results come one by one from any engine."""

    def __init__(self, part: BlockPart[Any]) -> None:
        self.part = part
        self.result: Any = None

    def __iter__(self) -> Iterator[_Whole]:
        yield self

    def told(self) -> Any:
        return self.result


class _Rest:
    """Parts that are still to be worked on."""

    portable = True

    def __init__(self, parts: Sequence[Any], hear: Callable[[Any], object]) -> None:
        self._parts = [_Whole(part) for part in parts]
        self._hear = hear

    def hear(self, told: Any) -> None:
        self._hear(told)

    def __iter__(self) -> Iterator[_Whole]:
        return iter(self._parts)

    def parts(self) -> Sequence[_Whole]:
        return self._parts

    def of_parts(self) -> Iterator[tuple[int, _Whole]]:
        return enumerate(self._parts)

    def begin(self) -> None:
        """Nothing is forgotten."""


def key_of(*values: Any) -> str:
    """The name under which a result is kept.

    Args:
        values: the work, and what is worked on.
    """
    return fingerprint(*values).hex()


def _refuse_strange(place: Path, known: os.stat_result) -> None:
    """Refuse to load what somebody else may have written: loading a pickle runs what it says."""
    if not hasattr(os, "getuid"):
        return
    if known.st_uid != os.getuid():
        raise DataError(f"cannot resume from {place}: it belongs to another user; give a folder of your own")
    if known.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise DataError(
            f"cannot resume from {place}: others may write to it, and what lies there is run; "
            f"take that away by chmod go-w, or give another folder"
        )

"""What an engine is: it maps blocks where they can be read, and merges what they become in a fixed shape.

Another engine is one file with one class that has `map_reduce`, `scatter` and `gather`; `worked` is what its workers
call for each part, `Tree` what its driver merges their results with. See docs/guide/engines.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from assay.engine.tree import NOTHING, Tree, merged
from assay.errors import AssayError, EngineError
from assay.linalg.one_thread import one_blas_thread

T_co = TypeVar("T_co", covariant=True)
Block = TypeVar("Block")
Part = TypeVar("Part")
Joined = TypeVar("Joined")
Progress: TypeAlias = Callable[[int], object]


@runtime_checkable
class BlockPart(Protocol[T_co]):
    """Consecutive blocks that can be pickled, sent to a worker and read there."""

    def __iter__(self) -> Iterator[T_co]: ...

    def told(self) -> Any:
        """What there is to tell once the part has been read: problems and rows."""


@runtime_checkable
class Parted(Protocol[T_co]):
    """Blocks in parts. Iterating gives all of them, in order."""

    def __iter__(self) -> Iterator[T_co]: ...

    @property
    def portable(self) -> bool:
        """Whether the parts may be read elsewhere."""

    def parts(self) -> Sequence[BlockPart[T_co]]:
        """The parts, in order."""

    def of_parts(self) -> Iterator[tuple[Hashable, T_co]]:
        """Each block with what tells its part from others, read here."""

    def begin(self) -> None:
        """A pass begins; what is told of the pass before is forgotten."""

    def hear(self, told: Any) -> None:
        """What was told of the next part, in order."""


class Engine(ABC):
    """Runs a map and a merge over blocks. The same blocks give the same bits on every engine."""

    @abstractmethod
    def map_reduce(
        self,
        blocks: Parted[Block],
        map: Callable[[Block], Part],
        merge: Callable[[Part, Part], Part],
        progress: Progress | None = None,
    ) -> Part:
        """Map every block and merge in the fixed shape; `NOTHING` where there are no blocks.

        Args:
            blocks: what to work on; its parts are read by the workers.
            map: from a block to its part of the result.
            merge: from two neighbouring parts to one.
            progress: called with the number of parts done so far. Raise in it to stop.
        """

    @abstractmethod
    def scatter(self, blocks: Parted[Block]) -> Parted[Block]:
        """The same blocks, read once and kept with the workers, for work that passes over them again and again."""

    @abstractmethod
    def gather(self, blocks: Parted[Block]) -> list[Block]:
        """All blocks, read by the workers and brought here, in order; for what is known to be small."""

    def regroup(
        self,
        blocks: Parted[Block],
        split: Callable[[Block], Sequence[Part]],
        join: Callable[[list[Part]], Joined],
        count: int,
    ) -> Parted[Joined]:
        """Cut up every block and put the pieces together anew, in `count` blocks that stay with the workers.

        Here the pieces come through this process. An engine whose workers can hand them to each other says so itself.

        Args:
            blocks: what to cut up.
            split: from a block to `count` pieces, one for each of the new blocks.
            join: from all pieces of a new block, in the order of the blocks they come from, to that block.
            count: how many new blocks.
        """
        found = self.map_reduce(blocks, lambda block: [[piece] for piece in split(block)], _beside)
        pieces = [[] for _ in range(count)] if found is NOTHING else found
        return self.scatter(Items([join(some) for some in pieces]))

    @property
    def workers(self) -> int:
        """How many parts can be worked on at a time."""
        return 1

    def close(self) -> None:  # noqa: B027  # an engine may have nothing to let go of
        """Let go of what this engine started itself."""


def worked(
    part: BlockPart[Block],
    map: Callable[[Block], Part],
    merge: Callable[[Part, Part], Part],
    given: Any = None,
) -> tuple[Part, Any]:
    """What a worker does with one part: its blocks mapped and merged, and what is told of them.

    Args:
        part: some blocks.
        map, merge: as in `Engine.map_reduce`.
        given: what the part needs to be handed, see `handed`.
    """
    # the number of BLAS threads would change the bits
    with one_blas_thread(), handing(given):
        whole = merged((map(block) for block in part), merge)
        return whole, part.told()


_HANDED: ContextVar[Any] = ContextVar("handed", default=None)


def handed() -> Any:
    """What the engine handed to the task under way: rows that lie with the worker; None where it handed nothing."""
    return _HANDED.get()


@contextmanager
def handing(given: Any) -> Iterator[None]:
    """Let `handed` tell what is given.

    Args:
        given: rows that lie with the worker.
    """
    token = _HANDED.set(given)
    try:
        yield
    finally:
        _HANDED.reset(token)


def needed(part: Any) -> Any:
    """What a part needs to be handed: a frame and the number of its partition; None for most.

    Args:
        part: some blocks.
    """
    return getattr(part, "needs", None)


@dataclass(frozen=True, slots=True, eq=False)
class Read(Generic[Block]):
    """The blocks of a part that was read, and what was told of them: a part itself."""

    blocks: list[Block]
    what: Any

    @classmethod
    def of(cls, part: BlockPart[Block], given: Any = None) -> Read[Block]:
        """Read a part whole."""
        with handing(given):
            blocks = list(part)
        return cls(blocks, part.told())

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def told(self) -> Any:
        """What was told of the part."""
        return self.what


class Items(Generic[Block]):
    """Things of any sort as blocks in parts, one in each.

    Args:
        items: the things.
    """

    portable = True

    def __init__(self, items: Sequence[Block]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Block]:
        return iter(self._items)

    def parts(self) -> Sequence[Read[Block]]:
        """One for each item."""
        return [Read([item], None) for item in self._items]

    def of_parts(self) -> Iterator[tuple[int, Block]]:
        """Each with its number."""
        return enumerate(self._items)

    def begin(self) -> None:
        """Nothing is told."""

    def hear(self, told: Any) -> None:
        """Nothing is told."""


class Forwarded:
    """Blocks in parts as another object has them; what differs, a kind of it says.

    Args:
        blocks: the other.
    """

    def __init__(self, blocks: Parted[Any]) -> None:
        self._blocks = blocks
        if hasattr(blocks, "columns"):  # from Python 3.12 on, isinstance does not see what __getattr__ passes on
            self.columns = blocks.columns

    def __iter__(self) -> Iterator[Any]:
        return iter(self._blocks)

    @property
    def portable(self) -> bool:
        """Whether the parts may be read elsewhere."""
        return self._blocks.portable

    def parts(self) -> Sequence[Any]:
        """The parts, in order."""
        return self._blocks.parts()

    def of_parts(self) -> Iterator[tuple[Hashable, Any]]:
        """Each block with what tells its part from others, read here."""
        return self._blocks.of_parts()

    def begin(self) -> None:
        """A pass begins."""
        self._blocks.begin()

    def hear(self, told: Any) -> None:
        """What was told of the next part."""
        self._blocks.hear(told)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._blocks, name)


class Overheard(Forwarded):
    """The same blocks; somebody else hears what is told of them, too.

    Args:
        blocks: the blocks.
        listen: told what is told of each part, in order.
    """

    def __init__(self, blocks: Parted[Any], listen: Callable[[Any], object]) -> None:
        super().__init__(blocks)
        self._listen = listen

    def hear(self, told: Any) -> None:
        """What was told of the next part."""
        self._listen(told)
        super().hear(told)


def guarded(work: Callable[..., Any]) -> Callable[..., Any]:
    """The same work; errors on purpose are results, as no other worker would do better.

    Args:
        work: its first argument is a part, or the error in the place of one that could not be read, which is handed on.
    """

    @wraps(work)
    def done(part: Any, *rest: Any) -> Any:
        if isinstance(part, AssayError):
            return part
        try:
            return work(part, *rest)
        except AssayError as error:
            return error

    return done


class _Elsewhere(Read[Any]):
    """A part that workers put together."""

    def identity(self) -> Any:
        """None: what it holds is not known here."""
        return None


class Kept(Items[Any]):
    """As many blocks as are kept with workers: they can be mapped and gathered there, and are not here.

    Args:
        count: how many.
    """

    def __init__(self, count: int) -> None:
        super().__init__(range(count))

    def parts(self) -> Sequence[Read[Any]]:
        """As many, which nothing tells from those of other blocks."""
        return [_Elsewhere([number], None) for number in range(len(self._items))]

    def __iter__(self) -> Iterator[Any]:
        raise EngineError("these blocks lie with the workers of an engine that is no longer in use; use it again")


class InOrder:
    """Takes results of parts as they come and merges them in the order of the parts.

    Args:
        merge: from two neighbouring parts to one.
        hear: told what was told of each part, in order.
        progress: told how many parts are done.
    """

    def __init__(
        self, merge: Callable[[Any, Any], Any], hear: Callable[[Any], object], progress: Progress | None
    ) -> None:
        self._tree: Tree[Any] = Tree(merge)
        self._hear = hear
        self._progress = progress
        self._early: dict[int, tuple[Any, Any]] = {}
        self._next = 0
        self._done = 0

    def take(self, number: int, result: tuple[Any, Any]) -> None:
        """The result of a part: the first is taken, a second of the same part is not."""
        if number < self._next or number in self._early:
            return
        self._early[number] = result
        self._done += 1
        while self._next in self._early:
            part, told = self._early.pop(self._next)
            self._next += 1
            if part is not NOTHING:
                self._tree.add(part)
            self._hear(told)
        if self._progress is not None:
            self._progress(self._done)

    def whole(self) -> Any:
        """All parts merged; `NOTHING` where there was none."""
        return self._tree.whole()


def _beside(left: list[list[Any]], right: list[list[Any]]) -> list[list[Any]]:
    return [a + b for a, b in zip(left, right, strict=True)]

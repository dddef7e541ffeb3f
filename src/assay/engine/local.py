"""Map-reduce over blocks on this machine's threads.

The result does not depend on how many threads ran or which finished first: each block is mapped on its own with
single-threaded BLAS, and results are merged in a fixed shape. To the bit this holds on one machine with the
same libraries: on another processor BLAS adds in another order.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import TypeVar

from assay.engine.engine import Engine, Parted, Progress
from assay.engine.tree import Tree
from assay.errors import ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.optimize.team import available_cores

Block = TypeVar("Block")
Part = TypeVar("Part")

_AHEAD = min(4, os.cpu_count() or 1)  # items, each of which may hold a file or a block


class LocalEngine(Engine):
    """The threads of this process. Blocks are read here, one after the other, and mapped on threads.

    At most `threads + 1` blocks are held at a time, so blocks of a source larger than memory are fine. An interrupt or
    an exception stops the work: blocks not yet begun are never begun.

    Args:
        threads: how many; default: the cores this process may use. The result does not depend on it.
    """

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise ParameterError(f"threads must be at least 1; got {threads}")
        self._threads = threads

    @property
    def workers(self) -> int:
        """Threads."""
        return available_cores() if self._threads is None else self._threads

    def map_reduce(
        self,
        blocks: Iterable[Block],
        map: Callable[[Block], Part],
        merge: Callable[[Part, Part], Part],
        progress: Progress | None = None,
    ) -> Part:
        """Map every block and merge in the fixed shape; `NOTHING` where there are no blocks.

        Args:
            blocks: what to work on, in parts or not; read lazily, in this thread.
            map: runs in worker threads.
            merge: runs in this thread.
            progress: called with the number of blocks done so far. Raise in it to stop.
        """
        numbered = blocks.of_parts() if isinstance(blocks, Parted) else ((0, block) for block in blocks)
        # threads run over blocks; BLAS threads inside would fight them, and their number would change the bits
        parts = mapped(numbered, lambda item: (item[0], map(item[1])), self.workers)
        with one_blas_thread(), closing(parts):
            return _merged_by_part(parts, merge, progress)

    def scatter(self, blocks: Parted[Block]) -> Parted[Block]:
        """The blocks as they are: what can be kept in memory, sources keep."""
        return blocks

    def gather(self, blocks: Parted[Block]) -> list[Block]:
        """All blocks."""
        return list(blocks)


def mapped(blocks: Iterable[Block], map: Callable[[Block], Part], threads: int) -> Generator[Part, None, None]:
    """map(block) for each block on threads, in order; a single block is not worth a thread.

    Args:
        blocks: taken in the calling thread.
        map: what to do.
        threads: how many.
    """
    rest = iter(blocks)
    first = list(islice(rest, 2))
    if threads == 1 or len(first) < 2:
        return (map(block) for block in chain(first, rest))
    return ahead(map, chain(first, rest), threads)


def _merged_by_part(
    mapped: Iterable[tuple[Hashable, Part]], merge: Callable[[Part, Part], Part], progress: Progress | None
) -> Part:
    """Blocks of a part merged among themselves, then the parts: the shape that workers give, who merge their part."""
    parts: Tree[Part] = Tree(merge)
    done = 0
    for _, own in groupby(mapped, key=itemgetter(0)):
        blocks: Tree[Part] = Tree(merge)
        for _, value in own:
            blocks.add(value)
            done += 1
            if progress is not None:
                progress(done)
        parts.add(blocks.whole())
    return parts.whole()


def in_threads(
    work: Callable[[Block], Part], items: Sequence[Block], progress: Callable[[int, int], object] | None = None
) -> list[Part]:
    """work(item) for each item, results in order; an interrupt or error drops what has not begun.

    Args:
        work: must be safe to run beside itself, and let go of the interpreter to gain anything.
        items: what to call it with.
        progress: called as progress(done, total) from the calling thread.

    >>> in_threads(lambda start: start**2, range(0, 9, 3))
    [0, 9, 36]
    """
    results: list[Part] = []
    for result in ahead(work, items, available_cores()) if len(items) > 1 else map(work, items):
        results.append(result)
        if progress is not None:
            progress(len(results), len(items))
    return results


def ahead(
    function: Callable[[Block], Part], items: Iterable[Block], threads: int = _AHEAD
) -> Generator[Part, None, None]:
    """Apply a function to items on threads, a few ahead of those asked for; results come in order.

    Items are taken in the calling thread. Closing the iterator, an error or an interrupt drops what has not begun.

    >>> list(ahead(str, iter([1, 2])))
    ['1', '2']
    """
    waiting: deque[Future[Part]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="assay-ahead")
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)

"""Map-reduce over blocks on this machine's threads.

The result does not depend on how many threads ran or which finished first: each block is mapped on its own with
single-threaded BLAS, and results are merged in the order of the blocks. To the bit this holds on one machine with the
same libraries: on another processor BLAS adds in another order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import Any, TypeVar, cast

from assay.data.ahead import ahead
from assay.errors import DataError, ParameterError
from assay.linalg.one_thread import one_blas_thread

Block = TypeVar("Block")
Part = TypeVar("Part")
Progress = Callable[[int], object]


def map_reduce(
    blocks: Iterable[Block],
    map: Callable[[Block], Part],
    merge: Callable[[Part, Part], Part],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Part:
    """Map every block and merge the parts in block order.

    At most `threads + 1` blocks are held at a time, so a lazy iterable larger than memory is fine. An interrupt
    or an exception stops the work: blocks not yet begun are never begun.

    Args:
        blocks: what to work on; read lazily, in this thread.
        map: from a block to its part; runs in worker threads.
        merge: from two parts to one; runs in this thread.
        threads: how many workers; default: the cores this process may use.
        progress: called with the number of blocks merged so far. Raise in it to stop.

    Returns:
        The merged part.

    >>> map_reduce([[1, 2], [3]], sum, lambda a, b: a + b)
    6
    """
    workers = available_cores() if threads is None else threads
    if workers < 1:
        raise ParameterError(f"threads must be at least 1; got {threads}")
    # threads run over blocks; BLAS threads inside would fight them, and their number would change the bits
    with one_blas_thread():
        parts = _mapped(blocks, map, workers)
        try:
            total = next(parts, _NOTHING)
            if total is _NOTHING:
                raise DataError("there is nothing to summarise: the source has no blocks")
            done = 1
            _tell(progress, done)
            for part in parts:
                total = merge(total, part)
                done += 1
                _tell(progress, done)
        finally:
            parts.close()
    return cast("Part", total)


_NOTHING: Any = object()


def _tell(progress: Progress | None, done: int) -> None:
    if progress is not None:
        progress(done)


def _mapped(blocks: Iterable[Block], map: Callable[[Block], Part], workers: int) -> Any:
    rest = iter(blocks)
    first = list(islice(rest, 2))
    if workers == 1 or len(first) < 2:  # a single block is not worth a thread
        return (map(block) for block in chain(first, rest))
    return ahead(map, chain(first, rest), workers)


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


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

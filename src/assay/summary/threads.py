"""Work shared among threads, for loops that let go of the interpreter: matrix products and compiled kernels."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def cores() -> int:
    """How many threads this process may run at once.

    >>> cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(
    work: Callable[[int], Result], starts: Sequence[int], progress: Callable[[int, int], None] | None = None
) -> list[Result]:
    """work(start) for each start, in threads, results in order; an interrupt or error drops what has not begun.

    Args:
        work: Must be safe to run beside itself.
        starts: What to call it with.
        progress: Called as progress(done, total) from the calling thread.

    >>> in_threads(lambda start: start**2, range(0, 9, 3))
    [0, 9, 36]
    """
    results: list[Result] = []
    pool = ThreadPoolExecutor(cores())
    try:
        for result in pool.map(work, starts):
            results.append(result)
            if progress is not None:
                progress(len(results), len(starts))
    finally:
        pool.shutdown(cancel_futures=True)
    return results

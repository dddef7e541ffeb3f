"""Threads that stay for the whole of an iteration: a pool for each call costs more than the work of 10,000 points."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from types import TracebackType
from typing import Self, TypeAlias

Task: TypeAlias = Callable[[], object]


class Team:
    """Threads that share tasks; the calling thread is one of them.

    Tasks must let go of the interpreter to gain anything, and write to places of their own: then the result is the
    same for any number of threads.

    Args:
        threads: how many; the cores this process may use when not given.

    >>> done = []
    >>> with Team(2) as team:
    ...     team.run([lambda: done.append(1), lambda: done.append(2), lambda: done.append(3)])
    >>> sorted(done)
    [1, 2, 3]
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = available_cores() if threads is None else threads
        self._pool = ThreadPoolExecutor(self.threads - 1, "assay-team") if self.threads > 1 else None

    def run(self, tasks: list[Task]) -> None:
        """Run every task, in any order; the first error is raised when all have ended."""
        if self._pool is None:  # steps of few points are so short that what follows would take a tenth of them
            for task in tasks:
                task()
            return
        left = deque(tasks)

        def work() -> None:
            while left:
                try:
                    task = left.popleft()
                except IndexError:  # another thread was faster
                    return
                task()

        helpers = min(self.threads, len(tasks)) - 1
        waiting = [self._pool.submit(work) for _ in range(helpers)]
        try:
            work()
        finally:
            left.clear()
            for helper in waiting:
                helper.result()

    def over_rows(self, n: int, work: Callable[[int, int], object]) -> list[Task]:
        """Tasks that call work(lo, hi) on shares of n rows, two for each thread."""
        if self.threads == 1:
            return [partial(work, 0, n)]
        shares = max(1, min(2 * self.threads, n // 64))
        cuts = [n * s // shares for s in range(shares + 1)]
        return [partial(work, lo, hi) for lo, hi in pairwise(cuts)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""Work on threads, a few items ahead of what is asked for."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
Result = TypeVar("Result")

_AHEAD = min(4, os.cpu_count() or 1)


def ahead(function: Callable[[T], Result], items: Iterable[T], threads: int = _AHEAD) -> Generator[Result, None, None]:
    """Apply a function to items on threads, a few ahead of those asked for; results come in order.

    Items are taken in the calling thread. Closing the iterator, an error or an interrupt drops what has not begun.

    >>> list(ahead(str, iter([1, 2])))
    ['1', '2']
    """
    waiting: deque[Future[Result]] = deque()
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

"""Calls that may never return, made so that whoever waits can stop waiting."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class PatienceError(Exception):
    """A call took longer than it may."""


class Helper:
    """A thread that makes calls, one after the other.

    A driver's call is deaf to Ctrl-C until it returns, and a view may have no end. The one who waits here hears it at
    once; the thread is left behind then, and so is all it works on: closing that would wait for it, or break it.

    Args:
        patience: seconds that a call may take.

    Attributes:
        left: whether it was left behind.
    """

    def __init__(self, patience: float) -> None:
        self.left = False
        self._patience = patience
        self._calls: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._kept: list[Any] = []
        threading.Thread(target=_work, args=(self._calls, self._results, self._kept), daemon=True).start()

    def keep(self, thing: T) -> T:
        """A thing that calls work on: as long as the thread is there it is not closed by being forgotten."""
        self._kept.append(thing)
        return thing

    def call(self, call: Callable[[], T]) -> T:
        """The result of a call.

        Args:
            call: what is called in the thread.
        """
        try:
            self._calls.put(call)
            result, error = self._results.get(timeout=self._patience)
        except BaseException as error:
            self.left = True
            if isinstance(error, queue.Empty):
                raise PatienceError from None
            raise
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def close(self) -> None:
        """Let the thread end, unless it was left behind."""
        if not self.left:
            self._calls.put(None)


def _work(
    calls: queue.SimpleQueue[Callable[[], Any] | None],
    results: queue.SimpleQueue[tuple[Any, BaseException | None]],
    kept: list[Any],
) -> None:
    while (call := calls.get()) is not None:
        try:
            results.put((call(), None))
        except BaseException as error:
            results.put((None, error))
    kept.clear()

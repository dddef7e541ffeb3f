"""Signals that end the command, heeded as an interrupt is: what was begun is cleaned up."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Closing a terminal sends SIGHUP twice, by the system and by the shell; cleaning up is not to be cut short by that.
_PATIENCE = 5.0


class Stopped(KeyboardInterrupt):
    """A signal asked the command to end.

    Args:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def exit_code(error: KeyboardInterrupt) -> int:
    """What shells give for a program that a signal ended.

    >>> exit_code(Stopped(signal.SIGTERM)), exit_code(KeyboardInterrupt())
    (143, 130)
    """
    return 128 + (error.number if isinstance(error, Stopped) else signal.SIGINT)


@contextmanager
def heard(heed: Callable[[int, FrameType | None], Any], *numbers: int) -> Iterator[None]:
    """Call a function at signals inside the block; those that are ignored, as by nohup, stay so.

    Args:
        heed: takes the number of the signal.
        numbers: of the signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {n: handler for n in numbers if (handler := signal.getsignal(n)) not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, heed)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM and SIGHUP raise `Stopped` inside the block."""
    last = -_PATIENCE

    def heed(number: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _PATIENCE:
            last = now
            raise Stopped(number)

    with heard(heed, *ENDING):
        yield


ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

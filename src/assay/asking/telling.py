"""How a question tells what is being done for it, and which share of that is done."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Protocol


class Telling(Protocol):
    """Told what is being done, and where that is known which share of it."""

    def __call__(self, what: str, share: float | None = None, /) -> object:
        """Told while a question is asked."""


def untold(what: str, share: float | None = None, /) -> None:
    """Where nobody listens."""


def counting(tell: Telling, what: str, number: int) -> Callable[..., None]:
    """To be called after each of so many steps: tells the share that is done.

    Args:
        tell: told.
        what: is being done.
        number: of steps, at most.

    >>> done = counting(lambda what, share=None: print(what, share), "what chance does", 2)
    what chance does 0.0
    >>> done()
    what chance does 0.5
    """
    tell(what, 0.0)
    steps = count(1)

    def done(*_: object) -> None:
        tell(what, next(steps) / number)

    return done

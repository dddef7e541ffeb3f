"""Map-reduce whose parts are taken one after the other, in the order of the blocks, by something that keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, TypeVar

from assay.engine.local import map_reduce
from assay.summary.triples.allowance import threads

Block = TypeVar("Block")
Part = TypeVar("Part")

_TAKEN: Any = object()


def in_order(blocks: Iterable[Block], map: Callable[[Block], Part], take: Callable[[Part], object]) -> None:
    """Map every block in the engine and hand the parts to `take`, in block order; nothing where there are none.

    >>> kept = []
    >>> in_order([3, 1, 2], lambda block: block * 10, kept.append)
    >>> kept
    [30, 10, 20]
    """

    def merge(total: Any, part: Any) -> Any:
        if total is not _TAKEN:
            take(total)
        take(part)
        return _TAKEN

    rest = iter(blocks)
    first = next(rest, _TAKEN)
    if first is _TAKEN:
        return
    total: Any = map_reduce(chain([first], rest), map, merge, threads=threads())
    if total is not _TAKEN:
        take(total)

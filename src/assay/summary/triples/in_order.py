"""A map whose parts are taken one after the other, in the order of the blocks, by something that keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TypeVar

from assay.engine.local import mapped
from assay.linalg.one_thread import one_blas_thread
from assay.summary.triples.allowance import threads

Block = TypeVar("Block")
Part = TypeVar("Part")


def in_order(blocks: Iterable[Block], map: Callable[[Block], Part], take: Callable[[Part], object]) -> None:
    """Map every block on threads and hand the parts to `take`, in block order; nothing where there are none.

    >>> kept = []
    >>> in_order([3, 1, 2], lambda block: block * 10, kept.append)
    >>> kept
    [30, 10, 20]
    """
    with one_blas_thread(), closing(mapped(blocks, map, threads())) as parts:
        for part in parts:
            take(part)

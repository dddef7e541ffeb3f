"""Merging in a fixed shape: neighbours first, then neighbours of these, so that who merged does not show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

Part = TypeVar("Part")


class _Nothing:
    """The result of no blocks; there is one, also after a journey."""

    def __reduce__(self) -> str:
        return "NOTHING"


NOTHING: Any = _Nothing()


class Tree(Generic[Part]):
    """Merges values as they come, in pairs, pairs of pairs and so on; holds log2 of their number.

    The shape depends on how many values came before and on nothing else. It is that of pairwise summation, whose
    rounding grows with the logarithm of the number of values.

    >>> tree = Tree(lambda a, b: f"({a}{b})")
    >>> for letter in "abcde":
    ...     tree.add(letter)
    >>> tree.whole()
    '(((ab)(cd))e)'
    """

    def __init__(self, merge: Callable[[Part, Part], Part]) -> None:
        self._merge = merge
        self._waiting: list[tuple[int, Part]] = []

    def add(self, value: Part) -> None:
        """Take in the next value."""
        level = 0
        while self._waiting and self._waiting[-1][0] == level:
            value = self._merge(self._waiting.pop()[1], value)
            level += 1
        self._waiting.append((level, value))

    def whole(self) -> Part:
        """All values merged; `NOTHING` where none came."""
        if not self._waiting:
            return NOTHING  # type: ignore[no-any-return]
        _, value = self._waiting.pop()
        while self._waiting:
            value = self._merge(self._waiting.pop()[1], value)
        return value


def merged(values: Iterable[Part], merge: Callable[[Part, Part], Part]) -> Part:
    """All values merged in the shape of a tree; `NOTHING` where there are none.

    Args:
        values: in order; taken one at a time.
        merge: from two neighbours to one.
    """
    tree = Tree(merge)
    for value in values:
        tree.add(value)
    return tree.whole()

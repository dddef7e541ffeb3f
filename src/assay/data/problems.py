"""What was wrong with a source while its rows were read: counted, with places, never silent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """One sort of trouble in one place.

    Attributes:
        what: in words that stand before the count, such as "values are not numbers and count as missing".
        column: the column, or None for whole rows or files.
        count: how often.
        examples: the first few as (place, value), the place such as "line 7" or "row 7", both counted from 1; the
            value is None where it must not be shown.
        shown: how many of the count the examples stand for; None where each is one.
    """

    what: str
    column: str | None
    count: int
    examples: tuple[tuple[str, str | None], ...] = ()
    shown: int | None = None

    def sentence(self) -> str:
        """The problem in words.

        >>> Problem("values are not numbers and count as missing", "x", 1, (("line 7", "abc"),)).sentence()
        "x: values are not numbers and count as missing: 1 (line 7: 'abc')."
        """
        shown = [": ".join(filter(None, (place, value and repr(value)))) for place, value in self.examples]
        if self.count > (len(self.examples) if self.shown is None else self.shown) and shown:
            shown.append("...")
        where = f" ({'; '.join(shown)})" if any(shown) else ""
        return f"{f'{self.column}: ' if self.column is not None else ''}{self.what}: {self.count:,}{where}."


class Problems:
    """The problems of one pass over a source, in the order they were met.

    >>> found = Problems()
    >>> found.add("rows with too few values, left out", place="line 3")
    >>> found.add("rows with too few values, left out", place="line 8")
    >>> [problem.count for problem in found]
    [2]
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str | None], Problem] = {}

    def add(
        self, what: str, *, column: str | None = None, place: str = "", value: str | None = None, count: int = 1
    ) -> None:
        """Note one problem, or `count` of the same sort of which this is the first."""
        known = self._found.get((what, column), Problem(what, column, 0))
        examples = known.examples
        if len(examples) < EXAMPLES and (place or value is not None):
            examples = (*examples, (place, None if value is None else value[:80]))
        self._found[what, column] = Problem(what, column, known.count + count, examples, known.shown)

    def add_stretch(self, what: str, place: str, count: int) -> None:
        """Note `count` problems of one sort that are all in one place, such as rows 7 to 9."""
        known = self._found.get((what, None), Problem(what, None, 0, (), 0))
        room = len(known.examples) < EXAMPLES
        examples, shown = (*known.examples, (place, None))[:EXAMPLES], (known.shown or 0) + (count if room else 0)
        self._found[what, None] = Problem(what, None, known.count + count, examples, shown)

    def extend(self, other: Problems, *, where: str = "") -> None:
        """Take in what another pass or file found, after what is here.

        Args:
            other: what was found there.
            where: the name of the other place, told before each of its places.
        """
        for problem in other:
            known = self._found.get((problem.what, problem.column), Problem(problem.what, problem.column, 0))
            told = problem.examples or (("", None),) * bool(where)
            placed = tuple((", ".join(filter(None, (where, place))), value) for place, value in told)
            examples = (*known.examples, *placed)[:EXAMPLES]
            # stretches beyond the examples are told by dots
            whole = problem.shown is not None and len(known.examples) + len(placed) <= EXAMPLES
            shown = (known.shown or 0) + problem.shown if whole and problem.shown is not None else known.shown
            self._found[problem.what, problem.column] = Problem(
                problem.what, problem.column, known.count + problem.count, examples, shown
            )

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

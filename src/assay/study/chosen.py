"""What of a study was asked for: some questions, some columns; what contradicts itself is refused."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from assay.asking.found import Found
from assay.asking.question import QuestionOf
from assay.errors import ParameterError
from assay.shown import a_few, meant

ON_REQUEST = "left out on request"
_OF_ROWS = frozenset(("time", "by", "place"))  # what these name says which row is which, and is not studied


@dataclass(frozen=True, slots=True)
class Choice:
    """Which questions are asked.

    Attributes:
        only: their names; empty for all.
        skip: names of those that are not.
    """

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str], only: str | Sequence[str], skip: str | Sequence[str]) -> Choice:
        """A choice; names that no question has are refused, and so is one that leaves nothing.

        Args:
            names: of the questions there are.
            only: names of those to ask; empty for all.
            skip: names of those not to ask.

        >>> Choice.of(["groups", "map"], "groups", ()).only
        ('groups',)
        """
        chosen = cls(_names(only), _names(skip))
        for name in (*chosen.only, *chosen.skip):
            if name not in names:
                raise ParameterError(
                    f"there is no question {name!r}{meant(name, names)}; there are {', '.join(sorted(names))}"
                )
        both = sorted(set(chosen.only) & set(chosen.skip))
        if both:
            raise ParameterError(f"the question {both[0]!r} cannot be both asked for (only) and left out (skip)")
        if not set(chosen.only or names) - set(chosen.skip):
            raise ParameterError("every question is left out (skip): there is nothing to ask")
        return chosen

    def takes(self, name: str) -> bool:
        """Whether the question of this name is asked."""
        return name not in self.skip and (not self.only or name in self.only)

    def check(self, asked: Found, form: str, waiting: Collection[QuestionOf[Any]]) -> None:
        """Refuse a choice of which nothing can be asked of these data.

        Args:
            asked: the questions of the form of the data.
            form: its name.
            waiting: those of them that wait to be told something.
        """
        for question in waiting:
            if question.name in self.only:
                needs = " or ".join(option.name for option in question.options)
                raise ParameterError(f"the question {question.name!r} has to be told its {needs}")
        own = [question.name for question in asked.questions]
        strange = [name for name in self.only if name not in own]
        if strange:
            raise ParameterError(
                f"the question {strange[0]!r} is not asked of {form} data; of these there are {', '.join(sorted(own))}"
            )


def resolved(given: str | Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Columns as they are called; several may stand in one text, separated by commas.

    Args:
        given: by the user.
        names: of all columns.

    >>> resolved(["a,b", "c,d"], ["a", "b", "c,d"])
    ('a', 'b', 'c,d')
    """
    found: list[str] = []
    for text in _names(given):
        parts = [part.strip() for part in text.split(",")]
        found += [text] if text in names or not set(parts) & set(names) else [part for part in parts if part]
    return tuple(dict.fromkeys(found))


def left_out(
    names: Sequence[str], columns: Sequence[str], drop: Sequence[str], used: Collection[tuple[str, str]]
) -> tuple[str, ...]:
    """Columns to leave out, where only some were asked for.

    Args:
        names: of all columns.
        columns: those asked for; empty for all.
        drop: those to leave out.
        used: what else names a column, such as ("target", "price"); those stay.

    >>> left_out(["a", "b", "c"], ["a"], [], [("target", "c")])
    ('b',)
    """
    asked, dropped = resolved(columns, names), resolved(drop, names)
    for name in asked:
        if name not in names:
            raise ParameterError(f"there is no column {name!r}{meant(name, names)}; there are {a_few(names)}")
    both = [name for name in asked if name in dropped]
    if both:
        raise ParameterError(f"the column {both[0]!r} cannot be both asked for (columns) and left out (drop)")
    known: dict[str, str] = {}
    for role, name in used:
        if name in dropped:
            raise ParameterError(f"the column {name!r} cannot be both the {role} and left out (drop)")
        other = known.setdefault(name, role)
        if other != role and {other, role} & _OF_ROWS:
            raise ParameterError(f"the column {name!r} cannot be both the {other} and the {role}")
    wanted = {*asked, *known}
    return (*dropped, *(name for name in names if asked and name not in wanted and name not in dropped))


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)

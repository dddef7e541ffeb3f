"""Which columns of several sources are the same, by their names."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from assay.data.columns.units import unit_in_name
from assay.data.field import Field


@dataclass(frozen=True, slots=True)
class Member:
    """A column of one source.

    Attributes:
        source: which, from 0.
        field: as that source understands it.
        type: as it is stored.
    """

    source: int
    field: Field
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Group:
    """Columns of several sources that are the same, at most one of each."""

    name: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why columns cannot be put together, and what to do.

    Attributes:
        column: the name they share.
        what: how they differ, with the sources' names.
        remedy: what the user can say.
    """

    column: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.column!r}: {self.what} ({self.remedy})"


def folded_name(name: str) -> str:
    """A column name as it is compared: without its unit, case, blanks, punctuation and accents.

    >>> folded_name("Body Mass [g]"), folded_name("body_mass"), folded_name("Größe"), folded_name("%")
    ('bodymass', 'bodymass', 'grosse', '%')
    """
    plain, _ = unit_in_name(name)
    letters = unicodedata.normalize("NFKD", plain).casefold()
    # accents are marks above or below; marks of other classes are letters of their script
    kept = "".join(
        c
        for c in letters
        if c.isalnum() or (unicodedata.category(c)[0] == "M" and unicodedata.combining(c) not in (202, 220, 230))
    )
    return unicodedata.normalize("NFC", kept) or " ".join(plain.split()).casefold()


def groups_of(
    members: Sequence[Member], match: Mapping[str, tuple[str, ...]], sources: Sequence[str]
) -> tuple[list[Group], list[Conflict]]:
    """Columns that are the same, in the order they are first met, and those that cannot be told apart.

    Args:
        members: the columns of all sources, in order.
        match: names that are the same although they do not look it, by the name they get.
        sources: names of the sources.
    """
    named = {folded_name(old): new for new, olds in match.items() for old in (new, *olds)}
    classes: dict[str, list[Member]] = {}
    for member in members:
        key = folded_name(member.field.name)
        classes.setdefault(folded_name(named.get(key, key)), []).append(member)
    groups: list[Group] = []
    conflicts = []
    for same in classes.values():
        called = next((named[key] for key in (folded_name(m.field.name) for m in same) if key in named), None)
        twice = len({member.source for member in same}) < len(same)
        if not twice:
            groups.append(Group(called or same[0].field.name, tuple(same)))
        elif called is None and (apart := _by_exact_name(same)):
            groups += apart
        else:
            conflicts.append(_ambiguous(same, called, sources))
    return groups, conflicts


def _by_exact_name(same: Sequence[Member]) -> list[Group] | None:
    """Columns such as "a-b" and "ab" stay apart if every source spells them alike."""
    spelt: dict[int, set[str]] = {}
    for member in same:
        spelt.setdefault(member.source, set()).add(member.field.name)
    largest = max(spelt.values(), key=len)
    if not all(names <= largest for names in spelt.values()):
        return None
    exact: dict[str, list[Member]] = {}
    for member in same:
        exact.setdefault(member.field.name, []).append(member)
    return [Group(name, tuple(group)) for name, group in exact.items()]


def _ambiguous(same: Sequence[Member], called: str | None, sources: Sequence[str]) -> Conflict:
    where = next(m.source for m in same if sum(other.source == m.source for other in same) > 1)
    names = [member.field.name for member in same if member.source == where]
    listed = " and ".join(map(repr, names))
    remedy = f"say which belongs to which, as in match={{{names[0]!r}: [...]}}, or rename one"
    return Conflict(called or names[0], f"{listed} of {sources[where]} are taken for the same", remedy)

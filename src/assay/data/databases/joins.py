"""From a table along its declared foreign keys to what they name; no row is lost, none is multiplied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.data.databases.dialects import DatabaseTable, ForeignKey, quoted
from assay.errors import ParameterError

KeysOf: TypeAlias = Callable[[DatabaseTable], tuple[ForeignKey, ...]]

# SQLite joins at most 64 tables in a statement
_MOST_TABLES = 60


@dataclass(frozen=True, slots=True)
class JoinStep:
    """One foreign key followed.

    Attributes:
        key: the key.
        child: the table that has it: 0 for the starting table, i + 1 for the table reached by step i.
        path: the keys from the starting table to here, this one included.
        tables: the tables on that path, the starting table first.
    """

    key: ForeignKey
    child: int
    path: tuple[str, ...]
    tables: tuple[DatabaseTable, ...]

    def chain(self) -> str:
        """The whole path in words: "InvoiceLine -> Track by TrackId -> Album by AlbumId"."""
        hops = (f" -> {table.shown} by {key}" for table, key in zip(self.tables[1:], self.path, strict=True))
        return self.tables[0].shown + "".join(hops)


def join_steps(start: DatabaseTable, keys_of: KeysOf, join: bool | str | Sequence[str]) -> tuple[JoinStep, ...]:
    """The foreign keys to follow, those near the starting table first.

    A path does not come back to a table it has passed, except that a table which refers to itself is joined to itself
    once. A table that several paths lead to is joined once for each.

    Args:
        start: the starting table.
        keys_of: the foreign keys of a table.
        join: True for all of them, or the names of tables or key columns to follow; a table further away needs those
            on the way to it named too.
    """
    named = [name.strip() for name in join.split(",")] if isinstance(join, str) else join
    wanted = None if isinstance(named, bool) else tuple(named)
    steps: list[JoinStep] = []
    used: set[str] = set()
    ends: list[tuple[int, tuple[str, ...], tuple[DatabaseTable, ...]]] = [(0, (), (start,))]
    for child, path, tables in ends:  # grows while it is walked
        for key in keys_of(tables[-1]):
            matched = None if wanted is None else {key.parent.shown, key.label, *key.columns} & set(wanted)
            itself = key.parent == tables[-1]
            passed = tables.count(key.parent) > 1 if itself else key.parent in tables
            if passed or not key.parent_columns or matched == set():
                continue
            used |= matched or set()
            steps.append(JoinStep(key, child, (*path, key.label), (*tables, key.parent)))
            ends.append((len(steps), steps[-1].path, steps[-1].tables))
            if len(steps) > _MOST_TABLES:
                raise ParameterError(
                    f"the foreign keys from {start.shown} lead to more than {_MOST_TABLES} tables, which is more than "
                    "can be joined; name those to follow, as in join=['table', ...]"
                )
    unused = [name for name in wanted or () if name not in used]
    if unused:
        raise ParameterError(_not_reached(unused[0], start, steps, keys_of))
    return tuple(steps)


def _not_reached(name: str, start: DatabaseTable, steps: Sequence[JoinStep], keys_of: KeysOf) -> str:
    for step in join_steps(start, keys_of, True):
        if name in (step.key.parent.shown, step.key.label, *step.key.columns):
            return f"join={name!r} is reached only by {step.chain()}; name the tables on the way too, or join=True"
    tables = dict.fromkeys((start, *(step.key.parent for step in steps)))
    keys = [f"{table.shown}.{key.label} to {key.parent.shown}" for table in tables for key in keys_of(table)]
    there = f"declared are {', '.join(keys)}" if keys else f"{start.shown} declares none"
    return f"join={name!r} names no table or column of a foreign key; {there}"


def joined(start: DatabaseTable, steps: Sequence[JoinStep]) -> str:
    """What follows FROM: the starting table as t0, and the table of step i as t{i + 1}."""
    parts = [f"{start.sql} AS t0"]
    for i, step in enumerate(steps, start=1):
        # the parent's column on the left: its collation, under which it is unique, is the one SQLite compares by
        equal = " AND ".join(
            f"t{i}.{quoted(theirs)} = t{step.child}.{quoted(ours)}"
            for ours, theirs in zip(step.key.columns, step.key.parent_columns, strict=True)
        )
        parts.append(f"LEFT JOIN {step.key.parent.sql} AS t{i} ON {equal}")
    return " ".join(parts)


def prefixes(steps: Sequence[JoinStep]) -> tuple[str, ...]:
    """How the columns of each joined table begin: its name, after as many keys as tell its paths apart."""
    paths = Counter(step.key.parent for step in steps)
    names = []
    for step in steps:
        others = [other.path for other in steps if other.key.parent == step.key.parent and other is not step]
        shown = 0 if paths[step.key.parent] == 1 else 1
        while shown and shown < len(step.path) and any(other[-shown:] == step.path[-shown:] for other in others):
            shown += 1
        names.append(".".join((*step.path[len(step.path) - shown :], step.key.parent.shown)))
    return tuple(names)


def plan(start: DatabaseTable, steps: Sequence[JoinStep], keys_of: KeysOf) -> tuple[str, ...]:
    """The join in sentences: what was followed, and what leads nowhere."""
    if steps:
        inner = {step.child for step in steps}
        chains = [step.chain() for i, step in enumerate(steps, start=1) if i not in inner]
        said = (
            f"Joined along foreign keys, each row of {start.shown} once: {'; '.join(chains)}. "
            "Columns that a key equals are not repeated."
        )
    else:
        said = f"{start.shown} declares no foreign key that could be followed, so nothing was joined."
    tables = dict.fromkeys((start, *(step.key.parent for step in steps)))
    broken = (
        f"{table.shown} has a foreign key by {key.label} to {key.parent.shown}, which has no such key; "
        "it was not followed."
        for table in tables
        for key in keys_of(table)
        if not key.parent_columns
    )
    return (said, *broken)

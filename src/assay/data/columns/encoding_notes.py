"""What an encoding says about columns and about values that do not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.data.columns._codecs import INFINITE, NOT_READ
from assay.data.columns.encoding_rules import Decision
from assay.data.columns.table_stats import ColumnStats, TableStats
from assay.data.field import Kind
from assay.data.problems import Problems

Place: TypeAlias = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """What was done with one column of the user.

    Attributes:
        name, kind: of the column.
        encoded: how, such as "log(1 + x)" or "one per level: 3 levels"; empty if it was set aside.
        note: why.
        outputs: how many numbers stand for it.
        missing: rows without a value, those that contradict the kind not counted.
        misfits: values that contradict the kind.
    """

    name: str
    kind: Kind
    encoded: str
    note: str
    outputs: int
    missing: int
    misfits: int

    @classmethod
    def of(cls, decision: Decision, seen: ColumnStats) -> EncodedColumn:
        """In words, from what was decided and seen."""
        known = decision.field
        outputs = len(decision.codec.names(known.name))
        return cls(known.name, known.kind, decision.encoded, decision.note, outputs, seen.missing, seen.bad)

    @property
    def used(self) -> bool:
        """Whether any number stands for it."""
        return self.outputs > 0


def row_number(row: int) -> str:
    """How a row (from 0) is called where nothing is known of its source."""
    return f"row {row + 1}"


def note(
    found: Problems, what: str, column: str, count: int, examples: Sequence[tuple[int, str]], place: Place
) -> None:
    """Note `count` troubles of one sort, of which the first few are known as (row, value)."""
    for i, (row, value) in enumerate(examples):
        rest = count - len(examples) + 1 if i == len(examples) - 1 else 1
        found.add(what, column=column, place=place(row), value=value, count=rest)


def contradictions(stats: TableStats, place: Place) -> Problems:
    """The values that contradict the kind of their column, and infinite ones."""
    found = Problems()
    for known, seen in zip(stats.settled, stats.columns(), strict=True):
        if seen.bad and known.kind in NOT_READ:
            note(found, NOT_READ[known.kind], known.name, seen.bad, seen.examples, place)
        if seen.not_finite:
            found.add(INFINITE, column=known.name, count=seen.not_finite)
    return found

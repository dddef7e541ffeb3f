"""What happened when sources were put together, for the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# columns that a sentence names
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Converted:
    """A column of one source that was in another unit: result = factor * value + offset."""

    column: str
    source: str
    unit: str
    to: str
    factor: float
    offset: float


@dataclass(frozen=True, slots=True)
class Fusion:
    """The account of a fusion.

    Attributes:
        sources: their names, as in the origin column.
        rows: of each source, None where that is not known before the end.
        matched: each column that several sources have: its name in the result, and its name by source.
        converted: what was brought to another unit.
        resolved: conflicts that the user settled: column, how, and what they were.
        only_in: columns that not all sources have, and the sources that have them.
        left_out: those of them that are not in the result.
        sensitive: columns that were not read.
    """

    sources: tuple[str, ...]
    rows: tuple[int | None, ...]
    matched: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    converted: tuple[Converted, ...] = ()
    resolved: tuple[tuple[str, str, str], ...] = ()
    only_in: tuple[tuple[str, tuple[str, ...]], ...] = ()
    left_out: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()

    def sentences(self) -> tuple[str, ...]:
        """The account in words.

        >>> Fusion(("a", "b"), (2, None), (("x", (("a", "x"), ("b", "X"))),)).sentences()[:2]
        ('2 sources were fused: a (2 rows), b.', 'Columns that several sources have: x.')
        """
        sizes = [
            name if rows is None else f"{name} ({rows:,} rows)"
            for name, rows in zip(self.sources, self.rows, strict=True)
        ]
        said = [f"{len(self.sources)} sources were fused: {_listed(sizes)}."]
        if self.matched:
            said.append(f"Columns that several sources have: {_listed([name for name, _ in self.matched])}.")
        else:
            said.append("No two sources have a column in common; if some mean the same, match= says so.")
        spelt = [
            f"{name} is {_listed([f'{own!r} in {source}' for source, own in names])}"
            for name, names in self.matched
            if len({own for _, own in names}) > 1
        ]
        if spelt:
            said.append(f"Names that were taken for the same: {_listed(spelt, '; ')}.")
        said += [
            f"{c.column} of {c.source} was converted from {c.unit} to {c.to}: {_formula(c)}." for c in self.converted
        ]
        said += [f"{column}: a conflict was settled by {how!r}: {what}." for column, how, what in self.resolved]
        kept = [f"{name} ({', '.join(where)})" for name, where in self.only_in if name not in self.left_out]
        if kept:
            said.append(f"Columns that only some sources have, missing in the others: {_listed(kept)}.")
        if self.left_out:
            said.append(f"Columns that not all sources have were left out: {_listed(self.left_out)}.")
        if self.sensitive:
            said.append(f"Sensitive columns were not read: {_listed(self.sensitive)}.")
        return tuple(said)


def _listed(names: Sequence[str], joint: str = ", ") -> str:
    return joint.join(names[:_NAMED]) + (f"{joint}and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")


def _formula(converted: Converted) -> str:
    offset = f" {'+' if converted.offset > 0 else '-'} {abs(converted.offset):.6g}" if converted.offset else ""
    return f"times {converted.factor:.6g}{offset}"

"""What two tables hold, before any value is compared: columns, kinds and units. Facts, to which chance does nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.asking.finding import Finding, Look
from assay.asking.words import Words
from assay.data.fusion.columns import judged
from assay.data.fusion.match import Member, groups_of
from assay.data.source import Source
from assay.evidence.evidence import Evidence

WORDING = "Do both tables have the same columns?"
_WORDS = Words(
    "difference of columns",
    "differences of columns",
    reading="A column that only one table has, or that holds another kind of value or another unit. It is a fact about "
    "the two tables and needs no p; values of such columns are not compared.",
)


@dataclass(frozen=True, slots=True)
class Schema:
    """How the columns of two tables go together.

    Attributes:
        common: columns that can be compared.
        apart: columns of both that hold different kinds of values, and are not compared.
        findings: every difference, as a finding.
        looks: columns looked at.
    """

    common: tuple[str, ...]
    apart: tuple[str, ...]
    findings: tuple[Finding, ...]
    looks: int

    @property
    def line(self) -> Look:
        """Its line in the ledger."""
        return Look(WORDING, self.looks, 0, "facts, to which chance does nothing")

    def as_dict(self) -> dict[str, Any]:
        """The columns as JSON-ready values."""
        return {"common": list(self.common), "apart": list(self.apart)}


def schema_of(sources: tuple[Source, Source], names: tuple[str, str], drop: Sequence[str], n: int) -> Schema:
    """Compare the columns of two tables.

    Args:
        sources: the tables.
        names: how sentences call them.
        drop: columns to leave out.
        n: rows of both.
    """
    members = [
        Member(i, known, type_)
        for i, source in enumerate(sources)
        for known, type_ in zip(source.schema, source.arrow_schema.types, strict=True)
        if known.name not in drop
    ]
    groups, ambiguous = groups_of(members, {}, names)
    common, apart = [], [conflict.column for conflict in ambiguous]
    said = [("names", conflict.column, f"{conflict.column}: {conflict.what}.") for conflict in ambiguous]
    for group in groups:
        if len(group.members) == 1:
            only = group.members[0].source
            said.append((f"only-{'ab'[only]}", group.name, f"{group.name} is a column of {names[only]} only."))
            continue
        column, conflicts = judged(group, names, None, None)
        if column is None:
            apart.append(group.name)
            said += [("kind", group.name, f"{group.name} differs: {conflict.what}.") for conflict in conflicts]
            continue
        common.append(column.name)
        spelt = [member.field.name for member in group.members]
        units = [member.field.unit for member in group.members]
        if units[0] != units[1] and all(units):
            told = f"{group.name} is in {units[0]} in {names[0]} and in {units[1]} in {names[1]}"
            said.append(("unit", group.name, f"{told}; values are compared in {column.unit}."))
        elif spelt[0] != spelt[1]:
            told = f"{spelt[0]} of {names[0]} is called {spelt[1]} in {names[1]}"
            said.append(("names", group.name, f"{told}; they are compared as one column."))
    findings = [_finding(what, column, sentence, n) for what, column, sentence in said]
    return Schema(tuple(common), tuple(apart), tuple(findings), len(groups) + len(ambiguous))


def _finding(what: str, column: str, sentence: str, n: int) -> Finding:
    evidence = Evidence(1.0, n=n, method="read from the tables, no chance", verdict="supported")
    return Finding(f"columns-{what}-{column}", "schema", column, sentence, evidence, _WORDS)

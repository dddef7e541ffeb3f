"""Which values are missing, and what that goes with, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.arrays import Array
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.questions.missing.patterns import Pattern, Run
from assay.questions.missing.sides import GapSide
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class GapPair:
    """Gaps of one column, and what they are compared with.

    Attributes:
        lacking: the column that lacks values.
        side: what rows are compared by.
        column: the column they are compared in; empty for the order of rows.
        upper, lower: share missing on both sides: the highest and lowest quarter, the far and the near half, rows with
            and without a level, rows that lack and that have the other column, the last and first quarter of the rows.
        p: chance of the pair.
        q: the same for all pairs looked at.
    """

    lacking: str
    side: GapSide
    column: str
    upper: float
    lower: float
    p: float
    q: float


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Pairs of one sort: of gaps with values, or of gaps with gaps.

    Attributes:
        pairs: the least likely first, at most 200.
        evidence: on the first of them.
        holds: whether the share missing differs on unseen rows, too.
    """

    pairs: tuple[GapPair, ...]
    evidence: Evidence
    holds: bool

    def standing(self, level: float) -> tuple[GapPair, ...]:
        """Those that chance does not make in so many pairs."""
        return tuple(pair for pair in self.pairs if pair.q <= level)

    def stricter(self, factor: float, level: float) -> Family:
        """The same where other questions were asked too."""
        pairs = tuple(replace(pair, q=min(pair.q * factor, 1.0)) for pair in self.pairs)
        return Family(pairs, self.evidence.stricter(factor, level, effect_holds=self.holds), self.holds)


@dataclass(frozen=True, slots=True, eq=False)
class MissingValues(Answer):
    """Which values are missing, and what that goes with.

    Attributes:
        columns: (c,) those that lack a value.
        share: (c,) which share of all rows.
        patterns: sets of columns missing together, in the rows looked at.
        runs: rows that follow each other and lack a value.
        rows: how many rows were looked at.
        total: how many there are.
        values: gaps with values of other columns; None where nothing could be compared.
        together: gaps with gaps, likewise.
        compared: (a,) the columns whose gaps were compared.
        crossed: (a, a) correlations of being missing.
        level: level of the study.
    """

    columns: tuple[str, ...]
    share: Array
    patterns: tuple[Pattern, ...]
    runs: tuple[Run, ...]
    rows: int
    total: int
    values: Family | None
    together: Family | None
    compared: tuple[str, ...]
    crossed: Array
    level: float

    def runs_of(self, pair: GapPair) -> tuple[Run, ...]:
        """The run of rows that lack a column, for a pair with the order of rows."""
        return tuple(run for run in self.runs if run.column == pair.lacking and pair.side.way == "order")

    @property
    def families(self) -> tuple[Family, ...]:
        """Those that could be compared."""
        return tuple(family for family in (self.values, self.together) if family is not None)

    @property
    def evidence(self) -> Evidence:
        """On the pair that is least likely by chance."""
        if not self.families:
            return Evidence(0.0, n=self.rows, looks=0, method="too few rows lack a value, or have one")
        best = min((family.evidence for family in self.families), key=lambda e: 1.0 if e.p is None else e.p)
        return replace(best, looks=self.looks)

    @property
    def looks(self) -> int:
        """Pairs looked at."""
        return sum(family.evidence.looks for family in self.families)

    @property
    def rule(self) -> str:
        """How pairs are corrected for."""
        return "every p times the number of pairs (Bonferroni)"

    def stricter(self, factor: float, level: float) -> MissingValues:
        """The same where other questions were asked too."""
        values, together = (
            None if family is None else family.stricter(factor, level) for family in (self.values, self.together)
        )
        return replace(self, values=values, together=together)

    def findings(self) -> tuple[Finding, ...]:
        """What gaps go with, and whether they come together."""
        from assay.questions.missing import words

        found = []
        if self.values is not None:
            found.append(
                Finding(
                    "missing-with-values", "missing", words.subject(self, self.values), words.values_sentence(self),
                    self.values.evidence, words.WORDS["values"], line=words.values_line(self),
                )
            )  # fmt: skip
        if self.together is not None:
            found.append(
                Finding(
                    "missing-together", "missing", words.subject(self, self.together), words.together_sentence(self),
                    self.together.evidence, words.WORDS["together"], line=words.together_line(self),
                )
            )  # fmt: skip
        if not found:
            found.append(
                Finding(
                    "missing", "missing", "gaps", words.untested(self), self.evidence, words.WORDS["values"],
                    line=words.untested_line(self),
                )
            )  # fmt: skip
        return tuple(found)

    def headline(self, verdict: Verdict) -> str:
        """What gaps of this verdict there are."""
        told = []
        if self.values is not None and self.values.evidence.verdict == verdict:
            told.append("go with other columns")
        if self.together is not None and self.together.evidence.verdict == verdict:
            told.append("come together")
        return f"gaps that {' and '.join(told)}" if told else ""

    def views(self, page: Page | None = None) -> list[View]:
        """Shares, patterns, and which gaps go with what."""
        from assay.questions.missing.views import views

        return views(self)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.missing.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """Shares, patterns, runs and pairs, for programs."""
        return {
            "rows_looked_at": self.rows,
            "columns": [
                {"column": name, "share": share} for name, share in zip(self.columns, self.share.tolist(), strict=True)
            ],
            "patterns": [{"missing": list(one.columns), "rows": one.rows} for one in self.patterns],
            "runs": [{"column": run.column, "first": run.first, "last": run.last} for run in self.runs],
            "pairs": [
                {
                    "missing": pair.lacking,
                    "with": pair.column,
                    "way": pair.side.way,
                    "level": pair.side.level,
                    "share_upper": pair.upper,
                    "share_lower": pair.lower,
                    "p": pair.p,
                    "q": pair.q,
                }
                for family in self.families
                for pair in family.pairs
            ],
        }

"""Groups of rows, as an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.arrays import Array, Indices
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.questions.groups.profile import Coincidence, named
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa

Tell: TypeAlias = Callable[[str], object]


@dataclass(frozen=True, slots=True, eq=False)
class Groups(Answer):
    """Groups of rows, and how far they can be believed.

    Attributes:
        rows: (m,) numbers of the rows grouped.
        labels: (n,) the group of every row in use, from 0; the first has the most of the rows grouped. (m,), of the
            rows grouped alone, where none were found.
        k: how many groups; 1 where none were found.
        fewest, most: where their number is open, from so many to so many.
        sizes: (k,) rows of all the data in each.
        way: how the groups are described, in words; empty where none were found.
        by: number of the column that describes them, where it is one.
        lump_p: chance of the search in one lump of the same correlations, whatever lies between the groups.
        torn: whether gaps show among the rows, and halves of them agree on no groups.
        beyond: what was searched, and how far beyond chance it came, in standard deviations of chance.
        stability: (k,) how much of each group comes back when rows are drawn again; NaN where none were found.
        columns: names of the columns used.
        between: (d,) share of each column's variance that lies between the groups.
        between_by_chance: (d,) its mean in tables without groups that are cut into as many.
        column_q: (d,) chance of a difference as large in such groups, corrected for all columns.
        means: (k, d) of the columns in the groups, in standard deviations from the mean of all.
        anomalies: for each group, numbers of the rows far from its middle, the farthest first.
        coincide: levels of categories that hold the same rows as a group.
        plane: (m, 2) the rows along the two largest components of the columns; None for a single column.
        evidence: on the groups as a whole; p is the larger of `lump_p` and the chance of the least clear valley.
        holds: whether unseen rows bear the groups out.
        strength_range: prediction strength of the middle 95% of the halvings, None where no groups were found. How far
            single halvings lie apart; no interval of their mean, since all of them divide the same rows.
    """

    rows: Indices
    labels: Indices
    k: int
    fewest: int
    most: int
    sizes: Indices
    way: str
    by: int | None
    lump_p: float
    torn: bool
    beyond: tuple[tuple[str, float], ...]
    stability: Array
    columns: tuple[str, ...]
    between: Array
    between_by_chance: Array
    column_q: Array
    means: Array
    anomalies: tuple[Indices, ...]
    coincide: tuple[Coincidence, ...]
    plane: Array | None
    evidence: Evidence
    holds: bool
    strength_range: tuple[float, float] | None

    @property
    def drawn(self) -> Indices:
        """(m,) the group of each row of `rows`."""
        return self.labels if len(self.labels) == len(self.rows) else self.labels[self.rows]

    @property
    def telling(self) -> list[int]:
        """Columns that differ between groups by more than any grouping makes them differ, the largest first.

        The one that describes the groups is among them, whatever it does in tables that are cut there.
        """
        beyond = [j for j in range(len(self.columns)) if self.column_q[j] <= 0.05 or j == self.by]
        return sorted(beyond, key=lambda j: -float(self.between[j]))

    @property
    def names(self) -> list[str]:
        """What each group is called, by its columns; empty where none sets it apart."""
        return [named(means, self.columns, self.telling) for means in self.means]

    @property
    def tests(self) -> int:
        """One, for the whole search."""
        return 1

    @property
    def rule(self) -> str:
        """How looks are corrected for."""
        draws = 0 if self.evidence.null is None else self.evidence.null.draws
        again = f", repeated in {draws} tables without groups" if draws else "; none was left to compare with chance"
        return f"the best of {self.looks} searches counts as one test{again}"

    def findings(self) -> tuple[Finding, ...]:
        """One for all groups."""
        from assay.questions.groups.words import WORDS, line, sentence, subject

        return (Finding("groups", "groups", subject(self), sentence(self), self.evidence, WORDS, line=line(self)),)

    def headline(self, verdict: Verdict) -> str:
        """How many groups, where they have this verdict."""
        from assay.questions.groups.words import WORDS

        return WORDS.several(self.k) if verdict == self.evidence.verdict else ""

    def offers(self, page: Page) -> None:
        """The group of each row drawn."""
        from assay.questions.groups.views import names

        page.groups = names(self)
        page.group_rows = self.rows + 1

    def views(self, page: Page | None = None) -> list[View]:
        """The rows in the colours of their groups, and what tells these apart."""
        from assay.questions.groups.views import views

        return views(self, page or Page([self]))

    def of_rows(self) -> tuple[str, ...]:
        """Tables of all rows, or of a fair sample."""
        return ("labels", "plane") if self.way else ()

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.groups.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """How many groups, their sizes and profiles, and how far each column tells them apart."""
        return {
            "k": self.k,
            "fewest": self.fewest,
            "most": self.most,
            "way": self.way,
            "sizes": self.sizes.tolist(),
            "groups": [self._profile(g) for g in range(self.k)] if self.way else [],
            "columns": {
                name: {"between": float(b), "by_chance": float(c), "q": float(q)}
                for name, b, c, q in zip(self.columns, self.between, self.between_by_chance, self.column_q, strict=True)
            },
        }

    def _profile(self, g: int) -> dict[str, Any]:
        return {
            "name": self.names[g],
            "rows": int(self.sizes[g]),
            "comes_back": float(self.stability[g]),
            "means": {self.columns[j]: float(self.means[g, j]) for j in self.telling},
            "anomalies": (self.anomalies[g] + 1).tolist(),
            "coincides_with": [
                {
                    "column": one.column,
                    "level": one.level,
                    "shared": one.shared,
                    "in_group": one.in_group,
                    "in_level": one.in_level,
                    "p": one.p,
                }
                for one in self.coincide
                if one.group == g
            ],
        }

    def stricter(self, factor: float, level: float) -> Groups:
        """The same groups where other questions were asked too: q times the factor, the verdict accordingly."""
        return replace(self, evidence=self.evidence.stricter(factor, level, effect_holds=self.holds))

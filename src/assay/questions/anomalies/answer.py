"""Rows that do not belong, as an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.questions.anomalies.together import FEWEST
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa

Tell: TypeAlias = Callable[[str], object]

_LISTED = 1000  # rows a program is given
Q_MEANS = (
    "The chance that any row of a table in which nothing is odd lies beyond a gap as wide as the one that this row "
    "lies beyond. Rows beyond the same gap share it: it is no chance of a single row."
)


@dataclass(frozen=True, slots=True, eq=False)
class Anomalies(Answer):
    """Rows that do not belong.

    Attributes:
        rows: (a,) numbers of the rows that stand out at the level of the study, the farthest first.
        q: (a,) chance that any rows lie beyond a gap as wide as the one that these lie beyond, were all rows of one
            law; all looks counted. It belongs to the gap: rows beyond the same one share it.
        distances: (a,) how far out they are.
        contributions: (s, d) share of each column in the squared distance of the first 200 of them.
        deviations: (s, d) where those rows lie in each column, in robust standard deviations from its middle.
        columns: names of the d columns used.
        best: the row farthest out and its distance, whether it stands out or not.
        typical: median distance of all rows.
        heaviness: of the tail of distances: .1 for normal rows, a third for Student's t with 3 degrees of freedom.
        scores: (n,) distances of all rows.
        again: share of the rows that stand out when rows are divided anew.
        lonely: (a,) whether a row is told apart by its neighbours only, which are far, and not by its distance.
        together: (s,) of the first of them, which lie together: a number for each such group, -1 for rows alone.
        groups: how many groups far apart the rows were measured from, 1 where there are none.
        evidence: on the rows that stand out as a whole.
        level: level they were called at.
    """

    rows: Indices
    q: Array
    distances: Array
    contributions: Array
    deviations: Array
    columns: tuple[str, ...]
    best: tuple[int, float]
    typical: float
    heaviness: float
    scores: Array
    again: float
    lonely: NDArray[np.bool_]
    together: Indices
    groups: int
    evidence: Evidence
    level: float

    @property
    def n_rows(self) -> int:
        """How many rows stand out."""
        return len(self.rows)

    @property
    def holds(self) -> bool:
        """Whether most of the rows that stand out do so again when rows are divided anew."""
        return self.again >= 0.5

    @property
    def rule(self) -> str:
        """How tests are corrected for."""
        return "every row counts as a test"

    def findings(self) -> tuple[Finding, ...]:
        """One for all rows."""
        from assay.questions.anomalies.words import WORDS, line, sentence, subject

        return (
            Finding("anomalies", "anomalies", subject(self), sentence(self), self.evidence, WORDS, line=line(self)),
        )

    def headline(self, verdict: Verdict) -> str:
        """How many rows, where they have this verdict."""
        from assay.questions.anomalies.words import WORDS

        return WORDS.several(max(self.n_rows, 1)) if verdict == self.evidence.verdict else ""

    def views(self, page: Page | None = None) -> list[View]:
        """Distances of the rows, and the columns behind those that stand out."""
        from assay.questions.anomalies.views import views

        return views(self)

    def of_rows(self) -> tuple[str, ...]:
        """Tables of all rows, or of a fair sample."""
        return ("distances",)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.anomalies.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """The rows that stand out, counted from 1."""
        listed = zip(self.rows.tolist(), self.distances.tolist(), self.q.tolist(), self.lonely.tolist(), strict=True)
        return {
            "typical_distance": self.typical,
            "q_means": Q_MEANS,
            "rows": [
                {"row": row + 1, "distance": distance, "q": q, "by_neighbours_only": lonely}
                for row, distance, q, lonely in islice(listed, _LISTED)
            ],
            "together": [(self.rows[members] + 1).tolist() for members in self.clumps()],
        }

    def clumps(self) -> list[Indices]:
        """Places, among the rows that stand out, of those that lie together; the largest group first."""
        return [np.flatnonzero(self.together == g) for g in range(int(self.together.max(initial=-1)) + 1)]

    def stricter(self, factor: float, level: float) -> Anomalies:
        """The same where other questions were asked too: q times the factor, and the rows that still stand out."""
        q = np.minimum(self.q * factor, 1.0)
        out = q <= level
        shown = out[: len(self.contributions)]
        return replace(
            self,
            rows=self.rows[out],
            q=q[out],
            distances=self.distances[out],
            contributions=self.contributions[shown],
            deviations=self.deviations[shown],
            lonely=self.lonely[out],
            together=np.where(shown.sum() >= FEWEST, self.together[shown], -1),
            evidence=self.evidence.stricter(factor, level, effect_holds=self.holds),
        )

"""An order of rows and columns, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from assay.arrays import Array, Indices
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.asking.table import FirstLook
from assay.evidence.evidence import Evidence, Verdict
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa

Axis: TypeAlias = Literal["rows", "columns"]

AXES: tuple[Axis, Axis] = ("rows", "columns")


@dataclass(frozen=True, slots=True, eq=False)
class ReorderedAxis:
    """An order of the rows, or of the columns.

    Attributes:
        order: (m,) what comes first, second ...
        roughness: mean squared difference of neighbours over that of two at random.
        chance: (draws,) the same where columns are independent.
        evidence: how well it stands up.
        holds: whether neighbours are alike in what the order was not made of.
    """

    order: Indices
    roughness: float
    chance: Array
    evidence: Evidence
    holds: bool


@dataclass(frozen=True, slots=True, eq=False)
class ReorderedTable(Answer):
    """An order of the rows and columns drawn.

    Attributes:
        look: the sample they are of.
        rows: (m,) positions in the sample, in their new order.
        columns: (d,) numbers of columns, in their new order.
        by_row, by_column: how smooth each order is, beside chance; that of two columns is not tested.
        with_previous: (d,) correlation of each column, as reordered, with the one before; NaN for the first.
        with_rows: (d,) its correlation with the order of the rows.
    """

    look: FirstLook
    rows: Indices
    columns: Indices
    by_row: ReorderedAxis
    by_column: ReorderedAxis
    with_previous: Array
    with_rows: Array

    @property
    def evidence(self) -> Evidence:
        """On the smoother of the two, its p counted twice where both were tested."""
        best = min((self.by_row, self.by_column), key=lambda axis: 1.0 if axis.evidence.q is None else axis.evidence.q)
        p = best.evidence.p
        return replace(best.evidence, p=None if p is None else min(best.evidence.looks * p, 1.0))

    @property
    def rule(self) -> str:
        """How tests are corrected for."""
        rows, columns = len(self.by_row.chance), len(self.by_column.chance)
        if self.looks == 1:
            return f"one order, of the rows, against those of {rows} shuffled tables"
        return f"two orders, of rows and columns, so every p is doubled; against {rows} and {columns} shuffled tables"

    def stricter(self, factor: float, level: float) -> ReorderedTable:
        """The same where other questions were asked too."""
        judged = (
            replace(axis, evidence=axis.evidence.stricter(factor, level, effect_holds=axis.holds))
            for axis in (self.by_row, self.by_column)
        )
        return replace(self, by_row=next(judged), by_column=next(judged))

    def findings(self) -> tuple[Finding, ...]:
        """One for the rows and one for the columns, where there are more than two."""
        from assay.questions.stringing.words import WORDS, line, sentence

        return tuple(
            Finding(
                f"order-of-{what}",
                "order",
                f"the {what}",
                sentence(self, what),
                axis.evidence,
                WORDS[what],
                line=line(self, what),
            )
            for what, axis in zip(AXES, (self.by_row, self.by_column), strict=True)
            if axis.evidence.q is not None
        )

    def headline(self, verdict: Verdict) -> str:
        """Of what there is an order of this verdict."""
        have = [finding.subject for finding in self.findings() if finding.evidence.verdict == verdict]
        return f"an order of {' and of '.join(have)}" if have else ""

    def views(self, page: Page | None = None) -> list[View]:
        """The table drawn again, reordered."""
        from assay.questions.stringing.views import views

        return views(self)

    def of_rows(self) -> tuple[str, ...]:
        """Tables of all rows, or of a fair sample."""
        return ("rows",)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.stringing.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """The order of the columns, and of the rows drawn, counted from 1."""
        return {
            "columns": [self.look.columns[j] for j in self.columns],
            "rows": self.look.rows[self.rows].tolist(),
        }

"""How rows depend on each other, as an answer that all others rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.design import Design
from assay.evidence.evidence import Evidence
from assay.views.axes.numbers import count
from assay.views.html.view import View

WORDING = "Do rows depend on each other?"


@dataclass(frozen=True, slots=True, eq=False)
class RowDependence(Answer):
    """How rows depend on each other. It is no finding: it decides what chance may do to all others.

    Attributes:
        how: "independent", "time", "groups", "copies" or "place".
        by: the columns that say it, where there are some.
        told: whether the user said so.
        sentence: in words; empty where there is nothing to say.
        effective: how many independent rows would tell as much on a typical pair of columns.
        n: rows in use.
        design: what chance may exchange; None for independent rows.
        evidence: against rows in any order.
    """

    how: str
    by: tuple[str, ...]
    told: bool
    sentence: str
    effective: float
    n: int
    design: Design | None
    evidence: Evidence

    @property
    def rule(self) -> str:
        """It is asked before all others and costs them nothing."""
        return "asked before all others, each way at a level of one in a thousand"

    def stricter(self, factor: float, level: float) -> Self:
        """The same: it comes before the others."""
        return self

    def findings(self) -> Sequence[Finding]:
        """None: structure of the rows is no structure among columns."""
        return ()

    def views(self, page: Page | None = None) -> Sequence[View]:
        """None."""
        return ()

    def numbers(self) -> dict[str, Any]:
        """What was found, for programs."""
        return {
            "how": self.how,
            "by": list(self.by),
            "told": self.told,
            "sentence": self.sentence,
            "effective_rows": self.effective,
            "rows": self.n,
            "limit": self.design.limit if self.design is not None else "",
        }


def counted_as(effective: float, n: int) -> str:
    """How many rows count, in words.

    >>> counted_as(31.4, 300)
    'the 300 rows tell as much as about 31 independent ones'
    """
    return f"the {count(n)} rows tell as much as about {count(round(effective))} independent ones"

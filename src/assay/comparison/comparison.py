"""What comparing two data sets found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.asking.answer import Answer
from assay.asking.card import DataCard
from assay.asking.finding import Finding
from assay.asking.result import Result
from assay.comparison.schema import Schema
from assay.study.findings import Ledger, columns_table
from assay.study.row_dependence.answer import RowDependence

if TYPE_CHECKING:
    import pyarrow as pa

    from assay.views.html.view import View

FORMAT = "assay.comparison/1"


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """One column of both tables, to be drawn.

    Attributes:
        name, kind: of the column.
        first, second: values, NaN where missing; of levels their numbers.
        levels: what the numbers stand for, where these are levels.
    """

    name: str
    kind: str
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Result):
    """The answer to all questions asked of two data sets. A notebook shows it; `report("x.html")` writes it.

    Attributes:
        data: what was read and used, of both.
        schema: the columns of both.
        findings: everything looked for, facts about columns first; `evidence.verdict` says which differ.
        ledger: how many looks were taken.
        version: the version of assay that made it.
        answers: by the name of the question, the numbers behind its findings.
        rows: how rows of each depend on each other.
        spreads: the columns compared, to be drawn.
        notes: sentences on both tables that a reader must see first.
        levels: by column, the levels that only the first and only the second table has, with their rows.
    """

    data: tuple[DataCard, DataCard]
    schema: Schema
    findings: tuple[Finding, ...]
    ledger: Ledger
    version: str
    answers: Mapping[str, Answer] = field(default_factory=dict)
    rows: tuple[RowDependence, RowDependence] | None = None
    spreads: tuple[Spread, ...] = ()
    notes: tuple[str, ...] = ()
    levels: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]] = field(default_factory=dict)

    @property
    def differences(self) -> tuple[Finding, ...]:
        """The findings that are supported."""
        return tuple(one for one in self.findings if one.evidence.verdict == "supported")

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        return bool(self.differences)

    def views(self) -> list[View]:
        """Figures of the columns of both tables, those that differ first; `assay.plot` shows them."""
        from assay.comparison.views import views

        return views(self)

    @property
    def wording(self) -> str:
        """What was compared, for the heading of figures."""
        return f"{self.data[0].name} and {self.data[1].name}"

    def tables(self) -> dict[str, pa.Table]:
        """The findings, the looks taken, the columns of both tables and every difference, as Arrow tables by name."""
        tables = {
            "findings": self.findings_table(),
            "looks": self.ledger.table(),
            **{f"columns_{place}": columns_table(card) for place, card in zip((1, 2), self.data, strict=True)},
        }
        for name, answer in self.answers.items():
            tables |= {f"{name}_{own}": table for own, table in answer.tables().items()}
        return tables

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON-ready values; `assay schema comparison` prints what each of them is."""
        asked = self.asked_by()
        return {
            "format": FORMAT,
            "assay": self.version,
            "differs": self.differs,
            "data": [card.as_dict() for card in self.data],
            "schema": self.schema.as_dict()
            | {"levels": {name: [*map(dict, only)] for name, only in self.levels.items()}},
            "rows": None if self.rows is None else [rows.as_dict() for rows in self.rows],
            "notes": list(self.notes),
            "ledger": self.ledger.as_dict(),
            "findings": [{**finding.as_dict(), "question": asked.get(finding.id)} for finding in self.findings],
            "answers": {name: answer.as_dict() for name, answer in self.answers.items()},
        }

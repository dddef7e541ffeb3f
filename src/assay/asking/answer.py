"""What a question found, as study, report and command line use it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from assay.asking.finding import Finding, Look
from assay.errors import UnknownNameError
from assay.evidence.evidence import Evidence, Verdict
from assay.shown import a_few

if TYPE_CHECKING:
    import pyarrow as pa

    from assay.asking.page import Page
    from assay.asking.row_names import RowNames
    from assay.data.as_frames import Backend
    from assay.views.html.view import View


LISTED = 2000  # rows of a table that JSON has; `assay report --tables` writes all


class Answer(ABC):
    """An answer: numbers with their evidence, which say themselves in words and figures.

    Attributes:
        evidence: on the answer as a whole; its p is the smallest valid one of the question.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        """Show every answer in a few lines, those of other packages too: a dataclass would write out its arrays."""
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Answer.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Its findings, and the tables it has."""
        lines = [type(self).__name__, *(f"  {finding!r}" for finding in self.findings())]
        tables = self.tables()
        return "\n".join([*lines, f"  tables: {', '.join(tables)}"] if tables else lines)

    if TYPE_CHECKING:  # a field or a property, as the answer likes; one here would become the field's default

        @property
        def evidence(self) -> Evidence:
            """On the answer as a whole."""

    @property
    def wording(self) -> str:
        """The question as it was asked, where that says more than the question does by itself."""
        return ""

    @property
    def looks(self) -> int:
        """How many structures were looked at."""
        return self.evidence.looks

    @property
    def tests(self) -> int:
        """How many tests were made: one for each look, if nothing else is said."""
        return self.looks

    @property
    @abstractmethod
    def rule(self) -> str:
        """How tests are corrected for, one phrase."""

    @abstractmethod
    def stricter(self, factor: float, level: float) -> Self:
        """The same where other questions were asked too: every q times the factor, what falls by that gone.

        Args:
            factor: at least 1.
            level: level of the study.
        """

    @abstractmethod
    def findings(self) -> Sequence[Finding]:
        """What was found, or was looked for and not found, the strongest first."""

    @abstractmethod
    def views(self, page: Page | None = None) -> Sequence[View]:
        """Figures and tables behind the findings; none where there is nothing to see.

        Args:
            page: what the views of all answers share; None to stand alone.
        """

    def offers(self, page: Page) -> None:
        """Give the page what the views of other answers can use: rows to select together, names of groups."""
        return

    def headline(self, verdict: Verdict) -> str:
        """What has this verdict, as part of the line at the top, such as "2 components of 8"; empty if nothing has.

        Args:
            verdict: the verdict.
        """
        having = [finding for finding in self.findings() if finding.evidence.verdict == verdict]
        return having[0].spoken.several(len(having), len(self.findings())) if having else ""

    def because(self) -> str:
        """A sentence behind the headline, where something stood up; may be empty."""
        return ""

    def missed_by(self) -> str:
        """How near it came, where nothing did; may be empty."""
        return ""

    def numbers(self) -> dict[str, Any]:
        """The numbers behind the findings that a program may want, JSON-ready but for what is not finite."""
        return {}

    def tables(self) -> Mapping[str, pa.Table]:
        """The numbers behind the findings as complete tables, by name; `assay.asking.table_of` makes one of columns.

        A column `row` is the number of a row among those used, counted from 1: a study puts identifiers beside it.
        """
        return {}

    def of_rows(self) -> tuple[str, ...]:
        """Names of those tables that have a row for each row of the data, all or a fair sample of them."""
        return ()

    def to_frame(self, table: str | None = None, backend: Backend | None = None) -> Any:
        """One of its tables as a frame.

        Args:
            table: its name; None for the first.
            backend: "pandas", "polars" or "pyarrow"; None for the first of them that is installed.
        """
        from assay.data.as_frames import frame_of

        tables = self.tables()
        name = next(iter(tables), "") if table is None else table
        if name not in tables:
            raise UnknownNameError(_no_table(type(self).__name__, table, list(tables)))
        return frame_of(tables[name], backend)

    def ledger_line(self, question: str, factor: float) -> Look:
        """Its line in the ledger.

        Args:
            question: the wording of the question.
            factor: what every p was multiplied with, for the other questions asked; the ledger says why.
        """
        owed = "" if factor == 1.0 else f"; then every p times {factor:.3g}, for the other questions"
        return Look(self.wording or question, self.looks, self.tests, self.rule + owed)

    def as_dict(self, names: RowNames | None = None) -> dict[str, Any]:
        """The answer as JSON-ready values.

        Args:
            names: what its rows are called; None where that is not known.
        """
        from assay.data.as_frames import json_of

        tables = {name: table if names is None else names.beside(table) for name, table in self.tables().items()}
        return {
            "findings": [finding.id for finding in self.findings()],
            "evidence": self.evidence.as_dict(),
            "looks": self.looks,
            "tests": self.tests,
            "correction": self.rule,
            "numbers": _known(self.numbers()),
            "tables": {name: json_of(table, LISTED) for name, table in tables.items()},
        }

    def plot(self) -> Any:
        """The figures of the answer, as `assay.plot` gives them."""
        from assay.views.plot import plot

        return plot(self)


def _no_table(kind: str, asked: str | None, there: list[str]) -> str:
    if not there:
        return f"{kind} has no tables"
    return f"{kind} has no table {asked!r}; there are {a_few(there)}"


def _known(value: Any) -> Any:
    """The same; what is unknown or infinite becomes None."""
    if isinstance(value, dict):
        return {key: _known(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_known(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""What a study found, and the ledger of every look it took to find it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.asking.answer import Answer
from assay.asking.card import Column, DataCard
from assay.asking.effort import Effort
from assay.asking.finding import Finding, Look
from assay.asking.result import Result
from assay.asking.row_names import RowNames
from assay.asking.table import FirstLook
from assay.data.as_frames import records_of
from assay.study.gaps_together import GapsTogether, gaps_together
from assay.study.row_dependence.answer import RowDependence

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "assay.study/1"
SAMPLE_OF = b"assay.sample_of"  # a key of the schema of tables that hold a sample of the rows
_LOOK = {"question": str, "looks": int, "tests": int, "correction": str}
_COLUMN = {
    "name": str, "kind": str, "unit": str, "role": str, "used": bool, "missing": int, "encoded": str, "typical": str,
    "suspicious": str, "note": str, "why": str,
}  # fmt: skip
_PROFILE = {
    "count": int, "distinct": int, "zeros": int, "min": float, "quartile_1": float, "median": float,
    "quartile_3": float, "max": float, "mean": float, "sd": float,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A question that does not apply to the data, and why."""

    question: str
    why: str

    def as_dict(self) -> dict[str, str]:
        """The entry as JSON-ready values."""
        return {"question": self.question, "why": self.why}


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every look a study took, so that nothing was found by looking often.

    Attributes:
        questions: those that were asked.
        level: level of the study.
        seed: of everything random.
        not_asked: those that do not apply.
        together: what the questions cost each other, the exact rule; empty where only one was tested.
        effort: how much was spent on telling structure from chance.
    """

    questions: tuple[Look, ...] = ()
    level: float = 0.05
    seed: int = 0
    not_asked: tuple[NotAsked, ...] = ()
    together: str = ""
    effort: Effort = "standard"

    @property
    def looks(self) -> int:
        """All looks together."""
        return sum(question.looks for question in self.questions)

    def table(self) -> pa.Table:
        """The questions asked, one a row."""
        return records_of([look.as_dict() for look in self.questions], _LOOK)

    def as_dict(self) -> dict[str, Any]:
        """The ledger as JSON-ready values."""
        return {
            "looks": self.looks,
            "level": self.level,
            "seed": self.seed,
            "effort": self.effort,
            "questions": [question.as_dict() for question in self.questions],
            "not_asked": [question.as_dict() for question in self.not_asked],
            "together": self.together,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Study(Result):
    """The answer to all questions asked of one data set. A notebook shows it; `report("x.html")` writes it.

    Attributes:
        data: what was read and used.
        findings: every structure looked for, supported or not, in the order of the questions.
        ledger: how many looks were taken.
        version: the version of assay that made it.
        answers: by the name of the question, the numbers behind its findings; each can be plotted. `study["groups"]`
            is the same as `study.answers["groups"]`.
        look: the sample behind the pictures of the data.
        rows: how rows depend on each other, which was asked first.
        names: what rows are called, for tables.
    """

    data: DataCard
    findings: tuple[Finding, ...]
    ledger: Ledger
    version: str
    answers: Mapping[str, Answer] = field(default_factory=dict)
    look: FirstLook | None = None
    rows: RowDependence | None = None
    names: RowNames | None = None

    def report(
        self, path: str | os.PathLike[str] = "report.html", *, include_rows: bool = False, order: Sequence[str] = ()
    ) -> Path:
        """Write it to a file; one that is there is replaced only when the new one is whole.

        Args:
            path: a page that needs nothing else, or JSON where the name ends in ".json".
            include_rows: whether the page may hold rows as they came, with their identifiers; without it values are
                coarse. JSON is the same either way.
            order: columns to draw first in the picture of all values; the rest by kind.

        Returns:
            The path.
        """
        return self._written(path, include_rows=include_rows, order=order)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind all findings as complete Arrow tables, by name.

        `findings`, `columns` and `looks` are of the whole study; the others are called by their question and their own
        name, such as `groups_labels`. A column `row` counts from 1 among the rows used; `row_in_data` counts from 1 in
        the data as read; columns that identify rows follow. `gaps` says which columns are missing together; `tables`
        lists all of them, and which hold a fair sample of the rows, as the schema of such a table does.
        """
        tables = {
            "findings": self.findings_table(),
            "columns": columns_table(self.data),
            "looks": self.ledger.table(),
        }
        if (gaps := self.gaps) is not None:
            tables["gaps"] = gaps.table()
        for name, answer in self.answers.items():
            drawn = answer.of_rows()
            for own, table in answer.tables().items():
                named = table if self.names is None else self.names.beside(table)
                tables[f"{name}_{own}"] = self._marked(named) if own in drawn else named
        tables["tables"] = _listed(tables)
        return tables

    def sampled(self) -> tuple[str, ...]:
        """Names of the tables that hold a fair sample of the rows, where there are too many for all."""
        return tuple(name for name, table in self.tables().items() if sample_of(table) is not None)

    @property
    def gaps(self) -> GapsTogether | None:
        """Which columns are missing in the same rows; None where no value is missing, or there are no rows."""
        return gaps_together(self.look)

    def _marked(self, table: pa.Table) -> pa.Table:
        """A table of rows, which says so where it holds a sample of them."""
        if table.num_rows >= self.data.rows_used:
            return table
        return table.replace_schema_metadata({**(table.schema.metadata or {}), SAMPLE_OF: str(self.data.rows_used)})

    def as_dict(self) -> dict[str, Any]:
        """The study as JSON-ready values; `assay schema` prints what each of them is."""
        asked = self.asked_by()
        return {
            "format": FORMAT,
            "assay": self.version,
            "data": self.data.as_dict() | {"gaps": None if (gaps := self.gaps) is None else gaps.as_dict()},
            "rows": None if self.rows is None else self.rows.as_dict(),
            "ledger": self.ledger.as_dict(),
            "findings": [{**finding.as_dict(), "question": asked.get(finding.id)} for finding in self.findings],
            "answers": {name: self._told(answer) for name, answer in self.answers.items()},
        }

    def _told(self, answer: Answer) -> dict[str, Any]:
        """An answer as JSON-ready values; tables that hold a sample of the rows say so."""
        told = answer.as_dict(self.names)
        for name in answer.of_rows():
            table = told["tables"].get(name)
            if table is not None and table["of"] < self.data.rows_used:
                table["sample_of"] = self.data.rows_used
        return told


def _listed(tables: Mapping[str, pa.Table]) -> pa.Table:
    """The tables, one a row: how many rows each has, and of how many these are a fair sample."""
    rows = [
        {"table": name, "rows": table.num_rows, "sample_of": sample_of(table), "columns": ", ".join(table.column_names)}
        for name, table in tables.items()
    ]
    return records_of(rows, {"table": str, "rows": int, "sample_of": int, "columns": str})


def sample_of(table: pa.Table) -> int | None:
    """Of how many rows a table holds a fair sample; None where it holds no sample.

    Args:
        table: of a study.
    """
    said = (table.schema.metadata or {}).get(SAMPLE_OF)
    return None if said is None else int(said)


def columns_table(data: DataCard) -> pa.Table:
    """The columns of the data, one a row.

    Args:
        data: what was read.
    """
    told = [{**_numbers(column["profile"] or {}), **column} for column in map(Column.as_dict, data.columns)]
    return records_of(told, {**_COLUMN, **_PROFILE})


def _numbers(profile: Mapping[str, Any]) -> dict[str, Any]:
    """What is a number in a profile; times are text."""
    return {name: value for name, value in profile.items() if not isinstance(value, str)}

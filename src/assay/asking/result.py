"""What a study and a comparison have in common: findings that show themselves, answers by name, tables.

How it looks as a page, as JSON and in a notebook is the business of `assay.report`, a room above. As models name the
function of `assay.views` that draws them (`models/registry.py`), the room is named here and loaded when it is asked;
docs/adr/0036-results-show-themselves.md says why.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.data.as_frames import Backend, frame_of, records_of
from assay.errors import UnknownNameError
from assay.shown import a_few

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN_BY = "assay.report.presenting"


class Result(ABC):
    """Findings and the answers behind them."""

    __slots__ = ()

    if TYPE_CHECKING:  # fields of the dataclasses that are results

        @property
        def findings(self) -> tuple[Finding, ...]:
            """Every structure looked for."""

        @property
        def answers(self) -> Mapping[str, Answer]:
            """By the name of the question."""

    @abstractmethod
    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind all findings as complete Arrow tables, by name."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-ready values."""

    def __getitem__(self, name: str) -> Answer:
        """The answer to a question, by the question's name."""
        if name not in self.answers:
            there = a_few(self.answers) if self.answers else "none"
            raise UnknownNameError(f"there is no answer {name!r}; there are: {there}")
        return self.answers[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is an answer of this name."""
        return name in self.answers

    def __iter__(self) -> Iterator[str]:
        """The names of the answers."""
        return iter(self.answers)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.answers)

    def __repr__(self) -> str:
        """What was looked at, what stands, and how many findings have which verdict: a few lines."""
        return str(import_module(SHOWN_BY).brief(self))

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdicts, and the page in a frame that can reach nothing outside itself."""
        return str(import_module(SHOWN_BY).notebook(self))

    def report(self, path: str | os.PathLike[str] = "report.html") -> Path:
        """Write it to a file; one that is there is replaced only when the new one is whole.

        Args:
            path: a page that needs nothing else, or JSON where the name ends in ".json".

        Returns:
            The path.
        """
        return self._written(path)

    def _written(self, path: str | os.PathLike[str], **options: Any) -> Path:
        import_module(SHOWN_BY).write(self, path, **options)
        return Path(path)

    def to_frame(self, table: str = "findings", backend: Backend | None = None) -> Any:
        """The findings, or another of `tables()`, as a frame.

        Args:
            table: its name.
            backend: "pandas", "polars" or "pyarrow"; None for the first of them that is installed.
        """
        tables = {"findings": self.findings_table()} if table == "findings" else self.tables()
        if table not in tables:
            raise UnknownNameError(f"there is no table {table!r}; there are: {a_few(tables)}")
        return frame_of(tables[table], backend)

    def write_tables(
        self, folder: str | os.PathLike[str], format: Literal["parquet", "csv"] = "parquet", *, force: bool = False
    ) -> tuple[Path, ...]:
        """Write every one of `tables()` to a file of its own, whole or not at all.

        Args:
            folder: is made where it is not there.
            format: "parquet" or "csv".
            force: replace files of these names that are there, whoever wrote them; Parquet files of assay say so and
                are replaced in any case.

        Returns:
            The files.
        """
        from assay.asking.table_files import write_tables

        return write_tables(self.tables(), folder, format, force=force)

    def asked_by(self) -> dict[str, str]:
        """By the id of a finding, the name of the question that it answers; facts about columns have none."""
        return {finding.id: name for name, answer in self.answers.items() for finding in answer.findings()}

    def findings_table(self) -> pa.Table:
        """The findings, one a row, with their evidence."""
        asked = self.asked_by()
        rows = [{"question": asked.get(finding.id), **finding.flat()} for finding in self.findings]
        return records_of(rows, {"question": str, **Finding.FLAT})

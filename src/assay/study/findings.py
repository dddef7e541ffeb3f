"""What a study found, and the ledger of every look it took to find it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.evidence.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Finding:
    """One structure, in a sentence, with its evidence.

    Attributes:
        id: stable name inside the study, such as "component-1".
        kind: the sort of structure, such as "component".
        subject: what it is about, in the user's columns.
        sentence: the finding in plain words with its numbers.
        evidence: how well it stands up.
    """

    id: str
    kind: str
    subject: str
    sentence: str
    evidence: Evidence

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON-ready values."""
        return {
            "id": self.id,
            "kind": self.kind,
            "subject": self.subject,
            "sentence": self.sentence,
            "evidence": self.evidence.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Look:
    """One question of the ledger: how many looks it took and how they are corrected for."""

    question: str
    looks: int
    tests: int
    correction: str

    def as_dict(self) -> dict[str, Any]:
        """The entry as JSON-ready values."""
        return {
            "question": self.question,
            "looks": self.looks,
            "tests": self.tests,
            "correction": self.correction,
        }


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every look a study took, so that nothing was found by looking often."""

    questions: tuple[Look, ...] = ()
    alpha: float = 0.05
    seed: int = 0

    @property
    def looks(self) -> int:
        """All looks together."""
        return sum(question.looks for question in self.questions)

    def as_dict(self) -> dict[str, Any]:
        """The ledger as JSON-ready values."""
        return {
            "looks": self.looks,
            "alpha": self.alpha,
            "seed": self.seed,
            "questions": [question.as_dict() for question in self.questions],
        }


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the data and what was done with it.

    Attributes:
        name, kind, unit, role: as understood or declared.
        used: whether it entered the analysis.
        missing: how many values are missing.
        note: why it was set aside, or what else a reader must know.
        encoded: what it became, such as "log(1 + x)" or "3 levels, 5 rare ones pooled"; empty for as it is.
        typical: what its values look like, such as "3 to 112,151, mean 12,000" or "a (60%), b (40%)".
        suspicious: values that look wrong, in words; empty if none do.
        why: the rule that decided the kind.
    """

    name: str
    kind: str
    used: bool
    missing: int = 0
    note: str = ""
    unit: str | None = None
    role: str | None = None
    encoded: str = ""
    typical: str = ""
    suspicious: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class DataCard:
    """What was read, what of it was used, and why the rest was not.

    Attributes:
        name: the file's name, without its folder.
        rows: rows read.
        rows_used: rows that entered the analysis.
        columns: every column, in the order of the data.
        notes: sentences a reader must see before trusting the rest.
        problems: sentences on what was wrong while reading, with places.
    """

    name: str
    rows: int
    rows_used: int
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The card as JSON-ready values."""
        return {
            "name": self.name,
            "rows": self.rows,
            "rows_used": self.rows_used,
            "columns": [
                {
                    "name": c.name,
                    "kind": c.kind,
                    "unit": c.unit,
                    "role": c.role,
                    "used": c.used,
                    "missing": c.missing,
                    "encoded": c.encoded,
                    "typical": c.typical,
                    "suspicious": c.suspicious,
                    "note": c.note,
                    "why": c.why,
                }
                for c in self.columns
            ],
            "notes": list(self.notes),
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class Study:
    """The answer to all questions asked of one data set.

    Attributes:
        data: what was read and used.
        findings: every structure looked for, supported or not, the strongest first.
        ledger: how many looks were taken.
        results: per question, the numbers behind its findings, for views.
        version: the version of assay that made it.
    """

    data: DataCard
    findings: tuple[Finding, ...]
    ledger: Ledger
    version: str
    results: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The study as JSON-ready values, without the numbers kept for views."""
        return {
            "assay": self.version,
            "data": self.data.as_dict(),
            "ledger": self.ledger.as_dict(),
            "findings": [finding.as_dict() for finding in self.findings],
        }

"""What a study found, and the ledger of every look it took to find it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.asking.answer import Answer
from assay.asking.card import DataCard
from assay.asking.effort import Effort
from assay.asking.finding import Finding, Look
from assay.asking.table import FirstLook
from assay.study.row_dependence.answer import RowDependence


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


@dataclass(frozen=True, slots=True)
class Study:
    """The answer to all questions asked of one data set.

    Attributes:
        data: what was read and used.
        findings: every structure looked for, supported or not, in the order of the questions.
        ledger: how many looks were taken.
        version: the version of assay that made it.
        answers: by the name of the question, the numbers behind its findings; each can be plotted.
        look: the sample behind the pictures of the data.
        rows: how rows depend on each other, which was asked first.
    """

    data: DataCard
    findings: tuple[Finding, ...]
    ledger: Ledger
    version: str
    answers: Mapping[str, Answer] = field(default_factory=dict)
    look: FirstLook | None = None
    rows: RowDependence | None = None

    def as_dict(self) -> dict[str, Any]:
        """The study as JSON-ready values."""
        return {
            "assay": self.version,
            "data": self.data.as_dict(),
            "rows": None if self.rows is None else self.rows.as_dict(),
            "ledger": self.ledger.as_dict(),
            "findings": [finding.as_dict() for finding in self.findings],
            "answers": {name: answer.as_dict() for name, answer in self.answers.items()},
        }

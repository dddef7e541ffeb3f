"""What a question found, as study, report and command line use it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from assay.asking.finding import Finding, Look
from assay.evidence.evidence import Evidence, Verdict

if TYPE_CHECKING:
    from assay.asking.page import Page
    from assay.views.html.view import View


class Answer(ABC):
    """An answer: numbers with their evidence, which say themselves in words and figures.

    Attributes:
        evidence: on the answer as a whole; its p is the smallest valid one of the question.
    """

    __slots__ = ()

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

    def ledger_line(self, question: str, factor: float) -> Look:
        """Its line in the ledger.

        Args:
            question: the wording of the question.
            factor: what every p was multiplied with, for the other questions asked; the ledger says why.
        """
        owed = "" if factor == 1.0 else f"; then every p times {factor:.3g}, for the other questions"
        return Look(self.wording or question, self.looks, self.tests, self.rule + owed)

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON-ready values."""
        return {
            "findings": [finding.id for finding in self.findings()],
            "evidence": self.evidence.as_dict(),
            "looks": self.looks,
            "tests": self.tests,
            "correction": self.rule,
            "numbers": _known(self.numbers()),
        }

    def plot(self) -> Any:
        """The figures of the answer, as `assay.plot` gives them."""
        from assay.views.plot import plot

        return plot(self)


def _known(value: Any) -> Any:
    """The same; what is unknown or infinite becomes None."""
    if isinstance(value, dict):
        return {key: _known(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_known(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

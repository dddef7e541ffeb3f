"""What an answer says: its findings, and its line in the ledger of looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from assay.asking.words import Words, shown
from assay.evidence.evidence import Evidence
from assay.shown import visible


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """One structure, in a sentence, with its evidence.

    Attributes:
        id: stable name inside the study, such as "components".
        kind: the sort of structure, such as "component".
        subject: what it is about, in the user's columns.
        sentence: the finding in plain words with its numbers.
        evidence: how well it stands up.
        words: how its evidence is spoken of.
        inside: what belongs to it in detail, as HTML that its card folds away; empty for most.
    """

    id: str
    kind: str
    subject: str
    sentence: str
    evidence: Evidence
    words: Words | None = None
    inside: str = ""

    # what `flat` gives
    FLAT: ClassVar[dict[str, type]] = {
        "id": str, "kind": str, "subject": str, "verdict": str, "sentence": str, "statistic": float, "p": float,
        "q": float, "held_out": float, "low": float, "high": float, "stability": float, "n": int, "looks": int,
        "method": str, "limit": str,
    }  # fmt: skip

    def __repr__(self) -> str:
        """Its verdict and its sentence."""
        return f"<{self.id}, {self.evidence.verdict}: {visible(self.sentence)}>"

    def flat(self) -> dict[str, Any]:
        """The finding as one row of a table; the interval is that of the value on unseen rows."""
        own = self.evidence
        low, high = own.interval or (None, None)
        values = (
            self.id, self.kind, self.subject, own.verdict, self.sentence, own.statistic, own.p, own.q, own.held_out,
            low, high, own.stability, own.n, own.looks, own.method, own.limit,
        )  # fmt: skip
        return dict(zip(self.FLAT, values, strict=True))

    @property
    def spoken(self) -> Words:
        """Its words; one without words of its own is called by its kind."""
        return self.words or Words(self.kind, f"{self.kind}s", statistic="Statistic")

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON-ready values, with the evidence once more as page and terminal write it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "subject": self.subject,
            "sentence": self.sentence,
            "evidence": self.evidence.as_dict(),
            "shown": dict(shown(self.evidence, self.spoken)),
        }


class Findings(tuple[Finding, ...]):
    """Findings in their order, one a line where they are shown.

    >>> Findings()
    no findings
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """One a line."""
        return "\n".join(map(repr, self)) or "no findings"


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

"""What an answer says: its findings, and its line in the ledger."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.asking.beyond import beyond
from assay.asking.words import BADGES, LINE, Words, shown
from assay.evidence.evidence import Evidence
from assay.shown import visible

_OF_A_KIND, _IN_ALL = 6, 30  # findings that are shown one by one


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """One structure, in a line and in a sentence, with its evidence.

    Attributes:
        id: stable name inside the study, such as "components".
        kind: the sort of structure, such as "component".
        subject: what it is about, in the user's columns.
        sentence: the finding in plain words with its numbers.
        evidence: how well it stands up.
        words: how its evidence is spoken of.
        inside: what belongs to it in detail, as HTML that is folded away; empty for most.
        line: the verdict in about twelve words, at most a hundred letters; the beginning of the sentence where none is
            given. Lists, the terminal and programs show it first.
        question: name of the question it answers; the study says it.

    >>> Finding("a", "group", "the rows", "Three groups: of 9, 8 and 7 rows. More follows.", Evidence(1.0)).line
    'Three groups: of 9, 8 and 7 rows'
    """

    id: str
    kind: str
    subject: str
    sentence: str
    evidence: Evidence
    words: Words | None = None
    inside: str = ""
    line: str = ""
    question: str = ""

    def __post_init__(self) -> None:
        line = " ".join((self.line or self.sentence.partition(". ")[0]).split()).removesuffix(".")
        if len(line) > LINE:
            line = f"{line[: LINE - 1].rstrip(' ,;:')}…"
        object.__setattr__(self, "line", line)

    @property
    def beyond_chance(self) -> float | None:
        """How far it lies beyond chance, on the scale of all findings: see `assay.asking.beyond`."""
        return beyond(self.evidence)

    # what `flat` gives
    FLAT: ClassVar[dict[str, type]] = {
        "id": str, "kind": str, "subject": str, "verdict": str, "line": str, "sentence": str, "statistic": float,
        "p": float, "q": float, "held_out": float, "low": float, "high": float, "stability": float,
        "beyond_chance": float, "n": int, "looks": int, "method": str, "limit": str,
    }  # fmt: skip

    def __repr__(self) -> str:
        """Its verdict and its line."""
        return f"<{self.id}, {self.evidence.verdict}: {visible(self.line)}>"

    def flat(self) -> dict[str, Any]:
        """The finding as one row of a table; the interval is that of the value on unseen rows."""
        own = self.evidence
        low, high = own.interval or (None, None)
        values = (
            self.id, self.kind, self.subject, own.verdict, self.line, self.sentence, own.statistic, own.p, own.q,
            own.held_out, low, high, own.stability, self.beyond_chance, own.n, own.looks, own.method, own.limit,
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
            "line": self.line,
            "sentence": self.sentence,
            "evidence": self.evidence.as_dict(),
            "beyond_chance": _finite(self.beyond_chance),
            "shown": dict(shown(self.evidence, self.spoken)),
        }


def strongest_first(findings: Sequence[Finding]) -> list[Finding]:
    """By verdict, then by how far beyond chance; facts that need no chance before all others of their verdict.

    Args:
        findings: in the order of the questions, which those of equal strength keep.
    """

    def weakness(finding: Finding) -> tuple[int, float]:
        verdict, found = finding.evidence.verdict, finding.beyond_chance
        certain = found is None and verdict == "supported"
        return list(BADGES).index(verdict), -math.inf if certain else 0.0 if found is None else -found

    return sorted(findings, key=weakness)


def a_few_of_each(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """The first findings of each kind, and the rest, which would hide them.

    Args:
        findings: the strongest first.
    """
    seen: Counter[str] = Counter()
    first: list[Finding] = []
    rest: list[Finding] = []
    for finding in findings:
        seen[finding.kind] += 1
        (first if seen[finding.kind] <= _OF_A_KIND and len(first) < _IN_ALL else rest).append(finding)
    return first, rest


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


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
    """One question of the ledger: how many structures it examined, by how many tests, and how it corrects for these."""

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

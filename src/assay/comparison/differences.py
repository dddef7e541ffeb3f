"""The answer to one question put to two tables: differences with their evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from assay.arrays import Array
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.asking.words import Words, one_line
from assay.comparison.held_out import HeldOutDifference
from assay.data.as_frames import records_of
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.noise.monte_carlo import rank_p
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa

_ROW = {
    "id": str, "subject": str, "differs_in": str, "in_first": float, "in_second": float, "statistic": float,
    "p": float, "q": float, "unseen": float, "unseen_low": float, "unseen_high": float, "verdict": str,
}  # fmt: skip
METHOD = "names of the tables exchanged among rows"
DRAWS = 499
FOLDS = 5
_SLACK = 1e-9
_OPENINGS = {"supported": "", "suggestive": "Perhaps: "}
_DENIED = "May be chance: "
Say: TypeAlias = Callable[[Callable[[str], str]], str]


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """One thing in which the tables may differ.

    Attributes:
        id, kind, subject: as of a `Finding`.
        sentence: that of its `Finding`, without what opens it.
        lines: as of a `Finding`, by what opens it: `lines_of` writes them.
        evidence: p against chance, q for all that its question examined.
        words: how its evidence is spoken of.
        holds: whether it is there on unseen rows.
        numbers: what a program may want of it.
    """

    id: str
    kind: str
    subject: str
    lines: dict[str, str]
    sentence: str
    evidence: Evidence
    words: Words
    holds: bool
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """Its line, which does not claim what its verdict does not."""
        return self.lines[self._opening]

    @property
    def told(self) -> str:
        """Its sentence, which does not either."""
        return f"{self._opening}{self.sentence}"

    @property
    def _opening(self) -> str:
        return _OPENINGS.get(self.evidence.verdict, _DENIED)

    def stricter(self, factor: float, level: float) -> Difference:
        """The same where other questions were asked too."""
        return replace(self, evidence=self.evidence.stricter(factor, level, effect_holds=self.holds))


def lines_of(say: Say) -> dict[str, str]:
    """A line for every verdict, by what opens it; names are as long as fit behind that.

    Args:
        say: writes the line with what shortens a name.
    """
    return {opening: one_line(partial(_opened, opening, say)) for opening in (*_OPENINGS.values(), _DENIED)}


def _opened(opening: str, say: Say, short: Callable[[str], str]) -> str:
    return f"{opening}{say(short)}"


@dataclass(frozen=True, slots=True, eq=False)
class Differences(Answer):
    """What one question found.

    Attributes:
        found: every difference looked at that is worth a line, the strongest first.
        looked: how many were looked at.
        how: how looks are corrected for, one phrase.
    """

    found: tuple[Difference, ...]
    looked: int
    how: str

    @property
    def evidence(self) -> Evidence:
        """That of the strongest; its p covers all looks."""
        best = self.found[0].evidence
        return replace(best, p=best.q)

    @property
    def looks(self) -> int:
        """How many differences were looked at."""
        return self.looked

    @property
    def rule(self) -> str:
        """How looks are corrected for."""
        return self.how

    def stricter(self, factor: float, level: float) -> Self:
        """The same where other questions were asked too."""
        return replace(self, found=tuple(one.stricter(factor, level) for one in self.found))

    def findings(self) -> Sequence[Finding]:
        """Every difference in a sentence."""
        return [
            Finding(one.id, one.kind, one.subject, one.told, one.evidence, one.words, line=one.said)
            for one in self.found
        ]

    def views(self, page: Page | None = None) -> Sequence[View]:
        """None: the page shows both tables side by side."""
        return ()

    def tables(self) -> dict[str, pa.Table]:
        """Every difference, one a row: how large in both tables, and its evidence."""
        rows = [_row(one) for one in self.found]
        return {"differences": records_of(rows, _ROW)}

    def numbers(self) -> dict[str, Any]:
        """What a program may want of each difference, by its id."""
        return {one.id: one.numbers for one in self.found if one.numbers}


def _row(one: Difference) -> dict[str, Any]:
    """A difference as a record; of what is known in both tables the first two numbers."""
    told, numbers = one.evidence, one.numbers
    pairs = [numbers[name] for name in ("medians", "shares", "correlations") if name in numbers]
    first, second = pairs[0] if pairs else (None, None)
    low, high = told.interval or (None, None)
    return {
        "id": one.id, "subject": one.subject, "differs_in": numbers.get("differs_in", numbers.get("level")),
        "in_first": first, "in_second": second, "statistic": told.statistic, "p": told.p, "q": told.q,
        "unseen": told.held_out, "unseen_low": low, "unseen_high": high, "verdict": told.verdict,
    }  # fmt: skip


def against_all(own: Array, best: Array) -> tuple[float, float]:
    """P of one look against its own draws, and against the best look of each draw.

    Args:
        own: (m + 1,) the look in the tables as they are, then in the draws.
        best: (m + 1,) the most surprising of all looks.
    """
    slack = _SLACK * max(1.0, abs(float(own[0])))
    draws = len(own) - 1
    alone, of_all = (rank_p(int((x[1:] >= own[0] - slack).sum()), draws) for x in (own, best))
    return alone, of_all


def evidence_of(
    statistic: float,
    null: Null,
    p: tuple[float, float],
    unseen: HeldOutDifference,
    *,
    n: int,
    looks: int,
    method: str,
    level: float,
    limit: str,
) -> Evidence:
    """The evidence of one difference.

    Args:
        statistic: what was measured.
        null: what chance does to it.
        p: against its own draws, and against the best of all looks.
        unseen: its size on unseen rows.
        n: rows of both tables.
        looks: of the question.
        method: how p was obtained.
        level: level of the comparison.
        limit: why it cannot be supported.
    """
    return Evidence(
        statistic=statistic,
        null=null,
        p=p[0],
        q=p[1],
        held_out=unseen.value,
        interval=unseen.interval,
        n=n,
        looks=looks,
        method=method,
        verdict=verdict_of(p[1], effect_holds=unseen.holds, level=level),
        limit=limit,
    )

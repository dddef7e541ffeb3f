"""Levels and tastes in ratings, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.arrays import Array
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.asking.words import listed
from assay.evidence.evidence import Evidence, Verdict
from assay.evidence.ratings import WHATS, RatingsEvidence
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Tastes(Answer):
    """What ratings say of users, items and tastes.

    Attributes:
        found: the evidence.
        factors: (d, k) of the items, fitted on all ratings.
        levels: (d,) what a user of whom nothing is known would make of each item.
    """

    found: RatingsEvidence
    factors: Array
    levels: Array

    @property
    def evidence(self) -> Evidence:
        """That with the smallest p."""
        return min((self.found.evidence(what) for what in WHATS), key=lambda one: 1.0 if one.p is None else one.p)

    @property
    def looks(self) -> int:
        """Users, items, tastes."""
        return len(WHATS)

    @property
    def rule(self) -> str:
        """How looks are corrected for."""
        return "Holm's correction for users, items and tastes; penalties are chosen again in every draw of chance"

    def findings(self) -> tuple[Finding, ...]:
        """Tastes first, then items and users."""
        from assay.questions.tastes.words import WORDS, line, sentence, subject

        return tuple(
            Finding(
                what,
                what,
                subject(what),
                sentence(self, what),
                self.found.evidence(what),
                WORDS[what],
                line=line(self, what),
            )
            for what in reversed(WHATS)
        )

    def headline(self, verdict: Verdict) -> str:
        """What has this verdict."""
        from assay.questions.tastes.words import HEADS

        have = [HEADS[what] for what in reversed(WHATS) if self.found.evidence(what).verdict == verdict]
        return listed(have) if have else ""

    def views(self, page: Page | None = None) -> list[View]:
        """Errors beside yardsticks, items on their factors, who rated."""
        from assay.questions.tastes.views import views

        return views(self)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.tastes.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """Errors on held-out ratings, and orders of items."""
        found = self.found
        errors = {
            method: dict(zip(("rmse", "low", "high"), found.error(method), strict=True)) for method in found.methods
        }
        ranking = {
            name: {"recall_at_10": list(recall), "ndcg_at_10": list(ndcg)}
            for name, (recall, ndcg) in found.ranking.items()
        }
        return {"held_out_errors": errors, "ranking": ranking, "alpha": found.alpha, "notes": list(found.notes)}

    def stricter(self, factor: float, level: float) -> Tastes:
        """The same where other questions were asked too."""
        return replace(self, found=self.found.stricter(factor, level))

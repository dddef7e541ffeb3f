"""Groups of rows, as an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.views.view import View

Array: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]
Tell: TypeAlias = Callable[[str], object]


@dataclass(frozen=True, slots=True, eq=False)
class Groups(Answer):
    """Groups of rows, and how far they can be believed.

    Attributes:
        rows: (m,) numbers of the rows grouped.
        labels: (m,) the group of each, from 0, the largest first.
        k: how many groups: the most, of 2 to 8, that one half of the rows predicts for the other (0.8 or more).
        sizes: (k,) rows in each.
        axes: how many components the groups lie in; as many as there are columns where it is these.
        explained: share of the variance in these that lies between the groups.
        explained_by_chance: (draws,) the same where there are no groups.
        gains: (7,) statistic of 2 to 8 groups there, in standard deviations of chance about its mean.
        stability: (k,) how much of each group comes back when rows are drawn again; NaN where chance does as well.
        columns: names of the columns used.
        between: (d,) share of each column's variance that lies between the groups.
        between_by_chance: (d,) its mean in groups that chance makes.
        column_q: (d,) chance of a difference as large in such groups, corrected for all columns.
        means: (k, d) of the columns in the groups, in standard deviations from the mean of all.
        plane: (m, 2) the rows along the two largest components of the columns; None for a single column.
        evidence: on the groups as a whole.
        holds: whether one half of the rows predicts the groups of the other better than in tables without groups.
        strength_range: prediction strength of the middle 95% of the halvings, None where chance does as well. How far
            single halvings lie apart; no interval of their mean, since all of them divide the same rows.
    """

    rows: Numbers
    labels: Numbers
    k: int
    sizes: Numbers
    axes: int
    explained: float
    explained_by_chance: Array
    gains: Array
    stability: Array
    columns: tuple[str, ...]
    between: Array
    between_by_chance: Array
    column_q: Array
    means: Array
    plane: Array | None
    evidence: Evidence
    holds: bool
    strength_range: tuple[float, float] | None

    @property
    def tests(self) -> int:
        """One, for the whole search."""
        return 1

    @property
    def rule(self) -> str:
        """How looks are corrected for."""
        draws = len(self.explained_by_chance)
        return f"the best of {self.looks} searches, made anew in each of {draws} tables without groups"

    def findings(self) -> tuple[Finding, ...]:
        """One for all groups."""
        from assay.questions.groups.words import WORDS, sentence, subject

        return (Finding("groups", "groups", subject(self), sentence(self), self.evidence, WORDS),)

    def headline(self, verdict: Verdict) -> str:
        """How many groups, where they have this verdict."""
        from assay.questions.groups.words import WORDS

        return WORDS.several(self.k) if verdict == self.evidence.verdict else ""

    def offers(self, page: Page) -> None:
        """The group of each row drawn."""
        from assay.questions.groups.views import names

        page.groups = names(self)

    def views(self, page: Page | None = None) -> list[View]:
        """The rows in the colours of their groups, and what tells these apart."""
        from assay.questions.groups.views import views

        return views(self, page or Page([self]))

    def numbers(self) -> dict[str, Any]:
        """Sizes of the groups, and how far each column tells them apart."""
        return {
            "k": self.k,
            "sizes": self.sizes.tolist(),
            "columns": {
                name: {"between": float(b), "by_chance": float(c), "q": float(q)}
                for name, b, c, q in zip(self.columns, self.between, self.between_by_chance, self.column_q, strict=True)
            },
        }

    def stricter(self, factor: float, alpha: float) -> Groups:
        """The same groups where other questions were asked too: q times the factor, the verdict accordingly."""
        return replace(self, evidence=self.evidence.stricter(factor, alpha, effect_holds=self.holds))

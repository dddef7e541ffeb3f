"""Pairs of columns that go together, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.models.correlation.dependence import Dependence
from assay.questions.correlations.closer import Closer, as_dicts
from assay.questions.correlations.given import Given
from assay.views.view import View

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

_LISTED = 1000  # pairs a program is given


@dataclass(frozen=True, slots=True, eq=False)
class Correlations(Answer):
    """Pairs of columns that go together.

    Attributes:
        found: every pair tested, with matrices where they are not too large.
        n_pairs: how many pairs stand at the level of the study.
        again: share of these that are found in either half of the rows.
        order: (d,) columns so that strongly linked ones are neighbours; None where they are too many to draw.
        factor: what every q was multiplied with, for the other questions of the study.
        evidence: on the pairs as a whole, and the size of the strongest one.
        closer: shapes of the strongest pairs, and what third columns do to them.
    """

    found: Dependence
    n_pairs: int
    again: float
    order: Indices | None
    factor: float
    evidence: Evidence
    closer: Closer = field(default_factory=Closer)

    @property
    def q(self) -> Array:
        """(k,) of the pairs in `found.pairs`, corrected for all looks of the study."""
        return np.minimum(self.found.pairs.q * self.factor, 1.0)

    @property
    def strongest_interval(self) -> tuple[float, float] | None:
        """95% interval of the strongest pair's rank correlation in all rows; None where it has a category.

        It knows nothing of the pair having been chosen, and is not one of what unseen rows show.
        """
        low, high = float(self.found.pairs.low[0]), float(self.found.pairs.high[0])
        return (low, high) if np.isfinite(low) and np.isfinite(high) else None

    @property
    def rule(self) -> str:
        """How tests are corrected for."""
        thirds = f"; Bonferroni over {self.closer.looks:,} pairs with a third column" if self.closer.looks else ""
        return f"Benjamini and Hochberg over all pairs{thirds}"

    @property
    def tests(self) -> int:
        """Every pair, and pairs with a third column."""
        return self.looks + self.closer.looks

    def turned(self, alpha: float = 0.05) -> tuple[Given, ...]:
        """Pairs that a third column turns round or away, the surest first, corrected for all looks of the study."""
        return self.closer.turned(self.factor, alpha)

    def findings(self) -> tuple[Finding, ...]:
        """One for all pairs."""
        from assay.questions.correlations.words import WORDS, sentence, subject

        return (Finding("correlations", "correlations", subject(self), sentence(self), self.evidence, WORDS),)

    def headline(self, verdict: Verdict) -> str:
        """The pairs that stand."""
        from assay.questions.correlations.words import WORDS

        return WORDS.several(max(self.n_pairs, 1)) if verdict == self.evidence.verdict else ""

    def views(self, page: Page | None = None) -> list[View]:
        """The matrix of correlations."""
        from assay.questions.correlations.views import views

        return views(self, page or Page([self]))

    def numbers(self) -> dict[str, Any]:
        """The pairs that stand."""
        pairs, names = self.found.pairs, self.found.columns
        listed = range(min(self.n_pairs, _LISTED, len(pairs)))
        return {
            "n_pairs": self.n_pairs,
            "pairs": [
                {
                    "columns": [names[pairs.first[k]], names[pairs.second[k]]],
                    "rank": float(pairs.rank[k]),
                    "q": float(self.q[k]),
                }
                for k in listed
            ],
            "shapes": as_dicts(self.closer, names),
            "given": [one.as_dict(names) for one in self.turned()],
        }

    def stricter(self, factor: float, alpha: float) -> Correlations:
        """The same where other questions were asked too: q times the factor, and the pairs that still stand."""
        again = replace(self, factor=self.factor * factor)
        n_pairs = self.found.significant(alpha / again.factor)
        evidence = self.evidence.stricter(factor, alpha, effect_holds=self.again >= 0.5)
        return replace(again, n_pairs=n_pairs, evidence=evidence)

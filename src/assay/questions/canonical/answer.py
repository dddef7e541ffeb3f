"""Two sets of columns that go together, as an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from assay.arrays import Array
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa

Tell: TypeAlias = Callable[[str], object]


@dataclass(frozen=True, slots=True, eq=False)
class Canonical(Answer):
    """Pairs of combinations, one of each side, that go together.

    Attributes:
        sides: what the two sides are called.
        columns: names of the columns of each side.
        n_pairs: how many stand at the level of the study.
        correlations: (k,) of the pairs tested, on the rows they were found on.
        held_out: (k,) on unseen rows.
        p: (k,) of each, never below that of one before it.
        variates: (n, k) of each side, of unit variance.
        loadings: (d, k) correlations of each side's columns with its variates.
        stability: of the first pair: the mean correlation between its variates as found without each fold.
        evidence: on the first pair.
    """

    sides: tuple[str, str]
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    n_pairs: int
    correlations: Array
    held_out: Array
    p: Array
    variates: tuple[Array, Array]
    loadings: tuple[Array, Array]
    stability: float
    evidence: Evidence

    @property
    def wording(self) -> str:
        """The question, with the columns named."""
        return f"Do {self.sides[0]} go with {self.sides[1]}?"

    @property
    def tests(self) -> int:
        """Pairs tested, up to the first that fell."""
        return len(self.p)

    @property
    def rule(self) -> str:
        """How tests are corrected for."""
        return f"ways tested one after another, the rows of one side shuffled; stopped after {len(self.p)}"

    def findings(self) -> tuple[Finding, ...]:
        """One for all pairs."""
        from assay.questions.canonical.words import WORDS, line, sentence, subject

        return (
            Finding("canonical", "canonical", subject(self), sentence(self), self.evidence, WORDS, line=line(self)),
        )

    def headline(self, verdict: Verdict) -> str:
        """The pairs that stand."""
        from assay.questions.canonical.words import WORDS

        return "" if verdict != self.evidence.verdict else WORDS.several(max(self.n_pairs, 1))

    def views(self, page: Page | None = None) -> list[View]:
        """The variates of each pair, and the columns that carry it."""
        from assay.questions.canonical.views import views

        return views(self)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.canonical.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """Correlations of the pairs tested, and the loadings of those that stand."""
        k = self.n_pairs
        return {
            "n_pairs": k,
            "correlations": self.correlations.tolist(),
            "held_out": self.held_out.tolist(),
            "p": self.p.tolist(),
            "loadings": [
                {name: row[:k].tolist() for name, row in zip(names, side, strict=True)}
                for names, side in zip(self.columns, self.loadings, strict=True)
            ],
        }

    def stricter(self, factor: float, level: float) -> Canonical:
        """The same where other questions were asked too."""
        n_pairs = int(np.count_nonzero(self.p * factor <= level))
        evidence = self.evidence.stricter(factor, level, effect_holds=bool(self.held_out[0] > 0.0))
        return replace(self, n_pairs=n_pairs, evidence=evidence)

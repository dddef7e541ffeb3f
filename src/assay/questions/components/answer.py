"""Principal components with their evidence, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.linalg.noise.random_matrix import SpectrumLaw
from assay.questions.components.directions import Directions
from assay.questions.components.held_out import together
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa

_LISTED, _LISTED_COLUMNS = 100, 1000  # eigenvalues, and columns by their loadings, that a program is given


@dataclass(frozen=True, slots=True, eq=False)
class Components(Answer):
    """Principal components of the correlation of a table, with the evidence for each.

    Attributes:
        columns: names of the D columns.
        n, d: rows, and columns after those of one group were made uncorrelated; D where there are no groups.
        n_real: leading components above chance; not each of them has a direction that can be told, see `n_told`.
        knee: how many stand before the bend of the scree, which is taste and no test.
        values, share: (r,) eigenvalues of the correlation matrix, and as shares of their sum.
        chance_median, chance_upper: (t,) the null of each tested component.
        law: the random-matrix law of the spectrum.
        held_out, held_out_interval: (k,), (k, 2) share of variance on unseen rows.
        by_fold: (m, k) the same in each fold of the rows.
        directions: which components point where they would in other rows.
        loadings: (D, k) correlations of columns with scores.
        scores, score_rows: (m, k) standardised scores of the rows shown, and their numbers; empty without rows.
        every_score: (n, k) those of all rows along the components above chance, where more rows are at hand than are
            shown; None elsewhere.
        tested: (t,) the evidence of each tested component.
        holds: (t,) whether each comes back and carries something on unseen rows.
    """

    columns: tuple[str, ...]
    n: int
    d: int
    n_real: int
    knee: int
    values: Array
    share: Array
    chance_median: Array
    chance_upper: Array
    law: SpectrumLaw
    held_out: Array
    held_out_interval: Array
    by_fold: Array
    directions: Directions
    loadings: Array
    scores: Array
    score_rows: NDArray[np.intp]
    tested: tuple[Evidence, ...]
    holds: tuple[bool, ...]
    every_score: Array | None = None

    @property
    def evidence(self) -> Evidence:
        """Of the largest component: where it falls, so do all."""
        return self.tested[0]

    @property
    def n_told(self) -> int:
        """Leading components above chance whose directions are known: rows and columns are drawn along these."""
        return next((j for j in range(self.n_real) if not self.holds[j]), self.n_real)

    def having(self, verdict: Verdict) -> list[int]:
        """Numbers of the tested components with this verdict, from 0."""
        return [j for j, evidence in enumerate(self.tested) if evidence.verdict == verdict]

    def alone(self, j: int) -> bool:
        """Whether a component comes back, or does not, by itself; not as one of a set."""
        first, last = self.directions.together[j]
        return bool(last - first == 1)

    @property
    def as_a_set(self) -> Evidence:
        """Of all components with the best verdict, as one: the p of the weakest, their variance together."""
        which = self.having("supported") or self.having("suggestive")
        if not which:
            return self.tested[0]
        told = [j for j in which if self.holds[j]]
        which = told or which
        weakest = self.tested[which[-1]]
        aligned = [e.stability for e in (self.tested[j] for j in which) if e.stability is not None]
        share, interval = together(self.by_fold, which) if len(self.by_fold) else (None, None)
        return replace(weakest, held_out=share, interval=interval, stability=min(aligned, default=None))

    @property
    def tests(self) -> int:
        """Components tested, up to the first that fell."""
        return len(self.tested)

    @property
    def rule(self) -> str:
        """How tests are corrected for."""
        until = f"after {self.n_real}" if self.n_real == len(self.tested) else "at the first failure"
        return f"one after another, the largest first, stopped {until}; this needs no further correction"

    def stricter(self, factor: float, level: float) -> Components:
        """The same components where other questions were asked too: q times the factor, verdicts accordingly."""
        q = [None if e.q is None else min(e.q * factor, 1.0) for e in self.tested]
        n_real = min(next((j for j, one in enumerate(q) if one is None or one > level), len(q)), self.n_real)
        # what comes back only together stands or falls together
        whole = [self.alone(j) or int(last) <= n_real for j, (_, last) in enumerate(self.directions.together)]
        holds = tuple(held and stands for held, stands in zip(self.holds, whole, strict=True))
        judged = [e.stricter(factor, level, effect_holds=h) for e, h in zip(self.tested, holds, strict=True)]
        # an alignment is that of a real component
        kept = tuple(replace(e, stability=e.stability if j < n_real else None) for j, e in enumerate(judged))
        return replace(self, n_real=n_real, tested=kept, holds=holds)

    def findings(self) -> tuple[Finding, ...]:
        """One, of all that are real; each component is inside."""
        from assay.questions.components.inside import inside
        from assay.questions.components.words import WORDS, line, sentence, subject

        return (
            Finding(
                "components", "component", subject(self), sentence(self), self.as_a_set, WORDS, inside(self), line(self)
            ),
        )

    def headline(self, verdict: Verdict) -> str:
        """Components of this verdict, of all there are; those that cannot be told apart are not counted one by one."""
        from assay.questions.components.words import headline

        return headline(self, verdict)

    def because(self) -> str:
        """How much those above chance carry."""
        from assay.questions.components.words import carried

        return carried(self)

    def missed_by(self) -> str:
        """How near the largest came."""
        from assay.questions.components.words import missed_by

        return missed_by(self)

    def offers(self, page: Page) -> None:
        """The rows along the real components, to select together."""
        from assay.questions.components.views import offers

        offers(self, page)

    def views(self, page: Page | None = None) -> list[View]:
        """Spectrum, loadings, and the rows along what is real."""
        from assay.questions.components.views import views

        return views(self, page or Page([self]))

    def of_rows(self) -> tuple[str, ...]:
        """Tables of all rows, or of a fair sample."""
        return ("scores",)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.components.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """Eigenvalues, shares and loadings."""
        real = self.loadings[:, : self.n_real]
        largest = np.argsort(-np.abs(real).max(axis=1, initial=0.0), kind="stable")[:_LISTED_COLUMNS]
        return {
            "n_real": self.n_real,
            "eigenvalues": self.values[:_LISTED].tolist(),
            "share": self.share[:_LISTED].tolist(),
            "held_out_share": self.held_out.tolist(),
            "components": [self._listed(j) for j in range(len(self.tested))],
            "loadings": {self.columns[i]: real[i].tolist() for i in largest},
        }

    def _listed(self, j: int) -> dict[str, Any]:
        first, last = map(int, self.directions.together[j])
        return {
            "component": j + 1,
            "evidence": self.tested[j].as_dict(),
            "direction_known": self.holds[j],
            "known_with": [other + 1 for other in range(first, last) if other != j],
            "halves": float(self.directions.halves[j]),
        }

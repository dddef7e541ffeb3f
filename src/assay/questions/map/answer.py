"""A map of the rows, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.arrays import Array, Indices
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.models.row_maps import TSNE
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class RowMap(Answer):
    """A map of rows, and how far it can be believed.

    Attributes:
        rows: (m,) numbers of the rows on it.
        coordinates: (m, 2).
        kept: (m,) share of the k nearest rows in the data that are among the k nearest on the map. Beyond 600 rows, a
            fair 600 make the map; the others are placed on it and compared with those.
        standing: (m,) share of the rows of shuffled maps that keep less; near 1 where a row's surroundings can be
            believed.
        chance: (draws,) mean of `kept` on each shuffled map.
        k, perplexity: how many neighbours were compared, and the scale of t-SNE; NaN for other maps.
        evidence: the map as a whole.
        holds: whether rows kept out keep more of their neighbours than on a shuffled map.
        method: how the map was drawn, a name of `models.row_maps`.
    """

    rows: Indices
    coordinates: Array
    kept: Array
    standing: Array
    chance: Array
    k: int
    perplexity: float
    evidence: Evidence
    holds: bool
    method: str = TSNE

    @property
    def rule(self) -> str:
        """How looks are corrected for."""
        return f"one map, one test, against {len(self.chance)} maps of shuffled columns"

    def findings(self) -> tuple[Finding, ...]:
        """One for the map."""
        from assay.questions.map.words import WORDS, line, sentence

        return (Finding("map", "map", "the rows", sentence(self), self.evidence, WORDS, line=line(self)),)

    def headline(self, verdict: Verdict) -> str:
        """The map, where it has this verdict."""
        return "the map of the rows" if verdict == self.evidence.verdict else ""

    def views(self, page: Page | None = None) -> list[View]:
        """The map, where it shows more than chance."""
        from assay.questions.map.views import views

        return views(self, page or Page([self]))

    def of_rows(self) -> tuple[str, ...]:
        """Tables of all rows, or of a fair sample."""
        return ("places",)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.map.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """How much is kept, here and by chance."""
        return {
            "method": self.method, "neighbours": self.k, "perplexity": self.perplexity,
            "kept_by_chance": self.chance.tolist(),
        }  # fmt: skip

    def stricter(self, factor: float, level: float) -> RowMap:
        """The same map where other questions were asked too: q times the factor, the verdict accordingly."""
        return replace(self, evidence=self.evidence.stricter(factor, level, effect_holds=self.holds))

"""Links told by the others, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.arrays import Array
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Null, Verdict, verdict_of
from assay.models.network.link_prediction.prediction import LinkPrediction, Missing
from assay.questions.links.surprising import Surprising
from assay.views.axes.numbers import counted
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa

LISTED = 1000  # surprising links that a program is given


@dataclass(frozen=True, slots=True, eq=False)
class LinksTold(Answer):
    """How well links are told by the others, and what follows.

    Attributes:
        name: of the network.
        found: how well, by which score.
        missing: pairs that look most like links; to be believed where the evidence supports the whole.
        chance: (draws,) the statistic in random graphs with the same degrees.
        evidence: on the whole.
        holds: whether links are told beyond degrees on unseen links.
        odd: surprising links; None where links cannot be told.
        directed: whether links lead one way.
        factor: what every p was multiplied with, for the other questions of the study.
        level: level of the study.
    """

    name: str
    found: LinkPrediction
    missing: tuple[Missing, ...]
    chance: Array
    evidence: Evidence
    holds: bool
    odd: Surprising | None
    directed: bool
    factor: float = 1.0
    level: float = 0.05

    @property
    def rule(self) -> str:
        """How looks are corrected for."""
        return (
            f"one test of the whole, repeated in {len(self.chance)} random networks; single links only after it, "
            "against the most surprising link of each random network"
        )

    @property
    def tests(self) -> int:
        """One, and one for each link that was judged."""
        return 1 + (self.odd.judged if self.odd is not None else 0)

    @property
    def surprising(self) -> int:
        """How many of the links in `odd` are surprising, the first ones."""
        return 0 if self.odd is None else int((self.odd_q <= self.level).sum())

    @property
    def odd_q(self) -> Array:
        """Of each link; no smaller than that of the whole, which is tested first."""
        assert self.odd is not None
        first = 1.0 if self.evidence.p is None else self.evidence.p
        return np.minimum(np.maximum(self.odd.p, first) * self.factor, 1.0)

    @property
    def told(self) -> bool:
        """Whether links can be told."""
        return self.evidence.verdict == "supported"

    def findings(self) -> tuple[Finding, ...]:
        """One for the whole, and one for surprising links where there are any."""
        from assay.questions.links.words import ODD, WORDS, line, odd_line, odd_sentence, sentence

        whole = Finding("links", "links", "the links", sentence(self), self.evidence, WORDS, line=line(self))
        if not self.told or not self.surprising:
            return (whole,)
        odd = Finding(
            "surprising-links", "surprising link", "single links", odd_sentence(self), self.odd_evidence, ODD,
            line=odd_line(self),
        )  # fmt: skip
        return whole, odd

    def headline(self, verdict: Verdict) -> str:
        """That links can be told, and how many are surprising."""
        if verdict != self.evidence.verdict:
            return ""
        if not self.told or not self.surprising:
            return "who is linked with whom"
        return f"who is linked with whom ({counted(self.surprising, 'surprising link')})"

    def views(self, page: Page | None = None) -> list[View]:
        """Tables of missing and of surprising links, and how well each score does."""
        from assay.questions.links.views import views

        return views(self)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.links.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """How well each score does, what chance does, missing and surprising links."""
        found = self.found.as_dict(1)
        found.pop("missing")
        return found | {
            "by_chance": self.chance.tolist(),
            "missing": [
                {"source": one.source, "target": one.target, "score": one.score, "chance": one.chance}
                for one in (self.missing if self.told else ())
            ],
            "surprising": self._listed(),
        }

    def stricter(self, factor: float, level: float) -> LinksTold:
        """The same where other questions were asked too."""
        evidence = self.evidence.stricter(factor, level, effect_holds=self.holds)
        return replace(self, evidence=evidence, factor=self.factor * factor, level=level)

    @property
    def odd_evidence(self) -> Evidence:
        """On surprising links; only where there are any."""
        assert self.odd is not None
        q = float(self.odd_q[0])
        kept = float(self.odd.unseen)
        return Evidence(
            statistic=float(self.surprising),
            p=float(self.odd.p[0]),
            q=q,
            held_out=kept if np.isfinite(kept) else None,
            n=self.odd.judged,
            looks=self.odd.judged,
            method="the most surprising link of each random network with the same numbers of links",
            verdict=verdict_of(q, effect_holds=bool(kept < 1.0), level=self.level),
            null=Null("random networks with the same numbers of links", 0.0, 0.0, self.odd.draws),
        )

    def _listed(self) -> list[dict[str, Any]]:
        if not self.told or self.odd is None:
            return []
        odd = self.odd
        return [
            {
                "source": self.found.name(int(odd.sources[i])), "target": self.found.name(int(odd.targets[i])),
                "common": int(odd.common[i]), "expected": float(odd.expected[i]), "q": float(self.odd_q[i]),
            }
            for i in range(min(self.surprising, LISTED))
        ]  # fmt: skip

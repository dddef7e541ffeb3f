"""The nodes of a network that matter, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.summary.graph.graph import Graph
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Nodes(Answer):
    """PageRank of the nodes, and what of it is beyond their degrees.

    Attributes:
        evidence: that ranks are otherwise than in random graphs with the same degrees.
        names: (n,) of the nodes.
        scores: (n,) PageRank.
        top: (k,) the first nodes, descending.
        ranks: (k, 2) where their ranks lie when every node draws its out-links anew; None where none has two.
        score_ends: (k, 2) where their scores do.
        in_links: (n,) links that lead to each node.
        tested: (m,) nodes that have in-links, the clearest first.
        ratio: (m,) their score as a multiple of what graphs with these degrees give.
        p: (m,) of each, all of them counted.
        level: level of the study.
        agreement: rank correlation of scores and in-degrees.
        expected: the same in random graphs: 5%, median, 95%.
        ahead: share of the draws in which the first node is ahead of the second; None where nothing can be drawn.
        is_first: whether that holds.
        graph: the network.
        order: (n,) of the nodes, linked ones near.
        factor: what other questions of the study cost.
    """

    evidence: Evidence
    names: tuple[str, ...]
    scores: Array
    top: Whole
    ranks: Whole | None
    score_ends: Array | None
    in_links: Whole
    tested: Whole
    ratio: Array
    p: Array
    level: float
    agreement: float
    expected: tuple[float, float, float]
    ahead: float | None
    is_first: bool
    graph: Graph = field(repr=False)
    order: Whole = field(repr=False)
    factor: float = 1.0

    @property
    def rule(self) -> str:
        """How nodes and the agreement with the degrees are counted."""
        return "every node that links lead to, against the largest of all in each random network"

    @property
    def clear(self) -> NDArray[np.intp]:
        """Places in `tested` of the nodes whose rank is not what their degree makes it."""
        return np.flatnonzero(self.p * self.factor <= self.level)

    def stricter(self, factor: float, level: float) -> Nodes:
        """The same where other questions were asked too."""
        from assay.questions.nodes.test import effect_holds

        judged = self.evidence.stricter(factor, level, effect_holds=effect_holds(self.evidence))
        return replace(self, evidence=judged, factor=self.factor * factor, level=level)

    def findings(self) -> tuple[Finding, ...]:
        """One: whether ranks are more than degrees."""
        from assay.questions.nodes.words import WORDS, line, sentence, subject

        return (Finding("nodes", "nodes", subject(self), sentence(self), self.evidence, WORDS, line=line(self)),)

    def headline(self, verdict: Verdict) -> str:
        """How many nodes, or the order of all."""
        if self.evidence.verdict != verdict:
            return ""
        from assay.views.axes.numbers import counted

        some = len(self.clear)
        return f"the ranks of {counted(some, 'node')}" if some else "the order of the nodes"

    def views(self, page: Page | None = None) -> list[View]:
        """The ranking, and the network on a ring and as chords."""
        from assay.questions.nodes.views import views

        return views(self, page)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.nodes.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """The first nodes with their scores, ranks, links and what these give."""
        factor = dict(zip(self.tested.tolist(), self.ratio.tolist(), strict=True))
        chance = dict(zip(self.tested.tolist(), self.p.tolist(), strict=True))
        return {
            "first": [
                {
                    "node": self.names[node],
                    "score": float(self.scores[node]),
                    "rank_interval": None if self.ranks is None else self.ranks[place].tolist(),
                    "in_links": int(self.in_links[node]),
                    "times_expected": factor.get(node),
                    "p": chance.get(node),
                }
                for place, node in enumerate(self.top.tolist())
            ],
            "beyond_degree": [
                {"node": self.names[self.tested[i]], "times_expected": float(self.ratio[i]), "p": float(self.p[i])}
                for i in self.clear
            ],
            "agreement_with_in_degree": self.agreement,
            "expected_agreement": list(self.expected),
        }

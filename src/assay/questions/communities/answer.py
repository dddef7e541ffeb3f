"""Communities of a network with their evidence, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.arrays import Whole
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.asking.words import SURVIVED
from assay.evidence.evidence import Evidence, Verdict
from assay.questions.communities.held_out import COUNTED, UnseenLinks
from assay.questions.communities.linked import LinkedPairs
from assay.summary.graph.graph import Graph
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa

BACK = 0.75  # of the nodes in either: a community that has as much in common with the nearest one comes back
SURE = 0.8  # of the searches without some links: a node that is in its community as often is there for sure
_CENTRAL = 3


@dataclass(frozen=True, slots=True, eq=False)
class Clustered(Answer):
    """Communities of a network, and how far they can be believed.

    Attributes:
        name: of the network.
        graph: the network.
        links: as they were used: both ways, without loops.
        labels: (n,) the community of each node that has links, from 0; the first is the largest.
        modularity: of these communities.
        left: what they say of links left out, and what of them comes back; None where nothing could be tested.
        evidence: on the communities as a whole; `stability` is the adjusted Rand index of those found without some of
            the links.
        holds: whether links left out bear them out.
        most_draws: random graphs that would have been drawn of a smaller network.
    """

    name: str
    graph: Graph
    links: LinkedPairs
    labels: Whole
    modularity: float
    left: UnseenLinks | None
    evidence: Evidence
    holds: bool
    most_draws: int

    @property
    def sizes(self) -> Whole:
        """(k,) nodes of each community."""
        return np.bincount(self.labels)

    @property
    def k(self) -> int:
        """Communities of three nodes or more."""
        return int((self.sizes >= COUNTED).sum())

    @property
    def number_known(self) -> bool:
        """Whether as many are found without a fifth of the links, whichever these are."""
        return self.left is not None and self.left.fewest == self.left.most == self.k

    @property
    def firm(self) -> list[int]:
        """Communities that come back and hold more of the links left out than degrees alone give; the largest first."""
        if self.left is None:
            return []
        back = (self.left.jaccard >= BACK) & (self.left.own_low > 0.0)
        return [c for c in range(self.k) if back[c]]

    @property
    def unsure(self) -> int:
        """Nodes of communities that come back which are not in them often enough."""
        if self.left is None:
            return 0
        there = np.isin(self.labels, self.firm)
        return int((there & ~(self.left.sure >= SURE)).sum())

    def node_name(self, node: int) -> str:
        """Of a node that has links, by its place among these."""
        number = int(self.links.nodes[node])
        return str(number) if self.graph.names is None else self.graph.names[number]

    def central(self, community: int, count: int = _CENTRAL) -> list[str]:
        """Names of the nodes of a community with most weight inside it."""
        a, b, w = self.links.ends.sources, self.links.ends.targets, self.links.weights
        inside = (self.labels[a] == community) & (self.labels[b] == community)
        n = self.links.n
        weight = np.bincount(a[inside], w[inside], minlength=n) + np.bincount(b[inside], w[inside], minlength=n)
        nodes = np.flatnonzero(self.labels == community)
        return [self.node_name(int(i)) for i in nodes[np.argsort(-weight[nodes], kind="stable")][:count]]

    def inside(self, community: int) -> float:
        """Share of the weight of its nodes' links that stays inside a community."""
        a, b, w = self.links.ends.sources, self.links.ends.targets, self.links.weights
        one, two = self.labels[a] == community, self.labels[b] == community
        return float(2.0 * w[one & two].sum() / (w[one].sum() + w[two].sum()))

    @property
    def tests(self) -> int:
        """One, for the whole search."""
        return 1

    @property
    def rule(self) -> str:
        """How looks are corrected for."""
        draws = 0 if self.evidence.null is None else self.evidence.null.draws
        return f"one search, one test, repeated in {draws} random networks with the same numbers of links"

    def stricter(self, factor: float, level: float) -> Clustered:
        """The same where other questions were asked too: q times the factor, the verdict accordingly."""
        return replace(self, evidence=self.evidence.stricter(factor, level, effect_holds=self.holds))

    def findings(self) -> tuple[Finding, ...]:
        """One for all communities."""
        from assay.questions.communities.words import WORDS, line, sentence, subject

        return (
            Finding("communities", "communities", subject(self), sentence(self), self.evidence, WORDS, line=line(self)),
        )

    def headline(self, verdict: Verdict) -> str:
        """How many communities, where they have this verdict and their number is known."""
        from assay.questions.communities.words import headline

        return headline(self) if verdict == self.evidence.verdict and verdict in SURVIVED else ""

    def offers(self, page: Page) -> None:
        """The community of each node, of those that come back."""
        if self.evidence.verdict in SURVIVED and self.firm:
            called = {c: self.called(c) for c in self.firm}
            groups = [""] * self.graph.n
            for node, label in zip(self.links.nodes, self.labels, strict=True):
                groups[int(node)] = called.get(int(label), "")
            page.node_groups = groups

    def called(self, community: int) -> str:
        """What a community is called: by its best linked node."""
        return f"{community + 1}: {self.central(community, 1)[0]}"

    def views(self, page: Page | None = None) -> list[View]:
        """The links in the order of the communities, and these one by one; nothing where none stand out."""
        from assay.questions.communities.views import views

        return views(self)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.communities.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """How many communities, their sizes, and what each says of links left out."""
        left = self.left
        return {
            "modularity": self.modularity,
            "k": self.k,
            "number_known": self.number_known,
            "fewest": None if left is None else left.fewest,
            "most": None if left is None else left.most,
            "parts": len(self.links.part_nodes),
            "inside": None if left is None else left.inside,
            "expected_by_degrees": None if left is None else left.expected,
            "communities": [self._listed(c) for c in range(self.k)],
        }

    def _listed(self, c: int) -> dict[str, Any]:
        known = {} if self.left is None else {
            "comes_back": float(self.left.jaccard[c]),
            "unseen_inside": float(self.left.own_inside[c]),
            "unseen_expected": float(self.left.own_expected[c]),
        }  # fmt: skip
        return {
            "size": int(self.sizes[c]), "central": self.central(c), "inside": self.inside(c),
            "firm": c in self.firm, **known,
        }  # fmt: skip

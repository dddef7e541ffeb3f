"""A map of a network, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class NetworkMap(Answer):
    """A map of nodes, and how far it can be believed.

    Attributes:
        places: (n, 2) from 0 to 1; NaN for nodes outside the largest component.
        doubt: (n,) how far a node moves when links are taken out, from 0, not at all, to 1, as far as two nodes usually
            lie apart; NaN where it has no place.
        links: (m, 2) nodes that are linked.
        degrees: (n,) links of each node.
        names: of the nodes, if they have any.
        chance: (draws,) the statistic in random graphs with the same degrees.
        evidence: the map as a whole.
        holds: whether links that were taken out lie nearer than chance has it, by more than the error of that and by a
            twentieth of them at least.
    """

    places: Array
    doubt: Array
    links: Whole
    degrees: Whole
    names: tuple[str, ...] | None
    chance: Array
    evidence: Evidence
    holds: bool

    @property
    def rule(self) -> str:
        """How looks are corrected for."""
        return f"one map, one test, against maps of {len(self.chance)} random networks with the same numbers of links"

    @property
    def share(self) -> float:
        """Of the nodes with links, how many have a place."""
        return float(self.on_map.sum() / max(int((self.degrees > 0).sum()), 1))

    @property
    def on_map(self) -> NDArray[np.bool_]:
        """(n,) which nodes have a place."""
        return np.asarray(np.isfinite(self.places).all(axis=1))

    def findings(self) -> tuple[Finding, ...]:
        """One for the map."""
        from assay.questions.network_map.words import WORDS, line, sentence

        return (Finding("network-map", "map", "the nodes", sentence(self), self.evidence, WORDS, line=line(self)),)

    def headline(self, verdict: Verdict) -> str:
        """The map, where it has this verdict."""
        return "the map of the network" if verdict == self.evidence.verdict else ""

    def views(self, page: Page | None = None) -> list[View]:
        """The map, where it shows more than chance."""
        from assay.questions.network_map.views import views

        return views(self, page or Page([self]))

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.network_map.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """What chance does, and how many nodes have a place that can be believed."""
        doubt = self.doubt[self.on_map]
        return {
            "by_chance": self.chance.tolist(),
            "nodes_on_map": int(self.on_map.sum()),
            "share_on_map": self.share,
            "nodes_that_move": int((doubt > 0.5).sum()),
        }

    def stricter(self, factor: float, level: float) -> NetworkMap:
        """The same map where other questions were asked too."""
        return replace(self, evidence=self.evidence.stricter(factor, level, effect_holds=self.holds))

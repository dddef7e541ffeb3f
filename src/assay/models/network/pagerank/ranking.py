"""What PageRank found: scores with their error, and what of the order holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.models.network.pagerank.exchanged import Exchanged, exchanged
from assay.models.network.pagerank.links import Links
from assay.models.network.pagerank.resampled import Resampled, ranks, resampled

FOLLOWED = 10_000  # nodes whose scores are kept of every resample
_LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class RankIntervals:
    """Where scores and ranks lie when every node draws its out-links anew.

    Attributes:
        nodes: (k,) node numbers by descending score: all, or the first 10,000.
        score_low: (k,) lower end of the scores.
        score_high: (k,) upper end.
        rank_low: (k,) best rank, 1 is the first.
        rank_high: (k,) worst rank.
        level: share of the resamples inside.
        resamples: how many were drawn.
    """

    nodes: Whole
    score_low: Array
    score_high: Array
    rank_low: Whole
    rank_high: Whole
    level: float
    resamples: int


@dataclass(frozen=True, slots=True)
class Outranks:
    """Whether one node is ahead of another; true where it is said to be.

    Attributes:
        holds: whether it is ahead, by more than the error of the scores, in the graph and in 95% of its resamples.
        share: of the resamples in which it is.
        p: (1 + resamples in which it is not) / (1 + resamples).
        sentence: the same in words.
    """

    holds: bool
    share: float
    p: float
    sentence: str

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True, eq=False)
class BeyondDegree:
    """Which scores are not what the numbers of links alone would give; true where something is not.

    Attributes:
        claimed: whether the score of any node, or the agreement of all with the in-degrees, is otherwise than in graphs
            with the same degrees, all of these looks counted.
        p: of this claim.
        nodes: (k,) the nodes tested: those with in-links; of very many those with most.
        ratio: (k,) score as a multiple of what graphs with these degrees typically give.
        z: (k,) its logarithm in standard deviations of these graphs.
        p_nodes: (k,) p of each node, all nodes counted.
        above: names of the nodes ranked higher than their degree explains, the clearest first.
        below: names of those ranked lower.
        agreement: rank correlation of scores and in-degrees.
        p_agreement: p of it, all nodes counted.
        expected: the same in graphs with these degrees: 5%, median, 95%.
        graphs: how many were drawn.
        sentence: the same in words.
    """

    claimed: bool
    p: float
    nodes: Whole
    ratio: Array
    z: Array
    p_nodes: Array
    above: tuple[str, ...]
    below: tuple[str, ...]
    agreement: float
    p_agreement: float
    expected: tuple[float, float, float]
    graphs: int
    sentence: str

    def __bool__(self) -> bool:
        return self.claimed


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """PageRank of the nodes of a graph; evidence is computed when it is first asked for.

    Attributes:
        scores: (n,) larger than or equal to 0, sum to 1.
        names: of the nodes, if they have any; otherwise nodes are called by their number.
        error_bound: how far the scores are from the true ones, added up over the nodes, at most.
        iterations: steps of the power iteration.
        damping: of the walk.
        notes: what was decided while the graph was read.
    """

    scores: Array
    names: tuple[str, ...] | None
    error_bound: float
    iterations: int
    damping: float
    notes: tuple[str, ...]
    _links: Links = field(repr=False)
    _v: Array = field(repr=False)
    _resamples: int = 200
    _graphs: int = 99
    _seed: int = 0
    _progress: Callable[[float], object] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        first = ", ".join(f"{name} {score:.3g}" for name, score in self.top(3))
        more = ", ..." if len(self.scores) > 3 else ""
        return f"Ranking({len(self.scores):,} nodes: {first}{more}; error below {self.error_bound:.1g})"

    @property
    def values(self) -> Array:
        """(n,) the scores, by the name that all results of decisions and links have."""
        return self.scores

    @cached_property
    def order(self) -> Whole:
        """(n,) node numbers by descending score, equal ones by number."""
        return np.argsort(-self.scores, kind="stable")

    def name(self, node: int) -> str:
        """What a node is called."""
        return str(node) if self.names is None else self.names[node]

    def node(self, name: object) -> int:
        """The number of a node from its name, or from its number where nodes have no names."""
        if self.names is None:
            if isinstance(name, int | np.integer) and 0 <= name < len(self.scores):
                return int(name)
            raise ParameterError(f"nodes are called 0 to {len(self.scores) - 1}; there is no {name!r}")
        found = self._numbers.get(str(name))
        if found is None:
            raise ParameterError(f"there is no node called {str(name)!r}; the first is called {self.names[0]!r}")
        return found

    def top(self, count: int = 10) -> list[tuple[str, float]]:
        """The first nodes with their scores."""
        return [(self.name(int(node)), float(self.scores[node])) for node in self.order[:count]]

    def rank(self, name: object) -> int:
        """The rank of a node: 1 and how many have a larger score, by more than the error."""
        return int(ranks(self.scores, np.array([self.node(name)]), self.error_bound)[0][0])

    @cached_property
    def intervals(self) -> RankIntervals:
        """Where scores and ranks lie when every node draws its out-links anew, for 95% of the draws."""
        drawn, nodes = self._drawn, self.order[:FOLLOWED]
        ends = [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]
        here = ranks(self.scores, nodes, self.error_bound)
        return RankIntervals(
            nodes,
            np.minimum(np.quantile(drawn.scores, ends[0], axis=0, method="lower"), self.scores[nodes]),
            np.maximum(np.quantile(drawn.scores, ends[1], axis=0, method="higher"), self.scores[nodes]),
            np.minimum(np.quantile(drawn.first, ends[0], axis=0, method="lower"), here[0]).astype(np.int64),
            np.maximum(np.quantile(drawn.last, ends[1], axis=0, method="higher"), here[1]).astype(np.int64),
            _LEVEL,
            len(drawn.bounds),
        )

    def outranks(self, a: object, b: object) -> Outranks:
        """Whether a is ahead of b, in the graph and in the same resamples of its links.

        Args:
            a: a node.
            b: another one.
        """
        one, two = self.node(a), self.node(b)
        drawn, at = self._drawn, []
        for node in (one, two):
            place = np.flatnonzero(self.order[:FOLLOWED] == node)
            if not len(place):
                raise ParameterError(
                    f"{self.name(node)} is not among the first {FOLLOWED:,} nodes, and only these are followed in "
                    "resamples; ask about one of them"
                )
            at.append(int(place[0]))
        ahead = drawn.scores[:, at[0]] - drawn.scores[:, at[1]] > drawn.bounds
        share, p = float(ahead.mean()), float((1 + (~ahead).sum()) / (1 + len(ahead)))
        here = bool(self.scores[one] - self.scores[two] > self.error_bound)
        holds = here and p <= 1 - _LEVEL
        said = "outranks" if holds else "cannot be said to outrank"
        words = (
            f"{self.name(one)} {said} {self.name(two)}: it is ahead in {share:.0%} of {len(ahead)} resamples"
            f"{'' if here else ', but not in the graph itself'}."
        )
        return Outranks(holds, share, p, words)

    @cached_property
    def beyond_degree(self) -> BeyondDegree:
        """Which scores are otherwise than the numbers of links of each node alone would make them."""
        found = exchanged(self._links, self.damping, self._v, self.scores, self._graphs, self._seed, self._progress)
        clear = np.flatnonzero(found.p <= 1 - _LEVEL)
        clear = clear[np.argsort(-np.abs(found.z[clear]), kind="stable")]
        above, below = (
            tuple(self.name(int(found.nodes[i])) for i in clear if sign * found.z[i] > 0) for sign in (1, -1)
        )
        p = float(found.p.min(initial=found.p_agreement))
        words = _beyond(found, above, below)
        return BeyondDegree(
            p <= 1 - _LEVEL,
            p,
            found.nodes,
            found.ratio,
            found.z,
            found.p,
            above,
            below,
            found.agreement,
            found.p_agreement,
            found.expected,
            found.graphs,
            words,
        )

    def as_dict(self, top: int = 10, *, evidence: bool = True) -> dict[str, Any]:
        """The first nodes with their intervals and what is beyond degree, as plain values."""
        inside = self.intervals if evidence and self._can_vary else None
        nodes: list[dict[str, Any]] = []
        arriving = self._links.arriving
        for place, (name, score) in enumerate(self.top(top)):
            row: dict[str, Any] = {"node": name, "rank": self.rank(name if self.names else int(self.order[place]))}
            row |= {"score": score, "in_links": int(arriving[self.order[place]])}
            if inside is not None and place < len(inside.nodes):
                row["score_interval"] = [float(inside.score_low[place]), float(inside.score_high[place])]
                row["rank_interval"] = [int(inside.rank_low[place]), int(inside.rank_high[place])]
            nodes.append(row)
        found: dict[str, Any] = {
            "count": len(self.scores),
            "links": self._links.count,
            "damping": self.damping,
            "error_bound": self.error_bound,
            "iterations": self.iterations,
            "nodes": nodes,
            "notes": list(self.notes),
        }
        if evidence:
            beyond = self.beyond_degree
            found["beyond_degree"] = {
                "claimed": beyond.claimed,
                "p": beyond.p,
                "above": list(beyond.above[:100]),
                "below": list(beyond.below[:100]),
                "agreement_with_in_degree": beyond.agreement,
                "expected_agreement": list(beyond.expected),
                "graphs": beyond.graphs,
                "sentence": beyond.sentence,
            }
        return found

    def lines(self, top: int = 10, *, evidence: bool = True) -> list[str]:
        """The first nodes and what holds of their order, for a terminal."""
        found = self.as_dict(top, evidence=evidence)
        vary = evidence and self._can_vary
        wide = max(4, *(len(row["node"]) for row in found["nodes"]))
        head = f"{'rank':>8}  {'node':<{wide}}  {'score':>9}  {'in-links':>8}"
        lines = [
            f"{found['count']:,} nodes, {found['links']:,} links; scores right to {self.error_bound:.1g} together."
        ]
        lines += ["", head + ("  95% of ranks" if vary else "")]
        for row in found["nodes"]:
            line = f"{row['rank']:>8,}  {row['node']:<{wide}}  {row['score']:>9.3g}  {row['in_links']:>8,}"
            if "rank_interval" in row:
                line += "  {:,} to {:,}".format(*row["rank_interval"])
            lines.append(line)
        lines += ["", *([found["beyond_degree"]["sentence"]] if evidence else [])]
        if evidence and not vary:
            lines.append("No node has two out-links or more: nothing can be resampled, and no interval is known.")
        return lines + list(self.notes[1:])

    @property
    def _can_vary(self) -> bool:
        return bool((self._links.leaving > 1).any())

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names or ())}

    @cached_property
    def _drawn(self) -> Resampled:
        if not self._can_vary:
            raise DataError(
                "no node has two out-links or more, so there is nothing to resample: no interval, and no order that "
                "is known to hold; the scores themselves are right to their error bound"
            )
        nodes = self.order[:FOLLOWED]
        return resampled(self._links, self.damping, self._v, self.scores, nodes, self._resamples, self._seed)


def _beyond(found: Exchanged, above: Sequence[str], below: Sequence[str]) -> str:
    if not found.exchanges:
        return "These degrees leave no other graph, so the ranks are what the degrees make them."
    like = (
        f"rank correlation with the in-degrees {found.agreement:.2f}, {found.expected[1]:.2f} in random networks with "
        "these degrees"
    )
    if above or below:
        parts = [f"{_some(names)} {way}" for names, way in ((above, "higher"), (below, "lower")) if names]
        count, tested = len(above) + len(below), len(found.nodes)
        verb = "is" if count == 1 else "are"
        return (
            f"{count:,} of {tested:,} nodes with in-links {verb} not ranked as the number of in-links explains: "
            f"{', '.join(parts)}; {like}."
        )
    if found.p_agreement <= 1 - _LEVEL:
        way = "more" if found.agreement > found.expected[1] else "less"
        return f"The order follows the in-degrees {way} than chance would, though no single node stands out; {like}."
    return f"The ranks repeat the in-degrees: nothing in them is otherwise than chance gives for these degrees; {like}."


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")

"""Networks: lists of links, matrices of them, graphs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from assay.asking.card import DataCard
from assay.asking.subject import Subject
from assay.data.formats.edge_lists import TYPE, WEIGHT
from assay.data.source import Source
from assay.errors import ParameterError
from assay.study.forms.form import Form, is_name, name_of, named
from assay.summary.graph.graph import Graph
from assay.summary.network.networks import read_network
from assay.views.axes.numbers import counted

# ends by these pairs of names leave no doubt; start and end, head and tail may be times or places
_ENDS = (
    ("source", "target"), ("from", "to"), ("src", "dst"), ("fromnodeid", "tonodeid"), ("fromnode", "tonode"),
    ("citing", "cited"), ("follower", "followee"), ("sender", "receiver"), ("node1", "node2"),
)  # fmt: skip
_BESIDE = frozenset([*WEIGHT, *TYPE, "id", "edgeid", "label", "key", "kind", "time", "timestamp", "date", "year"])
_OTHERS = 1  # columns beside the known ones that a list of links may have
_MOST = 100  # columns of a list of links, whatever they are called
_FILES = (".mtx", ".mtx.gz", ".edges", ".edgelist")
_OPTIONS = ("form", "directed", "weighted", "source", "target", "weight", "nodes", "meaning", "header")


class NetworkForm(Form[Graph]):
    """Networks."""

    name = "network"
    called = "a network"

    def is_one(self, data: Any) -> str:
        """A `Graph`, a graph of networkx, or a file that is called as lists and matrices of links are."""
        if isinstance(data, Graph) or (callable(getattr(data, "is_directed", None)) and hasattr(data, "edges")):
            return "they are a graph"
        if isinstance(data, str | os.PathLike):
            ending = next((e for e in _FILES if os.fspath(data).lower().endswith(e)), None)
            return "" if ending is None else f"the name of the file ends with {ending}"
        return ""

    def looks_like_one(self, source: Source) -> str:
        """Two columns called as the ends of links are, both names or whole numbers, and hardly any other column."""
        schema = source.arrow_schema
        if len(schema) > _MOST:
            return ""
        for first, second in _ENDS:
            ends = [named(schema.names, frozenset([end])) for end in (first, second)]
            if not all(len(end) == 1 for end in ends):
                continue
            one, two = ends[0][0], ends[1][0]
            rest = [name for name in schema.names if name not in (one, two)]
            strange = len(rest) - len(named(rest, _BESIDE))
            if strange <= _OTHERS and all(is_name(schema.field(end).type) for end in (one, two)):
                return f"their columns {one!r} and {two!r} are the ends of links"
        return ""

    def read(self, data: Any, how: Mapping[str, Any]) -> Subject[Graph]:
        """The network, with what was decided while it was read in its notes."""
        for option in how:
            if option not in _OPTIONS:
                raise ParameterError(f"a network is read without {option!r}; it takes {', '.join(_OPTIONS)}")
        graph = read_network(data, **how)
        loops = int((graph.weights.diagonal() != 0).sum())
        links = graph.weights.nnz if graph.directed else (graph.weights.nnz + loops) // 2
        way = "one way" if graph.directed else "both ways"
        n = int(graph.weights.shape[0])
        facts = (counted(n, "node"), f"{counted(links, 'link')}, {way}")
        name = name_of(data, self.name)
        card = DataCard(name, links, links, (), graph.notes[1:], form=self.name, facts=facts, units=("node", "nodes"))
        return Subject(self.name, card, graph)


FORM = NetworkForm()

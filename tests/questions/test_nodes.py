"""Which nodes matter beyond the numbers of their links."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import assay
from assay.asking.telling import untold
from assay.questions.nodes import QUESTION
from assay.questions.nodes.test import nodes
from assay.summary.graph.graph import Graph


def asked(graph, seed=0):
    return nodes(graph, 0.05, seed, untold)


def of(network, weights=None):
    ends = np.array(network.edges)
    return Graph.of_edges(*ends.T, weights, n=network.number_of_nodes(), directed=network.is_directed())


def with_a_core(seed, size=25, n=200):
    network = nx.gnm_random_graph(n, 3 * n, seed=seed)
    network.add_edges_from((a, b) for a in range(size) for b in range(a))
    return of(network)


def test_ranks_of_random_graphs_repeat_their_degrees():
    # of 20 graphs at most 3 are claimed: a true rate of 40% would be noticed with probability .98
    verdicts = [
        asked(of(nx.gnm_random_graph(60, 180, seed=s, directed=s % 2 == 1)), s).evidence.verdict for s in range(20)
    ]
    assert verdicts.count("supported") <= 3


def test_ranks_of_a_core_are_more_than_its_degrees_and_hold_on_unseen_links():
    found = asked(with_a_core(1)).stricter(4.0, 0.05)
    assert found.evidence.verdict == "supported"
    assert found.evidence.held_out > 1.05
    assert found.evidence.interval[0] > 1.0
    finding = found.findings()[0]
    assert "another PageRank than the number of links gives" in finding.sentence


def test_one_node_that_stands_out_is_one_of_the_nodes():
    found = asked(with_a_core(1)).stricter(4.0, 0.05)
    assert found.evidence.verdict == "supported"
    alone = replace(found, p=np.where(np.arange(len(found.p)) == found.clear[0], found.p, 1.0))
    assert f"1 of {len(found.tested)} nodes has another PageRank" in alone.findings()[0].sentence


def test_the_scores_are_those_of_networkx():
    network = nx.gnm_random_graph(60, 200, seed=3, directed=True)
    found = asked(of(network))
    theirs = nx.pagerank(network, tol=1e-13)
    assert np.allclose(found.scores, [theirs[node] for node in range(60)], atol=1e-9)
    assert found.top.tolist() == sorted(range(60), key=lambda node: -theirs[node])[:25]


def test_a_first_place_is_called_sure_only_where_it_is():
    sure = nx.DiGraph([(node, (node * 7 + k) % 40) for node in range(40) for k in (1, 5)])
    sure.add_edges_from((node, 0) for node in range(1, 40))
    assert "0 is first" in asked(of(sure)).findings()[0].sentence
    even = nx.DiGraph([(a, b) for a in range(2, 30) for b in (0, 1)] + [(0, 2), (1, 2)])
    assert "not sure" in asked(of(even)).findings()[0].sentence


def test_the_same_seed_gives_the_same_answer_and_stricter_never_helps():
    graph = with_a_core(2)
    one, two = asked(graph, 5), asked(graph, 5)
    assert one.evidence.as_dict() == two.evidence.as_dict()
    harder = one.stricter(30.0, 0.05)
    assert harder.evidence.verdict != "supported"
    assert len(harder.clear) <= len(one.clear)


def test_too_few_links_and_distances_are_not_asked():
    study = assay.study(assay.read_network([("a", "b"), ("b", "c")]))
    assert "20 links" in next(q.why for q in study.ledger.not_asked if q.question == QUESTION.wording)
    far = Graph.of_edges(range(30), range(1, 31), np.arange(30.0) + 1, meaning="distance")
    study = assay.study(far)
    assert "distances" in next(q.why for q in study.ledger.not_asked if q.question == QUESTION.wording)


@pytest.mark.parametrize("shape", ["star", "ring", "complete", "loops"])
def test_shapes_that_leave_nothing_to_say_are_told_so(shape):
    network = {
        "star": nx.star_graph(30), "ring": nx.cycle_graph(30), "complete": nx.complete_graph(12),
        "loops": nx.Graph([(node, node) for node in range(25)] + [(0, 1)]),
    }[shape]  # fmt: skip
    found = asked(of(network))
    assert found is None or found.evidence.verdict == "not distinguishable from chance"


def test_views_draw_and_numbers_are_plain():
    found = asked(with_a_core(4, n=60, size=10))
    assert [view.name for view in found.views()] == ["ranking", "ring", "chords"]
    assert found.numbers()["first"][0]["node"] == found.names[found.top[0]]

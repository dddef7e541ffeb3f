"""Random graphs with the degrees of one."""

import networkx as nx
import numpy as np
import pytest

from assay.summary.graph.graph import Graph
from assay.summary.network.random_graphs import same_degrees


def links_of(graph):
    return [(int(a), int(b)) for a, b in zip(*graph.weights.nonzero(), strict=True)]


def some(directed, seed=0, n=30, m=80):
    rng = np.random.default_rng(seed)
    pairs = {(int(a), int(b)) for a, b in rng.integers(n, size=(m, 2))}
    if not directed:
        pairs = {(min(a, b), max(a, b)) for a, b in pairs}
    ends = np.array(sorted(pairs))
    return Graph.of_edges(*ends.T, 1.0 + rng.integers(9, size=len(ends)), n=n, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
def test_every_node_keeps_its_links_in_number_and_the_weights_are_the_same_ones(directed):
    graph = some(directed)
    for seed in range(5):
        drawn = same_degrees(graph).draw(seed)
        there, here = graph.weights != 0, drawn.weights != 0
        assert (there.sum(axis=0) == here.sum(axis=0)).all()
        assert (there.sum(axis=1) == here.sum(axis=1)).all()
        assert np.array_equal(np.sort(graph.weights.data), np.sort(drawn.weights.data))
        assert np.array_equal(graph.weights.diagonal(), drawn.weights.diagonal())


def test_seeds_give_different_graphs_and_one_seed_the_same():
    graphs = same_degrees(some(False))
    assert links_of(graphs.draw(1)) == links_of(graphs.draw(1))
    assert len({tuple(links_of(graphs.draw(seed))) for seed in range(20)}) == 20


def test_all_graphs_with_the_degrees_are_equally_likely():
    # six nodes with two links each: a ring of six (60 of them) or two triangles (10): chi-square with 69 degrees of
    # freedom at 1e-4 notices if triangles came half as often as they should with probability above .99
    ring = Graph.of_edges(range(6), [1, 2, 3, 4, 5, 0])
    graphs = same_degrees(ring)
    draws = 7000
    seen = {}
    for seed in range(draws):
        links = tuple(links_of(graphs.draw(seed)))
        seen[links] = seen.get(links, 0) + 1
    assert len(seen) == 70
    expected = draws / 70
    chi2 = sum((count - expected) ** 2 / expected for count in seen.values())
    from scipy.stats import chi2 as law

    # one hub for all draws: it is itself random, and draws are independent given it
    assert law.sf(chi2, 69) > 1e-4


def test_clustering_of_a_clustered_graph_is_gone_as_in_the_draws_of_networkx():
    lattice = nx.watts_strogatz_graph(60, 6, 0.05, seed=1)
    graph = Graph.of_edges(*np.array(lattice.edges).T, n=60)
    ours = [nx.transitivity(nx.Graph(links_of(same_degrees(graph).draw(seed)))) for seed in range(40)]
    peers = []
    for seed in range(40):
        swapped = lattice.copy()
        nx.double_edge_swap(swapped, nswap=3 * lattice.number_of_edges(), max_tries=10**6, seed=seed)
        peers.append(nx.transitivity(swapped))
    spread = np.hypot(np.std(ours), np.std(peers)) / np.sqrt(40)
    assert nx.transitivity(lattice) > np.mean(ours) + 10 * np.std(ours)
    assert abs(np.mean(ours) - np.mean(peers)) < 5 * spread


def test_graphs_that_leave_no_choice_come_back_as_they_are():
    for graph in (Graph.of_edges([0], [1]), Graph.of_edges([0, 0, 0], [1, 2, 3]), Graph.of_edges([0], [0])):
        assert links_of(same_degrees(graph).draw(0)) == links_of(graph)

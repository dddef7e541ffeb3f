"""Does a map of a network show more than chance: where near nodes are linked, not where only degrees are at work."""

from __future__ import annotations

from dataclasses import replace

import networkx
import numpy as np
import pytest

import assay
from assay import Graph
from assay.asking.page import Page
from assay.questions.network_map.placed import apart, placed
from assay.questions.network_map.test import _Fold, _moved, cannot_map, network_map
from assay.summary.network.held_out_links import ends_of


def graph_of(made):
    pairs = np.array(list(made.edges()))
    return Graph.of_edges(pairs[:, 0], pairs[:, 1], n=made.number_of_nodes(), directed=made.is_directed())


@pytest.fixture(scope="module")
def drawn():
    return network_map(graph_of(networkx.random_geometric_graph(100, 0.2, seed=1)))


def test_a_map_of_near_nodes_is_supported_with_a_value_on_unseen_links(drawn):
    assert drawn.evidence.verdict == "supported"
    low, high = drawn.evidence.interval
    assert 0.5 < low < drawn.evidence.held_out < high
    assert drawn.evidence.statistic > drawn.chance.max()
    assert drawn.findings()[0].sentence.startswith(
        "A map of the network shows more than chance: made without some links"
    )


def test_the_map_keeps_who_was_near_whom():
    made = networkx.random_geometric_graph(100, 0.2, seed=1)
    true = np.array([made.nodes[i]["pos"] for i in range(100)])
    places = placed(ends_of(graph_of(made)), 0)
    us, vs = np.triu_indices(100, 1)
    on_map = np.isfinite(places[us]).all(axis=1) & np.isfinite(places[vs]).all(axis=1)
    us, vs = us[on_map], vs[on_map]
    assert (
        np.corrcoef(apart(true, us, vs), apart(places, us, vs))[0, 1] > 0.35
    )  # of two maps that have nothing to do with each other about 0


@pytest.mark.parametrize(
    "made",
    [
        networkx.watts_strogatz_graph(100, 6, 0.1, seed=2),
        networkx.stochastic_block_model([35] * 3, (0.25 * np.eye(3) + 0.03).tolist(), seed=3),
        networkx.DiGraph(networkx.watts_strogatz_graph(80, 6, 0.1, seed=2)),
    ],
    ids=["small world", "blocks", "both ways"],
)
def test_planted_rules_are_found(made):
    assert network_map(graph_of(made)).evidence.verdict == "supported"


def test_where_only_degrees_are_at_work_hardly_any_map_is_claimed():
    """Notices a rate of .4 with probability .95: 3 or more of 12."""
    made = [networkx.gnm_random_graph(50, 150, seed=seed) for seed in range(6)]
    made += [networkx.barabasi_albert_graph(60, 3, seed=seed) for seed in range(6)]
    verdicts = [network_map(graph_of(one), seed=seed).evidence.verdict for seed, one in enumerate(made)]
    assert verdicts.count("supported") <= 2


@pytest.mark.calibrate
def test_the_rate_of_claims_where_only_degrees_are_at_work():
    """At most 5%: of 60 graphs 8 or more would come with probability .02 at 6%, and does at 20% with .93."""
    for make in (
        lambda seed: networkx.gnm_random_graph(80, 240, seed=seed),
        lambda seed: networkx.barabasi_albert_graph(120, 3, seed=seed),
    ):
        found = [network_map(graph_of(make(seed)), seed=seed).evidence.verdict for seed in range(60)]
        assert found.count("supported") <= 7


def test_maps_that_are_turned_and_mirrored_do_not_move_and_a_node_elsewhere_does():
    rng = np.random.default_rng(0)
    places = rng.random((50, 2))
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])
    same = [_Fold(1, 0.5, 3 * places @ turn + 7) for _ in range(3)]
    moved, scale = _moved(places, same)
    np.testing.assert_allclose(moved, 0.0, atol=1e-9)
    assert 0.3 < scale < 0.7  # two points of a unit square are .52 apart
    other = [replace(one, places=one.places + np.where(np.arange(50) == 7, 3.0, 0.0)[:, None]) for one in same]
    moved, _ = _moved(places, other)
    assert moved.argmax() == 7
    assert moved[7] > 5 * np.median(moved)
    gone = [replace(one, places=np.where(np.arange(50)[:, None] == 3, np.nan, one.places)) for one in same]
    assert _moved(places, gone)[0][3] == np.inf


def test_only_the_largest_component_is_on_the_map_and_its_share_is_said():
    made = networkx.disjoint_union(networkx.random_geometric_graph(80, 0.25, seed=1), networkx.cycle_graph(8))
    made.add_node(88)
    found = network_map(graph_of(made))
    assert not found.on_map[80:].any()
    assert found.share == pytest.approx(found.on_map.sum() / (found.degrees > 0).sum())
    assert "of the nodes with links are on it; no path leads to the others." in found.findings()[0].sentence
    assert len(found.views()[0].figure.renderers) >= 2


def test_a_map_as_good_as_those_of_random_graphs_is_not_drawn():
    fallen = network_map(graph_of(networkx.gnm_random_graph(60, 180, seed=1)))
    assert fallen.evidence.verdict == "not distinguishable from chance"
    (view,) = fallen.views()
    assert view.figure is None
    assert "No map of the network is drawn" in view.caption


def test_nodes_are_sized_by_their_links_and_coloured_by_communities(drawn):
    page = Page([drawn])
    page.node_groups = ["one" if i < 50 else "" for i in range(100)]
    (view,) = drawn.views(page)
    marks = next(one for one in view.figure.renderers if "row" in one.data_source.data)
    data = marks.data_source.data
    nodes = np.asarray(data["row"]) - 1
    order = np.argsort(drawn.degrees[nodes], kind="stable")
    assert (np.diff(np.asarray(data["size"])[order]) >= 0).all()
    assert {data["m_group"][k] for k in np.flatnonzero(nodes < 50)} == {"one"}
    lines = view.figure.renderers[0].data_source.data
    assert len(lines["x0"]) == drawn.on_map[drawn.links].all(axis=1).sum()


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (networkx.path_graph(12), "it takes 20 links between different nodes, there are 11"),
        (networkx.complete_graph(9), "all nodes are linked with each other"),
        (networkx.disjoint_union_all([networkx.complete_graph(4)] * 6), "it takes 10 nodes linked with each other"),
    ],
)
def test_what_cannot_be_mapped_is_said(made, why):
    assert why in cannot_map(graph_of(made))


@pytest.mark.parametrize(
    "made",
    [
        networkx.star_graph(30),
        networkx.balanced_tree(2, 5),
        networkx.complete_bipartite_graph(6, 9),
        networkx.cycle_graph(40, create_using=networkx.DiGraph),
    ],
    ids=["star", "tree", "bipartite", "one-way ring"],
)
def test_odd_networks_have_an_answer_or_none(made):
    found = network_map(graph_of(made))
    assert found is None or found.findings()[0].sentence


def test_weights_of_any_size_change_nothing():
    made = networkx.random_geometric_graph(60, 0.3, seed=1)
    pairs = np.array(list(made.edges()))
    heavy = Graph.of_edges(pairs[:, 0], pairs[:, 1], 10.0 ** np.linspace(-150, 150, len(pairs)), n=60)
    one, two = network_map(heavy), network_map(graph_of(made))
    np.testing.assert_array_equal(one.places, two.places)
    assert one.evidence == two.evidence


def test_a_study_of_a_network_asks_for_the_map():
    study = assay.study(graph_of(networkx.random_geometric_graph(80, 0.25, seed=4)), skip="links")
    assert study.answers["network_map"].evidence.verdict == "supported"

"""Link prediction: scores against networkx and dense algebra, the best pairs against all of them, refusals."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from assay import Graph, predict_links
from assay.errors import DataError, ParameterError
from assay.models.network.link_prediction.best import best, two_steps
from assay.models.network.link_prediction.calibration import calibrated
from assay.models.network.link_prediction.held_out import told
from assay.models.network.link_prediction.scores import PairScores
from assay.models.network.link_prediction.surprise import LinksByChance, shared_neighbours
from assay.summary.network.held_out_links import ends_of


def graph_of(made):
    pairs = np.array(list(made.edges()))
    return Graph.of_edges(pairs[:, 0], pairs[:, 1], n=made.number_of_nodes(), directed=made.is_directed())


def all_pairs(n):
    return np.stack(np.triu_indices(n, 1)).astype(np.int64)


@pytest.fixture(scope="module")
def made():
    return networkx.connected_caveman_graph(6, 8)


def test_scores_are_those_of_networkx():
    made = networkx.gnm_random_graph(60, 240, seed=4)
    us, vs = all_pairs(60)
    pairs = list(zip(us.tolist(), vs.tolist(), strict=True))
    found = PairScores(ends_of(graph_of(made))).of(us, vs)
    peers = {
        "degrees": networkx.preferential_attachment,
        "adamic_adar": networkx.adamic_adar_index,
        "resource": networkx.resource_allocation_index,
    }
    for name, peer in peers.items():
        # sums of at most 60 numbers of one sign, in another order
        np.testing.assert_allclose(found[name], [score for *_, score in peer(made, pairs)], rtol=1e-13)
    common = [len(list(networkx.common_neighbors(made, u, v))) for u, v in pairs]
    np.testing.assert_array_equal(found["common"], common)


def test_hubs_beside_leaves_are_scored_like_any_pair():
    """Lists of very different lengths are looked up, not walked along: the other branch of the kernel."""
    made = networkx.star_graph(200)
    made.add_edges_from([(1, 2), (2, 3), (3, 4)])
    us, vs = np.zeros(199, dtype=np.int64), np.arange(2, 201)
    found = PairScores(ends_of(graph_of(made))).of(us, vs)["common"]
    np.testing.assert_array_equal(found, [len(list(networkx.common_neighbors(made, 0, v))) for v in vs])


def test_one_way_scores_are_those_of_dense_algebra():
    made = networkx.gnm_random_graph(40, 300, seed=6, directed=True)
    A = networkx.to_numpy_array(made)
    total = A.sum(axis=0) + A.sum(axis=1)
    us, vs = (grid.ravel().astype(np.int64) for grid in np.meshgrid(np.arange(40), np.arange(40), indexing="ij"))
    us, vs = us[us != vs], vs[us != vs]
    found = PairScores(ends_of(graph_of(made))).of(us, vs)
    with np.errstate(divide="ignore"):
        expected = {
            "degrees": np.outer(A.sum(axis=1), A.sum(axis=0)),
            "back": A.T,
            "common": A @ A,
            "adamic_adar": A @ np.diag(1 / np.log(np.maximum(total, 2))) @ A,
            "resource": A @ np.diag(1 / np.maximum(total, 1)) @ A,
        }
    either = np.maximum(A, A.T)
    expected["either"] = either @ np.diag(1 / either.sum(axis=1)) @ either
    for name, matrix in expected.items():
        np.testing.assert_allclose(found[name], matrix[us, vs], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("directed", [False, True])
def test_the_low_rank_score_is_the_truncated_decomposition(directed):
    """Of blocks, whose spectrum has a gap: the iteration is then exact to many digits."""
    rng = np.random.default_rng(0)
    block = np.kron(np.eye(5), np.ones((24, 24)))
    A = (rng.random((120, 120)) < 0.05 + 0.5 * block).astype(float)
    A = A if directed else np.triu(A, 1) + np.triu(A, 1).T
    np.fill_diagonal(A, 0.0)
    scores = PairScores(ends_of(Graph.of_adjacency(A, directed=directed)))
    out, into = A.sum(axis=1) + A.sum(axis=1).mean(), A.sum(axis=0) + A.sum(axis=0).mean()
    U, s, Vt = np.linalg.svd(A / np.sqrt(np.outer(out, into)))
    expected = (U[:, :5] * s[:5]) @ Vt[:5] * np.sqrt(np.outer(out, into))
    left, right = scores.vectors(4)
    # ten products shrink what is left of the gap (about .45 to .2) by .45^-20; the mean entry is about .15
    np.testing.assert_allclose(left @ right.T, expected, atol=1e-4)


@pytest.mark.parametrize("name", ["common", "adamic_adar", "resource", "low_rank_4", "degrees"])
def test_the_best_pairs_are_the_best_of_all_that_are_not_linked(name):
    made = networkx.gnm_random_graph(50, 200, seed=9)
    scores = PairScores(ends_of(graph_of(made)))
    us, vs = all_pairs(50)
    free = np.array([not made.has_edge(u, v) for u, v in zip(us, vs, strict=True)])
    every = np.sort(scores.of(us, vs)[name][free])[::-1]
    one, two, values = best(scores, name, 25)
    np.testing.assert_allclose(values, every[:25], rtol=1e-12)
    np.testing.assert_allclose(scores.of(one, two)[name], values, rtol=1e-12)
    assert not any(made.has_edge(u, v) for u, v in zip(one, two, strict=True))
    assert len(set(zip(one.tolist(), two.tolist(), strict=True))) == 25


@pytest.mark.parametrize("name", ["back", "either", "common", "low_rank_16"])
def test_the_best_pairs_one_way_are_no_links_and_come_once(name):
    made = networkx.gnm_random_graph(40, 200, seed=9, directed=True)
    scores = PairScores(ends_of(graph_of(made)))
    us, vs = (grid.ravel().astype(np.int64) for grid in np.meshgrid(np.arange(40), np.arange(40), indexing="ij"))
    free = (us != vs) & np.array([not made.has_edge(u, v) for u, v in zip(us, vs, strict=True)])
    every = np.sort(scores.of(us, vs)[name][free])[::-1]
    one, two, _ = best(scores, name, 30)
    np.testing.assert_allclose(np.sort(scores.of(one, two)[name])[::-1], every[:30], rtol=1e-9)
    assert len(set(zip(one.tolist(), two.tolist(), strict=True))) == 30


def test_pairs_two_steps_apart_are_those_of_the_squared_adjacency():
    for directed in (False, True):
        made = networkx.gnm_random_graph(40, 120, seed=1, directed=directed)
        A = networkx.to_numpy_array(made)
        open_ = ((A @ A) > 0) & (A == 0) & ~np.eye(40, dtype=bool)
        open_ = open_ if directed else np.triu(open_)
        us, vs, values = two_steps(PairScores(ends_of(graph_of(made))), "common")
        assert set(zip(us.tolist(), vs.tolist(), strict=True)) == set(zip(*map(list, np.nonzero(open_)), strict=True))
        np.testing.assert_array_equal(values, (A @ A)[us, vs])


def test_links_of_caves_are_told_and_the_missing_ones_are_inside_caves(made):
    made = made.copy()
    hidden = [(1, 4), (10, 13), (35, 38)]
    made.remove_edges_from(hidden)
    found = predict_links(graph_of(made))
    assert found.auc > 0.9
    assert abs(found.auc_degrees - 0.5) < 0.15
    value, (low, high) = found.beyond
    assert low < value < high
    assert low > 0.2
    listed = {(int(one.source), int(one.target)) for one in found.top_missing(15)}
    assert set(hidden) <= listed


def test_each_score_can_be_had_by_name_and_no_choice_is_made(made):
    found = predict_links(graph_of(made), score="common")
    assert found.score == "common"
    assert {fold.chosen for fold in found.folds} == {"common"}
    assert found.score_of(2, 3) == len(list(networkx.common_neighbors(made, 2, 3)))


def test_the_same_seed_gives_the_same_and_the_order_of_links_is_nothing():
    made = networkx.gnm_random_graph(40, 120, seed=1)
    one, two = predict_links(graph_of(made), random_state=3), predict_links(graph_of(made), random_state=3)
    assert one.as_dict() == two.as_dict()
    turned = Graph.of_edges([v for _, v in made.edges()][::-1], [u for u, _ in made.edges()][::-1], n=40)
    assert predict_links(turned, random_state=3).as_dict() == one.as_dict()


def test_weights_and_loops_change_nothing(made):
    plain = graph_of(made)
    pairs = np.array([*made.edges(), (0, 0), (5, 5)])
    heavy = Graph.of_edges(pairs[:, 0], pairs[:, 1], 10.0 ** np.linspace(-150, 150, len(pairs)), n=48)
    assert predict_links(heavy).as_dict() == predict_links(plain).as_dict()


def test_names_are_used_and_unknown_ones_refused(made):
    names = [f"node {i}" for i in range(48)]
    pairs = np.array(list(made.edges()))
    found = predict_links(Graph.of_edges(pairs[:, 0], pairs[:, 1], names=names, n=48))
    assert found.top_missing(2)[0].source.startswith("node ")
    assert found.score_of("node 0", "node 1") == pytest.approx(found.score_of("node 1", "node 0"))
    with pytest.raises(ParameterError, match=r"there is no node called 'x'; the first is called 'node 0'"):
        found.score_of("x", "node 0")
    with pytest.raises(ParameterError, match=r"nodes are called 0 to 47; there is no 48"):
        predict_links(graph_of(made)).score_of(0, 48)
    with pytest.raises(ParameterError, match=r"count must be a whole number from 1 on, is 0"):
        found.top_missing(0)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (networkx.path_graph(12), "it takes 20 links between different nodes, there are 11"),
        (networkx.complete_graph(12), "all nodes are linked with each other"),
        (networkx.star_graph(40), "only 0 links can be taken out without leaving a node with none"),
    ],
)
def test_what_cannot_be_told_is_refused_with_the_reason(made, why):
    with pytest.raises(DataError, match=why):
        predict_links(graph_of(made))


def test_wrong_arguments_are_refused():
    graph = graph_of(networkx.cycle_graph(30))
    with pytest.raises(ParameterError, match=r"score must be 'auto' or one of degrees, common"):
        predict_links(graph, score="katz")
    with pytest.raises(ParameterError, match=r"one of degrees, common"):
        predict_links(graph, score="back")
    with pytest.raises(ParameterError, match=r"random_state is a whole number from 0 on, .*; got -1"):
        predict_links(graph, random_state=-1)


@pytest.mark.parametrize(
    "made",
    [
        networkx.cycle_graph(40),
        networkx.cycle_graph(40, create_using=networkx.DiGraph),
        networkx.balanced_tree(2, 5),
        networkx.complete_bipartite_graph(5, 9),
        networkx.disjoint_union(networkx.complete_graph(9), networkx.empty_graph(20)),
        networkx.disjoint_union(networkx.cycle_graph(20), networkx.cycle_graph(20)),
    ],
    ids=["ring", "one-way ring", "tree", "bipartite", "clique and isolates", "two rings"],
)
def test_odd_networks_have_an_answer(made):
    found = predict_links(graph_of(made))
    assert 0.0 <= found.auc <= 1.0
    assert all(0.0 <= one.chance <= 1.0 for one in found.top_missing())
    assert all(np.isfinite(value) for pair in found.by_score().values() for value in pair)


def test_a_bipartite_network_is_told_by_eigenvectors_since_nobody_shares_a_neighbour_there():
    rng = np.random.default_rng(0)
    block = rng.random((30, 30)) < np.kron(np.array([[0.5, 0.05], [0.05, 0.5]]), np.ones((15, 15)))
    us, vs = np.nonzero(block)
    found = predict_links(Graph.of_edges(us, vs + 30, n=60))
    assert found.score == "low_rank_4"
    assert found.by_score()["common"][0] < 0.5 < 0.7 < found.auc


def test_calibrated_shares_grow_with_the_score_and_meet_what_was_hidden(made):
    ends = ends_of(graph_of(made))
    found = calibrated(ends, "resource", folds=5, seed=0)
    assert (np.diff(found.share) >= 0).all()
    hits = sum(fold.hits["resource"].sum() for fold in told(ends, seed=0, only="resource", listed=True))
    assert hits > 60  # of 100 best pairs; a fifth of each cave was hidden


def test_neighbours_shared_by_links_are_those_of_networkx_and_their_scale_is_that_of_chance():
    made = networkx.gnm_random_graph(200, 4000, seed=3)
    found = shared_neighbours(ends_of(graph_of(made)), np.arange(200) < 100)
    common = [list(networkx.common_neighbors(made, u, v)) for u, v in zip(found.sources, found.targets, strict=True)]
    np.testing.assert_array_equal(found.common, [len(one) for one in common])
    np.testing.assert_array_equal(found.half, [sum(z < 100 for z in one) for one in common])
    # a random graph is its own chance: 4,000 links, so the mean of z is 0 and its square 1 to a few hundredths
    z = LinksByChance.of([found]).z(found)
    assert abs(z.mean()) < 0.1
    assert abs((z**2).mean() - 1) < 0.1

"""Links taken out, pairs that are not linked, and Mann and Whitney's share, against scikit-learn and by counting."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from assay.summary.graph.graph import Graph
from assay.summary.network.held_out_links import (
    NonLinks,
    adjacency,
    auc,
    degrees,
    ends_of,
    fold_of_links,
    same_links,
    taken_out,
    won,
)


def graph_of(made, directed=False):
    pairs = np.array(list(made.edges()))
    return Graph.of_edges(pairs[:, 0], pairs[:, 1], n=made.number_of_nodes(), directed=directed)


def test_auc_is_that_of_scikit_learn_with_ties():
    rng = np.random.default_rng(0)
    links, others = rng.integers(0, 9, 40).astype(float), rng.integers(-3, 6, 77).astype(float)
    truth = np.r_[np.ones(40), np.zeros(77)]
    # sums of at most 40 * 77 halves, divided once: equal but for a few roundings
    assert auc(links, others) == pytest.approx(roc_auc_score(truth, np.r_[links, others]), abs=1e-12)


def test_what_a_link_wins_is_the_area_of_it_against_its_own_pairs():
    rng = np.random.default_rng(1)
    links, others = rng.integers(0, 4, 12).astype(float), rng.integers(0, 4, (12, 7)).astype(float)
    each = [roc_auc_score([1] + [0] * 7, [a, *b]) for a, b in zip(links, others, strict=True)]
    assert won(links, others) == pytest.approx(each, abs=1e-12)


def test_folds_hold_every_link_once_and_leave_no_node_without_a_link():
    ends = ends_of(graph_of(networkx.barabasi_albert_graph(80, 2, seed=3)))
    m = len(ends.sources)
    fold = fold_of_links(m, 5, np.random.default_rng(0))
    assert np.ptp(np.bincount(fold)) <= 1
    for number in range(5):
        held = taken_out(ends, np.flatnonzero(fold == number))
        assert len(held.training.sources) + len(held.sources) == m
        assert set(held.numbers) <= set(np.flatnonzero(fold == number))
        assert degrees(held.training)[0].min() >= 1


def test_no_link_of_a_star_can_be_taken_out_and_every_second_of_a_path_can():
    star = ends_of(graph_of(networkx.star_graph(30)))
    assert len(taken_out(star, np.arange(30)).numbers) == 0
    path = ends_of(graph_of(networkx.path_graph(9)))
    left = taken_out(path, np.arange(8))
    assert degrees(left.training)[0].min() == 1
    assert len(left.numbers) >= 3


@pytest.mark.parametrize("directed", [False, True])
def test_pairs_that_are_drawn_are_not_linked_and_uniform(directed):
    made = networkx.gnm_random_graph(12, 40, seed=5, directed=directed)
    pairs = NonLinks(ends_of(graph_of(made, directed)))
    assert pairs.count == (12 * 11 if directed else 66) - 40
    us, vs = pairs.uniform(8_000, np.random.default_rng(0))
    assert not any(made.has_edge(u, v) or u == v for u, v in zip(us, vs, strict=True))
    if not directed:
        us, vs = np.minimum(us, vs), np.maximum(us, vs)
    counts = np.unique(us * 12 + vs, return_counts=True)[1]
    assert len(counts) == pairs.count
    # chi-square with count - 1 degrees of freedom: beyond mean + 6 sd with probability below 1e-6
    expected = 8_000 / pairs.count
    assert ((counts - expected) ** 2 / expected).sum() < pairs.count + 6 * np.sqrt(2 * pairs.count)


def test_few_pairs_that_are_not_linked_are_found_in_a_nearly_complete_graph():
    made = networkx.complete_graph(40)
    made.remove_edge(3, 7)
    us, vs = NonLinks(ends_of(graph_of(made))).uniform(50, np.random.default_rng(0))
    assert {frozenset(pair) for pair in zip(us.tolist(), vs.tolist(), strict=True)} == {frozenset((3, 7))}
    whole = NonLinks(ends_of(graph_of(networkx.complete_graph(6))))
    assert whole.count == 0
    assert len(whole.uniform(5, np.random.default_rng(0))[0]) == 0


@pytest.mark.parametrize("directed", [False, True])
def test_matched_pairs_have_like_degrees_and_degrees_tell_nothing_of_them(directed):
    made = networkx.gnm_random_graph(300, 1500, seed=2, directed=directed)
    ends = ends_of(graph_of(made, directed))
    held = taken_out(ends, np.flatnonzero(fold_of_links(1500, 5, np.random.default_rng(0)) == 0))
    pairs = NonLinks(ends).matched(held, 5, np.random.default_rng(1))
    assert pairs.found.all()
    assert not NonLinks(ends).linked(pairs.sources.ravel(), pairs.targets.ravel()).any()
    out, into = degrees(held.training)
    # degrees up to 8 are shared by dozens of nodes here, and are met exactly; the largest ones nearly
    assert np.abs(out[pairs.sources] - out[held.sources][:, None]).max() <= 3
    assert np.mean(out[pairs.sources] == out[held.sources][:, None]) > 0.9
    product = (out[:, None] * into[None, :]).astype(float)
    shares = won(product[held.sources, held.targets], product[pairs.sources, pairs.targets])
    assert abs(shares.mean() - 0.5) < 0.02


def test_the_adjacency_has_ascending_columns_and_the_links_of_the_graph():
    made = networkx.gnm_random_graph(30, 90, seed=1)
    A = adjacency(ends_of(graph_of(made)))
    assert (A.toarray() == networkx.to_numpy_array(made)).all()
    assert A.has_sorted_indices


def test_networks_are_the_same_whatever_the_order_of_their_links():
    one = ends_of(Graph.of_edges([0, 1, 2], [1, 2, 3]))
    other = ends_of(Graph.of_edges([3, 1, 1], [2, 2, 0]))
    assert same_links(one, other)
    assert not same_links(one, ends_of(Graph.of_edges([0, 1, 2], [1, 3, 3])))


def test_loops_are_no_links():
    ends = ends_of(Graph.of_edges([0, 0, 1], [0, 1, 2]))
    assert ends.sources.tolist() == [0, 1]
    assert ends.targets.tolist() == [1, 2]

"""Conductance and Cheeger's bounds: small graphs by brute force, others by formula, sweeps, edges."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from assay import Graph, conductance
from assay.errors import DataError, ParameterError
from assay.summary.graph.conductance import cuts_of
from assay.summary.graph.cuts import refine_cut, sweep_cut
from assay.summary.graph.laplacian_modes import lowest_modes


def ring(n):
    return Graph.of_edges(np.arange(n), (np.arange(n) + 1) % n)


def complete(n):
    return Graph.of_adjacency(1.0 - np.eye(n))


def dumbbell(n, bridge=1.0):
    """Two complete graphs of n nodes, one edge between them."""
    W = np.kron(np.eye(2), 1.0 - np.eye(n))
    W[n - 1, n] = W[n, n - 1] = bridge
    return Graph.of_adjacency(W)


def phi(W, inside):
    volume = W[inside].sum(), W[~inside].sum()
    return W[np.ix_(inside, ~inside)].sum() / min(volume)


def least_phi(W):
    """Over every set of nodes."""
    n = len(W)
    sets = (np.isin(np.arange(n), some) for size in range(1, n // 2 + 1) for some in combinations(range(n), size))
    return min(phi(W, inside) for inside in sets)


@st.composite
def connected(draw, most=8):
    """Weights of a connected graph: a random tree, and edges more; now and then a self-loop."""
    n = draw(st.integers(2, most))
    weight = st.floats(0.01, 10.0)
    W = np.zeros((n, n))
    for i in range(1, n):
        j = draw(st.integers(0, i - 1))
        W[i, j] = W[j, i] = draw(weight)
    for i, j in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12)):
        W[i, j] = W[j, i] = draw(weight)
    return W


@given(connected())
@settings(max_examples=30, deadline=None)
def test_the_best_cut_lies_between_cheegers_bounds(W):
    found = conductance(Graph.of_adjacency(W), np.arange(len(W)) == 0)
    best = least_phi(W)
    assert found.lower - 1e-9 <= best <= found.upper + 1e-9


@given(connected(12))
@settings(max_examples=30, deadline=None)
def test_the_sweep_of_the_second_vector_keeps_cheegers_promise(W):
    weights = sparse.csr_array(W)
    modes = lowest_modes(weights, 1)
    swept = sweep_cut(weights, modes.vectors[:, 0] / np.sqrt(W.sum(axis=1)))
    assert swept.conductance <= np.sqrt(2 * modes.values[0]) + 1e-9
    np.testing.assert_allclose(swept.conductance, phi(W, swept.above), rtol=1e-9)


@given(connected(9), st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_the_sweep_finds_the_best_threshold(W, seed):
    f = np.random.default_rng(seed).integers(0, 6, len(W)).astype(float)  # with ties
    f[0], f[-1] = -1.0, 7.0
    swept = sweep_cut(sparse.csr_array(W), f)
    best = min(phi(W, f > level) for level in np.unique(f)[:-1])
    np.testing.assert_allclose(swept.conductance, best, rtol=1e-9)
    np.testing.assert_array_equal(swept.above, f > swept.threshold)


@given(connected(12), st.integers(2, 4), st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_refining_lowers_the_normalised_cut_and_empties_no_group(W, k, seed):
    n = len(W)
    k = min(k, n)
    labels = np.random.default_rng(seed).permutation(np.arange(n) % k)
    weights = sparse.csr_array(W)
    refined = refine_cut(weights, labels, k)
    before, after = cuts_of(weights, labels, k), cuts_of(weights, refined, k)
    assert after.normalized_cut <= before.normalized_cut + 1e-12
    assert after.conductance.max() <= before.conductance.max() + 1e-12
    assert set(refined) == set(range(k))


@given(connected(), st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_values_are_those_of_the_definition(W, seed):
    labels = np.random.default_rng(seed).integers(0, 2, len(W))
    labels[0], labels[-1] = 0, 1
    found = conductance(Graph.of_adjacency(W), labels)
    np.testing.assert_allclose(found.conductance, phi(W, labels == 0), rtol=1e-9)
    d = W.sum(axis=1)
    L = np.eye(len(W)) - W / np.sqrt(np.outer(d, d))
    np.testing.assert_allclose(found.lambda2, np.linalg.eigvalsh(L)[1], atol=1e-9)
    np.testing.assert_allclose(found.volume.sum(), W.sum(), rtol=1e-12)


@pytest.mark.parametrize("n", [4, 10, 2_000])
def test_a_ring_is_known_by_formula(n):
    found = conductance(ring(n), np.arange(n) < n // 2)
    np.testing.assert_allclose(found.conductance, 2 / n)  # two edges of a volume of n
    np.testing.assert_allclose(found.lambda2, 2 * np.sin(np.pi / n) ** 2, rtol=1e-8)
    assert found.lower <= found.worst <= found.upper
    assert found.residual < 1e-5 * found.lambda2


def test_a_complete_graph_has_no_good_cut():
    n = 10
    found = conductance(complete(n), np.arange(n) < 5)
    np.testing.assert_allclose(found.conductance, 25 / 45)
    np.testing.assert_allclose(found.lambda2, n / (n - 1))
    np.testing.assert_allclose(found.normalized_cut, 2 * 25 / 45)


def test_a_dumbbell_is_cut_at_its_bridge():
    n = 6
    found = conductance(dumbbell(n), np.repeat([0, 1], n))
    np.testing.assert_allclose(found.cut, 1)
    np.testing.assert_allclose(found.conductance, 1 / (n * (n - 1) + 1))
    assert found.lower <= found.worst <= found.upper


def test_refining_moves_a_crooked_border_to_the_bridge():
    n = 30
    labels = np.repeat([0, 1], n)
    labels[[2, n + 3, n + 4]] ^= 1
    refined = refine_cut(dumbbell(n).weights, labels, 2)
    np.testing.assert_array_equal(refined, np.repeat([0, 1], n))


def test_flow_finds_the_smallest_cut_where_single_moves_are_stuck():
    # a strip of columns of three nodes, tied so firmly that no node leaves its column alone
    columns = 40
    node = np.arange(3 * columns).reshape(columns, 3)
    along = np.ones((columns - 1, 3))
    along[17] = 0.1  # the cut to be found
    edges = [(node[c, r], node[c + 1, r], along[c, r]) for c in range(columns - 1) for r in range(3)]
    edges += [(node[c, r], node[c, (r + 1) % 3], 5.0) for c in range(columns) for r in range(3)]
    i, j, w = zip(*edges, strict=True)
    graph = Graph.of_edges(i, j, w)
    labels = np.repeat((np.arange(columns) >= 20).astype(int), 3)
    refined = refine_cut(graph.weights, labels, 2)
    np.testing.assert_array_equal(refined, np.repeat((np.arange(columns) >= 18).astype(int), 3))


def test_groups_may_have_any_names_and_their_order_does_not_matter():
    graph = dumbbell(4)
    one = conductance(graph, ["left"] * 4 + ["right"] * 4)
    other = conductance(graph, [7] * 4 + [-1] * 4)
    assert list(one.groups) == ["left", "right"] and list(other.groups) == [-1, 7]
    np.testing.assert_allclose(one.conductance, other.conductance)
    assert list(one.sizes) == [4, 4]


def test_a_graph_that_falls_apart_has_a_free_cut():
    graph = Graph.of_edges([0, 1, 3], [1, 2, 4])
    found = conductance(graph, [0, 0, 0, 1, 1])
    assert (found.lambda2, found.lower, found.upper, found.normalized_cut) == (0, 0, 0, 0)
    np.testing.assert_array_equal(found.conductance, [0, 0])


def test_nodes_without_edges_and_one_group_cut_nothing():
    graph = Graph.of_edges([0], [1], n=4)
    np.testing.assert_array_equal(conductance(graph, [0, 0, 1, 2]).conductance, [0, 0, 0])
    whole = conductance(ring(5), np.zeros(5))
    assert whole.worst == 0 and whole.normalized_cut == 0
    single = conductance(Graph.of_adjacency([[1.0]]), [0])
    assert np.isnan(single.lambda2) and single.worst == 0


def test_a_self_loop_adds_to_the_volume_and_not_to_the_cut():
    W = np.array([[3.0, 1.0], [1.0, 0.0]])
    found = conductance(Graph.of_adjacency(W), [0, 1])
    np.testing.assert_array_equal(found.volume, [4, 1])
    np.testing.assert_array_equal(found.cut, [1, 1])
    np.testing.assert_array_equal(found.conductance, [1, 1])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_scale_of_weights_does_not_matter(scale):
    graph = dumbbell(5, bridge=0.5)
    scaled = conductance(Graph.of_adjacency(graph.weights * scale), np.repeat([0, 1], 5))
    plain = conductance(graph, np.repeat([0, 1], 5))
    np.testing.assert_allclose(scaled.conductance, plain.conductance, rtol=1e-12)
    np.testing.assert_allclose(scaled.lambda2, plain.lambda2, rtol=1e-9)


def test_what_is_no_partition_of_an_undirected_graph_is_refused():
    with pytest.raises(ParameterError, match="conductance is of an undirected graph. Use symmetrised"):
        conductance(Graph.of_edges([0], [1], directed=True), [0, 1])
    with pytest.raises(ParameterError, match="conductance is of similarities, these are distances"):
        conductance(Graph.of_edges([0], [1], meaning="distance"), [0, 1])
    with pytest.raises(ParameterError, match="conductance is of a Graph; got ndarray. Make one with"):
        conductance(np.eye(2), [0, 1])
    with pytest.raises(DataError, match=r"one label is needed for each of 5 nodes; got shape \(4,\)"):
        conductance(ring(5), [0, 1, 0, 1])
    with pytest.raises(DataError, match="labels must not be NaN or infinite: that of node 1 is"):
        conductance(ring(3), [0, np.nan, 1])

"""Affinities: perplexity as asked, scikit-learn as oracle, ties, extremes, graphs, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold._t_sne import _joint_probabilities

from assay import Graph
from assay.errors import DataError, ParameterError
from assay.summary.graph.perplexity import affinities, graph_affinities, widths


def rows(n, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def perplexity_of(conditional):
    p = conditional.toarray()
    return np.exp(-np.sum(p * np.log(p, where=p > 0, out=np.zeros_like(p)), axis=1))


@given(st.integers(2, 40), st.floats(0.05, 0.95), st.integers(0, 2**31), st.sampled_from([1e-200, 1.0, 1e200]))
def test_each_row_has_the_perplexity_asked_for(n, share, seed, scale):
    perplexity = 1 + share * (n - 2)
    found = affinities(rows(n, 3, seed) * scale, perplexity)
    np.testing.assert_allclose(perplexity_of(found.conditional), perplexity, atol=1e-5)
    np.testing.assert_allclose(found.reached, perplexity, atol=1e-5)
    np.testing.assert_allclose(found.conditional.sum(axis=1), 1.0)


@pytest.mark.parametrize("ulps", [0, 1, 3, 17])
@pytest.mark.parametrize("perplexity", [1.5, 7.0, 25.0])
def test_the_widths_reproduce_the_affinities(perplexity, ulps):
    """For the same distances, and for those that a processor with other rounding would give."""
    D = squareform(pdist(rows(30)))
    D *= 1 + ulps * np.finfo(float).eps * np.sign(squareform(np.random.default_rng(ulps).standard_normal(435)))
    found = affinities(D, perplexity, "precomputed")
    np.fill_diagonal(D, np.inf)
    logs = (D.min(axis=1, keepdims=True) ** 2 - D**2) / (2 * found.sigma[:, None] ** 2)
    p = np.exp(logs)
    # both are exponentials of the same width: their logarithms differ by the rounding of the exponents alone
    rounding = 30 * np.finfo(float).eps * (1 - logs[np.isfinite(logs)].min())
    np.testing.assert_allclose(
        found.conditional.toarray(), p / p.sum(axis=1, keepdims=True), rtol=rounding, atol=np.finfo(float).tiny
    )


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_joint_affinities_are_symmetric_sum_to_one_and_agree_with_scikit_learn(shift):
    X = np.round(rows(80), 6) + shift
    P = affinities(X, 12.0).P
    assert P.sum() == pytest.approx(1.0, abs=1e-12)
    assert abs(P - P.T).max() == 0.0
    assert not P.diagonal().any()
    peer = squareform(_joint_probabilities(squareform(pdist(X - shift, "sqeuclidean")), 12.0, 0))
    np.testing.assert_allclose(P.toarray(), peer, rtol=2e-3, atol=1e-8)  # scikit-learn searches to 1e-5 in log units


def test_beyond_a_size_three_times_the_perplexity_are_neighbours():
    X = rows(1200, 3)
    found = affinities(X, 10.0)
    assert (np.diff(found.conditional.indptr) == 30).all()
    np.testing.assert_allclose(found.reached, 10.0, atol=1e-5)


def test_rotating_shifting_and_scaling_rows_changes_nothing():
    X = rows(50)
    turn = np.linalg.qr(rows(4, 4, seed=1))[0]
    np.testing.assert_allclose(
        affinities(X @ turn * 3.0 + 5.0, 9.0).P.toarray(), affinities(X, 9.0).P.toarray(), rtol=1e-7, atol=1e-15
    )


def test_more_equal_neighbours_than_asked_for_share_equally():
    X = np.concatenate([np.zeros((10, 2)), rows(10, 2) + 50.0])
    found = affinities(X, 3.0)
    np.testing.assert_allclose(found.conditional.toarray()[0, 1:10], 1 / 9)
    np.testing.assert_allclose(found.reached[:10], 9.0)
    np.testing.assert_allclose(found.reached[10:], 3.0, atol=1e-5)


def test_constant_rows_are_all_alike():
    P = affinities(np.full((6, 3), 7.0), 2.0).P.toarray()
    np.testing.assert_allclose(P[~np.eye(6, dtype=bool)], 1 / 30)


def test_two_near_rows_far_from_the_rest_are_still_solved():
    X = np.concatenate([[[0.0], [1e-120]], 1.0 + rows(30, 1) ** 2])
    found = affinities(X, 1.5)
    np.testing.assert_allclose(found.reached, 1.5, atol=1e-5)


def test_one_row_has_no_neighbours_and_two_have_each_other():
    assert affinities([[1.0, 2.0]]).P.nnz == 0
    np.testing.assert_allclose(affinities([[1.0], [2.0]]).P.toarray(), [[0, 0.5], [0.5, 0]])


def test_given_distances_give_the_same_as_rows():
    X = rows(40)
    D = squareform(pdist(X))
    np.testing.assert_allclose(
        affinities(D, 8.0, "precomputed").P.toarray(), affinities(X, 8.0).P.toarray(), rtol=1e-8, atol=1e-15
    )


def test_a_complete_graph_of_distances_gives_the_same_as_rows():
    X = rows(40)
    graph = Graph.nearest(X, 39)
    found = graph_affinities(graph, 8.0)
    np.testing.assert_allclose(found.P.toarray(), affinities(X, 8.0).P.toarray(), rtol=1e-8, atol=1e-15)


def test_nodes_with_different_numbers_of_edges_each_reach_what_they_can():
    graph = Graph.of_edges([0, 0, 0, 0, 1], [1, 2, 3, 4, 2], [1.0, 2.0, 3.0, 4.0, 0.0], meaning="distance")
    found = graph_affinities(graph, 2.0)
    assert found.reached[0] == pytest.approx(2.0, abs=1e-5)
    np.testing.assert_allclose(found.reached[3:], 1.0)
    assert found.P.sum() == pytest.approx(1.0)
    assert found.P[1, 2] > 0  # an edge of length zero is an edge


def test_similarities_are_taken_as_they_are():
    W = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 6.0], [0.0, 6.0, 0.0]])
    np.testing.assert_allclose(graph_affinities(Graph.of_adjacency(W)).P.toarray(), W / 16)
    np.testing.assert_allclose(graph_affinities(Graph.of_adjacency(W)).conditional.sum(axis=1), 1.0)


def test_fewer_neighbours_than_the_perplexity_count_alike():
    np.testing.assert_allclose(widths(np.array([[1.0, 5.0]]), 2.0).p, 0.5)


@pytest.mark.parametrize(
    ("perplexity", "message"),
    [
        (20.0, "perplexity must be less than n_samples=20; got 20"),
        (0.5, "perplexity is a number of at least 1, or None; got 0.5"),
        (float("nan"), "at least 1, or None; got nan"),
        ("many", "at least 1, or None; got 'many'"),
        (True, "got True"),
    ],
)
def test_perplexities_that_cannot_be_are_refused(perplexity, message):
    with pytest.raises(ParameterError, match=message):
        affinities(rows(20), perplexity)


def test_refusals_of_graphs_name_the_node_and_the_rule():
    lonely = Graph.of_edges([0], [1], n=3)
    with pytest.raises(DataError, match=r"node 2 has no edge to another node.*largest_component"):
        graph_affinities(lonely)
    ring = Graph.of_edges([0, 1, 2, 3], [1, 2, 3, 0], meaning="distance")
    with pytest.raises(ParameterError, match="less than the most edges of a node, 2; got 2"):
        graph_affinities(ring, 2.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_with_its_place(bad):
    X = rows(10)
    X[3, 1] = bad
    with pytest.raises(DataError, match=r"3.*1"):
        affinities(X, 2.0)


def test_arguments_are_not_changed():
    X = rows(30)
    before = X.copy()
    affinities(X, 5.0)
    W = sparse.csr_array(np.ones((3, 3)) - np.eye(3))
    graph_affinities(Graph(W))
    np.testing.assert_array_equal(X, before)
    assert W.nnz == 6

"""Graphs: Laplacians and walks by their laws, SciPy and scikit-learn as oracles, edges of length zero kept."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.manifold import Isomap
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from assay.errors import DataError, ParameterError
from assay.summary.gram.kernels import Gaussian
from assay.summary.graph.edges import matrix_of, mirrored
from assay.summary.graph.graph import Graph
from assay.summary.graph.options import Nearest, Within

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3))


@st.composite
def similarities(draw, max_nodes=14):
    """Undirected graphs, sparse enough to fall apart and to have nodes without edges; some edges lead to themselves."""
    n = draw(st.integers(1, max_nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = draw(st.integers(0, 2 * n))
    return Graph.of_edges(*rng.integers(0, n, (2, m)), 10.0 ** rng.uniform(-3, 3, m), n=n)


def test_the_nearest_graph_is_scikit_learns():
    graph = Graph.nearest(X, 5)
    assert graph.directed and graph.meaning == "distance" and graph.n == 90
    np.testing.assert_allclose(graph.weights.toarray(), kneighbors_graph(X, 5, mode="distance").toarray())
    assert (graph.links == 5).all()


def test_the_graph_within_epsilon_is_scikit_learns():
    graph = Graph.within(X, 0.8)
    assert not graph.directed and graph.meaning == "distance"
    np.testing.assert_allclose(graph.weights.toarray(), radius_neighbors_graph(X, 0.8, mode="distance").toarray())


def test_cosine_neighbours_are_those_of_the_angle():
    oracle = kneighbors_graph(X, 5, mode="distance", metric="cosine").toarray()
    np.testing.assert_allclose(Graph.nearest(X * 1e200, 5, "cosine").weights.toarray(), oracle, atol=1e-12)
    D = cdist(X, X, "cosine")
    np.fill_diagonal(D, np.inf)
    np.testing.assert_allclose(Graph.within(X, 0.1, "cosine").weights.toarray(), np.where(D <= 0.1, D, 0), atol=1e-12)


def test_given_distances_are_used_as_they_are():
    D = cdist(X, X, "cityblock")
    oracle = kneighbors_graph(X, 5, mode="distance", metric="cityblock").toarray()
    np.testing.assert_allclose(Graph.nearest(D, 5, "precomputed").weights.toarray(), oracle)
    inside = np.where((D <= 1.0) & ~np.eye(90, dtype=bool), D, 0)
    np.testing.assert_array_equal(Graph.within(D, 1.0, "precomputed").weights.toarray(), inside)
    rounded = Graph.within(D * (1 + 1e-15 * np.tri(len(D))), 1.0, "precomputed").weights.toarray()
    np.testing.assert_allclose(rounded, inside, rtol=1e-14)
    with pytest.raises(DataError, match="the distance matrix must be symmetric: row"):
        Graph.within(D + np.tri(len(D)), 1.0, "precomputed")


def test_edges_between_equal_rows_survive_every_step():
    rows = np.repeat(X[:20], 3, axis=0)
    graph = Graph.nearest(rows, 4)
    assert graph.weights.nnz == 240 and (graph.weights.data == 0).sum() == 120
    for by in ("union", "mutual", "average"):
        both = graph.symmetrised(by)
        assert (both.weights.data == 0).sum() == 120
        assert both.components().count <= 20
        again = Graph(both.weights, "distance")
        np.testing.assert_array_equal(again.weights.indices, both.weights.indices)
        similar = both.weighted(Gaussian(1.0))
        assert similar.weights.nnz == both.weights.nnz and (similar.weights.data == 1).sum() == 120
        assert both.unweighted().weights.nnz == both.weights.nnz
        part = both.largest_component()
        assert part.graph.weights.nnz == both.links[part.nodes].sum()
    within = Graph.within(rows, 0.0)
    assert within.weights.nnz == 120 and within.components().count == 20
    assert Graph.of_adjacency(within.weights, meaning="distance").weights.nnz == 120


def test_a_similarity_of_zero_is_no_edge():
    far = Graph.within([[0.0], [1.0], [100.0]], 200.0).weighted(Gaussian(1.0))
    assert far.weights.nnz == 2 and far.components().count == 2
    assert Graph.of_edges([0, 1], [1, 2], [1.0, 0.0]).components().count == 2


def test_symmetrising_keeps_edges_given_either_way_both_ways_or_their_mean():
    W = np.array([[0.0, 3.0, 5.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    similar, apart = (Graph.of_adjacency(W, meaning=meaning) for meaning in ("similarity", "distance"))
    assert similar.directed and apart.directed
    expected = {
        ("union", similar): [[0, 3, 5], [3, 0, 0], [5, 0, 2]],
        ("union", apart): [[0, 1, 5], [1, 0, 0], [5, 0, 2]],
        ("mutual", similar): [[0, 1, 0], [1, 0, 0], [0, 0, 2]],
        ("mutual", apart): [[0, 3, 0], [3, 0, 0], [0, 0, 2]],
        ("average", similar): (W + W.T) / 2,
        ("average", apart): [[0, 2, 5], [2, 0, 0], [5, 0, 2]],
    }
    for (by, graph), result in expected.items():
        both = graph.symmetrised(by)
        assert not both.directed and both.meaning == graph.meaning
        np.testing.assert_array_equal(both.weights.toarray(), result)
        np.testing.assert_array_equal(both.symmetrised(by).weights.toarray(), result)


def test_the_mean_of_huge_weights_does_not_overflow():
    W = sparse.csr_array(([1.5e308, 1.5e308], ([0, 1], [1, 0])), shape=(2, 2))
    for lengths in (False, True):
        np.testing.assert_array_equal(mirrored(W, "average", lengths=lengths).data, [1.5e308, 1.5e308])


@given(similarities())
def test_laplacians_have_zero_rows_no_negative_eigenvalue_and_a_zero_for_each_component(graph):
    count = graph.components().count
    d = graph.degree
    plain, normal, walk = (graph.laplacian(kind).toarray() for kind in ("plain", "symmetric", "random-walk"))
    np.testing.assert_allclose(plain.sum(axis=1), 0, atol=1e-12 * max(d.max(), 1))
    np.testing.assert_allclose(walk.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(normal @ np.sqrt(d), 0, atol=1e-12 * np.sqrt(max(d.max(), 1)))
    np.testing.assert_array_equal(plain, plain.T)
    np.testing.assert_array_equal(normal, normal.T)
    values = np.linalg.eigvalsh(normal)
    assert values[0] >= -1e-12 and values[-1] <= 2 + 1e-12
    assert (values < 1e-9).sum() == count
    assert np.linalg.eigvalsh(plain)[0] >= -1e-12 * max(d.max(), 1)
    assert np.linalg.matrix_rank(graph.unweighted().laplacian().toarray()) == graph.n - count
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(walk).real), values, atol=1e-7)


@given(similarities())
def test_laplacians_agree_with_scipy_where_no_edge_leads_to_itself(graph):
    W = graph.weights.toarray()
    np.fill_diagonal(W, 0)
    graph = Graph.of_adjacency(W)
    np.testing.assert_allclose(graph.laplacian().toarray(), csgraph.laplacian(W), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(graph.laplacian("symmetric").toarray(), csgraph.laplacian(W, normed=True), atol=1e-12)


@given(similarities())
def test_a_random_walk_goes_somewhere_with_probability_one(graph):
    P = graph.transition.toarray()
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    assert (P >= 0).all()
    np.testing.assert_allclose(P, np.eye(graph.n) - graph.laplacian("random-walk").toarray(), atol=1e-14)
    # detailed balance
    flow = graph.degree[:, None] * P
    np.testing.assert_allclose(flow, flow.T, rtol=1e-12)


def test_nodes_without_edges_have_a_defined_answer():
    graph = Graph.of_edges([0], [1], [2.0], n=3)
    np.testing.assert_array_equal(graph.degree, [2, 2, 0])
    for kind in ("plain", "symmetric", "random-walk"):
        assert not graph.laplacian(kind).toarray()[2].any()
    np.testing.assert_array_equal(graph.transition.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    alone = Graph.of_edges([], [], n=1)
    assert alone.components().count == 1 and not alone.laplacian("symmetric").toarray().any()
    assert alone.transition.toarray() == 1


@given(similarities())
def test_components_are_what_paths_can_reach(graph):
    components = graph.components()
    reached = np.isfinite(graph.shortest_paths(by="hops"))
    np.testing.assert_array_equal(reached, components.labels[:, None] == components.labels)
    np.testing.assert_array_equal(np.bincount(components.labels), components.sizes)
    assert components.count == len(components.sizes) and components.sizes.sum() == graph.n
    first = [np.flatnonzero(components.labels == c)[0] for c in range(components.count)]
    assert first == sorted(first)
    part = graph.largest_component()
    assert part.graph.n == components.sizes.max() and part.graph.components().count == 1
    np.testing.assert_array_equal(part.graph.weights.toarray(), graph.weights.toarray()[np.ix_(part.nodes, part.nodes)])


def test_directed_graphs_fall_apart_weakly_or_strongly():
    graph = Graph.of_edges([0, 1, 2, 2], [1, 0, 1, 3], directed=True)
    assert graph.components().count == 1
    np.testing.assert_array_equal(graph.components("strong").labels, [0, 0, 1, 2])
    np.testing.assert_array_equal(graph.transition.toarray()[2:], [[0, 0.5, 0, 0.5], [0, 0, 0, 1]])


def test_parts_keep_names_and_the_order_asked_for():
    graph = Graph.of_edges(["a", "b", "x"], ["b", "c", "y"], [1.0, 2.0, 3.0])
    assert graph.names == ("a", "b", "c", "x", "y")
    part = graph.subgraph([2, 1])
    assert part.graph.names == ("c", "b")
    np.testing.assert_array_equal(part.graph.weights.toarray(), [[0, 2], [2, 0]])
    assert graph.largest_component().graph.names == ("a", "b", "c")


def test_edge_lists_are_read_one_way_both_ways_and_repeated():
    once = Graph.of_edges([0, 1], [1, 2], [2.0, 3.0])
    both = Graph.of_edges([0, 1, 1, 2], [1, 0, 2, 1], [2.0, 2.0, 3.0, 3.0])
    np.testing.assert_array_equal(once.weights.toarray(), both.weights.toarray())
    twice = Graph.of_edges([0, 0], [1, 1], [2.0, 5.0])
    assert twice.weights[0, 1] == twice.weights[1, 0] == 7
    roads = Graph.of_edges([0, 0], [1, 1], [2.0, 5.0], meaning="distance")
    assert roads.weights[0, 1] == 2
    arcs = Graph.of_edges(["u"], ["v"], names=["v", "u"], directed=True)
    np.testing.assert_array_equal(arcs.weights.toarray(), [[0, 0], [1, 0]])
    assert Graph.of_edges([0], [1], n=4).n == 4


def test_adjacency_matrices_tell_whether_they_are_directed():
    symmetric = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert not Graph.of_adjacency(symmetric).directed
    assert not Graph.of_adjacency(sparse.coo_matrix(symmetric)).directed
    assert Graph.of_adjacency([[0.0, 1.0], [0.0, 0.0]]).directed
    D = np.array([[0.0, np.inf, 2.0], [np.inf, 0.0, 1.0], [2.0, 1.0, 0.0]])
    roads = Graph.of_adjacency(D, meaning="distance")
    np.testing.assert_array_equal(roads.shortest_paths(), [[0, 3, 2], [3, 0, 1], [2, 1, 0]])


def test_the_graph_does_not_depend_on_the_order_of_the_rows():
    order = RNG.permutation(90)
    for option in (Nearest(6), Nearest(6, symmetry="mutual"), Within(0.9)):
        a, b = option.graph(X), option.graph(X[order])
        np.testing.assert_array_equal(b.weights.toarray(), a.weights.toarray()[np.ix_(order, order)])


def test_geodesics_are_those_of_scikit_learns_isomap():
    roll = Isomap(n_neighbors=8).fit(X)
    np.testing.assert_allclose(Nearest(8).graph(X).shortest_paths(), roll.dist_matrix_, rtol=1e-12)


def test_options_are_values():
    assert Nearest(5) == Nearest(5) != Nearest(6) and Within(1.0) == Within(1.0)
    assert len({Nearest(5), Nearest(5), Within(1.0)}) == 2
    assert repr(Nearest(5)) == "Nearest(n_neighbors=5, metric='euclidean', symmetry='union')"
    assert copy.deepcopy(Nearest(5)) == Nearest(5)
    assert clone(Isomap(neighbors_algorithm=Nearest(5))).get_params()["neighbors_algorithm"] == Nearest(5)
    assert Nearest(5, symmetry=None).graph(X).directed


def test_weights_can_come_from_any_function_of_the_length():
    graph = Graph.nearest(X, 4)
    np.testing.assert_array_equal(graph.weighted(lambda d: 1 / (1 + d)).weights.data, 1 / (1 + graph.weights.data))
    sigma = np.median(graph.weights.data)
    np.testing.assert_array_equal(
        graph.weighted(Gaussian()).weights.data, np.exp(-0.5 * (graph.weights.data / sigma) ** 2)
    )


def test_what_is_no_graph_is_refused_with_its_place():
    with pytest.raises(DataError, match=r"the edge from node 0 to node 2 has -1.0. Leave out edges that are not there"):
        Graph.of_edges([0, 0], [1, 2], [1.0, -1.0])
    with pytest.raises(DataError, match=r"the edge from node 1 to node 0 has nan"):
        Graph.of_adjacency([[0.0, 0.0], [np.nan, 0.0]])
    with pytest.raises(DataError, match=r"the edge from node 0 to node 1 has inf"):
        Graph.of_adjacency([[0.0, np.inf], [np.inf, 0.0]])
    with pytest.raises(DataError, match=r"as many rows as columns, and at least one, has shape \(1, 2\)"):
        Graph.of_adjacency([[0.0, 1.0]])
    with pytest.raises(DataError, match=r"has shape \(0, 0\)"):
        Graph.of_edges([], [])
    with pytest.raises(DataError, match=r"an undirected graph needs symmetric weights. Say directed=True"):
        Graph.of_adjacency([[0.0, 1.0], [0.0, 0.0]], directed=False)
    with pytest.raises(DataError, match=r"edge 1 joins nodes 2 and 0, but nodes are 0 to 1"):
        Graph.of_edges([0, 2], [1, 0], n=2)
    with pytest.raises(DataError, match=r"2 edges need as many weights, got shape \(1,\)"):
        Graph.of_edges([0, 2], [1, 0], [1.0])
    with pytest.raises(DataError, match=r"as many rows as columns, got shapes \(2,\) and \(1,\)"):
        Graph.of_edges([0, 2], [1])
    with pytest.raises(DataError, match=r"an edge ends at 'z', which is not among the names"):
        Graph.of_edges(["a"], ["z"], names=["a", "b"])
    with pytest.raises(DataError, match=r"a graph of 2 nodes needs 2 names, has 3"):
        Graph.of_adjacency(np.ones((2, 2)), names=["a", "b", "c"])
    with pytest.raises(DataError, match=r"the cosine of a row of zeros is not defined: row 1"):
        Graph.nearest([[1.0], [0.0], [2.0]], 1, "cosine")
    with pytest.raises(DataError, match=r"distances must not be negative: row 1, column 0 is -1"):
        Graph.nearest([[0.0, 1.0], [-1.0, 0.0]], 1, "precomputed")
    with pytest.raises(DataError, match=r"similarities of node 0 sum up to more than a float can hold"):
        _ = Graph.of_edges([0, 0], [1, 2], [1.5e308, 1.5e308]).degree


def test_questions_that_make_no_sense_are_refused_with_a_remedy():
    apart, similar = Graph.nearest(X, 3), Graph.of_edges([0, 1], [1, 2], directed=True)
    with pytest.raises(ParameterError, match=r"a degree is of similarities, these are distances. Use weighted"):
        _ = apart.degree
    with pytest.raises(ParameterError, match=r"a random walk is of similarities"):
        _ = apart.transition
    with pytest.raises(ParameterError, match=r"the Laplacian is of similarities"):
        apart.symmetrised().laplacian()
    with pytest.raises(ParameterError, match=r"the Laplacian is of an undirected graph. Use symmetrised\(\) first"):
        similar.laplacian()
    with pytest.raises(ParameterError, match=r'the Laplacian is "plain", "symmetric" or "random-walk", not \'odd\''):
        similar.symmetrised().laplacian("odd")
    with pytest.raises(ParameterError, match=r"weights are similarities already"):
        similar.weighted(Gaussian(1.0))
    with pytest.raises(ParameterError, match=r'symmetrise by "union", "mutual" or "average", not by \'half\''):
        apart.symmetrised("half")
    with pytest.raises(ParameterError, match=r'meaning must be "distance" or "similarity", is \'weight\''):
        Graph.of_edges([0], [1], meaning="weight")
    with pytest.raises(ParameterError, match=r'connection must be "weak" or "strong", is \'loose\''):
        similar.components("loose")
    with pytest.raises(
        ParameterError, match=r'metric must be "euclidean", .*, "precomputed" or a function of two rows, is \'taxi\''
    ):
        Graph.nearest(X, 3, "taxi")
    with pytest.raises(ParameterError, match=r"k must be between 1 and 2, one less than the rows, is 3"):
        Graph.nearest(np.zeros((3, 3)), 3, "precomputed")
    with pytest.raises(ParameterError, match=r"a list of different node numbers"):
        similar.subgraph([0, 0])
    with pytest.raises(ParameterError, match=r"nodes are 0 to 2, asked for 1 to 3"):
        similar.subgraph([1, 3])
    with pytest.raises(DataError, match=r"one similarity is needed for each of 270 lengths, got \(\)"):
        apart.weighted(lambda d: 1.0)


def test_weights_changed_afterwards_do_not_change_the_graph():
    W = sparse.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2))
    graph = Graph.of_adjacency(W, meaning="distance")
    W.data[:] = 9
    assert (graph.weights.data == 1).all()


def test_matrices_are_put_in_canonical_form():
    W = matrix_of((np.array([1, 0, 1]), np.array([1, 1, 0]), np.array([0.0, 2.0, 3.0])), 2)
    assert W.has_canonical_format and W.nnz == 3
    np.testing.assert_array_equal(W.toarray(), [[0, 2], [3, 0]])

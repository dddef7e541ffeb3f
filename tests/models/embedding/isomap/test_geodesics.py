"""Geodesics and the links of new rows: SciPy's shortest paths as oracle, both directions, every metric."""

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from assay.errors import DataError, ParameterError
from assay.models.embedding.isomap.geodesics import Geodesics
from assay.models.embedding.isomap.new_links import new_links
from assay.summary.graph.graph import Graph
from assay.summary.graph.options import Nearest, Within

RNG = np.random.default_rng(0)
X = RNG.random((80, 3))


@pytest.mark.parametrize("by", ["length", "hops"])
def test_squares_are_those_of_scipys_paths_in_the_order_of_the_nodes(by):
    graph = Nearest(4).graph(X)
    paths = Geodesics.of(graph, by)
    expected = shortest_path(graph.weights, directed=False, unweighted=by == "hops")[np.ix_(paths.nodes, paths.nodes)]
    np.testing.assert_allclose(np.sqrt(paths.squares()) * paths.unit, expected, rtol=1e-12)
    some = np.array([3, 50])
    np.testing.assert_allclose(paths.squares(some, np.float32), paths.squares()[some], rtol=1e-6)


def test_the_largest_component_is_kept_whole():
    two = np.concatenate([X, X[:30] + 100])
    np.testing.assert_array_equal(np.sort(Geodesics.of(Nearest(5).graph(two)).nodes), np.arange(80))


@pytest.mark.parametrize("targets", [np.arange(80), np.array([5, 60])])
def test_new_nodes_are_as_far_as_in_the_graph_that_contains_them(targets):
    paths = Geodesics.of(Nearest(8).graph(X))
    links = (np.array([0, 0, 2]), np.array([4, 70, 9]), np.array([0.5, 0.1, 0.3]))
    D = np.sqrt(paths.squares()) * paths.unit
    expected = [np.minimum(0.5 + D[4], 0.1 + D[70]), np.full(80, np.inf), 0.3 + D[9]]
    found = np.sqrt(paths.squares_to_new(links, 3, targets)) * paths.unit
    np.testing.assert_allclose(found, np.array(expected)[:, targets], rtol=1e-12)


def test_a_new_node_is_no_short_cut_for_others():
    line = Geodesics.of(Graph.of_edges([0, 1], [1, 2], [5.0, 5.0], meaning="distance"))
    place = {int(node): at for at, node in enumerate(line.nodes)}
    # new node 0 lies next to both ends; node 1 is linked to one end only, and must go all the way round
    links = (np.array([0, 0, 1]), np.array([place[0], place[2], place[0]]), np.array([0.1, 0.1, 1.0]))
    for targets in (np.arange(3), np.array([place[2]])):
        found = np.sqrt(line.squares_to_new(links, 2, targets)) * line.unit
        assert found[1, list(targets).index(place[2])] == pytest.approx(11.0)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed"])
def test_new_rows_are_linked_by_the_metric_of_the_graph(metric):
    new = RNG.random((6, 3))
    D = cdist(new, X, "cosine" if metric == "cosine" else "euclidean")
    rows, cols, lengths = new_links(Nearest(3, metric), D if metric == "precomputed" else new, X)
    np.testing.assert_array_equal(rows, np.repeat(np.arange(6), 3))
    np.testing.assert_array_equal(cols.reshape(6, 3), np.argsort(D, axis=1)[:, :3])
    np.testing.assert_allclose(lengths, D[rows, cols], rtol=1e-9)
    radius = float(np.quantile(D, 0.1))
    rows, cols, lengths = new_links(Within(radius, metric), D if metric == "precomputed" else new, X)
    np.testing.assert_array_equal(np.stack([rows, cols]), np.nonzero(radius >= D))
    np.testing.assert_allclose(lengths, D[rows, cols], rtol=1e-9)


def test_a_row_that_is_known_is_linked_to_itself_alone():
    rows, cols, lengths = new_links(Nearest(4), np.array([X[7], X[7] + 0.01]), X)
    np.testing.assert_array_equal(rows, [0, 1, 1, 1, 1])
    assert cols[0] == 7 and lengths[0] == 0.0
    none = new_links(Within(0.5), np.full((2, 3), 1e6), X)
    assert all(len(part) == 0 for part in none)


def test_what_has_no_lengths_or_leads_one_way_is_refused():
    with pytest.raises(ParameterError, match="hold both ways"):
        Geodesics.of(Graph.nearest(X, 3))
    with pytest.raises(ParameterError, match="similarities have no length"):
        Geodesics.of(Graph.of_edges([0], [1]))
    with pytest.raises(DataError, match="must not be negative: row 0, column 1 is -1"):
        new_links(Nearest(1, "precomputed"), [[0.0, -1.0]], None)

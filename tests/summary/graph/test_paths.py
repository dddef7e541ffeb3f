"""Shortest paths: SciPy's Dijkstra to the last bit, laws of a metric, and edges of length zero."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist

from assay.errors import DataError, ParameterError
from assay.summary.graph import _paths_kernels as kernels
from assay.summary.graph import paths
from assay.summary.graph.graph import Graph
from assay.summary.graph.paths import shortest_paths

LENGTHS = {
    "uniform": lambda rng, m: rng.random(m),
    "of very different sizes": lambda rng, m: np.exp(10 * rng.standard_normal(m)),
    "0, 1 or 2": lambda rng, m: rng.integers(0, 3, m) * 1.0,
    "powers of two": lambda rng, m: 2.0 ** -rng.integers(0, 40, m),
    "zero": lambda rng, m: np.zeros(m),
    "1e300": lambda rng, m: rng.random(m) * 1e300,
    "1e-300": lambda rng, m: rng.random(m) * 1e-300,
}


def random_graph(seed, n, m, kind="uniform"):
    rng = np.random.default_rng(seed)
    ends = np.unique(rng.integers(0, n, (m, 2)), axis=0)
    return sparse.csr_array((LENGTHS[kind](rng, len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.floats(0, 6), st.sampled_from(list(LENGTHS)))
def test_paths_equal_scipys_to_the_last_bit(seed, n, density, kind):
    W = random_graph(seed, n, int(density * n), kind)
    np.testing.assert_array_equal(shortest_paths(W), csgraph.dijkstra(W))
    np.testing.assert_array_equal(shortest_paths(W, by="hops"), csgraph.dijkstra(W, unweighted=True))


@pytest.mark.parametrize("kind", LENGTHS)
def test_buckets_and_heap_give_the_same_bits(kind):
    W = random_graph(1, 500, 3000, kind)
    starts, ends = W.indptr.astype(np.int64), W.indices.astype(np.int32)
    width, buckets = paths._buckets(W.data)
    nodes = np.arange(500)
    by_heap, by_either = np.empty((500, 500)), np.empty((500, 500))
    kernels.lengths_from(starts, ends, W.data, nodes, 1.0, 0, by_heap)
    kernels.lengths_from(starts, ends, W.data, nodes, width, buckets, by_either)
    np.testing.assert_array_equal(by_heap, by_either)
    np.testing.assert_array_equal(by_heap, csgraph.dijkstra(W))


def test_a_graph_made_to_be_visited_again_and_again_is_left_to_the_heap():
    # each node offers the next a detour that is found first and corrected later, at ever smaller lengths: visits
    # double from node to node where order is not kept
    m = 40
    rows = np.concatenate([np.repeat(2 * np.arange(m), 2), 2 * np.arange(m) + 1])
    cols = np.concatenate([np.column_stack([2 * np.arange(m) + 2, 2 * np.arange(m) + 1]).ravel(), 2 * np.arange(m) + 2])
    step = 2.0 ** -np.arange(m)
    lengths = np.concatenate([np.column_stack([step, step / 8]).ravel(), step / 8])
    W = sparse.csr_array((lengths, (rows, cols)), shape=(2 * m + 1, 2 * m + 1))
    starts, ends = W.indptr.astype(np.int64), W.indices.astype(np.int32)
    upper = np.full(2 * m + 1, np.inf)
    upper[0] = 0.0
    assert not kernels.by_buckets(starts, ends, W.data, 0, 10.0, 3, upper)
    out = np.empty((1, 2 * m + 1))
    kernels.lengths_from(starts, ends, W.data, np.array([0]), 10.0, 3, out)
    np.testing.assert_array_equal(out, csgraph.dijkstra(W, indices=[0]))


def test_some_sources_are_the_rows_of_all():
    W = random_graph(2, 80, 300)
    everything = shortest_paths(W)
    np.testing.assert_array_equal(shortest_paths(W, [7, 3, 7]), everything[[7, 3, 7]])
    np.testing.assert_array_equal(shortest_paths(W, 5), everything[[5]])
    assert shortest_paths(W, []).shape == (0, 80)


def test_paths_on_a_neighbour_graph_are_a_metric():
    X = np.random.default_rng(3).standard_normal((150, 3))
    part = Graph.nearest(X, 6).symmetrised().largest_component()
    graph = part.graph
    D = graph.shortest_paths()
    np.testing.assert_allclose(D, D.T, rtol=1e-12)
    assert not D.diagonal().any() and np.isfinite(D).all()
    assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-12).all()
    hops = graph.shortest_paths(by="hops")
    np.testing.assert_array_equal(hops, hops.T)
    # no path is longer than its fewest edges times the longest edge, nor shorter than the straight line
    longest = graph.weights.data.max()
    assert (hops * longest * (1 + 1e-12) >= D).all()
    assert (cdist(X[part.nodes], X[part.nodes]) * (1 - 1e-12) <= D).all()


def test_an_edge_of_length_zero_is_an_edge():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [5.0]])
    graph = Graph.nearest(X, 2).symmetrised()
    D = graph.shortest_paths()
    np.testing.assert_array_equal(D, np.abs(X - X.T))
    only_zero = Graph.of_edges([0], [1], [0.0], meaning="distance")
    np.testing.assert_array_equal(only_zero.shortest_paths(), [[0, 0], [0, 0]])
    np.testing.assert_array_equal(only_zero.shortest_paths(by="hops"), [[0, 1], [1, 0]])


def test_what_cannot_be_reached_is_infinitely_far():
    graph = Graph.of_edges([0, 2], [1, 3], [1.0, 1.0], n=5, meaning="distance")
    D = graph.shortest_paths()
    assert np.isinf(D[0, 2:]).all() and np.isinf(D[4, :4]).all() and D[4, 4] == 0


def test_progress_is_told_and_an_interrupt_stops_the_work(monkeypatch):
    monkeypatch.setattr(paths, "_EDGES_PER_CHUNK", 2000)
    W = random_graph(4, 100, 500)
    told = []
    shortest_paths(W, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (100, 100) and len(told) > 10 and told == sorted(told)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shortest_paths(W, progress=stop)


def test_lengths_and_sources_that_make_no_sense_are_refused_with_their_place():
    W = random_graph(5, 10, 30)
    bad = W.copy()
    bad.data[3] = -0.5
    rows = np.repeat(np.arange(10), np.diff(W.indptr))
    with pytest.raises(
        DataError, match=rf"found -0.5 on the edge from node {rows[3]} to node {W.indices[3]}; leave out"
    ):
        shortest_paths(bad)
    bad.data[3] = np.nan
    with pytest.raises(DataError, match=r"lengths must be finite and not negative, found nan"):
        shortest_paths(bad)
    assert np.isfinite(shortest_paths(bad, by="hops")).any()
    with pytest.raises(ParameterError, match=r"sources must be nodes 0 to 9, got 10 at place 1"):
        shortest_paths(W, [0, 10])
    with pytest.raises(ParameterError, match=r"sources must be a list of node numbers"):
        shortest_paths(W, [0.5])
    with pytest.raises(ParameterError, match=r'by must be "length" or "hops", got \'time\''):
        shortest_paths(W, by="time")
    with pytest.raises(ParameterError, match=r'similarities have no length. Use by="hops"'):
        Graph.of_edges([0], [1]).shortest_paths()

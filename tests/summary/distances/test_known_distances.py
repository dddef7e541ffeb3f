"""Sparse distances: what is absent is not known and farther, never 0."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.manifold import Isomap as PeerIsomap
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph, radius_neighbors_graph

from assay import (
    MDS,
    TSNE,
    Agglomerative,
    ClassicalMDS,
    Isomap,
    NetworkEmbedding,
    SpectralClustering,
    fidelity,
    isomap_scales,
)
from assay.errors import DataError
from assay.models.embedding.isomap.new_links import new_links
from assay.summary.graph.graph import Graph
from assay.summary.graph.options import Nearest, Within
from assay.summary.graph.perplexity import affinities, graph_affinities


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    found = rng.standard_normal((300, 3))
    found[1] = found[0]  # copies: a distance of 0 that is known
    return found


@pytest.fixture(scope="module")
def all_of(rows):
    return squareform(pdist(rows))


@pytest.fixture(scope="module")
def given(rows, all_of):
    found = kneighbors_graph(rows, 20, mode="distance")
    found.data = all_of[np.repeat(np.arange(300), 20), found.indices]  # the same digits: descents enlarge the last one
    return found


@pytest.mark.parametrize(
    "model",
    [
        Isomap(graph=Nearest(5, "precomputed")),
        Isomap(graph=Nearest(5, "precomputed"), geodesics="hops"),
        NetworkEmbedding(2, graph=Nearest(5, "precomputed")),
        TSNE(perplexity=5, metric="precomputed"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_enough_neighbours_give_the_map_of_all_distances(model, given, all_of):
    of_all = model.fit(all_of).embedding_
    np.testing.assert_allclose(model.fit(given).embedding_, of_all, rtol=1e-9, atol=1e-9 * np.abs(of_all).max())


def test_enough_neighbours_give_the_groups_of_all_distances(given, all_of):
    model = SpectralClustering(3, graph=Nearest(8, "precomputed"))
    of_all = model.fit(all_of).labels_.copy()
    np.testing.assert_array_equal(model.fit(given).labels_, of_all)


def test_isomap_is_scikit_learns_on_the_same_sparse_distances(rows):
    distinct = rows[1:]  # copies without a distance are no neighbours to scikit-learn's paths
    given = KNeighborsTransformer(mode="distance", n_neighbors=20).fit_transform(distinct)
    ours = Isomap(2, graph=Nearest(6, "precomputed")).fit(given).embedding_
    peer = PeerIsomap(n_neighbors=6, metric="precomputed").fit_transform(given)
    np.testing.assert_allclose(pdist(ours), pdist(peer), rtol=1e-6, atol=1e-6)


def test_the_perplexity_asked_for_is_reached_along_the_known_alone(rows, given):
    found = affinities(given, 5.0, "precomputed")
    np.testing.assert_allclose(found.reached, 5.0, atol=1e-5)
    np.testing.assert_allclose(found.P.toarray(), graph_affinities(Graph.nearest(rows, 15), 5.0).P.toarray(), atol=1e-9)


def test_a_complete_sparse_matrix_is_the_dense_one(all_of):
    D = all_of[:40, :40]
    i, j = np.nonzero(~np.eye(40, dtype=bool))
    whole = sparse.csr_array((D[i, j], (i, j)), shape=D.shape)  # the 0 between copies is stored
    assert whole.nnz == 40 * 39
    found, of_all = (affinities(X, 5.0, "precomputed").P.toarray() for X in (whole, D))
    np.testing.assert_allclose(found, of_all, rtol=1e-9)
    for model in (
        Agglomerative(3, metric="precomputed", linkage="average"),
        ClassicalMDS(2, metric="precomputed"),
        MDS(2, metric="precomputed"),
    ):
        kept = vars(model.fit(D)).copy()
        name = "merges_" if isinstance(model, Agglomerative) else "embedding_"
        np.testing.assert_allclose(getattr(model.fit(whole), name), kept[name], rtol=1e-9, atol=1e-9)


def test_stored_zeros_join_copies_and_the_diagonal_says_nothing(rows, given):
    with_own = KNeighborsTransformer(mode="distance", n_neighbors=20).fit_transform(rows)
    graphs = [Graph.nearest(D, 4, "precomputed").weights for D in (with_own, given)]
    assert graphs[0][0, 1] == 0.0
    assert 1 in graphs[0].indices[: graphs[0].indptr[1]]
    np.testing.assert_array_equal(graphs[0].indices, graphs[1].indices)
    np.testing.assert_allclose(graphs[0].data, graphs[1].data, rtol=1e-9, atol=1e-12)


def test_within_takes_what_is_known_to_be_near_given_one_way_or_both(rows, given, all_of):
    near = radius_neighbors_graph(rows, 1.0, mode="distance")
    of_all = Graph.within(all_of, 0.8, "precomputed").weights
    known = Graph.within(near, 0.8, "precomputed").weights
    one_way = Graph.within(sparse.triu(near), 0.8, "precomputed").weights
    for found in (known, one_way):
        np.testing.assert_array_equal(found.indptr, of_all.indptr)
        np.testing.assert_array_equal(found.indices, of_all.indices)
        np.testing.assert_allclose(found.data, of_all.data, rtol=1e-9)
    assert Graph.within(sparse.csr_array((3, 3)), 1.0, "precomputed").edge_count == 0


def test_new_rows_are_placed_by_their_known_distances(rows, given, all_of):
    new = cdist(np.random.default_rng(1).standard_normal((7, 3)), rows)
    far = np.sort(new, axis=1)[:, 30:31]
    i, j = np.nonzero(new < far)
    known = sparse.csr_array((new[i, j], (i, j)), shape=new.shape)
    isomap = Isomap(graph=Nearest(5, "precomputed")).fit(all_of)
    np.testing.assert_allclose(isomap.transform(known), isomap.transform(new), rtol=1e-9)
    radius = Within(float(far.min()) * 0.99, "precomputed")
    for some, of_all in zip(new_links(radius, known, None), new_links(radius, new, None), strict=True):
        np.testing.assert_array_equal(some, of_all)
    tsne = TSNE(perplexity=5, metric="precomputed").fit(given)
    np.testing.assert_allclose(tsne.transform(known), tsne.transform(new), rtol=1e-6)


def test_scales_are_tried_on_sparse_distances(given, all_of):
    found, of_all = (
        isomap_scales(D, n_neighbors=[5, 10], metric="precomputed").residual_variance for D in (given, all_of)
    )
    np.testing.assert_allclose(found, of_all, rtol=1e-6)


def test_a_row_that_knows_fewer_than_asked_is_named_with_the_numbers(given):
    lacking = given.tolil()
    lacking[7] = 0.0
    lacking[7, 3] = 1.0
    with pytest.raises(DataError, match=r"5 neighbours of each row .* row 7 .* has 1 known .* ask for at most 1"):
        Isomap(graph=Nearest(5, "precomputed")).fit(lacking.tocsr())
    with pytest.raises(
        DataError, match="25 neighbours .* has 20 known distances to others \\(300 rows have too few\\)"
    ):
        SpectralClustering(3, graph=Nearest(25, "precomputed")).fit(given)
    with pytest.raises(DataError, match="perplexity 30 takes the 90 nearest .* 20 known .* perplexity of at most 6.67"):
        TSNE(perplexity=30, metric="precomputed").fit(given)
    assert TSNE(metric="precomputed", max_iter=250, tol=1.0).fit(given).perplexity_ == pytest.approx(20 / 3)


@pytest.mark.parametrize(
    "model",
    [
        Agglomerative(2, metric="precomputed"),
        ClassicalMDS(2, metric="precomputed"),
        MDS(2, metric="precomputed"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_needs_all_distances_refuses_a_part_of_them(model, given):
    with pytest.raises(
        DataError, match="83700 of 89700 pairs are absent: these are not known, not 0, and all are needed"
    ):
        model.fit(given)


def test_a_map_is_not_judged_by_a_part_of_the_distances(rows, given):
    with pytest.raises(DataError, match="83700 of 89700 pairs are absent"):
        fidelity(given, rows[:, :2], metric="precomputed")


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_known_distances_are_finite_and_not_negative(given, wrong):
    bad = given.copy()
    bad.data[25] = wrong
    with pytest.raises(DataError, match="row 1, column .* is (-1|nan|inf)"):
        Isomap(graph=Nearest(5, "precomputed")).fit(bad)


def test_two_ways_that_differ_are_no_radius(given):
    bad = sparse.csr_array([[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(DataError, match="between rows 0 and 1 .* 1 and 2 are given"):
        Isomap(graph=Within(3.0, "precomputed")).fit(bad)


def test_memory_follows_the_known_not_the_square_of_the_rows():
    n = 50_000  # 20 GB as a dense matrix
    line = sparse.diags_array([1.0, 2.0, 1.0, 2.0], offsets=[1, 2, -1, -2], shape=(n, n)).tocsr()
    tracemalloc.start()
    graph = Graph.nearest(line, 2, "precomputed")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert graph.weights.nnz == 2 * n
    assert peak < 50 * 8 * line.nnz

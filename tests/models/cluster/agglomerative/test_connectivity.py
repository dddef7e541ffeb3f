"""Merges along a graph are scikit-learn's; those by centres SciPy's, inversions included."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.cluster.hierarchy as peer
import sklearn.cluster as peers
from bokeh.models import ColumnDataSource, LegendItem
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.cluster._agglomerative import _hc_cut
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

import assay
from assay import Agglomerative, Graph, Nearest
from assay.errors import Caution, DataError, ParameterError
from assay.summary.graph.merge_table import cut, inversions, whole_at

# its top is nearer to the middle of its base than that is long
TRIANGLE = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.8]])


def normal(n=80, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("linkage", ["centroid", "median"])
@pytest.mark.parametrize("d", [1, 2, 10])
def test_merges_by_centres_are_those_of_scipy(linkage, d):
    X = normal(120, d)
    ours, theirs = Agglomerative(5, linkage=linkage).fit(X), peer.linkage(X, linkage)
    np.testing.assert_array_equal(ours.merges_[:, [0, 1, 3]], theirs[:, [0, 1, 3]])
    # squares are right to 1e-9, and each merge subtracts shares of them
    np.testing.assert_allclose(ours.distances_, theirs[:, 2], rtol=1e-7)
    given = Agglomerative(5, linkage=linkage, metric="precomputed").fit(pdist(X))
    np.testing.assert_allclose(given.merges_, ours.merges_, rtol=1e-7)


@pytest.mark.parametrize("linkage", ["centroid", "median"])
def test_cuts_of_a_tree_with_inversions_are_those_of_scipy_and_scikit_learn(linkage):
    X = normal(120, 2)
    model = Agglomerative(linkage=linkage).fit(X)
    Z = model.merges_
    assert len(model.inversions_) > 0 and not peer.is_monotonic(Z)
    np.testing.assert_allclose(whole_at(Z), peer.maxdists(Z))
    for height in np.quantile(Z[:, 2], [0.2, 0.5, 0.9]):
        assert adjusted_rand_score(cut(Z, height=height), peer.fcluster(Z, height, "distance")) == 1.0
    for k in (2, 5, 30):
        labels = cut(Z, n_clusters=k)
        # scikit-learn's, because SciPy's cut_tree sorts by height and leaves fewer groups than asked for
        assert adjusted_rand_score(labels, _hc_cut(k, model.children_, 120)) == 1.0
        assert labels.max() + 1 == k


def test_a_triangle_is_merged_below_its_base():
    model = Agglomerative(1, linkage="centroid").fit(TRIANGLE)
    assert model.distances_ == pytest.approx([2.0, 1.8])
    assert model.inversions_.tolist() == [1]
    assert model.cut(height=1.9).tolist() == [0, 1, 2]
    assert model.cut(height=2.0).tolist() == [0, 0, 0]
    assert inversions(Agglomerative().fit(TRIANGLE).merges_).tolist() == []


def test_inversions_are_drawn_where_they_are_and_said():
    drawn = assay.plot(Agglomerative(2, linkage="centroid").fit(TRIANGLE))
    told = " ".join(str(item.label) for item in drawn.select(LegendItem))
    assert "1 merge is lower than one of the parts" in told and "cut at" not in told  # no height leaves two groups
    (forks,) = (source.data for source in drawn.select(ColumnDataSource) if "height" in source.data)
    assert dict(zip(forks["height"], np.round(forks["x"], 9), strict=True)) == {"1.8": 0.9, "2": 1.0}


@pytest.mark.parametrize("linkage", ["centroid", "median"])
def test_a_new_row_goes_to_the_nearest_centre(linkage):
    X, new = normal(60, 2), normal(20, 2, 1)
    model = Agglomerative(4, linkage=linkage).fit(X)

    def centre(node):  # by the definition, down the tree
        if node < 60:
            return X[node], 1
        (a, m), (b, n) = (centre(child) for child in model.children_[node - 60])
        return ((a + b) / 2 if linkage == "median" else (m * a + n * b) / (m + n)), m + n

    tops = sorted(set(range(60 + 56)) - set(model.children_[:56].ravel()))
    centres = {model.labels_[leaf]: centre(top)[0] for top in tops for leaf in [_leaf(model, top)]}
    distance = np.stack([np.linalg.norm(new - centres[group], axis=1) for group in range(4)], axis=1)
    np.testing.assert_array_equal(model.predict(new), distance.argmin(axis=1))


def _leaf(model, node):
    while node >= model.n_leaves_:
        node = int(model.children_[node - model.n_leaves_, 0])
    return node


@pytest.mark.parametrize("linkage", ["ward", "single", "complete", "average"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_merges_along_a_graph_are_those_of_scikit_learn(linkage, metric):
    if linkage == "ward" and metric != "euclidean":
        pytest.skip("refused by both")
    X = normal(150, 4)
    links = kneighbors_graph(X, 6, include_self=False)
    theirs = peers.AgglomerativeClustering(
        4, linkage=linkage, metric=metric, connectivity=links, compute_full_tree=True, compute_distances=True
    ).fit(X)
    ours = Agglomerative(4, linkage=linkage, metric=metric, connectivity=links).fit(X)
    np.testing.assert_allclose(np.sort(ours.distances_), np.sort(theirs.distances_), rtol=1e-9, atol=1e-14)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    assert ours.n_connected_components_ == theirs.n_connected_components_ == 1


def test_pixels_are_merged_with_their_neighbours_only():
    rng = np.random.default_rng(0)
    shape = (12, 10)
    X = (np.arange(120).reshape(shape) // 30 + rng.normal(scale=0.3, size=shape)).reshape(-1, 1)
    links = grid_to_graph(*shape)
    ours = Agglomerative(5, connectivity=links).fit(X)
    theirs = peers.AgglomerativeClustering(5, connectivity=links).fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    for group in range(5):
        own = np.flatnonzero(ours.labels_ == group)
        inside = sparse.csr_array(links)[own][:, own]
        assert sparse.csgraph.connected_components(inside)[0] == 1


@pytest.mark.parametrize("linkage", ["ward", "average"])
def test_what_the_graph_leaves_apart_is_joined_with_a_warning_as_by_scikit_learn(linkage):
    X = np.vstack([normal(30), normal(30, seed=1) + 6.0, normal(20, seed=2) - 7.0])
    links = sparse.block_diag([kneighbors_graph(part, 5) for part in (X[:30], X[30:60], X[60:])]).tocsr()
    with pytest.warns(Caution, match="falls into 3 parts"):
        ours = Agglomerative(4, linkage=linkage, connectivity=links).fit(X)
    with pytest.warns(UserWarning, match="3 > 1"):
        theirs = peers.AgglomerativeClustering(4, linkage=linkage, connectivity=links, compute_distances=True).fit(X)
    assert ours.n_connected_components_ == 3
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    assert ours.distances_[-1] == pytest.approx(theirs.distances_[-1])


def test_a_graph_is_given_in_any_form():
    X = normal(60)
    sparse_one = kneighbors_graph(X, 8)
    forms = [
        sparse_one,
        sparse_one.toarray(),
        lambda rows: kneighbors_graph(rows, 8),
        Nearest(8),
        Graph.nearest(X, 8),
    ]
    found = [Agglomerative(3, connectivity=form).fit(X).merges_ for form in forms]
    for merges in found[1:]:
        np.testing.assert_allclose(merges, found[0], rtol=1e-12)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    given = Agglomerative(3, linkage="average", metric="precomputed", connectivity=sparse_one).fit(D)
    by_rows = Agglomerative(3, linkage="average", connectivity=sparse_one).fit(X)
    np.testing.assert_allclose(given.merges_, by_rows.merges_, rtol=1e-9)


def test_a_complete_graph_changes_nothing():
    X = normal(50)
    for linkage in ("ward", "single", "complete", "average"):
        free = Agglomerative(3, linkage=linkage).fit(X)
        linked = Agglomerative(3, linkage=linkage, connectivity=np.ones((50, 50))).fit(X)
        np.testing.assert_allclose(linked.merges_, free.merges_, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"linkage": "ward", "metric": "manhattan"}, ParameterError, "ward linkage compares the centres .* 'average'"),
        ({"linkage": "centroid", "metric": "cosine"}, ParameterError, "centroid linkage compares the centres"),
        (
            {"linkage": "median", "connectivity": np.ones((9, 9))},
            ParameterError,
            "median linkage knows no connectivity",
        ),
        ({"connectivity": Nearest(2, "precomputed")}, ParameterError, "connectivity cannot be .* or it is distances"),
        ({"connectivity": np.ones((3, 3))}, DataError, r"connectivity must be \(9, 9\), .* has shape \(3, 3\)"),
    ],
)
def test_what_has_no_meaning_is_refused(options, error, text):
    with pytest.raises(error, match=text):
        Agglomerative(2, **options).fit(normal(9))


def test_wards_linkage_along_a_graph_needs_rows():
    D = np.linalg.norm(normal(9)[:, None] - normal(9), axis=2)
    with pytest.raises(ParameterError, match="needs rows and metric 'euclidean'; got 'precomputed'"):
        Agglomerative(2, metric="precomputed", connectivity=np.ones((9, 9))).fit(D)
    with pytest.raises(DataError, match="falls into 600 parts"):
        Agglomerative(2, connectivity=np.zeros((600, 600))).fit(normal(600))

"""Agglomerative: R's published heights, scikit-learn's and SciPy's merges, cuts, dissimilarities and refusals."""

from pathlib import Path

import numpy as np
import pytest
import sklearn.cluster as peers
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import adjusted_rand_score

import assay
from assay import Agglomerative
from assay.errors import DataError, ParameterError

ARRESTS = next(p for p in Path(__file__).parents if p.name == "tests").parent / "examples" / "data" / "us_arrests.csv"
LINKAGES = ["single", "complete", "average", "ward"]


@pytest.fixture(scope="module")
def arrests():
    """Arrests per 100,000 for murder, assault and rape, and urban population, in 50 states (McNeil 1977)."""
    return np.loadtxt(ARRESTS, delimiter=",", skiprows=1, usecols=(1, 2, 3, 4))


@pytest.fixture(scope="module")
def states():
    return [line.split(",")[0] for line in ARRESTS.read_text().splitlines()[1:]]


def normal(n=60, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_the_bundled_arrests_have_the_means_that_r_prints(arrests):
    assert arrests.mean(axis=0) == pytest.approx([7.788, 170.76, 65.54, 21.232])


def test_heights_of_the_arrests_are_those_of_r(arrests):
    complete = Agglomerative(linkage="complete").fit(arrests).distances_
    assert complete[:5] == pytest.approx([2.291288, 3.834058, 3.929377, 6.236986, 6.637771], abs=5e-7)
    assert complete[-1] == pytest.approx(293.622751, abs=5e-7)
    # hclust(dist(USArrests), "average") as networkD3's documentation of dendroNetwork prints it, from the root down
    average = Agglomerative(linkage="average").fit(arrests).distances_
    printed = [
        152.313999380806, 77.6050243110769, 44.283921672634, 39.3946331306859, 38.5279119600323, 28.0122112970931,
        26.3634282396782, 16.8914988216046, 15.4544491975612, 15.4531200289137, 13.8960426021224,
    ]  # fmt: skip
    for height in printed:
        assert np.abs(average / height - 1).min() < 1e-13
    assert average[-1] == pytest.approx(printed[0], rel=1e-13)


def test_florida_and_north_carolina_stand_apart_as_in_r(arrests, states):
    model = Agglomerative(linkage="average").fit(arrests)
    pair = sorted((states.index("Florida"), states.index("North Carolina")))
    assert model.distances_[model.children_.tolist().index(pair)] == pytest.approx(38.5279119600323, rel=1e-13)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("k", [2, 3, 7])
def test_iris_is_clustered_as_by_scikit_learn(linkage, k):
    # rows of iris repeat and tie; a little noise leaves one answer
    X = load_iris().data + 1e-4 * normal(150, 4)
    ours = Agglomerative(k, linkage=linkage).fit(X)
    peer = peers.AgglomerativeClustering(k, linkage=linkage, compute_distances=True).fit(X)
    assert adjusted_rand_score(ours.labels_, peer.labels_) == 1.0
    np.testing.assert_allclose(ours.distances_, np.sort(peer.distances_), rtol=1e-10)


def test_single_linkage_tells_two_moons_apart_and_ward_does_not():
    X, moon = make_moons(400, noise=0.04, random_state=0)
    assert adjusted_rand_score(Agglomerative(2, linkage="single").fit_predict(X), moon) == 1.0
    assert adjusted_rand_score(Agglomerative(2, linkage="ward").fit_predict(X), moon) < 0.9


@pytest.mark.parametrize("linkage", LINKAGES)
def test_rows_their_distances_and_the_condensed_form_give_the_same_merges(linkage):
    X = normal()
    rows = Agglomerative(4, linkage=linkage).fit(X)
    for D in (squareform(pdist(X)), pdist(X)):
        given = Agglomerative(4, linkage=linkage, metric="precomputed").fit(D)
        np.testing.assert_allclose(given.merges_, rows.merges_, rtol=1e-12)
        np.testing.assert_array_equal(given.labels_, rows.labels_)


def test_the_merges_can_be_drawn_by_scipy():
    model = Agglomerative().fit(normal())
    assert is_valid_linkage(model.merges_)
    assert sorted(dendrogram(model.merges_, no_plot=True)["leaves"]) == list(range(60))
    assert (model.n_leaves_, model.n_clusters_) == (60, 2)


def test_a_threshold_leaves_the_groups_that_are_further_apart():
    X = np.array([[0.0], [1.0], [5.0], [6.0], [20.0]])
    model = Agglomerative(linkage="single", distance_threshold=4.0).fit(X)
    assert (model.labels_.tolist(), model.n_clusters_) == ([0, 0, 0, 0, 1], 2)
    model = Agglomerative(None, linkage="single", distance_threshold=3.9).fit(X)
    assert (model.labels_.tolist(), model.n_clusters_) == ([0, 0, 1, 1, 2], 3)
    assert model.cut(height=4.0).tolist() == [0, 0, 0, 0, 1]
    assert model.cut(n_clusters=5).tolist() == [0, 1, 2, 3, 4]


def test_coarser_groups_are_unions_of_finer_ones():
    model = Agglomerative().fit(normal(200))
    fine = model.cut(n_clusters=20)
    for k in (15, 7, 2):
        coarse = model.cut(n_clusters=k)
        assert len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == 20


def test_a_file_is_clustered_by_its_numbers(arrests):
    columns = assay.read(ARRESTS)
    model = Agglomerative(3).fit(columns)
    assert model.n_leaves_ == 50
    assert model.feature_names_in_[:2].tolist() == ["murder", "assault"]
    np.testing.assert_allclose(model.merges_, Agglomerative(3).fit(arrests).merges_)


def test_more_columns_than_rows_constant_rows_and_two_rows():
    wide = Agglomerative().fit(normal(5, 500))
    assert is_valid_linkage(wide.merges_)
    constant = Agglomerative(3).fit(np.ones((6, 2)))
    assert constant.distances_.tolist() == [0.0] * 5 and constant.n_clusters_ == 3
    assert Agglomerative(distance_threshold=0.0).fit(np.ones((6, 2))).n_clusters_ == 1
    assert Agglomerative().fit([[0.0], [3.0]]).merges_.tolist() == [[0.0, 1.0, 3.0, 2.0]]


def test_one_row_is_one_group():
    model = Agglomerative(1).fit([[5.0]])
    assert model.labels_.tolist() == [0] and model.merges_.shape == (0, 4)
    with pytest.raises(ParameterError, match=r"n_clusters must be between 1 and 1 \(n_samples=1\), is 2"):
        Agglomerative(2).fit([[5.0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 9}, r"n_clusters must be between 1 and 6 \(n_samples=6\), is 9"),
        ({"n_clusters": 0}, "n_clusters must be between 1 and 6"),
        (
            {"n_clusters": 2, "distance_threshold": 1.0},
            "n_clusters or distance_threshold, not both; got 2 and 1.0",
        ),
        ({"distance_threshold": "low"}, "distance_threshold is a number of at least 0; got 'low'"),
        ({"distance_threshold": -1.0}, "distance_threshold is a number of at least 0; got -1.0"),
        ({"linkage": "mean"}, "linkage is one of 'ward', .*, 'centroid', 'median'; got 'mean'"),
        ({"metric": "taxi"}, "metric must be .* or a function of two rows, is 'taxi'"),
    ],
)
def test_options_that_are_none_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        Agglomerative(**options).fit(normal(6, 2))


def test_what_is_not_finite_is_refused_with_its_place():
    X = normal(6, 2)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match="row 3, column 1"):
        Agglomerative().fit(X)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((1, 2), -1.0, r"must not be negative: row 1, column 2 \(counted from 0\) is -1"),
        ((4, 4), 3.0, r"must be 0 on the diagonal: row 4, column 4 \(counted from 0\) is 3"),
    ],
)
def test_what_are_no_dissimilarities_is_refused_with_its_place(place, value, message):
    D = squareform(pdist(normal(6, 2)))
    D[place] = D[place[::-1]] = value
    with pytest.raises(DataError, match=message):
        Agglomerative(metric="precomputed").fit(D)


def test_dissimilarities_that_are_not_symmetric_are_refused():
    D = squareform(pdist(normal(6, 2)))
    D[0, 1] += 1.0
    with pytest.raises(DataError, match="must be symmetric: row 0, column 1"):
        Agglomerative(metric="precomputed").fit(D)


@pytest.mark.parametrize("linkage", ["ward", "complete", "average", "single"])
def test_a_new_row_joins_the_group_it_would_be_merged_into_next(linkage):
    """By SciPy's distances; a fitted row keeps its group."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3)) + rng.integers(0, 3, (60, 1)) * 2.0
    new = rng.normal(size=(25, 3)) * 2.0
    model = Agglomerative(4, linkage=linkage).fit(X)
    D = cdist(new, X)
    groups = [model.labels_ == g for g in range(4)]
    apart = {
        "single": lambda own: D[:, own].min(axis=1),
        "complete": lambda own: D[:, own].max(axis=1),
        "average": lambda own: D[:, own].mean(axis=1),
        "ward": lambda own: np.sqrt(own.sum() / (own.sum() + 1)) * np.linalg.norm(new - X[own].mean(axis=0), axis=1),
    }[linkage]
    np.testing.assert_array_equal(model.predict(new), np.argmin([apart(own) for own in groups], axis=0))
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_dissimilarities_say_nothing_about_new_rows():
    D = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    model = Agglomerative(2, metric="precomputed").fit(D)
    with pytest.raises(AttributeError, match="has no attribute 'predict'"):
        model.predict(D)

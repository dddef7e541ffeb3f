"""Every metric means what scikit-learn and SciPy mean by it; Gower's what R's daisy means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, squareform
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from assay.data.read import read
from assay.errors import DataError, ParameterError
from assay.evidence.fidelity import fidelity
from assay.models.embedding.isomap.new_links import new_links
from assay.models.embedding.mds.mds import MDS
from assay.summary.distances.metrics import Gower, distances, nearest, pair_distances, within
from assay.summary.graph.graph import Graph
from assay.summary.graph.options import Nearest, Within

NAMES = ["euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming"]


def halves(x, y):
    return float(np.sqrt(np.abs(x - y)).sum())


def table(metric, n=90, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n, 6)).astype(float) if metric == "hamming" else rng.normal(size=(n, 6)) + 3.0


@pytest.mark.parametrize("metric", [*NAMES, halves])
def test_distances_are_those_of_scikit_learn(metric):
    X, Y = table(metric), table(metric, 40, 1)
    # sums of six terms of order one, and for the cosine squares of differences of unit rows
    np.testing.assert_allclose(distances(X, metric, Y), pairwise_distances(X, Y, metric=metric), atol=1e-13)
    D = distances(X, metric)
    np.testing.assert_allclose(D, pairwise_distances(X, metric=metric), atol=1e-13)
    assert (D == D.T).all() and not np.diag(D).any()
    rows, cols = np.array([0, 5, 7]), np.array([3, 5, 89])
    np.testing.assert_allclose(pair_distances(X, metric, rows, cols), D[rows, cols], atol=1e-13)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "correlation", halves])
def test_neighbours_are_those_of_scikit_learn(metric, monkeypatch):
    monkeypatch.setattr("assay.summary.distances.metrics._TILE", 500)  # several tiles
    X, new = table(metric), table(metric, 30, 1)
    peer = NearestNeighbors(n_neighbors=5, metric=metric, algorithm="brute").fit(X)
    for found, (lengths, indices) in (
        (nearest(X, 5, metric), peer.kneighbors()),
        (nearest(new, 5, metric, X), peer.kneighbors(new)),
    ):
        np.testing.assert_array_equal(found.indices, indices)
        np.testing.assert_allclose(found.distances, lengths, atol=1e-13)


@pytest.mark.parametrize("metric", [*NAMES, "gower", halves])
def test_rows_within_a_radius_are_those_the_distances_say(metric, monkeypatch):
    monkeypatch.setattr("assay.summary.distances.metrics._TILE", 500)
    monkeypatch.setattr("assay.summary.distances.metrics._STRIPE", 300)
    X = table(metric)
    D = distances(X, metric)
    radius = float(np.median(D)) * (1 + 1e-9)
    found = within(X, radius, metric)
    rows, cols = np.nonzero((radius >= D) & ~np.eye(len(D), dtype=bool))
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.cols, cols)
    np.testing.assert_allclose(found.distances, D[rows, cols], atol=1e-13)


def test_equally_near_rows_go_by_their_number():
    X = table("hamming", 60)
    D = distances(X, "hamming")
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(nearest(X, 7, "hamming").indices, np.argsort(D, axis=1, kind="stable")[:, :7])


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_trees_and_tiles_find_the_same_neighbours_with_ties_and_copies(metric, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (150, 3)).astype(float)  # every distance many times
    new = rng.integers(0, 4, (20, 3)) * 1.0
    trees = nearest(X, 6, metric), nearest(new, 6, metric, X)
    monkeypatch.setattr("assay.summary.distances.metrics._FEW", 0)
    tiles = nearest(X, 6, metric), nearest(new, 6, metric, X)
    for a, b in zip(trees, tiles, strict=True):
        assert (a.route, b.route) == ("tree", "tiles")
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_allclose(a.distances, b.distances, rtol=1e-14)


def test_correlation_is_the_same_far_from_zero_and_at_any_size():
    X = table("correlation", 50)
    D = distances(X, "correlation")
    for moved in (X * 1e300, X * 1e-300, X + 1e6):  # 1e6 costs six of sixteen digits
        np.testing.assert_allclose(distances(moved, "correlation"), D, atol=1e-8)


def test_manhattan_survives_numbers_whose_difference_overflows_in_part():
    X = np.array([[8e307, 0.0], [-8e307, 1e300], [0.0, 0.0]])
    assert distances(X, "manhattan")[0, 1] == pytest.approx(1.6e308)


# the example in the README of the package gower on PyPI, and what version 0.1.2 prints for it (single precision)
PEOPLE = {
    "age": [21, 21, 19, 30, 21, 21, 19, 30],
    "gender": ["M", "M", "N", "M", "F", "F", "F", "F"],
    "civil_status": ["MARRIED", "SINGLE", "SINGLE", "SINGLE", "MARRIED", "SINGLE", "WIDOW", "DIVORCED"],
    "salary": [3000.0, 1200.0, 32000.0, 1800.0, 2900.0, 1100.0, 10000.0, 1500.0],
    "has_children": [1, 0, 1, 1, 1, 0, 0, 1],
    "available_credit": [2200, 100, 22000, 1100, 2000, 100, 6000, 2200],
}
PUBLISHED = [
    0.3590238, 0.6707398, 0.3178742, 0.1687281, 0.5262299, 0.5969785, 0.4777876,
    0.6964303, 0.3138769, 0.523629, 0.167206, 0.4560024, 0.6539635,
    0.6552807, 0.6728013, 0.6969697, 0.740428, 0.8151941,
    0.4824794, 0.4810829, 0.7481861, 0.3433228,
    0.3575017, 0.4323733, 0.3121036, 0.2898751, 0.4878362, 0.5747662,
]  # fmt: skip


@pytest.mark.parametrize("given", ["frame", "source"])
def test_gower_of_a_table_with_categories_is_what_the_package_gower_published(given):
    table = pd.DataFrame(PEOPLE)
    model = MDS(2, metric="gower", random_state=0).fit(table if given == "frame" else read(table))
    found = squareform(model.dissimilarity_matrix_, checks=False)
    np.testing.assert_allclose(found, PUBLISHED, atol=1e-6)


def test_gower_worked_by_hand():
    X = np.array([[0.0, 1.0, 0.0], [10.0, 1.0, 1.0], [5.0, np.nan, 2.0], [np.nan, 3.0, 0.0]])
    D = distances(X, Gower.of(X, categorical=(2,)))
    expected = {(0, 1): (1 + 0 + 1) / 3, (0, 2): (0.5 + 1) / 2, (0, 3): (1 + 0) / 2, (1, 2): (0.5 + 1) / 2}
    expected |= {(1, 3): (1 + 1) / 2, (2, 3): 1.0}
    for (i, j), value in expected.items():
        assert D[i, j] == D[j, i] == pytest.approx(value, rel=1e-14)


def test_gower_of_numbers_is_manhattan_over_ranges_and_of_codes_is_hamming():
    X, codes = table("manhattan"), table("hamming")
    scaled = X / np.ptp(X, axis=0)
    np.testing.assert_allclose(distances(X, "gower"), cdist(scaled, scaled, "cityblock") / 6)
    every = Gower.of(codes, categorical=tuple(range(6)))
    np.testing.assert_allclose(distances(codes, every), cdist(codes, codes, "hamming"), atol=1e-15)


def test_gower_keeps_the_ranges_of_the_rows_it_was_fitted_on():
    X = np.array([[0.0], [10.0]])
    metric = Gower.of(X)
    assert distances([[20.0]], metric, X).tolist() == [[2.0, 1.0]]
    assert distances(X[:1], metric, [[5.0]]).tolist() == [[0.5]]


def test_a_constant_column_counts_and_tells_nothing_in_gower():
    X = np.array([[0.0, 7.0], [10.0, 7.0]])
    assert distances(X, "gower")[0, 1] == 0.5


@pytest.mark.parametrize("metric", ["manhattan", "correlation", halves])
def test_graphs_take_every_metric_and_new_rows_are_linked_by_it(metric):
    X, new = table(metric), table(metric, 5, 1)
    D = distances(X, metric)
    np.fill_diagonal(D, np.inf)
    W = Graph.nearest(X, 4, metric).weights.toarray()
    np.testing.assert_allclose(np.sort(W, axis=1)[:, -4:], np.sort(D, axis=1)[:, :4], atol=1e-13)
    E = distances(new, metric, X)
    rows, cols, lengths = new_links(Nearest(3, metric), new, X)
    np.testing.assert_array_equal(cols.reshape(5, 3), np.argsort(E, axis=1)[:, :3])
    np.testing.assert_allclose(lengths, E[rows, cols], atol=1e-13)
    radius = float(np.median(E))
    assert len(new_links(Within(radius, metric), new, X)[0]) == (radius >= E).sum()


def test_a_map_is_judged_by_the_metric_it_was_made_of():
    X = table("manhattan", 60)
    by_name, by_matrix = (
        fidelity(X, X[:, :2], metric="manhattan"),
        fidelity(distances(X, "manhattan"), X[:, :2], metric="precomputed"),
    )
    assert by_name.trustworthiness == by_matrix.trustworthiness
    assert by_name.trustworthiness != fidelity(X, X[:, :2]).trustworthiness


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: distances([[0.0, 0.0], [1.0, 2.0]], "cosine"), "the cosine of a row of zeros is not defined: row 0."),
        (lambda: nearest([[1.0, 2.0], [0.1, 0.1]], 1, "correlation"), "correlation of a constant row .*: row 1."),
        (lambda: distances([[np.nan, 1.0], [1.0, np.nan]], "gower"), "rows 0 and 1 .* no column in which both"),
        (lambda: distances([[np.nan, 1.0], [np.nan, np.nan]], "gower"), "row 1 .* has no value at all"),
        (lambda: distances([[np.nan, 1.0]], "manhattan"), "NaN"),
        (lambda: distances([[np.inf, 1.0]], "gower"), "inf"),
        (lambda: distances([[0.0], [1.0]], lambda x, y: -1.0), "distances of at least 0; this one gave -1"),
        (lambda: distances(np.zeros((20_000, 1)), "manhattan"), "would take 3.0 GiB"),
    ],
)
def test_what_a_metric_cannot_compare_is_refused(call, text):
    with pytest.raises(DataError, match=text):
        call()


def test_an_unknown_metric_is_refused_with_those_there_are():
    with pytest.raises(ParameterError, match='must be "euclidean", "cosine", .* or a function of two rows, is .maha'):
        Graph.nearest([[0.0], [1.0]], 1, "mahalanobis")
    with pytest.raises(ParameterError, match="k must be a whole number from 1 to the 1 rows"):
        nearest([[0.0], [1.0]], 2, "manhattan")
    with pytest.raises(ParameterError, match="the radius must be a finite number"):
        within([[0.0], [1.0]], -1.0, "manhattan")

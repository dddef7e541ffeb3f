"""Dissimilarity matrices: what they must be, and which of them points can have."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from assay.errors import DataError, ParameterError
from assay.summary.distances.dissimilarities import (
    as_dissimilarities,
    completed,
    euclidean_dimension,
    farthest_first,
    new_dissimilarities,
    pair_weights,
)


def distances(X):
    return cdist(X, X)


@pytest.mark.parametrize(("n", "dimension"), [(2, 1), (3, 2), (4, 3), (7, 6)])
def test_points_all_one_apart_need_one_dimension_less_than_they_are(n, dimension):
    found = euclidean_dimension(np.ones((n, n)) - np.eye(n))
    assert found.euclidean and found.dimension == dimension and found.lost == 0.0


def test_the_unit_square_needs_two_dimensions():
    corners = np.array([[0, 0], [0, 1], [1, 1], [1, 0]])
    assert euclidean_dimension(distances(corners)).dimension == 2


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(2, 15), d=st.integers(1, 5), seed=st.integers(0, 999), exponent=st.sampled_from([-300, 0, 150, 300])
)
def test_distances_of_points_are_euclidean_of_their_rank_in_any_unit(n, d, seed, exponent):
    X = np.random.default_rng(seed).standard_normal((n, d))
    found = euclidean_dimension(distances(X) * 10.0**exponent)
    assert found.euclidean and found.dimension == min(d, n - 1)


def test_a_broken_triangle_is_not_euclidean_and_says_by_how_much():
    found = euclidean_dimension([[0, 1, 3], [1, 0, 1], [3, 1, 0]])
    assert not found.euclidean and found.dimension == 1
    # B by hand: eigenvalues 4.5, 0 and -5/6
    assert found.eigenvalues == pytest.approx([4.5, 0.0, -5 / 6])
    assert found.smallest == found.eigenvalues[-1]
    assert found.lost == pytest.approx((5 / 6) / (4.5 + 5 / 6))


def test_a_star_keeps_every_triangle_and_still_is_not_euclidean():
    # three leaves two apart, all one from the hub: in a plane the hub would be the middle of each pair
    found = euclidean_dimension([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]])
    assert not found.euclidean and found.smallest < 0.0


def test_a_looser_tolerance_forgives_rounded_distances():
    D = distances(np.random.default_rng(0).standard_normal((30, 2))).round(4)
    assert not euclidean_dimension(D).euclidean
    assert euclidean_dimension(D, tol=1e-3).euclidean and euclidean_dimension(D, tol=1e-3).dimension == 2


def test_what_is_not_a_dissimilarity_is_refused_by_its_place():
    for wrong, message in [
        ([[0, 1, 2]], r"square matrix, have shape \(1, 3\)"),
        ([[0, 1], [2, 0]], "must be symmetric: row 0, column 1"),
        ([[0, -1], [-1, 0]], "must not be negative: row 0, column 1 .* is -1"),
        ([[1, 0], [0, 1]], "0 on the diagonal: row 0, column 0 .* is 1. Is this a matrix of similarities?"),
        ([[0, np.nan], [np.nan, 0]], "must be finite: row 0, column 1"),
        ([[0, np.inf], [np.inf, 0]], "row 0, column 1 .* is infinite"),
    ]:
        with pytest.raises(DataError, match=message):
            as_dissimilarities(wrong)
    with pytest.raises(DataError, match="row 0, column 1 .* is missing, but row 1, column 0 is 2"):
        as_dissimilarities([[0, np.nan], [2.0, 0]], missing=True)
    with pytest.raises(ParameterError, match="share of the largest eigenvalue"):
        euclidean_dimension([[0, 1], [1, 0]], tol=-1)


def test_rounding_in_a_matrix_is_forgiven_in_any_unit():
    D = distances(np.random.default_rng(1).standard_normal((20, 3)))
    for unit in (1e-300, 1.0, 1e300):
        rough = D * unit
        rough[0, 1] *= 1 + 1e-14
        np.fill_diagonal(rough, 1e-14 * unit)
        fine = as_dissimilarities(rough)
        assert np.array_equal(fine, fine.T) and not np.diag(fine).any()


def test_missing_pairs_stay_missing_where_they_are_allowed():
    D = as_dissimilarities([[0, 1, np.nan], [1, 0, 2], [np.nan, 2, np.nan]], missing=True)
    assert np.isnan(D).sum() == 2 and np.isnan(D[0, 2]) and D[2, 2] == 0.0


def test_new_dissimilarities_are_refused_by_their_place():
    with pytest.raises(DataError, match=r"the 3 fitted ones, \(m, 3\); got \(1, 2\)"):
        new_dissimilarities([[1, 2]], 3)
    with pytest.raises(DataError, match=r"row 1, column 0 .* is -1 \(1 such in all\)"):
        new_dissimilarities([[1, 2], [-1, 2]], 2)
    with pytest.raises(DataError, match="row 0, column 1 .* is nan"):
        new_dissimilarities([[1, np.nan]], 2)
    assert np.isnan(new_dissimilarities([[1, np.nan]], 2, missing=True)[0, 1])


def test_gaps_are_filled_by_ways_no_shorter_than_the_shortest_and_the_known_ones_stay():
    rng = np.random.default_rng(2)
    D = distances(rng.standard_normal((40, 2)))
    gaps = np.triu(rng.random(D.shape) < 0.7, 1)
    known = ~(gaps | gaps.T)
    full = completed(np.where(known, D, np.nan), known)
    shortest = shortest_path(np.where(known, D, 0.0), directed=False)
    assert np.array_equal(full[known], D[known])
    assert (full >= shortest - 1e-12).all() and np.isfinite(full).all()
    assert np.array_equal(full, full.T)


def test_a_chain_is_filled_to_its_ends_and_groups_are_refused():
    n = 100  # longer than any way over one row
    known = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1
    assert completed(np.where(known, 1.0, np.nan) - np.eye(n), known)[0, -1] == pytest.approx(n - 1)
    known[49, 50] = known[50, 49] = False
    with pytest.raises(DataError, match="fall apart into 2 groups: nothing links row 0 and row 50 "):
        completed(np.ones((n, n)), known)


def test_weights_are_refused_where_they_make_no_sense():
    D = np.ones((2, 2)) - np.eye(2)
    with pytest.raises(ParameterError, match=r"shape of the dissimilarities, \(2, 2\); have \(3, 3\)"):
        pair_weights(np.ones((3, 3)), D)
    with pytest.raises(ParameterError, match="not be negative: row 0, column 1 .* is -2"):
        pair_weights([[0, -2], [-2, 0]], D)
    weights, unit = pair_weights(np.full((2, 2), 1e300), D)
    assert np.isfinite(weights).all() and weights[0] * unit == 1e300


def test_farthest_first_covers_the_points_and_takes_no_point_twice():
    X = np.repeat(np.random.default_rng(3).standard_normal((5, 2)), 4, axis=0)
    D = distances(X)
    chosen = farthest_first(20, 9, lambda i: D[i], np.random.default_rng(0))
    assert len(chosen) == 5 and D[:, chosen].min(axis=1).max() == 0.0

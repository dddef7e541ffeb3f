"""The embedding measures: scikit-learn and explicit pairs as oracles, laws, ties, edges, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from scipy.stats import special_ortho_group
from sklearn.manifold import trustworthiness as peer

import assay
from assay.errors import DataError, ParameterError
from assay.evidence import _ranks, fidelity
from assay.summary.distances import pair_fit
from assay.summary.distances import pairwise_blocks as apart

MEASURES = ["trustworthiness", "continuity", "agreement", "stress", "residual_variance"]


def rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def pairs_by_hand(X, Y):
    """Stress and residual variance from all pairs, held."""
    delta, d = pdist(X), pdist(Y)
    scale = delta @ d / (d @ d)
    stress = np.sqrt(np.sum((delta - scale * d) ** 2) / np.sum(delta**2))
    return stress, 1 - np.corrcoef(delta, d)[0, 1] ** 2, scale


@pytest.mark.parametrize(("n", "d", "q", "k"), [(11, 3, 2, 5), (40, 3, 1, 7), (300, 20, 2, 12), (1100, 60, 12, 30)])
def test_trust_and_continuity_agree_with_scikit_learn(n, d, q, k):
    X = rows(n, d)
    Y = X[:, :q] + 0.3 * rows(n, q, 1)
    found = assay.fidelity(X, Y, k)
    assert found.trustworthiness == pytest.approx(peer(X, Y, n_neighbors=k), abs=1e-14)
    assert found.continuity == pytest.approx(peer(Y, X, n_neighbors=k), abs=1e-14)
    assert fidelity.trustworthiness(X, Y, k) == found.trustworthiness
    assert fidelity.continuity(X, Y, k) == found.continuity
    assert fidelity.neighbourhood_agreement(X, Y, k) == pytest.approx(found.agreement, abs=1e-14)


@pytest.mark.parametrize(("n", "d", "q"), [(3, 1, 1), (5, 2, 3), (300, 20, 2), (1100, 9, 9)])
def test_stress_and_residual_variance_are_those_of_the_explicit_pairs(n, d, q):
    X, Y = rows(n, d), 7 * rows(n, q, 1) + 3
    Y[:, 0] += 7 * X[:, 0]
    stress, left, scale = pairs_by_hand(X, Y)
    assert fidelity.stress(X, Y) == pytest.approx(stress, abs=1e-12)
    assert fidelity.residual_variance(X, Y) == pytest.approx(left, abs=1e-12)
    found = pair_fit.pair_fit(apart.RowBlocks(X), apart.RowBlocks(Y), np.arange(n))
    assert found.scale == pytest.approx(scale, rel=1e-12)
    assert found.pairs == n * (n - 1) // 2


@pytest.mark.parametrize("d", [2, 40])
def test_a_map_that_is_the_data_is_perfect(d):
    X = rows(200, d)
    found = assay.fidelity(X, 1000 * X, 9)
    assert found.trustworthiness == found.continuity == found.agreement == found.agreement_beyond_chance == 1.0
    assert found.stress < 1e-12 and found.residual_variance < 1e-12
    assert found.scale == pytest.approx(1e-3, rel=1e-12)
    assert (found.point_trustworthiness == 1.0).all() and (found.point_agreement == 1.0).all()


def test_a_nearly_perfect_map_keeps_the_digits_of_what_is_left():
    X = rows(120, 2)
    Y = X + 1e-9 * rows(120, 2, 1)
    delta, d = pdist(X).astype(np.longdouble), pdist(Y).astype(np.longdouble)
    left = delta - (delta @ d) / (d @ d) * d
    assert fidelity.stress(X, Y) == pytest.approx(float(np.sqrt(left @ left / (delta @ delta))), rel=1e-4)


def test_a_map_that_knows_nothing_comes_to_chance():
    found = assay.fidelity(rows(2000, 5), rows(2000, 2, 1), 20)
    assert found.trustworthiness == pytest.approx(found.rank_chance, abs=0.01)
    assert found.continuity == pytest.approx(found.rank_chance, abs=0.01)
    assert found.agreement == pytest.approx(found.agreement_chance, abs=0.002)
    assert found.agreement_beyond_chance == pytest.approx(0.0, abs=0.002)
    assert found.residual_variance > 0.99


def test_the_worst_map_has_trust_zero():
    # the only point near i on the map is the furthest in the data: ranks n - 1 for k = 1
    n = 12
    angle = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    opposite = np.arange(n) % (n // 2)
    Y = np.column_stack([10.0 * opposite, np.where(np.arange(n) < n // 2, 0.0, 0.1)])
    assert fidelity.trustworthiness(X, Y, 1) == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=20)
@given(st.integers(8, 40), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_measures_do_not_depend_on_order_rotation_shift_or_scale(n, q, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, 4)), rng.standard_normal((n, q))
    order = rng.permutation(n)
    turned = X @ special_ortho_group.rvs(4, random_state=seed) * 32 + 5
    first, second = assay.fidelity(X, Y, 3), assay.fidelity(turned[order], -Y[order] / 8 - 2, 3)
    for name in MEASURES:
        assert getattr(second, name) == pytest.approx(getattr(first, name), abs=1e-9)
    np.testing.assert_allclose(second.point_continuity, first.point_continuity[order], atol=1e-12)


@settings(max_examples=20)
@given(st.integers(7, 30), st.integers(0, 2**32 - 1))
def test_tied_distances_rank_by_row_number_on_both_sides(n, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, 3, (n, 2)).astype(float)
    k = 3
    D = np.sqrt(np.sum((X[:, None] - X[None]) ** 2, axis=2)) + np.diag(np.full(n, np.inf))
    E = np.sqrt(np.sum((Y[:, None] - Y[None]) ** 2, axis=2)) + np.diag(np.full(n, np.inf))
    order, other = np.argsort(D, axis=1, kind="stable"), np.argsort(E, axis=1, kind="stable")
    place = np.argsort(order, axis=1) + 1
    excess = sum(max(place[i, j] - k, 0) for i in range(n) for j in other[i, :k])
    expected = 1 - excess * 2 / (n * k * (2 * n - 3 * k - 1))
    assert fidelity.trustworthiness(X, Y, k) == pytest.approx(expected, abs=1e-12)
    assert fidelity.trustworthiness(X, X, k) == 1.0
    np.fill_diagonal(D, 0.0)
    assert fidelity.trustworthiness(D, Y, k, metric="precomputed") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("d", [3, 30])
def test_precomputed_dissimilarities_are_judged_as_their_rows(d):
    X, Y = rows(250, d), rows(250, 2, 1)
    plain, given_ = assay.fidelity(X, Y, 8), assay.fidelity(squareform(pdist(X)), Y, 8, metric="precomputed")
    for name in (*MEASURES, "scale"):
        assert getattr(given_, name) == pytest.approx(getattr(plain, name), abs=1e-10)


@pytest.mark.parametrize("d", [3, 30])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_small_blocks_give_the_same_as_large_ones(d, shift, monkeypatch):
    X, Y = np.round(rows(150, d) * 1024) / 1024 + shift, rows(150, 2, 1)
    whole = assay.fidelity(X, Y, 8)
    monkeypatch.setattr(pair_fit, "CANDIDATES", 7)
    monkeypatch.setattr(_ranks, "CANDIDATES", 7)
    monkeypatch.setattr(pair_fit, "QUERIES", 3)
    parts = assay.fidelity(X, Y, 8)
    for name in MEASURES:
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), abs=1e-12)
    assert parts.trustworthiness == pytest.approx(peer(X - shift, Y, n_neighbors=8), abs=1e-12)


def test_ranks_are_exact_where_products_cannot_tell_distances_apart():
    # beside a point 1e9 away, products know squares only to a few hundred
    X = np.zeros((400, 10))
    X[:, 0] = np.random.default_rng(0).permutation(400)
    X[0] = 1e9
    space = apart.apart(X, "euclidean")
    row = int(np.flatnonzero(X[:, 0] == 0)[0])
    found = _ranks.ranks(space, np.array([row]), np.arange(1, 400)[None])
    others = np.arange(1, 400) != row
    np.testing.assert_array_equal(found[0][others], np.searchsorted(np.sort(X[1:, 0]), X[1:, 0])[others])


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_extreme_sizes_change_nothing(size):
    X, Y = np.abs(rows(60, 12)), rows(60, 2, 1)
    plain = assay.fidelity(X, Y, 5)
    for one, two in [(X * size, Y), (X, Y * size)]:
        found = assay.fidelity(one, two, 5)
        for name in MEASURES:
            assert getattr(found, name) == pytest.approx(getattr(plain, name), abs=1e-9)
    D = squareform(pdist(X))
    assert fidelity.stress(D * size, Y, metric="precomputed") == pytest.approx(plain.stress, abs=1e-9)


def test_two_points_fit_whatever_their_distance():
    assert fidelity.stress([[0.0], [1.0]], [[0.0], [9.0]]) < 1e-12
    assert fidelity.residual_variance([[0.0], [1.0]], [[0.0], [9.0]]) == 0.0


def test_points_in_one_place_have_stress_one_and_explain_nothing():
    X, heap = rows(30, 3), np.zeros((30, 2))
    assert fidelity.stress(X, heap) == 1.0 and fidelity.residual_variance(X, heap) == 1.0
    assert fidelity.stress(heap, X) == 1.0 and fidelity.residual_variance(heap, X) == 1.0
    assert fidelity.stress(heap, heap) == 0.0 and fidelity.residual_variance(heap, heap) == 0.0
    assert fidelity.trustworthiness(heap, heap, 5) == 1.0
    corners = np.eye(6)
    assert fidelity.residual_variance(corners, corners) == 0.0
    assert fidelity.residual_variance(corners, rows(6, 2)) == 1.0


def test_duplicates_beyond_k_are_judged():
    X = np.repeat(rows(4, 3), 10, axis=0)
    found = assay.fidelity(X, X[:, :2], 3)
    assert found.trustworthiness == 1.0 and found.agreement == 1.0


def test_some_rows_stand_for_all_and_the_rest_is_nan():
    X, Y = rows(3000, 4), rows(3000, 2, 1)
    Y += X[:, :2]
    whole, part = assay.fidelity(X, Y, 10), assay.fidelity(X, Y, 10, rows=400, random_state=3)
    assert part.judged == 400 and part.pairs == 400 * 2999 - 400 * 399 // 2
    judged = ~np.isnan(part.point_trustworthiness)
    assert judged.sum() == 400
    for name in ("point_trustworthiness", "point_continuity", "point_agreement"):
        np.testing.assert_allclose(getattr(part, name)[judged], getattr(whole, name)[judged], atol=1e-14)
    for name in MEASURES:
        assert getattr(part, name) == pytest.approx(getattr(whole, name), abs=0.03)
    again = assay.fidelity(X, Y, 10, rows=400, random_state=3)
    assert again.as_dict() == part.as_dict()


def test_above_the_limit_rows_are_drawn_and_counted(monkeypatch):
    monkeypatch.setattr(fidelity, "PAIRS_LIMIT", 50 * 200)
    assert assay.fidelity(rows(200, 3), rows(200, 2), 5).judged == 50


def test_points_average_to_the_whole_and_the_dictionary_holds_numbers_only():
    found = assay.fidelity(rows(80, 3), rows(80, 2, 1), 6)
    assert found.point_trustworthiness.mean() == pytest.approx(found.trustworthiness, abs=1e-14)
    assert found.point_agreement.mean() == pytest.approx(found.agreement, abs=1e-14)
    assert set(found.as_dict()) == {name for name in found.__slots__ if not name.startswith("point_")}
    assert all(isinstance(value, int | float) for value in found.as_dict().values())


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"n_neighbors": 5}, ParameterError, r"below half the number of rows \(10\), is 5; use 1 <= n_neighbors <= 4"),
        ({"n_neighbors": 0}, ParameterError, "at least 1 and below half"),
        ({"n_neighbors": True}, ParameterError, "is True"),
        ({"n_neighbors": 2.0}, ParameterError, "is 2.0"),
        ({"rows": 11}, ParameterError, r"rows must be a whole number between 1 and 10 \(the rows of the data\), is 11"),
        ({"Y": np.zeros((9, 2))}, DataError, "one row for each of the data's 10, has 9"),
        ({"metric": "taxi"}, ParameterError, "\"precomputed\" or a function of two rows, is 'taxi'"),
        ({"metric": "precomputed"}, DataError, "square, has shape"),
        ({"X": np.full((10, 2), np.nan)}, DataError, "X must be finite: row 0, column 0"),
        ({"Y": np.full((10, 2), np.inf)}, DataError, "Y must be finite: row 0, column 0"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_the_rule(change, error, text):
    arguments = {"X": rows(10, 3), "Y": rows(10, 2), "n_neighbors": 3} | change
    with pytest.raises(error, match=text):
        assay.fidelity(**arguments)


def test_too_few_rows_and_negative_dissimilarities_are_refused():
    with pytest.raises(ParameterError, match="is 1; give at least 3 rows"):
        fidelity.trustworthiness([[0.0], [1.0]], [[0.0], [1.0]], 1)
    with pytest.raises(DataError, match="give at least 2 rows, there is 1"):
        fidelity.stress([[0.0]], [[0.0]])
    with pytest.raises(DataError, match="must not be negative: row 0, column 1 of X is -1"):
        fidelity.stress([[0.0, -1.0], [-1.0, 0.0]], [[0.0], [1.0]], metric="precomputed")

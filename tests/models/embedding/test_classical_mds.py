"""ClassicalMDS: the map keeps Euclidean distances, says what it cannot keep, and places new rows."""

import csv
from pathlib import Path

import numpy as np
import pytest
import sklearn.manifold as peers
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist, squareform

import assay
from assay import ClassicalMDS
from assay.errors import DataError, ParameterError

CITIES = next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data/city_distances"


def table(name):
    path = CITIES / name
    if not path.exists():
        pytest.skip(f"{name} is not here")
    with path.open() as file:
        rows = list(csv.reader(file))[1:]
    return np.array([[float(cell) for cell in row[1:]] for row in rows])


def of(D, k=2, **options):
    return ClassicalMDS(k, metric="precomputed", **options).fit(D)


@settings(max_examples=20, deadline=None)
@given(n=st.integers(4, 20), d=st.integers(1, 4), seed=st.integers(0, 999))
def test_the_map_of_as_many_dimensions_as_columns_keeps_all_distances(n, d, seed):
    X = np.random.default_rng(seed).standard_normal((n, d))
    k = min(n, d)
    assert pdist(ClassicalMDS(k).fit(X).embedding_) == pytest.approx(pdist(X), abs=1e-9)
    assert pdist(of(cdist(X, X), k).embedding_) == pytest.approx(pdist(X), abs=1e-6)


def test_rows_and_their_distances_give_the_same_map():
    X = np.random.default_rng(0).standard_normal((60, 5)) * [5, 4, 3, 2, 1]
    rows, given_distances = ClassicalMDS(3).fit(X), of(cdist(X, X), 3)
    assert rows.embedding_ == pytest.approx(given_distances.embedding_, abs=1e-7)
    assert rows.eigenvalues_ == pytest.approx(given_distances.eigenvalues_)
    assert rows.explained_ == pytest.approx(given_distances.explained_)
    assert rows.strain_ == pytest.approx(given_distances.strain_)
    assert (rows.route_, given_distances.route_) == ("rows", "dissimilarities")


def test_the_map_is_scikit_learns():
    D = squareform(pdist(np.random.default_rng(1).standard_normal((40, 6)), "cityblock"))
    if not hasattr(peers, "ClassicalMDS"):
        pytest.skip("this scikit-learn has none")
    peer = peers.ClassicalMDS(2, metric="precomputed").fit(D)
    ours = of(D)
    assert ours.eigenvalues_ == pytest.approx(peer.eigenvalues_)
    assert np.abs(ours.embedding_) == pytest.approx(np.abs(peer.embedding_), abs=1e-8)


def test_the_scores_are_pcas():
    X = np.random.default_rng(2).standard_normal((30, 4)) * [4, 3, 2, 1]
    pca, mds = assay.PCA(2).fit(X), ClassicalMDS(2).fit(X)
    assert np.abs(mds.embedding_) == pytest.approx(np.abs(pca.transform(X)))
    assert mds.explained_ == pytest.approx(pca.explained_variance_ratio_)


def test_european_roads_give_the_eigenvalues_r_publishes_and_own_up_to_the_negative_ones():
    # R: cmdscale(eurodist, k = 20, eig = TRUE)$eig begins 1.953838e+07 1.185656e+07 and ends -2.251844e+06
    mds = of(table("eurodist_km.csv"))
    assert mds.eigenvalues_ == pytest.approx([1.953838e07, 1.185656e07], rel=1e-6)
    assert mds.negative_eigenvalues_[0] == pytest.approx(-2.251844e06, rel=1e-6)
    assert 0.1 < mds.negative_share_ < 0.2 and 0.0 < mds.strain_ < 0.2
    # R: its GOF, kept over the sum of |eigenvalues| and over that of the positive ones
    assert mds.explained_.sum() == pytest.approx(0.8679134, rel=1e-6)
    assert mds.explained_.sum() * (1 - mds.negative_share_) == pytest.approx(0.7537543, rel=1e-6)


def test_bavarian_roads_give_the_map_of_bavaria():
    flat, placed, _ = procrustes(table("bays29_map_xy.csv"), of(table("bays29_road.csv")).embedding_)
    assert np.corrcoef(flat.ravel(), placed.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("landmarks", ["auto", 12])
def test_fitted_rows_are_placed_where_they_are_and_new_ones_at_their_distances(landmarks):
    rng = np.random.default_rng(3)
    X, new = rng.standard_normal((50, 3)), rng.standard_normal((6, 3))
    for mds, seen, unseen in [
        (ClassicalMDS(3, landmarks=landmarks).fit(X), X, new),
        (of(cdist(X, X), 3, landmarks=landmarks), cdist(X, X), cdist(new, X)),
    ]:
        assert mds.transform(seen) == pytest.approx(mds.embedding_, abs=1e-9)
        assert cdist(mds.transform(unseen), mds.embedding_) == pytest.approx(cdist(new, X), abs=1e-6)


def test_landmarks_are_recorded_and_the_same_for_the_same_seed():
    X = np.random.default_rng(4).standard_normal((80, 2))
    first, second = (ClassicalMDS(2, landmarks=10, random_state=7).fit(X) for _ in range(2))
    assert first.route_ == "landmarks" and len(first.landmarks_) == 10
    assert np.array_equal(first.landmarks_, second.landmarks_) and np.array_equal(first.embedding_, second.embedding_)


def test_axes_without_a_positive_eigenvalue_are_zero_never_nan_and_said_so():
    D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    with pytest.warns(UserWarning, match="only 1 of the 2 largest eigenvalues are positive"):
        mds = of(D)
    assert mds.n_positive_ == 1 and not mds.embedding_[:, 1].any()
    assert mds.negative_eigenvalues_ == pytest.approx([-5 / 6])
    assert np.isfinite(mds.transform(D)).all()


def test_beyond_two_thousand_rows_the_most_negative_eigenvalues_are_still_found():
    rng = np.random.default_rng(5)
    D = cdist(*(rng.random((2100, 2)),) * 2)
    D[0, 1] = D[1, 0] = 30.0  # one broken pair
    mds = of(D)
    assert mds.negative_share_ is None
    assert mds.negative_eigenvalues_[0] < -100.0 and len(mds.negative_eigenvalues_) <= 3


def test_a_gram_matrix_gives_the_map_of_its_feature_space():
    rng = np.random.default_rng(6)
    X, new = rng.standard_normal((40, 3)), rng.standard_normal((5, 3))
    linear = ClassicalMDS(2).fit_gram(assay.Gram.of(X))
    assert linear.embedding_ == pytest.approx(ClassicalMDS(2).fit(X).embedding_, abs=1e-8)
    assert linear.transform(new) == pytest.approx(ClassicalMDS(2).fit(X).transform(new), abs=1e-8)
    gram = assay.Gram.of(X, assay.Gaussian(1.0))
    K = gram.values
    D = np.sqrt(np.maximum(np.add.outer(np.diag(K), np.diag(K)) - 2 * K, 0.0))
    bent = ClassicalMDS(2).fit_gram(gram)
    assert bent.embedding_ == pytest.approx(of(D).embedding_, abs=1e-7)
    assert bent.transform(X) == pytest.approx(bent.embedding_, abs=1e-9)


@pytest.mark.parametrize("unit", [1e-300, 1e150, 1e300])
def test_the_map_is_the_same_in_any_unit(unit):
    X = np.random.default_rng(7).standard_normal((20, 3))
    for scaled, plain in [
        (ClassicalMDS(2).fit(X * unit), ClassicalMDS(2).fit(X)),
        (of(cdist(X, X) * unit), of(cdist(X, X))),
    ]:
        assert scaled.embedding_ / unit == pytest.approx(plain.embedding_)
        assert scaled.explained_ == pytest.approx(plain.explained_)


def test_shift_and_rotation_do_not_show_and_rows_may_come_in_any_order():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((30, 3)) * [3, 2, 1]
    Q, order = np.linalg.qr(rng.standard_normal((3, 3)))[0], rng.permutation(30)
    plain = ClassicalMDS(2).fit(X).embedding_
    assert ClassicalMDS(2).fit((X @ Q)[order] + 1e8).embedding_ == pytest.approx(plain[order], abs=1e-6)


@pytest.mark.parametrize(
    "X",
    [np.zeros((5, 3)), np.array([[0.0], [1.0]]), np.repeat(np.eye(2), 5, axis=0), np.ones((2, 1))],
    ids=["constant", "two rows", "duplicates", "two equal rows"],
)
def test_few_different_points_give_a_finite_map_with_their_distances(X):
    mds = ClassicalMDS(2).fit(X)
    assert pdist(mds.embedding_) == pytest.approx(pdist(X)) and np.isfinite(mds.explained_).all()


def test_more_columns_than_rows_are_no_matter():
    X = np.random.default_rng(9).standard_normal((6, 3000))
    assert pdist(ClassicalMDS(6).fit(X).embedding_) == pytest.approx(pdist(X))


def test_a_saved_model_places_new_rows_alike(tmp_path):
    rng = np.random.default_rng(10)
    X, new = rng.standard_normal((20, 3)), rng.standard_normal((4, 3))
    for name, model, unseen in [
        ("rows", ClassicalMDS(2).fit(X), new),
        ("given", of(cdist(X, X)), cdist(new, X)),
        ("marks", ClassicalMDS(2, landmarks=8).fit(X), new),
        ("gram", ClassicalMDS(2).fit_gram(assay.Gram.of(X, assay.Gaussian(1.0))), new),
    ]:
        model.save(tmp_path / name)
        assert np.array_equal(assay.load(tmp_path / name).transform(unseen), model.transform(unseen))


def test_refusals_say_what_is_allowed():
    X = np.random.default_rng(11).standard_normal((5, 2))
    with pytest.raises(ParameterError, match="from 1 to the number of rows, 5; got 6"):
        ClassicalMDS(6).fit(X)
    with pytest.raises(ParameterError, match="metric must be .* or a function of two rows, is 'mahalanobis'"):
        ClassicalMDS(metric="mahalanobis").fit(X)
    with pytest.raises(ParameterError, match="a number from 2 to the 5 rows; got 1"):
        ClassicalMDS(landmarks=1).fit(X)
    with pytest.raises(ParameterError, match="at most the number of landmarks, 2; got 3"):
        ClassicalMDS(3, landmarks=2).fit(X)
    with pytest.raises(DataError, match=r"square matrix, have shape \(5, 2\)"):
        of(X)
    with pytest.raises(DataError, match="row 3, column 1 .* is NaN"):
        X[3, 1] = np.nan
        ClassicalMDS().fit(X)


def test_the_older_word_of_scikit_learn_means_the_same():
    D = cdist(X := np.random.default_rng(5).standard_normal((25, 3)), X)
    newer = ClassicalMDS(metric="precomputed").fit(D)
    assert np.array_equal(ClassicalMDS(dissimilarity="precomputed").fit(D).embedding_, newer.embedding_)

"""Fisher's discriminant: laws, published numbers, scikit-learn's answers, edges and refusals."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import assay
from assay import CCA, Fisher, GroupedMoments
from assay.data.source import ArrowSource
from assay.errors import DataError, ParameterError, SingularError

A = np.array([(1, 2), (2, 3), (3, 3), (4, 5), (5, 5)], float)
B = np.array([(4, 2), (5, 0), (5, 2), (3, 2), (5, 3), (6, 3)], float)


def classes(seed, n=90, d=4, g=3, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % g
    mix = rng.standard_normal((d, d)) + 2 * np.eye(d)
    return rng.standard_normal((n, d)) @ mix + apart * rng.standard_normal((g, d))[y], y


def scatters(X, y):
    labels = np.unique(y)
    means = np.stack([X[y == k].mean(axis=0) for k in labels])
    within = sum((X[y == k] - m).T @ (X[y == k] - m) for k, m in zip(labels, means, strict=True))
    gaps = means - X.mean(axis=0)
    return within, (gaps.T * np.bincount(np.searchsorted(labels, y))) @ gaps


def test_two_groups_of_the_method_list():
    found = Fisher().fit(np.vstack([A, B]), [0] * 5 + [1] * 6)
    np.testing.assert_allclose(found.eigenvalues_, [2.7838850], atol=5e-8)
    direction = found.scalings_[:, 0] / np.linalg.norm(found.scalings_)
    np.testing.assert_allclose(direction * np.sign(direction[0]), [0.6773521, -0.7356590], atol=5e-8)


def test_singular_values_of_iris_are_those_that_r_prints():
    X, y = load_iris(return_X_y=True)
    np.testing.assert_allclose(Fisher().fit(X, y).singular_values_, [48.64264, 4.57998], atol=5e-6)


@pytest.mark.parametrize("priors", [None, (0.5, 0.2, 0.3)])
def test_answers_are_those_of_scikit_learn(priors):
    X, y = load_wine(return_X_y=True)
    found = Fisher(priors=priors).fit(X, y)
    peer = LinearDiscriminantAnalysis(solver="svd", priors=priors, tol=1e-12).fit(X, y)
    within = X - np.stack([X[y == c].mean(axis=0) for c in range(3)])[y]
    if np.isclose(((within @ peer.scalings_[:, 0]) ** 2).sum(), len(X) - 3, rtol=1e-9):
        pytest.skip("this scikit-learn divides by rows less classes")
    np.testing.assert_allclose(found.predict_proba(X), peer.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(found.coef_ - found.coef_[0], peer.coef_ - peer.coef_[0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.explained_variance_ratio_, peer.explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(found.means_, peer.means_, rtol=1e-12)
    np.testing.assert_allclose(np.abs(found.scalings_), np.abs(peer.scalings_[:, :2]), rtol=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_variates_solve_the_eigenproblem_and_have_unit_variance_within_classes(seed, g, d):
    X, y = classes(seed, d=d, g=g)
    found = Fisher().fit(X, y)
    W, Bt = scatters(X, y)
    V, k = found.scalings_, min(g - 1, d)
    assert V.shape == (d, k)
    np.testing.assert_allclose(V.T @ W @ V, len(X) * np.eye(k), atol=1e-7 * len(X))
    np.testing.assert_allclose(Bt @ V, W @ V * found.eigenvalues_, atol=1e-7 * np.abs(Bt @ V).max())
    np.testing.assert_allclose(found.eigenvalues_, eigh(Bt, W, eigvals_only=True)[::-1][:k], rtol=1e-6, atol=1e-10)
    Z = found.transform(X)
    np.testing.assert_allclose(scatters(Z, y)[0], len(X) * np.eye(k), atol=1e-7 * len(X))
    assert found.explained_variance_ratio_.sum() == pytest.approx(1.0)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_the_direction_of_two_groups_is_that_of_least_squares(seed, d):
    X, y = classes(seed, d=d, g=2, n=61)
    slope = np.linalg.lstsq(np.column_stack([np.ones(61), X]), 2.0 * y - 1.0, rcond=None)[0][1:]
    direction = Fisher().fit(X, y).coef_[0]
    cosine = direction @ slope / np.linalg.norm(direction) / np.linalg.norm(slope)
    assert cosine == pytest.approx(1.0, abs=1e-9)


def test_eigenvalues_follow_from_canonical_correlations_with_the_classes():
    X, y = classes(3, d=5, g=4)
    indicators = np.eye(4)[y][:, 1:]
    bases = [np.linalg.qr(M - M.mean(axis=0))[0] for M in (X, indicators)]
    rho = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
    found = Fisher().fit(X, y)
    np.testing.assert_allclose(found.eigenvalues_, rho**2 / (1 - rho**2), rtol=1e-9)
    own = CCA().fit(X, indicators).canonical_correlations_
    np.testing.assert_allclose(found.eigenvalues_, own**2 / (1 - own**2), rtol=1e-9)


def test_a_source_gives_the_answers_of_an_array():
    X, y = classes(4)
    names = np.array(["x", "y", "z"])[y]
    columns = {f"c{j}": X[:, j] for j in range(4)}
    by_source = Fisher().fit(ArrowSource(pa.table(columns | {"kind": names})), "kind")
    by_array = Fisher().fit(X, names)
    assert by_source.target_ == "kind" and list(by_source.feature_names_in_) == ["c0", "c1", "c2", "c3"]
    np.testing.assert_allclose(by_source.eigenvalues_, by_array.eigenvalues_, rtol=1e-9)
    proba = by_source.predict_proba(ArrowSource(pa.table(columns)))
    np.testing.assert_allclose(proba, by_array.predict_proba(X), atol=1e-9)


def test_merged_summaries_and_weights_give_the_fit_of_the_rows():
    X, y = classes(5)
    whole = Fisher().fit(X, y)
    merged = Fisher().fit_moments(GroupedMoments.of(X[:31], y[:31]) + GroupedMoments.of(X[31:], y[31:]))
    np.testing.assert_allclose(merged.coef_, whole.coef_, rtol=1e-10)
    np.testing.assert_array_equal(merged.predict(X), whole.predict(X))
    w = np.arange(90) % 3 + 1
    weighted = Fisher().fit_moments(GroupedMoments.of(X, y, weights=w))
    np.testing.assert_allclose(weighted.coef_, Fisher().fit(X.repeat(w, axis=0), y.repeat(w)).coef_, rtol=1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_predictions_do_not_change_under_invertible_maps_and_shifts(seed):
    X, y = classes(seed)
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((4, 4)) + 3 * np.eye(4)
    moved = X @ T + 100 * rng.standard_normal(4)
    a, b = Fisher().fit(X, y), Fisher().fit(moved, y)
    np.testing.assert_allclose(b.predict_proba(moved), a.predict_proba(X), atol=1e-7)
    np.testing.assert_allclose(b.eigenvalues_, a.eigenvalues_, rtol=1e-7)
    shrunk, units = Fisher(shrinkage=0.4).fit(X, y), np.array([1e-3, 1.0, 50.0, 1e6])
    rescaled = Fisher(shrinkage=0.4).fit(X * units, y)
    np.testing.assert_allclose(rescaled.predict_proba(X * units), shrunk.predict_proba(X), atol=1e-9)


def test_a_number_of_shrinkage_means_what_it_means_in_scikit_learn_once_units_are_equal():
    X, y = classes(6)
    X = X / np.sqrt(np.diag(scatters(X, y)[0]))
    peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3).fit(X, y)
    np.testing.assert_allclose(Fisher(shrinkage=0.3).fit(X, y).predict_proba(X), peer.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("shape", [(60, 8), (40, 300)])
def test_automatic_shrinkage_is_that_of_ledoit_and_wolf_for_rows_about_their_class_means(shape):
    X, y = np.random.default_rng(7).standard_normal(shape) ** 3, np.arange(shape[0]) % 2
    rows = X - np.stack([X[y == k].mean(axis=0) for k in (0, 1)])[y]
    rows /= rows.std(axis=0)
    expected = ledoit_wolf_shrinkage(rows, assume_centered=True)
    assert Fisher(shrinkage="auto").fit(X, y).shrinkage_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shrinkage", [0.2, 1.0, "auto"])
def test_more_columns_than_rows_give_what_the_full_covariance_would(shrinkage):
    X, y = classes(8, n=24, d=60)
    wide = Fisher(shrinkage=shrinkage).fit(X, y)
    assert wide.route_ == "gram"
    delta = wide.shrinkage_
    W, Bt = scatters(X, y)
    units = np.sqrt(np.diag(W) / 24)
    S = (1 - delta) * W / 24 + delta * np.diag(units**2)
    values, V = eigh(Bt / 24, S)
    np.testing.assert_allclose(wide.eigenvalues_, values[::-1][:2], rtol=1e-8)
    np.testing.assert_allclose(np.abs(wide.scalings_), np.abs(V[:, ::-1][:, :2]), rtol=1e-5, atol=1e-8)
    tall = Fisher(shrinkage=delta).fit_moments(GroupedMoments.of(X, y))
    assert tall.route_ == "moments"
    np.testing.assert_allclose(wide.predict_proba(X[:5] + 0.1), tall.predict_proba(X[:5] + 0.1), atol=1e-8)


def test_columns_that_say_nothing_change_nothing():
    X, y = classes(9)
    plain = Fisher().fit(X, y)
    copied = Fisher().fit(np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.full(90, 7.0)]), y)
    more = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.full(90, 7.0)])
    np.testing.assert_allclose(copied.eigenvalues_, plain.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(copied.predict_proba(more), plain.predict_proba(X), atol=1e-7)
    assert (copied.rank_, plain.rank_) == (4, 4) and copied.coef_[0, 5] == 0.0


def test_far_from_zero_the_digits_that_the_data_have_are_used():
    X, y = classes(10)
    shifted = X + 1e8
    exact = Fisher().fit(shifted - 1e8, y)
    found = Fisher().fit(shifted, y)
    np.testing.assert_allclose(found.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(found.predict_proba(shifted), exact.predict_proba(shifted - 1e8), atol=1e-5)


@pytest.mark.parametrize("g", [2, 3])
def test_rows_beyond_all_measure_are_judged_by_their_direction(g):
    X, y = classes(17, g=g)
    found = Fisher().fit(X * 1e-12, y)  # weights of the columns of about 1e12
    directions = np.random.default_rng(0).standard_normal((30, 4))
    near = found.predict(directions)
    assert len(set(near)) > 1
    for size in (1e200, 1e300, 1e307):
        np.testing.assert_array_equal(found.predict(size * directions), near)
        np.testing.assert_allclose(found.predict_proba(size * directions).sum(axis=1), 1.0)


def test_sparse_rows_float32_and_names_of_columns():
    X, y = classes(11)
    plain = Fisher().fit(X, y)
    np.testing.assert_allclose(Fisher().fit(csr_array(X), y).predict_proba(csr_array(X)), plain.predict_proba(X))
    small = X.astype(np.float32)
    np.testing.assert_allclose(
        Fisher().fit(small, y).predict_proba(small), Fisher().fit(small.astype(float), y).predict_proba(small)
    )
    assert list(plain.get_feature_names_out()) == ["fisher0", "fisher1"]
    assert Fisher(1).fit(X, y).transform(X).shape == (90, 1)


def test_equal_priors_ignore_how_many_rows_a_class_has():
    X, y = classes(12)
    kept = np.flatnonzero((y != 0) | (np.arange(90) < 45))
    assert np.allclose(Fisher(priors="equal").fit(X[kept], y[kept]).priors_, 1 / 3)
    shares = Fisher().fit(X[kept], y[kept])
    assert shares.priors_ == pytest.approx([15 / 75, 30 / 75, 30 / 75])


def test_classes_of_one_row_are_fine_as_long_as_others_vary():
    X, y = classes(13, g=2)
    found = Fisher().fit(np.vstack([X, [[50.0, 0, 0, 0]]]), np.append(y, 2))
    assert found.predict([[50.0, 0, 0, 0]]) == [2]


def test_what_cannot_be_told_apart_is_refused_in_words():
    X, y = classes(14, n=20, d=30, g=2)
    with pytest.raises(
        SingularError, match="within 2 classes of 30 columns needs at least 32 rows; there are 20: give shr"
    ):
        Fisher().fit(X, y)
    separated = np.column_stack([np.arange(20) // 2 % 5, y])
    with pytest.raises(
        SingularError, match="vary within classes in 1 of 2 directions, and the classes differ in others"
    ):
        Fisher().fit(separated, y)
    assert Fisher(shrinkage=0.1).fit(separated, y).score(separated, y) == 1.0
    with pytest.raises(DataError, match="2 rows in 2 classes leave no spread within classes; at least 3 rows"):
        Fisher().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(DataError, match="every column is constant"):
        Fisher().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    with pytest.raises(DataError, match="at least 2 classes apart; there is only one"):
        Fisher().fit(np.ones((6, 2)), np.zeros(6))
    with pytest.raises(DataError, match="tells at least 2 classes apart; the summary has 1"):
        Fisher().fit_moments(GroupedMoments.of(X, np.zeros(20)))


def test_values_that_are_missing_infinite_or_out_of_range_are_named_by_their_place():
    for d, columns in ((3, "column 1"), (60, "column 1")):
        X, y = np.random.default_rng(0).standard_normal((20, d)), np.arange(20) % 2
        X[4, 1] = np.nan
        with pytest.raises(DataError, match=f"row 4, {columns} is missing"):
            Fisher(shrinkage=0.5).fit(X, y)
        X[4, 1] = np.inf
        with pytest.raises(DataError, match=f"row 4, {columns} is infinite"):
            Fisher(shrinkage=0.5).fit(X, y)
        X[4, 1] = 1e300
        with pytest.raises(DataError, match=f"{columns} runs from .* to 1e\\+300: the squares"):
            Fisher(shrinkage=0.5).fit(X, y)


def test_options_out_of_range_are_refused_in_words():
    X, y = classes(15)
    for wrong in (-0.1, 1.5, "big", True):
        with pytest.raises(ParameterError, match="shrinkage is None, 'auto' or a share from 0 to 1; got"):
            Fisher(shrinkage=wrong).fit(X, y)
    with pytest.raises(ParameterError, match="priors are None, 'equal' or one share for each class; got 'same'"):
        Fisher(priors="same").fit(X, y)
    with pytest.raises(ParameterError, match="3 positive shares that sum to 1"):
        Fisher(priors=[0.5, 0.5]).fit(X, y)
    with pytest.raises(ParameterError, match="n_components is None or from 1 to 2, .* got 3"):
        Fisher(3).fit(X, y)


def test_a_saved_model_answers_alike(tmp_path):
    X, y = classes(16)
    model = Fisher(priors="equal").fit(X, np.array(["a", "b", "c"])[y])
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(assay.load(tmp_path / "m").predict(X), model.predict(X))

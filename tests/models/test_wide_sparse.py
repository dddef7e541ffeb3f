"""Models on wide sparse tables: the answer of the dense table in memory for the entries, or a refusal with a remedy."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import cluster, linear_model
from sklearn import decomposition as peers
from sklearn.metrics import adjusted_rand_score

from assay import (
    CCA,
    PCA,
    ClassCounts,
    DifferenceOfMeans,
    Fisher,
    GaussianRule,
    KMeans,
    LeastSquares,
    Logistic,
    Mahalanobis,
    NaiveBayes,
    Ridge,
    ZScore,
)
from assay.errors import DataError, NotConverged, ParameterError, SingularError
from assay.summary.classes import group_products
from assay.summary.regression import sparse_ridge


@pytest.fixture(scope="module")
def table():
    """600 x 3,000, two per cent stored: a few planted directions, and one column stored whole, far from zero."""
    rng = np.random.default_rng(0)
    X = sp.random(600, 3_000, density=0.02, format="lil", random_state=1)
    X[:300, :40] = sp.random(300, 40, density=0.5, random_state=2) * 3
    X[:, 77] = 1e4 + rng.standard_normal((600, 1))
    return X.tocsr()


@pytest.fixture(scope="module")
def huge():
    """As wide as texts are: 8 GB when dense, and 1.6 MB of entries."""
    rng = np.random.default_rng(0)
    entries = (rng.random(100_000), (rng.integers(10_000, size=100_000), rng.integers(100_000, size=100_000)))
    return sp.csr_array(entries, shape=(10_000, 100_000))


@pytest.mark.parametrize("standardise", [False, True])
def test_components_are_those_of_the_dense_table(table, standardise):
    ours = PCA(4, scale=standardise).fit(table)
    dense = PCA(4, scale=standardise, solver="svd").fit(table.toarray())
    assert ours.route_ == "products"
    np.testing.assert_allclose(ours.explained_variance_, dense.explained_variance_, rtol=1e-9)
    # directions are as certain as the gap behind them is wide
    np.testing.assert_allclose(ours.components_[:1], dense.components_[:1], atol=1e-7)
    np.testing.assert_allclose(ours.transform(table)[:, 0], dense.transform(table.toarray())[:, 0], atol=1e-7)
    for name in ("mean_", "scale_", "column_variance_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(dense, name), rtol=1e-9)
    np.testing.assert_allclose(ours.noise_variance_, dense.noise_variance_, rtol=1e-9)


def test_components_are_scikit_learns(table):
    ours, peer = PCA(5).fit(table), peers.PCA(5, svd_solver="arpack").fit(table)
    # scikit-learn's products take off a mean of 1e4: eight digits are left of its squares
    np.testing.assert_allclose(ours.explained_variance_, peer.explained_variance_, rtol=1e-6)


def test_tall_sparse_tables_have_the_components_of_the_dense_ones(table):
    tall = table[:, :590].T.tocsr()[:, :560]
    ours, dense = PCA(3).fit(tall), PCA(3, solver="svd").fit(tall.toarray())
    assert ours.route_ == "products"
    np.testing.assert_allclose(ours.explained_variance_, dense.explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("asked", [None, 0.9, "real"])
def test_all_components_of_a_huge_table_are_refused_with_a_number_to_ask_for(huge, asked):
    with pytest.raises(DataError, match="10000 x 100000, and 10000 axes .* more than 1 GiB. Ask for fewer .*=50"):
        PCA(asked).fit(huge)


def test_a_solver_that_needs_the_dense_table_refuses_a_huge_one(huge):
    with pytest.raises(DataError, match=r"7.5 GiB when dense .* Use solver='auto' with a number for n_components"):
        PCA(5, solver="svd").fit(huge)


def _gradient(X, y, model, alpha, weights=None):
    """Of the ridge problem at a solution, relative to that at zero; both from the dense rows."""
    w = np.ones(len(y)) if weights is None else weights
    about = X.toarray() - (np.average(X.toarray(), axis=0, weights=w) if model.fit_intercept else 0.0)
    target = y - (np.average(y, axis=0, weights=w) if model.fit_intercept else 0.0)
    start = about.T @ (w * target)
    return np.linalg.norm(start - about.T @ (w * (about @ model.coef_)) - alpha * model.coef_) / np.linalg.norm(start)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", ["wide", "tall"])
def test_ridge_by_products_solves_the_dense_problem(table, shape, intercept, monkeypatch):
    monkeypatch.setattr(sparse_ridge, "_SPECTRUM", 100)
    X = table if shape == "wide" else table[:, 20:520]
    rng = np.random.default_rng(3)
    y, weights = X @ rng.standard_normal(X.shape[1]) + 5.0, rng.uniform(0.0, 2.0, 600)
    for w in (None, weights):
        model = Ridge(2.0, fit_intercept=intercept).fit(X, y, w)
        assert model.route_ == "products"
        assert model.gradient_ < 1e-9
        assert _gradient(X, y, model, 2.0, w) < 1e-8
        dense = Ridge(2.0, fit_intercept=intercept).fit(X.toarray(), y, w)
        # the error is at most the gradient over alpha
        bound = 1e-8 * np.linalg.norm(X.toarray().T @ y) / 2.0
        np.testing.assert_allclose(model.coef_, dense.coef_, atol=bound)
        np.testing.assert_allclose(model.predict(X), dense.predict(X.toarray()), atol=1e-6 * np.abs(y).max())
        for name in ("total_", "explained_", "error_", "r_squared_"):
            np.testing.assert_allclose(getattr(model, name), getattr(dense, name), rtol=1e-5)


def test_ridge_by_products_is_scikit_learns_for_several_targets(huge):
    rng = np.random.default_rng(4)
    Y = rng.standard_normal((10_000, 2)) + 3.0
    ours, peer = Ridge(1.0).fit(huge, Y), linear_model.Ridge(1.0, solver="sparse_cg", tol=1e-12).fit(huge, Y)
    assert ours.route_ == "products"
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-9 * np.abs(peer.coef_).max())
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-9)


def test_ridge_by_products_says_what_it_does_not_know(huge):
    model = Ridge(1.0).fit(huge, np.arange(10_000.0))
    assert np.isnan(model.effective_degrees_)
    assert np.isnan(model.residual_sd_)
    assert np.isnan(model.coef_std_errors_).all()
    with pytest.raises(ParameterError, match="without the spectrum that other penalties are read from"):
        model.path()


def test_ridge_by_products_takes_memory_for_the_entries_alone(huge):
    y = np.arange(10_000.0)
    tracemalloc.start()
    Ridge(1.0).fit(huge, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 20 * (huge.nnz + sum(huge.shape))  # a dense copy takes 8 GB


def test_ridge_by_products_that_gets_nowhere_says_so(huge, monkeypatch):
    monkeypatch.setattr(sparse_ridge, "sparse_ridge", partial(sparse_ridge.sparse_ridge, most=1))
    with pytest.warns(NotConverged, match="after 1 products the gradient is still"):
        Ridge(1.0).fit(huge, np.arange(10_000.0))


@pytest.mark.parametrize("model", [Ridge("held-out"), Ridge(0.0), LeastSquares()], ids=["held-out", "0", "plain"])
def test_what_needs_the_spectrum_of_a_huge_table_is_refused(huge, model):
    with pytest.raises(DataError, match=r"spectrum would take 7.5 GiB \(the limit is 1 GiB\). (Give|Use) .*alpha"):
        model.fit(huge, np.arange(10_000.0))


@pytest.fixture(scope="module")
def groups():
    """2,000 x 1,500: four groups of rows that share their columns, and one column stored whole, far from zero."""
    rng = np.random.default_rng(5)
    truth = rng.integers(4, size=2_000)
    cols = np.where(
        rng.random((2_000, 20)) < 0.7, rng.integers(300, size=(2_000, 20)), rng.integers(1_400, size=(2_000, 20))
    )
    cols = np.where(cols < 300, cols + 300 * truth[:, None], cols)
    X = sp.csr_array((np.ones(40_000), (np.repeat(np.arange(2_000), 20), cols.ravel())), shape=(2_000, 1_500)).tolil()
    X[:, 1_499] = 1e5 + 0.1 * rng.standard_normal((2_000, 1))
    return X.tocsr(), truth


@pytest.mark.parametrize("weighted", [False, True])
def test_kmeans_of_sparse_rows_descends_as_that_of_dense_ones(groups, weighted):
    X, _ = groups
    start = X[:4].toarray()
    w = np.random.default_rng(6).uniform(0.0, 2.0, 2_000) if weighted else None
    ours = KMeans(4, init=start, tol=0.0).fit(X, sample_weight=w)
    dense = KMeans(4, init=start, tol=0.0).fit(X.toarray(), sample_weight=w)
    np.testing.assert_array_equal(ours.labels_, dense.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, dense.cluster_centers_, rtol=1e-9, atol=1e-9)
    for name in ("inertia_", "explained_variance_", "calinski_harabasz_", "sizes_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(dense, name), rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)
    np.testing.assert_allclose(ours.transform(X[:50]), dense.transform(X[:50].toarray()), rtol=1e-6)
    np.testing.assert_allclose(ours.score(X), dense.score(X.toarray()), rtol=1e-6)


def test_kmeans_of_sparse_rows_finds_the_groups_and_no_less_inertia_than_scikit_learn(groups):
    X, truth = groups
    ours = KMeans(4, n_init=10, random_state=0).fit(X)
    peer = cluster.KMeans(4, n_init=10, random_state=0).fit(X)
    assert adjusted_rand_score(truth, ours.labels_) > 0.95
    assert ours.inertia_ < 1.001 * peer.inertia_
    again = KMeans(4, n_init=10, random_state=0).fit(X)
    np.testing.assert_array_equal(again.labels_, ours.labels_)


def test_kmeans_of_sparse_rows_gives_an_empty_centre_a_row(groups):
    X, _ = groups
    start = np.vstack([X[:3].toarray(), np.full((1, 1_500), 1e9)])  # nearest to no row
    model = KMeans(4, init=start).fit(X)
    assert model.n_clusters_ == 4
    assert (model.sizes_ > 0).all()


def test_kmeans_of_fewer_distinct_rows_than_centres_repeats_some():
    X = sp.csr_array((np.ones(1_000), (np.arange(1_000), np.arange(1_000) % 2)), shape=(1_000, 2_000))
    model = KMeans(3, random_state=0).fit(X)
    assert model.n_clusters_ == 2
    assert model.inertia_ == pytest.approx(0.0, abs=1e-9)


def test_kmeans_of_huge_and_tiny_values_is_that_of_plain_ones(groups):
    X, _ = groups
    plain = KMeans(4, random_state=0).fit(X)
    for factor in (1e200, 1e-200):
        np.testing.assert_array_equal(KMeans(4, random_state=0).fit(X * factor).labels_, plain.labels_)


def test_kmeans_takes_memory_for_the_entries_and_the_centres_alone(huge):
    tracemalloc.start()
    KMeans(3, n_init=1, random_state=0).fit(huge)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 20 * (huge.nnz + 4 * sum(huge.shape))


def test_logistic_of_a_wide_table_takes_memory_for_the_entries_alone(huge):
    y = np.arange(10_000) % 2
    tracemalloc.start()
    model = Logistic().fit(huge, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.route_ == "newton-cg, columns" and model.gradient_norm_ <= model.tol
    peer = linear_model.LogisticRegression(tol=1e-8, max_iter=1_000).fit(huge, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5 * np.abs(peer.coef_).max())
    assert peak < 8 * (20 * huge.nnz + 100 * sum(huge.shape))


def test_logistic_of_several_classes_and_weights_is_that_of_lbfgs(groups):
    X, truth = groups
    weights = 1.0 + np.arange(len(truth)) % 3
    ours, peer = (Logistic(solver=solver).fit(X, truth, weights) for solver in ("auto", "lbfgs"))
    assert ours.route_.startswith("newton-cg") and ours.converged_
    assert ours.objective_ == pytest.approx(peer.objective_, rel=1e-9)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-5 * np.abs(peer.coef_).max())


@pytest.mark.parametrize("shrinkage", [0.3, "auto"])
def test_fisher_by_products_is_that_of_the_dense_table(groups, shrinkage, monkeypatch):
    monkeypatch.setattr(group_products, "_FEW", 100)
    X, truth = groups
    X, truth = X[:400, 900:], np.where(truth[:400] == 3, 2, truth[:400])
    ours, dense = (Fisher(shrinkage=shrinkage).fit(rows, truth) for rows in (X, X.toarray()))
    assert (ours.route_, dense.route_) == ("products", "gram")
    np.testing.assert_allclose(ours.shrinkage_, dense.shrinkage_, rtol=1e-9)
    for name in ("eigenvalues_", "singular_values_", "explained_variance_ratio_", "means_", "priors_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(dense, name), rtol=1e-7)
    for name in ("scalings_", "coef_", "intercept_"):
        expected = getattr(dense, name)
        np.testing.assert_allclose(getattr(ours, name), expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(ours.predict_proba(X), dense.predict_proba(X.toarray()), atol=1e-6)
    np.testing.assert_allclose(ours.transform(X), dense.transform(X.toarray()), atol=1e-5)


def test_discriminants_of_a_huge_table_keep_it_sparse_or_refuse_it(huge):
    y = np.arange(10_000) % 2
    tracemalloc.start()
    Fisher(shrinkage=0.5).fit(huge, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 40 * (huge.nnz + sum(huge.shape))
    with pytest.raises(SingularError, match=r"10000 x 100000, and without shrinkage .* give shrinkage='auto'"):
        Fisher().fit(huge, y)
    with pytest.raises(DataError, match=r"GaussianRule needs covariances .* 7.5 GiB. Use Fisher\(shrinkage='auto'\)"):
        GaussianRule(shrinkage=0.5).fit(huge, y)


def test_means_and_spreads_by_class_are_those_of_the_dense_table(groups):
    X, truth = groups
    X = X.tolil()
    X[:, 7] = 0.0
    X, weights = X.tocsr(), np.random.default_rng(8).uniform(0.0, 2.0, 2_000)
    weights[truth == 2] = 0.0
    for w in (None, weights):
        ours, dense = (ClassCounts.of(rows, truth, weights=w) for rows in (X, X.toarray()))
        np.testing.assert_allclose(ours.observed, dense.observed, rtol=1e-9)
        np.testing.assert_allclose(ours.mean, dense.mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.squares, dense.squares, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("model", [NaiveBayes(), DifferenceOfMeans(), ZScore()], ids=lambda model: type(model).__name__)
def test_what_looks_at_columns_alone_takes_memory_for_the_entries(huge, model):
    y = np.arange(10_000) % 2
    tracemalloc.start()
    model.fit(huge, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 60 * (huge.nnz + sum(huge.shape))


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (Mahalanobis(), "its axes would take 7.5 GiB .* Use ZScore"),
        (CCA(), "its axes would take 7.5 GiB .* Reduce its columns first"),
        (ZScore(robust=True), "7.5 GiB when dense .* Use robust=False"),
    ],
    ids=["Mahalanobis", "CCA", "ZScore"],
)
def test_what_needs_dense_rows_refuses_a_huge_table_with_a_remedy(huge, model, told):
    with pytest.raises(DataError, match=told):
        model.fit(huge, np.arange(10_000.0))


def test_spreads_of_sparse_columns_are_those_of_dense_ones(groups):
    X, _ = groups
    ours, dense = ZScore().fit(X), ZScore().fit(X.toarray())
    np.testing.assert_allclose(ours.location_, dense.location_, rtol=1e-12)
    np.testing.assert_allclose(ours.scale_, dense.scale_, rtol=1e-9)


def test_kmeans_goes_on_with_further_sparse_rows_as_with_dense_ones(groups):
    X, _ = groups
    ours = KMeans(4, init=X[:4].toarray()).fit(X[:1_200]).partial_fit(X[1_200:])
    dense = KMeans(4, init=X[:4].toarray()).fit(X[:1_200].toarray()).partial_fit(X[1_200:].toarray())
    np.testing.assert_array_equal(ours.labels_, dense.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, dense.cluster_centers_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.inertia_, dense.inertia_, rtol=1e-6)

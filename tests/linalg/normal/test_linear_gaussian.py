"""Probabilistic principal components against scikit-learn's and SciPy's normal law."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA as Peer

from assay.errors import ParameterError, SingularError
from assay.linalg.normal.linear_gaussian import probabilistic_pca


def table(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.linspace(3.0, 0.5, d) + 4.0


@pytest.mark.parametrize(("n", "d", "k"), [(60, 6, 2), (60, 6, 5), (8, 40, 3), (5, 5, 2), (2, 7, 1)])
def test_the_density_is_that_of_the_normal_law_with_the_models_covariance(n, d, k):
    X = table(n, d)
    model = probabilistic_pca(X, k, least_noise=1e-3)
    A, rest = model.axes, np.eye(d) - model.axes @ model.axes.T
    covariance = A @ np.diag(model.variances) @ A.T + model.noise * rest
    oracle = multivariate_normal(model.mean, covariance).logpdf(table(20, d, seed=1))
    np.testing.assert_allclose(model.log_density(table(20, d, seed=1)), oracle, rtol=1e-8)


@pytest.mark.parametrize(("n", "d", "k"), [(60, 6, 2), (300, 20, 7)])
def test_it_is_scikit_learns_model_up_to_dividing_by_n(n, d, k):
    X = table(n, d)
    model, peer = probabilistic_pca(X, k), Peer(k).fit(X)
    assert model.noise == pytest.approx(peer.noise_variance_ * (n - 1) / n, rel=1e-10)
    np.testing.assert_allclose(model.variances, peer.explained_variance_ * (n - 1) / n, rtol=1e-10)
    assert model.log_density(X).mean() == pytest.approx(peer.score(X), abs=0.5 * d / n)


def test_no_other_model_of_the_form_makes_the_rows_more_likely():
    X = table(50, 5)
    best = probabilistic_pca(X, 2)
    rng = np.random.default_rng(2)
    reached = best.log_density(X).mean()
    for _ in range(20):
        axes = np.linalg.qr(best.axes + 0.05 * rng.standard_normal((5, 2)))[0]
        change = np.exp(0.1 * rng.standard_normal(4))
        other = type(best)(
            best.mean + 0.05 * change[3], axes, best.variances * change[:2], best.noise * float(change[2])
        )
        assert other.log_density(X).mean() < reached


def test_more_columns_than_rows_give_the_same_model_as_the_covariance():
    X = table(9, 30)
    model = probabilistic_pca(X, 3)
    values = np.linalg.eigvalsh(np.cov(X, rowvar=False, bias=True))[::-1]
    np.testing.assert_allclose(model.variances, values[:3], rtol=1e-10)
    assert model.noise == pytest.approx(values[3:].mean(), rel=1e-10)


def test_rows_without_spread_need_a_least_noise():
    flat = np.outer(np.arange(6.0), [1.0, 2.0, 3.0])
    with pytest.raises(SingularError, match="k=1 leaves no noise in 6 rows of 3 columns"):
        probabilistic_pca(flat, 1)
    model = probabilistic_pca(flat, 2, least_noise=1e-4)
    assert model.noise == 1e-4 and model.variances[1] == 1e-4
    assert np.isfinite(model.log_density(flat)).all()
    with pytest.raises(SingularError, match="leaves no noise"):
        probabilistic_pca(np.ones((4, 2)), 1)
    assert probabilistic_pca(np.ones((4, 2)), 1, least_noise=0.5).log_density([[1.0, 1.0]])[0] == pytest.approx(
        -np.log(np.pi)
    )


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(ParameterError, match="a covariance needs two rows or more; got 1"):
        probabilistic_pca([[1.0, 2.0]], 1)
    with pytest.raises(ParameterError, match="k must be between 1"):
        probabilistic_pca(table(9, 3), 0)

"""The elastic net in products: SciPy's minimum, the meaning of its certificates, rows and products alike."""

import numpy as np
import pytest
from scipy.optimize import minimize

from assay.models.prediction.elastic_net.coordinate_descent import WideProducts, net_path, wide_net_path


def problem(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
    y = X[:, 0] - 2.0 * X[:, 1] + rng.standard_normal(n)
    return X / np.sqrt(n), y / np.sqrt(n)


def objective(X, y, w, l1, l2):
    off = y - X @ w
    return 0.5 * off @ off + l1 * np.abs(w).sum() + 0.5 * l2 * w @ w


@pytest.mark.parametrize(("n", "d"), [(40, 6), (15, 25)])
@pytest.mark.parametrize(("l1", "l2"), [(0.1, 0.0), (0.05, 0.2), (0.0, 0.3)])
@pytest.mark.parametrize("positive", [False, True])
def test_the_minimum_is_scipys_of_positive_and_negative_parts(n, d, l1, l2, positive):
    X, y = problem(n, d)

    def split(v):
        u = v[:d] - v[d:]
        slope = X.T @ (X @ u - y) + l2 * u
        off = y - X @ u
        return 0.5 * off @ off + l1 * v.sum() + 0.5 * l2 * u @ u, np.concatenate([slope + l1, l1 - slope])

    bounds = [(0, None)] * d + [(0, 0 if positive else None)] * d
    best = minimize(
        split, np.zeros(2 * d), jac=True, bounds=bounds, options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}
    )
    penalties, options = (np.array([l1]), np.array([l2])), {"positive": positive, "tol": 1e-12, "max_iter": 1000}
    rows = wide_net_path(WideProducts(X, y), *penalties, **options)
    products = net_path(X.T @ X, X.T @ y, float(y @ y), *penalties, **options)
    for found in (rows, products):
        assert found.converged.all()
        at = objective(X, y, found.coef[0], l1, l2)
        assert at == pytest.approx(best.fun, rel=1e-7)
        assert at - best.fun <= found.gap[0] + 1e-12
    np.testing.assert_allclose(rows.coef, products.coef, atol=1e-5)


def test_each_price_of_a_path_is_solved_as_it_is_alone():
    X, y = problem(60, 20)
    Q, q, c = X.T @ X, X.T @ y, float(y @ y)
    ones, twos = np.geomspace(0.5, 0.001, 30), np.full(30, 0.01)
    options = {"positive": False, "tol": 1e-13, "max_iter": 10_000}
    whole = net_path(Q, q, c, ones, twos, **options)
    for k in (0, 10, 29):
        alone = net_path(Q, q, c, ones[k : k + 1], twos[:1], **options)
        np.testing.assert_allclose(whole.coef[k], alone.coef[0], atol=1e-6)
    assert (whole.violation <= 1e-6).all() and (whole.gap <= 1e-13 * c).all()


def test_more_columns_than_may_enter_at_once_enter_in_turns():
    X, y = problem(30, 600)
    found = wide_net_path(
        WideProducts(X, y), np.array([1e-4]), np.array([0.5]), positive=False, tol=1e-10, max_iter=10_000
    )
    slope = X.T @ (y - X @ found.coef[0]) - 0.5 * found.coef[0]
    assert found.converged[0] and np.count_nonzero(found.coef) > 200
    # a gap moves slopes by at most the root of twice it times the largest curvature
    allowed = np.sqrt(2.0 * found.gap[0] * (np.linalg.norm(X, 2) ** 2 + 0.5))
    assert np.abs(slope).max() <= 1e-4 + allowed

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, rosen, rosen_der

from assay.errors import DataError, NotConverged, ParameterError
from assay.optimize import gradient_descent


def quadratic(n=5, seed=0, condition=20.0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    A = (Q * np.geomspace(1, condition, n)) @ Q.T
    b = rng.standard_normal(n)
    return (lambda x: float(x @ A @ x / 2 - b @ x)), (lambda x: A @ x - b), np.linalg.solve(A, b)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 6), st.integers(0, 1000), st.sampled_from([0.0, 0.5, 0.9]), st.booleans())
def test_a_quadratic_is_minimised_with_and_without_momentum_and_rate(n, seed, momentum, search):
    f, g, x = quadratic(n, seed)
    result = gradient_descent(f, g, np.zeros(n), rate=None if search else 0.04, momentum=momentum, tol=1e-7)
    assert result.converged
    np.testing.assert_allclose(result.x, x, atol=1e-6)
    np.testing.assert_allclose(result.gradient, g(result.x))
    assert result.value == f(result.x)


def test_steps_follow_the_heavy_ball_formula():
    f, g, _ = quadratic(3)
    rate, momentum = 0.02, 0.8
    points = [np.ones(3)]

    def keep(t, x, value):
        points.append(x)
        return t == 6

    gradient_descent(f, g, points[0], rate=rate, momentum=momentum, tol=0, callback=keep)
    points.insert(0, points[0])
    for before, now, after in zip(points, points[1:], points[2:], strict=False):
        np.testing.assert_allclose(after, now - rate * g(now) + momentum * (now - before), rtol=1e-14)


def test_momentum_saves_iterations_on_a_narrow_valley():
    f, g, _ = quadratic(4, condition=500.0)
    plain = gradient_descent(f, g, np.zeros(4), rate=1 / 500, tol=1e-6, max_iter=50_000)
    heavy = gradient_descent(f, g, np.zeros(4), rate=1 / 500, momentum=0.9, tol=1e-6)
    assert heavy.iterations < plain.iterations / 3


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_searching_for_the_rate_never_raises_the_objective(momentum):
    start = np.array([-1.2, 1.0])
    with pytest.warns(NotConverged):
        result = gradient_descent(rosen, rosen_der, start, momentum=momentum, max_iter=300)
    assert np.all(np.diff(result.record.value) <= 1e-14)
    assert result.value < rosen(start) / 5


def test_the_minimum_agrees_with_scipy_on_a_smooth_convex_function():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 2, 60) * 2.0 - 1

    def f(w):
        return float(np.logaddexp(0, -y * (X @ w)).sum() + w @ w / 2)

    def g(w):
        return -(X.T @ (y / (1 + np.exp(y * (X @ w))))) + w

    oracle = minimize(f, np.zeros(3), jac=g, method="BFGS", options={"gtol": 1e-9})
    result = gradient_descent(f, g, np.zeros(3), momentum=0.5, tol=1e-8)
    assert result.converged
    np.testing.assert_allclose(result.x, oracle.x, atol=1e-7)


def test_the_record_has_the_start_and_every_step():
    f, g, _ = quadratic(2)
    result = gradient_descent(f, g, [1.0, 1.0], rate=0.05, tol=1e-6)
    assert len(result.record.value) == len(result.record.step) == result.iterations + 1
    assert result.record.value[0] == f(np.ones(2))
    assert result.record.step[0] == 0
    assert np.isclose(result.record.gradient_norm[-1], np.linalg.norm(result.gradient), rtol=1e-14)
    assert result.record.gradient_norm[-1] <= 1e-6 < result.record.gradient_norm[-2]
    assert np.isclose(result.record.step[1], 0.05 * result.record.gradient_norm[0])


def test_points_of_any_shape_and_a_start_at_the_minimum():
    result = gradient_descent(lambda X: float((X**2).sum()), lambda X: 2 * X, np.ones((3, 2)))
    assert result.x.shape == (3, 2)
    at_once = gradient_descent(lambda x: 0.0, lambda x: 0 * x, [1.0, 2.0])
    assert at_once.converged
    assert at_once.iterations == 0


def test_the_start_is_left_as_it_was():
    start = np.ones(2)
    gradient_descent(lambda x: float(x @ x), lambda x: 2 * x, start)
    np.testing.assert_array_equal(start, 1.0)


def test_a_callback_stops_without_a_warning():
    f, g, _ = quadratic(3)
    result = gradient_descent(f, g, np.ones(3), rate=0.01, callback=lambda t, x, value: t == 4)
    assert (result.iterations, result.converged) == (4, False)


def test_running_out_of_iterations_warns_with_what_was_reached():
    f, g, _ = quadratic(3)
    with pytest.warns(NotConverged, match=r"stopped after 3 iterations with a gradient of length .* used up"):
        result = gradient_descent(f, g, np.ones(3), rate=0.01, max_iter=3)
    assert not result.converged


def test_a_wrong_gradient_is_noticed_when_no_step_lowers_the_objective():
    with pytest.warns(NotConverged, match="no step along the gradient lowers the objective: check the gradient"):
        gradient_descent(lambda x: float(x @ x), lambda x: -2 * x, np.ones(2))


def test_divergence_names_the_iteration_and_the_rate():
    with pytest.raises(DataError, match=r"the objective must be finite, is not at iteration \d+. Lower the rate \(3\)"):
        gradient_descent(lambda x: float(x @ x), lambda x: 2 * x, np.ones(2), rate=3)


def test_a_search_steps_back_from_where_the_objective_is_not_defined():
    def f(x):
        return float(x[0] - np.log(x[0])) if x[0] > 0 else np.inf

    result = gradient_descent(f, lambda x: 1 - 1 / x, [1e-3])
    assert result.converged
    assert np.isclose(result.x[0], 1.0)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_a_search_adapts_to_the_scale_of_the_variables(scale):
    result = gradient_descent(
        lambda x: float((x / scale) @ (x / scale)), lambda x: 2 * (x / scale) / scale, [scale], tol=1e-6 / scale
    )
    assert result.converged
    assert abs(result.x[0]) <= 1e-6 * scale


def test_a_start_that_is_not_finite_and_gradients_of_the_wrong_shape_are_refused():
    with pytest.raises(DataError, match="the objective must be finite, is not at iteration 0. Start elsewhere"):
        gradient_descent(lambda x: np.nan, lambda x: x, [1.0])
    with pytest.raises(DataError, match="the gradient must be finite, is not at iteration 0"):
        gradient_descent(lambda x: 0.0, lambda x: x * np.inf, [1.0])
    with pytest.raises(DataError, match=r"the gradient must have the shape of x, \(1,\), has \(2,\)"):
        gradient_descent(lambda x: 0.0, lambda x: np.ones(2), [1.0])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"rate": 0}, "rate must be positive, is 0"),
        ({"rate": np.inf}, "rate must be positive, is inf"),
        ({"momentum": 1}, "momentum must be at least 0 and below 1, is 1"),
        ({"tol": -1}, "tol must not be negative, is -1"),
        ({"tol": np.nan}, "tol must not be negative, is nan"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, is 0"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
    ],
)
def test_options_out_of_range_are_refused(options, text):
    with pytest.raises(ParameterError, match=text):
        gradient_descent(lambda x: 0.0, lambda x: x, [1.0], **options)

"""The smallest enclosing ball: all points inside, weights that prove it the smallest, and balls that are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from assay.errors import DataError
from assay.linalg.one_thread import one_blas_thread
from assay.optimize.enclosing_ball import enclosing_ball


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with one_blas_thread():
        yield


def certified(X, tol=1e-12):
    """The ball, after checking its proof against the points alone."""
    X = np.asarray(X, dtype=float)
    ball = enclosing_ball(X)
    size = np.ptp(X, axis=0).max() or 1.0
    # the centre is a sum of at most d + 1 points, a distance one of d squares: each term is rounded
    eps = tol * size + (X.shape[1] + 2) * np.finfo(float).eps * np.abs(X).max()
    distances = np.linalg.norm(X - ball.center, axis=1)
    assert distances.max() <= ball.radius + eps
    assert distances[ball.support] == pytest.approx(ball.radius, abs=eps)
    assert (ball.weights >= 0).all() and ball.weights.sum() == pytest.approx(1)
    assert ball.weights @ X[ball.support] == pytest.approx(ball.center, abs=eps)
    assert 0 <= ball.gap <= tol * size
    assert ball.converged and len(ball.support) <= X.shape[1] + 1
    return ball


def quantised(seed, n, d, levels):
    """Points on a coarse lattice: many are equal, cospherical, or lie in one flat."""
    return np.random.default_rng(seed).integers(0, levels, (n, d)).astype(float)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 9999), n=st.integers(1, 60), d=st.integers(1, 12))
def test_the_centre_is_a_mean_of_points_on_the_sphere_and_none_lies_outside(seed, n, d):
    certified(np.random.default_rng(seed).standard_normal((n, d)))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 9999), n=st.integers(1, 80), d=st.integers(1, 8), levels=st.integers(1, 4))
def test_equal_cospherical_and_flat_points_are_no_hindrance(seed, n, d, levels):
    certified(quantised(seed, n, d, levels))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 9999), n=st.integers(1, 30), d=st.integers(1, 6))
def test_moving_turning_and_scaling_the_points_does_the_same_to_the_ball(seed, n, d):
    rng = np.random.default_rng(seed)
    X, shift = rng.standard_normal((n, d)), rng.standard_normal(d) * 50
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    plain, moved = certified(X), certified(3.0 * X @ turn + shift)
    assert moved.radius == pytest.approx(3.0 * plain.radius, abs=1e-12)
    assert moved.center == pytest.approx(3.0 * plain.center @ turn + shift, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_scipy_finds_the_same_ball_by_its_dual(seed):
    X = np.random.default_rng(seed).standard_normal((15, 3))
    squares, inner = (X**2).sum(axis=1), X @ X.T
    found = minimize(
        lambda a: a @ inner @ a - a @ squares, np.full(15, 1 / 15), jac=lambda a: 2 * inner @ a - squares,
        bounds=[(0, 1)] * 15, constraints={"type": "eq", "fun": lambda a: a.sum() - 1}, method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    ball = certified(X)
    assert ball.radius**2 == pytest.approx(-found.fun, rel=1e-7)
    assert ball.center == pytest.approx(found.x @ X, abs=1e-4)


@pytest.mark.parametrize("d", [1, 2, 7, 60])
def test_known_balls_are_found(d):
    simplex = certified(np.eye(d + 1))  # unit vectors: about their mean, at distance sqrt(d / (d + 1))
    assert simplex.radius == pytest.approx(np.sqrt(d / (d + 1)))
    assert simplex.weights == pytest.approx(np.full(d + 1, 1 / (d + 1)))
    cross = certified(np.vstack([np.eye(d), -np.eye(d)]) + 5.0)
    assert cross.radius == pytest.approx(1.0) and cross.center == pytest.approx(np.full(d, 5.0))


def test_points_on_a_sphere_give_that_sphere_with_thousands_of_them_as_far():
    U = np.random.default_rng(0).standard_normal((20_000, 6))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    ball = certified(2.0 * U + 3.0, tol=1e-9)
    assert ball.radius == pytest.approx(2.0, abs=1e-9)
    assert ball.center == pytest.approx(np.full(6, 3.0), abs=1e-8)


def test_a_square_has_its_diagonal_for_a_diameter_and_an_obtuse_triangle_its_longest_side():
    assert certified([[0, 0], [0, 1], [1, 0], [1, 1]]).radius == pytest.approx(np.sqrt(0.5))
    obtuse = certified([[0, 0], [10, 0], [5, 1]])
    assert obtuse.radius == pytest.approx(5.0) and obtuse.support.tolist() == [0, 1]
    upright = certified([[0, 0], [2, 0], [1, np.sqrt(3)]])
    assert upright.radius == pytest.approx(2 / np.sqrt(3)) and len(upright.support) == 3


@pytest.mark.parametrize("points", [[[3.0, 4.0]], np.full((9, 2), 3.0), np.zeros((4, 1))])
def test_one_point_however_often_is_a_ball_of_radius_zero(points):
    ball = certified(points)
    assert ball.radius == 0.0 and ball.center.tolist() == list(points[0])


@pytest.mark.parametrize("unit", [1e-310, 1e-300, 1e-150, 1e150, 1e300, 1e307])
def test_no_unit_is_too_small_or_too_large(unit):
    X = np.random.default_rng(1).standard_normal((50, 3))
    plain, scaled = enclosing_ball(X), enclosing_ball(X * unit)
    assert scaled.radius / unit == pytest.approx(plain.radius, rel=1e-9)
    assert scaled.center / unit == pytest.approx(plain.center, abs=1e-9)


def test_points_far_from_zero_keep_their_digits():
    X = np.random.default_rng(2).standard_normal((200, 4))
    assert certified(X + 1e8).radius == pytest.approx(certified(X).radius, rel=1e-7)


def test_many_more_columns_than_points_and_points_in_a_flat_of_them():
    X = np.random.default_rng(3).standard_normal((30, 2000))
    certified(X)
    flat = np.random.default_rng(4).standard_normal((200, 2)) @ np.random.default_rng(5).standard_normal((2, 300))
    assert len(certified(flat).support) <= 3


def test_a_far_point_takes_half_of_the_ball():
    X = np.vstack([np.random.default_rng(6).standard_normal((100, 3)), [[1e9, 0.0, 0.0]]])
    assert certified(X).radius == pytest.approx(5e8, rel=1e-6)


def test_the_points_are_left_as_they_were_and_too_few_steps_are_owned_up_to():
    X = np.random.default_rng(7).standard_normal((300, 8))
    before = X.copy()
    short = enclosing_ball(X, max_iter=2)
    assert np.array_equal(X, before)
    assert not short.converged and short.n_iter == 2
    # unfinished, and still a proof: the true radius lies between the bounds
    assert short.lower_bound <= enclosing_ball(X).radius <= short.radius


def test_what_cannot_be_enclosed_is_refused():
    with pytest.raises(DataError, match="no points have no smallest ball"):
        enclosing_ball(np.empty((0, 2)))
    with pytest.raises(DataError, match=r"points must be finite, entry \[1, 0\]"):
        enclosing_ball([[0.0, 1.0], [np.inf, 1.0]])
    with pytest.raises(DataError, match="points must have 2 dimensions"):
        enclosing_ball([1.0, 2.0])

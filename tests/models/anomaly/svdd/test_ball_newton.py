"""The ball by Newton steps: its gap is a proof, and the centre is that of the exact solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import NotConverged
from assay.models.anomaly.robust_svdd.robust_ball import robust_ball
from assay.models.anomaly.svdd.ball_newton import ball_by_newton


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 80), st.integers(1, 100), st.integers(0, 10**6), st.floats(0.05, 1.0))
def test_weights_are_feasible_and_the_gap_is_a_proof(n, d, seed, nu):
    X = np.random.default_rng(seed).standard_normal((n, d))
    C = 1.0 / (nu * n)
    ball = ball_by_newton(X, np.full(n, C), tol=1e-7)
    assert ball.converged
    assert ball.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert ball.weights.min() >= 0 and ball.weights.max() <= C
    squares = np.sum((X - ball.center) ** 2, axis=1)
    primal = min(s + C * np.maximum(squares - s, 0).sum() for s in squares)
    dual = ball.weights @ np.sum((X - ball.weights @ X) ** 2, axis=1)
    assert primal - dual <= 1e-7 + 1e-12 * d
    assert primal - dual == pytest.approx(ball.gap, abs=1e-10)
    least = robust_ball(X, C, loss="hinge").objective
    assert dual - 1e-9 <= least <= primal + 1e-9


def test_c_of_a_point_counts_as_so_many_points():
    rng = np.random.default_rng(0)
    X, often = rng.standard_normal((40, 3)), rng.integers(1, 4, 40)
    C = 1.0 / (0.2 * often.sum())
    one = ball_by_newton(X, C * often, tol=1e-10)
    many = ball_by_newton(np.repeat(X, often, axis=0), np.full(often.sum(), C), tol=1e-10)
    # half the square of the distance of two centres is at most the sum of both gaps
    np.testing.assert_allclose(one.center, many.center, atol=4e-5)


def test_thirty_rows_take_a_handful_of_steps():
    X = np.random.default_rng(0).standard_normal((30, 3))
    for nu in (0.01, 0.1, 0.3, 0.5):
        assert ball_by_newton(X - X.mean(axis=0), np.full(30, 1.0 / (nu * 30)), tol=1e-8).iterations < 200


def test_equal_points_are_their_own_centre():
    ball = ball_by_newton(np.zeros((5, 2)), np.full(5, 0.5), tol=1e-9)
    np.testing.assert_allclose(ball.center, [0.0, 0.0])
    assert ball.gap == 0.0 and ball.converged


def test_steps_used_up_are_a_warning():
    X = np.random.default_rng(0).standard_normal((200, 5))
    with pytest.warns(NotConverged, match="a duality gap of .* after 2 Newton steps, allowed .*: raise max_iter"):
        assert not ball_by_newton(X, np.full(200, 0.05), tol=1e-9, max_iter=2).converged

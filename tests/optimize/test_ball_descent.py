"""The ball by descent: its gap is a proof, and the centre is that of the exact solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import NotConverged
from assay.optimize.ball_descent import ball_by_descent
from assay.optimize.robust_ball import robust_ball


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 80), st.integers(1, 5), st.integers(0, 10**6), st.floats(0.05, 1.0))
def test_weights_are_feasible_and_the_gap_is_a_proof(n, d, seed, nu):
    X = np.random.default_rng(seed).standard_normal((n, d)) + 100.0
    C = 1.0 / (nu * n)
    ball = ball_by_descent(X, C, tol=1e-4)
    assert ball.converged
    assert ball.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert ball.weights.min() >= 0 and ball.weights.max() <= C
    squares = np.sum((X - ball.center) ** 2, axis=1)
    primal = min(s + C * np.maximum(squares - s, 0).sum() for s in squares)
    image = ball.weights @ X
    dual = ball.weights @ np.sum((X - image) ** 2, axis=1)
    assert primal - dual == pytest.approx(ball.gap, abs=1e-9)
    least = robust_ball(X, C, loss="hinge").objective
    assert dual - 1e-9 <= least <= primal + 1e-9


def test_equal_points_are_their_own_centre():
    ball = ball_by_descent(np.full((5, 2), 3.0), 0.5)
    np.testing.assert_allclose(ball.center, [3.0, 3.0])
    assert ball.gap == 0.0 and ball.iterations == 0


def test_steps_used_up_are_a_warning():
    X = np.random.default_rng(0).standard_normal((200, 5))
    with pytest.warns(NotConverged, match="descent stopped after 2 steps with a duality gap of .* or use the dual"):
        assert not ball_by_descent(X, 0.05, tol=1e-9, max_iter=2).converged

"""The hard margin: the distance of two convex hulls, or a bound on it that is true."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from assay.models.prediction.svm.two_class import hard_margin
from assay.optimize.smo.rows import MatrixRows
from assay.optimize.smo.smo import smo


def found(X, y, tol=1e-6):
    X = X - X.mean(axis=0)
    kernel = MatrixRows(X @ X.T)

    def solve(C, lower):
        start = None if lower is None else lower.alpha
        return smo(kernel, -np.ones(len(y)), 0.0, C, signs=y, start=start, tol=tol, warn=False)

    return hard_margin(solve, y, float(np.sqrt(np.mean(np.sum(X**2, axis=1)))))


def separable(X, y):
    """By linear programming: some w and b with y (w.x + b) >= 1."""
    A = -y[:, None] * np.column_stack([X, np.ones(len(X))])
    return linprog(np.zeros(A.shape[1]), A_ub=A, b_ub=-np.ones(len(X)), bounds=(None, None)).status == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 25), st.integers(1, 3), st.integers(0, 10**6), st.floats(0.0, 4.0))
def test_it_separates_what_linear_programming_separates_and_nothing_else(n, d, seed, apart):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = np.round(rng.standard_normal((n, d)) + apart * (y > 0)[:, None], 2)
    hard = found(X, y)
    assert hard.decided and hard.separable == separable(X, y)
    if hard.separable:
        w = (y * hard.found.alpha) @ X
        slack = y * (X @ w)
        assert slack[y > 0].min() + slack[y < 0].min() >= 2.0 - 1e-5  # the two edges are 2 apart
        assert hard.largest_margin == pytest.approx(1.0 / np.linalg.norm(w), rel=1e-4)
        assert not len(hard.inside)
    else:
        assert hard.largest_margin <= 1e-5 * hard.unit
        without = np.setdiff1d(np.arange(n), hard.inside)
        assert len(set(y[without])) < 2 or separable(X[without], y[without])  # the rows named are those in the way


def test_the_bound_is_the_distance_of_two_points_of_the_hulls():
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    X = np.array([[0.0], [2.0], [1.0], [3.0]])
    hard = found(X, y)
    a = hard.found.alpha
    p, q = (a[y == s] @ X[y == s] / a[y == s].sum() for s in (1.0, -1.0))
    assert hard.largest_margin == pytest.approx(np.linalg.norm(p - q) / 2, rel=1e-9)
    assert set(hard.inside) == {1, 2}

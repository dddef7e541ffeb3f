"""The end of small programs: only rounding is left, on one line and on two, where pairs alone take for ever."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DataError
from assay.optimize.qp import qp_kkt
from assay.optimize.smo.rows import MatrixRows
from assay.optimize.smo.smo import smo


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(1, 70), st.integers(0, 10**6), st.floats(0.01, 100.0))
def test_a_loose_tolerance_ends_at_the_solution(n, d, seed, C):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X[n // 2 :] = X[: n - n // 2]  # rows that are the same leave K singular
    K = X @ X.T
    found = smo(MatrixRows(K), -np.ones(n), 0.0, C, signs=y, tol=1e-2)
    Q = np.outer(y, y) * K
    kkt = qp_kkt(Q, -np.ones(n), found.alpha, A_eq=y[None], b_eq=[0.0], lower=0.0, upper=C, active=1e-12 * C)
    assert kkt.worst <= 1e-9 * (1.0 + np.abs(K).max() * found.alpha.sum())


def test_a_kernel_that_pairs_crawl_on_is_solved():
    rng = np.random.default_rng(0)
    X = 10.0 * rng.standard_normal((60, 4))
    K = (1.0 + X @ X.T) ** 2  # values up to a million, C 1: without an end after ten million pairs
    y = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    found = smo(MatrixRows(K), -np.ones(60), 0.0, 1.0, signs=y, tol=1e-3)
    assert found.converged and found.iterations < 100_000


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 10**6), st.floats(0.05, 0.95))
def test_two_lines_keep_their_totals_and_their_conditions(n, d, seed, nu):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((2 * n, d)), np.repeat([1.0, -1.0], n)
    K, total = X @ X.T + np.eye(2 * n) * 0.1, 0.5 * nu
    found = smo(
        MatrixRows(K),
        np.zeros(2 * n),
        0.0,
        1.0 / (2 * n),
        signs=y,
        lines=(y < 0).astype(int),
        total=[total, -total],
        tol=1e-4,
    )
    lines = np.stack([y > 0, y < 0]).astype(float)
    Q = np.outer(y, y) * K
    kkt = qp_kkt(
        Q,
        np.zeros(2 * n),
        found.alpha,
        A_eq=lines,
        b_eq=[total, total],
        lower=0.0,
        upper=1.0 / (2 * n),
        active=1e-13,
    )
    assert found.converged and kkt.worst <= 1e-10 * np.abs(K).max()
    assert found.rhos.shape == (2,)


def test_two_lines_of_many_rows_are_solved_by_blocks():
    rng = np.random.default_rng(1)
    n = 1000
    X, y = rng.standard_normal((2 * n, 3)), np.repeat([1.0, -1.0], n)
    X[:n, 0] += 1.0
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    total = 0.2
    asked = {"signs": y, "lines": (y < 0).astype(int), "total": [total, -total], "tol": 1e-6}
    found = smo(MatrixRows(K), np.zeros(2 * n), 0.0, 1.0 / (2 * n), **asked)
    for line, side in ((y > 0, total), (y < 0, total)):
        G, a = found.gradient[line] * y[line], found.alpha[line] * y[line]
        low, high = (0.0, 1.0 / (2 * n)) if y[line][0] > 0 else (-1.0 / (2 * n), 0.0)
        assert G[a > low].max() - G[a < high].min() <= 1e-6
        assert np.abs(a).sum() == pytest.approx(side, abs=1e-12)
    assert found.converged and found.violation <= 1e-6


def test_lines_without_their_totals_are_refused():
    with pytest.raises(DataError, match="total must be one number for each of 2 lines"):
        smo(MatrixRows(np.eye(2)), np.zeros(2), 0.0, 1.0, lines=[0, 1], total=1.0)
    with pytest.raises(DataError, match="lines must name a line"):
        smo(MatrixRows(np.eye(2)), np.zeros(2), 0.0, 1.0, lines=[0], total=1.0)

"""Logistic regression on arrays: derivatives, solvers beside SciPy and each other, separation where it was built in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array, random_array
from scipy.special import log_softmax

from assay.models.prediction.logistic.ridged_loss import Curvature, gradient_ascent, lbfgs, newton, newton_cg
from assay.models.prediction.logistic.separation import separating_direction
from assay.models.prediction.logistic.terms import (
    LogisticDesign,
    advantages,
    block_terms,
    contrasts,
    score_ranges,
    sparse_bend,
    sparse_chances,
)


def problem(n=60, d=3, g=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    codes = (X @ rng.standard_normal((d, g)) + rng.gumbel(size=(n, g))).argmax(axis=1)
    codes[:g] = np.arange(g)
    return X, codes, rng.uniform(0.5, 2.0, n), rng


def loss_by_definition(X, codes, w, theta):
    Z = np.column_stack([X, np.ones(len(X))])
    scores = Z @ theta.T @ contrasts(len(theta) + 1).T
    return -float(w @ log_softmax(scores, axis=1)[np.arange(len(X)), codes])


def differences(f, x, h=1e-5):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_gradient_and_curvature_are_the_derivatives_of_the_likelihood(g, d, seed):
    X, codes, w, rng = problem(30, d, g, seed)
    theta = rng.standard_normal((g - 1, d + 1))
    design = LogisticDesign(None, None, True)
    terms = block_terms(design, X, codes, w, theta, curvature=True)
    assert terms.loss == pytest.approx(loss_by_definition(X, codes, w, theta), rel=1e-12)
    slope = differences(lambda t: loss_by_definition(X, codes, w, t.reshape(theta.shape)), theta.ravel())
    np.testing.assert_allclose(terms.gradient.ravel(), slope, atol=1e-6)

    def gradient(t):
        return block_terms(design, X, codes, w, t.reshape(theta.shape), curvature=False).gradient.ravel()

    np.testing.assert_allclose(terms.curvature, differences(gradient, theta.ravel()), atol=1e-6)
    assert np.linalg.eigvalsh(terms.curvature)[0] >= -1e-12


@pytest.mark.parametrize("g", [2, 4, 9])
def test_blocks_add_up_and_sparse_rows_are_the_same_rows(g):
    X, codes, w, rng = problem(80, 3, g)
    theta = rng.standard_normal((g - 1, 4))
    design = LogisticDesign(None, np.array([0.5, 1.0, 2.0]), True)
    whole = block_terms(design, X, codes, w, theta, curvature=True)
    parts = [block_terms(design, X[s], codes[s], w[s], theta, curvature=True) for s in (slice(0, 33), slice(33, 80))]
    both = parts[0] + parts[1]
    assert both.loss == pytest.approx(whole.loss, rel=1e-13) and both.doubtful == whole.doubtful
    np.testing.assert_allclose(both.gradient, whole.gradient, atol=1e-12)
    np.testing.assert_allclose(both.curvature, whole.curvature, atol=1e-12)
    for curvature in (False, True):
        sparse = block_terms(design, csr_array(X), codes, w, theta, curvature=curvature)
        assert sparse.loss == pytest.approx(whole.loss, rel=1e-13) and sparse.doubtful == whole.doubtful
        np.testing.assert_allclose(sparse.gradient, whole.gradient, atol=1e-12)


def test_scores_of_a_thousand_neither_overflow_nor_lose_the_loss():
    X, codes = np.array([[1.0], [-1.0], [1.0]]), np.array([1, 0, 0])
    terms = block_terms(LogisticDesign(None, None, False), X, codes, None, np.array([[1000.0]]), curvature=True)
    assert terms.loss == 1000.0 and terms.doubtful == 1 and terms.curvature[0, 0] == 0.0
    np.testing.assert_array_equal(terms.gradient, [[1.0]])


def test_contrasts_are_orthonormal_and_sum_to_zero_over_classes():
    for g in (3, 7):
        A = contrasts(g)
        np.testing.assert_allclose(A.T @ A, np.eye(g - 1), atol=1e-14)
        np.testing.assert_allclose(A.sum(axis=0), 0.0, atol=1e-14)


def evaluated(X, codes, w):
    design = LogisticDesign(None, None, True)
    return lambda theta, curvature: block_terms(design, X, codes, w, theta, curvature=curvature)


@pytest.mark.parametrize("solver", [newton, lbfgs, gradient_ascent])
@pytest.mark.parametrize("g", [2, 3])
def test_every_solver_ends_where_scipy_does_and_never_climbs(solver, g):
    X, codes, w, _ = problem(120, 3, g)
    ridge = np.array([0.3, 0.3, 0.3, 0.0])
    start = np.zeros((g - 1, 4))

    def objective(t):
        theta = t.reshape(start.shape)
        return loss_by_definition(X, codes, w, theta) + 0.5 * float(np.sum(ridge * theta**2))

    peer = minimize(objective, start.ravel(), method="BFGS", options={"gtol": 1e-9})
    found = solver(evaluated(X, codes, w), start, ridge, tol=1e-7, max_iter=5000)
    assert found.converged and np.abs(found.gradient).max() <= 1e-7
    assert found.objective == pytest.approx(peer.fun, rel=1e-12)
    np.testing.assert_allclose(found.theta.ravel(), peer.x, atol=1e-5)
    assert len(found.path) == found.iterations + 1 and found.path[-1] == pytest.approx(found.objective, rel=1e-15)
    assert (np.diff(found.path) <= 1e-13 * found.objective).all()


@pytest.mark.parametrize("scale", [1.0, 0.2, 30.0])
def test_a_wrong_first_curvature_costs_steps_but_not_the_answer(scale):
    X, codes, w, _ = problem(150, 3, 2)
    start, ridge = np.zeros((1, 4)), np.full(4, 0.1)
    right = newton(evaluated(X, codes, w), start, ridge, keep=0.0, tol=1e-10, max_iter=50)
    found = newton(evaluated(X, codes, w), start, ridge, first=scale * np.eye(4), tol=1e-10, max_iter=200)
    assert found.converged
    np.testing.assert_allclose(found.theta, right.theta, atol=1e-9)
    np.testing.assert_allclose(found.curvature, right.curvature, rtol=1e-8)


def test_a_settled_curvature_is_not_made_again_and_is_nearly_that_of_the_end():
    X, codes, w, _ = problem(400, 3, 2)
    curved = []

    def evaluate(theta, curvature):
        curved.append(curvature)
        return evaluated(X, codes, w)(theta, curvature)

    start, ridge = np.zeros((1, 4)), np.zeros(4)
    exact = newton(evaluated(X, codes, w), start, ridge, keep=0.0, tol=1e-12, max_iter=50)
    curved.clear()
    first = exact.curvature * 1.1
    found = newton(evaluate, exact.theta + 0.01, ridge, first=first, settled=1e-2, tol=1e-9, max_iter=50)
    assert found.converged and sum(curved) == 1
    np.testing.assert_allclose(found.curvature, exact.curvature, rtol=1e-3)


def test_curvature_leaves_directions_without_any_alone():
    H = np.diag([4.0, 0.0, 1e-30])
    H[0, 2] = H[2, 0] = 1e-15
    step, decrement = Curvature(H).newton_step(np.array([[4.0, 0.0, 0.0]]))
    assert step[0, 1] == 0.0 and decrement > 0.0
    singular = np.ones((2, 2))
    np.testing.assert_allclose(Curvature(singular).solve(np.array([2.0, 2.0])), [1.0, 1.0])


def looked_at(X, codes, start=None, count=None):
    g = codes.max() + 1
    design = LogisticDesign(None, None, True)
    Z = np.column_stack([X, np.ones(len(X))])

    def worst(theta, many):
        order = np.argsort(advantages(design, X, codes, theta), kind="stable")[:many]
        return order, Z[order], codes[order]

    zero = np.zeros((g - 1, X.shape[1] + 1))
    slope = block_terms(design, X, codes, None, zero, curvature=False).gradient
    widest = lambda theta: float(score_ranges(design, X, codes, None, theta).max())  # noqa: E731
    return separating_direction(worst, widest, slope, zero if start is None else start, count)


def proved(X, codes, found):
    """Whether no row is on the wrong side of the direction, and some are beyond it."""
    Z = np.column_stack([X, np.ones(len(X))])
    scores = Z @ found.direction.T @ contrasts(codes.max() + 1).T
    own = scores[np.arange(len(X)), codes]
    return (own - scores.max(axis=1)).min() >= -1e-6 and (own - scores.min(axis=1)).max() > 1e-4


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_classes_cut_out_by_linear_scores_are_found_separated(g, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, d))
    codes = (X @ rng.standard_normal((d, g))).argmax(axis=1)
    codes = np.unique(codes, return_inverse=True)[1]
    if codes.max() == 0:
        return
    found = looked_at(X, codes, count=30)
    assert found.separated and proved(X, codes, found)


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 4), st.integers(1, 4), st.integers(0, 10**6), st.booleans())
def test_points_seen_in_every_class_forbid_separation_and_a_flag_of_one_class_brings_it_back(g, d, seed, flagged):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, d))
    codes = rng.integers(0, g, 200)
    X[: g * (d + 2)] = np.repeat(rng.standard_normal((d + 2, d)), g, axis=0)
    codes[: g * (d + 2)] = np.tile(np.arange(g), d + 2)
    if flagged:
        flag = np.zeros(200)
        flag[-5:], codes[-5:] = 1.0, g - 1
        X = np.column_stack([X, flag])
    found = looked_at(X, codes, count=30)
    assert found.separated is flagged
    assert not flagged or proved(X, codes, found)


def test_the_curvature_of_many_classes_keeps_its_digits_where_one_class_is_nearly_sure(monkeypatch):
    # theta of length 60 makes chances of 1 - 1e-30: 1 - p by subtraction would be 0 or nothing but rounding
    X, codes, w, rng = problem(50, 2, 9)
    theta = 60.0 * rng.standard_normal((8, 3))
    one = block_terms(LogisticDesign(None, None, True), X, codes, w, theta, curvature=True).curvature
    monkeypatch.setattr("assay.models.prediction.logistic.terms._FEW", 9)
    pairs = block_terms(LogisticDesign(None, None, True), X, codes, w, theta, curvature=True).curvature
    np.testing.assert_allclose(one, pairs, rtol=0, atol=1e-13 * np.abs(pairs).max())
    for row in np.flatnonzero(w > 0)[:20]:
        some = slice(row, row + 1)
        monkeypatch.setattr("assay.models.prediction.logistic.terms._FEW", 8)
        one = block_terms(
            LogisticDesign(None, None, True), X[some], codes[some], w[some], theta, curvature=True
        ).curvature
        monkeypatch.setattr("assay.models.prediction.logistic.terms._FEW", 9)
        pairs = block_terms(
            LogisticDesign(None, None, True), X[some], codes[some], w[some], theta, curvature=True
        ).curvature
        np.testing.assert_allclose(one, pairs, rtol=0, atol=1e-12 * np.abs(pairs).max())


def test_newton_renews_a_curvature_whose_steps_are_cut_short():
    # from zero, steps of 30 classes overshoot; kept to the end, the first curvature took 100 steps and more
    X, codes, w, _ = problem(5000, 10, 30)
    design = LogisticDesign(None, None, True)
    ridge = np.append(np.ones(10), 0.0)

    def evaluate(theta, curvature):
        return block_terms(design, X, codes, w, theta, curvature=curvature)

    found = newton(evaluate, np.zeros((29, 11)), ridge, keep=0.5, settled=7e-3, tol=5e-5, max_iter=100)
    assert found.converged and found.iterations <= 30


def _drawn(classes, n=60, d=40):
    rng = np.random.default_rng(classes)
    X = random_array((n, d), density=0.2, rng=rng, format="csr") * 3.0
    return X, rng.integers(0, classes, n), rng.uniform(0.0, 2.0, n), rng


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_products_are_those_with_the_curvature(classes, intercept, weighted):
    X, codes, weights, rng = _drawn(classes)
    design = LogisticDesign(None, rng.uniform(0.5, 2.0, 40), intercept)
    theta, direction = rng.standard_normal((2, classes - 1, 40 + intercept))
    w = weights if weighted else None
    H = block_terms(design, X, codes, w, theta, curvature=True).curvature
    found = sparse_bend(design, X, sparse_chances(design, X, theta), w, direction)
    np.testing.assert_allclose(found.ravel(), H @ direction.ravel(), rtol=1e-9, atol=1e-9 * np.abs(H).max())


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("penalty", [1e-4, 1.0, 1e4])
def test_it_ends_where_the_gradient_vanishes(classes, penalty):
    X, codes, weights, _ = _drawn(classes)
    design = LogisticDesign(None, None, True)
    ridge = np.append(np.full(40, penalty), 0.0)

    def evaluate(theta, curvature):
        return block_terms(design, X, codes, weights, theta, curvature=curvature)

    def bend(theta):
        chances = sparse_chances(design, X, theta)
        return lambda direction: sparse_bend(design, X, chances, weights, direction)

    start = np.zeros((classes - 1, 41))
    found = newton_cg(evaluate, bend, start, ridge, tol=1e-8, max_iter=100)
    peer = lbfgs(evaluate, start, ridge, tol=1e-8, max_iter=10_000)
    assert found.converged and np.abs(found.gradient).max() <= 1e-8
    assert (np.diff(found.path) <= 1e-12 * found.path[0]).all()
    assert found.objective == pytest.approx(peer.objective, rel=1e-10)
    # strongly convex by the penalty in all but the intercepts
    np.testing.assert_allclose(found.theta[:, :40], peer.theta[:, :40], atol=1e-6 / min(penalty, 1.0))


def test_few_steps_are_said_not_to_be_enough():
    X, codes, _, _ = _drawn(2)
    design = LogisticDesign(None, None, False)

    def bend(theta):
        chances = sparse_chances(design, X, theta)
        return lambda direction: sparse_bend(design, X, chances, None, direction)

    found = newton_cg(
        lambda theta, curvature: block_terms(design, X, codes, None, theta, curvature=curvature),
        bend,
        np.zeros((1, 40)),
        np.full(40, 0.01),
        tol=1e-10,
        max_iter=1,
    )
    assert not found.converged and found.iterations == 1

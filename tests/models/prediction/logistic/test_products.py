"""Newton steps from products with the curvature: against the curvature that is made, and other solvers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from assay.models.prediction.logistic.descent import lbfgs
from assay.models.prediction.logistic.products import newton_cg
from assay.models.prediction.logistic.terms import Design, block_terms, sparse_bend, sparse_chances


def _drawn(classes, n=60, d=40):
    rng = np.random.default_rng(classes)
    X = sp.random_array((n, d), density=0.2, rng=rng, format="csr") * 3.0
    return X, rng.integers(0, classes, n), rng.uniform(0.0, 2.0, n), rng


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_products_are_those_with_the_curvature(classes, intercept, weighted):
    X, codes, weights, rng = _drawn(classes)
    design = Design(None, rng.uniform(0.5, 2.0, 40), intercept)
    theta, direction = rng.standard_normal((2, classes - 1, 40 + intercept))
    w = weights if weighted else None
    H = block_terms(design, X, codes, w, theta, curvature=True).curvature
    found = sparse_bend(design, X, sparse_chances(design, X, theta), w, direction)
    np.testing.assert_allclose(found.ravel(), H @ direction.ravel(), rtol=1e-9, atol=1e-9 * np.abs(H).max())


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("price", [1e-4, 1.0, 1e4])
def test_it_ends_where_the_gradient_vanishes(classes, price):
    X, codes, weights, _ = _drawn(classes)
    design = Design(None, None, True)
    ridge = np.append(np.full(40, price), 0.0)

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
    # strongly convex by the price in all but the intercepts
    np.testing.assert_allclose(found.theta[:, :40], peer.theta[:, :40], atol=1e-6 / min(price, 1.0))


def test_few_steps_are_said_not_to_be_enough():
    X, codes, _, _ = _drawn(2)
    design = Design(None, None, False)

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

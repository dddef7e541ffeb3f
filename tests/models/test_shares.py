"""Shares given in any precision: sums to which rounding leads are taken, others refused."""

import numpy as np
import pytest

from assay import MDP, Fisher, GaussianMixture, GaussianRule, NaiveBayes
from assay.errors import AssayError
from assay.models.shares import sum_to_one

RNG = np.random.default_rng(3)


def table(g):
    codes = np.repeat(np.arange(g), 6)
    return RNG.normal(size=(len(codes), 2)) + codes[:, None], codes


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_whatever_is_divided_by_its_sum_in_its_own_precision_sums_to_one(kind):
    for count in (1, 3, 10, 1000, 30_000):
        drawn = RNG.random(count).astype(kind)
        assert sum_to_one(drawn / drawn.sum())
    assert not sum_to_one(np.asarray([0.4, 0.5], dtype=kind))


@pytest.mark.parametrize("model", [Fisher, GaussianRule, NaiveBayes])
def test_priors_of_float32_are_taken_and_mean_the_same(model):
    X, y = table(7)
    coarse = np.full(7, 1 / 7, np.float32)
    assert abs(float(coarse.astype(np.float64).sum()) - 1.0) > 1e-8
    found, exact = model(priors=coarse).fit(X, y), model(priors=np.full(7, 1 / 7)).fit(X, y)
    # a prior is off by half a unit of float32 at most, and so are the odds that it makes
    np.testing.assert_allclose(found.predict_proba(X), exact.predict_proba(X), rtol=1e-6)
    assert found.priors_.sum() == pytest.approx(1.0, abs=1e-14)
    with pytest.raises(AssayError, match="sum to 1"):
        model(priors=coarse * np.float32(1.001)).fit(X, y)
    with pytest.raises(AssayError, match="sum to 1"):
        model(priors=coarse.astype(np.float64)).fit(X, y)  # all digits are there, and they say something else


def test_weights_of_float32_begin_a_mixture():
    X, _ = table(7)
    coarse = np.full(7, 1 / 7, np.float32)
    assert GaussianMixture(7, weights_init=coarse, tol=0.1).fit(X).weights_.sum() == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(AssayError, match="weights_init is not negative and sums to 1; it sums to 7"):
        GaussianMixture(7, weights_init=coarse * 7, tol=0.1).fit(X)


def test_probabilities_of_float32_make_a_decision_process():
    P = np.full((2, 7, 7), 1 / 7, np.float32)
    rewards = np.arange(14.0).reshape(7, 2)
    exact = MDP(np.full((2, 7, 7), 1 / 7), rewards, 0.5)
    policy = np.full((7, 2), 0.5)
    np.testing.assert_allclose(MDP(P, rewards, 0.5).value(policy), exact.value(policy), rtol=1e-12)
    three = MDP(np.full((3, 7, 7), 1 / 7), np.arange(21.0).reshape(7, 3), 0.5)
    thirds = np.full((7, 3), 1 / 3)
    np.testing.assert_allclose(three.value(thirds.astype(np.float32)), three.value(thirds), rtol=1e-12)
    with pytest.raises(AssayError, match="sum to 1.07"):
        MDP(P + np.float32(0.01), rewards, 0.5)

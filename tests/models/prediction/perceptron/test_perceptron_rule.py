"""Rosenblatt's rule: Novikoff's bound, what pocket and average promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.models.prediction.perceptron.perceptron_rule import perceptron_rule


def separable(n, e, k, seed, gap=0.2):
    """Rows that some linear scores put into their classes by a margin, and those scores."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((k, e))
    Z = rng.standard_normal((40 * n, e))
    scores = np.sort(Z @ truth.T, axis=1)
    clear = scores[:, -1] - scores[:, -2] > gap * np.linalg.norm(truth)
    Z = Z[clear][:n]
    return Z, np.argmax(Z @ truth.T, axis=1), truth


def run(Z, codes, k, version="plain", max_iter=2000, seed=0):
    return perceptron_rule(Z, codes, k, version=version, max_iter=max_iter, rng=np.random.default_rng(seed))


def wrong(Z, codes, W):
    return int(np.sum(np.argmax(Z @ W.T, axis=1) != codes))


class TestSeparableRows:
    @settings(max_examples=25, deadline=None)
    @given(e=st.integers(2, 6), k=st.integers(2, 5), seed=st.integers(0, 10**6), order=st.integers(0, 99))
    def test_no_more_mistakes_are_made_than_the_margin_of_any_separator_allows(self, e, k, seed, order):
        Z, codes, truth = separable(60, e, k, seed)
        found = run(Z, codes, k, seed=order)
        assert found.separated and found.errors == 0 and wrong(Z, codes, found.weights) == 0
        assert found.mistakes <= found.bound
        scores = Z @ truth.T
        own = scores[np.arange(len(Z)), codes]
        scores[np.arange(len(Z)), codes] = -np.inf
        margin = (own - scores.max(axis=1)).min() / (np.sqrt(2.0) * np.linalg.norm(truth))
        assert found.mistakes <= (np.linalg.norm(Z, axis=1).max() / margin) ** 2

    def test_two_classes_walk_as_rosenblatts_single_vector_does(self):
        Z, codes, _ = separable(80, 3, 2, seed=4)
        signs = 2 * codes - 1
        w, mistakes, rng = np.zeros(3), 0, np.random.default_rng(7)
        for _ in range(500):
            before = mistakes
            for i in rng.permutation(80):
                if signs[i] * (w @ Z[i]) <= 0.0:
                    w, mistakes = w + signs[i] * Z[i], mistakes + 1
            if mistakes == before:
                break
        found = run(Z, codes, 2, seed=7)
        assert found.mistakes == mistakes
        np.testing.assert_allclose(found.weights, [-w, w], rtol=1e-12)
        np.testing.assert_allclose(found.margin, (signs * (Z @ w)).min() / np.linalg.norm(w), rtol=1e-12)


class TestRowsThatCannotBeSeparated:
    def rows(self):
        Z, codes, _ = separable(300, 4, 3, seed=2, gap=0.05)
        codes = codes.copy()
        codes[::10] = (codes[::10] + 1) % 3
        return Z, codes

    def test_the_pocket_holds_weights_that_err_no_more_often_than_the_last(self):
        Z, codes = self.rows()
        for seed in range(5):
            plain, pocket = (run(Z, codes, 3, version, max_iter=30, seed=seed) for version in ("plain", "pocket"))
            assert not pocket.separated and np.isnan(pocket.margin) and np.isnan(pocket.bound)
            assert pocket.errors <= plain.errors
            assert pocket.errors == wrong(Z, codes, pocket.weights)
            assert pocket.mistakes == plain.mistakes  # looking at weights does not change the walk

    def test_the_average_is_the_mean_over_all_steps(self):
        Z, codes = self.rows()
        W, total, steps, rng = np.zeros((3, 4)), np.zeros((3, 4)), 0, np.random.default_rng(5)
        for _ in range(4):
            for i in rng.permutation(len(Z)):
                scores = W @ Z[i]
                rival = int(np.argmax(np.where(np.arange(3) == codes[i], -np.inf, scores)))
                if scores[codes[i]] <= scores[rival]:
                    W[codes[i]] += Z[i]
                    W[rival] -= Z[i]
                total, steps = total + W, steps + 1
        found = run(Z, codes, 3, "averaged", max_iter=4, seed=5)
        np.testing.assert_allclose(found.weights, total / steps, rtol=1e-9, atol=1e-12)
        assert found.errors == wrong(Z, codes, total / steps)

    def test_more_passes_never_make_the_pocket_worse(self):
        Z, codes = self.rows()
        errors = [run(Z, codes, 3, "pocket", max_iter=m).errors for m in (1, 3, 10, 30, 100)]
        # each run ends with a look at its last weights, which a longer one passes by; what it holds cannot get worse
        assert errors[-1] == min(errors)

    def test_the_same_seed_gives_the_same_weights(self):
        Z, codes = self.rows()
        one, other = (run(Z, codes, 3, "averaged", max_iter=5, seed=3) for _ in range(2))
        np.testing.assert_array_equal(one.weights, other.weights)


def test_equal_rows_of_two_classes_are_never_separated():
    found = run(np.ones((2, 1)), np.array([0, 1]), 2, "pocket", max_iter=20)
    assert not found.separated and found.errors >= 1


@pytest.mark.parametrize("version", ["plain", "pocket", "averaged"])
def test_rows_of_zeros_are_never_right(version):
    found = run(np.zeros((4, 2)), np.array([0, 1, 0, 1]), 2, version, max_iter=3)
    assert not found.separated and found.errors == 4

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from assay.errors import DataError, ParameterError
from assay.linalg import entropy, jensen_shannon, kl_divergence, perplexity

laws = settings(max_examples=40, deadline=None)


@st.composite
def distributions(draw, count=1):
    n = draw(st.integers(1, 8))
    weights = st.lists(st.sampled_from([0.0, 1e-300, 1e-9, 0.1, 1.0, 3.0]), min_size=n, max_size=n)
    drawn = [np.array(draw(weights)) for _ in range(count)]
    return [w / w.sum() if w.sum() > 0 else np.full(n, 1 / n) for w in drawn]


@laws
@given(distributions())
def test_entropy_lies_between_zero_and_the_logarithm_of_the_outcomes(case):
    p = case[0]
    assert 0 <= entropy(p) <= np.log(p.size) + 1e-12
    assert np.isclose(entropy(p), scipy.stats.entropy(p))
    assert np.isclose(entropy(p, base=2), scipy.stats.entropy(p, base=2))
    assert np.isclose(np.log(perplexity(p)), entropy(p))


@laws
@given(distributions(count=2))
def test_divergences_are_never_negative_and_vanish_only_for_equals(case):
    p, q = case
    assert kl_divergence(p, q) >= 0
    assert kl_divergence(p, p) == 0
    js = jensen_shannon(p, q)
    assert 0 <= js <= np.log(2)
    assert np.isclose(js, jensen_shannon(q, p), atol=1e-15)
    gap = np.abs(p - q).sum()
    assert kl_divergence(p, q) >= gap**2 / 2 - 1e-12  # Pinsker
    assert js >= gap**2 / 8 - 1e-12
    if np.all(q[p > 0] > 0):
        assert np.isclose(kl_divergence(p, q), scipy.stats.entropy(p, q), atol=1e-12)


@laws
@given(distributions(count=3))
def test_the_root_of_jensen_shannon_is_a_distance_and_agrees_with_scipy(case):
    p, q, r = case
    a, b, c = (np.sqrt(jensen_shannon(*pair)) for pair in ((p, q), (q, r), (p, r)))
    assert c <= a + b + 1e-7
    assert np.isclose(a, jensenshannon(p, q), atol=1e-7)


def test_an_outcome_that_q_excludes_makes_the_divergence_infinite_but_not_the_other_way():
    assert kl_divergence([0.5, 0.5], [1.0, 0.0]) == np.inf
    assert np.isclose(kl_divergence([1.0, 0.0], [0.5, 0.5]), np.log(2))
    assert jensen_shannon([1.0, 0.0], [0.0, 1.0]) == np.log(2)


def test_uniform_and_certain_distributions():
    assert np.isclose(perplexity(np.full(7, 1 / 7)), 7)
    assert perplexity([1.0]) == 1
    assert entropy([0.0, 1.0, 0.0]) == 0


def test_many_distributions_along_either_axis_and_one_against_many():
    P = np.array([[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])
    rows = [entropy(p) for p in P]
    np.testing.assert_allclose(entropy(P), rows)
    np.testing.assert_allclose(entropy(P.T, axis=0), rows)
    against = kl_divergence(P, np.array([[0.5, 0.5]]))
    np.testing.assert_allclose(against, np.log(2) - np.array(rows))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        ([0.5, 0.6], r"must sum to one: distribution \[0\] of p sums to 1.1. Divide by the sum"),
        ([[0.5, 0.5], [0.2, 0.2]], r"distribution \[1\] of p sums to 0.4"),
        ([1.5, -0.5], r"finite and >= 0: p\[1\] is -0.5"),
        ([np.nan, 1.0], r"finite and >= 0: p\[0\] is nan"),
        (0.5, "p must have outcomes along axis -1"),
        ([], "p must have outcomes along axis -1"),
    ],
)
def test_what_is_no_distribution_is_refused_with_its_place(p, text):
    with pytest.raises(DataError, match=text):
        entropy(p)


def test_distributions_over_different_outcomes_and_impossible_bases_are_refused():
    with pytest.raises(DataError, match="same outcomes, have 2 and 3"):
        kl_divergence([0.5, 0.5], [0.2, 0.3, 0.5])
    for base in (1, 0, -2):
        with pytest.raises(ParameterError, match=f"base must be positive and not 1, is {base}"):
            entropy([1.0], base=base)

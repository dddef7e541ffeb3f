"""Ranks: SciPy's to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from assay.linalg.ranks import average_ranks


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 5), st.sampled_from([None, 0, 1]))
def test_ranks_are_those_of_scipy_ties_and_all(seed, n, d, axis):
    X = np.random.default_rng(seed).integers(0, 4, (n, d)) / 3
    np.testing.assert_array_equal(average_ranks(X, axis), rankdata(X, axis=axis))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_lines_with_a_gap_have_no_ranks(axis):
    X = np.array([[1.0, np.nan], [2.0, 0.0], [2.0, -np.inf]])
    np.testing.assert_array_equal(average_ranks(X, axis), rankdata(X, axis=axis))


@pytest.mark.parametrize("values", [[True, False, True], [3, 1, 3], np.float32([0.1, 0.1]), [], [[]], [0.0, -0.0]])
def test_whatever_has_an_order_has_ranks(values):
    np.testing.assert_array_equal(average_ranks(values), rankdata(values))

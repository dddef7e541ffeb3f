"""Means and variances of columns, one pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import assay
from assay.errors import DataError
from assay.summary.moments.column_moments import ColumnSums


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 60), cut=st.integers(1, 59), shift=st.sampled_from([0.0, 1e8]), seed=st.integers(0, 99))
def test_two_parts_give_what_the_whole_gives_and_numpy(n, cut, shift, seed):
    X = np.round(np.random.default_rng(seed).standard_normal((n, 3)) * 256) / 256 + shift
    cut = min(cut, n - 1)
    whole, parts = ColumnSums.of(X), ColumnSums.of(X[:cut]) + ColumnSums.of(X[cut:])
    assert whole.count == parts.count == n
    for sums in (whole, parts):
        np.testing.assert_allclose(sums.mean, X.mean(axis=0), rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(sums.variance, np.var(X - shift, axis=0, ddof=1), rtol=1e-7, atol=1e-12)


def test_sources_and_sparse_rows_are_summarised_alike():
    X = np.random.default_rng(0).standard_normal((150_000, 2)) * [1.0, 1e100]
    X[:, 1] += 1e101
    oracle = np.var(X, axis=0, ddof=1)
    for data in (X, csr_array(X), assay.read(X), np.asfortranarray(X)):
        np.testing.assert_allclose(ColumnSums.of(data).variance, oracle, rtol=1e-10)


def test_a_constant_column_has_no_variance_at_all():
    X = np.column_stack([np.full(100_000, 0.1), np.arange(100_000.0)])
    assert ColumnSums.of(X).variance[0] == 0.0
    assert ColumnSums.of(X).mean[0] == 0.1


def test_what_is_missing_is_named_with_its_place():
    X = np.zeros((70_000, 2))
    X[69_000, 1] = np.nan
    with pytest.raises(DataError, match="row 69000, column 'b' is missing"):
        ColumnSums.of(X, ("a", "b"))
    with pytest.raises(DataError, match="a variance needs more than one row; there is 1"):
        _ = ColumnSums.of([[1.0]]).variance

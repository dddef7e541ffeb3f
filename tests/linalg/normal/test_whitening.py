"""Whitened rows: distances and the part of each column."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.linalg.normal.multivariate_normal import MultivariateNormal
from assay.linalg.normal.whitening import Whitening


def whitening(S, ridge=0.0):
    """In units of one, flat directions left out."""
    values, V = np.linalg.eigh(S)
    kept = values > 1e-12 * values[-1]
    return Whitening(np.zeros(len(S)), np.ones(len(S)), V[:, kept], values[kept] + ridge, ridge)


@settings(max_examples=25, deadline=None)
@given(d=st.integers(1, 8), rank=st.integers(1, 8), ridge=st.sampled_from([0.0, 0.5]), seed=st.integers(0, 99))
def test_parts_of_columns_add_up_to_squared_distances(d, rank, ridge, seed):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((d, min(rank, d)))
    rows = rng.standard_normal((5, min(rank, d))) @ B.T
    by = whitening(B @ B.T, ridge)
    np.testing.assert_allclose(by.shares(rows).sum(axis=1), by.far(rows), rtol=1e-8, atol=1e-12)
    if ridge == 0.0:
        np.testing.assert_allclose(
            np.sqrt(by.far(rows)), MultivariateNormal(np.zeros(d), B @ B.T).mahalanobis(rows), rtol=1e-6
        )
    else:
        oracle = np.einsum("ij,ij->i", rows, np.linalg.solve(B @ B.T + ridge * np.eye(d), rows.T).T)
        np.testing.assert_allclose(by.far(rows), oracle, rtol=1e-8)


def test_each_part_goes_with_its_column_as_well_as_whitened_columns_can():
    rng = np.random.default_rng(0)
    R = np.corrcoef(rng.standard_normal((40, 5)) @ rng.standard_normal((5, 5)), rowvar=False)
    values, V = np.linalg.eigh(R)
    by = Whitening(np.zeros(5), np.ones(5), V, values)
    # u = R^-1/2 z has correlation trace(R^1/2) with z, and no other whitening Q R^-1/2 has more
    X = rng.multivariate_normal(np.zeros(5), R, 100)
    u = (X @ V / np.sqrt(values)) @ V.T
    np.testing.assert_allclose(by.shares(X), u**2, atol=1e-12)
    ours = np.trace((V * np.sqrt(values)) @ V.T)
    for _ in range(20):
        Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
        assert np.trace(Q @ (V * np.sqrt(values)) @ V.T) <= ours + 1e-12


def test_what_leaves_the_plane_of_the_rows_is_infinitely_far_in_the_columns_that_break_it():
    B = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])  # the third column repeats the first
    by = whitening(B @ B.T)
    row = np.array([[1.0, 2.0, 1.1]])
    assert by.far(row) == np.inf
    assert np.isinf(by.shares(row)).tolist() == [[True, False, True]]
    assert np.isfinite(by.far(row - [0.0, 0.0, 0.1])).all()


def test_what_differs_from_a_constant_column_is_infinitely_far_there():
    by = Whitening(np.array([0.0, 7.0]), np.array([1.0, 0.0]), np.array([[1.0], [0.0]]), np.ones(1))
    rows = np.array([[1.0, 7.0], [1.0, 7.0 + 1e-14], [1.0, 6.9]])
    np.testing.assert_array_equal(by.far(rows), [1.0, 1.0, np.inf])
    np.testing.assert_array_equal(by.shares(rows), [[1.0, 0.0], [1.0, 0.0], [1.0, np.inf]])
    np.testing.assert_array_equal(by.deviations(rows), [[1.0, 0.0], [1.0, 0.0], [1.0, -np.inf]])


def test_rows_beyond_the_range_of_numbers_give_no_warning():
    by = whitening(np.array([[2.0, 1.0], [1.0, 2.0]]))
    assert not np.isfinite(by.far(np.array([[1e300, -1e300], [1e308, 1e308]]))).any()
    with pytest.warns(RuntimeWarning):
        np.float64(1e300) ** 2  # numpy would have said so

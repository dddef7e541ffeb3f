"""Rows and distances: SciPy's direct differences as oracle, where the textbook formula fails."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from assay.errors import DataError
from assay.summary.distances import _neighbours_kernels as compiled
from assay.summary.distances.distances import as_rows, pair_squares, squared_distances, unit_scale

RNG = np.random.default_rng(0)
CLUSTERS = np.repeat(RNG.standard_normal((4, 3)) * 1e8, 20, axis=0) + RNG.standard_normal((80, 3))


@pytest.mark.parametrize(
    "X",
    [
        RNG.standard_normal((60, 7)),
        RNG.standard_normal((60, 7)) + 1e8,
        CLUSTERS,
        np.vstack([RNG.standard_normal((40, 2)), [[1e12, -1e12]]]),
        RNG.standard_normal((20, 500)),
    ],
    ids=["normal", "shifted", "clusters", "outlier", "wide"],
)
def test_squared_distances_agree_with_direct_differences(X):
    np.testing.assert_allclose(squared_distances(X), cdist(X, X, "sqeuclidean"), rtol=1e-9, atol=0)
    np.testing.assert_allclose(squared_distances(X, X[::3]), cdist(X, X[::3], "sqeuclidean"), rtol=1e-9, atol=0)


def test_distances_of_rows_among_themselves_are_symmetric_with_a_diagonal_of_zeros():
    for X in (CLUSTERS, RNG.standard_normal((300, 9))):
        squares = squared_distances(X)
        np.testing.assert_array_equal(squares, squares.T)
        assert not squares.diagonal().any()


def test_a_copy_of_a_far_away_row_is_at_distance_zero():
    X = RNG.standard_normal((50, 6)) + 1e8
    squares = squared_distances(X, X[[3, 7]].copy())
    assert squares[3, 0] == 0 and squares[7, 1] == 0 and (squares > 0).sum() == 98


def test_huge_and_tiny_rows_keep_their_distances_in_a_unit_of_their_size():
    X = RNG.standard_normal((30, 4))
    for size in (1e300, 1e-300):
        np.testing.assert_allclose(squared_distances(X * size, unit=size), cdist(X, X, "sqeuclidean"), rtol=1e-9)
    assert np.isinf(squared_distances(X * 1e300)[0, 1])
    assert squared_distances(X * 1e300, unit=1e-300)[0, 0] == 0


def test_a_huge_constant_column_does_not_drown_the_others():
    X = RNG.standard_normal((30, 2))
    with_constant = np.column_stack([X, np.full(30, 1e200)])
    np.testing.assert_allclose(squared_distances(with_constant), cdist(X, X, "sqeuclidean"), rtol=1e-9)


def test_the_scale_is_a_power_of_two_that_keeps_everything_finite():
    for X in ([[1e308], [-1e308]], [[5e-324], [0.0]], [[1e300, 1e-20], [1e300, 2e-20]], [[3.0], [3.0]]):
        scale = unit_scale(np.array(X))
        assert np.frexp(scale)[0] == 0.5 and np.isfinite(np.array(X) * scale).all()


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 7, 8, 50])
def test_pairs_measured_by_numpy_and_by_the_compiled_kernel_have_the_same_bits(d):
    X = RNG.standard_normal((40, d)) * 10.0 ** RNG.integers(-3, 4, d)
    i, j = np.divmod(np.arange(1600), 40)
    np.testing.assert_array_equal(
        pair_squares(X, X, i, j), [compiled.measure(X[a], X[b]) for a, b in zip(i, j, strict=True)]
    )
    np.testing.assert_allclose(pair_squares(X, X, i, j).reshape(40, 40), cdist(X, X, "sqeuclidean"), rtol=1e-12)


def test_rows_are_taken_from_lists_float32_frames_and_small_sparse_tables():
    X = np.array([[1.0, 0.0], [0.0, 2.5]])
    for given in (X.tolist(), X.astype(np.float32), pd.DataFrame(X), sparse.csr_array(X), np.asfortranarray(X)):
        rows = as_rows(given)
        assert rows.dtype == np.float64 and rows.flags.c_contiguous
        np.testing.assert_array_equal(rows, X)


def test_rows_that_cannot_be_used_are_refused_with_place_and_remedy():
    with pytest.raises(DataError, match=r"X must be finite: row 1, column 0 .* is NaN .* Fill or drop missing values"):
        as_rows([[1.0], [np.nan]])
    with pytest.raises(DataError, match=r"X is sparse, 16384 x 16384, and would take 2.0 GiB .* LSI"):
        as_rows(sparse.csr_array((2**14, 2**14)))
    with pytest.raises(DataError, match=r"Y must have 3 columns, as the rows it is compared with, has 2"):
        as_rows([[1.0, 2.0]], "Y", 3)
    with pytest.raises(DataError, match=r"X must be a matrix \(2 dimensions\), has shape \(2,\)"):
        as_rows([1.0, 2.0])
    with pytest.raises(DataError, match=r"X must hold numbers"):
        as_rows([["a", "b"]])

"""Classical scaling: distances are given back, new points land where they belong, nothing is copied or changed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform

from assay.errors import DataError, ParameterError
from assay.linalg.eigen.classical_scaling import (
    classical_scaling,
    doubly_centred,
    lowest_eigenvalues,
    scaling_of_rows,
)


def squares_of(X):
    return cdist(X, X, "sqeuclidean")


@settings(max_examples=25, deadline=None)
@given(n=st.integers(3, 12), d=st.integers(1, 4), seed=st.integers(0, 999))
def test_coordinates_have_the_distances_they_were_made_from(n, d, seed):
    X = np.random.default_rng(seed).standard_normal((n, d))
    found = classical_scaling(squares_of(X), min(n, d))
    assert pdist(found.coordinates) == pytest.approx(pdist(X), abs=1e-7)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(3, 12), seed=st.integers(0, 999))
def test_a_new_point_keeps_its_distances_and_an_old_one_its_place(n, seed):
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((n, 2)), rng.standard_normal((4, 2))
    found = classical_scaling(squares_of(X), 2)
    placed = found.place(cdist(new, X, "sqeuclidean"))
    assert cdist(placed, found.coordinates) == pytest.approx(cdist(new, X), abs=1e-6)
    assert found.place(squares_of(X)) == pytest.approx(found.coordinates, abs=1e-7)


@pytest.mark.parametrize("n", [40, 400, 1100])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_values_are_numpys_whatever_the_solver(n, power):
    # distances of points (power 2) and their roots squared (power 1), whose spectrum decays slowly
    S = squareform(pdist(np.random.default_rng(n).standard_normal((n, 6)))) ** power
    found = classical_scaling(S, 3)
    expected = np.linalg.eigvalsh(doubly_centred(S))
    assert found.values == pytest.approx(expected[::-1][:3], rel=1e-10)
    assert found.trace == pytest.approx(expected.sum(), rel=1e-10)
    assert found.norm == pytest.approx(np.sqrt((expected**2).sum()), rel=1e-10)
    assert found.converged and found.residuals.max() < 1e-8 * found.values[0]
    # where all are positive or zero, the lowest found must not be negative beyond rounding
    assert (lowest_eigenvalues(S, 2) >= expected[:2] - 1e-10 * expected[-1]).all()


def test_large_negative_eigenvalues_do_not_hide_the_positive_ones():
    rng = np.random.default_rng(0)
    V = np.linalg.qr(np.column_stack([np.ones(1100), rng.standard_normal((1100, 3))]))[0][:, 1:]
    B = (V * [3.0, 2.0, -9.0]) @ V.T
    own = np.diag(B)
    S = own[:, None] + own - 2 * B
    found = classical_scaling(S, 3)
    assert found.values == pytest.approx([3.0, 2.0, 0.0], abs=1e-9)
    assert found.positive.tolist() == [True, True, False]
    assert not found.coordinates[:, 2].any()
    assert lowest_eigenvalues(S, 3) == pytest.approx([-9.0, 0.0, 0.0], abs=1e-9)


def test_single_precision_is_scaled_to_its_own_accuracy_and_not_changed():
    S = squares_of(np.random.default_rng(1).standard_normal((1300, 3)))
    single = S.astype(np.float32)
    before = single.copy()
    found = classical_scaling(single, 2)
    assert np.array_equal(single, before)
    assert found.values == pytest.approx(classical_scaling(S, 2).values, rel=1e-6)
    assert found.coordinates.dtype == np.float64


def test_the_same_seed_gives_the_same_bits():
    S = squares_of(np.random.default_rng(2).standard_normal((1100, 8)))
    assert np.array_equal(classical_scaling(S, 2).coordinates, classical_scaling(S, 2).coordinates)


@pytest.mark.parametrize("shape", [(30, 4), (8, 200), (5, 1)])
def test_rows_scaled_directly_agree_with_their_distances(shape):
    X = np.random.default_rng(3).standard_normal(shape) + 5.0
    direct, way = scaling_of_rows(X, 3), classical_scaling(squares_of(X), 3)
    assert direct.values == pytest.approx(np.maximum(way.values, 0.0), abs=1e-8 * way.values[0])
    assert pdist(direct.coordinates) == pytest.approx(pdist(way.coordinates), abs=1e-6)
    assert direct.trace == pytest.approx(way.trace)
    assert direct.norm == pytest.approx(way.norm)
    assert (X - direct.mean) @ direct.axes == pytest.approx(direct.coordinates)


def test_equal_points_are_one_point_and_not_nan():
    found = classical_scaling(np.zeros((4, 4)), 2)
    assert not found.coordinates.any() and not found.place(np.zeros((1, 4))).any()
    assert not scaling_of_rows(np.ones((4, 3)), 2).coordinates.any()


def test_refusals_say_what_is_wrong():
    with pytest.raises(DataError, match=r"square matrix, have shape \(2, 3\)"):
        classical_scaling(np.zeros((2, 3)), 1)
    with pytest.raises(ParameterError, match="between 1 and 3 "):
        classical_scaling(np.zeros((3, 3)), 4)
    found = classical_scaling(np.array([[0.0, 1.0], [1.0, 0.0]]), 1)
    with pytest.raises(DataError, match="all 2 scaled points, have 3 columns"):
        found.place(np.zeros((1, 3)))

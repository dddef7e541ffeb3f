import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DataError, ParameterError, SingularError
from assay.linalg import (
    block_inverse,
    centre,
    centring,
    definiteness,
    determinant,
    schur_complement,
)

laws = settings(max_examples=30, deadline=None)


@st.composite
def matrix_and_block(draw):
    n = draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    block = rng.permutation(n)[: draw(st.integers(1, n - 1))]
    return rng.standard_normal((n, n)) + 3 * np.eye(n), block


@laws
@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 10_000))
def test_taking_means_away_is_multiplying_by_the_centring_projection(m, n, seed):
    A = np.random.default_rng(seed).standard_normal((m, n))
    np.testing.assert_allclose(centre(A), centring(m) @ A, atol=1e-14)
    np.testing.assert_allclose(centre(A, 1), A @ centring(n), atol=1e-14)
    np.testing.assert_allclose(centre(A, "both"), centring(m) @ A @ centring(n), atol=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_centring_extreme_entries_neither_overflows_nor_loses(scale):
    A = np.random.default_rng(0).standard_normal((6, 3))
    np.testing.assert_allclose(centre(A * scale) / scale, centre(A), atol=1e-14)


def test_data_far_from_zero_end_with_means_of_rounding_size():
    A = np.random.default_rng(0).standard_normal((1000, 2)) + 1e8
    centred = centre(A)
    rounding = len(A) * np.finfo(float).eps * np.abs(centred).mean(axis=0)  # of a mean; one of A would be 1e5 larger
    assert (np.abs(centred.mean(axis=0)) < rounding).all()


def test_a_single_row_is_centred_to_zero_and_the_argument_is_left():
    A = np.array([[3.0, 4.0]])
    np.testing.assert_array_equal(centre(A), 0.0)
    assert A[0, 0] == 3.0


@laws
@given(matrix_and_block())
def test_the_determinant_is_that_of_the_block_times_that_of_its_schur_complement(case):
    A, block = case
    D = A[np.ix_(block, block)]
    if abs(determinant(D)) < 1e-3:
        return
    product = determinant(D) * determinant(schur_complement(A, block))
    assert np.isclose(product, determinant(A), rtol=1e-8, atol=1e-8)


@laws
@given(matrix_and_block())
def test_the_block_inverse_is_the_inverse(case):
    A, block = case
    D = A[np.ix_(block, block)]
    if np.linalg.cond(A) > 1e5 or np.linalg.cond(D) > 1e5:
        return
    inverse = block_inverse(A, block)
    np.testing.assert_allclose(A @ inverse, np.eye(len(A)), atol=1e-8)
    np.testing.assert_allclose(inverse, np.linalg.inv(A), atol=1e-8 * np.abs(inverse).max())


@laws
@given(matrix_and_block())
def test_the_inverse_of_the_complement_is_the_block_of_the_inverse(case):
    A, block = case
    A = A @ A.T
    others = np.setdiff1d(np.arange(len(A)), block)
    if np.linalg.cond(A) > 1e5:
        return
    S = schur_complement(A, block)
    np.testing.assert_allclose(np.linalg.inv(S), np.linalg.inv(A)[np.ix_(others, others)], rtol=1e-6, atol=1e-8)
    assert definiteness(S) == "positive definite"


def test_the_block_may_be_counted_or_listed():
    A = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
    np.testing.assert_array_equal(schur_complement(A, 2), schur_complement(A, [0, 1]))
    np.testing.assert_allclose(schur_complement(A, [2]), [[2.0, 1.0], [1.0, 2.75]])


def test_singular_blocks_and_complements_are_refused_apart():
    with pytest.raises(SingularError, match="the block must not be singular. In it, A is singular"):
        schur_complement([[0.0, 1.0], [1.0, 0.0]], 1)
    with pytest.raises(SingularError, match="A is singular, because the Schur complement of the block is"):
        block_inverse([[1.0, 2.0], [2.0, 4.0]], 1)


@pytest.mark.parametrize(
    ("block", "error", "text"),
    [
        (2, ParameterError, r"block must be between 1 and 1 \(one less than the size of A\), is 2"),
        ([0, 1], ParameterError, "some but not all of the 2 indices"),
        ([0.5], ParameterError, "block must be a count or a list"),
        ([2], DataError, r"different indices from 0 to 1, holds \[2\]"),
    ],
)
def test_blocks_that_are_no_proper_part_are_refused(block, error, text):
    with pytest.raises(error, match=text):
        schur_complement(np.eye(2), block)


def test_repeated_indices_and_unknown_axes_are_refused():
    with pytest.raises(DataError, match=r"different indices from 0 to 2, holds \[1, 1\]"):
        schur_complement(np.eye(3), [1, 1])
    with pytest.raises(ParameterError, match="axis must be 0, 1 or 'both', is 2"):
        centre(np.eye(2), 2)
    with pytest.raises(ParameterError, match="n must be between 1"):
        centring(0)

import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DataError, ParameterError, SingularError
from assay.linalg import (
    basis,
    change_of_basis,
    coordinates,
    independent,
    independent_columns,
    null_space,
    rank,
)

laws = settings(max_examples=30, deadline=None)


@st.composite
def matrices_of_known_rank(draw):
    m, n = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    r = draw(st.integers(0, min(m, n)))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    U, V = (np.linalg.qr(rng.standard_normal((side, side)))[0][:, :r] for side in (m, n))
    return (U * rng.uniform(0.5, 2, r)) @ V.T * draw(st.sampled_from([1e-300, 1.0, 1e300])), r


@laws
@given(matrices_of_known_rank())
def test_rank_and_nullity_add_up_and_the_spaces_are_what_they_say(case):
    A, r = case
    N, B = null_space(A), basis(A)
    size = np.abs(A).max(initial=0) or 1.0
    assert rank(A) == r == B.shape[1]
    assert N.shape[1] + r == A.shape[1]
    np.testing.assert_allclose(N.T @ N, np.eye(N.shape[1]), atol=1e-13)
    np.testing.assert_allclose(B.T @ B, np.eye(r), atol=1e-13)
    np.testing.assert_allclose((A / size) @ N, 0, atol=1e-13)
    np.testing.assert_allclose(B @ (B.T @ (A / size)), A / size, atol=1e-13)
    assert independent(A) == (r == A.shape[1])


@laws
@given(matrices_of_known_rank())
def test_chosen_columns_are_independent_and_span_the_rest(case):
    A, r = case
    A = A / (np.abs(A).max() or 1.0)
    chosen = independent_columns(A)
    assert len(chosen) == r
    assert list(chosen) == sorted(set(chosen))
    if r:
        part = A[:, chosen]
        assert independent(part)
        np.testing.assert_allclose(part @ np.linalg.lstsq(part, A, rcond=None)[0], A, atol=1e-10)


def test_null_space_agrees_with_scipy():
    A = np.random.default_rng(0).standard_normal((3, 6))
    ours, theirs = null_space(A), sla.null_space(A)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-13)


def test_the_tolerance_is_relative_to_the_largest_singular_value():
    A = np.diag([1.0, 1e-6])
    assert (rank(A), rank(A, rcond=1e-5)) == (2, 1)
    assert rank(A * 1e-200) == 2
    with pytest.raises(ParameterError, match="rcond must be at least 0 and below 1, is -1"):
        rank(A, rcond=-1)


@laws
@given(st.integers(1, 7), st.integers(0, 10_000), st.data())
def test_coordinates_rebuild_the_vector_and_change_with_the_basis(m, seed, data):
    r = data.draw(st.integers(1, m))
    rng = np.random.default_rng(seed)
    old = rng.standard_normal((m, r))
    new = old @ (rng.standard_normal((r, r)) + 4 * np.eye(r))
    x = old @ rng.standard_normal(r)
    c_old, c_new = coordinates(x, old), coordinates(x, new)
    np.testing.assert_allclose(old @ c_old, x, atol=1e-12 * np.abs(x).max())
    P = change_of_basis(old, new)
    np.testing.assert_allclose(new @ P, old, atol=1e-11 * np.abs(old).max())
    np.testing.assert_allclose(P @ c_old, c_new, atol=1e-8 * max(1, np.abs(c_new).max()))
    there_and_back = change_of_basis(new, old) @ P
    np.testing.assert_allclose(there_and_back, np.eye(r), atol=1e-8)


def test_coordinates_of_several_vectors_at_once():
    B = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    X = np.array([[3.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(coordinates(X, B), [[2.0, 0.0], [1.0, 1.0]], atol=1e-15)


def test_a_vector_outside_the_span_is_refused_with_its_distance():
    with pytest.raises(DataError, match=r"x must lie in the span of the basis, but is 0.8 of its length away"):
        coordinates([3.0, 4.0], [[1.0], [0.0]])


def test_dependent_bases_and_different_spans_are_refused():
    with pytest.raises(SingularError, match="the 2 columns of a basis must be independent, only 1 are"):
        coordinates([1.0, 1.0], [[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(SingularError, match="the 2 columns of old must be independent, only 1 are"):
        change_of_basis([[1.0, 2.0], [1.0, 2.0]], np.eye(2))
    with pytest.raises(DataError, match="x must lie in the span"):
        change_of_basis([[1.0], [0.0]], [[0.0], [1.0]])
    with pytest.raises(DataError, match=r"same shape, have \(2, 2\) and \(3, 3\)"):
        change_of_basis(np.eye(2), np.eye(3))


def test_the_zero_vector_has_zero_coordinates():
    np.testing.assert_array_equal(coordinates([0.0, 0.0], np.eye(2)), 0.0)

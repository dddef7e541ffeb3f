import math

import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.errors import DataError, ParameterError
from assay.linalg import determinant, log_determinant, norm, trace

laws = settings(max_examples=40, deadline=None)
entries = st.integers(-9, 9).map(float)
squares = st.integers(1, 6).flatmap(lambda n: arrays(float, (n, n), elements=entries))


@laws
@given(arrays(float, (3, 4), elements=entries), st.sampled_from([1e-300, 1.0, 1e300]))
def test_matrix_norms_agree_with_lapack_at_every_scale(A, scale):
    pairs = ((1, 1), (2, 2), ("spectral", 2), ("frobenius", "fro"))
    for kind, ours in pairs:
        assert math.isclose(norm(A * scale, kind) / scale, np.linalg.norm(A, ours), rel_tol=1e-12, abs_tol=1e-300)


@laws
@given(arrays(float, 5, elements=entries), st.sampled_from([1e-300, 1.0, 1e300]))
def test_vector_norms_agree_with_numpy_at_every_scale(x, scale):
    for kind in (1, 2):
        assert math.isclose(norm(x * scale, kind) / scale, np.linalg.norm(x, kind), rel_tol=1e-12)


def test_norms_that_do_not_exist_are_refused():
    with pytest.raises(ParameterError, match=r"kind must be one of \(1, 2\) for a vector, is 'frobenius'"):
        norm([1, 2], "frobenius")
    with pytest.raises(ParameterError, match="for a matrix, is 3"):
        norm([[1, 2]], 3)


def test_a_norm_beyond_the_largest_float_is_infinite_without_a_warning():
    assert norm(np.full(10, 1e308)) == np.inf


@laws
@given(squares, squares)
def test_the_determinant_of_a_product_is_the_product_and_the_transpose_has_the_same(A, B):
    if A.shape != B.shape:
        B = A.T @ A
    n = len(A)
    size = max(1.0, np.linalg.norm(A, 2) * np.linalg.norm(B, 2)) ** n
    assert abs(determinant(A @ B) - determinant(A) * determinant(B)) <= 1e-12 * size * n
    assert abs(determinant(A.T) - determinant(A)) <= 1e-12 * max(1.0, np.linalg.norm(A, 2)) ** n * n


@laws
@given(squares)
def test_the_determinant_agrees_with_numpy_and_with_its_logarithm(A):
    value = np.linalg.det(A)
    assert math.isclose(determinant(A), value, rel_tol=1e-10, abs_tol=1e-9)
    log = log_determinant(A)
    if abs(value) > 1e-6:
        assert log.sign == np.sign(value)
        assert math.isclose(log.log, math.log(abs(value)), abs_tol=1e-8)


@pytest.mark.parametrize(
    ("A", "value"),
    [
        (np.diag([1e300, 1e300, 1e-300, 1e-300]), 1.0),
        (np.diag([1e-300, 1e-300, 1e300, -1e300]), -1.0),
        (np.diag([1e300, 1e300]), np.inf),
        (np.diag([-1e300, 1e300]), -np.inf),
        (np.diag([1e-300, 1e-300]), 0.0),
        ([[0.0, 1.0], [1.0, 0.0]], -1.0),
        (np.zeros((3, 3)), 0.0),
        ([[-2.5]], -2.5),
    ],
)
def test_determinants_overflow_only_when_they_must(A, value):
    assert determinant(A) == pytest.approx(value, rel=1e-13)


def test_the_log_determinant_reaches_where_the_determinant_cannot():
    result = log_determinant(np.diag([1e300] * 5 + [-1.0]))
    assert result.sign == -1.0
    assert result.log == pytest.approx(5 * 300 * math.log(10), rel=1e-14)
    singular = log_determinant(np.zeros((2, 2)))
    assert (singular.sign, singular.log) == (0.0, -np.inf)


@laws
@given(squares)
def test_the_trace_is_the_sum_of_the_eigenvalues(A):
    assert trace(A) == np.trace(A)
    assert abs(sla.eigvals(A).sum().real - trace(A)) < 1e-6


def test_the_trace_of_large_entries_that_cancel_is_finite():
    assert trace(np.diag([1.5e308, 1.5e308, -1.5e308])) == pytest.approx(1.5e308)


def test_rectangular_matrices_have_neither_trace_nor_determinant():
    for measure in (trace, determinant, log_determinant):
        with pytest.raises(DataError, match=r"A must be square, has shape \(2, 3\)"):
            measure(np.ones((2, 3)))

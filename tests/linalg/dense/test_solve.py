import importlib

import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DataError, ParameterError, SingularError
from assay.linalg import solve

laws = settings(max_examples=30, deadline=None)
sizes, seeds = st.integers(1, 9), st.integers(0, 10_000)


def problem(n, seed, assume="general", columns=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    if assume == "positive":
        A = A @ A.T + 0.1 * np.eye(n)
    if assume == "triangular":
        A = np.tril(A) + 3 * np.eye(n) if seed % 2 else np.triu(A) + 3 * np.eye(n)
    return A, rng.standard_normal((n, columns) if columns else n)


@laws
@given(sizes, seeds, st.sampled_from(["general", "positive", "triangular"]), st.sampled_from([0, 3]))
def test_the_solution_satisfies_the_equations_to_rounding(n, seed, assume, columns):
    A, b = problem(n, seed, assume, columns)
    result = solve(A, b, assume)
    assert result.x.shape == b.shape
    assert result.rank == n
    assert result.backward_error <= 4e-16
    np.testing.assert_allclose(result.x, np.linalg.solve(A, b), rtol=1e-6 if result.condition > 1e6 else 1e-9)


@laws
@given(st.integers(2, 9), seeds)
def test_the_condition_estimate_is_near_the_condition_number_of_a_well_scaled_matrix(n, seed):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    assert solve(Q, np.ones(n)).condition <= 4 * n
    H = sla.hilbert(n)
    # Scaling may only better it, by a moderate factor for this matrix; the estimate may be n times too low.
    assert np.linalg.cond(H, 1) / 1e4 < solve(H, np.ones(n)).condition < 10 * np.linalg.cond(H, 1)


@pytest.mark.parametrize("assume", ["general", "positive"])
def test_refinement_gives_every_digit_where_elimination_alone_loses_most(assume):
    n = 9
    H = np.round(sla.hilbert(n) * 12252240)  # whole numbers, so the right side is exact; condition 5e11
    x = np.arange(1.0, n + 1)
    plain = np.abs(np.linalg.solve(H, H @ x) / x - 1).max()
    refined = np.abs(solve(H, H @ x, assume).x / x - 1).max()
    assert plain > 1e-9
    assert refined <= 4e-16


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("assume", ["general", "positive", "triangular"])
def test_extreme_scales_change_no_digit(scale, assume):
    A, b = problem(5, 3, assume)
    np.testing.assert_allclose(solve(A * scale, b * scale, assume).x, solve(A, b, assume).x, rtol=1e-12)
    np.testing.assert_allclose(solve(A, b * scale, assume).x / scale, solve(A, b, assume).x, rtol=1e-12)


@pytest.mark.parametrize("assume", ["general", "positive"])
def test_bad_scaling_of_rows_and_columns_is_not_bad_conditioning(assume):
    A, b = problem(4, 6, "positive")
    D = np.array([1e120, 1e-120, 1.0, 1e40])
    plain, scaled = solve(A, b, assume), solve(A * D * D[:, None], b * D, assume)
    np.testing.assert_allclose(scaled.x * D, plain.x, rtol=1e-12)
    assert scaled.condition < 100 * plain.condition


def test_one_equation_and_zero_right_side():
    assert solve([[4.0]], [2.0]).x[0] == 0.5
    result = solve(np.eye(3), np.zeros(3))
    np.testing.assert_array_equal(result.x, 0.0)
    assert result.backward_error == 0.0


@pytest.mark.parametrize(
    ("A", "assume", "text"),
    [
        ([[1.0, 2.0], [2.0, 4.0]], "general", "A is singular: pivot 1"),
        ([[0.0, 0.0], [1.0, 1.0]], "general", r"A is singular: row 0 \(counted from 0\) is zero"),
        ([[0.0, 1.0], [0.0, 1.0]], "general", r"A is singular: column 0 \(counted from 0\) is zero"),
        ([[1.0, 2.0], [2.0, 1.0]], "positive", "not positive definite: its leading minor of order 2"),
        ([[1.0, 0.0], [5.0, 0.0]], "triangular", r"column 1 \(counted from 0\) is zero"),
        ([[1.0, 3.0], [0.0, 0.0]], "triangular", r"row 1 \(counted from 0\) is zero"),
        ([[0.0, 3.0], [0.0, 1.0]], "triangular", r"column 0 \(counted from 0\) is zero"),
        ([[1.0, 1, 1], [0.0, 0, 1], [0.0, 0, 1]], "triangular", "row 1 .* has a zero on the diagonal"),
        (sla.hilbert(16), "general", "singular"),
    ],
)
def test_singular_equations_are_refused_with_the_reason(A, assume, text):
    with pytest.raises(SingularError, match=text):
        solve(A, np.ones(len(A)), assume)


def test_a_condition_beyond_working_precision_is_refused_with_its_size():
    n = 60
    A = np.triu(-np.ones((n, n)), 1) + np.eye(n)  # pivots of one, condition about 2^60
    with pytest.raises(
        SingularError, match=r"singular to working precision: its condition number is about \d\.\de\+\d\d"
    ):
        solve(A, np.ones(n))


def test_what_is_not_triangular_is_refused_with_a_place():
    with pytest.raises(DataError, match=r"A must be triangular.*row 1, column 0"):
        solve([[1, 2], [3, 4]], [1, 1], "triangular")


def test_wrong_options_and_shapes_are_refused():
    with pytest.raises(ParameterError, match="assume must be 'general', 'positive' or 'triangular', is 'x'"):
        solve(np.eye(2), [1, 1], "x")
    with pytest.raises(DataError, match="b must have 2 rows like the matrix, has 3"):
        solve(np.eye(2), [1, 1, 1])


def test_equations_too_many_for_doubled_precision_are_refined_in_float64(monkeypatch):
    module = importlib.import_module("assay.linalg.dense.solve")  # the package exports the function under this name
    monkeypatch.setattr(module, "CAREFUL", 10)
    A, b = problem(30, 1)
    result = solve(A, b)
    assert result.backward_error < 31 * np.finfo(float).eps  # residuals are sums of 31 terms
    np.testing.assert_allclose(result.x, np.linalg.solve(A, b), rtol=1e-10)

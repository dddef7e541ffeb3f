import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DataError, ParameterError
from assay.linalg import lstsq
from assay.linalg.regression import least_squares

laws = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 10_000)


EPS = np.finfo(float).eps


def stable(m, n):
    """Backward error of a QR by reflections, m n eps (Higham, theorem 19.4), and of rounding the solution."""
    return (m * n + 4) * EPS


def of_rank(m, n, r, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, r)) @ rng.standard_normal((r, n))


@laws
@given(st.integers(1, 10), st.integers(1, 10), seeds, st.data())
def test_the_solution_is_the_shortest_least_squares_one_whatever_shape_and_rank(m, n, seed, data):
    r = data.draw(st.integers(1, min(m, n)))
    A = of_rank(m, n, r, seed)
    b = np.random.default_rng(seed + 1).standard_normal(m)
    result = lstsq(A, b)
    values = np.linalg.svd(A, compute_uv=False)
    if values[r - 1] < 1e-8 * values[0]:
        return
    assert result.rank == r
    expected = np.linalg.pinv(A, rcond=1e-10) @ b
    size = np.linalg.norm(b) / values[r - 1]
    np.testing.assert_allclose(result.x, expected, rtol=0, atol=1e-8 * size)
    assert np.isclose(result.residual_norm, np.linalg.norm(A @ expected - b), atol=1e-10)
    assert result.backward_error < stable(m, n)


@pytest.mark.parametrize("small", [1.0, 1e-3, 1e-8])
def test_a_small_residual_does_not_make_the_backward_error_look_large(small):
    # the residual is orthogonal to the columns, up to the rounding of x: eps |A| |x|, which is much of a small one
    A = of_rank(8, 8, 7, 0)
    along, across = np.linalg.svd(A)[0][:, 0], np.linalg.svd(A)[0][:, 7]
    result = lstsq(A, along + small * across)
    assert result.residual_norm == pytest.approx(small, rel=8 * EPS * 8 / small)
    assert result.backward_error < stable(8, 8)


@laws
@given(st.integers(1, 10), st.integers(1, 10), seeds, st.data())
def test_the_backward_error_is_near_the_smallest_change_there_is(m, n, seed, data):
    """The optimum is known (Walden, Karlson, Sun 1995), measured there by the root of both squares: hence the root."""
    rank = data.draw(st.integers(1, min(m, n)))
    A, rng = of_rank(m, n, rank, seed), np.random.default_rng(seed + 1)
    b = A @ rng.standard_normal(n) + data.draw(st.sampled_from([1.0, 1e-4, 1e-9])) * rng.standard_normal(m)
    U, values, _ = np.linalg.svd(A)
    if values[rank - 1] < 1e-4 * values[0]:
        return
    x = np.linalg.pinv(A, rcond=1e-8) @ b
    x += data.draw(st.sampled_from([1e-3, 1e-7])) * np.linalg.norm(x) * rng.standard_normal(n)
    r = b - A @ x
    given = least_squares.backward_error(A, x, b, r, U[:, :rank], values[0])
    reach = values[0] / np.linalg.norm(b) * np.linalg.norm(x)
    phi = reach / np.hypot(1.0, reach) * np.linalg.norm(r) / np.linalg.norm(x)
    across = phi * (np.eye(m) - np.outer(r, r) / (r @ r))
    least = min(phi, np.linalg.svd(np.hstack([A, across]), compute_uv=False)[m - 1]) / values[0]
    rounding = stable(m, n) * values[0] / values[rank - 1]
    assert least / np.sqrt(2) - rounding <= given <= 4 * least + rounding  # two changes, each of them within two roots


def test_the_backward_error_of_several_right_sides_is_the_worst_of_them():
    A, B = of_rank(7, 4, 3, 1), np.column_stack([np.ones(7), np.zeros(7), np.arange(7.0)])
    worst = max(lstsq(A, B[:, j]).backward_error for j in range(3))
    assert lstsq(A, B).backward_error < worst + stable(7, 4)
    assert lstsq(A, np.zeros((7, 2))).backward_error == 0.0


@laws
@given(st.integers(1, 6), st.integers(1, 6), seeds, st.data())
def test_solving_for_unit_vectors_gives_the_moore_penrose_inverse(m, n, seed, data):
    A = of_rank(m, n, data.draw(st.integers(1, min(m, n))), seed)
    values = np.linalg.svd(A, compute_uv=False)
    positive = values[values > 1e-10 * values[0]]
    if positive[-1] < 1e-3 * values[0]:
        return
    P = lstsq(A, np.eye(m)).x
    np.testing.assert_allclose(A @ P @ A, A, atol=1e-10 * values[0])
    np.testing.assert_allclose(P @ A @ P, P, atol=1e-10 / positive[-1])
    np.testing.assert_allclose(A @ P, (A @ P).T, atol=1e-10)
    np.testing.assert_allclose(P @ A, (P @ A).T, atol=1e-10)


@laws
@given(st.integers(2, 10), st.integers(1, 5), seeds)
def test_the_residual_is_orthogonal_to_the_columns(m, n, seed):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((m, n)), rng.standard_normal(m)
    r = b - A @ lstsq(A, b).x
    np.testing.assert_allclose(A.T @ r, 0, atol=1e-12 * np.linalg.norm(A))


def test_the_right_answer_of_an_ill_conditioned_fit_comes_out_to_the_last_digit():
    t = np.arange(30.0)
    A = np.vander(t, 9)  # integers below 2^53, columns scaled condition about 1e9
    x = np.array([1.0, -2, 3, -4, 5, -6, 7, -8, 9])
    b = A @ x
    peers = [sla.lstsq(A, b, lapack_driver=d)[0] for d in ("gelsd", "gelsy")]
    assert min(np.abs(p / x - 1).max() for p in peers) > 1e-9
    np.testing.assert_allclose(lstsq(A, b).x, x, rtol=4e-16)


def test_a_large_residual_does_not_spoil_the_refinement():
    t = np.arange(30.0)
    A = np.vander(t, 7)
    x = np.arange(1.0, 8.0)
    noise = np.linalg.svd(A.T)[2][7:][0]  # orthogonal to the columns, up to rounding
    noise -= A @ lstsq(A, noise).x
    b = A @ x + 1e3 * noise
    result = lstsq(A, b)
    # A x is exact; b is rounded once, and the columns magnify that
    assert (np.abs(result.x - x) <= np.abs(np.linalg.pinv(A)) @ (EPS * np.abs(b))).all()
    assert np.isclose(result.residual_norm, 1e3 * np.linalg.norm(noise))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("rank", [2, 3])
def test_extreme_scales_change_no_digit(scale, rank):
    A = of_rank(6, 3, rank, 0)
    b = np.arange(6.0)
    plain = lstsq(A, b)
    for scaled, factor in ((lstsq(A * scale, b * scale), 1.0), (lstsq(A, b * scale), scale)):
        np.testing.assert_allclose(scaled.x / factor, plain.x, rtol=1e-12)
        assert scaled.rank == plain.rank
        assert np.isclose(scaled.residual_norm / scale, plain.residual_norm)


def test_bad_column_scaling_is_neither_rank_loss_nor_bad_conditioning():
    A = np.random.default_rng(0).standard_normal((8, 3))
    D = np.array([1e200, 1.0, 1e-200])
    plain, scaled = lstsq(A, np.ones(8)), lstsq(A * D, np.ones(8))
    np.testing.assert_allclose(scaled.x * D, plain.x, rtol=1e-14)
    assert scaled.rank == 3
    assert scaled.condition < 10 * plain.condition


def test_the_tolerance_decides_what_counts_as_dependent():
    A = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-6], [1.0, 1.0]])
    assert lstsq(A, np.ones(3)).rank == 2
    loose = lstsq(A, np.ones(3), rcond=1e-4)
    assert loose.rank == 1
    np.testing.assert_allclose(loose.x, [0.5, 0.5], atol=1e-6)


def test_the_shortest_solution_is_measured_in_the_units_given():
    # Columns of length 1 and 1000 in the same direction: the long one does nearly all the work.
    np.testing.assert_allclose(lstsq([[1.0, 1000.0]], [1.0]).x, np.array([1.0, 1000.0]) / 1000001, atol=1e-18)


def test_zero_matrix_single_entry_and_duplicated_columns():
    zero = lstsq(np.zeros((3, 2)), [3.0, 4.0, 0.0])
    np.testing.assert_array_equal(zero.x, 0.0)
    assert (zero.rank, zero.residual_norm, zero.condition) == (0, 5.0, np.inf)
    assert lstsq([[4.0]], [2.0]).x[0] == 0.5
    np.testing.assert_allclose(lstsq([[1.0, 1.0], [1.0, 1.0]], [2.0, 2.0]).x, [1.0, 1.0], rtol=1e-15)
    with_zero_column = lstsq([[2.0, 0.0], [0.0, 0.0]], [2.0, 5.0])
    np.testing.assert_allclose(with_zero_column.x, [1.0, 0.0])


def test_many_more_columns_than_rows_are_fitted_exactly_by_the_shortest_vector():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((5, 400)), rng.standard_normal(5)
    result = lstsq(A, b)
    np.testing.assert_allclose(result.x, A.T @ np.linalg.solve(A @ A.T, b), rtol=1e-11)
    assert result.residual_norm < 1e-14


def test_several_right_sides_are_as_many_single_ones():
    rng = np.random.default_rng(1)
    for A in (rng.standard_normal((7, 3)), of_rank(7, 4, 2, 0)):
        B = rng.standard_normal((7, 3))
        together = lstsq(A, B)
        for j in range(3):
            np.testing.assert_allclose(together.x[:, j], lstsq(A, B[:, j]).x, rtol=1e-12)
        assert np.isclose(together.residual_norm, np.linalg.norm(A @ together.x - B))


def test_the_condition_number_is_that_of_the_scaled_columns():
    A = np.random.default_rng(2).standard_normal((20, 4))
    A = np.linalg.qr(A)[0] * np.array([1.0, 2.0, 1024.0, 2.0**-30])
    assert 1.0 <= lstsq(A, np.ones(20)).condition < 2.1


@pytest.mark.parametrize("rank", [3, 5])
def test_a_problem_too_large_for_doubled_precision_is_still_right(rank, monkeypatch):
    monkeypatch.setattr(least_squares, "CAREFUL", 10)
    A, b = of_rank(40, 5, rank, 0), np.random.default_rng(3).standard_normal(40)
    result = lstsq(A, b)
    np.testing.assert_allclose(result.x, np.linalg.pinv(A) @ b, rtol=1e-10)
    assert result.backward_error < stable(40, 5)


def test_wrong_options_and_shapes_are_refused():
    with pytest.raises(ParameterError, match="rcond must be at least 0 and below 1, is 2"):
        lstsq(np.eye(2), [1, 1], rcond=2)
    with pytest.raises(DataError, match="b must have 2 rows like the matrix, has 3"):
        lstsq(np.eye(2), [1, 1, 1])
    with pytest.raises(DataError, match="b must be finite: entry 1"):
        lstsq(np.eye(2), [1, np.nan])

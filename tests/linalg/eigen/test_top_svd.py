import importlib

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from assay.errors import ParameterError
from assay.linalg import svd, top_svd
from assay.linalg.eigen.spectral import fix_signs

# The package exports the function under the module's name.
top_svd_module = importlib.import_module("assay.linalg.eigen.top_svd")

KINDS = [np.asarray, sp.csr_array, aslinearoperator]


def with_values(values, m, n, seed=0):
    rng = np.random.default_rng(seed)
    k = len(values)
    U = np.linalg.qr(rng.standard_normal((m, k)))[0]
    V = np.linalg.qr(rng.standard_normal((n, k)))[0]
    return (U * np.asarray(values)) @ V.T


def check(A, result, k, rtol=1e-12):
    exact = np.linalg.svd(A, compute_uv=False)
    np.testing.assert_allclose(result.values, exact[:k], rtol=0, atol=rtol * exact[0])
    np.testing.assert_allclose(result.left.T @ result.left, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(result.right.T @ result.right, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(A.T @ result.left, result.right * result.values, atol=1e-12 * exact[0])
    residual = np.linalg.norm(A @ result.right - result.left * result.values, axis=0)
    np.testing.assert_allclose(result.residuals, residual, atol=1e-13 * exact[0])
    np.testing.assert_array_equal(result.right, fix_signs(result.right))
    assert result.converged


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(210, 320), (320, 210), (220, 220), (5, 9000), (9000, 5)])
def test_tall_wide_and_square_matrices_of_every_kind(kind, shape):
    A = np.random.default_rng(1).standard_normal(shape)
    check(A, top_svd(kind(A), 4), 4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("smallest", [1e-2, 1e-5, 1e-8, 1e-11])
def test_small_singular_values_are_not_lost_to_the_squares_of_large_ones(kind, smallest):
    values = np.geomspace(1, smallest, 12)
    A = with_values([*values, *[smallest / 3] * 100], 210, 250)
    result = top_svd(kind(A), 12)
    # A backward stable decomposition owes an error of a few eps in each value, whatever its size.
    np.testing.assert_allclose(result.values, values, rtol=0, atol=5e-15)
    assert result.converged


def test_values_read_off_the_gram_matrix_alone_would_be_wrong():
    values = np.geomspace(1, 1e-9, 6)
    A = with_values(values, 210, 250)
    naive = np.sqrt(np.abs(np.linalg.eigvalsh(A @ A.T)[::-1][:6]))
    assert np.abs(naive / values - 1).max() > 1e-2
    assert np.abs(top_svd(A, 6).values / values - 1).max() < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_rank_deficient_matrices_get_orthonormal_vectors_for_their_zeros(kind):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((210, 3)) @ rng.standard_normal((3, 220))
    result = top_svd(kind(A), 6)
    check(A, result, 6)
    assert np.all(result.values[3:] < 1e-12 * result.values[0])


@pytest.mark.parametrize("kind", KINDS)
def test_repeated_values_come_with_all_copies(kind):
    A = with_values([3.0, 3.0, 3.0, 1.0, 1.0, *[0.5] * 50], 210, 220)
    np.testing.assert_allclose(top_svd(kind(A), 5).values, [3, 3, 3, 1, 1], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("kind", KINDS)
def test_scaling_the_matrix_scales_the_values_only(scale, kind):
    A = with_values(0.8 ** np.arange(40), 220, 230)
    plain, scaled = top_svd(A, 3), top_svd(kind(A * scale), 3)
    np.testing.assert_allclose(scaled.values / scale, plain.values, rtol=1e-12)
    np.testing.assert_allclose(scaled.right, plain.right, atol=1e-10)
    np.testing.assert_allclose(scaled.left, plain.left, atol=1e-10)


def test_it_agrees_with_the_full_decomposition_signs_included():
    A = np.random.default_rng(5).standard_normal((230, 260)) * 0.9 ** np.arange(260)
    top, whole = top_svd(A, 6), svd(A)
    assert top.method == "gram"
    np.testing.assert_allclose(top.left, whole.left[:, :6], atol=1e-11)
    np.testing.assert_allclose(top.right, whole.right[:, :6], atol=1e-11)


def test_an_operator_too_large_for_its_gram_matrix_goes_through_lanczos():
    A = sp.random_array((600, 700), density=0.02, rng=np.random.default_rng(0), format="csr")
    result = top_svd(A, 3)
    assert result.method == "lanczos"
    check(A.toarray(), result, 3)


def test_shifting_the_data_far_from_zero_keeps_the_values_exact():
    A = np.random.default_rng(2).standard_normal((210, 220)) + 1e8
    check(A, top_svd(A, 4), 4)


@pytest.mark.parametrize("kind", KINDS)
def test_all_values_a_single_entry_and_the_zero_matrix(kind):
    A = np.random.default_rng(3).standard_normal((7, 4))
    check(A, top_svd(kind(A), 4), 4)
    np.testing.assert_allclose(top_svd(kind(np.array([[-2.0]])), 1).values, [2.0])
    zero = top_svd(kind(np.zeros((210, 220))), 2)
    np.testing.assert_array_equal(zero.values, 0)
    np.testing.assert_allclose(zero.left.T @ zero.left, np.eye(2), atol=1e-12)


def test_the_same_seed_gives_the_same_bits():
    A = sp.random_array((600, 700), density=0.02, rng=np.random.default_rng(0))
    a, b = (top_svd(A, 3, random_state=1) for _ in range(2))
    np.testing.assert_array_equal(a.left, b.left)


def test_more_values_than_the_smaller_side_are_refused():
    with pytest.raises(ParameterError, match=r"k must be between 1 and 2 \(the smaller side of the matrix\), is 3"):
        top_svd(np.ones((2, 5)), 3)


@pytest.mark.parametrize(
    ("values", "method"), [(0.5 ** np.arange(20.0), "lanczos"), (np.linspace(1, 0.5, 900), "gram")]
)
def test_large_dense_matrices_are_tried_by_products_first_and_by_the_gram_matrix_when_that_drags_on(
    values, method, monkeypatch
):
    # As if trying paid from 544 rows on; for two values it does from 2176.
    monkeypatch.setattr(top_svd_module, "_PRICE", 8)
    A = with_values(values, 900, 901)
    result = top_svd(A, 2)
    assert result.method == method
    assert result.converged
    np.testing.assert_allclose(result.values, values[:2], rtol=1e-12)

import importlib
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from assay.errors import DataError, NotConverged, ParameterError
from assay.linalg import eigen_symmetric, lanczos, power_iteration, randomised, subspace_iteration, top_eigen
from assay.linalg.eigen.spectral import fix_signs, part_of_spectrum
from assay.linalg.eigen.top import leading_eigen

# The package exports the function under the module's name.
arpack = importlib.import_module("assay.linalg.eigen.lanczos")

METHODS = ["auto", "lapack", "lanczos", "power", "subspace", "randomised"]
EXACT = ["auto", "lapack", "lanczos", "subspace"]


def with_spectrum(values, seed=0):
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    A = (Q * np.asarray(values)) @ Q.T
    return (A + A.T) / 2


def separated(n=40):
    return with_spectrum(0.7 ** np.arange(n) * 10)


def check(A, result, k, atol):
    dense = A.toarray() if sp.issparse(A) else A
    values = np.linalg.eigvalsh(dense)[::-1][:k]
    size = np.abs(values).max()
    np.testing.assert_allclose(result.values, values, rtol=0, atol=atol * size)
    np.testing.assert_allclose(result.vectors.T @ result.vectors, np.eye(k), atol=1e-12)
    np.testing.assert_array_equal(result.vectors, fix_signs(result.vectors))
    residual = np.linalg.norm(dense @ result.vectors - result.vectors * result.values, axis=0)
    np.testing.assert_allclose(result.residuals, residual, atol=1e-12 * size)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 4])
def test_every_method_finds_the_top_of_a_separated_spectrum(method, k):
    A = separated()
    result = top_eigen(A, k, method=method)
    check(A, result, k, 1e-12)
    assert result.converged
    np.testing.assert_allclose(result.vectors, eigen_symmetric(A).vectors[:, :k], atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_top_means_algebraically_largest_even_when_a_negative_value_is_larger_in_modulus(method):
    A = with_spectrum([5.0, 3.0, 1.0, *np.linspace(0.5, 0, 30), -4.0, -9.0])
    check(A, top_eigen(A, 3, method=method), 3, 1e-9)


@pytest.mark.parametrize("method", EXACT)
def test_top_of_a_negative_definite_matrix_is_its_least_negative_part(method):
    A = with_spectrum(-np.arange(1.0, 31.0))
    np.testing.assert_allclose(top_eigen(A, 2, method=method).values, [-1.0, -2.0], atol=1e-8)


@pytest.mark.parametrize("method", EXACT)
def test_repeated_eigenvalues_come_with_all_their_copies(method):
    A = with_spectrum([7.0, 7.0, 7.0, 2.0, 2.0, *[1.0] * 25])
    result = top_eigen(A, 5, method=method)
    np.testing.assert_allclose(result.values, [7, 7, 7, 2, 2], atol=1e-9)
    assert result.converged


@pytest.mark.parametrize("n", [30, 40, 50, 200])
def test_a_value_that_nearly_all_vectors_share_is_found_from_both_ends(n):
    # for some n LAPACK's evr hands out no pair at all, without a word
    A = np.eye(n) - 1.0 / n
    np.testing.assert_allclose(top_eigen(A, 2).values, [1.0, 1.0], atol=1e-12)
    for first, last in ((0, 0), (1, 3), (n - 2, n - 1), (0, n - 1)):
        values, vectors = part_of_spectrum(A, first, last)
        assert vectors.shape == (n, last - first + 1)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[first : last + 1], atol=1e-12)
        np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)


def test_copies_that_arpack_overlooks_are_found():
    # Six identical graphs: every eigenvalue has six copies.
    rng = np.random.default_rng(3)
    W = sp.random_array((300, 300), density=0.03, rng=rng)
    W = W + W.T + sp.diags_array(np.ones(299), offsets=1) + sp.diags_array(np.ones(299), offsets=-1)
    root = sp.diags_array(np.asarray(W.sum(axis=1)).ravel() ** -0.5)
    A = sp.block_diag([root @ W @ root] * 6, format="csr")
    block = np.linalg.eigvalsh((root @ W @ root).toarray())[::-1]
    for seed in range(3):
        result = lanczos(A, 12, random_state=seed)
        np.testing.assert_allclose(result.values, np.repeat(block[:2], 6), atol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_matrix, aslinearoperator])
@pytest.mark.parametrize("method", METHODS)
def test_dense_sparse_and_operator_give_the_same(kind, method):
    A = separated(30)
    plain, other = top_eigen(A, 3, method="lapack"), top_eigen(kind(A), 3, method=method)
    np.testing.assert_allclose(other.values, plain.values, atol=1e-8)
    np.testing.assert_allclose(other.vectors, plain.vectors, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
@pytest.mark.parametrize("method", METHODS)
def test_scaling_the_matrix_scales_values_and_residuals_only(scale, kind, method):
    A = separated(30)
    plain, scaled = top_eigen(A, 2, method="lapack"), top_eigen(kind(A * scale), 2, method=method)
    np.testing.assert_allclose(scaled.values / scale, plain.values, rtol=1e-9)
    np.testing.assert_allclose(scaled.vectors, plain.vectors, atol=1e-7)
    assert scaled.converged


@pytest.mark.parametrize("method", METHODS)
def test_all_pairs_may_be_asked_for(method):
    A = with_spectrum([4.0, 2.0, 1.0])
    check(A, top_eigen(A, 3, method=method), 3, 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_zero_matrix_and_one_by_one_matrix(method):
    zero = top_eigen(np.zeros((6, 6)), 2, method=method)
    np.testing.assert_array_equal(zero.values, [0, 0])
    np.testing.assert_allclose(zero.vectors.T @ zero.vectors, np.eye(2), atol=1e-12)
    assert zero.converged
    assert top_eigen([[-3.0]], 1, method=method).values[0] == -3.0


def test_the_zero_sparse_matrix_too_large_to_write_out_is_no_trouble():
    result = lanczos(sp.csr_array((3000, 3000)), 3)
    np.testing.assert_array_equal(result.values, 0)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_bits(method):
    A = separated(25)
    a, b = (top_eigen(A, 2, method=method, random_state=4) for _ in range(2))
    np.testing.assert_array_equal(a.vectors, b.vectors)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10_000), st.data())
def test_the_sum_of_the_top_values_bounds_every_trace_on_a_subspace(n, seed, data):
    k = data.draw(st.integers(1, n))
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A = A + A.T
    V = np.linalg.qr(rng.standard_normal((n, k)))[0]
    top = top_eigen(A, k)
    assert np.trace(V.T @ A @ V) <= top.values.sum() + 1e-10
    assert np.isclose(np.trace(top.vectors.T @ A @ top.vectors), top.values.sum())


def test_power_iteration_without_a_gap_in_modulus_says_that_it_did_not_converge():
    A = with_spectrum([2.0, -2.0, *np.linspace(1, 0, 10)])
    with pytest.warns(NotConverged, match=r"power stopped after .* needs a gap between the two largest \|eigenvalues"):
        result = power_iteration(A, 1, max_iter=300)
    assert not result.converged
    assert result.residuals[0] > 1e-3


def test_a_shift_restores_the_gap():
    A = with_spectrum([2.0, -2.0, *np.linspace(1, 0, 10)])
    result = power_iteration(A, 1, shift=2.0)
    assert result.converged
    assert np.isclose(result.values[0], 2.0)


def test_power_iteration_converges_at_the_rate_of_the_gap():
    fast = power_iteration(with_spectrum([1.0, 0.1, *[0.0] * 8]), 1)
    slow = power_iteration(with_spectrum([1.0, 0.9, *[0.0] * 8]), 1)
    assert fast.iterations < 20 < slow.iterations < 400


def test_subspace_iteration_that_stops_short_warns():
    A = with_spectrum(np.linspace(1, 0.9, 60))
    with pytest.warns(NotConverged, match="subspace stopped after"):
        assert not subspace_iteration(A, 2, max_iter=5).converged


def test_randomised_values_never_exceed_the_true_ones_and_their_residuals_tell_the_error():
    A = with_spectrum(np.linspace(1, 0, 150))
    with pytest.warns(NotConverged, match="randomised stopped after"):
        result = randomised(A, 5, passes=2, tol=1e-3)
    values = np.linalg.eigvalsh(A)[::-1]
    assert np.all(result.values <= values[:5] + 1e-12)
    for value, residual in zip(result.values, result.residuals, strict=True):
        assert np.abs(values - value).min() <= residual


def test_more_passes_make_randomised_better():
    A = with_spectrum(np.linspace(1, 0, 150))
    exact = np.linalg.eigvalsh(A)[::-1][:5]
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        errors.extend(np.abs(randomised(A, 5, passes=p).values - exact).max() for p in (1, 3, 6))
    assert errors[0] > errors[1] > errors[2]


def test_large_matrices_go_to_arpack_and_stay_exact():
    n, rng = 1100, np.random.default_rng(0)
    X = rng.standard_normal((n, 60)) * 0.9 ** np.arange(60)
    A = X @ X.T
    result = top_eigen(A, 5)
    assert result.method == "lanczos"
    np.testing.assert_allclose(result.values, np.linalg.svd(X, compute_uv=False)[:5] ** 2, rtol=1e-12)


def test_a_spectrum_too_dense_for_arpack_is_left_to_lapack(monkeypatch):
    monkeypatch.setattr(arpack, "_RESTARTS", 1)
    path = sp.diags_array([np.full(149, 0.5)] * 2, offsets=[-1, 1])
    result = top_eigen(path.tocsr(), 4, method="lanczos")
    exact = np.cos(np.arange(1, 5) * np.pi / 151)
    assert result.method == "lapack"
    np.testing.assert_allclose(result.values, exact, rtol=1e-12)


def test_an_operator_that_is_too_hard_and_too_large_to_write_out_warns(monkeypatch):
    monkeypatch.setattr(arpack, "_RESTARTS", 1)
    monkeypatch.setattr(arpack, "_SMALL", 10)
    path = sp.diags_array([np.full(399, 0.5)] * 2, offsets=[-1, 1])
    with pytest.warns(NotConverged, match=r"lanczos stopped .* close together"):
        assert not lanczos(path.tocsr(), 4).converged


@pytest.mark.parametrize("k", [0, 4])
@pytest.mark.parametrize("method", METHODS)
def test_a_count_beyond_the_size_is_refused(k, method):
    with pytest.raises(ParameterError, match=f"k must be between 1 and 3 .*, is {k}"):
        top_eigen(np.eye(3), k, method=method)


def test_unknown_methods_and_options_out_of_range_are_refused():
    with pytest.raises(ParameterError, match="method must be one of auto, lapack, lanczos.* is 'magic'"):
        top_eigen(np.eye(3), 1, method="magic")
    with pytest.raises(ParameterError, match="tol must lie between 0 and 1, is 0"):
        power_iteration(np.eye(3), 1, tol=0)
    with pytest.raises(ParameterError, match="max_iter must be a whole number of at least 1, is 0"):
        subspace_iteration(np.eye(3), 1, max_iter=0)
    with pytest.raises(ParameterError, match="passes must be a whole number of at least 1, is 0"):
        randomised(np.eye(3), 1, passes=0)


def test_what_is_not_a_finite_symmetric_matrix_is_refused_with_its_place():
    bad = sp.csr_array(np.array([[1.0, 2.0], [2.0, np.nan]]))
    with pytest.raises(DataError, match=r"A must be finite: row 1, column 1 \(counted from 0\) is NaN"):
        top_eigen(bad, 1)
    with pytest.raises(DataError, match=r"A must be symmetric: row 0, column 1 \(counted from 0\) differs from its"):
        top_eigen(sp.csr_array(np.array([[1.0, 2.0], [5.0, 1.0]])), 1)
    with pytest.raises(DataError, match=r"A must be square, has shape \(2, 3\)"):
        top_eigen(sp.csr_array((2, 3)), 1)
    with pytest.raises(DataError, match="A must be real, is complex"):
        top_eigen(sp.csr_array(np.array([[1j]])), 1)
    with pytest.raises(DataError, match="A must be real, is complex"):
        top_eigen(aslinearoperator(np.array([[1j]])), 1)
    with pytest.raises(DataError, match="its product with a finite vector is not, first in entry 0"):
        top_eigen(LinearOperator((2, 2), matvec=lambda x: x * np.nan, dtype=float), 1)
    with pytest.raises(DataError, match="A must not be empty"):
        top_eigen(sp.csr_array((0, 0)), 1)


def diagonal(values, scale=1.0):
    """A matrix known by its products; the start of the solver is random, so its basis does not matter."""

    def product(x):
        return scale * (values * x.T).T

    return LinearOperator((len(values), len(values)), matvec=product, matmat=product, dtype=np.float64)


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("decay", ["fast", "repeated", "with negatives"])
def test_leading_pairs_are_those_of_the_spectrum(k, decay):
    values = 0.9 ** np.arange(1200.0)
    if decay == "repeated":
        values = np.repeat(0.7 ** np.arange(300.0), 4)
    if decay == "with negatives":
        values[-30:] = -2.0
    A = diagonal(np.random.default_rng(1).permutation(values))
    found = leading_eigen(A, k)
    np.testing.assert_allclose(found.values, np.sort(values)[::-1][:k], atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-9)
    assert np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0).max() <= 1e-9
    assert found.converged and 0 < found.iterations <= 40


@pytest.mark.parametrize(("n", "method"), [(900, "lapack"), (1200, "lapack"), (2500, "lanczos")])
def test_leading_pairs_of_a_spectrum_without_gaps_are_found(n, method):
    values = np.linspace(1.0, 0.0, n)
    found = leading_eigen(diagonal(values), 2)
    np.testing.assert_allclose(found.values, values[:2], rtol=1e-9)
    assert found.method == method


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_leading_pairs_do_not_mind_extreme_scales(scale):
    values = 0.8 ** np.arange(1100.0)
    np.testing.assert_allclose(leading_eigen(diagonal(values, scale), 4).values / scale, values[:4], rtol=1e-9)


def test_leading_pairs_of_zero_and_low_rank_matrices():
    assert (leading_eigen(diagonal(np.zeros(1100)), 3).values == 0.0).all()
    u = np.random.default_rng(0).standard_normal((1100, 2))
    found = leading_eigen(u @ u.T, 4)
    np.testing.assert_allclose(found.values, np.append(np.linalg.svd(u, compute_uv=False) ** 2, [0, 0]), atol=1e-8)


def test_leading_pairs_repeat_with_their_seed_and_their_count_is_checked():
    A = diagonal(0.9 ** np.arange(1100.0))
    first, again = leading_eigen(A, 3, random_state=4), leading_eigen(A, 3, random_state=4)
    np.testing.assert_array_equal(first.vectors, again.vectors)
    with pytest.raises(ParameterError, match="k must be between 1 and 1100"):
        leading_eigen(A, 1101)

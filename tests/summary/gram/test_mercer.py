"""mercer_check: every verdict with its proof, LAPACK as oracle, the same on either side of the size limit, edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigvalsh

import assay.summary.gram.mercer as mercer_module
from assay import Gaussian, Gram, mercer_check
from assay.errors import DataError, ParameterError


def spectrum(values, seed=0):
    """A symmetric matrix with these eigenvalues."""
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    K = (V * values) @ V.T
    return (K + K.T) / 2


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(0, 10**6), st.floats(-2.0, 2.0), st.booleans())
def test_the_verdict_is_that_of_the_least_eigenvalue(n, seed, lowest, by_factor):
    K = spectrum(np.concatenate([[lowest], np.random.default_rng(seed).uniform(abs(lowest), 9.0, n - 1)]), seed)
    with pytest.MonkeyPatch.context() as patch:
        if by_factor and n > 3:
            patch.setattr(mercer_module, "_SMALL", 0)
        check = mercer_check(K)
    assert check.smallest == pytest.approx(lowest, abs=max(1e-9, 2e-3 * abs(lowest)))
    assert check.is_kernel == (lowest >= -check.tolerance)
    assert (check.witness is None) == check.is_kernel
    if check.witness is not None:
        assert np.linalg.norm(check.witness) == pytest.approx(1.0)
        assert check.witness @ K @ check.witness == pytest.approx(check.value) and check.value < -check.tolerance


@pytest.mark.parametrize("lowest", [-1.0, -1e-3, -1e-9, 1e-9])
def test_many_rows_are_judged_by_one_factorisation(lowest, monkeypatch):
    monkeypatch.setattr(mercer_module, "_SMALL", 100)
    K = spectrum(np.concatenate([[lowest], np.geomspace(abs(lowest), 500.0, 199)]))
    check = mercer_check(K)
    assert check.method == "cholesky" and check.is_kernel == (lowest > 0)
    assert check.smallest == pytest.approx(eigvalsh(K, subset_by_index=(0, 0))[0], rel=2e-2, abs=1e-12)


def test_many_eigenvalues_near_zero_do_not_keep_it_busy():
    X = np.random.default_rng(0).standard_normal((600, 3))
    check = mercer_check(Gaussian(10.0), X)  # hundreds of eigenvalues are rounding
    assert check.is_kernel and abs(check.smallest) <= check.tolerance
    low_rank = mercer_check(X @ X.T)
    assert low_rank.is_kernel and abs(low_rank.smallest) <= low_rank.tolerance


def test_the_rows_that_break_a_kernel_are_named():
    X = np.random.default_rng(0).standard_normal((60, 3))
    K = Gaussian(0.2)(X)
    K[4, 9] = K[9, 4] = 3.0
    check = mercer_check(K)
    assert not check.is_kernel and set(check.rows[:2]) == {4, 9}
    assert check.verdict.startswith("not a kernel: its least eigenvalue is -2, borne mostly by rows ")


def test_what_differs_from_its_mirror_image_is_no_kernel():
    K = np.eye(5)
    K[1, 3] = 0.5
    check = mercer_check(K)
    assert not check.symmetric and not check.is_kernel and check.asymmetry == 0.5 and check.rows == (1, 3)
    assert check.witness is None
    assert check.verdict == "not a kernel: rows 1 and 3 differ by 0.5 in their two values"


def test_distances_are_no_kernel_and_gaussians_of_them_are():
    X = np.random.default_rng(0).standard_normal((50, 2))

    def distance(A, B):
        return np.sqrt(((A[:, None] - B) ** 2).sum(axis=2))

    assert not mercer_check(distance, X).is_kernel
    check = mercer_check("gaussian", X)
    assert check.is_kernel and check.verdict.startswith(
        "a kernel on these rows: symmetric, and no eigenvalue is below -"
    )
    assert mercer_check(Gram.of(X, Gaussian())).is_kernel


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_units_do_not_matter(scale):
    K = spectrum(np.array([-1.0, 1.0, 2.0]))
    check = mercer_check(K * scale)
    assert not check.is_kernel and check.smallest == pytest.approx(-scale)
    assert mercer_check(spectrum(np.array([0.5, 1.0, 2.0])) * scale).is_kernel


def test_one_row_zeros_and_a_tolerance_of_ones_own():
    assert mercer_check([[0.0]]).is_kernel and mercer_check(np.zeros((4, 4))).is_kernel
    assert not mercer_check([[-1e-9]]).is_kernel
    assert mercer_check([[-1e-9]], tol=1e-6).is_kernel


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(ParameterError, match=r"a kernel is judged on rows: give them as X, mercer_check\(kernel, X\)"):
        mercer_check(Gaussian(1.0))
    with pytest.raises(DataError, match=r"the kernel matrix must be square, has shape \(2, 3\)"):
        mercer_check(np.ones((2, 3)))
    with pytest.raises(DataError, match="must be finite: row 0, column 1"):
        mercer_check([[1.0, np.nan], [0.0, 1.0]])
    with pytest.raises(ParameterError, match="tol is how negative an eigenvalue may be, at least 0; got -1"):
        mercer_check(np.eye(2), tol=-1)
    with pytest.raises(
        DataError, match=r"20000 rows have 3.0 GiB of kernel values \(the limit is 1 GiB\). Take a sample"
    ):
        mercer_check("linear", np.ones((20000, 1)))


def test_the_answer_can_be_asked_as_a_question():
    assert mercer_check(np.eye(3))
    assert not mercer_check(np.diag([1.0, -1.0]))

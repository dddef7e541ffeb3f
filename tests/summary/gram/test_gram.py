"""Gram matrices: held, streamed, factored and by landmarks must tell the same; NumPy and scikit-learn as oracles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import eigsh
from sklearn.decomposition import KernelPCA
from sklearn.preprocessing import KernelCenterer

from assay.errors import DataError, ParameterError
from assay.summary.gram import gram as room
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernels import FunctionKernel, Gaussian, Linear, Polynomial, Precomputed

RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((70, 4)) + 3, RNG.standard_normal((9, 4)) + 3
KERNELS = [Linear(), Polynomial(2), Gaussian(1.5), Gaussian()]


def test_the_linear_gram_is_the_product_of_the_rows():
    np.testing.assert_allclose(Gram.of(X).values, X @ X.T, rtol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("centred", [False, True])
def test_held_and_streamed_grams_tell_the_same(kernel, centred, monkeypatch):
    monkeypatch.setattr(room, "BLOCK", 700)  # ten rows at a time
    held, streamed = Gram.of(X, kernel), Gram.of(X, kernel, hold=False)
    if centred:
        held, streamed = held.centred(), streamed.centred()
    K = held.values
    assert streamed.held is None
    size = np.abs(K).max()
    blocks = list(streamed.row_blocks())
    assert [start for start, _ in blocks] == list(range(0, 70, 10))
    np.testing.assert_allclose(np.concatenate([rows for _, rows in blocks]), K, atol=1e-13 * size)
    np.testing.assert_allclose(np.concatenate([rows for _, rows in held.row_blocks(16)]), K, rtol=0)
    np.testing.assert_allclose(streamed.rows(3, 5), K[3:5], atol=1e-13 * size)
    V = RNG.standard_normal((70, 3))
    np.testing.assert_allclose(streamed @ V, K @ V, atol=1e-12 * size)
    np.testing.assert_allclose(streamed @ V[:, 0], held @ V[:, 0], atol=1e-12 * size)
    for gram in (held, streamed):
        np.testing.assert_allclose(gram.diagonal, np.diag(K), atol=1e-13 * size)
        assert gram.trace == pytest.approx(np.trace(K), rel=1e-11)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("hold", [False, True])
def test_centring_agrees_with_scikit_learn_for_old_and_new_rows(kernel, hold):
    gram = Gram.of(X, kernel, hold=hold)
    raw = gram.rows(0, 70).copy()
    new = gram.kernel(NEW, X)
    oracle = KernelCenterer().fit(raw)
    size = 1e-12 * np.abs(raw).max()
    np.testing.assert_allclose(gram.centred().rows(0, 70), oracle.transform(raw), atol=size)
    for either in (gram, gram.centred()):
        np.testing.assert_allclose(either.against(NEW), new, rtol=1e-12)
        np.testing.assert_allclose(either.centre_new(new), oracle.transform(new), atol=size)
        np.testing.assert_allclose(either.against(NEW, centred=True), oracle.transform(new), atol=size)


@given(st.integers(0, 2**32 - 1), st.integers(1, 15), st.integers(1, 6), st.sampled_from([0.0, 10.0]))
def test_a_centred_gram_is_the_gram_of_centred_features(seed, n, d, shift):
    rng = np.random.default_rng(seed)
    rows, new = rng.standard_normal((n, d)) + shift, rng.standard_normal((3, d)) + shift
    # the polynomial kernel of degree 2 without offset has the features x_i x_j
    for kernel, features in (
        (Linear(), lambda A: A),
        (Polynomial(2, 0.0), lambda A: (A[:, :, None] * A[:, None]).reshape(len(A), -1)),
    ):
        F, F_new = features(rows), features(new)
        C, C_new = F - F.mean(axis=0), F_new - F.mean(axis=0)
        gram = Gram.of(rows, kernel).centred()
        size = 1e-11 * max(1, np.abs(F).max() ** 2 * F.shape[1])
        np.testing.assert_allclose(gram.values, C @ C.T, atol=size)
        np.testing.assert_allclose(gram.against(new, centred=True), C_new @ C.T, atol=size)
        np.testing.assert_allclose(gram.values.sum(axis=0), 0, atol=n * size)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_grams_are_symmetric_and_positive_semidefinite(kernel):
    for gram in (Gram.of(X, kernel), Gram.of(X, kernel).centred()):
        np.testing.assert_array_equal(gram.values, gram.values.T)
        assert np.linalg.eigvalsh(gram.values)[0] >= -1e-12 * gram.trace


def test_rows_in_another_order_give_the_gram_in_that_order():
    order = RNG.permutation(70)
    for kernel in KERNELS:
        a, b = Gram.of(X, kernel).centred(), Gram.of(X[order], kernel).centred()
        np.testing.assert_allclose(b.values, a.values[np.ix_(order, order)], rtol=1e-9, atol=1e-10 * a.trace)


def test_centring_a_linear_gram_keeps_its_digits_far_from_zero():
    far = X + 1e8
    centred = far - 1e8 - (far - 1e8).mean(axis=0)
    new = far[:3] + 1
    for hold in (False, True):
        gram = Gram.of(far, hold=hold).centred()
        np.testing.assert_allclose(gram.rows(0, 70), centred @ centred.T, atol=1e-6)
        np.testing.assert_allclose(gram.against(new, centred=True), (centred[:3] + 1) @ centred.T, atol=1e-6)
        np.testing.assert_allclose(
            Gram.of(far, hold=hold).against(new, centred=True), (centred[:3] + 1) @ centred.T, atol=1e-6
        )


def test_centring_twice_is_centring_once():
    gram = Gram.of(X, Gaussian(1.0)).centred()
    assert gram.centred() is gram


def test_constant_rows_are_centred_to_zero():
    equal = np.full((7, 3), 0.1)
    assert not Gram.of(equal).centred().values.any()
    np.testing.assert_allclose(Gram.of(equal, Gaussian()).centred().values, 0, atol=1e-15)
    assert not Gram.of([[2.0, 3.0]]).centred().values.any()


@pytest.mark.parametrize("hold", [False, True])
def test_the_operator_gives_arpack_the_eigenvalues_of_kernel_pca(hold):
    operator = Gram.of(X, Gaussian(1.5), hold=hold).as_linear_operator()
    oracle = KernelPCA(5, kernel="rbf", gamma=1 / (2 * 1.5**2), eigen_solver="dense").fit(X).eigenvalues_
    np.testing.assert_allclose(np.sort(eigsh(operator, 5, v0=np.ones(70) + X[:, 0])[0])[::-1], oracle, rtol=1e-10)
    K = Gram.of(X, Gaussian(1.5)).values
    np.testing.assert_allclose(Gram.of(X, Gaussian(1.5)).as_linear_operator(centred=False) @ np.eye(70), K, rtol=1e-13)


def test_a_given_matrix_is_a_gram():
    K = Gaussian(1.0)(X)
    gram = Gram.precomputed(K)
    assert Gram.of(K, Precomputed()).kernel == gram.kernel == Precomputed()
    centred = Gram.of(X, Gaussian(1.0)).centred()
    np.testing.assert_array_equal(gram.centred().values, centred.values)
    new = Gaussian(1.0)(NEW, X)
    np.testing.assert_array_equal(gram.against(new), new)
    np.testing.assert_allclose(gram.against(new, centred=True), centred.against(NEW, centred=True), atol=1e-14)
    K[0, 0] = 99
    assert gram.values[0, 0] == 1


def test_sigma_is_fixed_on_the_training_rows():
    gram = Gram.of(X, Gaussian())
    np.testing.assert_array_equal(gram.against(100 * NEW), gram.kernel(100 * NEW, X))
    assert gram.kernel == Gaussian().resolve(X)


def test_functions_serve_as_kernels_in_every_form():
    def laplace(A, B):
        return np.exp(-np.abs(A[:, None] - B).sum(axis=2))

    held, streamed = Gram.of(X, laplace), Gram.of(X, laplace, hold=False)
    assert held.kernel == FunctionKernel(laplace)
    np.testing.assert_allclose(streamed.centred() @ np.eye(70), held.centred().values, atol=1e-13)
    np.testing.assert_allclose(Gram.landmarks(X, 70, laplace).rows(0, 70), held.values, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_landmarks_at_every_row_give_the_exact_gram(kernel):
    exact, gram = Gram.of(X, kernel), Gram.landmarks(X, 70, kernel)
    assert gram.approximate and not exact.approximate and exact.trace_error == 0
    size = np.abs(exact.values).max()
    np.testing.assert_allclose(gram.rows(0, 70), exact.values, atol=1e-10 * size)
    np.testing.assert_allclose(gram.against(NEW), exact.against(NEW), atol=1e-6 * size)
    np.testing.assert_allclose(gram.centred().rows(0, 70), exact.centred().values, atol=1e-9 * size)
    assert gram.trace_error <= 70 * 1e-12 * size


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.data())
def test_the_trace_certificate_of_landmarks_holds(seed, n, data):
    rows = np.random.default_rng(seed).standard_normal((n, 3)).round(1)
    m = data.draw(st.integers(1, n))
    K, gram = Gaussian(0.8)(rows), Gram.landmarks(rows, m, Gaussian(0.8), random_state=seed)
    left = K - gram.factor @ gram.factor.T
    assert gram.trace_error >= 0
    assert gram.trace_error == pytest.approx(np.trace(left), abs=1e-9 * n)
    assert np.linalg.eigvalsh(left)[0] >= -1e-9
    e = np.maximum(np.diag(left), 0) + 1e-12
    assert (np.abs(left) <= np.sqrt(np.multiply.outer(e, e)) + 1e-9).all()
    # columns of landmarks are exact, and this is Nystroem's formula
    marks = gram.marks.indices
    assert len(set(marks.tolist())) == len(marks) <= m
    np.testing.assert_allclose(left[:, marks], 0, atol=1e-9)
    nystroem = K[:, marks] @ np.linalg.pinv(K[np.ix_(marks, marks)], rcond=1e-11, hermitian=True) @ K[marks]
    np.testing.assert_allclose(gram.rows(0, n), nystroem, atol=1e-4)


def test_landmarks_keep_the_proven_error_and_miss_no_small_group():
    rng = np.random.default_rng(2)
    rows = np.vstack([rng.standard_normal((400, 2)), rng.standard_normal((8, 2)) * 0.1 + 30])
    eigenvalues = np.linalg.eigvalsh(Gaussian(1.0)(rows))[::-1]
    tail = eigenvalues[9:].sum()
    # Chen et al., theorem 3.1 with epsilon = 1: r + r log(trace / tail) landmarks leave at most 2 tail on average
    m = int(np.ceil(9 + 9 * np.log(408 / tail)))
    assert m <= 40
    grams = [Gram.landmarks(rows, m, Gaussian(1.0), random_state=seed) for seed in range(8)]
    assert np.mean([gram.trace_error for gram in grams]) <= 2 * tail
    assert all((gram.marks.indices >= 400).any() for gram in grams)


def test_rows_that_a_landmark_stands_for_are_not_taken_themselves():
    rng = np.random.default_rng(3)
    rows = np.vstack([rng.standard_normal((200, 2)) * 1e-4, rng.uniform(5, 60, (100, 2))])
    # a second landmark in the narrow group has a chance of 1e-8; drawn in blocks without rejection it is near certain
    for seed in range(5):
        chosen = Gram.landmarks(rows, 40, Gaussian(1.0), random_state=seed).marks.indices
        assert (chosen < 200).sum() == 1


def test_new_rows_are_mapped_by_the_same_landmarks():
    gram = Gram.landmarks(X, 20, Gaussian(1.5))
    np.testing.assert_allclose(gram.features(X), gram.factor, atol=1e-9)
    np.testing.assert_allclose(gram.against(NEW), gram.features(NEW) @ gram.factor.T, atol=1e-12)
    centred = gram.centred()
    np.testing.assert_allclose(centred.against(X, centred=True), centred.rows(0, 70), atol=1e-9)
    np.testing.assert_allclose(centred.against(NEW), gram.against(NEW), atol=1e-12)
    np.testing.assert_allclose(centred.centre_new(gram.against(NEW)), centred.against(NEW, centred=True), atol=1e-12)


def test_landmarks_stop_at_the_rank_and_repeat_with_the_seed():
    gram = Gram.landmarks(X, 50, Linear())
    assert gram.factor.shape == (70, 4)
    assert Gram.landmarks(np.ones((30, 2)), 10, Gaussian()).factor.shape == (30, 1)
    a, b, c = (Gram.landmarks(X, 10, Gaussian(1.0), random_state=seed).marks.indices for seed in (1, 1, 2))
    assert a.tolist() == b.tolist() != c.tolist()
    assert Gram.landmarks(np.zeros((3, 2)), 2, Linear()).factor.shape == (3, 0)


def test_questions_that_cannot_be_answered_are_refused():
    streamed = Gram.of(X, Gaussian(1.0), hold=False)
    with pytest.raises(ParameterError, match=r"this Gram of 70 rows does not hold its values .* with hold=True"):
        _ = streamed.values
    with pytest.raises(ParameterError, match=r"rows must lie within 0 to 70, are 60 to 71"):
        streamed.rows(60, 71)
    with pytest.raises(DataError, match=r"K has 70 columns, it cannot be multiplied with shape \(3, 2\)"):
        streamed @ np.ones((3, 2))
    with pytest.raises(DataError, match=r"one column for each of the 70 training rows, have 3"):
        streamed.centre_new(np.ones((2, 3)))
    with pytest.raises(DataError, match=r"X_new must have 4 columns"):
        streamed.against(np.ones((2, 3)))
    with pytest.raises(ParameterError, match=r"a Gram with kernel Gaussian\(sigma=1.0\) has no factor"):
        streamed.features(NEW)
    with pytest.raises(ParameterError, match=r'hold must be True, False or "auto", is \'no\''):
        Gram.of(X, hold="no")
    with pytest.raises(ParameterError, match=r"the number of landmarks must be between 1 and 70"):
        Gram.landmarks(X, 71)
    with pytest.raises(ParameterError, match=r"Precomputed\(\) has it already. Give rows instead"):
        Gram.landmarks(np.eye(3), 2, Precomputed())
    with pytest.raises(DataError, match=r"the linear kernel overflows"):
        Gram.of(X * 1e300, hold=False)


def test_landmarks_of_what_is_no_inner_product_are_refused():
    def negative(A, B):
        return -A @ B.T

    def distance(A, B):
        return 1 + np.abs(A[:, None] - B).sum(axis=2)

    for function in (negative, distance):
        with pytest.raises(DataError, match=rf"FunctionKernel\({function.__name__}.* is not positive semidefinite"):
            Gram.landmarks(X, 20, function)


def test_rows_changed_afterwards_do_not_change_the_gram():
    rows = X.copy()
    gram = Gram.of(rows, Gaussian(1.0), hold=False)
    before = gram.rows(0, 70)
    rows[:] = 0
    np.testing.assert_array_equal(gram.rows(0, 70), before)
    rows = X.copy()
    marked = Gram.landmarks(rows, 5, Gaussian(1.0))
    rows[:] = 0
    np.testing.assert_array_equal(marked.points, X)


def test_more_rows_than_fit_are_not_held(monkeypatch):
    monkeypatch.setattr(room, "HOLD_LIMIT", 69**2)
    assert Gram.of(X, Gaussian(1.0)).held is None
    assert Gram.of(X[:69], Gaussian(1.0)).held is not None

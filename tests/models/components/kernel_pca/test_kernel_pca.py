"""KernelPCA: its laws, scikit-learn as oracle, landmarks, pre-images, edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.decomposition import KernelPCA as Peer

import assay
from assay import PCA, Gaussian, Gram, KernelPCA, Linear, Polynomial
from assay.errors import Caution, DataError, ParameterError


def circle(n=100):
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


def table(n=60, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.geomspace(3.0, 0.5, d)


def overlap(X, Y):
    return np.minimum(np.abs(X)[:, None], np.abs(Y)).sum(axis=2)


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


@pytest.mark.parametrize("landmarks", [None, 60])
def test_the_circle_has_the_published_eigenvalues(landmarks):
    found = KernelPCA(6, kernel=Gaussian(sigma=0.5), landmarks=landmarks).fit(circle())
    expected = np.repeat([17.8750840, 11.7626501, 6.1124338], 2)
    np.testing.assert_allclose(found.eigenvalues_, expected, atol=5e-8)


@pytest.mark.parametrize("n", [60, 1500])  # below and above where LAPACK decomposes the whole matrix
@pytest.mark.parametrize(
    ("kernel", "peer"),
    [
        (Gaussian(1.7), {"kernel": "rbf", "gamma": 1 / (2 * 1.7**2)}),
        (Polynomial(3, coef0=2.0, gamma=0.1), {"kernel": "poly", "degree": 3, "gamma": 0.1, "coef0": 2.0}),
        (Linear(), {"kernel": "linear"}),
        (overlap, {"kernel": lambda x, y: np.minimum(np.abs(x), np.abs(y)).sum()}),
    ],
    ids=["gaussian", "polynomial", "linear", "function"],
)
def test_scores_of_old_and_new_rows_agree_with_scikit_learn(n, kernel, peer):
    if n > 100 and kernel is overlap:
        pytest.skip("the peer calls a function for every pair")
    X, new = table(n), table(7, seed=1)
    ours = KernelPCA(3, kernel=kernel).fit(X)
    oracle = Peer(3, eigen_solver="dense" if n < 100 else "arpack", **peer).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, oracle.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(oracle.transform(X)), atol=1e-6)
    np.testing.assert_allclose(np.abs(ours.transform(new)), np.abs(oracle.transform(new)), atol=1e-6)
    assert ours.residual_ < 1e-9


@settings(max_examples=30)
@given(st.integers(3, 25), st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from(["gaussian", Polynomial(2)]))
def test_all_directions_rebuild_the_centred_gram_matrix(n, d, seed, kernel):
    X = np.random.default_rng(seed).standard_normal((n, d))
    found = KernelPCA(n, kernel=kernel).fit(X)
    K = centred(found.kernel_(X))
    scale = np.trace(K)
    np.testing.assert_allclose(found.embedding_ @ found.embedding_.T, K, atol=1e-9 * scale)
    np.testing.assert_allclose(found.embedding_.T @ found.embedding_, np.diag(found.eigenvalues_), atol=1e-9 * scale)
    assert found.explained_variance_ratio_.sum() == pytest.approx(1.0)
    assert (np.diff(found.eigenvalues_) <= 0.0).all() and (found.eigenvalues_ >= 0.0).all()


@pytest.mark.parametrize("landmarks", [None, 20])
def test_directions_have_unit_length_in_feature_space(landmarks):
    found = KernelPCA(4, kernel=Gaussian(2.0), landmarks=landmarks).fit(table())
    gram = found.kernel_(found.points_)
    if landmarks is None:
        gram = centred(gram)
    np.testing.assert_allclose(found.coefficients_.T @ gram @ found.coefficients_, np.eye(4), atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", Gaussian(1.0), Polynomial(2), overlap])
@pytest.mark.parametrize("landmarks", ["auto", 30])
def test_training_rows_given_again_get_their_scores(kernel, landmarks):
    X = table()
    found = KernelPCA(5, kernel=kernel, landmarks=landmarks).fit(X)
    np.testing.assert_allclose(found.transform(X), found.embedding_, atol=1e-9 * np.abs(found.embedding_).max())
    np.testing.assert_array_equal(KernelPCA(5, kernel=kernel, landmarks=landmarks).fit_transform(X), found.embedding_)


@pytest.mark.parametrize(("n", "d"), [(80, 5), (12, 90)])
def test_the_linear_kernel_gives_the_scores_of_pca(n, d):
    X, new = table(n, d) + 100.0, table(6, d, seed=2) + 100.0
    kernel, plain = KernelPCA(4).fit(X), PCA(4).fit(X)
    np.testing.assert_allclose(kernel.transform(new), plain.transform(new), atol=1e-9)
    np.testing.assert_allclose(kernel.eigenvalues_, plain.explained_variance_ * (n - 1), rtol=1e-10)
    np.testing.assert_allclose(kernel.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(
        kernel.inverse_transform(kernel.embedding_), plain.inverse_transform(plain.transform(X)), atol=1e-9
    )
    assert kernel.route_ == "factor"


def test_a_gram_matrix_gives_the_same_however_it_is_kept():
    X, new = table(), table(5, seed=3)
    direct = KernelPCA(3, kernel=Gaussian(2.0)).fit(X)
    for gram in (
        Gram.of(X, Gaussian(2.0)),
        Gram.of(X, Gaussian(2.0)).centred(),
        Gram.of(X, Gaussian(2.0), hold=False),
        Gram.of(X, Gaussian(2.0), hold=False).centred(),
    ):
        other = KernelPCA(3).fit_gram(gram)
        np.testing.assert_allclose(other.embedding_, direct.embedding_, atol=1e-10)
        np.testing.assert_allclose(other.transform(new), direct.transform(new), atol=1e-10)
        np.testing.assert_allclose(other.explained_variance_ratio_, direct.explained_variance_ratio_, rtol=1e-10)
    marked = KernelPCA(3).fit_gram(Gram.landmarks(X, 60, Gaussian(2.0)))
    np.testing.assert_allclose(marked.transform(new), direct.transform(new), atol=1e-8)
    linear = KernelPCA(3).fit_gram(Gram.of(X))
    np.testing.assert_allclose(linear.embedding_, KernelPCA(3).fit(X).embedding_, atol=1e-10)


def test_precomputed_values_stand_for_the_rows():
    X, new = table(), table(5, seed=3)
    K = Gaussian(2.0)
    direct = KernelPCA(3, kernel=K).fit(X)
    given_values = KernelPCA(3, kernel="precomputed").fit(K(X))
    np.testing.assert_allclose(given_values.embedding_, direct.embedding_, atol=1e-10)
    np.testing.assert_allclose(given_values.transform(K(new, X)), direct.transform(new), atol=1e-10)


def test_a_matrix_that_is_no_inner_product_gives_zeros_not_nan():
    K = np.diag([3.0, -2.0, -2.0, -2.0])
    with pytest.warns(Caution, match="no inner products"):
        found = KernelPCA(4, kernel="precomputed").fit(K)
    assert np.isfinite(found.embedding_).all()
    assert (found.eigenvalues_ >= 0.0).all() and found.eigenvalues_[0] > 0.0 and found.eigenvalues_[-1] == 0.0
    assert (found.embedding_[:, found.eigenvalues_ == 0.0] == 0.0).all()


@pytest.mark.parametrize("n", [80, 2100])  # all eigenvalues, and the least few
def test_values_that_are_no_inner_products_are_warned_of_and_shares_stay_shares(n):
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((n, 6)))[0]
    axes = np.linalg.qr(axes - axes.mean(axis=0))[0]
    K = axes @ np.diag([8.0, 4.0, 2.0, -1.0, -3.0, -6.0]) @ axes.T
    with pytest.warns(Caution, match=r"down to -6 beside a largest of 8, and 41.7% of their sizes is negative") as told:
        found = KernelPCA(4, kernel="precomputed").fit((K + K.T) / 2)
    assert told[0].filename == __file__
    # eigenvalues of n^2 values of this size are known to some n eps
    np.testing.assert_allclose(found.eigenvalues_, [8.0, 4.0, 2.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(found.negative_eigenvalues_, [-6.0, -3.0, -1.0], atol=1e-9)
    np.testing.assert_allclose(found.explained_variance_ratio_, np.array([8.0, 4.0, 2.0, 0.0]) / 14.0, atol=1e-9)


def test_a_function_that_is_no_kernel_has_shares_of_at_most_one_with_the_eigenvalues_of_lapack():
    def sigmoid(X, Y):
        return np.tanh(X @ Y.T - 1.0)

    X = table()
    with pytest.warns(Caution, match="no inner products"):
        found = KernelPCA(60, kernel=sigmoid).fit(X)
    every = np.linalg.eigvalsh(centred(sigmoid(X, X)))
    assert found.explained_variance_ratio_.sum() == pytest.approx(1.0, rel=1e-9)
    assert found.explained_variance_ratio_[0] == pytest.approx(every[-1] / every[every > 0].sum(), rel=1e-9)
    assert found.negative_eigenvalues_.sum() == pytest.approx(every[every < 0].sum(), rel=1e-9)


def test_kernel_values_rounded_to_float32_are_no_reason_to_warn():
    K = Gaussian(sigma=5.0)(table(300)).astype(np.float32)  # smooth: most eigenvalues are below rounding
    found = KernelPCA(5, kernel="precomputed").fit(K)
    assert len(found.negative_eigenvalues_) and found.explained_variance_ratio_.sum() < 1.0


def test_landmarks_say_what_they_leave_out():
    X = table(400, 3)
    exact = KernelPCA(4, kernel=Gaussian(1.0)).fit(X)
    few = KernelPCA(4, kernel=Gaussian(1.0), landmarks=20, random_state=3).fit(X)
    many = KernelPCA(4, kernel=Gaussian(1.0), landmarks=200, random_state=3).fit(X)
    assert (few.route_, exact.route_, exact.landmarks_, exact.left_out_) == ("landmarks", "exact", None, 0.0)
    assert len(few.landmarks_) == 20 and len(np.unique(few.landmarks_)) == 20
    np.testing.assert_array_equal(few.points_, X[few.landmarks_])
    assert 0.0 < many.left_out_ < few.left_out_ < 1.0
    # K - F F^T is not negative, so no eigenvalue of the part can exceed its exact one
    assert (few.eigenvalues_ <= exact.eigenvalues_ * (1 + 1e-12)).all()
    assert (exact.eigenvalues_ - few.eigenvalues_).sum() <= few.left_out_ * 400
    np.testing.assert_allclose(many.eigenvalues_, exact.eigenvalues_, rtol=1e-3)


def test_too_many_rows_to_hold_are_fitted_by_landmarks():
    X = table(12_000, 2)
    found = KernelPCA(2, kernel=Gaussian(4.0)).fit(X)
    assert found.route_ == "landmarks" and len(found.landmarks_) <= 1000
    assert found.left_out_ < 1e-6
    assert KernelPCA(2).fit(X).route_ == "factor"


def test_a_seed_repeats_and_another_choice_of_landmarks_differs():
    X = table(100, 3)
    model = KernelPCA(2, kernel=Gaussian(1.0), landmarks=15, random_state=1)
    first = model.fit(X).embedding_
    np.testing.assert_array_equal(first, model.fit(X).embedding_)
    assert np.abs(first - model.set_params(random_state=2).fit(X).embedding_).max() > 1e-6


def test_moved_or_reordered_rows_have_the_same_eigenvalues():
    X = np.round(table() * 1024) / 1024  # exact after the shift
    values = KernelPCA(3, kernel=Gaussian(2.0)).fit(X).eigenvalues_
    np.testing.assert_allclose(KernelPCA(3, kernel=Gaussian(2.0)).fit(X[::-1] + 1e8).eigenvalues_, values, rtol=1e-9)
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 4)))[0]
    np.testing.assert_allclose(KernelPCA(3, kernel=Gaussian(2.0)).fit(X @ rotation).eigenvalues_, values, rtol=1e-9)
    for far in (1e-300, 1e300):
        found = KernelPCA(3, kernel=Gaussian(2.0 * far)).fit(X * far)
        np.testing.assert_allclose(found.eigenvalues_, values, rtol=1e-9)


@pytest.mark.parametrize("landmarks", ["auto", 80])
def test_pre_images_bring_noisy_rows_back_to_one_circle(landmarks):
    rng = np.random.default_rng(0)
    noisy = circle(150) * rng.uniform(0.8, 1.2, (150, 1))
    found = KernelPCA(4, kernel=Gaussian(0.5), landmarks=landmarks).fit(noisy)
    cleaned = found.inverse_transform(found.transform(noisy))
    spread, before = (np.std(np.linalg.norm(rows, axis=1)) for rows in (cleaned, noisy))
    assert spread < before / 3
    turned = np.sum(cleaned * noisy, axis=1) / np.linalg.norm(cleaned, axis=1) / np.linalg.norm(noisy, axis=1)
    assert turned.min() > np.cos(0.2)


def test_with_all_directions_a_training_row_is_its_own_pre_image():
    X = table(20, 2) + 1e6
    found = KernelPCA(19, kernel=Gaussian(1.0)).fit(X)
    np.testing.assert_allclose(found.inverse_transform(found.embedding_), X, atol=1e-6)


def test_pre_images_of_other_kernels_are_refused():
    found = KernelPCA(2, kernel=Polynomial(2)).fit(table())
    with pytest.raises(
        ParameterError, match=r"pre-images are found for Linear\(\) and Gaussian\(\) kernels; this is Pol"
    ):
        found.inverse_transform(found.embedding_)
    with pytest.raises(ParameterError, match=r"scores have shape \(m, 2\); got \(3, 5\)"):
        found.inverse_transform(np.ones((3, 5)))


@pytest.mark.parametrize("kernel", ["linear", "gaussian", Polynomial(2)])
@pytest.mark.parametrize(
    ("X", "rank"),
    [(np.ones((6, 3)), 0), (np.repeat(np.eye(3), 4, axis=0), 2), (np.arange(40.0).reshape(2, 20) / 40, 1)],
    ids=["constant", "duplicates", "two rows"],
)
def test_degenerate_tables_have_zero_components_beyond_their_rank(X, rank, kernel):
    k = len(X)
    found = KernelPCA(k, kernel=kernel).fit(X)
    assert np.count_nonzero(found.eigenvalues_) == rank
    assert (found.embedding_[:, rank:] == 0.0).all() and (found.transform(X)[:, rank:] == 0.0).all()
    assert np.isfinite(found.explained_variance_ratio_).all()


def test_sparse_rows_sources_and_saved_models_answer_alike(tmp_path):
    X = table(40, 3)
    found = KernelPCA(2, kernel=Gaussian(1.5)).fit(X)
    np.testing.assert_allclose(KernelPCA(2, kernel=Gaussian(1.5)).fit(csr_array(X)).embedding_, found.embedding_)
    np.testing.assert_allclose(KernelPCA(2, kernel=Gaussian(1.5)).fit(assay.read(X)).embedding_, found.embedding_)
    for i, model in enumerate((found, KernelPCA(2).fit(X), KernelPCA(2, kernel="gaussian", landmarks=9).fit(X))):
        model.save(tmp_path / f"{i}.assay")
        np.testing.assert_array_equal(assay.load(tmp_path / f"{i}.assay").transform(X), model.transform(X))


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_what_is_not_a_number_is_refused(value, word):
    X = table()
    X[3, 1] = value
    with pytest.raises(ValueError, match=word):
        KernelPCA(kernel="gaussian").fit(X)


def test_wrong_options_are_refused_with_the_rule():
    X = table(10, 3)
    with pytest.raises(ParameterError, match=r"n_components must be between 1 and 10 \(the number of rows\), is 11"):
        KernelPCA(11, kernel="gaussian").fit(X)
    with pytest.raises(ParameterError, match=r"landmarks must be between 1 and 10 \(the rows\), is 0"):
        KernelPCA(2, kernel="gaussian", landmarks=0).fit(X)
    with pytest.raises(ParameterError, match="precomputed ones are there already"):
        KernelPCA(2, kernel="precomputed", landmarks=3).fit(np.eye(4))
    with pytest.raises(ParameterError, match="kernel must be one such as"):
        KernelPCA(2, kernel="rbf").fit(X)
    with pytest.raises(ParameterError, match="kernel PCA needs at least 2 rows; got 1"):
        KernelPCA(1).fit_gram(Gram.of([[1.0]]))
    with pytest.raises(DataError, match="the kernel matrix must be symmetric"):
        KernelPCA(1, kernel="precomputed").fit(np.array([[1.0, 0.5], [0.0, 1.0]]))
    with pytest.raises(DataError, match="overflows"):
        KernelPCA(1).fit(X * 1e300)

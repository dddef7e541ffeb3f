import numpy as np
import pyarrow as pa
import pytest

import assay
from assay import CCA, Gaussian, Gram, HeldOutRidge, KernelCCA, Linear, Polynomial
from assay.data.folds import fold_numbers
from assay.data.source import ArrowSource
from assay.errors import DataError, ParameterError


def circle(n=300, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    return (np.cos(angle) + noise * rng.standard_normal(n))[:, None], np.sin(angle) + noise * rng.standard_normal(n)


def test_the_circle_is_found_and_holds_on_new_rows():
    x, y = circle()
    cca = KernelCCA(1).fit(x, y)
    assert cca.route_ == "exact" and cca.canonical_correlations_[0] > 0.95
    assert cca.correlations(*circle(seed=5))[0] > 0.99
    # the curve is that of the square
    u = cca.transform(x)[:, 0]
    assert abs(np.corrcoef(u, x[:, 0] ** 2)[0, 1]) > 0.98


def test_independent_sides_hold_nothing_on_new_rows():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((300, 2)), rng.standard_normal((300, 2))
    cca = KernelCCA(1, ridge=HeldOutRidge(cv=3)).fit(x, y)
    assert abs(cca.held_out_correlations_[0]) < 0.2
    assert abs(cca.correlations(rng.standard_normal((500, 2)), rng.standard_normal((500, 2)))[0]) < 0.2


def test_a_linear_kernel_gives_cca_with_a_ridge():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 4))
    Y = X[:, :2] + rng.standard_normal((60, 2))
    whole = np.trace(np.cov(X, rowvar=False)), np.trace(np.cov(Y, rowvar=False))
    plain = CCA(2, ridge=(0.1 * whole[0], 0.2 * whole[1]), scale=False).fit(X, Y)
    kernel = KernelCCA(2, kernel=Linear(), ridge=(0.1, 0.2)).fit(X, Y)
    np.testing.assert_allclose(kernel.canonical_correlations_, plain.canonical_correlations_, atol=1e-10)
    np.testing.assert_allclose(kernel.variate_correlations_, plain.variate_correlations_, atol=1e-9)
    assert kernel.rank_ == (4, 2)
    for one, other in zip(kernel.transform(X + 1, Y), plain.transform(X + 1, Y), strict=True):
        signs = np.sign(np.sum(one * other, axis=0))
        np.testing.assert_allclose(one * signs, other, atol=1e-8)


def test_coefficients_solve_the_regularised_equations():
    # K_y b = rho (K_x + r_x t_x I) a for a and b in the span of centred rows, and the same with sides exchanged
    x, y = circle(80, noise=0.2)
    cca = KernelCCA(2, ridge=(0.01, 0.05)).fit(x, y)
    Kx, Ky = (
        Gram.of(rows, kernel).centred().values for rows, kernel in ((x, cca.x_kernel_), (y[:, None], cca.y_kernel_))
    )
    for K, L, a, b, r in (
        (Kx, Ky, cca.x_coefficients_, cca.y_coefficients_, cca.ridge_[0]),
        (Ky, Kx, cca.y_coefficients_, cca.x_coefficients_, cca.ridge_[1]),
    ):
        left = K @ L @ b
        right = K @ (K @ a + r * np.trace(K) * a) * cca.canonical_correlations_
        np.testing.assert_allclose(left, right, atol=1e-9 * np.abs(left).max())
    np.testing.assert_allclose(cca.transform(x).mean(axis=0), 0.0, atol=1e-8)
    np.testing.assert_allclose(cca.correlations(x, y), cca.variate_correlations_, atol=1e-9)


def test_cca_zoo_finds_the_same_curves():
    zoo = pytest.importorskip("cca_zoo.nonparametric")
    x, y = circle(60, noise=0.1)
    y = y[:, None]
    kernels = Gaussian(sigma=0.7), Gaussian(sigma=0.9)
    traces = [
        np.trace(Gram.of(rows, kernel).centred().values) / 59 for rows, kernel in zip((x, y), kernels, strict=True)
    ]
    c = 0.1
    peer = zoo.KCCA(1, kernel="rbf", gamma=[0.5 / 0.7**2, 0.5 / 0.9**2], shrinkage=c).fit([x, y])
    u = peer.transform([x, y])[0][:, 0]
    ours = KernelCCA(1, kernel=kernels, ridge=tuple(c / (1 - c) / t for t in traces)).fit(x, y)
    assert abs(np.corrcoef(u, ours.transform(x)[:, 0])[0, 1]) == pytest.approx(1.0, abs=1e-4)


def test_a_ridge_is_chosen_as_by_fitting_anew_on_each_fold():
    x, y = circle(60, noise=0.3)
    kernel = Gaussian(sigma=0.8)
    shares = (0.01, 0.3)
    cca = KernelCCA(1, kernel=kernel, ridge=HeldOutRidge(shares, cv=3)).fit(x, y)
    whole = [np.trace(Gram.of(rows, kernel).centred().values) / 59 for rows in (x, y[:, None])]
    folds = fold_numbers(0, 60, 3)
    for i in range(2):
        for j in range(2):
            sums = np.zeros(3)
            for f in range(3):
                new = folds == f
                own = [
                    np.trace(Gram.of(rows[~new], kernel).centred().values) / (np.sum(~new) - 1)
                    for rows in (x, y[:, None])
                ]
                ridge = shares[i] * whole[0] / own[0], shares[j] * whole[1] / own[1]
                one = KernelCCA(1, kernel=kernel, ridge=ridge).fit(x[~new], y[~new])
                u, v = (s.ravel() for s in one.transform(x[new], y[new]))
                sums += [u @ v, u @ u, v @ v]
            assert cca.held_out_table_[i, j] == pytest.approx(sums[0] / np.sqrt(sums[1] * sums[2]), abs=1e-7)
    assert cca.held_out_correlations_[0] == pytest.approx(cca.held_out_table_.max(), abs=1e-7)


def test_landmarks_that_give_all_of_the_kernel_matrix_change_nothing():
    x, y = circle(150, noise=0.1)
    exact, marks = KernelCCA(2).fit(x, y), KernelCCA(2, landmarks=60).fit(x, y)
    assert marks.route_ == "landmarks" and max(marks.left_out_) < 1e-6
    np.testing.assert_allclose(marks.canonical_correlations_, exact.canonical_correlations_, atol=1e-5)
    new = circle(40, seed=3)
    for one, other in zip(marks.transform(*new), exact.transform(*new), strict=True):
        np.testing.assert_allclose(one, other, atol=0.02)
    chosen = KernelCCA(1, landmarks=60, ridge=HeldOutRidge((0.001, 0.1), cv=3)).fit(x, y)
    same = KernelCCA(1, ridge=HeldOutRidge((0.001, 0.1), cv=3)).fit(x, y)
    assert chosen.ridge_ == pytest.approx(same.ridge_)
    np.testing.assert_allclose(chosen.held_out_table_, same.held_out_table_, atol=1e-3)


def test_many_rows_take_landmarks_by_themselves_and_repeat():
    x, y = circle(2500, noise=0.1)
    one, other = (KernelCCA(1).fit(x, y) for _ in range(2))
    assert one.route_ == "landmarks" and len(one.x_points_) <= 500
    np.testing.assert_array_equal(one.x_coefficients_, other.x_coefficients_)
    assert one.correlations(*circle(500, noise=0.1, seed=8))[0] > 0.8


def test_kernel_matrices_made_before_are_enough():
    x, y = circle(60, noise=0.1)
    fitted = KernelCCA(2, kernel=Gaussian(sigma=0.7)).fit(x, y)
    grams = Gram.of(x, Gaussian(sigma=0.7)), Gram.of(y[:, None], Gaussian(sigma=0.7))
    lazy = grams[0], Gram.of(y[:, None], Gaussian(sigma=0.7), hold=False)
    for pair in (grams, lazy, [Gram.precomputed(gram.values) for gram in grams]):
        again = KernelCCA(2).fit_gram(*pair)
        np.testing.assert_allclose(again.x_coefficients_, fitted.x_coefficients_, atol=1e-8)
    new = circle(9, seed=2)[0]
    values = Gaussian(sigma=0.7)(new, x)
    np.testing.assert_allclose(again.transform(values), fitted.transform(new), atol=1e-8)
    with pytest.raises(DataError, match="two kernel matrices of the same rows, at least 2, are needed; got 60 and 9"):
        KernelCCA().fit_gram(grams[0], Gram.of(new))
    with pytest.raises(ParameterError, match="both kernel matrices are exact, or both by landmarks"):
        KernelCCA().fit_gram(grams[0], Gram.landmarks(x, 9))


class TestEdges:
    @pytest.mark.parametrize("ridge", [0.0, (0.1, 0.0), HeldOutRidge((0.0, 1.0))])
    def test_no_ridge_is_refused_because_it_would_always_find_one(self, ridge):
        with pytest.raises(ParameterError, match="finds a correlation of 1 between any two sides, related or not"):
            KernelCCA(ridge=ridge).fit(*circle(30))

    def test_what_is_said_about_no_ridge_is_so(self):
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal((40, 3)), rng.standard_normal((40, 3))
        tiny = KernelCCA(1, kernel=Gaussian(sigma=1.0), ridge=1e-10).fit(x, y)
        assert tiny.canonical_correlations_[0] > 0.9999
        assert KernelCCA(1, kernel=Gaussian(sigma=1.0), ridge=0.1).fit(x, y).canonical_correlations_[0] < 0.7

    def test_duplicates_two_rows_and_two_values(self):
        x, y = circle(20)
        assert KernelCCA(1).fit(np.repeat(x, 2, axis=0), np.repeat(y, 2)).rank_[0] <= 20
        assert KernelCCA(1).fit(x[:2], y[:2]).n_components_ == 1
        labels = (x[:, 0] > 0).astype(float)
        assert KernelCCA(2).fit(x, labels).n_components_ == 1

    def test_a_constant_side_is_refused(self):
        x, _ = circle(20)
        with pytest.raises(DataError, match="every column of y is constant: there is nothing to correlate"):
            KernelCCA().fit(x, np.ones(20))

    def test_what_is_not_finite_is_refused(self):
        x, y = circle(20)
        y[2] = np.nan
        with pytest.raises(ValueError, match="Input y contains NaN"):
            KernelCCA().fit(x, y)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"kernel": "precomputed"}, "kernel values go to fit_gram"),
            ({"kernel": (Linear(), Linear(), Linear())}, "kernel is one kernel or a pair, one for each side; got 3"),
            ({"landmarks": 0}, "landmarks must be between 1 and 20"),
            ({"n_components": 0}, "n_components must be between 1 and 20"),
        ],
    )
    def test_options_that_cannot_be_are_refused(self, options, said):
        with pytest.raises(ParameterError, match=said):
            KernelCCA(**options).fit(*circle(20))

    def test_sources_functions_and_files(self, tmp_path):
        x, y = circle(50)
        source = ArrowSource(pa.table({"x": x[:, 0], "y": y}))
        cca = KernelCCA(1, kernel=(Polynomial(degree=3), Gaussian())).fit(source, ["y"])
        cca.save(tmp_path / "model")
        back = assay.load(tmp_path / "model")
        for one, other in zip(back.transform(source, "y"), cca.transform(source, "y"), strict=True):
            np.testing.assert_array_equal(one, other)
        own = KernelCCA(1, kernel=lambda A, B: np.exp(-0.5 * (A - B.T) ** 2)).fit(x, y)
        np.testing.assert_allclose(
            own.canonical_correlations_, KernelCCA(1, kernel=Gaussian(1.0)).fit(x, y).canonical_correlations_, atol=1e-9
        )

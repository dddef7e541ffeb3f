"""Support vector regression: the conditions of a solution, LIBSVM's numbers, and the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes
from sklearn.svm import SVR as PeerSVR
from sklearn.svm import NuSVR

import assay
from assay import SVR, Gaussian, Gram, Linear, Polynomial
from assay.errors import DataError, NotConverged, ParameterError


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), y


def waves(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, (n, 1))
    return X, np.sin(X[:, 0]) + 0.2 * rng.standard_normal(n)


def wide(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 50))
    return X, X[:, 0] + 0.1 * rng.standard_normal(20)


class TestConditions:
    @settings(max_examples=40, deadline=None)
    @given(
        st.integers(0, 10_000),
        st.integers(2, 40),
        st.floats(-2, 3),
        st.sampled_from([0.0, 0.1, 1.0]),
        st.sampled_from([Gaussian(sigma=1.0), Linear(), Polynomial(degree=2)]),
    )
    def test_weights_are_as_the_tube_demands(self, seed, n, exponent, epsilon, kernel):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 2)).round(1)  # ties
        y = (X[:, 0] + rng.standard_normal(n)).round(1)
        C, tol = 10.0**exponent, 1e-6
        machine = SVR(C, epsilon=epsilon, kernel=kernel, tol=tol).fit(X, y)
        b = np.zeros(n)
        b[machine.support_] = machine.dual_coef_[0]
        residual = y - machine.predict(X)
        slack = 2 * tol * machine.unit_ + 1e-8
        inside, outside = np.abs(residual) < epsilon - slack, np.abs(residual) > epsilon + slack
        assert not b[inside].any()
        assert np.allclose(b[outside], C * np.sign(residual[outside]), rtol=1e-12)
        assert np.all(np.abs(b) <= C * (1 + 1e-12))
        assert abs(b.sum()) <= 1e-9 * np.abs(b).sum()
        assert machine.converged_
        assert machine.kkt_residual_ <= tol

    @pytest.mark.parametrize("kernel", [Gaussian(sigma=1.0), Linear()])
    def test_both_objectives_are_what_their_formulas_give(self, kernel):
        X, y = waves()
        machine = SVR(3.0, epsilon=0.2, kernel=kernel, tol=1e-6).fit(X, y)
        b, K = np.zeros(len(y)), kernel(X)
        b[machine.support_] = machine.dual_coef_[0]
        dual = 0.5 * b @ K @ b + 0.2 * np.abs(b).sum() - y @ b
        losses = np.maximum(np.abs(y - machine.predict(X)) - 0.2, 0.0)
        assert machine.objective_ == pytest.approx(dual, rel=1e-6)
        assert machine.primal_objective_ == pytest.approx(0.5 * b @ K @ b + 3.0 * losses.sum(), rel=1e-5)
        assert 0.0 <= machine.duality_gap_ <= 1e-4 * abs(dual)
        assert machine.primal_objective_ + machine.objective_ == pytest.approx(machine.duality_gap_, abs=1e-9)

    def test_coefficients_are_the_weighted_support_rows(self):
        for (X, y), route in ((waves(), "primal"), (wide(), "dual float64")):
            machine = SVR(kernel="linear", tol=1e-8).fit(X, y)
            assert machine.route_ == route
            assert np.allclose(machine.coef_, machine.dual_coef_ @ machine.support_vectors_, atol=1e-5)


class TestAgainstLibsvm:
    @pytest.mark.parametrize(
        ("kernel", "theirs"),
        [
            (Gaussian(sigma=3.0), {"kernel": "rbf", "gamma": 1 / 18}),
            (Linear(), {"kernel": "linear"}),
            (Polynomial(degree=2), {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}),
        ],
    )
    def test_the_same_machine_to_a_tight_tolerance(self, diabetes, kernel, theirs):
        X, y = diabetes
        ours = SVR(1.0, epsilon=5.0, kernel=kernel, tol=1e-7).fit(X, y)
        peer = PeerSVR(C=1.0, epsilon=5.0, tol=1e-7, **theirs).fit(X, y)
        b = peer.dual_coef_[0]
        K = kernel(X[peer.support_])
        theirs_objective = 0.5 * b @ K @ b + 5.0 * np.abs(b).sum() - b @ y[peer.support_]
        assert ours.objective_ == pytest.approx(theirs_objective, rel=1e-8)
        assert np.allclose(ours.predict(X), peer.predict(X), atol=1e-2)
        assert np.array_equal(ours.support_, np.sort(peer.support_))

    def test_default_tolerance_reaches_six_digits(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((3000, 5))  # more than 2048: float32 kernel values
        y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(3000)
        ours = SVR(kernel=Gaussian(sigma=2.0)).fit(X, y)
        assert ours.route_ == "dual float32"
        tight = SVR(kernel=Gaussian(sigma=2.0), tol=1e-6).fit(X, y)
        assert ours.objective_ == pytest.approx(tight.objective_, rel=1e-6)


class TestSummaries:
    def test_kernels_given_as_values_functions_names_and_grams_agree(self):
        X, y = waves()
        kernel = Gaussian(sigma=1.0)
        rows = SVR(kernel=kernel, tol=1e-8).fit(X, y).predict(X)
        K = kernel(X)
        given = SVR(kernel="precomputed", tol=1e-8).fit(K, y)
        assert given.support_vectors_ is None
        assert np.allclose(given.predict(K), rows, atol=1e-6)
        assert np.allclose(SVR(kernel=lambda a, b: kernel(a, b), tol=1e-8).fit(X, y).predict(X), rows, atol=1e-6)
        assert np.allclose(SVR(tol=1e-8).fit_gram(Gram.of(X, kernel), y).predict(X), rows, atol=1e-6)
        assert np.allclose(SVR(tol=1e-8).fit_gram(Gram.of(X, kernel, hold=False), y).predict(X), rows, atol=1e-6)
        named, made = SVR(kernel="linear").fit(X, y), SVR(kernel=Linear()).fit(X, y)
        assert np.array_equal(named.coef_, made.coef_)

    def test_the_default_is_a_gaussian_as_wide_as_rows_are_apart(self):
        X, y = waves()
        assert SVR().fit(X, y).kernel_ == Gaussian().resolve(X)

    def test_many_rows_and_few_columns_go_by_newton_steps_to_the_same_line(self):
        rng = np.random.default_rng(1)
        X = rng.standard_normal((300, 4))
        y = X @ [1.0, 2.0, 0.0, -1.0] + rng.standard_normal(300)
        line = SVR(kernel="linear", tol=1e-8).fit(X, y)
        pairs = SVR(tol=1e-8).fit_gram(Gram.precomputed(X @ X.T), y)
        assert (line.route_, pairs.route_) == ("primal", "dual float64")
        assert line.objective_ == pytest.approx(pairs.objective_, rel=1e-8)
        assert np.allclose(line.predict(X), pairs.predict(X @ X.T), atol=1e-5)

    def test_sparse_rows_and_frames_and_sources_give_the_same_numbers(self):
        pandas = pytest.importorskip("pandas")
        X, y = waves()
        expected = SVR().fit(X, y).predict(X)
        assert np.array_equal(SVR().fit(csr_matrix(X), y).predict(X), expected)
        frame = pandas.DataFrame({"x": X[:, 0], "y": y})
        machine = SVR().fit(assay.read(frame), "y")
        assert np.allclose(machine.predict(frame[["x"]]), expected, atol=1e-9)

    def test_a_saved_machine_predicts_the_same(self, tmp_path):
        X, y = waves()
        for kernel in (None, "linear"):
            machine = SVR(kernel=kernel).fit(X, y)
            machine.save(tmp_path / "machine")
            assert np.array_equal(assay.load(tmp_path / "machine").predict(X), machine.predict(X))


class TestPath:
    def test_each_value_of_c_gives_what_a_fit_gives(self):
        X, y = waves()
        path = SVR(tol=1e-7).path(X, y, [10.0, 0.1, 1.0], held_out=waves(seed=1))
        assert np.array_equal(path.C, [0.1, 1.0, 10.0])
        for C, objective, error in zip(path.C, path.objective, path.held_out_error, strict=True):
            alone = SVR(C, tol=1e-7).fit(X, y)
            assert objective == pytest.approx(alone.objective_, rel=1e-6)
            held = waves(seed=1)
            assert error == pytest.approx(np.mean(np.abs(alone.predict(held[0]) - held[1])), abs=1e-4)
        assert np.all(path.kkt_residual <= 1e-7)

    def test_a_warm_start_takes_fewer_steps(self):
        X = np.random.default_rng(0).standard_normal((800, 5))
        y = np.sin(X[:, 0]) + 0.3 * np.random.default_rng(1).standard_normal(800)
        values = np.geomspace(0.1, 10.0, 5)
        cold = [SVR(C).fit(X, y).n_iter_ for C in values]
        assert SVR().path(X, y, values).iterations.sum() < 0.9 * sum(cold)

    def test_lines_have_a_path_too_and_the_model_is_left_alone(self):
        X, y = waves()
        model = SVR(2.0, kernel="linear")
        path = model.path(X, y, [0.1, 1.0])
        assert path.held_out_error is None
        assert path.objective[1] == pytest.approx(SVR(1.0, kernel="linear").fit(X, y).objective_, rel=1e-6)
        assert not hasattr(model, "support_")
        assert model.C == 2.0


class TestInvariance:
    @pytest.mark.parametrize("kernel", [None, "linear"])
    def test_a_shift_of_the_target_shifts_predictions(self, kernel):
        X, y = waves()
        here = SVR(kernel=kernel, tol=1e-7).fit(X, y)
        there = SVR(kernel=kernel, tol=1e-7).fit(X, y + 1e6)
        assert np.allclose(there.predict(X) - 1e6, here.predict(X), atol=1e-6)
        assert there.objective_ == pytest.approx(here.objective_, rel=1e-6)

    @pytest.mark.parametrize("kernel", [None, "linear"])
    def test_the_order_of_rows_does_not_matter(self, kernel):
        X, y = waves()
        order = np.random.default_rng(1).permutation(len(y))
        here = SVR(kernel=kernel, tol=1e-8).fit(X, y)
        there = SVR(kernel=kernel, tol=1e-8).fit(X[order], y[order])
        assert np.allclose(here.predict(X), there.predict(X), atol=1e-5)

    @pytest.mark.parametrize("make", [waves, wide])
    @pytest.mark.parametrize("kernel", [None, "linear"])
    def test_rows_far_from_zero_keep_the_digits_they_have(self, kernel, make):
        X, y = make()
        here, there = SVR(kernel=kernel, tol=1e-6).fit(X, y), SVR(kernel=kernel, tol=1e-6).fit(X + 1e8, y)
        assert there.converged_
        assert np.allclose(here.predict(X), there.predict(X + 1e8), atol=1e-4)


class TestEdges:
    def test_all_rows_inside_the_tube_need_no_weights(self):
        X, y = waves()
        machine = SVR(epsilon=100.0).fit(X, y)
        assert len(machine.support_) == 0
        assert machine.objective_ == 0.0
        assert np.ptp(machine.predict(X)) == 0.0
        assert np.all(np.abs(y - machine.predict(X)) <= 100.0)

    @pytest.mark.parametrize("kernel", [None, "linear", "polynomial"])
    def test_a_constant_target_is_predicted(self, kernel):
        X, _ = waves()
        machine = SVR(kernel=kernel, epsilon=0.0).fit(X, np.full(len(X), 7.0))
        assert np.allclose(machine.predict(X), 7.0, atol=1e-12)

    @pytest.mark.parametrize("kernel", [None, "linear"])
    def test_one_row_is_its_own_prediction_but_for_epsilon(self, kernel):
        machine = SVR(kernel=kernel).fit([[1.0, 2.0]], [3.0])
        assert abs(machine.predict([[5.0, 6.0]])[0] - 3.0) <= 0.1 + 1e-12

    def test_the_same_row_with_two_targets_is_met_in_the_middle(self):
        machine = SVR(C=1e3, epsilon=0.0).fit([[0.0], [0.0], [1.0]], [0.0, 1.0, 5.0])
        assert -1e-9 <= machine.predict([[0.0]])[0] <= 1.0 + 1e-9
        assert machine.predict([[1.0]])[0] == pytest.approx(5.0, abs=1e-2)

    @pytest.mark.parametrize("kernel", [None, "linear"])
    def test_constant_columns_and_duplicates_are_no_trouble(self, kernel):
        X, y = waves()
        X = np.column_stack([X, np.full(len(X), 3.0)])
        machine = SVR(kernel=kernel).fit(np.vstack([X, X]), np.concatenate([y, y]))
        assert machine.converged_

    def test_targets_of_any_size_are_taken(self):
        X, y = waves()
        for size in (1e-100, 1e-6, 1e100):
            machine = SVR(size, epsilon=0.1 * size).fit(X, y * size)
            assert np.allclose(machine.predict(X) / size, SVR(1.0).fit(X, y).predict(X), atol=1e-2)

    def test_targets_whose_squares_overflow_are_refused(self):
        X, y = waves()
        with pytest.raises(DataError, match=r"the target is as large as .*, its squares overflow: rescale it"):
            SVR().fit(X, y * 1e200)

    def test_single_precision_rows_are_taken(self):
        X, y = waves()
        rough = X.astype(np.float32)
        assert np.array_equal(SVR().fit(rough, y).predict(rough), SVR().fit(rough.astype(float), y).predict(rough))

    def test_stopping_early_warns_with_what_is_left(self):
        X, y = waves()
        with pytest.warns(NotConverged, match=r"SVR: predictions .* by up to .*, allowed is .*max_iter"):
            machine = SVR(10.0, max_iter=2).fit(X, y)
        assert not machine.converged_
        with pytest.warns(NotConverged, match="raise max_iter"):
            SVR(10.0, kernel="linear", max_iter=1).fit(X, y)


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "text"),
        [
            ({"C": 0.0}, "C is a positive finite number; got 0.0"),
            ({"C": np.inf}, "C is a positive finite number; got inf"),
            ({"epsilon": -1.0}, "epsilon is a finite number of at least 0; got -1.0"),
            ({"tol": 0.0}, "tol is a positive number; got 0.0"),
            ({"kernel": "rbf"}, "kernel must be one such as"),
        ],
    )
    def test_options_that_cannot_be_are_refused(self, options, text):
        with pytest.raises(ParameterError, match=text):
            SVR(**options).fit(*waves())

    def test_values_of_c_of_a_path_are_positive(self):
        with pytest.raises(ParameterError, match="Cs are positive finite numbers"):
            SVR().path(*waves(), [1.0, -1.0])

    def test_kernel_matrices_that_are_centred_or_approximate_are_refused(self):
        X, y = waves()
        with pytest.raises(ParameterError, match="this one is centred"):
            SVR().fit_gram(Gram.of(X).centred(), y)
        with pytest.raises(ParameterError, match="this one is by landmarks"):
            SVR().fit_gram(Gram.landmarks(X, 5, Gaussian(sigma=1.0)), y)

    def test_what_is_not_finite_is_refused_with_its_place(self):
        X, y = waves()
        X[3, 0] = np.nan
        with pytest.raises(DataError, match="3"):
            SVR().fit(X, y)
        X[3, 0], y[4] = 0.0, np.inf
        with pytest.raises(DataError, match="the target of row 4 is inf"):
            SVR().fit(X, y)


class TestInPasses:
    def test_the_line_is_libsvms_within_the_gap(self, diabetes):
        X, y = diabetes
        found = SVR(C=1.0, epsilon=5.0, kernel="linear", solver="primal").fit(X, y)
        peer = PeerSVR(C=1.0, epsilon=5.0, kernel="linear", tol=1e-6).fit(X, y)
        assert found.converged_
        assert found.route_ == "primal in passes"
        assert found.support_ is None
        # the objective is strongly convex in w: |w - w*|^2 / 2 is at most the gap
        assert np.sum((found.coef_ - peer.coef_) ** 2) / 2 <= found.duality_gap_ * (1 + 1e-6)
        assert found.primal_objective_ + found.objective_ == pytest.approx(found.duality_gap_, rel=1e-9)

    def test_other_kernels_and_unfinished_searches_are_told(self, diabetes):
        X, y = diabetes
        with pytest.raises(ParameterError, match="solver 'primal' is for the linear kernel"):
            SVR(solver="primal").fit(X, y)
        with pytest.raises(ParameterError, match="solver is 'auto' or 'primal'"):
            SVR(solver="dual").fit(X, y)
        with pytest.warns(NotConverged, match="SVR: the duality gap is"):
            SVR(kernel="linear", solver="primal", max_iter=1).fit(X, y)


@pytest.mark.parametrize("nu", [0.1, 0.5, 0.87])
@pytest.mark.parametrize("weighted", [False, True])
def test_with_nu_it_is_scikit_learns_machine(nu, weighted):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 10.0, (180, 1))
    y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(180)
    w = rng.gamma(2.0, 1.0, 180) if weighted else None
    ours = SVR(5.0, nu=nu, kernel=Gaussian(1.0)).fit(X, y, sample_weight=w)
    theirs = NuSVR(C=5.0, nu=nu, gamma=0.5, tol=1e-10).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=2e-5)
    assert ours.kkt_residual_ <= 1e-9 and ours.duality_gap_ <= 1e-9 * ours.primal_objective_
    weights, outside = np.ones(180) if w is None else w, np.abs(y - ours.predict(X)) > ours.epsilon_ + 1e-9
    assert weights[outside].sum() <= nu * weights.sum() * (1.0 + 1e-9) <= weights[ours.support_].sum() * (1.0 + 2e-9)
    tube = SVR(5.0, epsilon=ours.epsilon_, kernel=Gaussian(1.0)).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(tube.predict(X), ours.predict(X), atol=1e-7)
    assert tube.objective_ == pytest.approx(ours.objective_, rel=1e-9)


def test_what_nu_cannot_be_is_refused():
    X, y = np.arange(9.0)[:, None], np.arange(9.0)
    with pytest.raises(ParameterError, match="nu is a share of the rows, above 0 and at most 1; got 0"):
        SVR(nu=0).fit(X, y)
    with pytest.raises(ParameterError, match="nu stands in place of epsilon: give one of them; got epsilon=0.2"):
        SVR(nu=0.5, epsilon=0.2).fit(X, y)
    with pytest.raises(ParameterError, match="solver 'primal' is for an epsilon that is given"):
        SVR(nu=0.5, kernel="linear", solver="primal").fit(X, y)

"""Logistic regression: R's and scikit-learn's numbers, laws of the maximum, separation, coordinates, edges."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import assay
from assay import Logistic
from assay.data.source import ArrowSource
from assay.errors import DataError, NotConverged, ParameterError
from assay.models.prediction.logistic import logistic as module
from assay.models.prediction.logistic.held_out import class_folds

WT = np.fromstring(
    "2.62 2.875 2.32 3.215 3.44 3.46 3.57 3.19 3.15 3.44 3.44 4.07 3.73 3.78 5.25 5.424 5.345 2.2 1.615 1.835 2.465 "
    "3.52 3.435 3.84 3.845 1.935 2.14 1.513 3.17 2.77 3.57 2.78",
    sep=" ",
)[:, None]
AM = np.array([1] * 3 + [0] * 14 + [1] * 3 + [0] * 5 + [1] * 7)  # mtcars: weight, and whether the gearbox is manual


def drawn(n=300, d=4, g=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal((d, g)) + rng.gumbel(size=(n, g))).argmax(axis=1)
    y[:g] = np.arange(g)
    return X, y


def peer(X, y, penalty=1.0, **options):
    given = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000} | options
    return LogisticRegression(C=1 / penalty, **given).fit(X, y)


def objective(model, X, y, penalty, weights=1.0):
    """From its definition, at the coefficients shown."""
    scores = X @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(X)), scores])
    codes = np.searchsorted(model.classes_, y)
    return -np.sum(weights * log_softmax(scores, axis=1)[np.arange(len(X)), codes]) + 0.5 * penalty * np.sum(
        model.coef_**2
    )


def test_gearbox_by_weight_is_as_r_has_it():
    model = Logistic(penalty=0).fit(WT, AM)
    found = model.table()
    np.testing.assert_allclose(found.estimate, [12.040, -4.024], atol=5e-4)
    np.testing.assert_allclose(found.se, [4.510, 1.436], atol=6e-4)
    np.testing.assert_allclose(found.statistic, [2.670, -2.801], atol=6e-4)
    np.testing.assert_allclose(found.p, [0.00759, 0.00509], atol=6e-6)
    assert -2 * model.log_likelihood_ == pytest.approx(19.176, abs=5e-4)
    assert -2 * model.null_log_likelihood_ == pytest.approx(43.230, abs=5e-4)
    assert model.separated_ is False and model.rank_ == 1 and model.converged_
    by_hand = minimize(lambda t: np.logaddexp(0, -(2 * AM - 1) * (t[0] + t[1] * WT[:, 0])).sum(), [0.0, 0.0], tol=1e-10)
    np.testing.assert_allclose(found.estimate, by_hand.x, rtol=1e-4)
    np.testing.assert_allclose(found.high - found.low, 2 * 1.959964 * found.se, rtol=1e-6)


@pytest.mark.parametrize("penalty", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("data", [load_breast_cancer, load_iris])
def test_coefficients_and_objective_are_scikit_learns(data, penalty):
    X, y = data(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model, other = Logistic(penalty).fit(X, y), peer(X, y, penalty)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-8)
    assert model.objective_ == pytest.approx(objective(model, X, y, penalty), rel=1e-12)
    assert model.objective_ <= objective(other, X, y, penalty) * (1 + 1e-13)
    assert model.duality_gap_ <= 1e-12 * model.objective_ and model.gradient_norm_ <= 1e-8
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    assert model.score(X, y) == other.score(X, y)


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 4), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from(["newton", "lbfgs", "gradient"]))
def test_the_gradient_is_zero_at_the_end_and_the_objective_never_rises(g, d, seed, solver):
    X, y = drawn(80, d, g, seed)
    model = Logistic(0.5, solver=solver).fit(X, y)
    P = model.predict_proba(X) - np.eye(g)[y]
    if g == 2:
        P = P[:, 1:]
    assert np.abs(P.T @ X + 0.5 * model.coef_).max() <= 1e-6 * len(X)
    assert np.abs(P.sum(axis=0)).max() <= 1e-6 * len(X)
    assert (np.diff(model.objective_path_) <= 1e-13 * model.objective_).all()
    assert model.objective_path_[-1] == pytest.approx(model.objective_, rel=1e-14)
    assert len(model.objective_path_) == model.n_iter_ + 1
    assert model.route_.startswith(solver) and model.converged_


def test_solvers_agree_on_coefficients_and_standard_errors():
    X, y = drawn(200, 3, 3)
    newton, *others = (Logistic(0.1, solver=solver, tol=1e-9).fit(X, y) for solver in ("newton", "lbfgs", "gradient"))
    for other in others:
        np.testing.assert_allclose(other.coef_, newton.coef_, atol=1e-6)
        np.testing.assert_allclose(other.coef_std_errors_, newton.coef_std_errors_, rtol=1e-5)
        assert other.duality_gap_ <= 1e-8


def test_the_gap_bounds_what_a_coarse_solution_lacks():
    X, y = drawn(200, 5, 2)
    best = Logistic(0.3).fit(X, y).objective_
    with pytest.warns(NotConverged, match="stopped after 4 steps of lbfgs with a gradient of .* raise max_iter or tol"):
        coarse = Logistic(0.3, solver="lbfgs", max_iter=4).fit(X, y)
    assert 0 < coarse.objective_ - best <= 1.05 * coarse.duality_gap_
    assert not coarse.converged_ and coarse.n_iter_ == 4


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("max_iter", [1, 2])
def test_no_solver_takes_more_steps_than_allowed(solver, max_iter):
    X, y = drawn(200, 5, 2)
    with pytest.warns(NotConverged, match=f"stopped after {max_iter} step"):
        model = Logistic(0.3, solver=solver, max_iter=max_iter).fit(X, y)
    assert model.n_iter_ == max_iter == len(model.objective_path_) - 1
    # standard errors are those of the point where it stopped
    assert model.coef_std_errors_.shape == model.coef_.shape and np.isfinite(model.coef_std_errors_).all()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_without_a_penalty_an_invertible_map_of_the_columns_changes_no_chance(seed, g):
    X, y = drawn(150, 3, g, seed)
    M = np.random.default_rng(seed + 1).standard_normal((3, 3)) + 3 * np.eye(3)
    shift = np.array([5.0, -3.0, 1.0])
    one, other = Logistic(0).fit(X, y), Logistic(0).fit(X @ M + shift, y)
    if one.separated_:
        assert other.separated_
        return
    np.testing.assert_allclose(other.predict_proba(X @ M + shift), one.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(other.coef_ @ M.T, one.coef_, atol=1e-7)
    assert other.log_likelihood_ == pytest.approx(one.log_likelihood_, rel=1e-11)


def test_two_classes_are_the_symmetric_form_with_half_the_coefficient_each():
    X, y = drawn(150, 3, 2)
    model = Logistic(2.0).fit(X, y)
    half = model.coef_[0] / 2

    def symmetric(t):  # (2, 4) free parameters, of penalty 4: w / 2 twice has half the squared length of w
        W = t.reshape(2, 4)
        scores = X @ W[:, :3].T + W[:, 3]
        return -log_softmax(scores, axis=1)[np.arange(150), y].sum() + 0.5 * 4.0 * np.sum(W[:, :3] ** 2)

    found = minimize(symmetric, np.zeros(8), method="BFGS", options={"gtol": 1e-7}).x.reshape(2, 4)
    np.testing.assert_allclose(found[:, :3], [-half, half], atol=1e-6)
    assert symmetric(found.ravel()) == pytest.approx(model.objective_, rel=1e-10)


def test_more_classes_have_coefficients_that_sum_to_zero():
    X, y = drawn(200, 3, 4)
    for penalty in (0, 1.0):
        model = Logistic(penalty).fit(X, y)
        assert model.coef_.shape == (4, 3)
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)
        assert abs(model.intercept_.sum()) <= 1e-12


def test_standard_errors_are_those_of_the_inverse_curvature():
    X, y = drawn(200, 3, 2)
    for penalty in (0.0, 2.0):
        model = Logistic(penalty).fit(X, y)
        p = model.predict_proba(X)[:, 1]
        Z = np.column_stack([X, np.ones(200)])
        inverse = np.linalg.inv((Z.T * (p * (1 - p))) @ Z + penalty * np.diag([1, 1, 1, 0]))
        np.testing.assert_allclose(model.coef_std_errors_[0], np.sqrt(np.diag(inverse))[:3], rtol=1e-9)
        np.testing.assert_allclose(model.intercept_std_error_, np.sqrt(inverse[3, 3]), rtol=1e-9)


def test_standard_errors_of_more_classes_are_those_of_the_pseudo_inverse():
    X, y = drawn(150, 2, 3)
    model = Logistic(0).fit(X, y)
    P = model.predict_proba(X)
    Z = np.column_stack([X, np.ones(150)])
    H = sum(np.kron(np.diag(p) - np.outer(p, p), np.outer(z, z)) for p, z in zip(P, Z, strict=True))
    errors = np.sqrt(np.diag(np.linalg.pinv(H, rcond=1e-10))).reshape(3, 3)  # of coefficients that sum to zero
    np.testing.assert_allclose(model.coef_std_errors_, errors[:, :2], rtol=1e-7)
    np.testing.assert_allclose(model.intercept_std_error_, errors[:, 2], rtol=1e-7)


def test_many_rows_begin_with_a_sample_and_end_at_the_same_maximum():
    X, y = drawn(20_000, 5, 2)
    X = X * [1.0, 10.0, 0.1, 1.0, 1.0] + [0.0, 100.0, 0.0, 0.0, 0.0]
    order = np.argsort(y, kind="stable")  # sorted rows are no obstacle
    model, other = Logistic().fit(X[order], y[order]), peer(X, y)
    assert "from a sample" in model.route_
    assert model.objective_ <= objective(other, X, y, 1.0) * (1 + 1e-12)
    p = model.predict_proba(X)[:, 1]
    Z = np.column_stack([X, np.ones(len(X))])
    inverse = np.linalg.inv((Z.T * (p * (1 - p))) @ Z + np.diag([1.0] * 5 + [0.0]))
    np.testing.assert_allclose(model.coef_std_errors_[0], np.sqrt(np.diag(inverse))[:5], rtol=1e-5)


def test_the_result_does_not_depend_on_the_number_of_threads(monkeypatch):
    X, y = drawn(20_000, 4, 3)
    one = Logistic().fit(X, y)
    monkeypatch.setattr("assay.engine.local.available_cores", lambda: 1)
    np.testing.assert_array_equal(Logistic().fit(X, y).coef_, one.coef_)


class TestSeparation:
    def test_complete_separation_is_reported_with_its_columns_and_remedy(self):
        X, y = load_iris(return_X_y=True, as_frame=True)
        with pytest.warns(NotConverged, match=r"separated: a direction in 'petal.*set penalty above 0"):
            model = Logistic(0).fit(X[["petal length (cm)"]], (y == 0).map({True: "setosa", False: "other"}))
        assert model.separated_ is True and not model.converged_
        assert model.separating_columns_.tolist() == [0]
        assert np.isfinite(model.coef_).all() and np.isnan(model.coef_std_errors_).all()
        assert model.score(X[["petal length (cm)"]], (y == 0).map({True: "setosa", False: "other"})) == 1.0

    def test_gradient_ascent_does_not_climb_for_ever(self):
        X, y = load_iris(return_X_y=True)
        with pytest.warns(NotConverged, match="are separated"):
            model = Logistic(0, solver="gradient").fit(X, y == 0)
        assert model.separated_ is True and model.n_iter_ < 100

    @pytest.mark.parametrize("solver", ["newton", "lbfgs"])
    @pytest.mark.parametrize("g", [2, 3])
    def test_a_flag_that_only_one_class_has_separates_quasi_completely(self, solver, g):
        X, y = drawn(300, 2, g)
        flag = np.zeros(300)
        flag[:20], y[:20] = 1.0, 1
        with pytest.warns(NotConverged, match=r"a direction in column 2 has .* sets rows of class 1 apart"):
            model = Logistic(0, solver=solver).fit(np.column_stack([X, flag]), y)
        assert model.separated_ is True and model.separating_columns_.tolist() == [2]

    def test_one_row_of_the_other_class_makes_a_maximum_again(self):
        X, y = drawn(300, 2, 2)
        flag = np.zeros(300)
        flag[:20], y[:20] = 1.0, 1
        y[7] = 0
        model = Logistic(0).fit(np.column_stack([X, flag]), y)
        assert model.separated_ is False and model.converged_

    def test_far_but_overlapping_classes_are_not_called_separated(self):
        x = np.concatenate([np.linspace(-9, -1, 500), np.linspace(1, 9, 500), [-1.001, 1.001]])[:, None]
        y = np.concatenate([np.zeros(500), np.ones(500), [1.0, 0.0]])
        model = Logistic(0).fit(x, y)
        assert model.separated_ is False and model.converged_
        np.testing.assert_allclose(model.coef_, peer(x, y, 1e-12).coef_, rtol=1e-6)

    def test_a_penalty_converges_and_separation_is_known_where_no_row_is_in_doubt(self):
        X, y = load_iris(return_X_y=True)
        assert Logistic(0.01).fit(X, y == 0).separated_ is True
        model = Logistic(1.0).fit(X, y)
        assert model.separated_ is None and model.converged_ and model.rank_ is None

    def test_a_row_of_weight_zero_does_not_hide_separation(self):
        X, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
        y[9], w = 0, np.ones(10)
        w[9] = 0.0
        with pytest.warns(NotConverged, match="are separated"):
            assert Logistic(0).fit(X, y, sample_weight=w).separated_ is True
        X, y = drawn(100, 1, 2)
        flag, w = np.zeros(100), np.ones(100)
        flag[:20], y[:20], y[7], w[7] = 1.0, 1, 0, 0.0
        with pytest.warns(NotConverged, match="a direction in column 1 has"):
            assert Logistic(0).fit(np.column_stack([X, flag]), y, sample_weight=w).separated_ is True


class TestCoordinates:
    def test_of_dependent_columns_the_shortest_coefficients_are_taken(self):
        X, y = drawn(200, 3, 2)
        plain = Logistic(0).fit(X, y)
        twice = Logistic(0).fit(np.column_stack([X, X[:, 0], np.full(200, 7.3)]), y)
        assert twice.rank_ == 3 and plain.rank_ == 3
        half = plain.coef_[0, 0] / 2
        np.testing.assert_allclose(twice.coef_[0], [half, *plain.coef_[0, 1:], half, 0.0], atol=1e-9)
        np.testing.assert_allclose(twice.coef_std_errors_[0, 0], plain.coef_std_errors_[0, 0] / 2, rtol=1e-7)
        assert twice.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-12)

    def test_the_shortest_are_short_in_the_columns_own_units(self):
        X, y = drawn(200, 2, 2)
        model = Logistic(0).fit(np.column_stack([X, 10 * X[:, 0]]), y)
        a, _, b = model.coef_[0]
        assert b == pytest.approx(10 * a, rel=1e-7)  # the gradient of a^2 + b^2 on a + 10 b = constant

    def test_nearly_dependent_columns_keep_the_digits_that_a_qr_keeps(self):
        t = np.linspace(1, 2, 300)
        y = (np.random.default_rng(0).random(300) < 1 / (1 + np.exp(-3 * np.sin(6 * t)))).astype(int)
        powers = Logistic(0).fit(np.vander(t, 7)[:, :-1], y)
        stable = Logistic(0).fit(np.polynomial.legendre.legvander(2 * t - 3, 6)[:, 1:], y)
        assert powers.rank_ == 6
        assert powers.log_likelihood_ == pytest.approx(stable.log_likelihood_, rel=1e-11)

    @pytest.mark.parametrize("g", [2, 3])
    def test_wide_rows_are_solved_in_their_own_space(self, g):
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((20, 50)) + 5.0, np.arange(20) % g
        model, other = Logistic(3.0).fit(X, y), peer(X, y, 3.0)
        assert "space of the rows" in model.route_
        np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-8)
        assert model.objective_ <= objective(other, X, y, 3.0) * (1 + 1e-12)

    def test_standard_errors_in_the_space_of_the_rows_are_those_of_all_columns(self):
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((15, 20)) + 5.0, np.arange(15) % 2
        model = Logistic(3.0).fit(X, y)
        p = model.predict_proba(X)[:, 1]
        Z = np.column_stack([X, np.ones(15)])
        inverse = np.linalg.inv((Z.T * (p * (1 - p))) @ Z + 3.0 * np.diag([1.0] * 20 + [0.0]))
        np.testing.assert_allclose(model.coef_std_errors_[0], np.sqrt(np.diag(inverse))[:20], rtol=1e-8)
        np.testing.assert_allclose(model.intercept_std_error_, np.sqrt(inverse[20, 20]), rtol=1e-8)

    def test_beyond_two_thousand_parameters_there_are_no_standard_errors(self):
        X, y = (part[:400] for part in load_digits(return_X_y=True))
        X = np.column_stack([X, X**2 / 16, np.sqrt(X), X > 4])
        model = Logistic(10.0, tol=1e-4).fit(X / 16, y)
        assert model.route_.startswith("lbfgs") and model.coef_std_errors_ is None and model.duality_gap_ is None
        assert model.objective_ == pytest.approx(objective(model, X / 16, y, 10.0), rel=1e-12)
        with pytest.raises(DataError, match=r"need the curvature, .* 2,000 parameters; this model has 2570"):
            model.table()
        with pytest.raises(ParameterError, match="'newton' would need a curvature of 12001 x 12001; use 'lbfgs'"):
            Logistic(solver="newton").fit(csr_array(np.eye(4, 12_000)), [0, 1, 0, 1])

    def test_sparse_rows_are_the_same_rows(self):
        X, y = drawn(300, 6, 3)
        X[np.abs(X) < 0.7] = 0.0
        dense = Logistic(0.5).fit(X, y)
        for solver in ("newton", "lbfgs"):
            sparse = Logistic(0.5, solver=solver).fit(csr_array(X), y)
            np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
            np.testing.assert_allclose(sparse.predict_proba(csr_array(X)), dense.predict_proba(X), atol=1e-6)


class TestWeights:
    def test_a_row_of_weight_3_counts_as_three_rows_and_one_of_weight_0_as_none(self):
        X, y = drawn(100, 3, 3)
        w = np.tile([0, 1, 3, 2], 25)
        one, other = Logistic().fit(X, y, sample_weight=w), Logistic().fit(X.repeat(w, 0), y.repeat(w))
        np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)
        np.testing.assert_allclose(one.coef_std_errors_, other.coef_std_errors_, rtol=1e-7)
        assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-12)

    @pytest.mark.parametrize("weight", ["balanced", {0: 1.0, 1: 5.0, 2: 0.1}])
    def test_weights_of_classes_are_scikit_learns(self, weight):
        X, y = drawn(200, 3, 3)
        y[y == 2] = np.where(np.arange((y == 2).sum()) % 3, 1, 2)
        model, other = Logistic(class_weight=weight).fit(X, y), peer(X, y, class_weight=weight)
        np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-7)

    def test_weights_and_penalty_in_proportion_change_nothing(self):
        X, y = drawn(100, 3, 2)
        one, other = Logistic(1.0).fit(X, y), Logistic(1e-200).fit(X, y, sample_weight=np.full(100, 1e-200))
        np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-9)
        np.testing.assert_allclose(other.coef_std_errors_, one.coef_std_errors_ * 1e100, rtol=1e-9)

    def test_a_class_without_weight_is_refused(self):
        X, y = drawn(50, 2, 2)
        with pytest.raises(DataError, match="all rows of class 1 have weight zero"):
            Logistic(class_weight={1: 0.0}).fit(X, y)


class TestSources:
    def source(self, n=400):
        X, y = drawn(n, 3, 3)
        names = np.array(["low", "mid", "high"])[y]
        return X, names, ArrowSource(pa.table({"a": X[:, 0], "b": X[:, 1], "kind": names, "c": X[:, 2]}))

    def test_a_source_names_its_target(self):
        X, y, source = self.source()
        model, plain = Logistic().fit(source, "kind"), Logistic().fit(X, y)
        assert model.target_ == "kind" and model.feature_names_in_.tolist() == ["a", "b", "c"]
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-9)
        np.testing.assert_array_equal(model.predict(source), plain.predict(X))
        assert model.table().names[:4] == ("intercept", "a", "b", "c")

    @pytest.mark.parametrize("penalty", [0.0, 1.0])
    def test_a_source_that_is_not_held_is_read_once_for_each_pass(self, penalty, monkeypatch):
        held = Logistic(penalty).fit(self.source()[2], "kind")
        monkeypatch.setattr(module, "_HELD", 0)
        source = self.source()[2]
        doubled = ArrowSource(source.to_arrow().append_column("again", source.to_arrow()["a"]))
        model = Logistic(penalty).fit(source, "kind")
        np.testing.assert_allclose(model.coef_, held.coef_, atol=1e-8)
        twice = Logistic(penalty).fit(doubled, "kind")
        if penalty == 0.0:
            assert twice.rank_ == 3
            np.testing.assert_allclose(twice.coef_[:, 0], held.coef_[:, 0] / 2, atol=1e-7)
        np.testing.assert_array_equal(model.predict(source), held.predict(source))

    def test_classes_given_beside_a_source_must_be_one_for_each_row(self, monkeypatch):
        monkeypatch.setattr(module, "_HELD", 0)
        X, y, _ = self.source()
        source = ArrowSource(pa.table({"a": X[:, 0]}))
        np.testing.assert_allclose(Logistic().fit(source, y).coef_, Logistic().fit(X[:, :1], y).coef_, atol=1e-8)
        with pytest.raises(DataError, match="400 rows and 399 classes"):
            Logistic().fit(source, y[:-1])


class TestEdges:
    @pytest.mark.parametrize("penalty", [0.0, 1.0])
    def test_a_shift_of_1e8_costs_only_what_it_rounds_away(self, penalty):
        X, y = drawn(200, 3, 3)
        X = np.round(X, 3)
        one, other = Logistic(penalty).fit(X, y), Logistic(penalty).fit(X + 2.0**27, y)
        np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-5)
        np.testing.assert_allclose(other.predict_proba(X + 2.0**27), one.predict_proba(X), atol=1e-6)

    def test_units_of_columns_do_not_matter_without_a_penalty(self):
        X, y = drawn(200, 3, 2)
        units = np.array([2.0**900, 2.0**-900, 2.0**-600])
        one, other = Logistic(0).fit(X, y), Logistic(0).fit(X * units, y)
        np.testing.assert_allclose(other.coef_ * units, one.coef_, rtol=1e-9)
        assert other.separated_ is False

    def test_extreme_columns_with_a_penalty_have_the_coefficients_that_it_leaves(self):
        X, y = drawn(200, 2, 2)
        model = Logistic(1.0).fit(X * [1e300, 1e-200], y)
        assert abs(model.coef_[0, 0] * 1e300 - Logistic(0).fit(X[:, :1], y).coef_[0, 0]) < 1e-6
        residual = y - model.predict_proba(X * [1e300, 1e-200])[:, 1]
        assert model.coef_[0, 1] == pytest.approx(1e-200 * (X[:, 1] @ residual), rel=1e-6)

    def test_float32_rows_are_computed_with_in_float64(self):
        X, y = drawn(200, 3, 2)
        X = X.astype(np.float32)
        model = Logistic().fit(X, y)
        np.testing.assert_allclose(model.coef_, peer(X.astype(float), y).coef_, atol=1e-8)
        assert model.coef_.dtype == np.float64

    def test_constant_columns_alone_give_the_shares_of_the_classes(self):
        y = np.array([0, 0, 0, 1])
        for penalty in (0.0, 1.0):
            model = Logistic(penalty).fit(np.full((4, 2), 1 / 3), y)
            np.testing.assert_allclose(model.predict_proba([[1 / 3, 1 / 3]]), [[0.75, 0.25]], atol=1e-9)
            assert model.log_likelihood_ == pytest.approx(model.null_log_likelihood_, rel=1e-12)
            np.testing.assert_array_equal(model.coef_, 0.0)

    def test_two_rows_are_enough(self):
        model = Logistic().fit([[0.0], [1.0]], ["a", "b"])
        assert model.predict([[0.0], [1.0]]).tolist() == ["a", "b"] and model.separated_ is True

    def test_without_an_intercept_it_is_scikit_learns_too(self):
        X, y = drawn(200, 3, 3)
        X += 1.0
        model = Logistic(fit_intercept=False).fit(X, y)
        np.testing.assert_allclose(model.coef_, peer(X, y, fit_intercept=False).coef_, atol=1e-8)
        np.testing.assert_array_equal(model.intercept_, 0.0)
        assert model.null_log_likelihood_ == pytest.approx(-200 * np.log(3))
        assert len(model.table().names) == 6

    def test_a_huge_penalty_leaves_the_shares(self):
        X, y = drawn(100, 2, 2)
        np.testing.assert_allclose(Logistic(1e300).fit(X, y).predict_proba(X)[:, 1], y.mean(), atol=1e-9)

    def test_rows_in_columns_layout_and_order_do_not_matter(self):
        X, y = drawn(200, 3, 2)
        order = np.random.default_rng(1).permutation(200)
        one = Logistic().fit(X, y)
        np.testing.assert_allclose(Logistic().fit(np.asfortranarray(X)[order], y[order]).coef_, one.coef_, atol=1e-10)

    def test_chances_far_out_keep_their_logarithms(self):
        model = Logistic().fit([[0.0], [1.0]], [0, 1])
        far = model.predict_log_proba([[1e4]])
        assert far[0, 0] == pytest.approx(-model.decision_function([[1e4]])[0]) and far[0, 1] == 0.0


def test_a_table_prints_and_lists_its_rows():
    table = Logistic(0).fit(WT, AM).table(confidence=0.9)
    assert "90% interval" in str(table) and "intercept" in str(table)
    first = next(table.rows())
    assert first["name"] == "intercept" and first["class"] == 1 and first["statistic"] == pytest.approx(2.67, abs=1e-3)
    three = str(Logistic(0).fit(*drawn(300, 4, 3)).table())
    assert "2: column 3" in three and three.splitlines()[-1] == "each class against 0" and len(three.splitlines()) == 12


def test_a_penalised_fit_has_no_p_and_says_why():
    model = Logistic(1.0).fit(WT, AM)
    found = model.table()
    np.testing.assert_allclose(found.se, [model.intercept_std_error_[0], model.coef_std_errors_[0, 0]])
    assert all(np.isnan(getattr(found, name)).all() for name in ("statistic", "p", "low", "high"))
    assert np.isnan([model.aic_, model.bic_, model.likelihood_ratio_p_]).all()
    assert "penalised (penalty 1): coefficients are drawn towards zero" in str(found)
    assert "Logistic(penalty=0) has them" in str(model.summary()) and "interval\n" not in str(found)


@pytest.mark.parametrize("g", [2, 3, 4])
def test_a_contrast_turned_around_is_its_negative_with_the_same_error(g):
    X, y = drawn(400, 2, g)
    model = Logistic(0).fit(X, np.array(["p", "q", "r", "s"])[y])
    first, last = model.table(), model.table(base=model.classes_[-1])
    there = np.flatnonzero(first.classes == model.classes_[-1])
    back = np.flatnonzero(last.classes == "p")
    assert (first.base, last.base) == ("p", model.classes_[-1])
    np.testing.assert_allclose(last.estimate[back], -first.estimate[there], rtol=1e-9)
    np.testing.assert_allclose(last.se[back], first.se[there], rtol=1e-9)
    # and it is the difference of the coefficients shown, which sum to zero
    if g > 2:
        np.testing.assert_allclose(first.estimate[there][1:], model.coef_[-1] - model.coef_[0], rtol=1e-9)


def test_chances_of_the_likelihood_ratio_are_even_where_nothing_speaks():
    rng = np.random.default_rng(4)
    p = [Logistic(0).fit(rng.standard_normal((200, 2)), rng.integers(0, 3, 200)).likelihood_ratio_p_ for _ in range(60)]
    # five standard deviations of a mean of 60 even chances
    assert np.mean(p) == pytest.approx(0.5, abs=5 * 0.289 / np.sqrt(60))


class TestAPenaltyChosenOnHeldOutRows:
    GRID = np.logspace(-4, 4, 10)

    @pytest.mark.parametrize("data", [load_breast_cancer, load_iris])
    def test_is_scikit_learns_choice(self, data):
        X, y = data(return_X_y=True)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        model = Logistic("held-out", penalties=1 / self.GRID, cv=StratifiedKFold(5)).fit(X, y)
        losses = []
        for C in self.GRID:
            parts = StratifiedKFold(5).split(X, y)
            each = [
                log_loss(y[test], peer(X[train], y[train], 1 / C).predict_proba(X[test])) * len(test)
                for train, test in parts
            ]
            losses.append(sum(each) / len(y))
        best = self.GRID[int(np.argmin(losses))]
        # nearly without a penalty single rows lose more than 36, where scikit-learn's log_loss ends
        np.testing.assert_allclose(model.held_out_losses_[:8], losses[:8], rtol=1e-3)
        assert model.penalty_ == pytest.approx(1 / best, rel=1e-9)
        np.testing.assert_allclose(model.coef_, peer(X, y, 1 / best).coef_, atol=1e-6)

    def test_is_between_none_and_all_and_better_than_both(self):
        X, y = drawn(200, 30, 3)
        model = Logistic("held-out", random_state=0).fit(X, y)
        inside = int(np.argmin(model.held_out_losses_))
        assert 0 < inside < 18 and model.penalty_ == model.penalties_[inside]
        assert model.held_out_losses_[inside] < 0.95 * min(model.held_out_losses_[[0, -1]])
        assert "no p and no interval" in str(model.table())
        np.testing.assert_allclose(model.coef_, Logistic(model.penalty_).fit(X, y).coef_, atol=1e-7)

    def test_rows_read_in_passes_sparse_rows_and_weights_choose_alike(self, monkeypatch):
        X, y = drawn(300, 4, 3)
        names = np.array(["p", "q", "r"])[y]
        folds = np.arange(300) % 4
        plain = Logistic("held-out", cv=folds).fit(X, names)
        sparse = Logistic("held-out", cv=folds, penalties=plain.penalties_).fit(csr_array(X), names)
        twice = Logistic("held-out", cv=np.tile(folds, 2), penalties=plain.penalties_).fit(
            np.tile(X, (2, 1)), np.tile(names, 2)
        )
        weighted = Logistic("held-out", cv=folds, penalties=plain.penalties_).fit(X, names, np.full(300, 2.0))
        np.testing.assert_allclose(sparse.held_out_losses_, plain.held_out_losses_, rtol=1e-6)
        np.testing.assert_allclose(weighted.held_out_losses_, twice.held_out_losses_, rtol=1e-6)
        monkeypatch.setattr(module, "_HELD", 0)
        source = ArrowSource(pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "d": X[:, 3], "kind": names}))
        read = Logistic("held-out", cv=folds).fit(source, "kind")
        np.testing.assert_allclose(read.held_out_losses_, plain.held_out_losses_, rtol=1e-6)
        assert read.penalty_ == pytest.approx(plain.penalty_, rel=1e-9)

    def test_wide_rows_are_judged_as_all_their_columns_are(self):
        X, y = drawn(40, 60, 2)
        model = Logistic("held-out", cv=2, penalties=[10.0, 1.0, 0.1], random_state=0).fit(X, y)
        folds = class_folds(2, y, 0)
        expected = []
        for penalty in (10.0, 1.0, 0.1):
            each = [
                log_loss(y[folds == k], peer(X[folds != k], y[folds != k], penalty).predict_proba(X[folds == k]))
                * np.sum(folds == k)
                for k in range(2)
            ]
            expected.append(sum(each) / 40)
        np.testing.assert_allclose(model.held_out_losses_, expected, rtol=1e-4)

    def test_folds_hold_each_class_evenly(self):
        codes = np.repeat([0, 1, 2], [50, 10, 3])
        folds = class_folds(5, codes, 3)
        assert (np.bincount(folds[codes == 0]) == 10).all() and (np.bincount(folds[codes == 1]) == 2).all()
        assert len(set(folds[codes == 2])) == 3

    def test_refusals_say_what_to_do(self):
        X, y = drawn(30, 2, 2)
        with pytest.raises(ParameterError, match=r"penalties are numbers above 0, \(k,\); got \[0.0\]"):
            Logistic("held-out", penalties=[0.0]).fit(X, y)
        with pytest.raises(DataError, match="40 folds need as many rows; there are 30: set cv or a number for penalty"):
            Logistic("held-out", cv=40).fit(X, y)
        with pytest.raises(DataError, match="without fold 0 no row of class 0 is left to learn from: set cv to other"):
            Logistic("held-out", cv=y).fit(X, y)
        with pytest.raises(DataError, match="at least 2 folds|is left to learn from"):
            Logistic("held-out", cv=np.zeros(30)).fit(X, y)


def test_a_saved_model_answers_the_same(tmp_path):
    X, y = drawn(100, 3, 3)
    for model in (Logistic().fit(X, y), Logistic(0).fit(X, np.array(["u", "v", "w"])[y])):
        model.save(tmp_path / "model")
        back = assay.load(tmp_path / "model")
        np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(back.table().p, model.table().p)
        assert back.separated_ == model.separated_ and back.predict(X[:1]) == model.predict(X[:1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": -1}, "penalty is 0, a positive number or 'held-out'; got -1"),
        ({"penalty": np.inf}, "penalty is 0, a positive number or 'held-out'; got inf"),
        ({"penalty": "l2"}, "penalty is 0, a positive number or 'held-out'; got 'l2'"),
        ({"solver": "irls"}, "solver is one of 'auto', 'newton', 'lbfgs', 'gradient'; got 'irls'"),
        ({"tol": 0.0}, "tol is a positive number; got 0.0"),
        ({"max_iter": 0}, "max_iter is None or a whole number from 1 on; got 0"),
        ({"class_weight": "even"}, "class_weight is None, 'balanced' or a dictionary of weights by class; got 'even'"),
        ({"class_weight": {0: -1.0}}, "weights of classes are finite and not negative"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        Logistic(**options).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(("value", "what"), [(np.nan, r"missing \(NaN\)"), (np.inf, r"infinite \(inf\)")])
def test_values_that_are_not_finite_are_refused_with_their_place(value, what):
    X, y = drawn(50, 3, 2)
    X[31, 2] = value
    with pytest.raises(DataError, match=f"row 31, column 2 is {what}: Logistic needs finite numbers"):
        Logistic().fit(X, y)
    with pytest.raises(DataError, match=f"row 31, column 2 is {what}"):
        Logistic().fit(csr_array(X), y)


def test_one_class_and_a_level_beyond_1_are_refused():
    with pytest.raises(DataError, match="Logistic tells at least 2 classes apart"):
        Logistic().fit([[0.0], [1.0], [2.0]], [1, 1, 1])
    with pytest.raises(ParameterError, match="confidence is a share between 0 and 1; got 95"):
        Logistic(0).fit(WT, AM).table(95)
    with pytest.raises(ParameterError, match="base is one of the classes, 0, 1; got 'automatic'"):
        Logistic(0).fit(WT, AM).table(base="automatic")


@pytest.mark.parametrize(
    ("classes", "solver", "intercept"), [(2, "newton", True), (3, "newton", False), (4, "lbfgs", True)]
)
def test_a_warm_start_begins_at_the_last_coefficients_and_ends_where_any_start_does(classes, solver, intercept):
    X, y = drawn(400, 5, classes)
    X = 3.0 * X + 50.0 * intercept
    options = {"solver": solver, "fit_intercept": intercept}
    model = Logistic(warm_start=True, **options).fit(X[:350], y[:350])
    ended = model.objective_
    model.fit(X[:350], y[:350])
    assert model.n_iter_ <= 1 and "from the last fit" in model.route_
    # the first value of the path is that of the coefficients given: the objective is strictly convex
    assert model.objective_path_[0] == pytest.approx(ended, rel=1e-9)
    warm, cold = model.fit(X, y), Logistic(**options).fit(X, y)
    assert warm.converged_ and warm.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-5, atol=1e-6)
    assert "from the last fit" not in model.fit(X[:, :3], y).route_  # other columns, other classes: from the beginning
    assert "from the last fit" not in model.fit(X[:, :3], np.where(y == y[0], "yes", "no")).route_

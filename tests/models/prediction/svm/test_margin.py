"""Linear machines in the primal: certified by a dual point built here anew, and compared with LIBSVM and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.svm import SVC, SVR, LinearSVC

from assay.errors import DataError, NotConverged, ParameterError
from assay.models.prediction.svm.margin import Margin, margin, tube
from assay.optimize.qp import linear_kkt

LOSSES = ("hinge", "squared_hinge")
TUBES = ("epsilon_insensitive", "squared_epsilon_insensitive")


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y > 0, 1.0, -1.0)


def of_classes(X, s, C, w, b, loss="hinge"):
    u = np.maximum(1.0 - s * (X @ w + b), 0.0)
    return 0.5 * w @ w + np.sum(C * (u if loss == "hinge" else u**2))


def of_tube(X, y, C, epsilon, w, b, loss="epsilon_insensitive"):
    u = np.maximum(np.abs(y - X @ w - b) - epsilon, 0.0)
    return 0.5 * w @ w + np.sum(C * (u if loss == "epsilon_insensitive" else u**2))


def dual_of_classes(X, s, C, alpha, loss):
    v = (s * alpha) @ X
    return alpha.sum() - 0.5 * v @ v - (0.0 if loss == "hinge" else np.sum(alpha**2 / (4.0 * C)))


def noisy(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1.0, -1.0)


class TestCertificates:
    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 6), st.floats(-4, 4), st.sampled_from(LOSSES))
    def test_no_machine_is_better_by_more_than_the_gap(self, seed, n, d, exponent, loss):
        X, s = noisy(n, d, seed)
        X = np.round(X, 1)  # ties
        C = 10.0**exponent
        found = margin(X, s, C, loss=loss)
        objective = of_classes(X, s, C, found.coef, found.intercept, loss)
        assert found.objective == pytest.approx(objective, rel=1e-9)
        assert np.all(found.alpha >= 0)
        assert loss == "squared_hinge" or np.all(found.alpha <= C * (1 + 1e-12))
        assert abs(s @ found.alpha) <= 1e-12 * np.abs(found.alpha).sum()
        dual = dual_of_classes(X, s, C, found.alpha, loss)
        assert objective - dual <= 1.01e-6 * objective + 1e-12 * C * n
        assert found.duality_gap == pytest.approx(objective - dual, abs=1e-9 * objective)
        assert found.converged

    @settings(max_examples=30, deadline=None)
    @given(
        st.integers(0, 10_000), st.integers(2, 40), st.floats(-3, 3), st.sampled_from([0.0, 0.1, 1.0]), st.booleans()
    )
    def test_no_line_is_better_by_more_than_the_gap(self, seed, n, exponent, epsilon, squared):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 3)).round(1)
        y = (X @ [1.0, -1.0, 0.0] + rng.standard_normal(n)).round(1)
        C, loss = 10.0**exponent, TUBES[squared]
        found = tube(X, y, C, epsilon=epsilon, loss=loss)
        objective = of_tube(X, y, C, epsilon, found.coef, found.intercept, loss)
        v = found.alpha @ X
        dual = found.alpha @ y - epsilon * np.abs(found.alpha).sum() - 0.5 * v @ v
        dual -= np.sum(found.alpha**2) / (4.0 * C) if squared else 0.0
        assert found.objective == pytest.approx(objective, rel=1e-9)
        assert squared or np.all(np.abs(found.alpha) <= C * (1 + 1e-12))
        assert abs(found.alpha.sum()) <= 1e-12 * np.abs(found.alpha).sum()
        assert objective - dual <= 1.01e-6 * objective + 1e-12 * C * n

    def test_dual_variables_satisfy_the_conditions_of_their_own_program(self):
        X, s = noisy(60, 3)
        found = margin(X, s, 2.0, tol=1e-12)
        gradient = s * (X @ ((s * found.alpha) @ X)) - 1.0
        kkt = linear_kkt(gradient, found.alpha, A_eq=s[None, :], b_eq=np.zeros(1), lower=0.0, upper=2.0)
        assert kkt.worst < 1e-6

    def test_the_coefficients_are_the_weighted_rows(self):
        X, s = noisy(300, 5)
        found = margin(X, s, 1.0, tol=1e-10)
        assert np.allclose((s * found.alpha) @ X, found.coef, atol=1e-4)


class TestAgainstOthers:
    @pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
    def test_classes_as_by_libsvm(self, tumours, C):
        X, s = tumours
        theirs = SVC(kernel="linear", C=C, tol=1e-6).fit(X, s)
        ours = margin(X, s, C, tol=1e-9)
        reached = of_classes(X, s, C, theirs.coef_[0], theirs.intercept_[0])
        assert ours.objective <= reached * (1 + 1e-9)
        assert ours.objective == pytest.approx(reached, rel=1e-4)
        assert np.allclose(ours.coef, theirs.coef_[0], atol=2e-3 * np.linalg.norm(ours.coef))

    @pytest.mark.parametrize("C", [1e-3, 1.0])
    def test_a_tube_as_by_libsvm(self, C):
        X, y = load_diabetes(return_X_y=True)
        X = X / X.std(axis=0)
        theirs = SVR(kernel="linear", C=C, epsilon=5.0, tol=1e-6).fit(X, y)
        ours = tube(X, y, C, epsilon=5.0, tol=1e-9)
        reached = of_tube(X, y, C, 5.0, theirs.coef_[0], theirs.intercept_[0])
        assert ours.objective <= reached * (1 + 1e-9)
        assert ours.objective == pytest.approx(reached, rel=1e-5)
        assert np.allclose(ours.coef, theirs.coef_[0], atol=1e-2 * np.linalg.norm(ours.coef))

    def test_squared_losses_as_by_a_general_minimiser(self, tumours):
        X, s = tumours[0][:, :8], tumours[1]
        ours = margin(X, s, 0.7, loss="squared_hinge")
        theirs = minimize(lambda z: of_classes(X, s, 0.7, z[:-1], z[-1], "squared_hinge"), np.zeros(9), tol=1e-9)
        assert ours.objective == pytest.approx(theirs.fun, rel=1e-9)
        assert np.allclose(ours.coef, theirs.x[:-1], atol=1e-4)

    def test_liblinear_with_an_unpenalised_intercept_added_is_not_better(self, tumours):
        X, s = tumours
        theirs = LinearSVC(C=1.0, loss="squared_hinge", tol=1e-8, intercept_scaling=100.0, max_iter=100_000).fit(X, s)
        ours = margin(X, s, 1.0, loss="squared_hinge")
        reached = of_classes(X, s, 1.0, theirs.coef_[0], theirs.intercept_[0], "squared_hinge")
        assert ours.objective <= reached * (1 + 1e-12)
        assert ours.objective == pytest.approx(reached, rel=1e-4)


class TestInvariance:
    @pytest.mark.parametrize("loss", LOSSES)
    def test_a_row_with_twice_the_c_is_two_rows(self, loss):
        X, s = noisy(100, 3)
        weights = np.random.default_rng(1).integers(0, 3, 100)
        once = margin(X, s, 0.5 * weights, loss=loss, tol=1e-10)
        many = margin(np.repeat(X, weights, axis=0), np.repeat(s, weights), 0.5, loss=loss, tol=1e-10)
        assert once.objective == pytest.approx(many.objective, rel=1e-9)
        assert np.allclose(once.coef, many.coef, atol=1e-5)
        assert np.all(once.alpha[weights == 0] == 0)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_a_shift_of_the_rows_changes_the_intercept_only(self, loss):
        X, s = noisy(200, 4)
        here, there = margin(X, s, loss=loss), margin(X + 1e8, s, loss=loss)
        assert there.objective == pytest.approx(here.objective, rel=1e-6)
        assert np.allclose(here.coef, there.coef, atol=1e-5)
        assert np.allclose((X + 1e8) @ there.coef + there.intercept, X @ here.coef + here.intercept, atol=1e-5)

    def test_a_rotation_of_the_rows_rotates_the_coefficients(self):
        X, s = noisy(200, 4)
        Q = np.linalg.qr(np.random.default_rng(2).standard_normal((4, 4)))[0]
        assert np.allclose(margin(X @ Q, s, tol=1e-10).coef, margin(X, s, tol=1e-10).coef @ Q, atol=1e-4)

    def test_a_constant_column_changes_nothing(self):
        X, s = noisy(200, 3)
        with_it = margin(np.column_stack([X, np.full(200, 7.0)]), s)
        assert with_it.coef[3] == pytest.approx(0.0, abs=1e-12)
        assert with_it.objective == pytest.approx(margin(X, s).objective, rel=1e-6)

    def test_many_rows_are_solved_as_well_from_a_part_of_them_as_from_a_known_solution(self):
        X, s = noisy(20_000, 10)
        from_part = margin(X, s, 0.1, tol=1e-9)
        again = margin(X, s, 0.1, tol=1e-9, start=from_part)
        assert from_part.objective == pytest.approx(again.objective, rel=2e-9)
        assert again.iterations <= from_part.iterations

    def test_single_precision_rows_are_taken(self):
        X, s = noisy(100, 3)
        rough = X.astype(np.float32)
        assert margin(rough, s).objective == margin(rough.astype(np.float64), s).objective


class TestEdges:
    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("C", [1e-12, 1e-3, 1e3, 1e9, 1e12])
    @pytest.mark.parametrize("separable", [True, False])
    def test_any_c_gives_a_certified_answer(self, loss, C, separable):
        X, s = noisy(200, 4)
        if separable:
            s = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
        found = margin(X, s, C, loss=loss)
        assert found.converged
        assert found.duality_gap <= 1e-6 * found.objective

    def test_separable_rows_at_a_high_c_get_the_widest_margin(self):
        found = margin([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0]], [-1, -1, 1, 1], 1e8)
        assert np.allclose(found.coef, [1.0, 0.0], atol=1e-6)
        assert found.intercept == pytest.approx(-2.0, abs=1e-6)
        assert np.allclose(found.alpha, [0.0, 0.5, 0.5, 0.0], atol=1e-5)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_badly_scaled_columns_converge(self, loss):
        X, s = noisy(300, 5)
        assert margin(X * [1e-6, 1.0, 1e3, 1e6, 1e-3], s, loss=loss).converged

    @pytest.mark.parametrize("loss", LOSSES)
    def test_one_class_costs_nothing(self, loss):
        found = margin(noisy(20, 2)[0], np.ones(20), loss=loss)
        assert (found.objective, found.duality_gap, found.intercept) == (0.0, 0.0, 1.0)
        assert not found.coef.any()

    def test_a_class_of_one_row_among_many(self):
        X, _ = noisy(10_000, 3)
        s = np.r_[1.0, -np.ones(9_999)]
        found = margin(X, s, 1.0)
        assert found.converged
        assert found.objective <= 2.0 + 1e-5  # that of the constant -1

    def test_the_same_rows_in_both_classes_give_zero(self):
        X, _ = noisy(20, 2)
        found = margin(np.vstack([X, X]), np.repeat([1.0, -1.0], 20))
        assert np.allclose(found.coef, 0.0, atol=1e-9)
        assert found.objective == pytest.approx(40.0)

    def test_two_rows_and_more_columns_than_rows(self):
        X = np.random.default_rng(0).standard_normal((2, 9))
        found = margin(X, [1, -1], 1e6, tol=1e-9)
        gap = X[0] - X[1]
        assert np.allclose(found.coef, 2.0 * gap / (gap @ gap), atol=1e-6)

    def test_without_an_intercept_the_line_goes_through_zero(self):
        X, s = noisy(200, 3)
        found = margin(X + 1.0, s, fit_intercept=False)
        assert found.intercept == 0.0
        assert found.converged

    def test_values_too_small_to_matter_leave_the_best_constant(self):
        X, s = noisy(50, 2)
        assert margin(X * 1e-300, s).objective == pytest.approx(2.0 * min((s > 0).sum(), (s < 0).sum()))

    def test_a_constant_target_is_met(self):
        found = tube(noisy(20, 2)[0], np.full(20, 3.0))
        assert found.objective == 0.0
        assert abs(found.intercept - 3.0) <= 0.1 + 1e-12

    def test_an_exact_line_is_found_without_a_tube(self):
        X, _ = noisy(100, 3)
        found = tube(X, X @ [1.0, 2.0, 3.0] + 4.0, 1e3, epsilon=0.0)
        assert np.allclose(found.coef, [1.0, 2.0, 3.0], atol=1e-6)
        assert found.intercept == pytest.approx(4.0, abs=1e-6)

    def test_arguments_are_left_alone(self):
        X, s = noisy(50, 2)
        C = np.full(50, 2.0)
        copies = X.copy(), s.copy(), C.copy()
        margin(X, s, C)
        assert all(np.array_equal(a, b) for a, b in zip((X, s, C), copies, strict=True))


class TestRefusals:
    def test_stopping_early_warns_and_says_how_far_it_is(self):
        X, s = noisy(200, 4)
        with pytest.warns(NotConverged, match=r"stopped after 1 Newton steps with a duality gap of .*raise max_iter"):
            found = margin(X, s, max_iter=1)
        assert not found.converged
        assert isinstance(found, Margin)

    def test_products_that_overflow_are_refused(self):
        X, s = noisy(20, 2)
        with pytest.raises(DataError, match="products of X overflow: values are as large as"):
            margin(X * 1e200, s)

    @pytest.mark.parametrize(
        ("change", "error", "text"),
        [
            ({"signs": [1.0, 0.0]}, DataError, r"signs must be 1 or -1, entry 1"),
            ({"X": [[0.0], [np.nan]]}, DataError, r"X must be finite, entry \[1, 0\] \(counted from 0\) is nan"),
            ({"X": [[0.0]]}, DataError, "X must have one row for each of 2 targets, has 1"),
            ({"C": -1.0}, ParameterError, "C must be a number or 2 numbers, finite and not negative"),
            ({"C": 0.0}, DataError, "no row has a C above 0"),
            ({"tol": 0.0}, ParameterError, "tol must be positive"),
            ({"max_iter": 0}, ParameterError, "max_iter must be a whole number of at least 1"),
            ({"loss": "log"}, ParameterError, 'loss must be "hinge" or "squared_hinge"'),
        ],
    )
    def test_bad_arguments_are_refused_in_one_sentence(self, change, error, text):
        given = {"X": [[0.0], [1.0]], "signs": [1.0, -1.0], "C": 1.0} | change
        with pytest.raises(error, match=text):
            margin(given.pop("X"), given.pop("signs"), given.pop("C"), **given)

    def test_a_tube_has_a_width(self):
        with pytest.raises(ParameterError, match="epsilon must be finite and not negative, is -1"):
            tube([[0.0], [1.0]], [0.0, 1.0], epsilon=-1.0)
        with pytest.raises(ParameterError, match='loss must be "epsilon_insensitive" or'):
            tube([[0.0], [1.0]], [0.0, 1.0], loss="hinge")

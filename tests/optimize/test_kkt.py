import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, linprog, minimize

from assay.errors import DataError
from assay.optimize import kkt_residuals, linear_kkt, qp_kkt

laws = settings(max_examples=25, deadline=None)


def projection_onto_ball(c):
    """Nearest point to c with |x|^2 <= 1: gradient, constraint value and Jacobian there."""
    x = c / max(1.0, np.linalg.norm(c))
    return 2 * (x - c), ([x @ x - 1.0], 2 * x[None, :])


@laws
@given(st.integers(1, 5), st.floats(0.1, 5), st.integers(0, 1000))
def test_the_nearest_point_of_a_ball_satisfies_every_condition_with_the_known_multiplier(n, length, seed):
    c = np.random.default_rng(seed).standard_normal(n)
    c *= length / np.linalg.norm(c)
    gradient, ball = projection_onto_ball(c)
    result = kkt_residuals(gradient, inequalities=ball)
    assert result.worst < 1e-12
    assert np.isclose(result.inequality[0], max(length - 1, 0), atol=1e-9)


def test_a_point_that_is_not_the_nearest_shows_in_stationarity():
    c = np.array([3.0, 0.0])
    x = np.array([0.0, 1.0])
    result = kkt_residuals(2 * (x - c), inequalities=([0.0], 2 * x[None, :]))
    assert result.stationarity == pytest.approx(6.0)
    assert result.worst == result.stationarity


def test_a_multiplier_may_not_be_negative():
    # Maximising instead of minimising: the multiplier that balances the gradient is -2.
    estimated = kkt_residuals([-2.0], inequalities=([0.0], [[-1.0]]))
    assert estimated.inequality[0] == 0
    assert estimated.stationarity == 2.0
    given_one = kkt_residuals([-2.0], inequalities=([0.0], [[-1.0]]), inequality_multipliers=[-2.0])
    assert (given_one.stationarity, given_one.dual, given_one.worst) == (0.0, 2.0, 2.0)


def test_infeasibility_and_slackness_are_reported_apart():
    outside = kkt_residuals([0.0], inequalities=([0.5], [[1.0]]), equalities=([-0.75], [[1.0]]))
    assert outside.primal == 0.75
    loose = kkt_residuals([-3.0], inequalities=([-2.0], [[1.0]]), inequality_multipliers=[3.0])
    assert (loose.stationarity, loose.slackness, loose.worst) == (0.0, 6.0, 6.0)


def test_inactive_constraints_get_no_multiplier():
    result = kkt_residuals([-1.0], inequalities=([-0.1, 0.0], [[1.0], [1.0]]))
    np.testing.assert_allclose(result.inequality, [0.0, 1.0])


def test_equality_multipliers_may_have_either_sign_and_may_be_given():
    H = np.array([[1.0, 1.0]])
    for sign in (1.0, -1.0):
        result = kkt_residuals([sign, sign], equalities=([0.0], H))
        assert np.isclose(result.equality[0], -sign)
        assert result.worst < 1e-14
    mixed = kkt_residuals(
        [1.0, 3.0], inequalities=([0.0], [[0.0, -1.0]]), equalities=([0.0], H), equality_multipliers=[-1.0]
    )
    assert np.isclose(mixed.inequality[0], 2.0)
    assert mixed.worst < 1e-14


def test_without_constraints_only_the_gradient_counts():
    assert kkt_residuals([3.0, -4.0]).worst == 4.0


def random_qp(n, seed):
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((n, n))
    Q, c = F @ F.T + np.eye(n), 3 * rng.standard_normal(n)
    A_ub, A_eq = rng.standard_normal((2, n)), np.ones((1, n))
    inside = np.full(n, 1.0 / n)
    return Q, c, A_ub, A_ub @ inside + 0.1, A_eq, np.array([1.0]), np.zeros(n), np.full(n, 0.8)


@laws
@given(st.integers(2, 6), st.integers(0, 1000))
def test_scipys_solution_of_a_quadratic_program_passes_and_its_neighbours_do_not(n, seed):
    Q, c, A_ub, b_ub, A_eq, b_eq, lower, upper = random_qp(n, seed)
    solution = minimize(
        lambda x: x @ Q @ x / 2 + c @ x,
        np.full(n, 1.0 / n),
        jac=lambda x: Q @ x + c,
        method="SLSQP",
        bounds=list(zip(lower, upper, strict=True)),
        constraints=[LinearConstraint(A_ub, -np.inf, b_ub), LinearConstraint(A_eq, b_eq, b_eq)],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    x = np.clip(solution.x, lower, upper)
    at = qp_kkt(Q, c, x, A_ub, b_ub, A_eq, b_eq, lower, upper, active=1e-6)
    assert at.worst < 1e-4
    away = np.clip(x + 0.05 * np.random.default_rng(seed).standard_normal(n), lower, upper)
    assert qp_kkt(Q, c, away, A_ub, b_ub, A_eq, b_eq, lower, upper, active=1e-6).worst > 10 * at.worst


@laws
@given(st.integers(2, 6), st.integers(0, 1000))
def test_a_program_built_around_its_solution_and_multipliers_passes(n, seed):
    Q, _, A_ub, _, A_eq, _, lower, upper = random_qp(n, seed)
    # A problem made to have this solution: choose x and multipliers, then c.
    rng = np.random.default_rng(seed)
    x = rng.dirichlet(np.ones(n))
    x[0] = 0.0
    x /= x.sum()
    upper = np.maximum(upper, x)
    a, b = rng.uniform(0.5, 2, 2), rng.standard_normal(1)
    low = np.where(x == 0, rng.uniform(0.5, 2, n), 0.0)
    high = np.where(x == upper, rng.uniform(0.5, 2, n), 0.0)
    c = -(Q @ x) - A_ub.T @ a - A_eq.T @ b + low - high
    result = qp_kkt(Q, c, x, A_ub, A_ub @ x, A_eq, [1.0], lower, upper)
    assert result.worst < 1e-8
    rebuilt = Q @ x + c + A_ub.T @ result.inequality + A_eq.T @ result.equality - result.lower + result.upper
    np.testing.assert_allclose(rebuilt, 0, atol=1e-8)


def test_a_linear_program_agrees_with_the_multipliers_of_highs():
    c = np.array([-1.0, -2.0, 0.5])
    A_ub, b_ub = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 1.0]]), np.array([3.0, 2.0])
    A_eq, b_eq = np.array([[1.0, 1.0, 1.0]]), np.array([3.5])
    solution = linprog(c, A_ub, b_ub, A_eq, b_eq, bounds=(0, 2.5))
    result = linear_kkt(c, solution.x, A_ub, b_ub, A_eq, b_eq, lower=0.0, upper=2.5)
    assert result.worst < 1e-9
    np.testing.assert_allclose(result.inequality, -solution.ineqlin.marginals, atol=1e-9)
    np.testing.assert_allclose(result.equality, -solution.eqlin.marginals, atol=1e-9)


def test_the_general_check_and_the_one_for_bounds_agree():
    Q, c = np.diag([1.0, 2.0]), np.array([-3.0, 1.0])
    x = np.array([1.0, 0.0])  # min over the unit square
    bounds = qp_kkt(Q, c, x, lower=0.0, upper=1.0)
    general = kkt_residuals(Q @ x + c, inequalities=(np.r_[x - 1, -x], np.vstack([np.eye(2), -np.eye(2)])))
    assert bounds.worst == general.worst == 0.0
    np.testing.assert_allclose(np.r_[bounds.upper, bounds.lower], general.inequality)
    np.testing.assert_allclose(bounds.upper, [2.0, 0.0])
    np.testing.assert_allclose(bounds.lower, [0.0, 1.0])


def test_the_dual_of_a_separating_line_is_checked_with_one_equality_and_many_bounds():
    # Two groups on a line, |margin| 1: multipliers 1/2 for the inner points.
    t = np.array([-3.0, -1.0, 1.0, 4.0])
    y = np.sign(t)
    Q = np.outer(t * y, t * y)
    alpha = np.array([0.0, 0.5, 0.5, 0.0])
    right = qp_kkt(Q, -np.ones(4), alpha, A_eq=y[None, :], b_eq=[0.0], lower=0.0, upper=10.0)
    assert right.worst < 1e-12
    assert abs(right.equality[0]) < 1e-12  # the intercept
    wrong = qp_kkt(Q, -np.ones(4), [0.25, 0.0, 0.0, 0.25], A_eq=y[None, :], b_eq=[0.0], lower=0.0, upper=10.0)
    assert wrong.stationarity > 0.1


def test_the_multiplier_is_found_when_every_variable_sits_at_a_bound():
    # All at bounds, as in a dual with every point misclassified; b anywhere in [-1, 2] balances the gradient.
    result = linear_kkt([1.0, -2.0], [0.0, 1.0], A_eq=[[1.0, 1.0]], b_eq=[1.0], lower=0.0, upper=1.0)
    assert result.worst < 1e-12
    assert -1 - 1e-12 <= result.equality[0] <= 2 + 1e-12


def test_points_outside_the_bounds_are_infeasible():
    result = linear_kkt([0.0, 0.0], [-0.5, 2.0], lower=0.0, upper=[1.0, np.inf])
    assert result.primal == 0.5
    assert linear_kkt([0.0], [1.0], A_ub=[[2.0]], b_ub=[1.0]).primal == 1.0
    assert linear_kkt([0.0], [1.0], A_eq=[[2.0]], b_eq=[1.0]).primal == 1.0


def test_infinite_bounds_are_no_bounds():
    result = linear_kkt([1.0], [5.0], lower=-np.inf, upper=np.inf)
    assert result.worst == 1.0
    np.testing.assert_array_equal([result.lower[0], result.upper[0]], 0.0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: kkt_residuals([[1.0]]), r"gradient must have 1 dimension, has shape \(1, 1\)"),
        (lambda: kkt_residuals([np.nan]), r"gradient must be finite, entry \[0\] \(counted from 0\) is nan"),
        (
            lambda: kkt_residuals([1.0], inequalities=([0.0], [[1.0, 2.0]])),
            r"the Jacobian of inequalities must have shape \(1, 1\) \(constraints, variables\), has \(1, 2\)",
        ),
        (
            lambda: kkt_residuals([1.0], equalities=([0.0], [[1.0]]), equality_multipliers=[1.0, 2.0]),
            "equality_multipliers must have 1 entries, has 2",
        ),
        (lambda: qp_kkt(np.eye(2), [1.0], [1.0]), r"Q must have shape \(1, 1\) like x, has \(2, 2\)"),
        (lambda: linear_kkt([1.0, 2.0], [1.0]), "gradient must have 1 entries, has 2"),
        (lambda: linear_kkt([1.0], [1.0], A_ub=[[1.0]]), "A_ub and b_ub must be given together"),
        (lambda: linear_kkt([1.0], [1.0], A_eq=[[1.0, 2.0]], b_eq=[1.0]), "A_eq must have 1 columns like x, has 2"),
        (lambda: linear_kkt([1.0], [1.0], lower=[0.0, 0.0]), r"lower must be a number or have 1 entries"),
        (lambda: linear_kkt([1.0], [1.0], upper=np.nan), "upper must not be NaN; use infinity for no bound"),
        (lambda: linear_kkt([1.0], [1.0], lower=2.0, upper=1.0), "lower must not exceed upper, does for variable 0"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_with_the_reason(call, text):
    with pytest.raises(DataError, match=text):
        call()

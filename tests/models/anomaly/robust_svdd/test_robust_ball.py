"""The ball with points outside: optimal by its weights and by SciPy, and, by distance, deaf to how far a point is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from assay.errors import DataError, ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.models.anomaly.robust_svdd.robust_ball import robust_ball
from assay.optimize.enclosing_ball import enclosing_ball

LOSSES = ("linear", "hinge")
losses = st.sampled_from(LOSSES)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with one_blas_thread():
        yield


def measure(X, c, loss):
    squares = ((X - c) ** 2).sum(axis=1)
    return squares if loss == "hinge" else np.sqrt(squares)


def objective(X, C, c, radius, loss):
    r = radius**2 if loss == "hinge" else radius
    return r + C * np.maximum(measure(X, c, loss) - r, 0).sum()


def lower_bound(X, ball, loss):
    """The dual value of the weights, by the textbook; for distances the pulls are those of the centre."""
    a, off = ball.weights, X - ball.center
    if loss == "hinge":
        return a @ measure(X, ball.center, loss) - ((a @ off) ** 2).sum()
    lengths = measure(X, ball.center, loss)
    units = np.divide(off, lengths[:, None], out=np.zeros_like(off), where=lengths[:, None] > 0)
    # points at the centre may pull any way; a gap of 1e-14 leaves pulls free to turn by its root
    assert np.linalg.norm(a @ units) <= a[lengths == 0].sum() + 1e-6
    return a @ lengths


def certified(X, C, loss, tol=1e-8):
    """The ball, after checking its proof against the points alone."""
    ball = robust_ball(X, C, loss=loss)
    size = np.ptp(X, axis=0).max()
    assert ball.converged and 0 <= ball.gap <= tol * ball.objective
    assert ball.objective == pytest.approx(objective(X, C, ball.center, ball.radius, loss), rel=1e-9, abs=1e-12)
    assert (ball.weights >= 0).all() and (ball.weights <= C * (1 + 1e-12)).all()
    assert ball.weights.sum() <= 1 + 1e-12 and (ball.radius == 0 or ball.weights.sum() == pytest.approx(1))
    assert lower_bound(X, ball, loss) == pytest.approx(ball.objective, rel=1e-6, abs=1e-12)
    assert ball.kkt_residual <= 1e-6
    distances = np.linalg.norm(X - ball.center, axis=1)
    assert distances[ball.support] == pytest.approx(ball.radius, abs=1e-7 * size)
    # a distance is a sum of d squares of differences, each rounded to eps of the largest number in it
    rounding = (X.shape[1] + 4) * np.finfo(float).eps * (np.abs(X).max() + ball.radius)
    assert (distances[ball.outside] > ball.radius - rounding).all()
    assert len(ball.outside) <= 1 / C * (1 + 1e-9)
    return ball


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999), n=st.integers(2, 60), d=st.integers(1, 6), nu=st.floats(0.02, 1.0), loss=losses)
def test_the_weights_prove_the_ball_and_at_most_a_share_nu_lies_outside(seed, n, d, nu, loss):
    X = np.random.default_rng(seed).standard_normal((n, d))
    ball = certified(X, 1 / (nu * n), loss)
    assert len(ball.outside) <= nu * n + 1e-9 <= len(ball.outside) + len(ball.support) + 1e-6


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 9999), n=st.integers(2, 60), d=st.integers(1, 4), nu=st.floats(0.05, 1.0), loss=losses)
def test_points_on_a_lattice_many_of_them_equal_are_no_hindrance(seed, n, d, nu, loss):
    X = np.random.default_rng(seed).integers(0, 3, (n, d)).astype(float)
    certified(X, 1 / (nu * n), loss)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 9999), nu=st.floats(0.1, 0.9), loss=losses)
def test_moving_turning_and_scaling_the_points_does_the_same_to_the_ball(seed, nu, loss):
    rng = np.random.default_rng(seed)
    X, shift = rng.standard_normal((25, 3)), rng.standard_normal(3) * 9
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    C = 1 / (nu * 25)
    plain, moved = robust_ball(X, C, loss=loss), robust_ball(2.0 * X @ turn + shift, C, loss=loss)
    assert moved.objective == pytest.approx(plain.objective * (4.0 if loss == "hinge" else 2.0))
    assert moved.center == pytest.approx(2.0 * plain.center @ turn + shift, abs=1e-6)


@pytest.mark.parametrize(("seed", "nu"), [(0, 0.15), (1, 0.4), (2, 0.75)])
def test_scipy_finds_the_same_ball_by_the_dual_of_the_hinge(seed, nu):
    X = np.random.default_rng(seed).standard_normal((16, 2))
    squares, inner, C = (X**2).sum(axis=1), X @ X.T, 1 / (nu * 16)
    found = minimize(
        lambda a: a @ inner @ a - a @ squares, np.full(16, 1 / 16), jac=lambda a: 2 * inner @ a - squares,
        bounds=[(0, C)] * 16, constraints={"type": "eq", "fun": lambda a: a.sum() - 1}, method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    ball = certified(X, C, "hinge")
    assert ball.objective == pytest.approx(-found.fun, rel=1e-7)
    assert ball.center == pytest.approx(found.x @ X, abs=1e-4)


@pytest.mark.parametrize(("seed", "nu"), [(0, 0.15), (1, 0.4), (2, 0.75)])
def test_scipy_finds_the_same_ball_of_the_linear_loss_with_slacks(seed, nu):
    X = np.random.default_rng(seed).standard_normal((14, 2))
    C = 1 / (nu * 14)
    start = np.concatenate([X.mean(axis=0), [1.0], np.full(14, 3.0)])
    found = minimize(
        lambda v: v[2] + C * v[3:].sum(), start, method="SLSQP", bounds=[(None, None)] * 2 + [(0, None)] * 15,
        constraints={"type": "ineq", "fun": lambda v: v[2] + v[3:] - np.linalg.norm(X - v[:2], axis=1)},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    ball = certified(X, C, "linear")
    assert ball.objective == pytest.approx(found.fun, rel=1e-7)
    assert ball.center == pytest.approx(found.x[:2], abs=1e-3)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999), step=st.floats(1e-6, 3.0), loss=losses)
def test_no_other_centre_and_radius_is_better(seed, step, loss):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, (40, 3))
    ball = robust_ball(X, 0.1, loss=loss)
    c, radius = ball.center + step * rng.standard_normal(3), abs(ball.radius + step * rng.standard_normal())
    assert objective(X, 0.1, c, radius, loss) >= ball.objective - ball.gap


@pytest.mark.parametrize("loss", LOSSES)
def test_at_a_price_of_one_nothing_is_left_outside(loss):
    X = np.random.default_rng(3).standard_normal((50, 4))
    ball, whole = certified(X, 1.0, loss), enclosing_ball(X)
    assert ball.route == "enclosing" and not len(ball.outside)
    assert ball.radius == pytest.approx(whole.radius) and ball.center == pytest.approx(whole.center)
    nearly = certified(X, 0.999, loss)  # no weight reaches the price: the same ball by the other way
    assert nearly.route == "interior" and nearly.radius == pytest.approx(whole.radius)


def test_at_a_low_price_all_is_outside_but_the_mean_or_the_geometric_median():
    X = np.random.default_rng(4).standard_normal((30, 3))
    hinge, linear = certified(X, 1 / 40, "hinge"), certified(X, 1 / 40, "linear")
    assert hinge.center == pytest.approx(X.mean(axis=0)) and hinge.radius == linear.radius == 0.0
    median = minimize(lambda c: np.linalg.norm(X - c, axis=1).sum(), X.mean(axis=0), method="BFGS", tol=1e-12)
    assert linear.objective == pytest.approx(median.fun / 40, rel=1e-9)
    assert linear.center == pytest.approx(median.x, abs=1e-5)


def test_a_point_that_outweighs_the_pulls_of_all_others_is_the_ball():
    others = np.random.default_rng(5).standard_normal((20, 2))
    X = np.vstack([np.full((30, 2), 7.0), others])
    for nu in (0.85, 1.0):  # 20 pulls of 1 / (50 nu), against the rest of the weight
        ball = certified(X, 1 / (nu * 50), "linear")
        assert ball.radius == 0.0 and ball.center.tolist() == [7.0, 7.0]
        assert ball.support.tolist() == list(range(30)) and ball.outside.tolist() == list(range(30, 50))
    assert certified(X, 1 / (0.5 * 50), "linear").radius > 1.0


def test_the_linear_centre_moves_by_a_bound_and_the_hinge_centre_without_one():
    bulk = np.random.default_rng(6).standard_normal((99, 2))
    shift = {loss: [] for loss in LOSSES}
    for distance in (10.0, 100.0, 1000.0, 1e6):
        X = np.vstack([bulk, [[distance, 0.0]]])
        for loss in LOSSES:
            shift[loss].append(np.linalg.norm(certified(X, 1 / 10, loss).center - bulk.mean(axis=0)))
    assert max(shift["linear"]) < 0.5
    assert shift["linear"][3] == pytest.approx(shift["linear"][2], rel=1e-2)  # only the direction counts
    assert all(far > 5 * near for near, far in zip(shift["hinge"], shift["hinge"][1:], strict=False))
    assert all(linear < hinge for linear, hinge in zip(shift["linear"], shift["hinge"], strict=True))


def test_the_linear_ball_stands_fast_until_half_of_those_allowed_outside_are_wild():
    bulk = np.random.default_rng(7).standard_normal((100, 3))
    for wild, holds in ((9, True), (11, False)):  # a share nu of 100 rows is 20
        X = bulk.copy()
        X[:wild] = [1e6, 0.0, 0.0]
        assert bool(np.linalg.norm(certified(X, 1 / 20, "linear").center) < 3.0) == holds


@pytest.mark.parametrize("loss", LOSSES)
def test_more_columns_than_points_and_points_on_a_line(loss):
    wide = np.random.default_rng(8).standard_normal((20, 500))
    certified(wide, 1 / 6, loss)
    line = np.outer(np.random.default_rng(9).standard_normal(40), [1.0, -2.0, 0.5])
    certified(line, 1 / 8, loss)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("points", [[[3.0, 4.0]], np.full((9, 2), 3.0)])
def test_one_point_however_often_is_a_ball_of_radius_zero(points, loss):
    ball = robust_ball(points, 0.3, loss=loss)
    assert ball.radius == 0.0 and ball.center.tolist() == list(points[0])
    assert ball.converged and not len(ball.outside)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_no_unit_is_too_small_or_too_large(unit, loss):
    X = np.random.default_rng(10).standard_normal((40, 3))
    plain, scaled = robust_ball(X, 0.1, loss=loss), robust_ball(X * unit, 0.1, loss=loss)
    assert scaled.radius / unit == pytest.approx(plain.radius, rel=1e-9)
    assert scaled.center / unit == pytest.approx(plain.center, abs=1e-9)
    assert scaled.converged and np.array_equal(scaled.outside, plain.outside)


@pytest.mark.parametrize("loss", LOSSES)
def test_points_far_from_zero_keep_their_digits(loss):
    X = np.random.default_rng(11).standard_normal((60, 2))
    near, far = robust_ball(X, 0.1, loss=loss), robust_ball(X + 1e8, 0.1, loss=loss)
    assert far.radius == pytest.approx(near.radius, rel=1e-6)
    assert far.center - 1e8 == pytest.approx(near.center, abs=1e-6)


def test_of_many_points_those_near_the_sphere_are_solved_for_to_the_last_digits():
    X = np.random.default_rng(12).standard_t(3, (5000, 5))
    for loss in LOSSES:
        ball = certified(X, 1 / 500, loss, tol=1e-12)
        assert ball.route == "window" and len(ball.support) <= 6


@pytest.mark.parametrize("loss", LOSSES)
def test_many_points_as_far_as_each_other_need_all_of_them_and_are_solved_too(loss):
    corners = np.random.default_rng(13).integers(0, 2, (1500, 6)).astype(float)  # of a cube, all on one sphere
    ball = certified(corners, 1 / 300, loss)
    assert ball.radius == pytest.approx(np.sqrt(6) / 2) and ball.center == pytest.approx(np.full(6, 0.5))
    assert len(ball.support) == 1500


def test_a_search_cut_short_is_owned_up_to_and_its_gap_is_still_a_proof():
    X = np.random.default_rng(14).standard_normal((300, 4))
    for loss in LOSSES:
        short, whole = robust_ball(X, 1 / 30, loss=loss, max_iter=2), robust_ball(X, 1 / 30, loss=loss)
        assert not short.converged and short.n_iter == 2
        assert short.objective - short.gap <= whole.objective <= short.objective


def test_the_points_are_left_as_they_were():
    X = np.random.default_rng(15).standard_normal((20, 2))
    before = X.copy()
    robust_ball(X, 0.2)
    assert np.array_equal(X, before)


def test_what_makes_no_ball_is_refused():
    with pytest.raises(ParameterError, match=r"C is a price above zero; got 0\.0"):
        robust_ball([[1.0]], 0.0)
    with pytest.raises(ParameterError, match="loss is one of linear, hinge; got 'square'"):
        robust_ball([[1.0]], 1.0, loss="square")
    with pytest.raises(DataError, match=r"a ball needs points.*got shape \(0, 2\)"):
        robust_ball(np.empty((0, 2)), 1.0)
    with pytest.raises(DataError, match="points must be finite"):
        robust_ball([[np.nan]], 1.0)

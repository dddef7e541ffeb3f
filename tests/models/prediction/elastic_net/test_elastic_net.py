"""Elastic net and lasso: the conditions of a minimum, scikit-learn's answers and choices, both routes, edges."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet as Peer
from sklearn.linear_model import ElasticNetCV, LassoCV, enet_path
from sklearn.model_selection import KFold

import assay
from assay import ElasticNet, GroupedMoments, LeastSquares, Moments, Ridge
from assay.errors import DataError, NotConverged, ParameterError
from assay.models.prediction.elastic_net import path as module

SHAPES = [(80, 6, "moments"), (60, 45, "moments"), (25, 70, "rows")]


def table(n, d, p=None, seed=0):
    """Columns that go together, of which four speak for the target."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1)) + 3.0
    w = np.zeros((d, 1 if p is None else p))
    w[:4] = 2.0 * rng.standard_normal((4, w.shape[1]))[:d]
    Y = X @ w + rng.standard_normal((n, w.shape[1]))
    return X, Y[:, 0] if p is None else Y


def exact(**options):
    return Peer(tol=1e-13, max_iter=1_000_000, **options)


@pytest.mark.parametrize(("n", "d", "route"), SHAPES)
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_coefficients_are_scikit_learns(n, d, route, l1_ratio, fit_intercept, weighted, positive):
    X, y = table(n, d)
    w = np.random.default_rng(1).random(n) + 0.1 if weighted else None
    options = {"l1_ratio": l1_ratio, "fit_intercept": fit_intercept, "positive": positive}
    ours, peer = ElasticNet(0.2, **options).fit(X, y, w), exact(alpha=0.2, **options).fit(X, y, w)
    assert ours.route_ == route and ours.converged_
    # scikit-learn's gap of 1e-13 leaves coefficients its root; the curvature of the columns in use is not far from 1
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-5)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-4)
    assert ours.score(X, y) == pytest.approx(peer.score(X, y), abs=1e-6)


@pytest.mark.parametrize("power", [-6, 0, 6, 9])
@pytest.mark.parametrize(("n", "d"), [(300, 100), (40, 90)])
def test_a_price_on_squares_alone_is_ridge_however_high(n, d, power):
    X, y = table(n, d)
    ours, ridge = ElasticNet(10.0**power, l1_ratio=0.0).fit(X, y), Ridge(10.0**power * n).fit(X, y)
    apart = X @ (ours.coef_ - ridge.coef_)
    assert np.abs(apart).max() < 1e-4 * np.abs(X @ ridge.coef_ - X.mean(axis=0) @ ridge.coef_).max()
    if power >= 6:  # what is left to fit is less than rounding of the target's mean square would be
        np.testing.assert_allclose(ours.coef_, ridge.coef_, rtol=1e-7)


@pytest.mark.parametrize(("n", "d"), [(80, 30), (25, 40)])
def test_a_choice_among_fits_that_were_stopped_early_is_warned_of(n, d):
    X, y = table(n, d)
    with pytest.warns(NotConverged, match="some stopped after max_iter=1 sweeps|stopped after 1 sweeps"):
        ElasticNet("held-out", max_iter=1, random_state=0).fit(X, y)
    ElasticNet("held-out", random_state=0).fit(X, y)  # and no warning, which would be an error here


@given(
    st.integers(3, 30), st.integers(1, 40), st.integers(0, 2**31), st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    st.floats(-3.0, 0.5), st.booleans(), st.booleans(),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_slopes_are_the_price_where_a_column_is_in_use_and_below_it_elsewhere(
    n, d, seed, l1_ratio, power, fit_intercept, positive
):
    rng = np.random.default_rng(seed)
    X, y, w, alpha = rng.standard_normal((n, d)), rng.standard_normal(n), rng.random(n) + 0.1, 10.0**power
    options = {"l1_ratio": l1_ratio, "fit_intercept": fit_intercept, "positive": positive}
    model = ElasticNet(alpha, **options).fit(X, y, w)
    off = y - model.predict(X)
    slope = X.T @ (w * off) / w.sum() - alpha * (1 - l1_ratio) * model.coef_
    price, used = alpha * l1_ratio, model.coef_ != 0.0
    # a gap of 1e-10 mean squares leaves slopes its root, times the spread of a column
    allowed = 1e-4 * np.sqrt(w @ y**2 / w.sum())
    np.testing.assert_allclose(slope[used], price * np.sign(model.coef_[used]), atol=allowed)
    assert ((slope if positive else np.abs(slope))[~used] <= price + allowed).all()
    assert not positive or (model.coef_ >= 0.0).all()
    if fit_intercept:
        assert w @ off / w.sum() == pytest.approx(0.0, abs=1e-9)
    assert model.duality_gap_ <= 1e-10 * model.total_ / w.sum() * (1 + 1e-6)


def test_the_gap_bounds_what_is_lost_by_stopping_early():
    X, y = table(60, 45)

    def objective(model):
        off = y - model.predict(X)
        size, square = np.abs(model.coef_).sum(), np.sum(model.coef_**2)
        return off @ off / (2 * len(y)) + 0.01 * (0.9 * size + 0.05 * square)

    best = objective(ElasticNet(0.01, l1_ratio=0.9).fit(X, y))
    for sweeps in (1, 2, 4):
        with pytest.warns(
            NotConverged, match=r"stopped after \d sweeps with a duality gap of .*: raise max_iter or tol"
        ):
            early = ElasticNet(0.01, l1_ratio=0.9, max_iter=sweeps, tol=1e-15).fit(X, y)
        assert not early.converged_
        assert 0.0 <= objective(early) - best <= early.duality_gap_ * (1 + 1e-6)


@pytest.mark.parametrize(("n", "d"), [(100, 8), (30, 50)])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_the_path_is_enet_path(n, d, l1_ratio):
    X, y = table(n, d)
    X, y = X - X.mean(axis=0), y - y.mean()
    model = ElasticNet(l1_ratio=l1_ratio).fit(X, y)
    found = model.path()
    how = {"n_alphas" if sklearn.__version__.startswith("1.6.") else "alphas": 100, "max_iter": 100_000}
    alphas, coefs, _ = enet_path(X, y, l1_ratio=l1_ratio, tol=1e-11, **how)
    np.testing.assert_allclose(found.alphas, alphas, rtol=1e-9)
    np.testing.assert_allclose(found.coef, coefs.T, atol=2e-4)
    assert found.n_selected[0] == 0 and found.n_selected[-1] > 3
    assert (found.duality_gap <= 1e-10 * np.mean(y**2)).all()
    few = model.path([0.1, 1.0])
    np.testing.assert_array_equal(few.alphas, [1.0, 0.1])
    at = ElasticNet(0.1, l1_ratio=l1_ratio).fit(X, y)
    np.testing.assert_allclose(few.coef[1], at.coef_, atol=1e-5)
    np.testing.assert_allclose(few.intercept[1], at.intercept_, atol=1e-5)


@pytest.mark.parametrize(("cross", "l1_ratio"), [(LassoCV, 1.0), (ElasticNetCV, 0.5)])
def test_the_price_chosen_on_held_out_rows_is_scikit_learns(cross, l1_ratio):
    X, y = (part[:440] for part in load_diabetes(return_X_y=True))  # folds of equal size
    ours = ElasticNet("held-out", l1_ratio=l1_ratio, cv=KFold(5)).fit(X, y)
    peer = cross(cv=5, tol=1e-9, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.alphas_, peer.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.held_out_errors_, peer.mse_path_.mean(axis=1), rtol=1e-5)
    assert ours.alpha_ == pytest.approx(peer.alpha_, rel=1e-9)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-3, atol=0.1)
    np.testing.assert_array_equal(ours.path().held_out_error, ours.held_out_errors_)


def test_one_of_several_shares_is_chosen_as_scikit_learn_does():
    X, y = (part[:440] for part in load_diabetes(return_X_y=True))
    shares = [0.2, 0.7, 1.0]
    ours = ElasticNet("held-out", l1_ratio=shares, cv=KFold(5)).fit(X, y)
    peer = ElasticNetCV(cv=5, l1_ratio=shares, tol=1e-8, max_iter=100_000).fit(X, y)
    assert ours.l1_ratio_ == peer.l1_ratio_ and ours.alpha_ == pytest.approx(peer.alpha_, rel=1e-9)
    with pytest.raises(ParameterError, match="one of several l1_ratio is chosen with alpha='held-out'; got alpha=1.0"):
        ElasticNet(l1_ratio=shares).fit(X, y)


@pytest.mark.parametrize(("n", "d"), [(40, 6), (20, 30)])
def test_the_largest_price_is_where_the_first_coefficient_appears(n, d):
    X, y = table(n, d)
    X[:, ::2] *= -1.0  # products with the target of both signs
    for positive in (False, True):
        top = ElasticNet("held-out", l1_ratio=1, positive=positive, cv=2, random_state=0).fit(X, -y).alphas_[0]
        assert not ElasticNet(top * (1 + 1e-9), l1_ratio=1, positive=positive).fit(X, -y).coef_.any()
        assert ElasticNet(top * 0.99, l1_ratio=1, positive=positive).fit(X, -y).coef_.any()


def test_a_wide_table_is_judged_as_scikit_learn_does():
    X, y = table(40, 90)
    ours = ElasticNet("held-out", l1_ratio=1, cv=KFold(4)).fit(X, y)
    ours = ElasticNet("held-out", l1_ratio=1, cv=KFold(4), alphas=ours.alphas_[:60]).fit(X, y)
    peer = LassoCV(cv=4, alphas=ours.alphas_, tol=1e-9, max_iter=100_000).fit(X, y)
    assert ours.route_ == "rows" and ours.alpha_ == pytest.approx(peer.alpha_, rel=1e-9)
    np.testing.assert_allclose(ours.held_out_errors_, peer.mse_path_.mean(axis=1), rtol=1e-4)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-3)


def test_both_routes_give_the_same_answer():
    X, y = table(30, 50)
    rows = ElasticNet(0.05, l1_ratio=1).fit(X, y)
    moments = ElasticNet(0.05, l1_ratio=1).fit_moments(Moments.of(np.column_stack([X, y])), 50)
    assert (rows.route_, moments.route_) == ("rows", "moments")
    np.testing.assert_allclose(rows.coef_, moments.coef_, atol=1e-6)
    assert rows.r_squared_ == pytest.approx(moments.r_squared_, rel=1e-6)
    np.testing.assert_array_equal(rows.selected_, moments.selected_)


def test_hospitals_that_share_summaries_choose_as_their_rows_together_do():
    X, y = table(200, 10)
    place = np.arange(200) % 4
    shared = GroupedMoments.of(np.column_stack([X, y]), place)
    apart = ElasticNet("held-out", l1_ratio=0.7).fit_moments(shared, 10)
    together = ElasticNet("held-out", l1_ratio=0.7, cv=place).fit(X, y)
    assert apart.alpha_ == pytest.approx(together.alpha_, rel=1e-9)
    np.testing.assert_allclose(apart.coef_, together.coef_, atol=1e-6)
    with pytest.raises(ParameterError, match="alpha='held-out' needs folds: give GroupedMoments of at least two"):
        ElasticNet("held-out").fit_moments(shared.total, 10)


@pytest.mark.parametrize(("n", "d"), [(80, 6), (25, 70)])
def test_several_targets_are_each_solved_for_itself(n, d):
    X, Y = table(n, d, 3)
    model = ElasticNet(0.1, l1_ratio=0.8).fit(X, Y)
    for k in range(3):
        alone = ElasticNet(0.1, l1_ratio=0.8).fit(X, Y[:, k])
        np.testing.assert_allclose(model.coef_[k], alone.coef_, atol=1e-7)
        assert model.residual_sd_[k] == pytest.approx(alone.residual_sd_, rel=1e-6)
    assert model.path([0.5, 0.1]).coef.shape == (2, 3, d)


def test_the_ends_are_ridge_and_least_squares():
    X, y = table(80, 6)
    ridge = ElasticNet(0.3, l1_ratio=0.0, tol=1e-14).fit(X, y)
    np.testing.assert_allclose(ridge.coef_, Ridge(0.3 * 80).fit(X, y).coef_, rtol=1e-5)
    free = ElasticNet(1e-9, l1_ratio=1.0, tol=1e-14).fit(X, y)
    np.testing.assert_allclose(free.coef_, LeastSquares().fit(X, y).coef_, rtol=1e-5)
    with pytest.raises(
        ParameterError, match="with l1_ratio=0 no penalty sets all coefficients to zero, .*: give alphas"
    ):
        ElasticNet("held-out", l1_ratio=0.0).fit(X, y)


def test_sources_sparse_rows_and_frames_are_the_same_rows():
    X, y = table(60, 5)
    X[X < 3.0] = 0.0
    plain = ElasticNet(0.1).fit(X, y)
    np.testing.assert_allclose(ElasticNet(0.1).fit(csr_array(X), y).coef_, plain.coef_, atol=1e-7)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    named = ElasticNet(0.1).fit(assay.read(frame), "y")
    np.testing.assert_allclose(named.coef_, plain.coef_, atol=1e-7)
    assert named.feature_names_in_.tolist() == list("abcde") and named.target_ == "y"


def test_columns_that_are_constant_or_the_same_do_no_harm():
    X, y = table(50, 3)
    X = np.column_stack([X, np.full(50, 7.0), X[:, 0]])
    model = ElasticNet(0.1, l1_ratio=0.5).fit(X, y)
    assert model.coef_[3] == 0.0 and model.coef_[0] == pytest.approx(model.coef_[4], abs=1e-6)
    lasso, single = ElasticNet(0.1, l1_ratio=1).fit(X, y), ElasticNet(0.1, l1_ratio=1).fit(X[:, :3], y)
    np.testing.assert_allclose(lasso.predict(X), single.predict(X[:, :3]), atol=1e-6)
    flat = ElasticNet("held-out").fit(X, np.full(50, 2.0))
    assert not flat.coef_.any() and flat.intercept_ == 2.0 and flat.duality_gap_ == 0.0


def test_units_of_columns_and_target_only_change_units():
    X, y = table(60, 5)
    one = ElasticNet(0.2).fit(X, y)
    large = ElasticNet(0.2 * 2.0**200, l1_ratio=1).fit(2.0**100 * X, 2.0**100 * y)
    np.testing.assert_allclose(large.coef_, ElasticNet(0.2, l1_ratio=1).fit(X, y).coef_, atol=1e-6)
    shifted = ElasticNet(0.2).fit(X + 1e6, y - 1e6)
    np.testing.assert_allclose(shifted.coef_, one.coef_, atol=1e-6)


def test_a_table_has_no_errors_and_says_why():
    X, y = table(60, 5)
    model = ElasticNet(0.2).fit(X, y)
    found = model.table()
    assert np.isnan(found.se).all() and np.isnan(found.p).all() and found.names[0] == "intercept"
    assert "the same rows chose the columns" in found.notes[0]
    assert str(model.summary()).startswith("ElasticNet: 60 rows, alpha 0.2, l1_ratio 0.5, 5 of 5 columns")


def test_a_saved_model_still_has_its_path(tmp_path):
    for n, d in ((60, 5), (20, 30)):
        X, y = table(n, d)
        model = ElasticNet("held-out", random_state=0).fit(X, y)
        model.save(tmp_path / "net")
        back = assay.load(tmp_path / "net")
        np.testing.assert_array_equal(back.path().coef, model.path().coef)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha is a number above 0, or 'held-out'; got 0.0. LeastSquares has no penalty"),
        ({"alpha": "best"}, "alpha is a number above 0, or 'held-out'; got 'best'"),
        ({"l1_ratio": 1.5}, "l1_ratio is a share from 0 to 1; got 1.5"),
        ({"l1_ratio": "half"}, "l1_ratio is a share from 0 to 1; got 'half'"),
        ({"tol": 0.0}, "tol is a positive number; got 0.0"),
        ({"max_iter": 0}, "max_iter is a whole number from 1 on; got 0"),
        ({"alpha": "held-out", "alphas": [1.0, -1.0]}, "alphas are numbers above 0"),
    ],
)
def test_refusals_of_options(options, message):
    with pytest.raises(ParameterError, match=message):
        ElasticNet(**options).fit(*table(20, 3))


@pytest.mark.parametrize(("n", "d"), [(20, 3), (20, 30)])
def test_what_cannot_be_used_is_named_with_its_place(n, d):
    X, y = table(n, d)
    for bad in (np.nan, np.inf):
        Z = X.copy()
        Z[4, 1] = bad
        with pytest.raises(DataError, match="row 4, column 1"):
            ElasticNet().fit(Z, y)


def test_more_columns_than_products_fit_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 1 << 10)
    with pytest.raises(DataError, match=r"40 columns take 0 GB of products, more than .*: choose columns first"):
        ElasticNet().fit(*table(50, 40))
    with pytest.raises(DataError, match="90 columns take 0 GB of rows"):
        ElasticNet().fit(*table(20, 90))

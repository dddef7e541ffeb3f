"""Ridge: its laws, the routes against each other and against scikit-learn, the choice over folds, edges."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge as Peer
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, ShuffleSplit, TimeSeriesSplit

import assay
from assay import GroupedMoments, LeastSquares, Moments, Ridge
from assay.data.folds import fold_numbers
from assay.errors import DataError, ParameterError

SHAPES = [(80, 5), (25, 60), (20, 20)]


def table(n, d, p=None, seed=0, spread=1.0):
    """Rows with columns that overlap; spread is the ratio of the largest to the smallest direction."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    X = (rng.standard_normal((n, d)) * np.geomspace(1.0, 1.0 / spread, d)) @ turn + 2.0
    y = X @ rng.standard_normal((d,) if p is None else (d, p))
    return X, y + rng.standard_normal(y.shape)


def grid_search(X, y, alphas, folds, weights=None, **options):
    """The reference: every fold and penalty fitted anew."""
    search = GridSearchCV(
        Peer(solver="svd", **options), {"alpha": alphas}, scoring="neg_mean_squared_error", cv=PredefinedSplit(folds)
    ).fit(X, y)
    by_fold = np.stack([-search.cv_results_[f"split{k}_test_score"] for k in range(len(np.unique(folds)))])
    sizes = np.bincount(folds)
    return search.best_params_["alpha"], sizes @ by_fold / sizes.sum()


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 300.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_route_agrees_with_scikit_learn(n, d, alpha, fit_intercept, weighted):
    for p in (None, 2):
        X, y = table(n, d, p)
        w = np.random.default_rng(1).random(n) + 0.1 if weighted else None
        ours = Ridge(alpha, fit_intercept=fit_intercept).fit(X, y, w)
        peer = Peer(alpha, fit_intercept=fit_intercept, solver="svd").fit(X, y, w)
        np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-9, atol=1e-10)


@given(st.integers(2, 25), st.integers(1, 25), st.integers(0, 2**31), st.floats(1e-3, 1e3), st.booleans())
@settings(max_examples=40)
def test_the_gradient_vanishes_and_squares_add_up(n, d, seed, alpha, fit_intercept):
    rng = np.random.default_rng(seed)
    X, y, w = rng.standard_normal((n, d)), rng.standard_normal(n), rng.random(n) + 0.1
    model = Ridge(alpha, fit_intercept=fit_intercept).fit(X, y, w)
    off = y - model.predict(X)
    np.testing.assert_allclose(X.T @ (w * off), alpha * model.coef_, atol=1e-9)
    if fit_intercept:
        assert w @ off == pytest.approx(0.0, abs=1e-9)  # the intercept has no price
    parts = model.explained_ + model.error_ + 2 * alpha * model.coef_ @ model.coef_
    assert model.total_ == pytest.approx(parts, rel=1e-9)
    assert model.error_ == pytest.approx(w @ off**2, rel=1e-8)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_no_price_is_least_squares_and_a_high_one_leaves_the_mean(n, d):
    X, y = table(n, d)
    free, dear = Ridge(0.0).fit(X, y), Ridge(1e12).fit(X, y)
    np.testing.assert_allclose(free.coef_, LeastSquares().fit(X, y).coef_, rtol=1e-7)
    assert free.effective_degrees_ == pytest.approx(min(n - 1, d), rel=1e-9)
    np.testing.assert_allclose(dear.predict(X), y.mean(), atol=1e-6)
    assert dear.effective_degrees_ < 1e-6


def test_dependent_columns_at_no_price_get_the_shortest_solution():
    X, y = table(40, 3)
    twice = np.column_stack([X, X])
    np.testing.assert_allclose(Ridge(0.0).fit(twice, y).coef_, LeastSquares().fit(twice, y).coef_, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "d", "spread", "route"), [(80, 5, 1, "moments"), (25, 60, 1, "dual"), (90, 8, 1e4, "qr"), (25, 60, 1e5, "qr")]
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_held_out_errors_are_those_of_refitting_every_fold(n, d, spread, route, fit_intercept):
    X, y = table(n, d, spread=spread)
    alphas = np.logspace(-5, 4, 12)
    ours = Ridge("held-out", alphas=alphas, fit_intercept=fit_intercept).fit(X, y)
    best, errors = grid_search(X, y, alphas, fold_numbers(0, n, 5), fit_intercept=fit_intercept)
    assert ours.route_ == route
    np.testing.assert_allclose(ours.held_out_errors_, errors, rtol=1e-9)
    assert ours.alpha_ == best
    np.testing.assert_allclose(
        ours.coef_, Peer(best, solver="svd", fit_intercept=fit_intercept).fit(X, y).coef_, rtol=1e-7
    )


@pytest.mark.parametrize(("n", "d"), [(60, 5), (24, 50)])
def test_weights_in_folds_count_rows(n, d):
    X, Y = table(n, d, 2)
    folds = np.arange(n) % 4
    times = 1 + np.arange(n) % 3
    weighted = Ridge("held-out", cv=folds).fit(X, Y, times)
    repeated = Ridge("held-out", cv=np.repeat(folds, times), alphas=weighted.alphas_).fit(
        np.repeat(X, times, 0), np.repeat(Y, times, 0)
    )
    np.testing.assert_allclose(weighted.held_out_errors_, repeated.held_out_errors_, rtol=1e-8)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8)
    np.testing.assert_allclose(weighted.residual_sd_, repeated.residual_sd_, rtol=1e-8)


def test_the_path_is_that_of_single_fits():
    for n, d in SHAPES:
        X, y = table(n, d)
        alphas = np.array([0.01, 1.0, 50.0])
        path = Ridge().fit(X, y).path(alphas)
        assert path.coef.shape == (3, d) and path.held_out_error is None
        for k, alpha in enumerate(alphas):
            single = Ridge(alpha).fit(X, y)
            np.testing.assert_allclose(path.coef[k], single.coef_, rtol=1e-8)
            assert path.intercept[k] == pytest.approx(single.intercept_, rel=1e-8)
            assert path.degrees[k] == pytest.approx(single.effective_degrees_, rel=1e-10)
    several = Ridge().fit(*table(40, 4, 3)).path()
    assert several.coef.shape == (50, 3, 4) and several.intercept.shape == (50, 3)
    assert (np.diff(several.degrees) < 0.0).all()
    lengths = np.linalg.norm(several.coef, axis=2)
    assert (np.diff(lengths, axis=0) < 0.0).all()


def test_the_path_tells_the_errors_that_the_choice_was_made_by():
    chosen = Ridge("held-out").fit(*table(80, 5))
    path = chosen.path()
    np.testing.assert_array_equal(path.held_out_error, chosen.held_out_errors_)
    assert path.alphas[path.held_out_error.argmin()] == chosen.alpha_
    assert (path.held_out_std_error > 0.0).all()
    plain = chosen.set_params(alpha=1.0).fit(*table(80, 5))
    assert not hasattr(plain, "held_out_errors_")


def test_effective_degrees_are_the_trace_of_the_hat_matrix():
    X, y = table(30, 6)
    centred = X - X.mean(axis=0)
    hat = centred @ np.linalg.solve(centred.T @ centred + 3.0 * np.eye(6), centred.T)
    assert Ridge(3.0).fit(X, y).effective_degrees_ == pytest.approx(np.trace(hat), rel=1e-10)


@pytest.mark.parametrize(("n", "d"), [(60, 4), (12, 30)])
def test_standard_errors_are_how_far_coefficients_vary(n, d):
    X, _ = table(n, d)
    centred = X - X.mean(axis=0)
    model = Ridge(2.0).fit(X, np.random.default_rng(7).standard_normal(n))
    inverse = np.linalg.inv(centred.T @ centred + 2.0 * np.eye(d))
    sandwich = inverse @ centred.T @ centred @ inverse
    np.testing.assert_allclose(model.coef_std_errors_, model.residual_sd_ * np.sqrt(np.diag(sandwich)), rtol=1e-8)


def test_a_price_is_found_where_least_squares_would_fit_noise():
    rng = np.random.default_rng(8)
    X, coef = rng.standard_normal((60, 50)), rng.standard_normal(50)
    y = X @ coef + 20.0 * rng.standard_normal(60)
    new = rng.standard_normal((2000, 50))
    chosen, free = Ridge("held-out").fit(X, y), LeastSquares().fit(X, y)
    assert np.mean((chosen.predict(new) - new @ coef) ** 2) < 0.2 * np.mean((free.predict(new) - new @ coef) ** 2)


def test_folds_of_the_user_keep_groups_together():
    X, y = table(60, 4)
    groups = np.repeat(["a", "b", "c"], 20)
    alphas = np.logspace(-2, 3, 7)
    ours = Ridge("held-out", alphas=alphas, cv=groups).fit(X, y)
    _, errors = grid_search(X, y, alphas, np.unique(groups, return_inverse=True)[1])
    np.testing.assert_allclose(ours.held_out_errors_, errors, rtol=1e-10)


def test_splitters_that_test_each_row_once_are_taken():
    X, y = table(60, 4)
    alphas = np.logspace(-2, 3, 7)
    ours = Ridge("held-out", alphas=alphas, cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    peer = GridSearchCV(
        Peer(solver="svd"),
        {"alpha": alphas},
        scoring="neg_mean_squared_error",
        cv=KFold(4, shuffle=True, random_state=0),
    ).fit(X, y)
    np.testing.assert_allclose(ours.held_out_errors_, -peer.cv_results_["mean_test_score"], rtol=1e-10)
    for splitter in (TimeSeriesSplit(3), ShuffleSplit(3, test_size=0.2, random_state=0)):
        with pytest.raises(ParameterError, match="cv must test each row once and train on all others.*does not"):
            Ridge("held-out", cv=splitter).fit(X, y)


def test_what_scikit_learn_takes_as_cv_is_taken_or_refused_in_a_sentence():
    X, y = table(30, 4)
    splitter, alphas = KFold(3), np.logspace(-2, 3, 5)
    expected = Ridge("held-out", alphas=alphas, cv=splitter).fit(X, y).held_out_errors_
    pairs = list(splitter.split(X))
    masks = [tuple(np.isin(np.arange(30), rows) for rows in pair) for pair in pairs]
    lists = [[train.tolist(), test.tolist()] for train, test in pairs]
    for cv in (pairs, tuple(pairs), masks, lists, splitter.split(X)):
        np.testing.assert_array_equal(Ridge("held-out", alphas=alphas, cv=cv).fit(X, y).held_out_errors_, expected)
    by_default = Ridge("held-out", alphas=alphas).fit(X, y).held_out_errors_
    np.testing.assert_array_equal(Ridge("held-out", alphas=alphas, cv=None).fit(X, y).held_out_errors_, by_default)
    for cv, said in (
        (pairs[:2], "cv must test each row once and train on all others.*the 2 pairs given do not"),
        ([(np.r_[0:10, 0:10], np.r_[20:30]), *pairs[:2]], "cv must test each row once"),
        ([(np.arange(30), np.arange(30))], "cv must test each row once"),
        ([(np.arange(31),)], r"splits are pairs of training and test rows, \(train, test\); number 0 is"),
        ([(np.arange(20), np.arange(20, 31))], "split 0 has row 30; there are 30 rows, counted from 0"),
        ([(np.ones(3, bool), np.arange(3))], "split 0 has rows that are neither their numbers nor a mask of all 30"),
        (iter(()), "cv must test each row once"),
        ("five", "cv is a number of folds, a splitter, pairs of training and test rows, or the fold of each of 30"),
    ):
        with pytest.raises(ParameterError, match=said):
            Ridge("held-out", cv=cv).fit(X, y)


def test_fold_summaries_choose_as_the_rows_do():
    X, y = table(100, 4)
    folds = GroupedMoments.folds(np.column_stack([X, y]), 5)
    from_rows, from_folds = Ridge("held-out").fit(X, y), Ridge("held-out").fit_moments(folds, 4)
    assert from_folds.alpha_ == pytest.approx(from_rows.alpha_, rel=1e-9)
    np.testing.assert_allclose(from_folds.held_out_errors_, from_rows.held_out_errors_, rtol=1e-9)
    np.testing.assert_allclose(from_folds.coef_, from_rows.coef_, rtol=1e-9)
    names = ["a", "b", "c", "d", "y"]
    one = Ridge(2.0).fit_moments(Moments.of(np.column_stack([X, y]), columns=names), "y")
    np.testing.assert_allclose(one.coef_, Ridge(2.0).fit(X, y).coef_, rtol=1e-10)
    with pytest.raises(ParameterError, match="alpha='held-out' needs folds: give GroupedMoments"):
        Ridge("held-out").fit_moments(folds.total, 4)
    with pytest.raises(DataError, match="fold 'b' has no rows to judge by: leave it out"):
        Ridge("held-out").fit_moments(GroupedMoments(("a", "b"), (folds.total, Moments.empty(5))), 4)


def test_a_summary_that_has_lost_digits_says_so():
    X, y = table(60, 4, spread=1e6)
    with pytest.warns(UserWarning, match="from a summary about . digits of the coefficients are certain"):
        Ridge(1e-12).fit_moments(Moments.of(np.column_stack([X, y])), 4)


@pytest.mark.parametrize("alpha", [1.0, "held-out"])
@pytest.mark.parametrize("spread", [1, 1e5])
def test_a_source_sparse_and_float32_rows_give_the_same_line(alpha, spread):
    X, y = table(80, 3, spread=spread)
    direct = Ridge(alpha).fit(X, y)
    source = assay.read(pd.DataFrame(X, columns=list("abc")).assign(y=y))
    np.testing.assert_allclose(Ridge(alpha).fit(source, "y").coef_, direct.coef_, rtol=1e-10)
    np.testing.assert_allclose(Ridge(alpha).fit(csr_array(X), y).coef_, direct.coef_, rtol=1e-10)
    single = X.astype(np.float32)
    np.testing.assert_allclose(
        Ridge(alpha).fit(single, y).coef_, Ridge(alpha).fit(single.astype(float), y).coef_, rtol=1e-10
    )


def test_wide_sources_and_sparse_rows_go_by_their_rows():
    X, y = table(15, 40)
    direct = Ridge().fit(X, y)
    assert direct.route_ == "dual"
    np.testing.assert_allclose(Ridge().fit(csr_array(X), y).coef_, direct.coef_, rtol=1e-10)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(40)]).assign(y=y)
    np.testing.assert_allclose(Ridge().fit(assay.read(frame), "y").coef_, direct.coef_, rtol=1e-10)


def test_a_shift_of_1e8_moves_only_the_intercept():
    for n, d in SHAPES:
        X, y = table(n, d)
        X = np.round(X * 256) / 256  # exact after the shift
        near, far = Ridge("held-out").fit(X, y), Ridge("held-out").fit(X + 1e8, y)
        assert far.alpha_ == pytest.approx(near.alpha_, rel=1e-9)
        np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-7, atol=1e-9)


def test_units_far_apart_lose_no_digits():
    X, y = table(90, 3)
    scale = np.array([1.0, 1e6, 1e-4])
    ours = Ridge(1e-3).fit(X * scale, y)
    A = np.vstack([(X - X.mean(axis=0)) * scale, np.sqrt(1e-3) * np.eye(3)])
    oracle = np.linalg.lstsq(A / np.linalg.norm(A, axis=0), np.append(y - y.mean(), np.zeros(3)))[0]
    assert ours.route_ == "qr"
    np.testing.assert_allclose(ours.coef_, oracle / np.linalg.norm(A, axis=0), rtol=1e-8)


def test_few_rows_and_constants_have_defined_answers():
    X, y = table(20, 3)
    one = Ridge().fit(X[:1], y[:1])
    assert one.intercept_ == y[0] and not one.coef_.any()
    flat = Ridge("held-out").fit(np.ones((20, 2)), y)
    assert not flat.coef_.any() and flat.intercept_ == pytest.approx(y.mean())
    same = Ridge("held-out").fit(X, np.full(20, 7.0))
    assert same.intercept_ == 7.0 and not same.coef_.any() and same.alpha_ == same.alphas_.max()
    large = Ridge("held-out").fit(X * 1e100, y * 1e100)
    np.testing.assert_allclose(large.coef_, Ridge("held-out").fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(80, 5), (20, 40)])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_price_for_each_target_is_that_price_for_that_target(n, d, weighted):
    X, Y = table(n, d, 3)
    w = np.random.default_rng(1).random(n) + 0.1 if weighted else None
    alphas = np.array([0.01, 3.0, 500.0])
    model, peer = Ridge(alphas).fit(X, Y, w), Peer(alpha=alphas).fit(X, Y, w)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-9, atol=1e-10)
    for k, alpha in enumerate(alphas):
        alone = Ridge(alpha).fit(X, Y[:, k], w)
        for name in ("coef_", "coef_std_errors_", "intercept_std_error_", "residual_sd_", "error_"):
            np.testing.assert_allclose(getattr(model, name)[k], getattr(alone, name), rtol=1e-9, err_msg=name)
        assert model.effective_degrees_[k] == pytest.approx(alone.effective_degrees_, rel=1e-10)
        assert str(model.table(target=k)) == str(alone.table())


def test_only_without_a_price_there_is_a_p():
    X, y = table(60, 4)
    found = Ridge(2.0).fit(X, y).table()
    assert np.isnan([found.p, found.low, found.high]).all() and np.isfinite(found.se).all()
    assert "penalised (alpha 2): coefficients are drawn towards zero" in found.notes[0]
    free, line = Ridge(0.0).fit(X, y), LeastSquares().fit(X, y).table()
    for name in ("estimate", "se", "statistic", "p", "low", "high"):
        np.testing.assert_allclose(getattr(free.table(), name), getattr(line, name), rtol=1e-6, err_msg=name)
    assert str(free.summary()).startswith("Ridge: 60 rows, alpha 0, worth 4 coefficients of 4")


def test_refusals_say_what_and_where():
    X, y = table(20, 3)
    for alpha in (-1.0, np.nan, np.inf, True, "best", None):
        with pytest.raises(
            ParameterError, match="alpha is a number of at least 0, one for each target, or 'held-out'; got"
        ):
            Ridge(alpha).fit(X, y)
    for alphas in ([], [1.0, -1.0], ["a"], [[1.0]], [np.nan]):
        with pytest.raises(ParameterError, match="alphas are numbers of at least 0"):
            Ridge("held-out", alphas=alphas).fit(X, y)
    with pytest.raises(DataError, match="30 folds need as many rows; there are 20"):
        Ridge("held-out", cv=30).fit(X, y)
    with pytest.raises(
        ParameterError, match=r"cv is a number of folds, a splitter, pairs of .* rows, or the fold of each of 20 rows"
    ):
        Ridge("held-out", cv=[1, 2, 3]).fit(X, y)
    with pytest.raises(DataError, match="at least 2 folds, each with rows of some weight"):
        Ridge("held-out", cv=np.zeros(20)).fit(X, y)
    wide, few = table(5, 9)
    wide[2, 7] = np.nan
    with pytest.raises(DataError, match="row 2, column 7 is missing"):
        Ridge().fit(wide, few)


def test_a_saved_model_answers_to_the_bit(tmp_path):
    X, y = table(30, 3)
    model = Ridge("held-out").fit(X, y)
    model.save(tmp_path / "ridge")
    back = assay.load(tmp_path / "ridge")
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    np.testing.assert_array_equal(back.path().coef, model.path().coef)
    np.testing.assert_array_equal(back.path().held_out_error, model.held_out_errors_)


def test_prices_that_are_no_match_for_the_targets_are_refused():
    X, Y = table(20, 3, 3)
    with pytest.raises(
        ParameterError, match="alpha holds 2 penalties and there are 3 targets: give one penalty, or one"
    ):
        Ridge([1.0, 2.0]).fit(X, Y)
    with pytest.raises(ParameterError, match=r"alpha are numbers of at least 0, \(k,\); got \[1.0, -2.0, 1.0\]"):
        Ridge([1.0, -2.0, 1.0]).fit(X, Y)

"""Least squares: its laws, the routes against each other and against scikit-learn, what is not determined, edges."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import assay
from assay import GroupedMoments, LeastSquares, Moments
from assay.errors import DataError, ParameterError

SHAPES = [(80, 5, "moments"), (25, 60, "dual"), (20, 20, "qr")]


def table(n, d, p=None, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 3.0
    shape = (d,) if p is None else (d, p)
    y = X @ rng.standard_normal(shape)
    return X, y + noise * rng.standard_normal(y.shape)


def ill_conditioned(n=120, gap=1e-4, seed=1):
    """Columns of which the last is the sum of the others but for a gap."""
    X, y = table(n, 4, seed=seed)
    last = X.sum(axis=1) + gap * np.random.default_rng(seed).standard_normal(n)
    return np.column_stack([X, last]), y


@pytest.mark.parametrize(("n", "d", "route"), SHAPES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("p", [None, 1, 3])
def test_every_route_agrees_with_scikit_learn(n, d, route, fit_intercept, weighted, p):
    X, y = table(n, d, p)
    w = np.random.default_rng(1).random(n) + 0.1 if weighted else None
    ours = LeastSquares(fit_intercept=fit_intercept).fit(X, y, w)
    peer = LinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    assert ours.route_ == route
    assert np.shape(ours.coef_) == np.shape(peer.coef_)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-9, atol=1e-9)
    assert ours.score(X, y) == pytest.approx(peer.score(X, y), abs=1e-10)


@given(st.integers(3, 30), st.integers(1, 30), st.integers(0, 2**31), st.booleans(), st.booleans())
@settings(max_examples=40)
def test_what_is_left_is_orthogonal_to_the_columns_and_squares_add_up(n, d, seed, fit_intercept, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    w = rng.random(n) + 0.1 if weighted else np.ones(n)
    model = LeastSquares(fit_intercept=fit_intercept).fit(X, y, w)
    off = y - model.predict(X)
    size = np.sqrt(w @ y**2)
    np.testing.assert_allclose(X.T @ (w * off), 0.0, atol=1e-7 * size)
    middle = w @ y / w.sum() if fit_intercept else 0.0
    assert model.total_ == pytest.approx(w @ (y - middle) ** 2, rel=1e-10)
    assert model.error_ == pytest.approx(w @ off**2, rel=1e-8, abs=1e-12 * size**2)
    assert model.explained_ == pytest.approx(w @ (model.predict(X) - middle) ** 2, rel=1e-8, abs=1e-12 * size**2)
    assert model.total_ == pytest.approx(model.explained_ + model.error_, rel=1e-9)


def test_r_squared_is_the_squared_canonical_correlation():
    X, y = table(100, 6, noise=4.0)
    pair = CCA(1, max_iter=5000, tol=1e-14).fit(X, y)
    u, v = pair.transform(X, y)
    assert LeastSquares().fit(X, y).r_squared_ == pytest.approx(np.corrcoef(u.ravel(), v.ravel())[0, 1] ** 2, rel=1e-9)


def test_one_column_has_the_errors_and_p_of_scipys_linregress():
    rng = np.random.default_rng(2)
    x = rng.standard_normal(30)
    y = 0.3 * x + rng.standard_normal(30)
    oracle = stats.linregress(x, y)
    found = LeastSquares().fit(x[:, None], y).table()
    assert found.names == ("intercept", "column 0")
    np.testing.assert_allclose(found.estimate, [oracle.intercept, oracle.slope], rtol=1e-12)
    np.testing.assert_allclose(found.se, [oracle.intercept_stderr, oracle.stderr], rtol=1e-12)
    assert found.p[1] == pytest.approx(oracle.pvalue, rel=1e-10)


def test_errors_and_intervals_cover_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(3)
    draws, X, truth = 400, rng.standard_normal((40, 3)) * [1.0, 5.0, 0.1], np.array([1.0, -2.0, 3.0])
    new = np.array([[2.0, 1.0, 0.3]])
    Y = (4.0 + X @ truth)[:, None] + rng.standard_normal((40, draws))
    model = LeastSquares().fit(X, Y)  # as many targets as draws
    tables = [model.table(0.9, target=k) for k in range(draws)]
    inside = [(found.low <= [4.0, *truth]) & ([4.0, *truth] <= found.high) for found in tables]
    # five standard deviations of that many draws
    np.testing.assert_allclose(np.mean(inside, axis=0), 0.9, atol=0.075)
    low, high = model.predict_interval(new, 0.9)
    seen = 4.0 + new @ truth + rng.standard_normal((1, draws))
    assert np.mean((low <= seen) & (seen <= high)) == pytest.approx(0.9, abs=0.075)


def test_the_published_diabetes_errors_are_found():
    X, y = load_diabetes(return_X_y=True)
    A = np.column_stack([np.ones(len(y)), X])
    model = LeastSquares().fit(X, y)
    # the textbook formula, by an inverse that these columns allow
    sd = np.sqrt(np.sum((y - model.predict(X)) ** 2) / (len(y) - 11))
    np.testing.assert_allclose(model.table().se, sd * np.sqrt(np.diag(np.linalg.inv(A.T @ A))), rtol=1e-8)
    assert model.residual_sd_ == pytest.approx(54.15, abs=0.01)  # Efron, Hastie, Johnstone & Tibshirani 2004
    _, spread = model.predict(X, return_std=True)
    leverage = np.einsum("ij,jk,ik->i", A, np.linalg.inv(A.T @ A), A)
    np.testing.assert_allclose(spread, sd * np.sqrt(1.0 + leverage), rtol=1e-8)


KINDS = ["classical", "HC0", "HC1", "HC2", "HC3"]
INFERENCE = ("coef_std_errors_", "intercept_std_error_", "f_statistic_", "f_p_", "adjusted_r_squared_", "aic_", "bic_")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_frequency_is_the_row_that_often_whatever_the_errors(kind, fit_intercept):
    X, y = table(40, 3, noise=2.0)
    times = np.random.default_rng(1).integers(0, 4, 40)
    model = LeastSquares(covariance=kind, fit_intercept=fit_intercept)
    once, often = clone(model).fit(X, y, times), clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    for name in (*INFERENCE, "log_likelihood_", "freedom_", "residual_sd_"):
        np.testing.assert_allclose(getattr(once, name), getattr(often, name), rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_only_ratios_of_precisions_matter_for_errors(kind):
    X, y = table(40, 3, noise=2.0)
    w = np.random.default_rng(1).random(40) + 0.1
    w[:3] = 0.0  # no row at all
    model = LeastSquares(covariance=kind, weights="precision")
    one, other = clone(model).fit(X, y, w), clone(model).fit(X[3:], y[3:], 1e5 * w[3:])
    for name in (*INFERENCE[:5], "freedom_", "log_likelihood_"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, err_msg=name)
    equal = clone(model).fit(X, y, np.ones(40))
    assert str(equal.summary()) == str(clone(model).set_params(weights="frequency").fit(X, y).summary())


def test_errors_that_grow_with_a_column_are_covered_by_hc3_and_not_by_classical_intervals():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((80, 1))
    Y = x + x**2 * rng.standard_normal((80, 400))  # as many targets as draws
    share = {}
    for kind in ("classical", "HC3"):
        model = LeastSquares(covariance=kind).fit(x, Y)
        tables = [model.table(target=k) for k in range(400)]
        share[kind] = np.mean([found.low[1] <= 1.0 <= found.high[1] for found in tables])
    # of 95%: HC3 within five standard deviations of 400 draws, classical far below
    assert share["classical"] < 0.8 and share["HC3"] == pytest.approx(0.95, abs=5 * np.sqrt(0.95 * 0.05 / 400))


def test_f_of_one_column_is_its_squared_t():
    X, y = table(50, 1, noise=9.0)
    for kind in KINDS:
        model = LeastSquares(covariance=kind).fit(X, y)
        assert model.f_statistic_ == pytest.approx(model.table().statistic[1] ** 2, rel=1e-9)
        assert model.f_p_ == pytest.approx(model.table().p[1], rel=1e-8)


def test_own_variances_of_a_source_and_of_sparse_rows_are_those_of_the_array():
    X, y = table(300, 3)
    X[np.abs(X) < 2.0] = 0.0
    model = LeastSquares(covariance="HC2")
    plain = clone(model).fit(X, y).coef_std_errors_
    np.testing.assert_allclose(clone(model).fit(csr_array(X), y).coef_std_errors_, plain, rtol=1e-9)
    source = assay.read(pd.DataFrame(X, columns=list("abc")).assign(y=y))
    np.testing.assert_allclose(clone(model).fit(source, "y").coef_std_errors_, plain, rtol=1e-9)


def test_a_row_with_its_own_column_leaves_hc3_undefined_and_says_so():
    X, y = table(30, 2)
    X = np.column_stack([X, np.eye(30)[0]])
    found = LeastSquares(covariance="HC3").fit(X, y).table()
    assert np.isnan(found.se).all() and "determines its own prediction (leverage 1)" in found.notes[0]
    assert np.isfinite(LeastSquares(covariance="HC1").fit(X, y).table().se).all()


def test_one_weight_is_that_of_every_row():
    X, y = table(30, 2)
    assert LeastSquares().fit(X, y, 2.0).freedom_ == 57.0
    np.testing.assert_allclose(LeastSquares().fit(X, y, 2.0).coef_, LeastSquares().fit(X, y).coef_, rtol=1e-9)


def test_what_needs_rows_or_equal_variances_is_refused_without():
    X, y = table(30, 2)
    m = Moments.of(np.column_stack([X, y]))
    with pytest.raises(ParameterError, match="'HC3' needs what is left of each row, which a summary does not hold"):
        LeastSquares(covariance="HC3").fit_moments(m, 2)
    with pytest.raises(ParameterError, match="with covariance='HC0' every row has an error of its own size"):
        LeastSquares(covariance="HC0").fit(X, y).predict(X, return_std=True)
    with pytest.raises(ParameterError, match="covariance is one of 'classical', 'HC0', .*; got 'white'"):
        LeastSquares(covariance="white").fit(X, y)
    with pytest.raises(ParameterError, match="weights is 'frequency' or 'precision'; got 'analytic'"):
        LeastSquares(weights="analytic").fit(X, y)
    known = LeastSquares(weights="precision").fit_moments(m, 2)
    assert np.isnan(known.aic_) and known.f_statistic_ == pytest.approx(LeastSquares().fit(X, y).f_statistic_, rel=1e-9)


def test_the_route_is_decided_by_the_condition_number():
    X, y = table(120, 4)
    easy, hard = LeastSquares().fit(X, y), LeastSquares().fit(*ill_conditioned())
    assert (easy.route_, hard.route_) == ("moments", "qr")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert easy.condition_ == pytest.approx(np.linalg.cond(Z), rel=1e-10)
    assert hard.condition_ > 100.0
    # units are no matter of conditioning
    assert LeastSquares().fit(X * [1.0, 1e9, 1e-9, 1.0], y).route_ == "moments"


@pytest.mark.parametrize("n", [120, 170_000])  # refined to the last digit, and by the triangle of the rows
def test_digits_that_products_would_lose_are_kept(n):
    X, _ = ill_conditioned(n, gap=1e-7)
    coef = np.arange(1.0, 6.0)
    X = np.round(X * 2**30) / 2**30
    model = LeastSquares().fit(X, X @ coef)
    assert model.route_ == "qr"
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-6)


@pytest.mark.parametrize("n", [100, 60_000])
def test_a_shift_of_1e8_moves_only_the_intercept(n):
    shift = 1e8
    X, y = table(n, 3)
    X = np.round(X * 256) / 256  # exact after the shift
    near, far = LeastSquares().fit(X, y), LeastSquares().fit(X + shift, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-9)
    np.testing.assert_allclose(far.coef_std_errors_, near.coef_std_errors_, rtol=1e-9)
    assert far.intercept_ == pytest.approx(near.intercept_ - shift * near.coef_.sum(), rel=1e-9)
    assert far.error_ == pytest.approx(near.error_, rel=1e-9)


def test_an_error_far_below_the_target_keeps_its_digits():
    rng = np.random.default_rng(4)
    X, off = rng.standard_normal((50_000, 2)), 1e-7 * rng.standard_normal(50_000)
    model = LeastSquares().fit(X, X @ [3.0, 4.0] + off)
    assert model.route_ == "moments"
    A = np.column_stack([np.ones(len(X)), X])
    left = off - A @ np.linalg.lstsq(A, off)[0]
    assert model.error_ == pytest.approx(left @ left, rel=1e-7)


def test_dependent_columns_get_the_shortest_solution_and_are_named():
    X, y = table(60, 3)
    frame = pd.DataFrame(np.column_stack([X, X[:, 0] - 2 * X[:, 1]]), columns=["a", "b", "c", "d"])
    model = LeastSquares().fit(frame, y)
    assert model.rank_ == 3
    np.testing.assert_array_equal(model.undetermined_, [0, 1, 3])
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(frame, y).coef_, rtol=1e-10)
    assert "(rank 3): the shortest of all solutions is given; not determined are the coefficients of a, b, d" in str(
        model.table()
    )
    np.testing.assert_array_equal(np.isinf(model.coef_std_errors_), [True, True, False, True])
    # what the rows do determine is as if the column were not there
    fewer = LeastSquares().fit(frame[["a", "b", "c"]], y)
    assert model.coef_std_errors_[2] == pytest.approx(fewer.coef_std_errors_[2], rel=1e-9)
    assert model.residual_sd_ == pytest.approx(fewer.residual_sd_, rel=1e-10)
    assert model.intercept_std_error_ == pytest.approx(fewer.intercept_std_error_, rel=1e-9)


def test_predictions_are_as_sure_as_the_dependence_allows():
    X, y = table(60, 2)
    both = np.column_stack([X, X.sum(axis=1)])
    model, plain = LeastSquares().fit(both, y), LeastSquares().fit(X, y)
    middle, spread = model.predict(np.vstack([both[:5], both[:1] + np.array([0.0, 0.0, 1.0])]), return_std=True)
    np.testing.assert_allclose(middle[:5], plain.predict(X[:5]), rtol=1e-10)
    np.testing.assert_allclose(spread[:5], plain.predict(X[:5], return_std=True)[1], rtol=1e-8)
    assert np.isinf(spread[5])  # breaks the relation that all fitted rows obey


def test_the_levels_of_a_category_are_no_obstacle():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"town": rng.choice(["Oslo", "Rome", "Bern"], 90), "x": rng.standard_normal(90)})
    frame["y"] = frame["x"] + (frame["town"] == "Rome") * 2.0 + 0.1 * rng.standard_normal(90)
    source = assay.read(frame)
    model = LeastSquares().fit(source, "y")
    assert model.rank_ == 3 and len(model.coef_) == 4
    spread = model.predict(source, return_std=True)[1]
    assert (spread < 0.2).all()
    assert model.table().se[-1] < 0.05


@pytest.mark.parametrize("gap", [1.0, 1e-5])
def test_a_source_is_fitted_block_by_block_to_the_same_solution(gap):
    X, y = ill_conditioned(gap=gap)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(price=y)
    ours, direct = LeastSquares().fit(assay.read(frame), "price"), LeastSquares().fit(X, y)
    np.testing.assert_allclose(ours.coef_, direct.coef_, rtol=1e-12)
    assert (ours.target_, ours.route_) == ("price", direct.route_)
    np.testing.assert_allclose(ours.predict(assay.read(frame)), direct.predict(X), rtol=1e-10)


def test_a_summary_gives_the_same_line_however_it_was_gathered():
    X, Y = table(200, 4, 2)
    both = np.column_stack([Y[:, 0], X, Y[:, 1]])
    names = ["u", "a", "b", "c", "d", "v"]
    merged = Moments.of(both[:70], columns=names) + Moments.of(both[70:], columns=names)
    found, direct = LeastSquares().fit_moments(merged, ["u", "v"]), LeastSquares().fit(X, Y)
    np.testing.assert_allclose(found.coef_, direct.coef_, rtol=1e-11)
    np.testing.assert_allclose(found.coef_std_errors_, direct.coef_std_errors_, rtol=1e-10)
    np.testing.assert_allclose(found.intercept_, direct.intercept_, rtol=1e-10)
    assert list(found.feature_names_in_) == ["a", "b", "c", "d"]
    hospitals = GroupedMoments.of(both, np.arange(200) % 3)
    single = LeastSquares().fit_moments(hospitals, 0)
    np.testing.assert_allclose(single.coef_[:4], LeastSquares().fit(both[:, 1:], both[:, 0]).coef_[:4], rtol=1e-10)


def test_a_summary_that_has_lost_digits_says_so():
    X, y = ill_conditioned()
    with pytest.warns(UserWarning, match=r"condition number .*: from a summary about . digits .* Fit from the rows"):
        LeastSquares().fit_moments(Moments.of(np.column_stack([X, y])), 5)
    exact = np.column_stack([X[:, :4], X[:, :4] @ np.ones(4)])
    with pytest.warns(UserWarning, match="the fit is nearly exact .* Fit from the rows"):
        model = LeastSquares().fit_moments(Moments.of(exact), 4)
    assert "nearly exact" in model.notes_[0]


def test_weights_count_rows():
    X, y = table(40, 3)
    times = np.random.default_rng(6).integers(0, 4, 40)
    weighted, repeated = LeastSquares().fit(X, y, times), LeastSquares().fit(*(np.repeat(a, times, 0) for a in (X, y)))
    for name in ("coef_", "coef_std_errors_", "intercept_", "residual_sd_", "total_", "freedom_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-9, err_msg=name)


def test_sparse_and_float32_rows_are_taken():
    X, y = table(50, 4)
    X[X < 3.0] = 0.0
    direct = LeastSquares().fit(X, y)
    np.testing.assert_allclose(LeastSquares().fit(csr_array(X), y).coef_, direct.coef_, rtol=1e-12)
    np.testing.assert_allclose(direct.predict(csr_array(X)), direct.predict(X), rtol=1e-12)
    np.testing.assert_allclose(LeastSquares().fit(X.astype(np.float32), y).coef_, direct.coef_, rtol=1e-5)


def test_few_rows_and_constants_have_defined_answers():
    X, y = table(3, 2)
    exact = LeastSquares().fit(X, y)  # three rows, three numbers to be found
    np.testing.assert_allclose(exact.predict(X), y, rtol=1e-10)
    assert np.isnan(exact.residual_sd_) and np.isnan(exact.table().p).all()
    with pytest.raises(DataError, match="3 rows leave no freedom beside 2 columns; more rows are needed"):
        exact.predict(X, return_std=True)
    one = LeastSquares().fit(X[:1], y[:1])
    assert one.rank_ == 0 and one.intercept_ == y[0] and not one.coef_.any()
    flat = LeastSquares().fit(np.ones((20, 2)), np.arange(20.0))
    assert flat.rank_ == 0 and flat.intercept_ == pytest.approx(9.5) and np.isinf(flat.coef_std_errors_).all()
    same = LeastSquares().fit(table(20, 2)[0], np.full(20, 7.0))
    assert same.intercept_ == 7.0 and same.r_squared_ == 0.0 and same.error_ == 0.0
    wide = LeastSquares().fit(*table(4, 9))
    assert wide.rank_ == 3 and np.isinf(wide.coef_std_errors_).all()
    assert "4 rows cannot determine 9 coefficients" in wide.notes_[0]
    twice = LeastSquares().fit(*(np.concatenate([a, a]) for a in table(10, 30)))
    assert (twice.rank_, twice.route_) == (9, "qr")


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_large_and_small_numbers_within_range_are_fitted(scale):
    X, y = table(30, 3)
    plain, scaled = LeastSquares().fit(X, y), LeastSquares().fit(X * scale, y * scale)
    np.testing.assert_allclose(scaled.coef_, plain.coef_, rtol=1e-12)
    np.testing.assert_allclose(scaled.coef_std_errors_, plain.coef_std_errors_, rtol=1e-12)


def test_refusals_say_what_and_where():
    X, y = table(20, 3)
    bad = X.copy()
    bad[4, 1] = np.nan
    with pytest.raises(DataError, match=r"row 4, column 1 is missing \(NaN\).*assay.FillMissing"):
        LeastSquares().fit(bad, y)
    with pytest.raises(DataError, match="column 0 runs from .* leave the range"):
        LeastSquares().fit(X * 1e300, y)
    with pytest.raises(DataError, match="column 'target' runs from .* leave the range"):
        LeastSquares().fit(X, y * 1e300)
    with pytest.raises(DataError, match="every weight is zero"):
        LeastSquares().fit(X, y, np.zeros(20))
    with pytest.raises(ParameterError, match="weights are finite and not negative; the weight of row 0 is -1"):
        LeastSquares().fit(X, y, -np.ones(20))
    with pytest.raises(ParameterError, match=r"target \[0, 1\] leaves 0 of 2 columns to predict it from"):
        LeastSquares().fit_moments(Moments.of(X[:, :2]), [0, 1])
    with pytest.raises(DataError, match="the summary has no rows"):
        LeastSquares().fit_moments(Moments.empty(3), 0)
    with pytest.raises(ParameterError, match="confidence is a share between 0 and 1; got 95"):
        LeastSquares().fit(X, y).table(95)
    with pytest.raises(ParameterError, match="confidence is a share between 0 and 1; got 0"):
        LeastSquares().fit(X, y).predict_interval(X, 0)


def test_a_saved_model_answers_to_the_bit(tmp_path):
    frame = pd.DataFrame(table(30, 3)[0], columns=["a", "b", "<c>"])
    model = LeastSquares().fit(frame, table(30, 3, 2)[1])
    model.save(tmp_path / "line")
    back = assay.load(tmp_path / "line")
    for a, b in zip(back.predict(frame, return_std=True), model.predict(frame, return_std=True), strict=True):
        np.testing.assert_array_equal(a, b)
    assert str(back.table(target=1)) == str(model.table(target=1))

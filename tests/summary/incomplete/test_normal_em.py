"""Mean and covariance with missing values: monotone, at the maximum, closer to the truth; however the rows are cut."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

from assay import PCA, Moments
from assay.data.source import ArrowSource
from assay.errors import DataError, NotConverged, ParameterError, SingularError
from assay.linalg.normal.multivariate_normal import MultivariateNormal
from assay.summary.incomplete import expectation
from assay.summary.incomplete.missing_patterns import Observed
from assay.summary.incomplete.normal_em import normal_em

SEEDS = st.integers(0, 2**32 - 1)


def correlated(n, d, seed=0, factors=2):
    """Rows of a factor model, and their true covariance."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((d, factors))
    X = rng.standard_normal((n, factors)) @ B.T + 0.6 * rng.standard_normal((n, d)) + 5.0
    return X, B @ B.T + 0.36 * np.eye(d)


def with_gaps(X, share, seed=0):
    Y = X.copy()
    Y[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return Y


def log_likelihood(X, mean, covariance):
    """Of the observed values, row by row, by SciPy."""
    total = 0.0
    for row in X:
        o = np.flatnonzero(~np.isnan(row))
        if o.size:
            total += multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(row[o])
    return total


@given(st.integers(2, 60), st.integers(1, 6), st.floats(0.0, 0.8), SEEDS)
def test_the_objective_never_falls(n, d, share, seed):
    X = with_gaps(correlated(n, d, seed)[0], share, seed)
    X[0] = 1.0
    X[1] = -np.arange(d)  # no column is empty or constant
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        found = normal_em(X, max_iter=60)
    assert np.diff(found.objective).min(initial=0.0) >= 0.0
    assert found.converged or found.n_iter == 60, "ended by a fall beyond rounding"


@pytest.mark.parametrize("ridge", [0.0, 1e-3])
def test_plain_steps_on_ordinary_data_raise_the_likelihood_strictly(ridge):
    X = with_gaps(correlated(300, 6)[0], 0.3)
    found = normal_em(X, ridge=ridge, tol=1e-9)
    assert found.converged and (np.diff(found.objective)[:5] > 0).all()
    if ridge == 0.0:
        np.testing.assert_array_equal(found.objective, found.log_likelihood)


def test_the_likelihood_told_is_that_of_the_estimate():
    X = with_gaps(correlated(80, 4)[0], 0.3)
    X[5] = np.nan
    X = X * [1.0, 10.0, 0.1, 7.0]
    found = normal_em(X)
    assert found.log_likelihood[-1] == pytest.approx(log_likelihood(X, found.mean, found.covariance), rel=1e-9)


def test_without_gaps_one_step_gives_the_maximum_likelihood_estimate():
    X = correlated(50, 5)[0]
    found = normal_em(X, ridge=0.0)
    assert found.n_iter == 1 and found.converged and found.patterns == 1
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(found.covariance, np.cov(X.T, bias=True), rtol=1e-11)
    assert found.log_likelihood[-1] == pytest.approx(MultivariateNormal.mle(X).log_density(X).sum(), rel=1e-12)
    np.testing.assert_allclose(normal_em(X).covariance, np.cov(X.T, bias=True), rtol=1e-7)
    whole = Moments.of(X)
    np.testing.assert_allclose(found.moments.scatter, whole.scatter, rtol=1e-11)
    assert found.moments.count == whole.count and found.moments.weight == whole.weight


def test_two_columns_of_which_one_has_gaps_have_the_closed_form():
    # Anderson 1957: the likelihood factors into that of x and that of y given x
    rng = np.random.default_rng(3)
    x = rng.standard_normal(60)
    y = 2.0 * x + rng.standard_normal(60) + 1.0
    seen = x < 0.4  # missing at random: whether y is there depends on x
    X = np.column_stack([x, np.where(seen, y, np.nan)])
    slope = np.cov(x[seen], y[seen], bias=True)[0, 1] / x[seen].var()
    rest = y[seen].var() - slope**2 * x[seen].var()
    mean = [x.mean(), y[seen].mean() + slope * (x.mean() - x[seen].mean())]
    covariance = [[x.var(), slope * x.var()], [slope * x.var(), rest + slope**2 * x.var()]]
    found = normal_em(X, tol=1e-14, ridge=0.0)
    # EM ends where the likelihood, a sum over the rows, no longer rises by more than its rounding; there a parameter is
    # within root(2 rounding) of its standard errors
    away = np.sqrt(2 * len(X) * np.finfo(float).eps * np.abs(found.log_likelihood[-1]))
    spread = np.sqrt(np.diag(covariance))
    assert (np.abs(found.mean - mean) <= away * spread).all()  # standard errors are below the spread
    assert (np.abs(found.covariance - covariance) <= away * np.outer(spread, spread)).all()


def test_no_optimiser_finds_a_higher_likelihood():
    X = with_gaps(correlated(30, 3, seed=2)[0], 0.25, seed=2)
    found = normal_em(X, tol=1e-13, ridge=0.0)
    lower = np.tril_indices(3)

    def negative(p):
        L = np.zeros((3, 3))
        L[lower] = p[3:]
        return -log_likelihood(X, p[:3], L @ L.T + 1e-12 * np.eye(3))

    start = np.concatenate([np.nanmean(X, axis=0), np.diag(np.nanstd(X, axis=0))[lower]])
    best = minimize(negative, start, method="BFGS", options={"gtol": 1e-6})
    L = np.zeros((3, 3))
    L[lower] = best.x[3:]
    assert found.log_likelihood[-1] >= -best.fun - 1e-6
    np.testing.assert_allclose(found.mean, best.x[:3], rtol=1e-4)
    np.testing.assert_allclose(found.covariance, L @ L.T, rtol=1e-3)


def test_with_a_fifth_missing_it_is_closer_to_the_truth_than_mean_imputation_and_than_complete_rows():
    errors = {"em": [], "mean": [], "complete": []}
    for seed in range(6):
        X, truth = correlated(400, 8, seed)
        Y = with_gaps(X, 0.2, seed)
        filled = np.where(np.isnan(Y), np.nanmean(Y, axis=0), Y)
        complete = Y[~np.isnan(Y).any(axis=1)]
        for name, S in (("em", normal_em(Y).covariance), ("mean", np.cov(filled.T)), ("complete", np.cov(complete.T))):
            errors[name].append(np.linalg.norm(S - truth))
    em, mean, complete = (np.mean(errors[name]) for name in ("em", "mean", "complete"))
    assert em < 0.75 * mean and em < 0.75 * complete


def test_what_is_missing_at_random_does_not_bias_the_mean():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(4000)
    y = x + 0.3 * rng.standard_normal(4000)
    y[x > 0.5] = np.nan
    found = normal_em(np.column_stack([x, y]))
    assert np.nanmean(y) < -0.3  # what is left says
    assert abs(found.mean[1]) < 0.06
    assert abs(found.covariance[1, 1] - 1.09) < 0.12


def test_rows_without_any_value_are_counted_and_change_nothing():
    X = with_gaps(correlated(100, 4)[0], 0.2)
    Y = np.insert(X, [0, 50, 50], np.nan, axis=0)
    with_them, without = normal_em(Y), normal_em(X)
    whole = np.flatnonzero(np.isnan(Y).all(axis=1))
    assert with_them.wholly_missing == len(whole) >= 3
    assert with_them.wholly_missing_rows == tuple(whole)
    assert with_them.n_rows == 103 and with_them.moments.count == 103 - len(whole)
    np.testing.assert_array_equal(with_them.covariance, without.covariance)
    np.testing.assert_array_equal(with_them.missing, np.isnan(Y).sum(axis=0))


def test_blocks_may_be_empty_or_hold_no_value():
    X = with_gaps(correlated(100, 4)[0], 0.2)
    cut = normal_em([np.empty((0, 4)), np.full((3, 4), np.nan), X[:60], np.full((2, 4), np.nan), X[60:]])
    np.testing.assert_allclose(cut.covariance, normal_em(X).covariance, rtol=1e-9)
    first = tuple(3 + np.flatnonzero(np.isnan(X[:60]).all(axis=1)))
    assert cut.wholly_missing_rows[: 5 + len(first)] == (0, 1, 2, *first, 63, 64)


@given(SEEDS)
@settings(max_examples=15)
def test_columns_and_rows_may_come_in_any_order_and_units(seed):
    rng = np.random.default_rng(seed)
    X = with_gaps(correlated(60, 4, seed)[0], 0.25, seed)
    columns, rows = rng.permutation(4), rng.permutation(60)
    scale, shift = 10.0 ** rng.integers(-6, 6, 4), 10.0 ** rng.integers(-6, 3, 4)
    plain, moved = normal_em(X, tol=1e-11), normal_em((X * scale + shift)[rows][:, columns], tol=1e-11)
    back = np.argsort(columns)
    np.testing.assert_allclose(moved.mean[back], plain.mean * scale + shift, rtol=1e-5)
    S = moved.covariance[np.ix_(back, back)] / scale / scale[:, None]
    np.testing.assert_allclose(S, plain.covariance, atol=1e-4 * np.abs(plain.covariance).max())


def test_a_shift_of_1e8_moves_only_the_mean():
    X = with_gaps(np.round(correlated(200, 5)[0] * 256) / 256, 0.2)
    near, far = normal_em(X), normal_em(X + 1e8)
    np.testing.assert_allclose(far.mean, near.mean + 1e8, rtol=1e-15)
    np.testing.assert_allclose(far.covariance, near.covariance, rtol=1e-8)


def test_units_of_1e150_and_1e_minus_150_are_fine_and_beyond_them_refused():
    X = with_gaps(correlated(50, 3)[0], 0.2)
    scale = np.array([1e-148, 1.0, 1e148])
    near, far = normal_em(X), normal_em(X * scale)
    np.testing.assert_allclose(far.covariance / scale / scale[:, None], near.covariance, rtol=1e-8)
    for extreme in (1e-160, 1e160):
        with pytest.raises(DataError, match=r"column 1 runs from .* leave the range of floating point numbers"):
            normal_em(X * [1.0, extreme, 1.0])


def test_threads_do_not_change_a_bit_and_blocks_only_rounding():
    X = with_gaps(correlated(9000, 5)[0], 0.2)
    one, many = normal_em(X, threads=1), normal_em(X, threads=3)
    np.testing.assert_array_equal(one.covariance, many.covariance)
    np.testing.assert_array_equal(one.objective, many.objective)
    blocks = normal_em([X[:10], X[10:4000], X[4000:]])
    np.testing.assert_allclose(blocks.covariance, one.covariance, rtol=1e-9)
    assert blocks.n_iter == one.n_iter


@pytest.mark.parametrize(("moments", "rows"), [(0, 0), (0, 1 << 25), (1 << 24, 0)])
def test_rows_read_anew_in_each_step_give_the_same_as_rows_held(monkeypatch, moments, rows):
    X = with_gaps(correlated(500, 4)[0], 0.3)
    X[:200, 1:] = np.nan  # a frequent pattern, and rare ones
    held = normal_em(X)
    monkeypatch.setattr(expectation, "_HELD_MOMENTS", moments)
    monkeypatch.setattr(expectation, "_HELD_ROWS", rows)
    found = normal_em([X[:100], X[100:]])
    np.testing.assert_allclose(found.covariance, held.covariance, rtol=1e-9)
    np.testing.assert_allclose(found.log_likelihood, held.log_likelihood, rtol=1e-11)


def test_sources_and_frames_bring_their_names():
    X = with_gaps(correlated(60, 3)[0], 0.2)
    frame = pl.DataFrame({name: [None if np.isnan(v) else v for v in X[:, i]] for i, name in enumerate("abc")})
    source = ArrowSource(frame.to_arrow())
    for data in (frame, source):
        found = normal_em(data)
        assert found.moments.columns == ("a", "b", "c")
        np.testing.assert_allclose(found.covariance, normal_em(X).covariance, rtol=1e-12)


def test_any_model_of_moments_fits_from_rows_with_gaps():
    X, truth = correlated(3000, 6)
    axes = PCA(2).fit_moments(normal_em(with_gaps(X, 0.2)).moments).components_
    top = np.linalg.eigh(truth)[1][:, -2:]
    assert np.linalg.norm(axes @ top, 2) > 0.99 and np.linalg.svd(axes @ top)[1].min() > 0.99


def test_constant_columns_keep_their_value_and_no_variance():
    X = with_gaps(correlated(60, 3)[0], 0.2)
    X = np.column_stack([X[:, :1], np.full(60, 0.1), X[:, 1:], np.full(60, np.nan)])
    X[4, -1] = 7.0  # observed once
    found = normal_em(X)
    assert found.mean[1] == 0.1 and found.mean[4] == 7.0
    np.testing.assert_array_equal(found.covariance[[1, 4]], 0.0)
    np.testing.assert_allclose(found.covariance[np.ix_([0, 2, 3], [0, 2, 3])], normal_em(X[:, [0, 2, 3]]).covariance)
    filled = found.normal.conditional_mean(X)
    assert (filled[:, 1] == 0.1).all() and (filled[:, 4] == 7.0).all()


def test_one_row_and_equal_rows_are_a_point():
    for X in ([[1.0, 2.0]], [[1.0, np.nan], [1.0, 2.0], [np.nan, np.nan]]):
        found = normal_em(X)
        assert found.converged and found.n_iter == 0
        np.testing.assert_array_equal(found.mean, [1.0, 2.0])
        np.testing.assert_array_equal(found.covariance, 0.0)
    assert found.moments.count == 2 and found.wholly_missing_rows == (2,)


def test_duplicated_columns_fill_each_other_and_need_a_ridge():
    X = correlated(80, 2)[0]
    X = np.column_stack([X, X[:, 0]])
    Y = X.copy()
    Y[:30, 0] = np.nan
    found = normal_em(Y)
    assert found.converged and np.diff(found.objective).min() >= 0.0
    np.testing.assert_allclose(found.normal.conditional_mean(Y), X, atol=1e-5)
    with pytest.raises(SingularError, match="becomes singular: columns depend .* give a ridge such as 1e-8"):
        normal_em(Y, ridge=0.0)


@pytest.mark.parametrize(("n", "d"), [(12, 10), (15, 30)])
def test_fewer_complete_rows_than_columns_are_enough_with_a_ridge(n, d):
    X = with_gaps(correlated(n, d)[0], 0.2)
    assert (~np.isnan(X).any(axis=1)).sum() < d
    found = normal_em(X, ridge=0.1)
    assert found.converged and np.diff(found.objective).min() >= 0.0
    assert np.linalg.eigvalsh(found.covariance).min() > 0


def test_a_ridge_is_a_share_of_the_variance_added():
    X = correlated(40, 3)[0] * [1.0, 10.0, 100.0]
    S = np.cov(X.T, bias=True)
    np.testing.assert_allclose(normal_em(X, ridge=0.1).covariance, S + 0.1 * np.diag(np.diag(S)), rtol=1e-10)


def test_an_infinite_ridge_leaves_means_and_variances():
    X = with_gaps(correlated(60, 4)[0], 0.2)
    found = normal_em(X, ridge=np.inf)
    np.testing.assert_allclose(found.mean, np.nanmean(X, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.covariance, np.diag(np.nanvar(X, axis=0)), rtol=1e-12)
    density = norm.logpdf(X, found.mean, np.sqrt(np.diag(found.covariance)))
    np.testing.assert_allclose(found.log_likelihood, [np.nansum(density)], rtol=1e-10)
    np.testing.assert_allclose(found.moments.scatter, 60 * found.covariance, rtol=1e-12)


def test_beginning_at_the_end_ends_at_once():
    X = with_gaps(correlated(200, 5)[0], 0.4)
    cold = normal_em(X, tol=1e-10)
    warm = normal_em(X, tol=1e-10, start=cold.normal)
    assert warm.n_iter < cold.n_iter
    np.testing.assert_allclose(warm.covariance, cold.covariance, rtol=1e-4)


def test_what_is_not_done_in_time_is_said():
    X = with_gaps(correlated(100, 6)[0], 0.5)
    with pytest.warns(NotConverged, match=r"EM stopped after 3 steps with .* still to be gained \(tol=1e-06\): raise"):
        found = normal_em(X, max_iter=3)
    assert not found.converged and found.n_iter == 3
    assert found.log_likelihood[-1] == pytest.approx(log_likelihood(X, found.mean, found.covariance), rel=1e-9)
    with pytest.warns(NotConverged, match="with an unknown amount of"):
        normal_em(X, max_iter=1)


def test_progress_is_told_each_step_and_may_stop():
    X = with_gaps(correlated(100, 3)[0], 0.3)
    told = []
    found = normal_em(X, progress=told.append)
    assert told == sorted(told) and told[0] == 1 and told[-1] == found.n_iter

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        normal_em(X, progress=stop)


class Growing:
    """Rows that are more in each pass."""

    def __init__(self):
        self.passes = 0

    def __iter__(self):
        self.passes += 1
        return iter([correlated(10 + self.passes, 2)[0]])


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        ([[1.0, np.nan], [2.0, np.nan]], {"columns": ["a", "b"]}, DataError, "column 'b' has no value in any of the 2"),
        ([[1.0, np.nan], [2.0, np.inf]], {"columns": ["a", "b"]}, DataError, "row 1, column 'b' is infinite: only"),
        (iter([np.ones((2, 2))]), {}, DataError, "a one-way iterator can be read only once"),
        (Growing(), {}, DataError, "the data have 12 rows in this pass and had 11 in the one before"),
        ([np.ones((2, 2)), np.ones((2, 3))], {}, DataError, "blocks of 2 and of 3 columns cannot be combined"),
        (np.ones((0, 2)), {}, DataError, "there is nothing to summarise"),
        (np.eye(2), {"max_iter": 0}, ParameterError, "max_iter is a whole number of steps, at least 1; got 0"),
        (np.eye(2), {"tol": -1.0}, ParameterError, "tol is a number >= 0; got -1.0"),
        (np.eye(2), {"ridge": np.nan}, ParameterError, "ridge is a number >= 0; got nan"),
        (np.eye(2), {"start": MultivariateNormal([0.0], [[1.0]])}, ParameterError, "it has 1"),
    ],
)
def test_what_cannot_be_estimated_is_refused(data, options, error, message):
    with pytest.raises(error) as caught:
        normal_em(data, **options)
    assert message in str(caught.value)


@given(st.lists(st.integers(1, 20), min_size=2, max_size=4), SEEDS)
@settings(max_examples=25)
def test_what_is_observed_merges_to_the_same(sizes, seed):
    X = with_gaps(correlated(sum(sizes), 3, seed)[0], 0.4, seed)
    X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, 0.3)
    parts = Observed.of(np.split(X, np.cumsum(sizes)[:-1]))
    assert parts.rows == len(X) and sum(parts.patterns.values()) == len(X)
    np.testing.assert_array_equal(parts.missing, np.isnan(X).sum(axis=0))
    assert parts.wholly_missing_rows == tuple(np.flatnonzero(np.isnan(X).all(axis=1)))
    for j in range(3):
        column = X[~np.isnan(X[:, j]), j]
        if column.size:
            assert parts.mean[j] == pytest.approx(column.mean(), rel=1e-13)
            assert parts.spread[j] == pytest.approx(column.std(), rel=1e-11, abs=1e-15)
            assert (parts.low[j], parts.high[j]) == (column.min(), column.max())
    assert parts.count[1] == 0 or (parts.mean[1] == 0.3 and parts.norm[1] == 0.0)


def test_patterns_are_counted_up_to_a_limit_and_the_estimate_does_not_change(monkeypatch):
    X = with_gaps(correlated(300, 6)[0], 0.4)
    whole = normal_em(X)
    monkeypatch.setattr("assay.summary.incomplete.missing_patterns.MOST_PATTERNS", 5)
    few = normal_em([X[:150], X[150:]])
    assert few.patterns < whole.patterns
    np.testing.assert_allclose(few.covariance, whole.covariance, rtol=1e-9)

"""The multivariate normal: against SciPy, the laws of marginals and conditionals, degenerate ones, extreme units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal as peer

from assay.errors import DataError, ParameterError, SingularError
from assay.linalg.normal.completion import Law, completed, patterns_of
from assay.linalg.normal.multivariate_normal import MultivariateNormal

SEEDS = st.integers(0, 2**32 - 1)
EXTREME = np.array([1e-150, 1e150, 1.0, 1e8, 1e-8])


def covariance(d, rng, rank=None):
    A = rng.standard_normal((d, rank or d + 2))
    return A @ A.T


def random_normal(d, seed, rank=None):
    rng = np.random.default_rng(seed)
    return MultivariateNormal(rng.standard_normal(d), covariance(d, rng, rank))


def with_gaps(X, share, seed):
    Y = X.copy()
    Y[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return Y


@given(st.integers(1, 6), SEEDS)
def test_density_and_entropy_are_scipys(d, seed):
    normal = random_normal(d, seed)
    X = normal.sample(20, seed)
    oracle = peer(normal.mean, normal.covariance)
    np.testing.assert_allclose(normal.log_density(X), oracle.logpdf(X), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(normal.density(X), oracle.pdf(X), rtol=1e-6)
    assert normal.entropy == pytest.approx(oracle.entropy(), abs=1e-8)


@pytest.mark.parametrize(("d", "rank"), [(2, 1), (5, 3), (12, 4)])
def test_degenerate_density_is_scipys_on_and_off_the_support(d, rank):
    normal = random_normal(d, 3, rank)
    oracle = peer(normal.mean, normal.covariance, allow_singular=True)
    on = normal.sample(10, 0)
    assert normal.rank == rank
    np.testing.assert_allclose(normal.log_density(on), oracle.logpdf(on), rtol=1e-8)
    assert normal.entropy == pytest.approx(oracle.entropy(), abs=1e-8)
    off = on + np.random.default_rng(1).standard_normal((10, d))
    assert (normal.log_density(off) == -np.inf).all() and (oracle.logpdf(off) == -np.inf).all()
    assert (normal.density(off) == 0.0).all()
    assert (normal.mahalanobis(off) == np.inf).all()


@given(st.integers(2, 6), st.integers(1, 5), SEEDS)
def test_marginal_times_conditional_is_the_joint_density(d, k, seed):
    normal = random_normal(d, seed)
    columns = np.random.default_rng(seed).permutation(d)[: min(k, d - 1)]
    others = np.setdiff1d(np.arange(d), columns)
    for x in normal.sample(5, seed):
        joint = normal.log_density(x[None])[0]
        first = normal.marginal(columns).log_density(x[columns][None])[0]
        given_first = normal.conditional(columns, x[columns]).log_density(x[others][None])[0]
        assert first + given_first == pytest.approx(joint, rel=1e-6, abs=1e-6)


@given(st.integers(3, 7), SEEDS, st.sampled_from([None, 2, 4]))
def test_conditioning_twice_is_conditioning_on_both(d, seed, rank):
    normal = random_normal(d, seed, rank)
    x = normal.sample(1, seed)[0]
    twice = normal.conditional([1], x[[1]]).conditional([0], x[[0]])  # column 0 is still the first
    both = normal.conditional([0, 1], x[[0, 1]])
    size = np.abs(normal.covariance).max()
    np.testing.assert_allclose(twice.mean, both.mean, atol=1e-6 * (1 + np.abs(x).max()))
    np.testing.assert_allclose(twice.covariance, both.covariance, atol=1e-8 * size)


def test_conditional_mean_and_covariance_are_the_regression_and_the_schur_complement():
    normal = random_normal(5, 7)
    o, m = [3, 0], [1, 2, 4]
    y = np.array([0.3, -2.0])
    S = normal.covariance
    B = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
    found = normal.conditional(o, y)
    np.testing.assert_allclose(found.mean, normal.mean[m] + B @ (y - normal.mean[o]), rtol=1e-9)
    np.testing.assert_allclose(found.covariance, S[np.ix_(m, m)] - B @ S[np.ix_(o, m)], rtol=1e-8, atol=1e-10)
    assert normal.conditional([], []).covariance == pytest.approx(S, rel=1e-10)


def test_what_is_known_exactly_has_no_variance_left():
    A = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -3.0]])
    normal = MultivariateNormal(np.zeros(4), A @ A.T)
    found = normal.conditional([0, 2], [1.0, 3.0])  # so the second is 2
    np.testing.assert_allclose(found.mean, [2.0, -4.0], atol=1e-12)
    np.testing.assert_array_equal(found.covariance, 0.0)
    assert found.rank == 0 and found.log_density([[2.0, -4.0]]).item() == 0.0


def test_contradicting_values_are_taken_at_the_nearest_possible_ones():
    twins = MultivariateNormal([0.0, 0.0, 0.0], [[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]])
    assert twins.conditional([0, 1], [1.0, 3.0]).mean == pytest.approx([1.0])  # half of their mean, 2


@pytest.mark.parametrize("rank", [None, 3])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_filled_rows_are_the_conditional_means_row_by_row(rank, share):
    normal = random_normal(7, 5, rank)
    X = with_gaps(normal.sample(60, 1), share, 2)
    X[0] = np.nan
    before = X.copy()
    filled = normal.conditional_mean(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    np.testing.assert_array_equal(filled[0], normal.mean)
    for row, done in zip(X[1:], filled[1:], strict=True):
        gaps = np.isnan(row)
        if gaps.any() and not gaps.all():
            known = np.flatnonzero(~gaps)
            np.testing.assert_allclose(done[gaps], normal.conditional(known, row[known]).mean, atol=1e-7)


@given(st.integers(1, 8), st.integers(1, 30), st.floats(0.0, 0.95), SEEDS)
def test_completed_rows_leave_open_the_schur_complements(d, n, share, seed):
    rng = np.random.default_rng(seed)
    S = covariance(d, rng)
    missing = rng.random((n, d)) < share
    e = np.where(missing, 0.0, rng.standard_normal((n, d)))
    done = completed(e, patterns_of(missing), Law.of(S))
    left, logs, expected = np.zeros((d, d)), 0.0, e.copy()
    for i, m in enumerate(missing):
        o = ~m
        B = np.linalg.solve(S[np.ix_(o, o)], S[np.ix_(o, m)]).T
        left[np.ix_(m, m)] += S[np.ix_(m, m)] - B @ S[np.ix_(o, m)]
        logs += np.linalg.slogdet(S[np.ix_(o, o)])[1]
        expected[i, m] = B @ e[i, o]
    size = max(1.0, np.linalg.cond(S)) * 1e-12
    np.testing.assert_allclose(done.deviations, expected, atol=size)
    np.testing.assert_allclose(done.left_over, left, atol=size * n * np.trace(S))
    assert done.log_determinant == pytest.approx(logs, abs=size * n)


def test_more_than_64_columns_are_grouped_by_the_same_rule():
    rng = np.random.default_rng(0)
    missing = np.repeat(rng.random((5, 130)) < 0.5, [1, 4, 2, 3, 1], axis=0)[rng.permutation(11)]
    found = patterns_of(missing)
    assert sorted(found.counts) == [1, 1, 2, 3, 4]
    for mask, rows in found.groups():
        assert (missing[rows] == mask).all()
    assert sorted(found.order) == list(range(11))


def test_samples_have_the_moments_asked_for():
    normal = random_normal(4, 11)
    n = 200_000
    X = normal.sample(n, 5)
    spread = np.sqrt(np.diag(normal.covariance))
    assert (np.abs(X.mean(axis=0) - normal.mean) < 5 * spread / np.sqrt(n)).all()
    # the standard error of a covariance is at most sqrt(2) s_i s_j / sqrt(n)
    assert (np.abs(np.cov(X.T) - normal.covariance) < 5 * np.sqrt(2 / n) * np.outer(spread, spread)).all()
    np.testing.assert_array_equal(normal.sample(3, 5), normal.sample(3, 5))
    # squared distances are chi-square with d degrees of freedom: mean 4, variance 8
    assert abs(np.mean(normal.mahalanobis(X) ** 2) - 4) < 5 * np.sqrt(8 / n)


def test_mle_is_mean_and_covariance_with_divisor_n():
    X = np.random.default_rng(0).standard_normal((30, 4)) + 1e8
    found = MultivariateNormal.mle(X)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=30 * np.finfo(float).eps)  # a sum of 30
    np.testing.assert_allclose(found.covariance, np.cov(X.T, bias=True), rtol=1e-12, atol=1e-14)
    scatter = np.cov(X.T, bias=True) * 30
    np.testing.assert_allclose(
        MultivariateNormal.of_moments(30, X.mean(axis=0), scatter).covariance, found.covariance, rtol=1e-12, atol=1e-14
    )


@given(SEEDS)
def test_no_other_normal_makes_the_rows_more_likely_than_the_mle(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 3))
    best = MultivariateNormal.mle(X)
    at_best = best.log_density(X).sum()
    change = 0.02 * rng.standard_normal((3, 3))
    for other in (
        MultivariateNormal(best.mean + 0.01 * rng.standard_normal(3), best.covariance),
        MultivariateNormal(best.mean, (np.eye(3) + change) @ best.covariance @ (np.eye(3) + change).T),
    ):
        assert other.log_density(X).sum() <= at_best + 1e-9


def test_weights_count_as_repetition():
    X = np.random.default_rng(1).standard_normal((6, 2))
    w = np.array([1, 0, 3, 2, 1, 5])
    one, many = MultivariateNormal.mle(X, w), MultivariateNormal.mle(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(one.mean, many.mean, rtol=1e-12)
    np.testing.assert_allclose(one.covariance, many.covariance, rtol=1e-12)


def test_more_columns_than_rows_give_a_degenerate_normal_that_holds_the_rows():
    X = np.random.default_rng(2).standard_normal((5, 20))
    normal = MultivariateNormal.mle(X)
    assert normal.rank == 4
    # each row is as far from the mean as n rows in n - 1 dimensions are: sum of squares n (n - 1)
    assert np.sum(normal.mahalanobis(X) ** 2) == pytest.approx(5 * 4)
    assert np.isfinite(normal.log_density(X)).all()


def test_constant_columns_hold_their_value():
    X = np.column_stack([np.random.default_rng(3).standard_normal(50), np.full(50, 0.1), np.zeros(50)])
    normal = MultivariateNormal.mle(X)
    assert normal.rank == 1 and normal.mean[1] == 0.1 and normal.covariance[1, 1] == 0.0
    assert np.isfinite(normal.log_density(X)).all()
    assert (normal.log_density(X + np.array([0.0, 1e-6, 0.0])) == -np.inf).all()
    assert (normal.log_density(X + np.array([0.0, 0.0, 1e-300])) == -np.inf).all()
    assert normal.conditional_mean([[np.nan, np.nan, np.nan]]) == pytest.approx(normal.mean[None])


@given(SEEDS)
def test_log_density_changes_by_the_log_determinant_under_affine_maps(seed):
    rng = np.random.default_rng(seed)
    normal = random_normal(3, seed)
    A, b = rng.standard_normal((3, 3)) + 3 * np.eye(3), rng.standard_normal(3)
    moved = MultivariateNormal(A @ normal.mean + b, A @ normal.covariance @ A.T)
    X = normal.sample(5, seed)
    there = moved.log_density(X @ A.T + b) + np.linalg.slogdet(A)[1]
    np.testing.assert_allclose(there, normal.log_density(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("rank", [None, 3])
def test_units_may_be_anything(rank):
    normal = random_normal(5, 4, rank)
    X = normal.sample(8, 0)
    extreme = MultivariateNormal(normal.mean * EXTREME, EXTREME[:, None] * normal.covariance * EXTREME)
    assert extreme.rank == normal.rank
    np.testing.assert_allclose(extreme.mahalanobis(X * EXTREME), normal.mahalanobis(X), rtol=1e-9)
    Y = with_gaps(X, 0.4, 1)
    np.testing.assert_allclose(extreme.conditional_mean(Y * EXTREME) / EXTREME, normal.conditional_mean(Y), atol=1e-8)
    found, plain = extreme.conditional([1], X[0, [1]] * 1e150), normal.conditional([1], X[0, [1]])
    rest = EXTREME[[0, 2, 3, 4]]
    np.testing.assert_allclose(found.covariance / rest / rest[:, None], plain.covariance, atol=1e-10)
    many = MultivariateNormal.mle(normal.sample(50, 1) * EXTREME)
    plain = MultivariateNormal.mle(normal.sample(50, 1))
    np.testing.assert_allclose(many.covariance / EXTREME / EXTREME[:, None], plain.covariance, rtol=1e-10, atol=1e-12)
    if rank is None:
        shift = np.log(EXTREME).sum()
        np.testing.assert_allclose(extreme.log_density(X * EXTREME) + shift, normal.log_density(X), rtol=1e-9)


def test_the_product_of_eigenvalues_of_a_degenerate_normal_survives_extreme_units():
    # x = (u, u c) with u of variance 1: the only eigenvalue is 1 + c^2
    for c in (1e-150, 1e-3, 1.0, 1e150):
        normal = MultivariateNormal([0.0, 0.0], [[1.0, c], [c, c * c]])
        expected = -0.5 * (np.log(2 * np.pi) + 2 * np.log(np.hypot(1.0, c)))
        assert normal.log_density([[0.0, 0.0]]).item() == pytest.approx(expected, rel=1e-12)


def test_a_shift_of_1e8_changes_no_density():
    normal = random_normal(4, 6)
    X = np.round(normal.sample(10, 0) * 256) / 256
    mean = np.round(normal.mean * 256) / 256
    near, far = (MultivariateNormal(mean + s, normal.covariance).log_density(X + s) for s in (0.0, 1e8))
    np.testing.assert_allclose(far, near, rtol=1e-12)


@given(st.integers(1, 4), SEEDS)
def test_divergence_is_the_mean_log_ratio(d, seed):
    a, b = random_normal(d, seed), random_normal(d, seed ^ 1)
    X = a.sample(40_000, seed)
    ratios = a.log_density(X) - b.log_density(X)
    assert abs(a.kl(b) - ratios.mean()) < 6 * ratios.std() / 200 + 1e-9
    assert a.kl(a) == pytest.approx(0.0, abs=1e-9)


def test_divergence_of_degenerate_normals_needs_the_same_support():
    A = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    plane = MultivariateNormal(np.zeros(3), A @ A.T)
    wider = MultivariateNormal(np.zeros(3), 4 * A @ A.T)
    # in the two dimensions of the plane: (tr(I/4) - 2 + log 16) / 2
    assert plane.kl(wider) == pytest.approx(0.5 * (0.5 - 2 + np.log(16)))
    assert plane.kl(MultivariateNormal(np.zeros(3), np.eye(3))) == np.inf
    assert plane.kl(MultivariateNormal([0.0, 0.0, 1.0], A @ A.T)) == np.inf
    assert plane.kl(MultivariateNormal(np.zeros(3), np.diag([1.0, 1.0, 0.0]))) == np.inf
    with pytest.raises(ParameterError, match="must have 3 columns, has 1"):
        plane.kl(MultivariateNormal([0.0], [[1.0]]))


def test_rows_beyond_the_range_of_numbers_are_infinitely_far():
    normal = MultivariateNormal([0.0, 0.0], [[1e-300, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(normal.mahalanobis([[1e300, 0.0], [0.0, 2.0]]), [np.inf, 2.0])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: MultivariateNormal([0, 0], [[1.0]]), DataError, "must fit: 2 means, a covariance of shape (1, 1)"),
        (lambda: MultivariateNormal([0, 0], [[1, 2], [2, 1]]), DataError, "no eigenvalue below zero: as correlations"),
        (lambda: MultivariateNormal([0, 0], [[1, 0], [0, -2]]), DataError, "that of column 1 (counted from 0) is -2"),
        (lambda: MultivariateNormal([0, 0], [[0, 1], [1, 2]]), DataError, "column 0 (counted from 0) is 0, but its"),
        (lambda: MultivariateNormal([0, 0], [[1, 0.5], [0, 1]]), DataError, "covariance must be symmetric"),
        (lambda: MultivariateNormal([np.nan], [[1.0]]), DataError, "mean must be finite"),
        (lambda: MultivariateNormal.mle([[1.0, np.nan]]), DataError, "X must be finite: row 0, column 1"),
        (lambda: MultivariateNormal.mle([[1.0]], [-1.0]), ParameterError, "weights must be >= 0"),
        (lambda: MultivariateNormal.of_moments(0, [0.0], [[1.0]]), ParameterError, "n must be a positive number"),
        (lambda: Law.of(np.ones((2, 2))), SingularError, "not positive definite"),
    ],
)
def test_what_is_no_normal_is_refused(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda n: n.log_density([[1.0]]), DataError, "X must have 2 columns, has shape (1, 1)"),
        (lambda n: n.log_density([[1.0, np.nan]]), DataError, "row 0, column 1"),
        (lambda n: n.conditional_mean([[1.0, 2.0], [np.inf, np.nan]]), DataError, "row 1, column 0"),
        (lambda n: n.conditional([0, 1], [1.0, 1.0]), ParameterError, "all 2 columns are given"),
        (lambda n: n.conditional([0], [1.0, 1.0]), DataError, "values must have 1 entries, has 2"),
        (lambda n: n.marginal([0, 0]), ParameterError, "different numbers from 0 to 1, are [0, 0]"),
        (lambda n: n.marginal([2]), ParameterError, "different numbers from 0 to 1, are [2]"),
        (lambda n: n.marginal(["a"]), ParameterError, "list of column numbers"),
        (lambda n: n.sample(0), ParameterError, "n must be between 1"),
    ],
)
def test_wrong_questions_get_a_sentence(ask, error, message):
    with pytest.raises(error) as caught:
        ask(MultivariateNormal([0.0, 0.0], np.eye(2)))
    assert message in str(caught.value)

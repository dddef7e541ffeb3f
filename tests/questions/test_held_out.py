"""Here-out variance: training rows decide everything, the fold form equals the row form, noise explains its share."""

import numpy as np
import pytest

from assay.data.folds import fold_count, fold_numbers
from assay.questions.components.held_out import held_out_from_folds, held_out_from_rows
from assay.summary.moments.grouped import GroupedMoments


def own_folds(X, seed=0):
    return fold_numbers(0, len(X), fold_count(len(X)), seed)


def test_fold_moments_and_rows_give_the_same_shares():
    X = np.random.default_rng(0).standard_normal((80, 6)) @ np.diag([5, 4, 3, 2, 1, 1]) @ np.ones(
        (6, 6)
    ) + np.random.default_rng(1).standard_normal((80, 6))
    folds = GroupedMoments.folds(X, fold_count(80), random_state=2)
    a, b = held_out_from_folds(folds, 4), held_out_from_rows(X, 4, own_folds(X, 2))
    np.testing.assert_allclose(a.share, b.share, rtol=1e-9)
    np.testing.assert_allclose(a.interval, b.interval, rtol=1e-8)


def test_shares_are_those_of_a_plain_cross_validation():
    X = np.random.default_rng(3).gamma(2.0, size=(100, 5))
    fold = fold_numbers(0, 100, 10, 0)
    shares = []
    for i in range(10):
        train, test = X[fold != i], X[fold == i]
        mean, scale = train.mean(axis=0), train.std(axis=0, ddof=1)
        _, _, Vt = np.linalg.svd((train - mean) / scale, full_matrices=False)
        Z = (test - mean) / scale
        shares.append(((Z @ Vt.T) ** 2).sum(axis=0)[:3] / (Z**2).sum())
    found = held_out_from_folds(GroupedMoments.folds(X, 10), 3)
    np.testing.assert_allclose(found.share, np.mean(shares, axis=0), rtol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(400, 10), (60, 200)])
def test_an_axis_of_noise_explains_no_more_than_any_other_on_unseen_rows(n, d):
    X = np.random.default_rng(4).standard_normal((n, d))
    found = held_out_from_rows(X, 1, own_folds(X))
    low, high = found.interval[0]
    assert low < 1.0 / d < high


def test_all_axes_together_explain_everything():
    X = np.random.default_rng(5).standard_normal((50, 4))
    assert held_out_from_rows(X, 4, own_folds(X)).share.sum() == pytest.approx(1.0)


def test_a_column_constant_in_training_does_no_harm():
    X = np.random.default_rng(6).standard_normal((40, 3))
    X[:, 2] = 0.0
    X[7, 2] = 1.0
    for found in (held_out_from_rows(X, 2, own_folds(X)), held_out_from_folds(GroupedMoments.folds(X, 4), 2)):
        assert np.isfinite(found.share).all() and (found.share <= 1.0).all()


@pytest.mark.parametrize("seed", range(5))
def test_columns_constant_in_training_are_left_out_of_a_plain_cross_validation(seed):
    # what rounding leaves of the variance of a rare boolean, true in one fold alone, is not variance
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.standard_normal((300, 1)) + rng.standard_normal((300, 3)), rng.random((300, 10)) < 0.01])
    X = X[:, np.ptp(X, axis=0) > 0.0]
    fold, shares = fold_numbers(0, 300, 10, 0), []
    for i in range(10):
        varies = np.ptp(X[fold != i], axis=0) > 0.0
        train, test = X[fold != i][:, varies], X[fold == i][:, varies]
        mean, scale = train.mean(axis=0), train.std(axis=0, ddof=1)
        _, _, Vt = np.linalg.svd((train - mean) / scale, full_matrices=False)
        Z = (test - mean) / scale
        shares.append(((Z @ Vt[0]) ** 2).sum() / (Z**2).sum())
    for found in (held_out_from_rows(X, 1, own_folds(X)), held_out_from_folds(GroupedMoments.folds(X, 10), 1)):
        np.testing.assert_allclose(found.share, np.mean(shares), rtol=1e-9)


def test_a_column_of_tiny_numbers_that_nearly_vanishes_in_training_does_no_harm():
    # in all rows it spans 1e-139, without the last 5e-141, whose square is no number any more
    X = np.random.default_rng(7).standard_normal((6, 9))
    X[:, 8] = [1e-141, 2e-141, 3e-141, 4e-141, 6e-141, 1e-139]
    shares = [held_out_from_rows(X * np.append(np.ones(8), unit), 2, own_folds(X)).share for unit in (1.0, 1e139)]
    np.testing.assert_allclose(shares[0], shares[1], rtol=1e-9)

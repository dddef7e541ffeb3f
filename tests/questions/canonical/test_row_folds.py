"""Folds of two sides from their rows, beside folds made from each training set by itself."""

import numpy as np
import pytest

from assay.linalg.canonical.canonical import coupled_covariances
from assay.linalg.canonical.held_out import (
    USUAL,
    CanonicalFold,
    choose_common_ridge,
    choose_ridge,
    first_held_out,
    usual_ridges,
)
from assay.linalg.eigen.spectral import Spectrum
from assay.questions.canonical.row_folds import coupled_folds, side_folds


def table(n=53, p=4, q=3, seed=0):
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, 1))
    X, Y = rng.standard_normal((n, p)) + shared, rng.standard_normal((n, q)) - shared
    return X, Y, [np.arange(n)[f::5] for f in range(5)]


def by_training_rows(X, Y, folds):
    """Each fold from the rows outside it, nothing taken from a whole."""
    made = []
    for rows in folds:
        out = np.delete(np.arange(len(X)), rows)
        S = np.cov(np.hstack([X[out], Y[out]]), rowvar=False)
        p = X.shape[1]
        coupling = coupled_covariances(S[:p, :p], S[:p, p:], S[p:, p:], len(out))
        x = (X[rows] - X[out].mean(axis=0)) @ coupling.x.vectors
        y = (Y[rows] - Y[out].mean(axis=0)) @ coupling.y.vectors
        made.append(CanonicalFold(coupling, x.T @ x, y.T @ y, x.T @ y))
    return made


RIDGES = [(0.0, 0.0), (0.3, 0.0), (0.1, 2.0)]


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_they_reach_what_training_rows_by_themselves_reach(offset):
    X, Y, folds = table()
    X = X + offset
    found = first_held_out(coupled_folds(side_folds(X, folds), side_folds(Y, folds)), RIDGES)
    # an offset of 1e6 leaves ten digits of values about one, and condition numbers here are below ten
    np.testing.assert_allclose(
        found, first_held_out(by_training_rows(X, Y, folds), RIDGES), atol=1e-12 + 1e-15 * offset
    )


def test_a_side_kept_from_before_goes_with_any_order_of_the_other():
    X, Y, folds = table(seed=1)
    kept = side_folds(X, folds)
    for seed in range(3):
        Z = Y[np.random.default_rng(seed).permutation(len(Y))]
        found = first_held_out(coupled_folds(kept, side_folds(Z, folds)), RIDGES)
        np.testing.assert_allclose(found, first_held_out(by_training_rows(X, Z, folds), RIDGES), atol=1e-12)


@pytest.mark.parametrize("other", [0, 2])
def test_a_column_that_varies_in_one_fold_only_has_no_direction_outside_it(other):
    X, Y, folds = table(seed=2)
    rare = np.zeros(len(X))  # by themselves its training rows have a covariance of zero to the last bit
    rare[folds[1][3]] = 0.7
    X = np.column_stack([rare, X[:, :other]])
    made = side_folds(X, folds)
    assert [len(fold.training.values) for fold in made] == [1 + other, other, 1 + other, 1 + other, 1 + other]
    found = first_held_out(coupled_folds(made, side_folds(Y, folds)), RIDGES)
    np.testing.assert_allclose(found, first_held_out(by_training_rows(X, Y, folds), RIDGES), atol=1e-12)


def test_the_common_ridge_is_the_best_on_the_diagonal_of_all_pairs_and_ties_go_to_the_larger():
    X, Y, folds = table(n=40, p=9, q=8, seed=3)
    made = coupled_folds(side_folds(X, folds[:5]), side_folds(Y, folds[:5]))
    left, right = [0.0, 0.1, 1.0], [0.0, 0.5, 3.0]
    ridge, reached = choose_common_ridge(made, left, right)
    diagonal = np.diag(choose_ridge(made, left, right).table)
    assert reached == pytest.approx(diagonal.max(), abs=1e-12)
    assert ridge == (left[diagonal.argmax()], right[diagonal.argmax()])
    still = [
        CanonicalFold(fold.training, np.zeros_like(fold.x), np.zeros_like(fold.y), np.zeros_like(fold.cross))
        for fold in made
    ]
    assert choose_common_ridge(still, left, right) == ((1.0, 3.0), 0.0)


def test_the_usual_ridges_are_multiples_of_the_mean_variance():
    found = usual_ridges(Spectrum(np.array([3.0, 1.0]), np.eye(2)))
    np.testing.assert_allclose(found, 2.0 * np.array(USUAL), rtol=1e-12)

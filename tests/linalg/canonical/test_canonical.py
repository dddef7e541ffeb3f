import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.linalg.canonical.canonical import (
    canonical_pairs,
    coupled_covariances,
    coupled_grams,
    coupled_triangle,
    first_pair,
)
from assay.linalg.canonical.held_out import CanonicalFold, choose_ridge, gram_folds, held_out_correlations


def covariances(seed, p=4, q=3, n=50):
    rows = np.random.default_rng(seed).standard_normal((n, p + q))
    rows[:, p] += rows[:, 0]
    rows -= rows.mean(axis=0)
    return rows, rows.T @ rows / (n - 1)


@given(seed=st.integers(0, 10**6), left=st.floats(0, 2), right=st.floats(0, 2))
@settings(max_examples=20, deadline=None)
def test_pairs_solve_the_generalised_eigenproblem(seed, left, right):
    _, S = covariances(seed)
    p = 4
    found = coupled_covariances(S[:p, :p], S[:p, p:], S[p:, p:])
    pairs = canonical_pairs(found, (left, right))
    A = np.zeros((7, 7))
    A[:p, p:], A[p:, :p] = S[:p, p:], S[p:, :p]
    B = sla.block_diag(S[:p, :p] + left * np.eye(p), S[p:, p:] + right * np.eye(3))
    np.testing.assert_allclose(pairs.correlations, sla.eigh(A, B, eigvals_only=True)[::-1][:3], atol=1e-11)
    a, b = found.x.vectors @ pairs.x, found.y.vectors @ pairs.y
    np.testing.assert_allclose(a.T @ B[:p, :p] @ a, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(b.T @ B[p:, p:] @ b, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(a.T @ S[:p, p:] @ b, np.diag(pairs.correlations), atol=1e-10)


def test_covariances_a_triangle_and_gram_matrices_give_the_same_pairs():
    rows, S = covariances(1)
    p, n = 4, 50
    X, Y = rows[:, :p], rows[:, p:]
    ways = [
        coupled_covariances(S[:p, :p], S[:p, p:], S[p:, p:], rows=n),
        coupled_triangle(np.linalg.qr(rows, mode="r"), p, n, n - 1.0),
        coupled_triangle(rows, p, n, n - 1.0),
        coupled_grams(X @ X.T, Y @ Y.T, n - 1.0, (4, 3)),
    ]
    for way in ways:
        pairs = canonical_pairs(way, (0.1, 0.2))
        np.testing.assert_allclose(pairs.correlations, canonical_pairs(ways[0], (0.1, 0.2)).correlations, atol=1e-12)
        np.testing.assert_allclose(way.smallest, ways[0].smallest, rtol=1e-8)
        assert not way.doubtful((0.0, 0.0))


def test_directions_without_variance_are_left_out_and_said_to_be_doubtful():
    _, S = covariances(2)
    double = np.zeros((8, 8))
    at = [0, 1, 2, 3, 0]
    double[:5, :5], double[:5, 5:], double[5:, 5:] = S[np.ix_(at, at)], S[at, 4:], S[4:, 4:]
    found = coupled_covariances(double[:5, :5], double[:5, 5:], double[5:, 5:])
    assert len(found.x.values) == 4 and found.smallest[0] < 1e-12
    assert found.doubtful((0.0, 0.0)) and not found.doubtful((0.1, 0.0))
    constant = np.pad(S[:4, :4], (0, 1))
    known = coupled_covariances(constant, np.vstack([S[:4, 4:], np.zeros(3)]), S[4:, 4:])
    assert len(known.x.values) == 4 and not known.doubtful((0.0, 0.0))


def test_a_side_without_any_variance_has_no_pairs():
    found = coupled_covariances(np.zeros((2, 2)), np.zeros((2, 1)), np.eye(1))
    assert canonical_pairs(found).correlations.shape == (0,)
    assert [part.shape for part in first_pair(found, (0.0, 0.0))] == [(0,), (1,)]


@pytest.mark.parametrize("sides", [(4, 3), (3, 4)])
def test_the_first_pair_alone_is_the_first_of_all(sides):
    _, S = covariances(3)
    p = sides[0]
    found = coupled_covariances(S[:p, :p], S[:p, p:], S[p:, p:])
    a, b = first_pair(found, (0.2, 0.1))
    pairs = canonical_pairs(found, (0.2, 0.1), 1)
    assert abs(a @ found.cross @ b) == pytest.approx(pairs.correlations[0], abs=1e-12)
    assert np.sign(a @ pairs.x[:, 0]) * a == pytest.approx(pairs.x[:, 0], abs=1e-9)


def test_the_best_ridge_is_found_and_ties_go_to_the_larger():
    rows, _ = covariances(4, n=40)
    X, Y = rows[:, :4], rows[:, 4:]
    folds = gram_folds(X @ X.T, Y @ Y.T, np.arange(40) % 4, (4, 3))
    choice = choose_ridge(folds, [0.0, 0.1, 5.0], [0.0, 2.0])
    assert choice.table.shape == (3, 2)
    assert held_out_correlations(folds, choice.ridge, 2)[0] == pytest.approx(choice.table.max(), abs=1e-12)
    still = [
        CanonicalFold(fold.training, np.zeros_like(fold.x), np.zeros_like(fold.y), np.zeros_like(fold.cross))
        for fold in folds
    ]
    assert choose_ridge(still, [0.0, 0.1], [0.0, 2.0]).ridge == (0.1, 2.0)


def test_pairs_that_a_fold_does_not_have_count_as_nothing():
    rows, _ = covariances(5, n=30)
    X, Y = rows[:, :4], rows[:, 4:5]
    folds = gram_folds(X @ X.T, Y @ Y.T, np.arange(30) % 3, (4, 1))
    assert held_out_correlations(folds, (0.0, 0.0), 2)[1] == 0.0

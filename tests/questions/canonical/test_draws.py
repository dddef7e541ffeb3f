"""Pairs of many orders at once, beside those found fold by fold and order by order from their training rows."""

import numpy as np
import pytest

from assay.linalg.canonical.canonical import coupled_covariances
from assay.linalg.canonical.held_out import CanonicalFold, first_held_out
from assay.questions.canonical.draws import reached
from assay.questions.canonical.row_folds import side_folds

RIDGES = [(0.0, 0.0), (0.1, 0.2), (3.0, 2.0)]


def by_training_rows(X, Y, folds):
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


def table(p, q, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, p)), rng.standard_normal((n, q))
    Y[:, 0] += X[:, 0]
    folds = [np.arange(n)[k::4] for k in range(4)]
    return X, Y, folds, np.stack([np.arange(n), *(rng.permutation(n) for _ in range(3))])


@pytest.mark.parametrize(("p", "q"), [(3, 2), (2, 4), (1, 1)])
@pytest.mark.parametrize("ridge", RIDGES)
def test_with_one_ridge_they_reach_what_training_rows_by_themselves_reach(p, q, ridge):
    X, Y, folds, orders = table(p, q)
    found = reached([(folds, side_folds(X, folds))], 5.0 + Y, orders, [ridge])
    expected = [first_held_out(by_training_rows(X, Y[order], folds), [ridge])[0] for order in orders]
    # sums of 60 products and condition numbers below ten
    np.testing.assert_allclose(found.correlation, expected, atol=1e-12)


def test_each_fold_takes_the_ridge_that_is_best_on_the_others():
    X, Y, folds, orders = table(6, 5, seed=1)
    found = reached([(folds, side_folds(X, folds))], Y, orders, RIDGES)
    for b, order in enumerate(orders):
        made = by_training_rows(X, Y[order], folds)
        assert found.best[b] == first_held_out(made, RIDGES).argmax()
        picked = [RIDGES[int(first_held_out([*made[:f], *made[f + 1 :]], RIDGES).argmax())] for f in range(len(folds))]
        forms = np.zeros(3)
        for f, ridge in enumerate(picked):
            rows, out = folds[f], np.delete(np.arange(len(X)), folds[f])
            u, v = first_pair_of(X[out], Y[order][out], ridge)
            x, y = (X[rows] - X[out].mean(axis=0)) @ u, (Y[order][rows] - Y[order][out].mean(axis=0)) @ v
            forms += [x @ y, x @ x, y @ y]
        assert found.correlation[b] == pytest.approx(forms[0] / np.sqrt(forms[1] * forms[2]), abs=1e-10)


def first_pair_of(X, Y, ridge):
    """By the generalised eigenproblem of Hotelling, nothing rotated."""
    S = np.cov(np.hstack([X, Y]), rowvar=False)
    p = X.shape[1]
    A, B = S[:p, :p] + ridge[0] * np.eye(p), S[p:, p:] + ridge[1] * np.eye(Y.shape[1])
    values, vectors = np.linalg.eig(np.linalg.solve(A, S[:p, p:]) @ np.linalg.solve(B, S[p:, :p]))
    u = np.real(vectors[:, np.argmax(np.real(values))])
    v = np.linalg.solve(B, S[p:, :p] @ u)
    return u / np.sqrt(u @ A @ u), v / np.sqrt(v @ B @ v)


def test_several_splits_are_pooled():
    X, Y, folds, orders = table(2, 2, seed=2)
    one = [(folds, side_folds(X, folds))]
    twice = reached(one * 2, Y, orders, RIDGES).correlation
    np.testing.assert_allclose(twice, reached(one, Y, orders, RIDGES).correlation, atol=1e-14)
    other = [np.arange(60)[15 * k : 15 * k + 15] for k in range(4)]
    both = reached([*one, (other, side_folds(X, other))], Y, orders, [(0.0, 0.0)]).correlation
    ends = [reached([split], Y, orders, [(0.0, 0.0)]).correlation for split in (one[0], (other, side_folds(X, other)))]
    assert ((both >= np.minimum(*ends) - 0.02) & (both <= np.maximum(*ends) + 0.02)).all()


def test_a_side_that_varies_in_one_fold_alone_has_no_pair_outside_it():
    X, _, folds, orders = table(2, 1, seed=3)
    rare = np.zeros((60, 1))
    rare[folds[1][3]] = 0.7
    found = reached([(folds, side_folds(X, folds))], rare, orders, RIDGES)
    expected = [first_held_out(by_training_rows(X, rare[order], folds), RIDGES[:1])[0] for order in orders]
    assert np.isfinite(found.correlation).all()
    single = reached([(folds, side_folds(X, folds))], rare, orders, RIDGES[:1])
    np.testing.assert_allclose(single.correlation, expected, atol=1e-12)

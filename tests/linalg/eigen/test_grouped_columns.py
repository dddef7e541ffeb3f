"""Columns of one group made uncorrelated, and spoken of again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ParameterError
from assay.linalg.eigen.grouped_columns import grouped_columns
from assay.linalg.noise.permutation_test import permuted_spectrum


def indicators(levels, n, rng):
    drawn = rng.choice(levels, n, p=rng.dirichlet(np.full(levels, 5.0)))
    return (drawn[:, None] == np.arange(levels)).astype(float)


def table(rng, n=200, sizes=(3, 1, 4, 1)):
    parts = [indicators(k, n, rng) if k > 1 else rng.standard_normal((n, 1)) for k in sizes]
    X = np.concatenate(parts, axis=1)
    return X[:, X.std(axis=0) > 0], np.repeat(np.arange(len(sizes)), sizes)[X.std(axis=0) > 0]


def of_rows(X, groups):
    return grouped_columns(groups, lambda j: np.cov(X[:, j], rowvar=False))


@given(st.integers(0, 10_000))
def test_columns_of_a_group_become_uncorrelated_with_unit_variance(seed):
    X, groups = table(np.random.default_rng(seed))
    found = of_rows(X, groups)
    Y = found.apply(X)
    for g in np.unique(found.groups):
        part = Y[:, found.groups == g]
        if part.shape[1] > 1:
            np.testing.assert_allclose(np.cov(part, rowvar=False), np.eye(part.shape[1]), atol=1e-9)


def test_indicators_lose_the_one_direction_in_which_they_cannot_vary():
    X, groups = table(np.random.default_rng(1))
    assert [int((of_rows(X, groups).groups == g).sum()) for g in range(4)] == [2, 1, 3, 1]


@given(st.integers(0, 10_000))
def test_loadings_of_old_columns_are_their_correlations(seed):
    rng = np.random.default_rng(seed)
    X, groups = table(rng)
    found = of_rows(X, groups)
    Y = found.apply(X)
    z = Y @ rng.standard_normal(Y.shape[1])
    of_new = np.array([[np.corrcoef(y, z)[0, 1]] for y in Y.T])
    of_old = np.array([np.corrcoef(x, z)[0, 1] for x in X.T])
    np.testing.assert_allclose(found.loadings(of_new).ravel(), of_old, atol=1e-9)


def test_columns_of_a_group_need_not_stand_side_by_side():
    rng = np.random.default_rng(2)
    X, groups = table(rng)
    order = rng.permutation(X.shape[1])
    apart = of_rows(X[:, order], groups[order])
    together = of_rows(X, groups)

    def spectrum(found, rows):
        return np.linalg.eigvalsh(np.corrcoef(found.apply(rows), rowvar=False))

    np.testing.assert_allclose(spectrum(apart, X[:, order]), spectrum(together, X), atol=1e-9)


def test_groups_of_one_need_nothing():
    assert grouped_columns(np.arange(5), lambda j: np.eye(len(j))) is None


def test_a_group_shuffled_together_keeps_what_it_shares():
    # two copies of a column: alone they are a component, as one group they are none
    rng = np.random.default_rng(3)
    x = rng.standard_normal((100, 1))
    Z = np.hstack([x, x, rng.standard_normal((100, 3))])
    apart = permuted_spectrum(Z, rng=np.random.default_rng(0))
    together = permuted_spectrum(Z, rng=np.random.default_rng(0), groups=[0, 0, 1, 2, 3])
    assert apart.n_real == 1
    assert together.n_real == 0


def test_labels_must_be_one_for_each_column():
    with pytest.raises(ParameterError, match="groups has one label for each of the 3 columns"):
        permuted_spectrum(np.random.default_rng(0).standard_normal((9, 3)), rng=np.random.default_rng(0), groups=[1, 2])

"""Values that stand in come from their own column, and know nothing of others."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.data.hot_deck import stood_in


@given(st.integers(0, 1000), st.floats(0.0, 0.95))
def test_what_is_there_stays_and_what_stands_in_is_a_row_of_the_same_column(seed, share):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 4))
    groups = np.array([0, 1, 1, 2])
    gone = rng.random((30, 3)) < share
    X[gone[:, groups]] = np.nan
    before = X.copy()
    done = stood_in(X, groups, np.full(4, 7.0), rng)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(done[~np.isnan(X)], X[~np.isnan(X)])
    for label in range(3):
        own = groups == label
        donors = {tuple(row) for row in X[:, own] if not np.isnan(row).any()} or {(7.0,) * int(own.sum())}
        assert {tuple(row) for row in done[:, own]} <= donors


def test_columns_missing_in_the_same_rows_go_together_no_more_than_complete_ones():
    # n var(r) is 1 for independent columns; 400 tables know it to .07, means would make 1.8 of it
    rng, n, found = np.random.default_rng(0), 100, []
    for _ in range(400):
        X = rng.standard_normal((n, 2))
        X[rng.random(n) < 0.45] = np.nan
        found.append(np.corrcoef(stood_in(X, np.arange(2), np.zeros(2), rng), rowvar=False)[0, 1])
    assert abs(n * np.var(found) - 1.0) < 0.25

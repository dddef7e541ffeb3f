"""Splits: every row tested once, groups whole, gaps kept, the folds of the summaries, scikit-learn's protocol."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from assay import Folds, GroupedFolds, GroupedMoments, HoldOut, TimeBlocks
from assay.errors import DataError, ParameterError


def rows(n):
    return np.zeros((n, 1))


def is_a_partition(pairs, n):
    tests = np.concatenate([test for _, test in pairs])
    return np.array_equal(np.sort(tests), np.arange(n)) and all(
        np.array_equal(np.union1d(train, test), np.arange(n)) and not np.intersect1d(train, test).size
        for train, test in pairs
    )


@given(st.integers(12, 200), st.integers(2, 12), st.integers(0, 9), st.booleans())
@settings(max_examples=40, deadline=None)
def test_folds_test_every_row_once_in_parts_of_equal_size(n, k, seed, stratify):
    y = np.arange(n) % 4
    pairs = list(Folds(k, seed, stratify).split(rows(n), y))
    assert len(pairs) == k == Folds(k).get_n_splits()
    assert is_a_partition(pairs, n)
    sizes = [len(test) for _, test in pairs]
    assert max(sizes) - min(sizes) <= 1
    if stratify:
        spread = np.stack([np.bincount(y[test], minlength=4) for _, test in pairs])
        assert np.ptp(spread, axis=0).max() <= 1


def test_folds_are_those_of_the_grouped_moments():
    X = np.random.default_rng(0).standard_normal((103, 2))
    summaries = GroupedMoments.folds(X, 7, random_state=5)
    for (train, test), (outside, inside) in zip(Folds(7, random_state=5).split(X), summaries.training(), strict=True):
        np.testing.assert_allclose(X[test].mean(axis=0), inside.mean, rtol=1e-12)
        np.testing.assert_allclose(X[train].mean(axis=0), outside.mean, rtol=1e-10)


def test_another_seed_gives_other_rows_and_the_same_seed_the_same():
    for split in (Folds, HoldOut):
        first, again, other = (next(split(random_state=s).split(rows(50)))[1] for s in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)
    strata = [next(Folds(5, s, stratify=True).split(rows(50), np.arange(50) % 2))[1] for s in (1, 2)]
    assert not np.array_equal(*strata)


@given(st.integers(2, 200), st.floats(0.01, 0.99), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_a_hold_out_keeps_the_share_asked_for(n, share, seed):
    ((train, test),) = HoldOut(share, seed).split(rows(n))
    assert len(test) == min(max(round(share * n), 1), n - 1)
    assert np.array_equal(np.sort(np.append(train, test)), np.arange(n))


def test_a_stratified_hold_out_keeps_the_share_of_every_class():
    y = np.repeat(["a", "b", "c"], [80, 40, 12])
    ((_, test),) = HoldOut(0.25, stratify=True).split(rows(132), y)
    np.testing.assert_array_equal([np.sum(y[test] == name) for name in "abc"], [20, 10, 3])


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_a_group_is_never_on_both_sides_and_folds_are_balanced(seed, k):
    groups = np.random.default_rng(seed).integers(0, 25, 150).astype(str)
    pairs = list(GroupedFolds(k).split(rows(150), groups=groups))
    assert is_a_partition(pairs, 150)
    for train, test in pairs:
        assert not set(groups[train]) & set(groups[test])
    sizes = [len(test) for _, test in pairs]
    assert max(sizes) - min(sizes) <= np.unique(groups, return_counts=True)[1].max()


@given(st.integers(30, 120), st.integers(2, 6), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_blocks_of_time_have_no_breaks_and_keep_their_gap(n, k, gap):
    pairs = list(TimeBlocks(k, gap).split(rows(n)))
    assert len(pairs) == k
    np.testing.assert_array_equal(np.concatenate([test for _, test in pairs]), np.arange(n))
    for train, test in pairs:
        assert (np.diff(test) == 1).all()
        assert np.abs(train[:, None] - test).min() == gap + 1
        # nothing else is left out: two gaps at most
        assert n - len(train) - len(test) <= 2 * gap
    for train, test in TimeBlocks(k, gap, forward=True).split(rows(n)):
        np.testing.assert_array_equal(train, np.arange(test[0] - gap))


def test_they_serve_in_scikit_learn():
    rng = np.random.default_rng(0)
    X, y, groups = rng.standard_normal((60, 3)), np.arange(60) % 2, np.arange(60) // 6
    for split in (HoldOut(), Folds(4, stratify=True), GroupedFolds(5), TimeBlocks(4, gap=2)):
        assert len(cross_val_score(DecisionTreeClassifier(), X, y, cv=split, groups=groups)) == split.get_n_splits()
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=GroupedFolds(3)).fit(X, y, groups=groups)
    assert search.n_splits_ == 3 and search.get_params()["cv"] == GroupedFolds(3)


def test_what_cannot_be_split_is_refused_in_words():
    with pytest.raises(ParameterError, match="n_splits is a whole number, 2 or more; got 1"):
        list(Folds(1).split(rows(9)))
    with pytest.raises(ParameterError, match="n_splits is a whole number, 2 or more; got 2.5"):
        Folds(2.5).get_n_splits()
    with pytest.raises(DataError, match="10 folds need at least 10 rows; there are 4: ask for fewer folds"):
        list(Folds(10).split(rows(4)))
    with pytest.raises(DataError, match="class b has one row, which cannot be on both sides"):
        list(Folds(2, stratify=True).split(rows(4), ["a", "a", "a", "b"]))
    with pytest.raises(ParameterError, match="one class for each of the 4 rows"):
        list(Folds(2, stratify=True).split(rows(4), ["a", "b"]))
    with pytest.raises(ParameterError, match="test_size is a share between 0 and 1; got 1.5"):
        list(HoldOut(1.5).split(rows(4)))
    with pytest.raises(DataError, match="a hold-out needs at least 2 rows; there is 1"):
        list(HoldOut().split(rows(1)))
    with pytest.raises(ParameterError, match="give groups=, one for each row"):
        list(GroupedFolds(2).split(rows(4)))
    with pytest.raises(DataError, match="3 folds need at least 3 groups; there are 2"):
        list(GroupedFolds(3).split(rows(4), groups=[0, 0, 1, 1]))
    with pytest.raises(DataError, match="a gap of 9 rows beside the test block of rows 0 to 4 leaves none of 10 rows"):
        list(TimeBlocks(2, gap=9).split(rows(10)))
    with pytest.raises(ParameterError, match="gap is a number of rows, 0 or more; got -1"):
        list(TimeBlocks(2, gap=-1).split(rows(10)))
    with pytest.raises(DataError, match="4 blocks of time need at least 4 rows; there are 2"):
        list(TimeBlocks(3, forward=True).split(rows(2)))

"""Group and fold moments: one pass, the algebra of Moments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.folds import fold_numbers
from assay.errors import DataError, ParameterError
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments


@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.integers(1, 5))
def test_each_group_is_the_summary_of_its_rows(seed, n, k):
    rng = np.random.default_rng(seed)
    by = rng.integers(0, k, n)
    # groups far apart: a shared centre would lose the scatter within them
    X = rng.standard_normal((n, 3)) + 1e7 * by[:, None]
    grouped = GroupedMoments.of(X, by)
    assert grouped.labels == tuple(sorted(set(by.tolist())))
    for label, part in zip(grouped.labels, grouped.parts, strict=True):
        direct = Moments.of(X[by == label])
        assert part.count == direct.count
        np.testing.assert_allclose(part.mean, direct.mean, rtol=1e-14)
        np.testing.assert_allclose(part.scatter, direct.scatter, rtol=1e-6, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(4, 100))
def test_total_scatter_is_within_plus_between(seed, n):
    rng = np.random.default_rng(seed)
    X, by = rng.standard_normal((n, 3)), rng.integers(0, 3, n)
    g = GroupedMoments.of(X, by)
    np.testing.assert_allclose(g.within + g.between, Moments.of(X).scatter, rtol=1e-10, atol=1e-10)


def test_training_summary_is_that_of_the_other_rows():
    X = np.random.default_rng(0).standard_normal((1000, 4)) + 5
    g = GroupedMoments.folds(X, 10, random_state=3)
    folds = fold_numbers(0, 1000, 10, 3)
    assert len(g) == 10
    for i, (train, test) in enumerate(g.training()):
        direct = Moments.of(X[folds != i])
        assert (train.count, test.count) == (900, 100)
        np.testing.assert_allclose(train.scatter, direct.scatter, rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(g.without(i).mean, direct.mean, rtol=1e-13)


def test_blocks_and_threads_change_no_fold():
    X = np.random.default_rng(1).standard_normal((30_000, 3))
    a, b = GroupedMoments.folds(X, 5, threads=1), GroupedMoments.folds(X, 5, threads=4)
    for one, other in zip(a.parts, b.parts, strict=True):
        np.testing.assert_array_equal(one.scatter, other.scatter)
    cut = GroupedMoments.folds([X[:7], X[7:10_001], X[10_001:]], 5)
    for one, other in zip(a.parts, cut.parts, strict=True):
        assert one.count == other.count
        np.testing.assert_allclose(one.scatter, other.scatter, rtol=1e-12, atol=1e-9)


def test_merged_groups_are_the_groups_of_all_rows():
    rng = np.random.default_rng(2)
    X, by = rng.standard_normal((60, 2)), np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    merged = GroupedMoments.of(X[:20], by[:20]) + GroupedMoments.of(X[20:], by[20:])
    whole = GroupedMoments.of(X, by)
    assert merged.labels == whole.labels
    for label in whole.labels:
        np.testing.assert_allclose(merged[label].scatter, whole[label].scatter, rtol=1e-12)


@given(st.integers(0, 1000), st.integers(0, 300), st.integers(2, 12), st.integers(0, 5))
def test_folds_are_balanced_and_do_not_depend_on_the_cut(start, length, k, seed):
    whole = fold_numbers(0, start + length, k, seed)
    np.testing.assert_array_equal(fold_numbers(start, start + length, k, seed), whole[start:])
    sizes = np.bincount(whole, minlength=k)
    assert sizes.max(initial=0) - sizes.min() <= 1


def test_folds_of_another_seed_differ_and_are_not_periodic():
    a, b = fold_numbers(0, 1000, 10, 0), fold_numbers(0, 1000, 10, 1)
    # two independent assignments agree in a tenth of the rows; 60 to 140 is beyond four standard deviations
    assert 60 < (a == b).sum() < 140
    assert 60 < (a[:-10] == a[10:]).sum() < 140


def test_float32_groups_are_accumulated_in_float64():
    X = (np.random.default_rng(3).standard_normal((1000, 2)) + 100).astype(np.float32)
    g = GroupedMoments.of(X, np.arange(1000) % 2)
    np.testing.assert_allclose(g[0].scatter, Moments.of(X[::2].astype(float)).scatter, rtol=1e-10)


def test_weights_reach_their_group():
    rng = np.random.default_rng(4)
    X, by, w = rng.standard_normal((50, 2)), rng.integers(0, 2, 50), rng.random(50)
    g = GroupedMoments.of(X, by, weights=w)
    for label in (0, 1):
        direct = Moments.of(X[by == label], weights=w[by == label])
        np.testing.assert_allclose(g[label].scatter, direct.scatter, rtol=1e-12)
        assert g[label].weight == pytest.approx(direct.weight)


def test_a_part_of_each_group_can_be_taken_out_and_every_group_changed_alike():
    rng = np.random.default_rng(5)
    X, by = rng.standard_normal((60, 3)), rng.integers(0, 3, 60)
    rest = GroupedMoments.of(X, by) - GroupedMoments.of(X[:20], by[:20])
    whole = GroupedMoments.of(X[20:], by[20:])
    for label in whole.labels:
        np.testing.assert_allclose(rest[label].scatter, whole[label].scatter, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(whole.map(lambda m: m[[2]])[0].mean, whole[0].mean[[2]])
    with pytest.raises(ParameterError, match="no group 9"):
        _ = whole - GroupedMoments.of(X[:1], [9])


def test_wrong_groups_are_refused_in_words():
    X = np.ones((5, 2))
    with pytest.raises(ParameterError, match="row 3 has none"):
        GroupedMoments.of(X, [0, 1, 0])
    with pytest.raises(ParameterError, match="no group 7; there are 0, 1"):
        GroupedMoments.of(X, [0, 1, 0, 1, 1])[7]
    with pytest.raises(ParameterError, match="at least 2 folds"):
        GroupedMoments.folds(X, 1)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match="row 3, column 1 is missing"):
        GroupedMoments.folds(X, 2)

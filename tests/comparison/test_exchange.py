"""Rows that depend on each other change tables together."""

import numpy as np
import pytest

from assay.comparison.exchange import exchange_of
from assay.evidence.design import Grouped, Independent, Placed, Runs, Serial


def of(first, second, groups=None):
    return exchange_of((first, second), (False, True), groups, 100.0)


def test_independent_rows_change_alone_and_the_tables_keep_their_sizes():
    drawn = of(Independent(6), Independent(4)).drawn(50, 0)
    assert drawn.shape == (10, 51)
    assert drawn[:, 0].tolist() == [False] * 6 + [True] * 4
    assert (drawn.sum(axis=0) == 4).all()
    assert len({column.tobytes() for column in drawn.T}) > 40


def test_whole_groups_change():
    label = np.repeat(np.arange(5), 3)
    drawn = of(Grouped(15, label), Grouped(15, label)).drawn(200, 0)
    units = drawn.reshape(10, 3, -1)
    assert (units == units[:, :1]).all()
    assert (units[:, 0].sum(axis=0) == 5).all()


def test_a_group_in_both_tables_changes_sides_with_itself():
    label = np.repeat(np.arange(5), 2)
    drawn = of(Grouped(10, label), Grouped(10, label), (label, label)).drawn(200, 0)
    first, second = drawn[:10:2], drawn[10::2]
    assert (first != second).all()
    assert 60 < first[0, 1:].sum() < 140  # of 200 flips, within 6 standard deviations of 100


def test_a_group_in_one_table_only_is_exchanged_among_its_like():
    first, second = np.repeat([0, 1, 2, 3], 2), np.repeat([3, 4, 5, 6], 2)
    drawn = of(Grouped(8, first), Grouped(8, second), (first, second)).drawn(100, 0)
    assert (drawn[6] != drawn[8]).all()  # the group in both
    alone = np.r_[drawn[:6], drawn[10:]]
    assert (alone.sum(axis=0) == 6).all()


def test_a_series_is_cut_elsewhere_each_shift_once():
    serial = Serial(6, np.arange(6), 2)
    drawn = of(serial, Serial(4, np.arange(4), 2)).drawn(499, 0)
    assert drawn.shape == (10, 10)
    around = np.concatenate([drawn, drawn[:1]])
    assert (np.abs(np.diff(around.astype(int), axis=0)).sum(axis=0) == 2).all()  # one run on a circle
    assert len({column.tobytes() for column in drawn.T}) == 10


def test_what_depends_in_one_table_is_taken_to_depend_in_both():
    runs = Runs(12, np.arange(12), 4, np.array([0, 12]))
    drawn = of(runs, Independent(12)).drawn(100, 0)
    units = drawn.reshape(6, 4, -1)
    assert (units == units[:, :1]).all()


def test_no_two_maps_are_exchanged_for_sure():
    at = np.random.default_rng(0).random((40, 2))
    assert "places" in of(Placed(40, at, 0.1), Placed(40, at, 0.1)).limit


def test_groups_with_uneven_parts_support_nothing():
    few, many = np.repeat(np.arange(8), 2), np.repeat(np.arange(8), 40)
    assert "uneven" in of(Grouped(16, few), Grouped(320, many), (few, many)).limit
    assert not of(Grouped(16, few), Grouped(16, few), (few, few)).limit


def test_tables_that_depend_in_different_ways_support_nothing():
    mixed = of(Grouped(12, np.repeat(np.arange(4), 3)), Serial(12, np.arange(12), 2))
    assert "different ways" in mixed.limit


@pytest.mark.parametrize("independent", [True, False])
def test_folds_keep_what_moves_together(independent):
    label = np.repeat(np.arange(20), 3)
    design = Independent(60) if independent else Grouped(60, label)
    folds = of(design, design, None if independent else (label, label)).folds(5, 0)
    assert set(folds) == {0, 1, 2, 3, 4}
    if not independent:
        assert all(len(set(folds[np.tile(label, 2) == group])) == 1 for group in range(20))

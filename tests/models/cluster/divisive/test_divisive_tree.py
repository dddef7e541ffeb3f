"""Splitting again and again: bounds save tries and change nothing; rows that can be told apart are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from assay.models.cluster.divisive.divisive_tree import Split, bisect
from assay.models.cluster.divisive.splits import TwoMeans, principal_halves

RNG = np.random.default_rng(0)


def test_bounds_save_tries_and_change_no_split():
    X = np.vstack([RNG.standard_normal((60, 3)) + 40 * RNG.standard_normal(3) for _ in range(8)])
    tried = {True: 0, False: 0}

    def splitter(bounded):
        inner = TwoMeans(X)

        def split(node, rows):
            tried[bounded] += 1
            found = inner(node, rows)
            return found if bounded or found is None else Split(found.second, found.height)

        return split

    lazy, eager = (bisect(len(X), splitter(bounded), most=8) for bounded in (True, False))
    np.testing.assert_array_equal(lazy.parents, eager.parents)
    np.testing.assert_array_equal(lazy.leaf, eager.leaf)
    np.testing.assert_array_equal(lazy.heights, eager.heights)
    assert tried[True] < tried[False] == 13  # all rows, and the two parts of each split but the last


def test_it_stops_at_a_number_at_a_height_or_where_nothing_can_be_split():
    def halve(node, rows):
        return Split(np.arange(len(rows)) >= len(rows) // 2, float(len(rows))) if len(rows) > 1 else None

    assert len(bisect(16, halve, most=5).parents) == 4
    assert bisect(16, halve, most=16, above=4.0).heights.tolist() == [16.0, 8.0, 8.0]
    assert len(np.unique(bisect(16, halve, most=99).leaf)) == 16
    assert bisect(1, halve, most=9).leaf.tolist() == [0]


@pytest.mark.parametrize("n", [2, 3, 20, 5000])
def test_every_split_is_of_nearest_centres_and_its_height_is_wards_distance(n):
    X = RNG.standard_normal((n, 4))
    splits = TwoMeans(X, n_init=3)
    found = splits(0, np.arange(n))
    a, b = X[~found.second], X[found.second]
    ward = np.sqrt(2 * len(a) * len(b) / n) * np.linalg.norm(a.mean(axis=0) - b.mean(axis=0))
    assert found.height == pytest.approx(ward)
    np.testing.assert_array_equal(np.argmin(cdist(X, splits.centers[0]), axis=1), found.second)
    assert found.bounds == pytest.approx([np.sqrt(2 * np.sum((side - side.mean(axis=0)) ** 2)) for side in (a, b)])
    assert not found.second[0]


def test_rows_that_differ_in_the_last_bit_are_parted_and_rows_alike_only_when_asked():
    near = np.full((6, 2), 0.7)
    near[3:, 1] = np.nextafter(0.7, 1)
    assert TwoMeans(near)(0, np.arange(6)).second.tolist() == [False] * 3 + [True] * 3
    alike = np.full((5, 2), 0.7)
    assert TwoMeans(alike)(0, np.arange(5)) is None
    halves = TwoMeans(alike, alike=True)(0, np.arange(5))
    assert (halves.second.tolist(), halves.height) == ([False, False, False, True, True], 0.0)


def test_the_first_start_lies_along_the_widest_direction():
    X = RNG.standard_normal((400, 3)) * [9.0, 1.0, 1.0]
    first, second = principal_halves(X)
    along = (first - second) / np.linalg.norm(first - second)
    axis = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][0]
    assert abs(along @ axis) > 0.999

"""Names and dots are kept apart: names of points at any width of the page, names of arrows, dots of a strip."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.views.axes.placing import place_arrow_names, place_names, spread


def overlapping(centres, half):
    pairs = itertools.combinations(range(len(centres)), 2)
    return [(i, j) for i, j in pairs if np.all(np.abs(centres[i] - centres[j]) < half[i] + half[j] - 1e-9)]


def struck(centres, half, tips):
    """Labels that a shaft runs through, by clipping the segment to the box (Liang-Barsky)."""
    hit = []
    for (i, centre), (j, tip) in itertools.product(enumerate(centres), enumerate(tips)):
        start, end = 0.0, 1.0
        for axis in (0, 1):
            low, high = centre[axis] - half[i][axis], centre[axis] + half[i][axis]
            if tip[axis] == 0:
                if not low < 0 < high:
                    end = -1.0
                continue
            ends = sorted((low / tip[axis], high / tip[axis]))
            start, end = max(start, ends[0]), min(end, ends[1])
        if start < end:
            hit.append((i, j))
    return hit


ANGLES = {
    "all around": np.linspace(0, 2 * np.pi, 12, endpoint=False),
    "a fan": np.linspace(-0.5, 0.5, 8),
    "two bundles": np.array([0.0, 0.02, 0.04, np.pi, np.pi + 0.02, np.pi + 0.04]),
}


@pytest.mark.parametrize("angles", ANGLES.values(), ids=ANGLES)
def test_names_cover_neither_each_other_nor_a_shaft(angles):
    tips = 120 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    centres, half = place_arrow_names(tips, [8] * len(tips))
    assert overlapping(centres, half) == []
    assert struck(centres, half, tips) == []


def test_twelve_names_at_one_point_are_spread_around_it():
    centres, half = place_arrow_names(np.tile([100.0, 0.0], (12, 1)), [6] * 12)
    assert overlapping(centres, half) == []


@given(st.lists(st.tuples(st.floats(-200, 200), st.floats(-200, 200), st.integers(1, 18)), min_size=1, max_size=12))
def test_a_name_stays_near_its_arrow(arrows):
    tips, widths = np.array([a[:2] for a in arrows]), [a[2] for a in arrows]
    centres, half = place_arrow_names(tips, widths)
    gap = np.abs(centres - tips) - half
    assert np.all(gap.min(axis=1) <= 57)
    assert np.all(np.isfinite(centres))


def test_no_arrows_need_no_names():
    centres, half = place_arrow_names(np.empty((0, 2)), [])
    assert centres.shape == half.shape == (0, 2)


@given(st.lists(st.floats(-1e6, 1e6), max_size=50), st.randoms(use_true_random=False))
def test_a_strip_stays_in_its_bounds_and_knows_no_order(values, random):
    height = spread(values)
    assert np.all(np.abs(height) <= 1)
    shuffled = list(range(len(values)))
    random.shuffle(shuffled)
    if len(set(values)) == len(values):
        np.testing.assert_allclose(spread([values[i] for i in shuffled]), [height[i] for i in shuffled])


def test_a_strip_is_thick_where_values_are_dense():
    values = np.concatenate([np.random.default_rng(0).normal(0, 1, 900), np.random.default_rng(1).uniform(6, 12, 60)])
    height = np.abs(spread(values))
    assert height[:900].max() > 4 * height[900:].max()


SCALES = np.array([[1.0, 1.0], [1.4, 1.4], [2.0, 2.0], [3.0, 2.5]])


def boxes(points, offsets, half, scale):
    middles = points * scale + offsets
    return middles - half, middles + half


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(0, 10_000))
def test_names_cover_neither_names_nor_named_points_at_any_scale_they_are_shown_at(n, seed):
    rng = np.random.default_rng(seed)
    points, lengths = rng.uniform(0, 300, (n, 2)), rng.integers(1, 15, n)
    limits = np.array([[-40.0, -20.0], [340.0, 320.0]])
    offsets, half, fits = place_names(points, lengths, SCALES, limits=limits)
    np.testing.assert_allclose(half[:, 0], 3.5 * lengths)
    for s, scale in enumerate(SCALES):
        shown = np.flatnonzero(fits <= s)
        low, high = boxes(points[shown], offsets[shown], half[shown], scale)
        assert np.all(low >= limits[0] * scale) and np.all(high <= limits[1] * scale)
        overlap = np.all((low[:, None] < high) & (low < high[:, None]), axis=2)
        assert np.count_nonzero(overlap) == len(shown)
        others = points * scale
        inside = np.all((low[:, None] < others) & (others < high[:, None]), axis=2)
        assert not inside.any()


def test_points_far_apart_all_get_their_names_on_the_right():
    offsets, half, fits = place_names([[0, 0], [500, 0], [0, 500]], [5, 6, 7], SCALES)
    assert fits.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(np.sign(offsets), [[1, 0]] * 3)
    np.testing.assert_allclose(offsets[:, 0] - half[:, 0], 9)


def test_names_without_room_on_a_narrow_page_come_on_a_wide_one():
    points = np.stack(np.meshgrid(np.arange(4) * 30.0, np.arange(4) * 12.0), axis=-1).reshape(-1, 2)
    _, _, fits = place_names(points, [6] * 16, np.array([[1.0, 1.0], [2.0, 2.0], [6.0, 6.0]]))
    counts = [np.count_nonzero(fits <= s) for s in range(3)]
    assert counts[0] < counts[1] <= counts[2] == 16


def test_a_point_without_a_name_is_left_in_sight_where_that_is_possible():
    free, _, _ = place_names([[0.0, 0.0]], [4], [[1.0, 1.0]])
    moved, _, fits = place_names([[0.0, 0.0]], [4], [[1.0, 1.0]], around=[[20.0, 0.0]])
    assert fits[0] == 0
    assert free[0, 0] > 0 > moved[0, 0]


def test_equal_points_have_their_names_on_four_sides_and_a_fifth_has_no_room():
    offsets, _, fits = place_names(np.zeros((5, 2)), [3] * 5, SCALES)
    assert fits.tolist() == [0, 0, 0, 0, len(SCALES)]
    assert len(np.unique(np.sign(offsets[:4]), axis=0)) == 4


def test_no_points_have_no_names():
    offsets, half, fits = place_names(np.empty((0, 2)), [], SCALES)
    assert offsets.shape == half.shape == (0, 2)
    assert fits.shape == (0,)

"""Names beside points cover neither each other nor the points of others, at any width."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.views.axes.naming import place_names

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

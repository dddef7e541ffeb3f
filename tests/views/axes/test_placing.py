"""Names and dots are kept apart."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.views.axes.placing import place_labels, spread


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
    centres, half = place_labels(tips, [8] * len(tips))
    assert overlapping(centres, half) == []
    assert struck(centres, half, tips) == []


def test_twelve_names_at_one_point_are_spread_around_it():
    centres, half = place_labels(np.tile([100.0, 0.0], (12, 1)), [6] * 12)
    assert overlapping(centres, half) == []


@given(st.lists(st.tuples(st.floats(-200, 200), st.floats(-200, 200), st.integers(1, 18)), min_size=1, max_size=12))
def test_a_name_stays_near_its_arrow(arrows):
    tips, widths = np.array([a[:2] for a in arrows]), [a[2] for a in arrows]
    centres, half = place_labels(tips, widths)
    gap = np.abs(centres - tips) - half
    assert np.all(gap.min(axis=1) <= 57)
    assert np.all(np.isfinite(centres))


def test_no_arrows_need_no_names():
    centres, half = place_labels(np.empty((0, 2)), [])
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

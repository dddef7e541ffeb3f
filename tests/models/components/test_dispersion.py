"""Dispersion: distinct points, mean squared distance, and the ball around all."""

import numpy as np
import pytest

from assay import dispersion
from assay.errors import DataError


def test_mean_square_is_half_the_mean_squared_distance_between_pairs():
    X = np.random.default_rng(0).standard_normal((40, 3)) + 1e6
    pairs = ((X[:, None] - X) ** 2).sum(axis=2).mean()
    assert dispersion(X).mean_square == pytest.approx(pairs / 2, rel=1e-9)
    assert dispersion(X).distinct == 40


def test_equal_points_count_once_and_a_single_one_has_no_spread():
    assert dispersion([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0]]).distinct == 2
    for points in ([[5.0, 5.0]], np.full((9, 2), 5.0)):
        found = dispersion(points)
        assert (found.distinct, found.mean_square, found.radius, found.center.tolist()) == (1, 0.0, 0.0, [5.0, 5.0])


def test_the_ball_is_the_smallest_around_all_points():
    corners = np.array([[0.0, 0.0, 7.0], [4.0, 0.0, 7.0], [0.0, 3.0, 7.0], [1.0, 1.0, 7.0]])
    found = dispersion(corners)  # the longest side of a right triangle is a diameter
    assert found.radius == pytest.approx(2.5)
    assert found.center == pytest.approx([2.0, 1.5, 7.0])


def test_the_mean_square_is_at_most_the_square_of_the_radius():
    X = np.random.default_rng(1).standard_normal((200, 4))
    assert dispersion(X).mean_square <= dispersion(X).radius ** 2  # the mean is the best centre of squares


def test_what_is_not_finite_is_refused_with_its_place():
    with pytest.raises(DataError, match="row 1"):
        dispersion([[0.0, 1.0], [np.nan, 2.0]])


def test_no_points_are_refused():
    with pytest.raises(DataError, match="without points"):
        dispersion(np.empty((0, 2)))

"""Dispersion: distinct points and mean squared distance."""

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
    assert dispersion([[5.0, 5.0]]) == dispersion(np.full((9, 2), 5.0))
    assert dispersion([[5.0]]).mean_square == 0.0


def test_no_points_are_refused():
    with pytest.raises(DataError, match="without points"):
        dispersion(np.empty((0, 2)))

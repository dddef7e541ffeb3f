"""Moments of a stream."""

import numpy as np
import pytest

from assay.data.streams import StreamSource
from assay.errors import ParameterError
from assay.summary.moments.moments import Moments
from assay.summary.moments.running import running_moments


def test_without_fading_the_last_summary_is_that_of_all_rows():
    X = np.random.default_rng(0).standard_normal((50, 3))
    *_, last = running_moments(StreamSource(iter(np.array_split(X, 7))))
    whole = Moments.of(X)
    assert last.count == 50
    np.testing.assert_allclose(last.covariance, whole.covariance, rtol=1e-13)


@pytest.mark.parametrize("cuts", [[], [1, 2, 3], [20], [7, 8, 41, 59]])
def test_with_a_half_life_every_row_weighs_as_its_own_age_says_wherever_blocks_are_cut(cuts):
    X = np.random.default_rng(0).standard_normal((60, 2)) + 100.0
    *_, last = running_moments(iter(np.split(X, cuts)), half_life=20.0)
    expected = Moments.of(X, weights=0.5 ** (np.arange(59, -1, -1) / 20.0))
    assert last.count == 60
    np.testing.assert_allclose(last.weight, expected.weight, rtol=1e-14)
    np.testing.assert_allclose(last.mean, expected.mean, rtol=1e-14)
    np.testing.assert_allclose(last.scatter, expected.scatter, rtol=1e-12)


def test_rows_may_fade_faster_than_a_block_is_long():
    *_, last = running_moments(iter([np.zeros((5000, 1)), np.ones((5000, 1))]), half_life=1.0)
    assert last.mean[0] == 1.0


def test_a_changed_level_is_followed():
    blocks = [np.full((100, 1), level) for level in (0.0,) * 10 + (5.0,) * 10]
    *_, faded = running_moments(iter(blocks), half_life=100)
    *_, kept = running_moments(iter(blocks))
    assert faded.mean[0] > 4.99
    assert kept.mean[0] == 2.5


def test_a_half_life_is_positive():
    with pytest.raises(ParameterError, match="half_life is a number of rows above 0; got 0"):
        next(running_moments([np.ones((2, 2))], half_life=0))

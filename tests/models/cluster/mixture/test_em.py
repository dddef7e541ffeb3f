"""The EM loop: it keeps the best point, knows its value, and says why it stopped."""

from __future__ import annotations

import numpy as np
import pytest

from assay.models.cluster.mixture.em import ascend


def halving(x):
    """A concave objective whose step halves the way to its top at 1."""
    return -((x - 1.0) ** 2), (x + 1.0) / 2.0


def test_the_value_belongs_to_the_point_returned_and_one_more_step_leads_on_from_it():
    ended = ascend(halving, 0.0, tol=1e-4, max_iter=50)
    assert ended.converged
    assert ended.values[-1] == halving(ended.point)[0]
    assert ended.following == halving(ended.point)[1]
    assert len(ended.values) == ended.n_iter + 1
    assert ended.rise == ended.values[-1] - ended.values[-2] <= 1e-4 < ended.values[-2] - ended.values[-3]


def test_steps_are_counted_and_the_limit_is_not_convergence():
    seen = []
    ended = ascend(halving, 0.0, tol=0.0, max_iter=3, progress=lambda step, value: seen.append((step, value)))
    assert (ended.n_iter, ended.converged, ended.point) == (3, False, 0.875)
    assert seen == [(t, ended.values[t]) for t in (1, 2, 3)]


def test_a_start_at_the_top_is_left_at_once():
    ended = ascend(halving, 1.0, tol=0.0, max_iter=9)
    assert (ended.n_iter, ended.converged, ended.point, ended.rise) == (1, True, 1.0, 0.0)


@pytest.mark.parametrize(("fall", "converged"), [(1e-12, True), (0.1, False)])
def test_a_step_down_is_not_kept_and_counts_as_converged_only_within_rounding(fall, converged):
    values = {0: 1.0, 1: 2.0, 2: 2.0 - fall}
    ended = ascend(lambda x: (values[x], x + 1), 0, tol=0.0, max_iter=9)
    assert (ended.point, ended.n_iter, ended.converged) == (1, 2, converged)
    np.testing.assert_array_equal(ended.values, [1.0, 2.0])
    assert ended.rise == pytest.approx(-fall)

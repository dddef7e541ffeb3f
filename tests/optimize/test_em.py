"""The EM loop: it keeps the best point, knows its value, and says why it stopped."""

from __future__ import annotations

import numpy as np
import pytest

from assay.optimize.em import EMStep, climb, geometric_rest


def halving(x):
    """A concave objective whose step halves the way to its top at 1."""
    return EMStep(x, 1.0 - (x - 1.0) ** 2, -((x - 1.0) ** 2), (x + 1.0) / 2.0)


def test_the_value_belongs_to_the_point_returned_and_one_more_step_leads_on_from_it():
    ended = climb(halving, 0.0, tol=1e-4, max_iter=50)
    assert ended.converged
    again = halving(ended.last.at)
    assert ended.objectives[-1] == ended.last.objective == again.objective
    assert ended.log_likelihoods[-1] == again.log_likelihood
    assert (ended.last.next, ended.before.next) == (again.next, ended.last.at)
    values = ended.objectives
    assert len(values) == ended.n_iter + 1
    assert ended.rise == ended.left == values[-1] - values[-2] <= 1e-4 < values[-2] - values[-3]


def test_steps_are_counted_and_the_limit_is_not_convergence():
    seen = []
    ended = climb(halving, 0.0, tol=0.0, max_iter=3, progress=seen.append)
    assert (ended.n_iter, ended.converged, ended.last.at) == (3, False, 0.875)
    assert seen == [1, 2, 3]


def test_a_start_at_the_top_is_left_at_once():
    ended = climb(halving, 1.0, tol=0.0, max_iter=9)
    assert (ended.n_iter, ended.converged, ended.last.at, ended.rise) == (1, True, 1.0, 0.0)


@pytest.mark.parametrize(("fall", "converged"), [(1e-12, True), (0.1, False)])
def test_a_step_down_is_not_kept_and_counts_as_converged_only_within_rounding(fall, converged):
    values = {0: 1.0, 1: 2.0, 2: 2.0 - fall}
    ended = climb(lambda x: EMStep(x, values[x], values[x], x + 1), 0, tol=0.0, max_iter=9)
    assert (ended.last.at, ended.n_iter, ended.converged) == (1, 2, converged)
    np.testing.assert_array_equal(ended.objectives, [1.0, 2.0])
    assert ended.rise == pytest.approx(-fall) and ended.left == -ended.rise


def test_the_geometric_rest_is_what_steps_that_shrink_evenly_still_gain():
    ended = climb(halving, 0.0, tol=1e-4, max_iter=50, left=geometric_rest)
    assert ended.converged
    assert ended.left == pytest.approx(ended.rise)  # never less than the last rise
    assert -ended.last.objective == pytest.approx(ended.rise / 3.0)  # rises shrink by a quarter here


def test_jumps_reach_the_top_of_a_slow_climb_in_a_fraction_of_the_steps():
    rates = np.array([0.99, 0.9, 0.5])
    calls = []

    def evaluate(point):
        calls.append(point)
        x, S = point
        return EMStep(point, -float(x @ x), -float(x @ x), (rates * x, S))

    start = np.ones(3), np.eye(3)
    ended = climb(evaluate, start, max_iter=2000, tol=1e-12, left=geometric_rest, jumps=True)
    plain = np.log(1e-6) / np.log(0.99)
    assert ended.converged and len(calls) < plain / 10
    assert ended.n_iter == len(calls) - 1
    assert (np.diff(ended.objectives) >= 0).all()

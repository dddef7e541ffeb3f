"""Gaps below the farthest: rare where one law made all values, found where it did not, whatever lies beyond."""

import numpy as np
import pytest
from scipy import stats

from assay.questions.anomalies.gap import fitted, gaps, widest_gap
from assay.questions.anomalies.normal_rows import NormalRows


@pytest.mark.parametrize(
    "law", [stats.norm(), stats.expon(), stats.uniform(), stats.t(3)], ids=lambda law: law.dist.name
)
def test_values_of_one_law_rarely_have_a_gap(law):
    # of 60 more than 8: a chance of .002 at a true rate of 5%, .79 at 18%
    p = [
        widest_gap(np.sort(law.rvs(size=100, random_state=np.random.default_rng([seed, 1]))), 20, alone=True).p
        for seed in range(60)
    ]
    assert sum(value <= 0.05 for value in p) <= 8


@pytest.mark.parametrize("many", [1, 3, 15])
def test_as_many_as_lie_beyond_are_found_and_no_others(many):
    scores = np.sort(np.random.default_rng(1).uniform(size=100))
    scores[-many:] += 1.5
    gap = widest_gap(scores, 20, alone=True)
    assert gap.count == many and gap.p < 0.01


def test_rows_in_two_heaps_are_found_one_heap_after_the_other():
    scores = np.random.default_rng(2).uniform(size=120)
    scores[:3], scores[3:9] = 9.0 + 0.1 * scores[:3], 3.0 + 0.1 * scores[3:9]
    q, p = gaps(scores, 0.05, alone=True)
    assert set(np.flatnonzero(q <= 0.05)) == set(range(9)) and p <= 0.05


def test_how_far_out_the_farthest_lie_does_not_bend_the_tail():
    scores = np.sort(np.random.default_rng(3).standard_normal(300))
    near = fitted(scores, 10)
    scores[-10:] += 1e6
    assert fitted(scores, 10).heaviness == near.heaviness


def test_chances_fall_and_what_is_reached_is_their_inverse():
    scores = np.sort(np.random.default_rng(4).exponential(size=300))
    tail = fitted(scores, 1)
    chances = [tail.beyond(place) for place in tail.end + np.linspace(0.0, 9.0, 30)]
    assert chances[0] == pytest.approx(1.0) and np.all(np.diff(chances) < 0.0)
    assert tail.beyond(tail.reached(0.02)[0]) == pytest.approx(0.02, rel=0.1)
    assert tail.beyond(tail.end + 1.0, 2) >= tail.beyond(tail.end + 1.0) ** 2  # Jensen: doubt is shared by the two


def test_no_gap_is_rarer_than_among_normal_rows():
    rng = np.random.default_rng(5)
    scores = np.sort(np.log(np.linalg.norm(rng.standard_normal((500, 4)), axis=1)))
    tail = fitted(scores, 1, NormalRows(4, 400.0), lambda _: (1e9, 1e9))
    assert tail.likely[0] > 0.9 and sum(tail.likely) == pytest.approx(1.0)
    for far in (0.2, 0.5, 1.0):
        assert tail.beyond(tail.end + far) >= tail.normal.beyond(tail.end + far, tail.end, 1) > 0.0


def test_one_value_many_times_has_no_tail():
    assert fitted(np.zeros(100), 1) is None
    assert widest_gap(np.zeros(100), 20, alone=True).p == 1.0


def test_another_order_of_the_rows_changes_nothing():
    scores = np.random.default_rng(6).standard_normal(200)
    scores[:4] += 9.0
    order = np.random.default_rng(7).permutation(200)
    q, p = gaps(scores, 0.05, alone=True)
    mixed, same = gaps(scores[order], 0.05, alone=True)
    assert p == same
    np.testing.assert_array_equal(mixed, q[order])

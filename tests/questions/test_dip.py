"""The dip against its definition: the nearest law of one peak, found by a linear program."""

import numpy as np
import pytest
from scipy.optimize import linprog

from assay.questions.groups.dip import dip_chance, dips


def nearest_single_peak(x):
    """Least largest difference of distribution functions over laws convex up to a value and concave from there on."""
    x = np.sort(x)
    n = len(x)
    below, upto = np.arange(n) / n, np.arange(1, n + 1) / n
    return min(_with_peak(x, below, upto, peak) for peak in range(n))


def _with_peak(x, below, upto, peak):
    """The law's values left of the peak, right of it, and the largest difference, which is made small."""
    n, left = len(x), peak + 1
    size = left + n - peak + 1
    rows, bounds = [], []

    def at_most(entries, bound):
        row = np.zeros(size)
        for place, weight in entries:
            row[place] += weight
        rows.append(row)
        bounds.append(bound)

    for i in range(left):
        at_most([(i, 1), (-1, -1)], below[i])
        at_most([(i, -1), (-1, -1)], -(upto[i] if i < peak else below[i]))
    for i in range(peak, n):
        at_most([(left + i - peak, 1), (-1, -1)], below[i] if i > peak else upto[i])
        at_most([(left + i - peak, -1), (-1, -1)], -upto[i])
    steps = np.diff(x)
    for first, last, place, sign in ((0, peak, 0, 1), (peak, n - 1, left - peak, -1)):
        for i in range(first, last - 1):
            a, b = 1 / steps[i], 1 / steps[i + 1]
            at_most([(place + i, -sign * a), (place + i + 1, sign * (a + b)), (place + i + 2, -sign * b)], 0.0)
    at_most([(left - 1, 1), (left, -1)], 0.0)
    if left > 1:
        at_most([(0, 1), (1, -1)], 0.0)
    if n - peak > 1:
        at_most([(size - 3, 1), (size - 2, -1)], 0.0)
    cost = np.zeros(size)
    cost[-1] = 1.0
    return linprog(cost, A_ub=np.array(rows), b_ub=bounds, bounds=[(0, 1)] * (size - 1) + [(0, None)]).fun


@pytest.mark.parametrize("seed", range(4))
def test_the_dip_is_the_distance_to_the_nearest_law_of_one_peak(seed):
    rng = np.random.default_rng(seed)
    x = rng.random(12) if seed % 2 else rng.standard_normal(12) + 4.0 * (rng.random(12) < 0.5)
    assert dips(x[:, None])[0] == pytest.approx(nearest_single_peak(x), abs=1e-9)


def test_a_heap_may_be_the_peak_but_not_a_second_one():
    rng = np.random.default_rng(0)
    tail = rng.exponential(size=100)
    edge, away = np.concatenate([np.zeros(60), tail]), np.concatenate([np.full(60, 8.0), tail])
    small, large = dips(np.column_stack([edge, away]))
    assert dip_chance(small, 160) > 0.1 and dip_chance(large, 160) < 1e-6


def test_units_and_sign_do_not_matter():
    x = np.random.default_rng(1).standard_normal((80, 1))
    for other in (1e200 * x, -1e-200 * x):
        np.testing.assert_allclose(dips(other), dips(x), rtol=1e-9)


@pytest.mark.parametrize("n", [30, 150, 800])
def test_chances_are_those_of_uniform_tables(n):
    rng = np.random.default_rng(n)
    found = np.array([dip_chance(d, n) for d in dips(rng.random((n, 3000)))])
    # of 3,000 tables a share of .05 has a standard error of .004, one of .01 of .0018: four of these, and for the fit
    for level, error in ((0.05, 0.004), (0.01, 0.0018)):
        assert abs(np.mean(found <= level) - level) < 4 * error + 0.2 * level


def test_values_that_are_all_the_same_have_no_dip_to_speak_of():
    assert dip_chance(float(dips(np.ones((50, 1)))[0]), 50) == 0.5

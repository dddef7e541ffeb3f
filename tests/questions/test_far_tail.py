"""The far tail: right where the law is known, modest where it is not, and not bent by the outliers themselves."""

import numpy as np
import pytest
from scipy import stats

from assay.questions.anomalies.far_tail import far_tail


@pytest.mark.parametrize("law", [stats.expon(), stats.halfnorm(), stats.genpareto(0.2)])
def test_chances_of_a_known_law_are_modest_and_of_the_right_order(law):
    logs = []
    for seed in range(20):
        tail = far_tail(law.rvs(size=2000, random_state=np.random.default_rng(seed)))
        logs.append(np.log(tail.chance(np.array([law.isf(1e-4)]))[0] / 1e-4))
    # doubt makes it modest, most so where the tail is light; bold it must not be
    assert -np.log(2) < np.mean(logs) < np.log(10)


def test_inside_the_sample_the_chance_is_the_share_beyond():
    values = np.random.default_rng(0).exponential(size=5000)
    tail = far_tail(values)
    at = np.quantile(values, [0.93, 0.97, 0.99])
    np.testing.assert_allclose(tail.chance(at), [0.07, 0.03, 0.01], rtol=0.2)


def test_chance_falls_and_what_it_reaches_is_its_inverse():
    tail = far_tail(np.random.default_rng(1).exponential(size=1000))
    places = tail.threshold + np.linspace(0, 30, 50)
    assert np.all(np.diff(tail.chance(places)) < 0)
    at = tail.reached_once_in(5000)
    assert tail.chance(np.array([at]))[0] == pytest.approx(1 / 5000, rel=0.05)


def test_outliers_do_not_make_the_tail_in_which_they_hide():
    values = np.abs(np.random.default_rng(2).standard_normal(1000))
    clean = far_tail(values).chance(np.array([9.0]))[0]
    values[:10] = 9.0
    assert far_tail(values).chance(np.array([9.0]))[0] < 30 * clean


def test_one_value_many_times_leaves_nothing_to_extrapolate():
    assert np.isnan(far_tail(np.zeros(100)).heaviness)

"""Ranks among the rows before, and a share of false alerts that is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.sampling import row_keys
from assay.watch.anomalies import Ranks


def ranks(alpha, horizon, kept=16_384, **more):
    return Ranks(alpha, horizon, old=np.zeros(kept), new=np.zeros(kept), **more)


def plainly(scores, start, alpha, horizon, seed=0):
    """The definitions, with every score kept: p, level and alert of each row."""
    keys = row_keys(0, len(scores), seed)
    kept, found, out = list(start), [], []
    H = np.log(horizon) + 0.5772156649015329 + 0.5 / horizon
    for t, (score, key) in enumerate(zip(scores, keys, strict=True)):
        place = t % horizon + 1
        if place == 1:
            found = []
        larger, equal = sum(s > score for s in kept), sum(s == score for s in kept)
        p = (1 + larger + int(key * (equal + 1))) / (len(kept) + 1)
        rewards = [(alpha if j else alpha / 2) / ((place - f) * H) for j, f in enumerate(found)]
        level = min(alpha / 2 / horizon + sum(rewards), alpha)
        alert = p <= level
        if alert:
            found.append(place)
        else:
            kept.append(score)
        out.append((p, level, alert))
    return out


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=80),
    st.lists(st.integers(0, 9), max_size=40),
    st.sampled_from([0.2, 0.9]),
    st.sampled_from([1, 3, 20]),
)
def test_ranks_levels_and_alerts_are_those_of_the_definitions(scores, start, alpha, horizon):
    scores, start = np.array(scores, float), np.array(start, float)
    state = ranks(alpha, horizon, tail=False)
    state.begin(start)
    judged = state.judge(scores, 0)
    expected = plainly(scores, start, alpha, horizon)
    np.testing.assert_allclose(judged.p, [p for p, _, _ in expected], rtol=1e-14)
    assert (judged.flags > 0).tolist() == [alert for _, _, alert in expected]
    close = judged.p <= alpha
    np.testing.assert_allclose(judged.level[close], np.array([level for _, level, _ in expected])[close], rtol=1e-12)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=200), st.integers(0, 2**32))
def test_with_few_scores_kept_ranks_among_them_are_still_exact(scores, seed):
    scores = np.array(scores)
    whole, part = ranks(0.2, 10, tail=False, seed=seed % 1000), ranks(0.2, 10, kept=8, tail=False, seed=seed % 1000)
    start = np.random.default_rng(seed).uniform(0.0, 1.0, 30)
    whole.begin(start)
    part.begin(start)
    a, b = whole.judge(scores, 0), part.judge(scores, 0)
    if (a.flags == b.flags).all():  # one that is not told leaves other ranks behind
        told = b.p < 1.0
        assert (a.p[told] == b.p[told]).all()
    assert (b.p >= a.p - 1e-15)[: max(int(np.argmax(a.flags != b.flags)), 1)].all()


@given(st.lists(st.floats(0.0, 1.0), min_size=50, max_size=50), st.floats(0.01, 0.5))
def test_whatever_is_found_the_levels_of_a_stretch_stay_below_alpha_times_its_alerts(values, alpha):
    """The sum that LORD++ keeps: it bounds the estimated share of false alerts by alpha."""
    state = ranks(alpha, 50)
    state.begin(np.random.default_rng(0).uniform(0.0, 0.7, 400))
    judged = state.judge(np.array(values), 0)
    level = judged.level.copy()
    base = np.array([level for _, level, _ in plainly(values, [], alpha, 50)])
    alerts = (judged.flags > 0).sum()
    assert level.sum() <= alpha * max(alerts, 1) + 1e-12
    assert base.sum() <= alpha * max(sum(alert for _, _, alert in plainly(values, [], alpha, 50)), 1) + 1e-12


def stretches(draw, *, alpha, horizon, calibrated, count, tail, seed=0):
    """Share of clean stretches with an alert, a new stream each."""
    rng = np.random.default_rng(seed)
    any_alert = 0
    for i in range(count):
        state = ranks(alpha, horizon, kept=2000, tail=tail, seed=i)
        state.begin(draw(rng, calibrated))
        any_alert += bool(state.judge(draw(rng, horizon), 0).flags.any())
    return any_alert / count


def chi(rng, n):
    return rng.chisquare(5, n)


def heavy(rng, n):
    return rng.f(5, 3, n)  # squared distances of rows with the tails of Student's t with 3 degrees of freedom


def tied(rng, n):
    return rng.poisson(3.0, n).astype(float)


class TestCleanStretches:
    @pytest.mark.parametrize("draw", [chi, heavy, tied])
    def test_ranks_alone_give_an_alert_with_chance_half_of_alpha(self, draw):
        """Before the first alert half of alpha is spent; 2,000 streams tell a share of .1 from .125 or .075."""
        share = stretches(draw, alpha=0.2, horizon=10, calibrated=399, count=2000, tail=False)
        # level .01 in a grid of 1/400: ten looks at 4/400 and slightly less as rows join
        expected = 1.0 - 0.99**10
        assert abs(share - expected) < 4.0 * np.sqrt(expected * (1.0 - expected) / 2000)

    def test_with_too_few_rows_ranks_alone_say_nothing_and_the_tail_does(self):
        assert stretches(chi, alpha=0.05, horizon=1000, calibrated=500, count=50, tail=False) == 0.0
        state = ranks(0.05, 1000)
        state.begin(chi(np.random.default_rng(0), 500))
        assert state.judge(np.array([500.0]), 0).flags.tolist() == [2]

    @pytest.mark.parametrize("draw", [chi, heavy, tied, lambda rng, n: np.exp(rng.normal(0.0, 2.0, n))])
    def test_the_extrapolated_tail_keeps_the_chance_of_a_clean_stretch(self, draw):
        """600 streams would show a chance of .1; alpha is .05."""
        share = stretches(draw, alpha=0.05, horizon=1000, calibrated=2500, count=600, tail=True)
        assert share <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / 600)


def test_among_planted_anomalies_few_alerts_are_false_and_most_are_found():
    """200 streams of 2,000 rows, 1% of them far out: a false share of .1 would show, alpha is .05."""
    rng = np.random.default_rng(0)
    shares, power = [], []
    for i in range(200):
        state = ranks(0.05, 2000, seed=i)
        state.begin(chi(rng, 5000))
        scores = chi(rng, 2000)
        planted = rng.random(2000) < 0.01
        scores[planted] += rng.uniform(40.0, 80.0, planted.sum())
        alerts = state.judge(scores, 0).flags > 0
        shares.append((alerts & ~planted).sum() / max(alerts.sum(), 1))
        power.append((alerts & planted).sum() / planted.sum())
    assert np.mean(shares) <= 0.05 + 3.0 * np.std(shares) / np.sqrt(200)
    assert np.mean(power) > 0.9


def test_alerts_do_not_hide_those_that_come_after():
    state = ranks(0.05, 1000)
    state.begin(chi(np.random.default_rng(0), 2000))
    assert state.judge(np.full(300, 300.0), 0).flags.all()
    assert state.count == 2000


def test_scores_of_old_generations_are_forgotten():
    state = ranks(0.05, 1000, renewed=500)
    rng = np.random.default_rng(0)
    state.begin(100.0 + chi(rng, 500))
    state.judge(chi(rng, 1600), 0)
    assert 500 <= state.count <= 1000
    assert state.judge(np.array([110.0]), 1600).flags[0]

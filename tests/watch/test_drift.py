"""Drift of mean, covariance and subspace against a reference, every look paid for."""

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import kstest

from assay.watch.drift import ASPECTS, Aspects, memory, spent
from assay.watch.law import RowLaw
from assay.watch.watch import Watch

D = 5
MIX = np.linalg.cholesky(0.5 * np.eye(D) + 0.5)


def normal(rng, n):
    return rng.standard_normal((n, D)) @ MIX.T


def heavy(rng, n):
    return normal(rng, n) / np.sqrt(rng.chisquare(5, (n, 1)) / 5)


def skewed(rng, n):
    return rng.exponential(size=(n, D)) @ MIX.T


def serial(rng, n, r=0.6):
    noise = rng.standard_normal((n + 200, D))
    return lfilter([np.sqrt(1 - r * r)], [1, -r], noise, axis=0)[200:] @ MIX.T


def looked(draw, rng, *, reference=1000, window=300):
    """P of each aspect for one window, with a reference of its own."""
    law = RowLaw.of(draw(rng, reference))
    aspects = Aspects.of(law, np.ascontiguousarray(draw(rng, reference).T), reference)
    whitened, far = law.whitened(np.ascontiguousarray(draw(rng, window).T))
    return aspects.judged(aspects.drawn_in(whitened, far).T)


@pytest.mark.parametrize("draw", [normal, heavy, skewed])
def test_without_drift_every_chance_is_what_it_says(draw):
    """300 windows, each with a reference of its own: a rate of .1 where .05 is said would show."""
    rng = np.random.default_rng(1)
    found = [looked(draw, rng) for _ in range(300)]
    for aspect in ASPECTS:
        p = np.array([look[aspect] for look in found])
        assert (p <= 0.05).mean() < 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / 300)
        assert kstest(p, "uniform").statistic < 0.12  # .094 has a chance of .01, and p may err by a little


def test_levels_of_all_looks_and_aspects_add_up_to_alpha():
    total = sum(spent(0.05, look) for look in range(1, 200_000))
    assert 0.0499 < len(ASPECTS) * total < 0.05


@pytest.mark.parametrize("draw", [normal, heavy])
def test_over_a_long_clean_stream_any_false_alert_of_drift_is_rare(draw):
    """60 streams of 100 windows: a chance of .2 of any alert would show, level is .05."""
    rng = np.random.default_rng(2)
    any_alert = 0
    for _ in range(60):
        watch = Watch(reference=1000, every=100, horizon=10_000)
        any_alert += any("drift" in alert.kind for alert in watch.update(draw(rng, 11_000)))
    assert any_alert <= 8  # of 60 at .05 more than 8 have a chance below .002


def first_alerts(change, *, draw=normal, seed=3):
    rng = np.random.default_rng(seed)
    watch = Watch(reference=2000, every=500)
    assert not [a for a in watch.update(draw(rng, 4000)) if "drift" in a.kind]
    told = [a for a in watch.update(change(draw(rng, 3000))) if "drift" in a.kind]
    return {alert.kind: alert for alert in reversed(told)}


class TestPower:
    def test_a_shift_of_a_third_of_a_standard_deviation_is_told_with_its_column(self):
        told = first_alerts(lambda X: X + 0.35 * np.eye(D)[2])
        alert = told["drift of the mean"]
        assert alert.columns[0] == "column 3" and 0.2 < alert.size < 0.6 and alert.verdict == "supported"
        assert alert.row <= 5000 and "drift of the subspace" not in told

    def test_a_wider_column_is_a_drift_of_the_covariance_with_its_column(self):
        told = first_alerts(lambda X: X * np.where(np.arange(D) == 1, 1.5, 1.0))
        assert told["drift of the covariance"].columns[0] == "column 2"
        assert "drift of the mean" not in told

    def test_a_turned_leading_direction_is_told_with_its_angle(self):
        turn = np.ones(D)
        turn[0] = -1.0  # column 1 now goes against the others
        told = first_alerts(lambda X: X * turn)
        assert 30.0 < told["drift of the subspace"].size <= 90.0
        assert "drift of the covariance" in told and "drift of the mean" not in told

    def test_a_few_rows_far_out_are_no_drift(self):
        def spoil(X):
            X[::500] = 1e6
            return X

        assert first_alerts(spoil) == {}


class TestDependentRows:
    def test_independent_rows_are_taken_for_that(self):
        rng = np.random.default_rng(4)
        assert [memory(draw(rng, 2500) - 1.0 * (draw is skewed)) for draw in (normal, heavy)] == [1, 1]

    def test_rows_that_remember_are_noticed_and_averaged_over_many_times_their_memory(self):
        rng = np.random.default_rng(5)
        run = memory(serial(rng, 2500))
        assert 20 <= run <= 60  # 8 times (1 + r) / (1 - r) = 32

    def test_without_averages_such_rows_would_be_called_drift_and_with_them_they_are_not(self):
        """60 windows: a rate above .15 would show where .05 is said; without averages it is above .5."""
        rng = np.random.default_rng(6)
        found = [looked(serial, rng, reference=2500, window=500) for _ in range(60)]
        assert np.mean([look["mean"] <= 0.05 for look in found]) < 0.15
        rng = np.random.default_rng(6)
        plain = []
        for _ in range(30):
            law = RowLaw.of(serial(rng, 2500))
            shuffled = rng.permutation(serial(rng, 2500))
            aspects = Aspects.of(law, np.ascontiguousarray(shuffled.T), 2500)
            whitened, far = law.whitened(np.ascontiguousarray(serial(rng, 500).T))
            plain.append(aspects.judged(aspects.drawn_in(whitened, far).T)["mean"] <= 0.05)
        assert np.mean(plain) > 0.5

    def test_alerts_are_suggestive_and_a_short_reference_says_that_drift_is_not_told(self):
        rng = np.random.default_rng(7)
        watch = Watch(reference=6000, every=500)
        told = watch.update(serial(rng, 8000))
        assert any("depend on those before" in alert.message for alert in told)
        told = watch.update(serial(rng, 2000) + 2.0)
        assert {alert.verdict for alert in told if alert.kind != "problem of input"} == {"suggestive"}
        assert "drift of the mean" in {alert.kind for alert in told}
        short = Watch(reference=1000, every=500)
        assert any("drift cannot be told" in alert.message for alert in short.update(serial(rng, 3000)))
        assert short.drift == {}


def test_more_products_than_rows_are_measured_by_their_inner_products():
    rng = np.random.default_rng(8)
    d = 60
    p = []
    for _ in range(5):
        law = RowLaw.of(rng.standard_normal((600, d)))
        aspects = Aspects.of(law, np.ascontiguousarray(rng.standard_normal((600, d)).T), 600)
        whitened, far = law.whitened(np.ascontiguousarray(rng.standard_normal((300, d)).T))
        p.append(aspects.judged(aspects.drawn_in(whitened, far).T)["covariance"])
    assert len(aspects.weights["covariance"]) == d * (d + 1) // 2
    assert 0.1 < np.mean(p) < 0.9 and min(p) > 1e-4

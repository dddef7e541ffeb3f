"""Smoothed problems: each brings its proof, the gap falls with mu, and a part of many rows does for all."""

import numpy as np
import pytest

from assay.models.anomaly.robust_svdd.smoothed_ball import stages


def gap(rows, C, squared, stage):
    """Objective less dual value at a stage, by the textbook; what the pulls miss of balance is told beside it."""
    off = rows - stage.c[:, None]
    lengths = np.sqrt((off**2).sum(axis=0))
    f = lengths**2 if squared else lengths
    r = np.sort(f)[::-1][int(np.ceil(1 / C - 1e-9)) - 1]
    unbalance = np.linalg.norm(off @ stage.a if squared else off @ (stage.a / lengths))
    return r + C * np.maximum(f - r, 0).sum() - stage.a @ f, unbalance


@pytest.mark.parametrize("squared", [False, True])
def test_the_weights_of_every_stage_balance_and_the_gap_falls_with_mu(squared):
    rows = np.random.default_rng(0).standard_normal((3, 200))
    C = 1 / 30.5
    found = list(stages(rows, C, squared, rows.mean(axis=1), 100))
    for stage in found[2:]:
        left, unbalance = gap(rows, C, squared, stage)
        assert (stage.a >= 0).all() and (stage.a <= C).all() and stage.a.sum() == pytest.approx(1, abs=1e-2)
        # a stage ends with a gain of 1e-4 mu at most, and the weights are a step ahead of that
        assert unbalance <= 1e-2 and left <= 30 * stage.mu + 1e-13
    assert found[-1].mu <= 1e-13


@pytest.mark.parametrize("squared", [False, True])
def test_a_sample_and_the_rows_near_the_sphere_lead_to_the_ball_of_all_rows(squared):
    rows = np.random.default_rng(1).standard_t(3, (4, 3000))
    rows = rows[:, np.argsort(rows[0])]
    ends = [list(stages(rows, 1 / 300, squared, np.zeros(4), 100, part=part))[-1] for part in (True, False)]
    assert ends[0].part and not ends[1].part
    assert ends[0].c == pytest.approx(ends[1].c, abs=1e-9)


def test_a_budget_of_steps_is_kept():
    rows = np.random.default_rng(2).standard_normal((3, 2500))
    for most in (1, 3, 7):
        assert [stage.steps for stage in stages(rows, 1 / 250, False, np.zeros(3), most)][-1] <= most

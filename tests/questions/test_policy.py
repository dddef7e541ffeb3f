"""Does it matter what is done, and what is best? Asked of trials."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import assay
from assay.errors import ParameterError
from assay.models.decision.mdp.learning.trials import read_trials
from assay.questions.policy.test import _clinging, _exchanged, _strata, policy
from assay.report.findings_json import dumps
from assay.report.page import render

COLUMNS = ["episode", "step", "state", "action", "reward", "next_state", "terminated"]


def walked(rng, *, matters, trials=40, n=3, k=2, longest=10, habits=False):
    """Trials in which it matters what is done, or not; with habits a trial has actions and luck of its own."""
    many = k if matters else 1
    P, R = rng.dirichlet(np.full(n, 0.5), size=(n, many)), 1.5 * rng.normal(size=(n, many))
    rows = []
    for t in range(trials):
        s, usual, luck = int(rng.integers(n)), np.full(k, 1 / k), 0.0
        if habits:
            usual, luck = rng.dirichlet(np.full(k, 0.4)), 2.0 * rng.normal()
        for i in range(longest):
            a = int(rng.choice(k, p=usual))
            b = a if matters else 0
            after, over = int(rng.choice(n, p=P[s, b])), bool(rng.random() < 0.1)
            rows.append((t, i, s, a, float(R[s, b] + luck + rng.normal()), after, over))
            if over:
                break
            s = after
    return rows


def asked(rows, seed=0):
    return policy(read_trials(rows), None, 0.05, seed, lambda what: None)


@pytest.fixture(scope="module")
def real():
    return assay.study(pd.DataFrame(walked(np.random.default_rng(3), matters=True, trials=120), columns=COLUMNS))


def test_where_it_matters_the_gain_is_supported_and_said(real):
    (found,) = real.findings
    assert found.evidence.verdict == "supported" and found.evidence.held_out > 0
    assert found.sentence.startswith("What is done matters: policies learned from half of the trials are worth")
    answer = real.answers["policy"]
    assert 0 < answer.clear.sum() <= len(answer.learned.choices.states)
    assert f"In {answer.clear.sum()} of 3 states the best action can be told" in found.sentence


def test_the_study_knows_trials_by_their_columns(real, tmp_path):
    assert real.data.form == "trials"
    assert real.data.facts[0] == "120 trials" and "studied as trials of decisions" in real.data.notes[0]
    frame = pd.DataFrame(walked(np.random.default_rng(0), matters=True), columns=COLUMNS)
    rows = assay.study(frame, form="table")
    assert rows.data.form == "table"
    named = frame.rename(columns={"episode": "who", "reward": "gain"})
    assert assay.study(named.head(30)).data.form == "table"


def test_the_page_shows_policy_table_and_curve(real):
    names = [view.name for view in real.answers["policy"].views()]
    assert names == ["policy", "policy-growth"]
    page = render(real)
    assert "Would more trials help?" in page and "The best action in each state" in page and "Next best" in page
    told = json.loads(dumps(real))["answers"]["policy"]["numbers"]
    assert {"supported", "q", "best_in_draws"} <= set(told["states"][0]) and len(told["curve"]) > 2


def test_where_it_does_not_matter_it_is_seldom_supported():
    """Of 20 tables 3 or fewer; a rate of 40% would pass with a chance of .02."""
    supported = sum(
        asked(walked(np.random.default_rng(seed), matters=False), seed).evidence.verdict == "supported"
        for seed in range(20)
    )
    assert supported <= 3


@pytest.mark.calibrate
@pytest.mark.parametrize("habits", [False, True])
def test_over_many_tables_at_most_five_percent_are_supported(habits):
    """Of 200 tables 17 or fewer; a rate of 5% passes with a chance of .99, one of 12% with .06."""
    supported = sum(
        asked(walked(np.random.default_rng(seed), matters=False, habits=habits), seed).evidence.verdict == "supported"
        for seed in range(200)
    )
    assert supported <= 17


def test_exchanged_actions_stay_in_their_state_and_in_their_trial():
    trials = read_trials(walked(np.random.default_rng(1), matters=True, k=3))
    rng = np.random.default_rng(0)
    for by_trial in (False, True):
        mixed = _exchanged(trials, by_trial, rng)
        group = trials.state * trials.n_trials + trials.trial if by_trial else trials.state
        assert not np.array_equal(mixed, trials.action)
        for one in np.unique(group):
            assert sorted(mixed[group == one]) == sorted(trials.action[group == one])


def test_habits_of_trials_are_seen_and_steps_then_stay_in_their_trial():
    rng = np.random.default_rng(4)
    free, bound = (read_trials(walked(rng, matters=False, habits=habits)) for habits in (False, True))
    assert _strata(free, np.random.default_rng(0)) == (False, "")
    assert _strata(bound, np.random.default_rng(0)) == (True, "")
    assert _clinging(bound, bound.action) > 2 * _clinging(bound, _exchanged(bound, False, np.random.default_rng(0)))


def test_where_a_trial_always_does_the_same_it_is_suggestive_at_most():
    rows = walked(np.random.default_rng(5), matters=True, trials=80)
    one_way = read_trials(rows)
    stuck = replace(one_way, action=one_way.trial % 2)
    found = policy(stuck, None, 0.05, 0, lambda what: None)
    assert found.evidence.limit.startswith("actions go with trials")
    assert found.evidence.verdict != "supported"


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (walked(np.random.default_rng(0), matters=True, trials=10), "it takes 20 trials"),
        ([(t, 1, "x", "go", 1.0, "y", True) for t in range(30)], "in no state were two actions taken"),
    ],
)
def test_too_little_to_ask_is_said(rows, why):
    study = assay.study(pd.DataFrame(rows, columns=COLUMNS))
    assert not study.findings and [silent.why for silent in study.ledger.not_asked] == [why]


def test_constant_rewards_leave_nothing_to_gain():
    rows = [(*row[:4], 0.0, *row[5:]) for row in walked(np.random.default_rng(2), matters=True)]
    found = asked(rows)
    assert found.evidence.held_out == pytest.approx(0.0, abs=1e-9)
    assert found.evidence.verdict == "not distinguishable from chance"


def test_a_wrong_discount_is_refused():
    with pytest.raises(ParameterError, match="discount is at least 0 and below 1; got 1.5"):
        assay.study(pd.DataFrame(walked(np.random.default_rng(0), matters=True), columns=COLUMNS), discount=1.5)
    with pytest.raises(ParameterError, match="trials are read without 'sheet'"):
        assay.study.forms.opened.opened([], "trials", {"sheet": 1})


def test_names_of_states_and_actions_are_words_in_the_table_that_is_searched(real):
    page = render(real)
    assert "u003cbdi" not in page and "lt;bdi" not in page

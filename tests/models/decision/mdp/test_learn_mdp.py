"""Decision processes learned from trials: counts, ends and cuts, evidence, edges and refusals."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay import MDP, learn_mdp
from assay.errors import DataError, ParameterError
from assay.models.decision.mdp.learning.counts import counted
from assay.models.decision.mdp.learning.estimates import Estimates, Solver
from assay.models.decision.mdp.learning.trials import read_trials

NAMES = ["trial", "step", "state", "action", "reward"]
STEPS = [
    ("one", 1, "new", "run", 5.0),
    ("one", 2, "worn", "run", 1.0),
    ("one", 3, "broken", None, -2.0),
    ("two", 1, "new", "run", 3.0),
    ("two", 2, "worn", "mend", -1.0),
    ("two", 3, "new", "run", 4.0),
]


def world(rng, n, k, *, alike):
    """Transitions (n, k, n) and rewards (n, k); where `alike`, every action of a state is the same."""
    many = 1 if alike else k
    P, R = rng.dirichlet(np.full(n, 0.5), size=(n, many)), rng.normal(size=(n, many))
    return (np.repeat(P, k, 1), np.repeat(R, k, 1)) if alike else (P, R)


def walked(rng, P, R, trials, longest, *, over=0.1):
    """Trials of random actions; each step ends the trial with probability `over`."""
    n, k, _ = P.shape
    rows, C = [], P.cumsum(-1)
    for t in range(trials):
        s = int(rng.integers(n))
        for i in range(longest):
            a = int(rng.integers(k))
            after = min(int(np.searchsorted(C[s, a], rng.random())), n - 1)
            ended = bool(rng.random() < over)
            rows.append((t, i, s, a, float(R[s, a] + rng.normal()), after, ended))
            if ended:
                break
            s = after
    return rows


def true_value(P, R, policy, discount, over=0.1):
    rows = np.arange(len(P))
    return np.linalg.solve(np.eye(len(P)) - discount * (1 - over) * P[rows, policy], R[rows, policy])


class TestCounts:
    def test_probabilities_are_shares_and_rewards_are_means(self):
        found = learn_mdp(STEPS, 0.9)
        assert found.outcomes("new", "run") == {"worn": 2, None: 1}
        assert found.outcomes("worn", "run") == {"broken": 1}
        shares = found.probabilities()
        at = shares.states.index("new")
        assert (shares.next_states[at], shares.probability[at], shares.count[at]) == ("worn", 1.0, 2)
        q = found.mdp.with_discount(0.0).policy_iteration().action_values
        s, a = found.mdp.states.index("new"), found.mdp.actions.index("run")
        assert q[s, a] == pytest.approx((5.0 + 3.0 + 4.0) / 3)  # the reward of the last, cut off action counts

    def test_the_learned_process_is_the_one_of_the_counts(self):
        rng = np.random.default_rng(0)
        rows = walked(rng, *world(rng, 4, 3, alike=False), 80, 20)
        found = learn_mdp(rows, 0.9)
        triples = pd.DataFrame(rows, columns=[*NAMES, "next", "over"])
        triples["next"] = np.where(
            triples["over"], triples["next"].astype(str) + " (ended)", triples["next"].astype(str)
        )
        grouped = triples.groupby(["state", "action"])
        share = grouped["next"].value_counts(normalize=True).rename("p").reset_index()
        mean = grouped["reward"].mean()
        table = [(s, a, t, p, mean[s, a]) for s, a, t, p in share.itertuples(index=False)]
        theirs = MDP.read(table, 0.9).policy_iteration()
        mine = dict(zip(map(str, found.mdp.states), found.values, strict=True))
        # condition 1 / (1 - discount) = 10 times rounding of sums of 1,000 terms
        assert [mine[s] for s in theirs.states] == pytest.approx(theirs.values, abs=1e-11)

    def test_a_pair_never_seen_leads_anywhere_with_the_reward_of_an_average_step(self):
        found = learn_mdp(STEPS, 0.9)
        assert found.never_seen == (("new", "mend"),)
        v, q = found.values, found.solution.action_values
        s, a = found.mdp.states.index("new"), found.mdp.actions.index("mend")
        usual = np.mean([5, 1, 3, -1, 4])
        assert q[s, a] == pytest.approx(usual + 0.9 * v.mean(), abs=1e-12)
        less = learn_mdp(STEPS, 0.9, unseen="left out")
        assert "Actions never taken in a state, left out there: 1 of 4." in less.notes
        assert np.isnan(less.solution.action_values[s, a])

    def test_a_prior_moves_probabilities_towards_uniform(self):
        found = learn_mdp(STEPS, 0.0, prior=3.0)
        leads = found.solution.leads_by(found.mdp.actions.index("run"))
        s, n = found.mdp.states.index("worn"), found.mdp.n_states
        expected = np.full(n, (3.0 / n) / 4.0)
        expected[found.mdp.states.index("broken")] += 1.0 / 4.0
        np.testing.assert_allclose(leads.toarray()[s], expected, rtol=1e-14)

    def test_the_end_is_worth_its_reward(self):
        found = learn_mdp(STEPS, 0.9)
        assert found.values[found.mdp.states.index("broken")] == -2.0
        assert found.policy["broken"] is None

    @settings(max_examples=15, deadline=None)
    @given(st.integers(0, 2**32 - 1))
    def test_the_order_of_rows_changes_nothing_where_there_are_steps(self, seed):
        rng = np.random.default_rng(seed)
        rows = walked(rng, *world(rng, 3, 2, alike=False), 8, 6)
        mixed = [rows[i] for i in rng.permutation(len(rows))]
        one, two = learn_mdp(rows, 0.9), learn_mdp(mixed, 0.9)
        assert one.mdp.states == two.mdp.states
        np.testing.assert_allclose(one.values, two.values, atol=1e-11 * max(1.0, np.abs(one.values).max()))

    def test_draws_are_solved_as_the_exact_solver_does(self):
        rng = np.random.default_rng(3)
        rows = walked(rng, *world(rng, 6, 3, alike=False), 60, 20)
        for unseen in ("uniform", "left out"):
            found = learn_mdp(rows, 0.95, unseen=unseen)
            given_ = Estimates(found._counts, "trials", np.random.default_rng(0))
            given_.as_counted()
            solver = Solver(found._counts, 0.95)
            v, _, chosen = solver.best(given_, np.zeros(found.mdp.n_states))
            assert np.abs(v - found.values).max() <= solver.tol + found.solution.distance
            followed = solver.follow(given_, np.zeros(found.mdp.n_states), found._chosen)
            assert np.abs(followed - found.mdp.value(found.solution)).max() <= 2 * solver.tol
            live = chosen >= 0
            assert (found.solution.pair_values[chosen[live]] >= found.values[live] - 2 * solver.tol).all()


class TestEnds:
    def test_a_trial_ended_only_where_the_table_says_so(self):
        cut = read_trials([("a", 1, "x", "go", 1.0), ("a", 2, "y", "go", 1.0)])
        assert cut.ended.tolist() == [False] and cut.after.tolist() == [1, -1]
        assert "No row says that a trial ended" in cut.notes[0] and "ended=True" in cut.notes[0]
        told = read_trials([("a", 1, "x", "go", 1.0), ("a", 2, "y", "go", 1.0)], ended=True)
        assert told.ended.tolist() == [True] and told.states[told.after[-1]] == "end"

    def test_truncated_is_not_terminated(self):
        columns = [*NAMES, "next_state", "terminated", "truncated"]
        rows = [("a", 1, 0, 0, 0.0, 1, False, True), ("b", 1, 0, 0, 0.0, 2, True, False)]
        frame = pd.DataFrame(rows, columns=columns)
        found = read_trials(frame)
        assert found.ended.tolist() == [False, True]
        assert [found.states[s] for s in np.flatnonzero(found.ends)] == [2]
        old = read_trials(frame.assign(terminated=True).rename(columns={"terminated": "done"}))
        assert old.ended.tolist() == [False, True]

    def test_where_a_column_says_that_it_went_on_a_row_without_action_is_no_end(self):
        rows = [("a", 1, "x", "go", 1.0, None, False), ("a", 2, "y", None, 7.0, None, False)]
        found = read_trials(rows)
        assert not found.ended.any() and not found.ends.any() and found.after.tolist() == [1]
        assert "Rewards of rows without an action in trials that did not end, left out: 1." in found.notes

    def test_an_end_in_a_state_in_which_others_go_on_is_a_state_of_its_own(self):
        rows = [("a", 1, "x", "go", 1.0), ("a", 2, "y", None, 2.0), ("b", 1, "y", "go", 0.0), ("b", 2, "x", None, 4.0)]
        found = learn_mdp(rows, 0.5)
        assert found.policy == {"x": "go", "y": "go", "x (ended)": None, "y (ended)": None}
        assert found.values[found.mdp.states.index("y (ended)")] == 2.0
        assert any("in which others went on" in note and note.endswith(": 2.") for note in found.notes)

    def test_a_step_left_out_hides_where_the_one_before_led(self):
        rows = [("a", 1, "x", "go", 1.0), ("a", 2, "y", "go", 1.0), ("a", 4, "x", "go", 1.0), ("a", 5, "y", None, 0.0)]
        found = read_trials(rows)
        assert found.after.tolist()[:2] == [1, -1]
        assert "Steps after which rows are missing, so that it is not known where they led: 1." in found.notes

    def test_times_may_have_gaps(self):
        rows = [("a", 1.5, "x", "go", 1.0), ("a", 9.25, "y", "go", 1.0), ("a", 10.0, "x", "go", 1.0)]
        assert read_trials(rows).after.tolist() == [1, 0, -1]

    def test_trials_follow_each_other_where_only_done_tells_them_apart(self):
        frame = pd.DataFrame(
            [("x", "go", 1.0, False), ("y", "go", 1.0, True), ("x", "go", 1.0, True)],
            columns=["state", "action", "reward", "done"],
        )
        assert read_trials(frame).trial.tolist() == [0, 0, 1]


class TestReading:
    @pytest.mark.parametrize("form", ["list", "dicts", "pandas", "polars", "arrow", "csv", "parquet"])
    def test_the_same_from_every_form(self, form, tmp_path):
        columns = [*NAMES, "next_state", "terminated"]
        rng = np.random.default_rng(1)
        rows = walked(rng, *world(rng, 3, 2, alike=False), 10, 5)
        frame = pd.DataFrame(rows, columns=columns)
        data = {
            "list": lambda: rows,
            "dicts": lambda: frame.to_dict("records"),
            "pandas": lambda: frame,
            "polars": lambda: pl.DataFrame(frame.to_dict("list")),
            "arrow": lambda: pa.table(frame.to_dict("list")),
            "csv": lambda: _written(tmp_path / "t.csv", frame),
            "parquet": lambda: _written(tmp_path / "t.parquet", frame),
        }[form]()
        found, plain = learn_mdp(data, 0.9), learn_mdp(rows, 0.9)
        assert [str(s) for s in found.mdp.states] == [str(s) for s in plain.mdp.states]
        # sums in the same order; text of 17 digits reads back exactly
        np.testing.assert_allclose(found.values, plain.values, rtol=1e-12)

    def test_names_are_kept(self):
        rows = [("a", 1, (0, 0), "up", 1.0), ("a", 2, (0, 1), None, 0.0)]
        assert learn_mdp(rows, 0.5).policy == {(0, 0): "up", (0, 1): None}
        frame = pd.DataFrame({"run": [1, 1], "t": [1, 2], "state": ["007", "7"], "action": [3, None], "reward": [1, 0]})
        assert learn_mdp(frame, 0.5).policy == {"7": None, "007": 3} or learn_mdp(frame, 0.5).policy["007"] == 3

    def test_columns_may_be_called_anything(self):
        frame = pd.DataFrame(STEPS, columns=["who", "when", "where", "what", "gain"])
        found = learn_mdp(frame, 0.9, trial="who", step="when", state="where", action="what", reward="gain")
        assert found.policy == learn_mdp(STEPS, 0.9).policy

    def test_a_million_steps_take_seconds(self):
        from time import perf_counter

        rng = np.random.default_rng(0)
        n = 1_000_000
        table = pa.table(
            {
                "trial": np.arange(n) // 50,
                "step": np.arange(n) % 50,
                "state": rng.integers(0, 100, n),
                "action": rng.integers(0, 4, n),
                "reward": rng.normal(size=n),
            }
        )
        learn_mdp(table.slice(0, 5000), 0.9)
        begin = perf_counter()
        found = learn_mdp(table, 0.9)
        # 0.9 s on two old cores; a loop over rows in Python takes 3 s and more even for one of its passes
        assert perf_counter() - begin < 10.0
        assert found.n_steps == n and found.counts.sum() == n


def _written(path: Path, frame: pd.DataFrame) -> Path:
    if path.suffix == ".csv":
        frame.to_csv(path, index=False, float_format="%.17g")
    else:
        frame.to_parquet(path)
    return path


class TestEvidence:
    @pytest.fixture
    def found(self):
        rng = np.random.default_rng(7)
        return learn_mdp(walked(rng, *world(rng, 4, 2, alike=False), 150, 15), 0.9)

    def test_intervals_hold_the_values_and_more_trials_narrow_them(self, found):
        inside = found.intervals()
        live = found.solution.chosen >= 0
        assert (inside.low <= inside.values + 1e-9).all() and (inside.high[live] > inside.low[live]).all()
        rng = np.random.default_rng(7)
        P, R = world(rng, 4, 2, alike=False)
        more = learn_mdp(walked(rng, P, R, 2400, 15), 0.9).intervals()
        # 16 times the trials: a quarter of the width; half is asked for
        wide, narrow = (one.start[2] - one.start[1] for one in (inside, more))
        assert narrow < wide / 2
        shares = found.probabilities()
        assert ((shares.low <= shares.probability) & (shares.probability <= shares.high)).mean() > 0.9

    def test_the_same_seed_gives_the_same_draws(self, found):
        again = learn_mdp(found._counts.trials, 0.9)
        assert np.array_equal(again.intervals().low, found.intervals().low)
        assert again.more_trials.sentence == found.more_trials.sentence

    def test_actions_that_are_alike_are_flagged_and_clear_ones_are_not(self):
        rng = np.random.default_rng(11)
        P, R = world(rng, 4, 2, alike=True)
        R = R.copy()
        R[0, 1] += 4.0  # in state 0 alone it matters
        found = learn_mdp(walked(rng, P, R, 300, 15), 0.9)
        choices = found.choices
        clear = dict(zip(choices.states, choices.distinguishable.tolist(), strict=True))
        assert clear[0] and found.policy[0] == 1
        assert set(choices.flagged) == {s for s, yes in clear.items() if not yes} and len(choices.flagged) >= 2

    def test_what_was_taken_in_fewer_than_three_trials_is_never_clear(self):
        rows = [(t, 1, "x", "go", 1.0) for t in range(40)] + [(t, 2, "z", None, 0.0) for t in range(40)]
        rows += [(50, 1, "x", "stay", 0.0), (50, 2, "z", None, 0.0)]
        found = learn_mdp(rows, 0.5)
        assert found.choices.flagged == {"x": "an action was taken in fewer than three trials"}

    def test_an_action_that_nobody_tried_is_chosen_only_with_a_flag(self):
        rows = [
            row
            for t in range(30)
            for row in ((t, 1, "x", "ab"[t % 2], 9.0), (t, 2, "y", "a", -9.0), (t, 3, "z", None, 0))
        ]
        found = learn_mdp(rows, 0.5)
        assert found.policy["y"] == "b" and found.choices.flagged["y"] == "it was never tried there"

    def test_a_deterministic_difference_is_as_sure_as_its_trials(self):
        rows = [
            row for t in range(24) for row in ((t, 1, "x", ("go", "stay")[t % 2], float(t % 2)), (t, 2, "z", None, 0.0))
        ]
        choices = learn_mdp(rows, 0.5).choices
        assert choices.actions == ("stay",) and choices.p[0] == pytest.approx(2.0 * 0.5**12)

    def test_values_on_trials_not_learned_from_are_fair_where_actions_do_not_matter(self):
        """Of 40 tables 36 hold the truth; a coverage of 80% would pass with a chance of .08, one of 50% never."""
        inside = flattering = 0
        for seed in range(40):
            rng = np.random.default_rng(seed)
            P, R = world(rng, 6, 3, alike=True)
            found = learn_mdp(walked(rng, P, R, 40, 15), 0.9, draws=100, random_state=seed)
            truth = true_value(P, R, np.zeros(6, int), 0.9)
            at = [(found.start[i], truth[s]) for i, s in enumerate(found.mdp.states) if isinstance(s, int)]
            real = sum(share * value for share, value in at)
            value, low, high = found.intervals().start
            inside += low <= real <= high
            flattering += value > real
        assert inside >= 36
        assert flattering >= 30  # the plain value of the chosen policy is too high: why intervals reach down

    def test_few_trials_are_drawn_by_steps_and_said(self):
        found = learn_mdp(STEPS, 0.9)
        assert found.by == "steps" and any("too few to be drawn as wholes" in note for note in found.notes)
        assert learn_mdp(STEPS, 0.9, by="trials").by == "trials"
        assert 0.0 <= found.more_trials.changes <= 1.0

    def test_the_sentence_says_what_is_lost_and_what_nobody_tried(self):
        said = learn_mdp(STEPS, 0.9).more_trials.sentence
        assert said.startswith("More trials would probably") and "of 200 draws" in said
        assert "of 1 actions never tried in a state ('mend' in state 'new') nothing is known." in said

    def test_json_holds_it_all(self, found):
        from assay.report.findings_json import dumps

        text = dumps(found)
        for words in ('"distinguishable"', '"never_seen"', '"more_trials"', '"interval"', '"held_out"'):
            assert words in text


class TestRefusals:
    @pytest.mark.parametrize(
        ("rows", "words"),
        [
            ([], "holds (trial, step, state, action, reward) in each of its rows"),
            ([("a", 1, "x", "go")], "holds (trial, step, state, action, reward) in each of its rows"),
            ([("a", 1, "x", "go", float("nan"))], "the list, row 1: the reward is missing"),
            ([("a", 1, "x", "go", float("inf"))], "the list, row 1: the reward is inf"),
            ([("a", 1, "x", "go", "much")], "the list, row 1: 'reward' is 'much', which is no number"),
            ([("a", 1, "x", "go", 1.0), ("a", 1, "y", "go", 1.0)], "row 2: step 1 of this trial was given before"),
            ([("a", None, "x", "go", 1.0)], "the list, row 1: 'step' is empty; steps are numbers"),
            ([("a", 1, None, "go", 1.0)], "the list, row 1: 'state' is empty; every step has a state"),
            ([(None, 1, "x", "go", 1.0)], "the list, row 1: 'trial' is empty; every step has a trial"),
            ([("a", 1, "x", None, 1.0), ("a", 2, "y", "go", 1.0)], "row 1: there is no action, but the trial goes on"),
            ([("a", 1, "x", None, 1.0)], "holds no action"),
            ([("a", 1, "x", "go", 1.0, "y", True), ("a", 2, "y", "go", 1.0, "x", False)], "it has later steps"),
            ([("a", 1, "x", "go", 1.0, "y", "maybe")], "'terminated' holds 'maybe'; it says true or false"),
        ],
    )  # fmt: skip
    def test_wrong_rows_are_named(self, rows, words):
        with pytest.raises(DataError) as refused:
            learn_mdp(rows, 0.9)
        assert words in str(refused.value)

    def test_places_in_files_are_lines(self, tmp_path):
        (tmp_path / "t.csv").write_text("trial,step,state,action,reward\na,1,x,go,1\na,2,y,go,\n")
        with pytest.raises(DataError, match="t.csv, line 3: the reward is missing"):
            learn_mdp(tmp_path / "t.csv")

    def test_missing_columns_are_named(self):
        with pytest.raises(DataError, match="no column 'trial' and no column 'reward'.*say which is which"):
            learn_mdp(pd.DataFrame({"state": [1], "action": [2]}))
        with pytest.raises(ParameterError, match="trial='who' names no column; there are 'state', 'action'"):
            learn_mdp(pd.DataFrame({"state": [1], "action": [2]}), trial="who")

    @pytest.mark.parametrize(
        ("how", "words"),
        [
            ({"discount": 1.0}, "at least 0 and below 1"),
            ({"discount": "much"}, "at least 0 and below 1"),
            ({"unseen": "never"}, "unseen is 'uniform' or 'left out'"),
            ({"prior": -1.0}, "prior is the weight of a uniform next state"),
            ({"by": "rows"}, "by is 'trials' or 'steps'"),
            ({"draws": 5}, "draws is a whole number, at least 20"),
            ({"random_state": -1}, "random_state is a whole number from 0 on"),
        ],
    )
    def test_wrong_arguments_are_refused(self, how, words):
        with pytest.raises(ParameterError, match=words):
            learn_mdp(STEPS, **how)

    def test_too_many_states_for_uniform_rows_get_a_way_out(self):
        rows = [(0, i, i, i % 3, 0.0) for i in range(5000)]
        with pytest.raises(DataError, match="learn with unseen='left out'"):
            learn_mdp(rows, 0.9)
        assert learn_mdp(rows, 0.9, unseen="left out").mdp.n_states == 5000

    def test_rows_out_of_order_and_lone_rows_are_counted(self):
        rows = [("a", 2, "y", "go", 1.0), ("a", 1, "x", "go", 1.0), ("b", 1, "x", "go", 1.0)]
        notes = read_trials(rows).notes
        assert "Rows that were not in the order of their steps, put in order: 2." in notes
        assert "Trials of a single row: 1." in notes

    def test_large_rewards_are_kept_and_larger_ones_refused(self):
        def rows(size):
            return [(t, i, f"s{(t + i) % 3}", "ab"[(t * i) % 2], size * (-1) ** i) for t in range(30) for i in range(5)]

        found = learn_mdp(rows(1e140), 0.5)
        assert np.isfinite(found.values).all() and np.isfinite(found.intervals().low).all()
        with pytest.raises(DataError, match="the reward is 1e\\+300, and squares .* give rewards in a larger unit"):
            learn_mdp(rows(1e300), 0.5)


def test_learning_is_exported():
    assert assay.learn_mdp is learn_mdp and counted(read_trials(STEPS)).n == 3

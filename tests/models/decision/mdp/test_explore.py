"""Environments of Gymnasium: their tables, learning by trying, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import linprog

import assay
from assay import MDP
from assay.errors import DataError, ParameterError
from assay.models.decision.mdp.gym.tried import Tried

gymnasium = pytest.importorskip("gymnasium")
TAXI = max(name for name in gymnasium.registry if name.startswith("Taxi-v"))
TABLES = [
    ("FrozenLake-v1", {"map_name": "4x4"}),
    ("FrozenLake-v1", {"map_name": "8x8"}),
    ("CliffWalking-v1", {}),
    (TAXI, {}),
]


def best_by_linear_program(env, discount):
    """(n,) the optimum by another way, from the table itself: after `terminated` nothing follows."""
    table, n = env.unwrapped.P, env.observation_space.n
    A, b = [], []
    for s, actions in table.items():
        for outcomes in actions.values():
            row = np.zeros(n)
            row[s] -= 1.0
            for p, t, _, over in outcomes:
                row[t] += 0.0 if over else discount * p
            A.append(row)
            b.append(-sum(p * r for p, _, r, _ in outcomes))
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(np.ones(n), np.array(A), b, bounds=(None, None), method="highs", options=options).x


@pytest.mark.parametrize(("name", "how"), TABLES)
def test_planning_on_the_table_reaches_the_optimum(name, how):
    env = gymnasium.make(name, **how)
    found = MDP.from_gym(env, 0.95).policy_iteration()
    best = best_by_linear_program(env, 0.95)
    live = found.chosen[: len(best)] >= 0
    np.testing.assert_allclose(found.values[: len(best)][live], best[live], rtol=0, atol=1e-8)
    begin = env.unwrapped.initial_state_distrib
    assert begin[live].sum() == pytest.approx(1.0)


def test_holes_and_the_goal_are_ends_and_an_end_that_is_entered_otherwise_has_its_own_name():
    lake = MDP.from_gym("FrozenLake-v1", 0.99).policy_iteration()
    assert [s for s, action in lake.policy.items() if action is None] == [5, 7, 11, 12, 15]
    assert lake.entering[15] == 1.0 and lake.entering[5] == 0.0
    taxi = MDP.from_gym(TAXI, 0.99)
    assert [s for s in taxi.states if isinstance(s, str)] == ["0 (ended)", "85 (ended)", "410 (ended)", "475 (ended)"]


class TestExplore:
    @pytest.mark.parametrize(
        ("name", "how", "trials"),
        [("FrozenLake-v1", {}, 300), ("CliffWalking-v1", {}, 20), (TAXI, {}, 60)],
    )
    def test_it_learns_to_be_near_the_optimum(self, name, how, trials):
        found = assay.explore(gymnasium.make(name, **how), trials, 0.99, random_state=1)
        curve = found.curve
        assert curve.value[-1] >= curve.optimum - 0.05 * abs(curve.optimum)
        assert curve.reached() is not None and curve.reached() <= trials
        assert (curve.value <= curve.optimum + 1e-9).all()  # no policy is better than the best
        assert (np.diff(curve.trials) > 0).all() and (np.diff(curve.steps) > 0).all()

    def test_optimism_finds_what_chance_does_not(self):
        kept = {way: assay.explore("FrozenLake-v1", 200, 0.99, way=way, random_state=3).curve.value[-1]
                for way in ("optimistic", "epsilon-greedy")}  # fmt: skip
        assert kept["optimistic"] > 0.4 > 0.2 > kept["epsilon-greedy"]

    def test_a_truncated_trial_is_no_end(self):
        found = assay.explore("CliffWalking-v1", 3, 0.9, longest=5, random_state=0)
        assert found.learned.n_steps == 15 and not found.learned._counts.trials.ended.any()
        assert all(action is not None for action in found.learned.policy.values())

    def test_the_same_seed_gives_the_same_trials(self):
        one, two = (assay.explore("FrozenLake-v1", 20, 0.99, random_state=5) for _ in range(2))
        assert one.table.equals(two.table) and np.array_equal(one.curve.value, two.curve.value)
        assert not one.table.equals(assay.explore("FrozenLake-v1", 20, 0.99, random_state=6).table)

    def test_its_trials_teach_the_same_process_again(self, tmp_path):
        found = assay.explore("FrozenLake-v1", 50, 0.99, random_state=2)
        again = assay.learn_mdp(found.table, 0.99)
        np.testing.assert_allclose(again.values, found.learned.values, rtol=1e-12)
        total = sum(found.learned.outcomes(0, 0).values())
        assert total == found.learned.counts[found.learned.mdp.states.index(0), 0] > 0

    def test_without_a_table_values_are_measured_in_trials_of_their_own(self):
        class Hidden(gymnasium.Wrapper):
            """A lake that does not show its table, with states from 1."""

            def __init__(self):
                inner = gymnasium.make("FrozenLake-v1", is_slippery=False)
                super().__init__(inner)
                self.observation_space = gymnasium.spaces.Discrete(16, start=1)

            @property
            def unwrapped(self):
                return self

            def reset(self, **how):
                seen, told = self.env.reset(**how)
                return seen + 1, told

            def step(self, action):
                seen, *rest = self.env.step(action)
                return seen + 1, *rest

        found = assay.explore(Hidden(), 60, 0.9, random_state=0, episodes=10)
        assert found.curve.optimum is None and "10 trials of the policy" in found.curve.measured
        assert found.curve.value[-1] == pytest.approx(0.9**5) == found.curve.low[-1]  # six steps, the last gives 1
        assert set(found.learned.mdp.states) <= set(range(1, 17))
        with pytest.raises(ParameterError, match="the optimum of .* is not known"):
            found.curve.reached()


def test_what_was_never_tried_is_gone_to_first():
    tried = Tried(3, 2, 0.9)
    for _ in range(50):
        tried.add(0, 0, 1.0, 0, False)  # a good thing, known well
        tried.add(1, 0, 0.0, 1, False)
        tried.add(1, 1, 0.0, 0, False)
        tried.add(2, 0, 0.0, 2, False)
        tried.add(2, 1, 0.0, 0, False)
    assert tried.greedy().tolist() == [0, 1, 1]
    assert tried.optimistic(3.0).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("env", "how", "words"),
    [
        ("Blackjack-v1", {}, "the states of Blackjack-v1 are Tuple.*wrap the environment"),
        ("CartPole-v1", {}, "the states of CartPole-v1 are Box"),
        ("NoSuchLake-v1", {}, "gymnasium makes no environment 'NoSuchLake-v1'"),
        (3, {}, "an environment of gymnasium, or its name, is needed; got int"),
        ("FrozenLake-v1", {"discount": 1.0}, "below 1"),
        ("FrozenLake-v1", {"trials": 0}, "trials is a whole number, at least 1"),
        ("FrozenLake-v1", {"way": "greedy"}, "way is 'optimistic' or 'epsilon-greedy'"),
        ("FrozenLake-v1", {"epsilon": 2}, "epsilon is a share"),
        ("FrozenLake-v1", {"width": -1}, "width is a finite number"),
    ],
)
def test_what_cannot_be_explored_gets_one_sentence(env, how, words):
    with pytest.raises(ParameterError, match=words):
        assay.explore(env, **how)


def test_an_environment_without_a_table_says_how_to_learn_it():
    class Bare(gymnasium.Env):
        observation_space = action_space = gymnasium.spaces.Discrete(2)

    with pytest.raises(DataError, match="has no table of transitions P; learn it from trials: assay.explore"):
        MDP.from_gym(Bare(), 0.9)

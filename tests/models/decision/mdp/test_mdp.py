"""Decision processes: laws, independent optima, gymnasium's tables, edges and refusals."""

import fnmatch
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from assay import MDP
from assay.errors import DataError, NotConverged, ParameterError

SOLVERS = ("value_iteration", "policy_iteration", "modified_policy_iteration")
LAKES = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"),
}


def drawn(rng, n, k, gaps=0.3, zeros=0.4):
    """Dense transitions (k, n, n) and rewards (n, k); each state has at least the first action."""
    P = rng.random((k, n, n)) * (rng.random((k, n, n)) > zeros)
    P[..., 0] += 1e-3
    P /= P.sum(axis=2, keepdims=True)
    P[1:][rng.random((k - 1, n)) < gaps] = 0.0
    return P, rng.normal(size=(n, k))


def by_linear_program(P, R, discount):
    """Least v with v >= r + discount P v for every pair: the optimum, by another way (Puterman 1994, 6.9)."""
    k, n, _ = P.shape
    there = P.sum(axis=2) > 0
    A = np.concatenate([(discount * P[a] - np.eye(n))[there[a]] for a in range(k)])
    b = np.concatenate([-R[there[a], a] for a in range(k)])
    ends = ~there.any(axis=0)
    limits = [(0, 0) if end else (None, None) for end in ends]
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(np.ones(n), A, b, bounds=limits, method="highs", options=options).x


def by_all_policies(process):
    """The best value of each state over every policy."""
    choices = [[a for a in range(process.n_actions) if not np.isnan(row[a])] or [None] for row in table_of(process)]
    return np.max([process.value([None if a is None else process.actions[a] for a in c]) for c in product(*choices)], 0)


def table_of(process):
    return process.with_discount(0.0).policy_iteration().action_values


def frozen_lake(rows):
    """The slippery lake by its rules: the action or one to its side, a third each; holes and the goal end it."""
    size, moves = len(rows), [(0, -1), (1, 0), (0, 1), (-1, 0)]
    for (i, j), a in product(product(range(size), repeat=2), range(4)):
        if rows[i][j] in "GH":
            continue
        for b in ((a - 1) % 4, a, (a + 1) % 4):
            y, x = min(max(i + moves[b][0], 0), size - 1), min(max(j + moves[b][1], 0), size - 1)
            yield i * size + j, a, y * size + x, 1 / 3, float(rows[y][x] == "G")


def of_gymnasium(name, **how):
    gymnasium = pytest.importorskip("gymnasium")
    newest = max(fnmatch.filter(gymnasium.registry, name))
    table = gymnasium.make(newest, **how).unwrapped.P
    for s, actions in table.items():
        for a, outcomes in actions.items():
            for p, t, r, over in outcomes:
                yield s, a, "over" if over else t, p, r


def dense(process):
    """Transitions (k, n, n) and rewards (n, k), from the table of rows that it writes."""
    m, n, k = process._layout, process.n_states, process.n_actions
    P, R = np.zeros((k, n, n)), np.zeros((n, k))
    for s in range(n):
        for i in range(m.first[s], m.first[s + 1]):
            R[s, m.action[i]] = m.r[i]
            P[m.action[i], s, m.after[m.start[i] : m.start[i + 1]]] = m.p[m.start[i] : m.start[i + 1]]
    return P, R


small = st.builds(
    lambda seed, n, k, discount: (*drawn(np.random.default_rng(seed), n, k), discount),
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.3, 0.9, 0.99]),
)


class TestLaws:
    @settings(max_examples=40, deadline=None)
    @given(small)
    def test_every_solver_is_within_its_bound_of_the_linear_program(self, drawn_):
        P, R, discount = drawn_
        best = by_linear_program(P, R, discount)
        for name in SOLVERS:
            found = getattr(MDP(P, R, discount), name)()
            # 1e-9 is what the linear program's feasibility of 1e-10 allows, times 1 / (1 - discount)
            assert np.abs(found.values - best).max() <= found.distance + 1e-9 / (1 - discount)
            assert found.distance <= 1e-9 * np.abs(R).max() + 1e-12 / (1 - discount) ** 2
            assert found.converged

    @settings(max_examples=25, deadline=None)
    @given(small, st.sampled_from([1e-1, 1e-3]))
    def test_a_loose_tolerance_is_kept_and_its_bound_holds(self, drawn_, tol):
        P, R, discount = drawn_
        process = MDP(P, R, discount)
        exact = process.policy_iteration()
        for name in ("value_iteration", "modified_policy_iteration"):
            found = getattr(process, name)(tol=tol)
            assert np.abs(found.values - exact.values).max() <= found.distance + exact.distance
            assert found.distance <= tol * np.abs(R).max() + 1e-9

    @settings(max_examples=25, deadline=None)
    @given(small)
    def test_values_of_a_policy_solve_its_equations(self, drawn_):
        P, R, discount = drawn_
        process = MDP(P, R, discount)
        found = process.policy_iteration()
        v, rows = process.value(found), np.arange(len(R))
        left = R[rows, found.chosen] + discount * P[found.chosen, rows] @ v
        np.testing.assert_allclose(v, left, rtol=0, atol=1e-12 * max(1, np.abs(v).max()))
        np.testing.assert_allclose(v, found.values, rtol=0, atol=found.distance)

    @settings(max_examples=25, deadline=None)
    @given(small)
    def test_the_residual_is_that_of_bellmans_equation(self, drawn_):
        P, R, discount = drawn_
        for name in SOLVERS:
            found = getattr(MDP(P, R, discount), name)()
            q = np.where(P.sum(2).T > 0, R + discount * (P @ found.values).T, np.nan)
            np.testing.assert_allclose(found.action_values, q, rtol=1e-12, atol=1e-12)
            off = np.abs(np.nanmax(q, axis=1) - found.values).max()
            assert off <= found.residual + 1e-13 * max(1, np.abs(found.values).max())

    def test_policy_iteration_never_lowers_a_value(self):
        rng = np.random.default_rng(1)
        for _ in range(20):
            P, R = drawn(rng, 8, 4)
            seen = []
            MDP(P, R, 0.95).policy_iteration(start=[0] * 8, callback=lambda _, v, seen=seen: seen.append(v))
            assert (np.diff(seen, axis=0) >= -1e-12 * np.abs(seen[-1]).max()).all()
            assert len(seen) > 1

    def test_it_is_the_best_of_all_policies(self):
        rng = np.random.default_rng(2)
        for _ in range(5):
            process = MDP(*drawn(rng, 4, 3), 0.9)
            np.testing.assert_allclose(process.policy_iteration().values, by_all_policies(process), atol=1e-12)

    @pytest.mark.parametrize("name", SOLVERS)
    def test_the_order_of_states_changes_nothing(self, name):
        rng = np.random.default_rng(3)
        P, R = drawn(rng, 30, 3)
        order = rng.permutation(30)
        one = getattr(MDP(P, R, 0.9), name)()
        other = getattr(MDP(P[:, order][:, :, order], R[order], 0.9), name)()
        np.testing.assert_allclose(other.values, one.values[order], rtol=0, atol=one.distance + other.distance)
        assert (other.chosen == one.chosen[order]).all()

    @pytest.mark.parametrize("scale", [1e300, 1e-300, 3.0])
    @pytest.mark.parametrize("name", SOLVERS)
    def test_values_are_in_the_unit_of_rewards(self, name, scale):
        P, R = drawn(np.random.default_rng(4), 10, 3)
        one, other = getattr(MDP(P, R, 0.9), name)(), getattr(MDP(P, R * scale, 0.9), name)()
        np.testing.assert_allclose(other.values / scale, one.values, rtol=1e-8)
        np.testing.assert_allclose(MDP(P, R * scale, 0.9).value(other) / scale, one.values, rtol=1e-8)
        assert other.distance / scale <= 2 * one.distance + 1e-9
        assert (other.chosen == one.chosen).all()

    def test_many_states_are_solved_by_iteration_as_by_factors(self):
        rng = np.random.default_rng(5)
        n = 3000
        P = [sparse.random_array((n, n), density=4 / n, rng=rng, format="csr") + sparse.eye_array(n) for _ in range(2)]
        P = [sparse.csr_array(sparse.diags_array(1 / M.sum(axis=1)) @ M) for M in P]
        process = MDP(P, rng.normal(size=(n, 2)), 0.97)
        found = [getattr(process, name)() for name in SOLVERS]
        for one in found:
            np.testing.assert_allclose(one.values, found[1].values, atol=one.distance + found[1].distance)
        v = process.value(found[1])
        chosen = (
            sparse.diags_array((found[1].chosen == 0) * 1.0) @ P[0]
            + sparse.diags_array((found[1].chosen == 1) * 1.0) @ P[1]
        )
        direct = sparse.linalg.spsolve(
            sparse.csc_array(sparse.eye_array(n) - 0.97 * chosen),
            np.nanmax(np.where(found[1].chosen[:, None] == [0, 1], table_of(process), np.nan), 1),
        )
        np.testing.assert_allclose(v, direct, atol=1e-10)


class TestOracles:
    @pytest.mark.parametrize("size", LAKES)
    @pytest.mark.parametrize("name", SOLVERS)
    def test_the_frozen_lake_by_its_rules(self, size, name):
        process = MDP.read(list(frozen_lake(LAKES[size])), 0.99)
        found = getattr(process, name)()
        np.testing.assert_allclose(found.values, by_linear_program(*dense(process), 0.99), atol=1e-8)

    def test_the_frozen_lake_has_its_published_values(self):
        found = MDP.read(list(frozen_lake(LAKES["4x4"])), 0.99).policy_iteration()
        values = dict(zip(found.states, found.values, strict=True))
        # the value of the start that every course on this lake shows
        assert values["0"] == pytest.approx(0.5420, abs=1e-4)

    @pytest.mark.parametrize(
        ("name", "how"),
        [
            ("FrozenLake-v1", {"map_name": "4x4"}),
            ("FrozenLake-v1", {"map_name": "8x8"}),
            ("CliffWalking-v1", {}),
            ("Taxi-v*", {}),
        ],
    )
    def test_gymnasiums_tables(self, name, how):
        process = MDP.read(list(of_gymnasium(name, **how)), 0.95)
        best = by_linear_program(*dense(process), 0.95)
        for solver in SOLVERS:
            np.testing.assert_allclose(getattr(process, solver)().values, best, atol=1e-8)

    def test_our_lake_is_gymnasiums(self):
        ours = MDP.read(list(frozen_lake(LAKES["8x8"])), 0.99).policy_iteration()
        theirs = MDP.read(list(of_gymnasium("FrozenLake-v1", map_name="8x8")), 0.99).policy_iteration()
        mine, other = (dict(zip(f.states, f.values, strict=True)) for f in (ours, theirs))
        walked = [s for s, action in ours.policy.items() if action is not None]
        assert [mine[s] for s in walked] == pytest.approx([other[s] for s in walked], abs=1e-9)


class TestDiscountOne:
    walk = (
        ("a", "slow", "a", 0.5, -1),
        ("a", "slow", "b", 0.5, -1),
        ("a", "fast", "b", 1, -3),
        ("b", "on", "z", 1, -1),
    )

    @pytest.mark.parametrize("name", SOLVERS)
    def test_a_process_that_always_ends_is_solved(self, name):
        found = getattr(MDP.read(list(self.walk), 1), name)()
        np.testing.assert_allclose(found.values, [-3.0, -1.0, 0.0], atol=found.distance + 1e-15)
        assert found.distance < 1e-8
        assert found.policy == {"a": "slow", "b": "on", "z": None}

    def test_a_state_that_is_never_left_and_gives_nothing_is_an_end(self):
        found = MDP.read([*self.walk, ("z", "rest", "z", 1, 0)], 1).policy_iteration()
        np.testing.assert_allclose(found.values, [-3.0, -1.0, 0.0], atol=1e-12)
        assert found.policy["z"] == "rest"
        begun = MDP.read([*self.walk, ("z", "rest", "z", 1, 0)], 1).policy_iteration(start=["fast", "on", "rest"])
        np.testing.assert_allclose(begun.values, found.values, atol=1e-12)

    @pytest.mark.parametrize("name", SOLVERS)
    def test_a_process_with_an_endless_policy_is_refused_by_name(self, name):
        process = MDP.read([*self.walk, ("b", "stay", "b", 1, 0)], 1)
        with pytest.raises(
            ParameterError, match="every policy must come to an end, but from 'a', 'b' .2 states. one exists"
        ):
            getattr(process, name)()

    def test_a_policy_that_ends_has_values_where_another_does_not(self):
        process = MDP.read([*self.walk, ("b", "stay", "b", 1, -1)], 1)
        np.testing.assert_allclose(process.value({"a": "fast", "b": "on"}), [-4, -1, 0])
        with pytest.raises(ParameterError, match="from 'a', 'b' \\(2 states\\) it never comes to an end"):
            process.value({"a": "fast", "b": "stay"})

    def test_a_bound_of_many_steps_holds(self):
        rows = [(i, "go", j, 0.5, -1) for i in range(1, 60) for j in (i - 1, min(i + 1, 59))]
        found = MDP.read(rows, 1).value_iteration(tol=1e-6)
        i = np.array([int(s) for s in found.states])
        assert np.abs(found.values + i * (119 - i)).max() <= found.distance


class TestEdges:
    @pytest.mark.parametrize("name", SOLVERS)
    def test_one_state(self, name):
        assert getattr(MDP([[[1.0]]], [2.0], 0.75), name)().values == pytest.approx([8.0], rel=1e-9)

    @pytest.mark.parametrize("name", SOLVERS)
    def test_discount_zero_takes_the_best_reward_at_once(self, name):
        P, R = drawn(np.random.default_rng(6), 9, 3, gaps=0.0)
        np.testing.assert_array_equal(getattr(MDP(P, R, 0), name)().values, R.max(axis=1))

    @pytest.mark.parametrize("name", SOLVERS)
    def test_nothing_to_gain(self, name):
        found = getattr(MDP([np.eye(3), np.eye(3)], np.zeros(3), 0.9), name)()
        assert not found.values.any()
        assert found.ties == dict.fromkeys(range(3), (0, 1))
        assert found.policy == dict.fromkeys(range(3), 0)

    def test_rewards_of_states_actions_and_transitions_are_the_same_where_they_say_the_same(self):
        P, _ = drawn(np.random.default_rng(7), 6, 3)
        R = np.random.default_rng(8).normal(size=6)
        each = np.broadcast_to(R[None, :, None], (3, 6, 6))
        forms = [R, np.repeat(R[:, None], 3, axis=1), each, [sparse.csr_array(M) for M in each]]
        found = [MDP(P, form, 0.9).policy_iteration().values for form in forms]
        for values in found[1:]:
            np.testing.assert_allclose(values, found[0], rtol=1e-13)

    def test_rewards_of_transitions_count_by_their_probability(self):
        P, _ = drawn(np.random.default_rng(9), 6, 3)
        R = np.random.default_rng(10).normal(size=(3, 6, 6))
        expected = (P * R).sum(axis=2).T
        one, other = MDP(P, R, 0.9).policy_iteration(), MDP(P, expected, 0.9).policy_iteration()
        np.testing.assert_allclose(one.values, other.values, rtol=1e-12)

    def test_an_end_is_worth_its_reward_where_states_have_one(self):
        found = MDP([[[0, 1], [0, 0]]], [1.0, 10.0], 0.5).policy_iteration()
        assert found.values.tolist() == [6.0, 10.0]
        assert found.policy == {0: 0, 1: None}
        assert MDP([[[0, 1], [0, 0]]], [[1.0], [10.0]], 0.5).policy_iteration().values.tolist() == [1.0, 0.0]

    def test_an_action_that_cannot_be_taken_may_have_any_reward(self):
        found = MDP([np.eye(2), [[1, 0], [0, 0]]], [[1.0, 2.0], [1.0, np.nan]], 0.5).policy_iteration()
        assert found.values.tolist() == [4.0, 2.0]
        assert np.isnan(found.action_values[1, 1])

    def test_probabilities_that_sum_to_one_but_for_rounding_are_taken(self):
        thirds = np.full((1, 3, 3), 0.333333333)
        np.testing.assert_allclose(MDP(thirds, [1, 1, 1], 0.5).policy_iteration().values, 2.0, rtol=1e-12)

    def test_values_beyond_floating_point_are_refused(self):
        process = MDP([[[1.0]]], [1e307], 0.999)
        for solve in (process.value_iteration, process.policy_iteration, lambda: process.value([0])):
            with pytest.raises(DataError, match="range of floating point numbers"):
                solve()

    def test_too_few_iterations_warn_and_the_bound_still_holds(self):
        process = MDP(*drawn(np.random.default_rng(11), 10, 2), 0.99)
        with pytest.warns(NotConverged, match="value iteration stopped after 3 iterations"):
            found = process.value_iteration(max_iter=3)
        assert not found.converged
        assert np.abs(found.values - process.policy_iteration().values).max() <= found.distance

    def test_ties_are_those_that_the_accuracy_does_not_separate(self):
        process = MDP([np.eye(1)] * 3, [[1.0, 1.0, 1.0 - 1e-5]], 0.5)
        assert process.value_iteration().ties == {0: (0, 1)}
        assert process.value_iteration(tol=1e-3).ties[0][:2] == (0, 1)

    def test_states_that_cannot_be_reached_are_named(self):
        process = MDP.read([("a", "go", "b", 1, 0), ("c", "go", "a", 1, 0), ("d", "go", "d", 1, 0)], 0.5)
        assert process.unreachable("a") == ("c", "d")
        assert process.unreachable(["c", "d"]) == ()
        with pytest.raises(ParameterError, match="there is no state 'x'; there are 'a', 'c', 'd', 'b'"):
            process.unreachable("x")

    def test_a_policy_by_chance(self):
        P, R = drawn(np.random.default_rng(12), 5, 2, gaps=0.0)
        process = MDP(P, R, 0.9, actions=["l", "r"])
        half = np.full((5, 2), 0.5)
        truth = np.linalg.solve(np.eye(5) - 0.9 * P.mean(axis=0), R.mean(axis=1))
        np.testing.assert_allclose(process.value(half), truth, rtol=1e-12)
        np.testing.assert_allclose(process.value({s: {"l": 0.5, "r": 0.5} for s in range(5)}), truth, rtol=1e-12)


class TestTables:
    def test_a_table_comes_back_as_it_was(self, tmp_path):
        file = tmp_path / "p.csv"
        P, _ = drawn(np.random.default_rng(13), 6, 3)
        P[:, 4] = 0.0
        R = np.random.default_rng(14).normal(size=(3, 6, 6))
        names = ['x, "y"', "007", "7", "NA", "end", "ü"]
        process = MDP(P, R, 0.9, states=names, actions=["l", "m", "r"])
        process.write(file)
        again = MDP.read(file, 0.9)
        assert list(again.states) == names
        for a, b in zip(dense(process), dense(again), strict=True):
            np.testing.assert_array_equal(a, b)
        again.write(tmp_path / "q.csv")
        assert (tmp_path / "q.csv").read_bytes() == file.read_bytes()

    def test_what_an_end_is_worth_comes_back(self, tmp_path):
        MDP([[[0, 1], [0, 0]]], [1.0, 10.0], 0.5).write(tmp_path / "p.csv")
        assert MDP.read(tmp_path / "p.csv", 0.5).policy_iteration().values.tolist() == [6.0, 10.0]

    def test_rows_of_one_transition_are_added_up_and_zeros_left_out(self):
        process = MDP.read([("a", "go", "b", 0.25, 4), ("a", "go", "b", 0.75, 0), ("a", "go", "a", 0, 9)], 0.5)
        assert process.policy_iteration().values.tolist() == [1.0, 0.0]
        assert process.notes == (
            "States without an action, where the process ends ('b'): 1.",
            "Rows that repeat a transition of another row, added up: 1.",
            "Transitions of probability 0, left out: 1.",
        )

    def test_frames_and_other_names_of_columns(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(
            {"Next State": [1, 1], "s": [0, 1], "A": ["go", "go"], "prob": [1.0, 1.0], "r": [1, 2]}
        )
        assert MDP.read(frame, 0.5).policy_iteration().values.tolist() == [3.0, 4.0]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "holds no transitions"),
            ("state,action,next,probability,reward\n", "holds no transitions"),
            ("state,action,next,reward\na,b,c,1\n", "has no column 'probability'; its first line must name"),
            ("state,action,next,probability,reward\na,b,c,1,x\n", "line 2: the reward is 'x', but they are finite"),
            ("state,action,next,probability,reward\na,b,c,1,\n", "line 2: the reward is missing"),
            ("state,action,next,probability,reward\na,b,c,1,inf\n", "line 2: the reward is inf"),
            ("state,action,next,probability,reward\na,b,c,1,nan\n", "line 2: the reward is missing"),
            (
                "state,action,next,probability,reward\na,b,c,1,0\na,d,c,-1,0\n",
                "line 3: the probability is -1, but they",
            ),
            ("state,action,next,probability,reward\na,,c,1,0\n", "line 2: 'action' is empty"),
            ("state,action,next,probability,reward\n,b,c,1,0\n", "line 2: 'state' is empty"),
            ("state,action,next,probability,reward\na,b,c,0.4,0\na,b,a,0.5,0\n", "'a', action 'b' sum to 0.9, not 1;"),
            ("state,action,next,probability,reward\na,b,c,1,0\na,,,,3\n", "line 3: the process ends in state 'a', but"),
            (
                "state,action,next,probability,reward\na,b,c,1,0\nc,,,,3\nc,,,,3\n",
                "line 4: the end in state 'c' is given",
            ),
            ("state,action,next,probability,reward\nc,,,,3\n", "no state has an action"),
        ],
    )
    def test_what_is_wrong_is_said_with_its_place(self, tmp_path, text, words):
        file = tmp_path / "p.csv"
        file.write_text(text)
        with pytest.raises(DataError, match=words):
            MDP.read(file, 0.9)

    @pytest.mark.parametrize("names", [["a", "a "], ["a", "b\nc"], [1, "1"], ["", "b"]])
    def test_names_that_a_table_would_not_keep_are_not_written(self, tmp_path, names):
        process = MDP([np.eye(2)], [1, 1], 0.5, states=names)
        with pytest.raises(DataError, match="name"):
            process.write(tmp_path / "p.csv")
        assert not list(tmp_path.iterdir())


class TestRefusals:
    @pytest.mark.parametrize("discount", [-0.1, 1.1, np.nan, "0.9", None, True])
    def test_discounts(self, discount):
        with pytest.raises(ParameterError, match="discount must be a number from 0 to 1"):
            MDP([np.eye(2)], [1, 1], discount)

    @pytest.mark.parametrize(
        ("P", "R", "words"),
        [
            ([[[0.5, 0.4], [0, 1]]], [1, 1], "state 'a', action 'go' sum to 0.9, not 1; give all next states"),
            ([[[1.5, -0.5], [0, 1]]], [1, 1], "state 'a', action 'go', next state 'b' is -0.5, but probabilities"),
            ([[[np.nan, 1], [0, 1]]], [1, 1], "next state 'a' is nan"),
            ([[[np.inf, 1], [0, 1]]], [1, 1], "next state 'a' is inf"),
            ([np.eye(2)], [1, np.nan], "a reward of state 'b' is nan, but rewards are finite"),
            ([np.eye(2)], [[1], [np.inf]], "a reward of state 'b' is inf"),
            ([np.eye(2)], [[[1, 0], [0, np.inf]]], "reward of state 'b', action 'go', next state 'b' is inf"),
            ([np.eye(2)], [1, 2, 3], r"shape \(3,\); they are \(2,\) for states"),
            ([np.ones((2, 3))], [1, 1], r"matrix \(n, n\) for each action"),
            ([np.eye(2), np.eye(3)], [1, 1], "all of one size"),
            ([], [1], "got none"),
            ([np.eye(2), np.eye(2)], [1, 1], "actions holds 1 names, but there are 2"),
            ([np.eye(3)], [1, 1, 1], "states holds 2 names, but there are 3"),
        ],
    )
    def test_what_is_wrong_is_named(self, P, R, words):
        with pytest.raises((DataError, ParameterError), match=words):
            MDP(P, R, 0.9, states=["a", "b"], actions=["go"])

    def test_names_are_given_once(self):
        with pytest.raises(ParameterError, match="states holds 'a' twice"):
            MDP([np.eye(2)], [1, 1], 0.9, states=["a", "a"])

    @pytest.mark.parametrize(
        ("policy", "words"),
        [
            ({"a": "go"}, "has no action in state 'b'"),
            ({"a": "go", "b": "fly"}, "there is no action 'fly'; there are 'go', 'stay'"),
            ({"a": "go", "c": "go"}, "there is no state 'c'; there are 'a', 'b'"),
            ({"a": "go", "b": "stay"}, "takes action 'stay' in state 'b', where it cannot be taken; there are 'go'"),
            ({"a": {"go": 0.5}, "b": "go"}, "sum to 0.5, not 1, in state 'a'"),
            ({"a": {"go": 1.5, "stay": -0.5}, "b": "go"}, "with probability -0.5"),
            (np.array([[np.nan, 1.0], [1.0, 0.0]]), "with probability nan"),
            ("go", "a policy is a mapping from states to actions, 2 actions, or"),
            (["go"], "got list"),
        ],
    )
    def test_policies(self, policy, words):
        process = MDP([np.eye(2), [[1, 0], [0, 0]]], [1, 1], 0.9, states=["a", "b"], actions=["go", "stay"])
        with pytest.raises(ParameterError, match=words):
            process.value(policy)

    def test_options(self):
        process = MDP([np.eye(2)], [1, 1], 0.9)
        for wrong in ({"tol": -1}, {"tol": np.nan}, {"max_iter": 0}):
            with pytest.raises(ParameterError, match=next(iter(wrong))):
                process.value_iteration(**wrong)
        with pytest.raises(ParameterError, match="sweeps must be"):
            process.modified_policy_iteration(sweeps=0)
        with pytest.raises(ParameterError, match="begins with one action in each state"):
            MDP([np.eye(2)] * 2, [1, 1], 0.9).policy_iteration(start=np.full((2, 2), 0.5))

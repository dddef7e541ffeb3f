"""Policies drawn: on grids, as graphs, and how they were learned."""

import numpy as np
import pytest
from scipy import sparse

import assay
from assay import MDP
from assay.errors import ParameterError
from assay.views.decisions.policy_graph import policy_graph
from assay.views.decisions.policy_grid import grid_of

ARROWS = {"left": "←", "down": "↓", "right": "→", "up": "↑"}
MOVES = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}


def corridor(rows, columns, *, names=None, actions=tuple(MOVES)):
    """A grid whose last cell gives 1 and ends, without slipping."""
    name = names or (lambda i, j: i * columns + j)
    table = []
    for i in range(rows):
        for j in range(columns):
            if (i, j) == (rows - 1, columns - 1):
                continue
            for action, (down, across) in zip(actions, MOVES.values(), strict=True):
                y, x = min(max(i + down, 0), rows - 1), min(max(j + across, 0), columns - 1)
                last = (y, x) == (rows - 1, columns - 1)
                table.append((name(i, j), action, name(y, x), 1.0, float(last)))
    return MDP.read(table, 0.9).policy_iteration()


def cells(plot):
    return plot.renderers[0].data_source.data


@pytest.mark.parametrize("actions", [tuple(MOVES), (0, 1, 2, 3), ("N1", "N2", "N3", "N4")])
def test_arrows_point_where_actions_lead(actions):
    found = corridor(3, 4, actions=actions)
    drawn = cells(assay.plot(found, shape=(3, 4)))
    for state, arrow in zip(drawn["state"], drawn["arrow"], strict=True):
        action = found.policy[state]
        direction = None if action is None else list(MOVES)[[str(a) for a in actions].index(action)]
        assert arrow == ("end" if direction is None else ARROWS[direction])


def test_numbered_states_are_a_grid_if_actions_lead_to_neighbours():
    found = corridor(3, 5)
    assert grid_of(found.states, found.leads, None, 4).shape == (3, 5)
    rng = np.random.default_rng(0)
    anywhere = sparse.csr_array(rng.dirichlet(np.ones(15), 15))
    assert grid_of(list(range(15)), anywhere, None, 4) is None
    assert grid_of(found.states, found.leads, None, 3) is None


@pytest.mark.parametrize("name", [lambda i, j: f"({i}, {j})", lambda i, j: f"{i},{j}", lambda i, j: f"r{i}_{j}"])
def test_names_of_places_are_a_grid(name):
    found = corridor(2, 3, names=name)
    grid = grid_of(found.states)
    assert grid.shape == (2, 3)
    at = found.states.index(name(1, 2))
    assert (grid.row[at], grid.column[at]) == (1, 2)


def test_the_end_that_gives_most_stands_out():
    rows = [("0,0", "left", "1,0", 1, 0.0), ("0,0", "right", "0,1", 1, 5.0), ("0,1", "left", "0,0", 1, 0.0),
            ("0,1", "right", "1,1", 1, 9.0)]  # fmt: skip
    drawn = cells(assay.plot(MDP.read(rows, 0.9).policy_iteration()))
    look = dict(zip(drawn["state"], zip(drawn["tint"], drawn["told"], strict=True), strict=True))
    assert look["1,1"][1] == "gives 9" and look["1,0"][1] == "gives 0" and look["1,1"][0] != look["1,0"][0]


def test_other_processes_are_graphs_with_edges_as_wide_as_they_are_probable():
    rows = [("new", "run", "new", 0.8, 5), ("new", "run", "worn", 0.2, 5), ("worn", "mend", "new", 1, -1)]
    plot = assay.plot(MDP.read(rows, 0.9).policy_iteration())
    edges = plot.renderers[0].data_source.data
    width = {(a, b): w for a, b, w in zip(edges["from"], edges["to"], edges["width"], strict=True)}
    assert width["worn", "new"] > width["new", "new"] > width["new", "worn"] > 0


def test_of_many_states_those_are_drawn_in_which_the_policy_is():
    n = 200
    to_first = sparse.csr_array((np.ones(n), (np.arange(n), np.zeros(n, int))), shape=(n, n))
    plot = policy_graph([f"s{i}" for i in range(n)], np.arange(n, dtype=float), ["go"] * n, to_first)
    nodes = next(r for r in plot.renderers if "action" in r.data_source.data and "value" in r.data_source.data)
    assert len(nodes.data_source.data["state"]) == 30 and "s0" in nodes.data_source.data["state"]
    assert "30 of 200 states are drawn" in plot.below[-1].items[0].label.value


def test_what_was_learned_shows_doubt_and_intervals():
    rng = np.random.default_rng(0)
    rows = [
        (t, i, f"s{rng.integers(3)}", "ab"[rng.integers(2)], float(rng.normal())) for t in range(30) for i in range(6)
    ]
    found = assay.learn_mdp(rows, 0.9)
    drawn = assay.plot(found)
    assert list(drawn.figures) == ["The best action in each state", "Values"]
    nodes = next(r for r in drawn.figures["The best action in each state"].renderers if "action" in r.data_source.data)
    for state, action in zip(nodes.data_source.data["state"], nodes.data_source.data["action"], strict=True):
        assert action.endswith("?") == (state in found.choices.flagged)


def test_a_learning_curve_shows_the_best_there_is():
    pytest.importorskip("gymnasium")
    found = assay.explore("FrozenLake-v1", 30, 0.99, random_state=0)
    plot = assay.plot(found.curve)
    assert plot.renderers[0].data_source.data["value"].tolist() == found.curve.value.tolist()
    assert any("best possible: 0.542" in item.label.value for item in plot.above[0].items)
    assert list(assay.plot(found).figures) == ["What the policy learned is worth", "The best action in each state"]


def test_a_shape_that_does_not_fit_is_refused():
    with pytest.raises(ParameterError, match="shape is rows and columns of the grid, with places for 12 states"):
        assay.plot(corridor(3, 4), shape=(30, 40))
    with pytest.raises(ParameterError, match="no option 'shap'"):
        assay.plot(corridor(3, 4), shap=(3, 4))


def test_names_of_states_stand_on_two_lines_where_a_page_is_narrow():
    to_first = sparse.csr_array((np.ones(3), (np.arange(3), np.zeros(3, int))), shape=(3, 3))
    plot = policy_graph(["broken", "worn", "new"], np.arange(3.0), ["repair"] * 3, to_first)
    names = [part for part in plot.renderers if part.tags[:1] == ["name"]]
    wide, narrow = ([part for part in names if len(part.tags) == many] for many in (2, 3))
    assert {word for part in wide for word in part.data_source.data["words"]} >= {"broken: repair"}
    assert {word for part in narrow for word in part.data_source.data["words"]} >= {"broken:\nrepair"}
    assert all(part.tags[1] == other.tags[2] for part, other in zip(wide, narrow, strict=True))

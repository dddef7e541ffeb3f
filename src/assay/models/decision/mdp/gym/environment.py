"""An environment of Gymnasium as a decision process: numbered states and actions, and its table if it has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.models.decision.mdp.layout import Names, StateLayout, of_rows


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """An environment with numbered states and actions.

    Attributes:
        env: of Gymnasium.
        name: how it is called.
        n: how many states.
        k: how many actions.
        first: the number that the environment gives its first state.
        first_action: and its first action.
        longest: steps after which it cuts a trial off; None where it does not.
    """

    env: Any
    name: str
    n: int
    k: int
    first: int
    first_action: int
    longest: int | None

    @property
    def table(self) -> Mapping[int, Any] | None:
        """The transitions, where the environment holds them as P."""
        found = getattr(self.env.unwrapped, "P", None)
        return found if isinstance(found, Mapping) else None

    @property
    def start(self) -> Array | None:
        """(n,) probabilities of the first state, where the environment holds them."""
        found = getattr(self.env.unwrapped, "initial_state_distrib", None)
        return None if found is None else np.asarray(found, np.float64)


def environment(env: Any) -> Environment:
    """An environment, or the name of one, checked.

    Args:
        env: an environment of Gymnasium with discrete spaces, or its name.
    """
    try:
        import gymnasium
    except ImportError as error:
        raise ParameterError("environments need gymnasium: pip install 'assay[gym]'") from error
    if isinstance(env, str):
        try:
            env = gymnasium.make(env)
        except gymnasium.error.Error as error:
            raise ParameterError(f"gymnasium makes no environment {env!r}: {error}") from error
    if not isinstance(env, gymnasium.Env):
        raise ParameterError(f"an environment of gymnasium, or its name, is needed; got {type(env).__name__}")
    spec = env.spec
    name = type(env.unwrapped).__name__ if spec is None else spec.id
    for what, space in (("states", env.observation_space), ("actions", env.action_space)):
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise ParameterError(
                f"the {what} of {name} are {space}, which are not numbered; a decision process has finitely many, each "
                "with a number: wrap the environment so that its space is gymnasium.spaces.Discrete"
            )
    longest = None if spec is None else spec.max_episode_steps
    seen: Any = env.observation_space
    done: Any = env.action_space
    return Environment(env, name, int(seen.n), int(done.n), int(seen.start), int(done.start), longest)


def layout_of(env: Environment) -> tuple[StateLayout, Names, Names]:
    """The table of transitions of an environment.

    A transition that ends the trial leads to its state as an end, if all that lead there from elsewhere do; otherwise
    to an end of its own, which is called "name (ended)".
    """
    table = env.table
    if table is None:
        raise DataError(f"{env.name} has no table of transitions P; learn it from trials: assay.explore(env)")
    flat = np.array(
        [
            (s, a, t, p, r, float(over))
            for s, actions in table.items()
            for a, outcomes in actions.items()
            for p, t, r, over in outcomes
        ],
        np.float64,
    ).reshape(-1, 6)
    state, action, after = (flat[:, i].astype(np.int64) for i in range(3))
    over, coming = flat[:, 5] > 0.0, state != after
    ended, entered = np.zeros(env.n, np.bool_), np.zeros(env.n, np.bool_)
    ended[after[over]] = True
    entered[after[~over & coming]] = True
    if env.start is not None:
        entered |= env.start > 0.0
    alone, twice = ended & ~entered, np.flatnonzero(ended & entered)
    place = np.arange(env.n)
    place[twice] = env.n + np.arange(len(twice))
    going = ~alone[state]
    states: list[Any] = list(range(env.first, env.first + env.n))
    states += [f"{env.first + s} (ended)" for s in twice.tolist()]
    actions = tuple(range(env.first_action, env.first_action + env.k))
    leads: Whole = np.where(over, place[after], after)[going]
    made = of_rows(
        state[going], action[going], leads, flat[going, 3], flat[going, 4], np.zeros(len(states)), states, actions
    )
    return made, tuple(states), actions

"""Learning a decision process from trials: counts, then planning.

    p(t | s, a) = count(s, a, t) / count(s, a)         uniform over the n states where (s, a) was never seen
    r(s, a)     = mean reward of a in s                that of all steps where (s, a) was never seen
    v, policy   the best of this process, by policy iteration
    evidence    trials drawn anew (`draws.py`), each solved from this solution

Reference: Puterman, Markov Decision Processes, 1994.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.errors import ParameterError
from assay.linalg.validate import RandomState, seed_of
from assay.models.decision.mdp.learning.counts import Counts, Unseen, counted
from assay.models.decision.mdp.learning.estimates import FEWEST_TRIALS, By
from assay.models.decision.mdp.learning.learned import Learned
from assay.models.decision.mdp.learning.trials import Trials, read_trials
from assay.models.decision.mdp.mdp import MDP

_MANY = 100_000  # states from which policies are no longer solved exactly


def learn_mdp(
    trials: Any,
    discount: float = 0.95,
    *,
    unseen: Unseen = "uniform",
    prior: float = 0.0,
    ended: bool | None = None,
    trial: str | None = None,
    step: str | None = None,
    state: str | None = None,
    action: str | None = None,
    reward: str | None = None,
    next_state: str | None = None,
    done: str | None = None,
    by: By | None = None,
    draws: int = 200,
    random_state: RandomState = 0,
) -> Learned:
    """Learn a decision process from trials, find its best policy, and say how sure that is.

    A row is a step: in a state an action was taken and gave a reward. Where it led is the next state that the row
    names, or the state of the next step of its trial. A trial ended where the table says so: a last row with a state
    and no action, whose reward is what ending there is worth, or a column such as `terminated`. Otherwise it is cut
    off: the reward of its last action counts, where that led is not known.

    Args:
        trials: a table with the columns trial, step, state, action and reward, and if known next_state and terminated:
            a path, a frame, an Arrow table, a `Source`, a list of mappings, or of tuples in this order.
        discount: of the next step, at least 0 and below 1.
        unseen: where an action never taken in a state leads: "uniform" to any state alike, with the reward of an
            average step; or "left out", it cannot be taken there.
        prior: weight of a uniform next state, in steps, added to the counts of every pair.
        ended: True if every trial came to its end with its last row, where the table does not say so.
        trial: the column of trials, where it has none of the usual names (trial, episode, run, trajectory).
        step: the column of steps (step, t, time, timestep); rows are in their order where there is none.
        state: the column of states.
        action: the column of actions.
        reward: the column of rewards.
        next_state: the column of next states (next, next_state, successor).
        done: the column that says whether a trial ended with a step (terminated, done, ended).
        by: what draws are of: whole "trials", or single "steps" (the Dirichlet posterior of each pair). Trials when not
            given, unless there are fewer than 20.
        draws: how many draws are behind intervals and choices.
        random_state: of the draws: a whole number from 0 on, None for 0, or a generator of NumPy's.

    Returns:
        The process in `mdp`, its best policy in `solution`; `counts`, `never_seen`, `outcomes`, `probabilities`,
        `intervals`, `choices` and `more_trials` say what it rests on.

    >>> steps = [("one", 1, "new", "run", 5), ("one", 2, "worn", "run", 1), ("one", 3, "broken", "", 0),
    ...          ("two", 1, "new", "run", 5), ("two", 2, "worn", "mend", -1), ("two", 3, "new", "run", 5)]
    >>> found = learn_mdp(steps, 0.9)
    >>> found.policy
    {'new': 'run', 'worn': 'mend', 'broken': None}
    >>> found.never_seen, found.outcomes("new", "run")
    ((('new', 'mend'),), {None: 1, 'worn': 2})
    >>> found.choices.flagged["worn"]
    'an action was taken in fewer than three trials'
    """
    read = trials if isinstance(trials, Trials) else None
    if read is None:
        read = read_trials(
            trials, ended=ended, trial=trial, step=step, state=state, action=action, reward=reward,
            next_state=next_state, done=done,
        )  # fmt: skip
    _check(discount, unseen, prior, by, draws)
    return learned_from(
        counted(read, unseen=unseen, prior=prior), discount, by=by, draws=draws, seed=seed_of(random_state)
    )


def learned_from(counts: Counts, discount: float, *, by: By | None = None, draws: int = 200, seed: int = 0) -> Learned:
    """What counts of trials say.

    Args:
        counts: of the trials.
        discount: at least 0 and below 1.
        by: what is drawn.
        draws: how often.
        seed: of the draws.
    """
    steps = counts.trials
    mdp = MDP._of(counts.layout(), steps.states, steps.actions, discount)
    solution = mdp.modified_policy_iteration() if mdp.n_states > _MANY else mdp.policy_iteration()
    notes = [*steps.notes]
    lost = int((counts.seen == 0).sum())
    if lost:
        notes.append(f"Actions never taken in a state, which may lead anywhere: {lost:,} of {len(counts.seen):,}.")
    live = int((~steps.ends).sum()) * len(steps.actions)
    if live > len(counts.seen):
        notes.append(f"Actions never taken in a state, left out there: {live - len(counts.seen):,} of {live:,}.")
    few = steps.n_trials < FEWEST_TRIALS
    if by is None:
        by = "steps" if few else "trials"
        if few:
            notes.append(f"Trials too few to be drawn as wholes, so that single steps are: {steps.n_trials:,}.")
    return Learned(mdp, solution, tuple(notes), by, draws, seed, counts)


def _check(discount: Any, unseen: Any, prior: Any, by: Any, draws: Any) -> None:
    def real(value: Any) -> bool:
        return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)

    if not (real(discount) and 0.0 <= discount < 1.0):
        raise ParameterError(
            f"discount must be a number of at least 0 and below 1, since a policy learned need not come to an end; got "
            f"{discount!r}"
        )
    if unseen not in ("uniform", "left out"):
        raise ParameterError(f"unseen is 'uniform' or 'left out'; got {unseen!r}")
    if not (real(prior) and 0.0 <= prior < np.inf):
        raise ParameterError(f"prior is the weight of a uniform next state in steps, 0 or more; got {prior!r}")
    if by not in (None, "trials", "steps"):
        raise ParameterError(f"by is 'trials' or 'steps', what draws are of; got {by!r}")
    for name, value, least in (("draws", draws, 20),):
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            raise ParameterError(f"{name} is a whole number, at least {least}; got {value!r}")

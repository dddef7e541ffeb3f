"""Is the policy that trials teach worth more than what was done, on trials it was not learned from?

    statistic  cross-fitted gain: learn the best policy from half of the trials, and take its value in the process that
               the other half says, less the value there of doing what was done; both ways round, averaged over halves
    null       actions do not matter: within each state the actions of its steps are exchanged, and all is done again;
               what happened after each step stays, so do states, rewards and how often each action was taken
    held out   the same gain with the measuring half drawn anew, which gives its interval
    looks      one; states are then told apart among themselves (`Learned.choices`), all states counted

Where actions go with trials (somebody always mends, a learner got better), steps of different trials cannot be
exchanged: then they are exchanged within states of one trial. Where that leaves nothing to exchange, the verdict is at
most suggestive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from assay.arrays import Whole
from assay.errors import ParameterError
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.noise.monte_carlo import endless, monte_carlo, rank_p
from assay.models.decision.mdp.learning.counts import counted
from assay.models.decision.mdp.learning.draws import Crossed, crossed
from assay.models.decision.mdp.learning.learn import learned_from
from assay.models.decision.mdp.learning.learned import Learned
from assay.models.decision.mdp.learning.trials import Trials
from assay.questions.policy.answer import Policy
from assay.questions.policy.growth import growth

DISCOUNT = 0.95
FEWEST_TRIALS = 20
FEWEST_FREE = 20  # steps that can be exchanged within states of one trial
_HALVES = 4
_DRAWS = 199
_ENOUGH = 12  # draws that reach the data end them
_STAGES = (19, 40, 60, 80)
_LARGE = 300_000  # steps from which fewer draws are made
_CLINGING = 0.05
_CHECKS = 99
_LIMIT = "actions go with trials, and no trial did different things in one state, so that steps cannot be exchanged"


def why_not(trials: Trials) -> str:
    """Why nothing can be asked of these trials; empty where it can.

    Args:
        trials: the trials.
    """
    if trials.n_trials < FEWEST_TRIALS:
        return f"it takes {FEWEST_TRIALS} trials"
    pairs = np.unique(trials.state * len(trials.actions) + trials.action) // max(len(trials.actions), 1)
    return "" if (np.bincount(pairs) > 1).any() else "in no state were two actions taken"


def policy(
    trials: Trials, discount: float | None, level: float, seed: int, tell: Callable[[str], object]
) -> Policy | None:
    """The answer.

    Args:
        trials: the trials.
        discount: of the next step; None for .95.
        level: level of the study.
        seed: of everything random.
        tell: told what is being done.
    """
    d = DISCOUNT if discount is None else discount
    if not 0.0 <= d < 1.0:
        raise ParameterError(f"discount is at least 0 and below 1; got {d!r}")
    tell("learning from the trials")
    learned = learned_from(counted(trials, unseen="left out"), d, by="trials", seed=seed)
    rng = np.random.default_rng([seed, 1])
    by_trial, limit = _strata(trials, rng)
    here = _gain(learned, trials, d, seed)
    tell("exchanging actions")
    most = _STAGES if len(trials.state) <= _LARGE else _STAGES[:2]
    drawn = monte_carlo(
        endless(lambda: _exchanged(trials, by_trial, rng)),
        lambda some: [_gain(learned, replace(trials, action=action), d, seed) for action in some],
        most,
        reaches=lambda value: value >= here,
        enough=_ENOUGH,
        progress=lambda draws: tell(f"exchanging actions, {draws} draws"),
    )
    chance = np.array(drawn.values)
    value, low, high = learned.gain
    holds = low > 0.0
    evidence = Evidence(
        statistic=here,
        null=Null(
            "actions exchanged within states",
            float(np.median(chance)),
            float(np.quantile(chance, 1 - level)),
            len(chance),
        ),
        p=drawn.p,
        q=drawn.p,
        held_out=value,
        interval=(low, high),
        n=trials.n_trials,
        looks=1,
        method=f"actions exchanged within states{' of a trial' if by_trial else ''}, {len(chance)} draws",
        verdict=verdict_of(drawn.p, effect_holds=holds, level=level),
        limit=limit,
    )
    tell("more and more trials")
    sizes, curve = growth(learned, d, seed)
    return Policy(evidence, learned, chance, sizes, curve, level)


def effect_holds(evidence: Evidence) -> bool:
    """Whether the policy is worth more than what was done, on trials that it was not learned from."""
    return evidence.interval is not None and evidence.interval[0] > 0.0


def _gain(learned: Learned, trials: Trials, discount: float, seed: int) -> float:
    """The cross-fitted gain; the same halves for the data and for every draw."""
    counts = counted(trials, unseen="left out")
    found: Crossed = crossed(counts, discount, learned.values, by="trials", draws=_HALVES, seed=seed, weighted=False)
    return float((found.learned - found.usual).mean())


def _exchanged(trials: Trials, by_trial: bool, rng: np.random.Generator) -> Whole:
    """Actions exchanged among the steps of each state, or of each state of each trial."""
    group = trials.state * trials.n_trials + trials.trial if by_trial else trials.state
    places = np.argsort(group, kind="stable")
    mixed = np.lexsort((rng.random(len(group)), group))
    action = np.empty_like(trials.action)
    action[places] = trials.action[mixed]
    return action


def _strata(trials: Trials, rng: np.random.Generator) -> tuple[bool, str]:
    """Whether steps are exchanged within trials only, and why no chance is known, if none is."""
    here = _clinging(trials, trials.action)
    as_far = sum(_clinging(trials, _exchanged(trials, False, rng)) >= here for _ in range(_CHECKS))
    if rank_p(as_far, _CHECKS) > _CLINGING:
        return False, ""
    group = trials.state * trials.n_trials + trials.trial
    _, inverse, size = np.unique(group, return_inverse=True, return_counts=True)
    kinds = np.bincount(
        np.unique(inverse * len(trials.actions) + trials.action) // len(trials.actions), minlength=len(size)
    )
    free = int(size[kinds > 1].sum())
    return (True, "") if free >= FEWEST_FREE else (False, _LIMIT)


def _clinging(trials: Trials, action: Whole) -> float:
    """How much the actions of a trial have in common beyond what its states ask for."""
    n, k, total = len(trials.states), len(trials.actions), 0.0
    often = np.bincount(trials.state, minlength=n)
    for a in range(k):
        mine = (action == a).astype(np.float64)
        usual = np.bincount(trials.state, mine, minlength=n) / np.maximum(often, 1)
        total += float((np.bincount(trials.trial, mine - usual[trials.state], minlength=trials.n_trials) ** 2).sum())
    return total

"""Would more trials help? What policies of more and more trials are worth on the others."""

from __future__ import annotations

import numpy as np

from assay.arrays import Array, Whole
from assay.models.decision.mdp.learning.draws import starts
from assay.models.decision.mdp.learning.estimates import Estimates, Solver
from assay.models.decision.mdp.learning.learned import Learned

_REPEATS = 12
_SIZES = 6
_LEAST = 5


def growth(learned: Learned, discount: float, seed: int) -> tuple[Whole, Array]:
    """Numbers of trials, and the values (repeats, sizes) of policies learned from so many, measured on the other half.

    Args:
        learned: from all trials.
        discount: below 1.
        seed: of the draws.
    """
    counts = learned._counts
    half = counts.trials.n_trials // 2
    sizes = np.unique(np.geomspace(min(_LEAST, half), half, _SIZES).round().astype(np.int64))
    rng = np.random.default_rng([seed, 2])
    given, solver, begin = Estimates(counts, "trials", rng), Solver(counts, discount), starts(counts)
    kept = np.empty((_REPEATS, len(sizes)))
    for repeat in range(_REPEATS):
        order = rng.permutation(counts.trials.n_trials)
        other = np.zeros(len(order), np.bool_)
        other[order[half:]] = True
        for i, size in enumerate(sizes.tolist()):
            some = np.zeros(len(order), np.bool_)
            some[order[:size]] = True
            given.as_counted(some)
            chosen = solver.best(given, learned.values)[2]
            given.as_counted(other)
            kept[repeat, i] = begin @ solver.follow(given, learned.values, chosen)
    return sizes, kept

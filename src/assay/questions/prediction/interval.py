"""How sure the share explained on unseen rows is: R^2 = 1 - E / B, squared errors and squared deviations from the mean.

The truth meant is R^2 on new rows of what this procedure, choice of machine and penalty included, learns from these
rows. On the scale of log(E / B), on which no end passes 1, three parts make the variance, v = (J + D + C) / 2:

    D  rows     Var of the mean of e_i / mean(e) - b_i / mean(b): what it would be if the fits were given. Too small
    C  chance   mean square over the draws of chance: what the procedure learns from noise, all there is near R^2 = 0
    J  folds    jackknife: the whole procedure again without each fold. Never too small on average (Efron and Stein),
                too large where it hesitates between penalties or machines

and the interval takes Student's 97.5% point with 18 degrees of freedom. Rows that depend on each other count as blocks.

Coverage of the line alone, 200 tables each (standard error 1.5%), normal errors, R^2 of the best line 0, .1, .3, .7:

    n x p      60 x 3               60 x 20              100 x 5              100 x 20             300 x 10
    covered    .91 .99 .98 .96      .99 .98 .98 .95      .96 .97 .95 .95      .97 .99 .98 .95      .96 .97 .94 .96
    width      .20 .35 .48 .32      .33 .44 .61 .54      .12 .26 .36 .24      .16 .28 .42 .31      .04 .14 .19 .13

Intervals of the same estimates, were their spread known, would be .11, .28, .46, .29 wide at 60 x 3 and .05, .24, .33,
.21 at 100 x 5.

With the choice among machines, 40 tables each (standard error 3.4% at 95%), too few to tell 93% from 95%:

    law        line .1     line .3    line 0      |x| .5      x^2 + y z .7    x^2 + y z .5
    n x p      100 x 5     60 x 3     100 x 5     150 x 4     200 x 5         100 x 5
    covered    39          38         39          37          39              36
    width      .32         .64        .15         .33         .27             .76

The last is where machines are chosen now this way and now that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from assay.arrays import Array, Indices
from assay.evidence.shares import unseen_share_interval
from assay.linalg.noise.fold_error import fold_error
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.regression.regression_sums import RegressionSums
from assay.questions.prediction.chance import JudgedRepeat, pooled
from assay.questions.prediction.machines import RidgeInput
from assay.questions.prediction.nested_ridge import nested_ridge, simplest_least
from assay.questions.prediction.plan import JudgingPlan
from assay.questions.prediction.unseen import UnseenRows

_FREE = 18  # as nine for each of two independent repeats of ten folds; more repeats share their rows with these
_REPEATS = 2
_WORK = 2e8  # of the jackknife: fits times cubes of columns
_MOST_COLUMNS = 300  # beyond, the spread of the folds with their overlap stands for the jackknife


def explained_interval(ours: float, rows: UnseenRows, null: Array, jackknife: float) -> tuple[float, float]:
    """95% interval of the share explained.

    Args:
        ours: the share.
        rows: errors of the rows judged.
        null: (draws,) shares that chance reaches.
        jackknife: variance of log(E / B), the procedure done again without each fold.
    """
    blocks, count = rows.blocks, int(rows.blocks.max()) + 1
    influence = _influence(rows.errors, rows.base) / len(blocks)
    of_rows = count / max(count - 1.0, 1.0) * float((np.bincount(blocks, influence, count) ** 2).sum())
    of_chance = float((np.log1p(-np.minimum(null, 1.0 - 1e-12)) ** 2).mean())
    reach = stdtrit(min(_FREE, max(count - 1, 1)), 0.975) * np.sqrt((jackknife + of_rows + of_chance) / 2.0)
    middle = np.log(max(1.0 - ours, 1e-300))
    with np.errstate(over="ignore"):
        return float(1.0 - np.exp(middle + reach)), float(1.0 - np.exp(middle - reach))


def jackknifed(machines: list[RidgeInput], Y: Array, plan: JudgingPlan, found: list[JudgedRepeat]) -> float:
    """Variance of log(E / B), by the procedure done again without each fold; the mean over repeats.

    Args:
        machines: what the target is predicted with.
        Y: (n, g) target.
        plan: the splits.
        found: what was measured, for each repeat.
    """
    count, cubes = len(plan.parts(0)), sum(one.size**3 for one in machines)
    if count < 4 or max(one.size for one in machines) > _MOST_COLUMNS:
        return _between_folds(found[0])
    # rows without two folds are decomposed once for both
    repeats = int(np.clip(_WORK / (count**2 / 2.0 * cubes), 1, min(_REPEATS, len(plan.folds))))
    variances = []
    with one_blas_thread():
        for repeat in range(repeats):
            sums = [one.sums_of(Y, plan.parts(repeat), repeat) for one in machines]
            left = [_without(machines, sums, j, repeat, plan, Y.shape[1]) for j in range(count)]
            values = np.log(np.maximum(1.0 - np.array(left), 1e-300))
            variances.append((count - 1) * values.var())
    return float(np.mean(variances))


def _without(
    machines: list[RidgeInput], sums: list[list[RegressionSums]], fold: int, repeat: int, plan: JudgingPlan, width: int
) -> float:
    """Share explained by the procedure without a fold."""
    numbers = [k for k in range(len(sums[0])) if k != fold]
    each = [
        nested_ridge(
            [own[k] for k in numbers], one.strengths, width,
            choice=plan.choice, numbers=numbers, known=one.known_of(repeat),
        )
        for one, own in zip(machines, sums, strict=True)
    ]  # fmt: skip
    return float(pooled([JudgedRepeat(each, simplest_least(each))])[0])


def right_interval(right: NDArray[np.bool_], blocks: Indices) -> tuple[float, float]:
    """Wilson's 95% interval of the share of rows that are right, of as many rows as blocks make of them.

    Args:
        right: (m,) whether each row is.
        blocks: (m,) number of the block of each, from 0.
    """
    m, count, share = len(right), int(blocks.max()) + 1, float(right.mean())
    rows = float(m)
    if count < m:
        spread = np.bincount(blocks, right - share, count)
        of_blocks = count / max(count - 1.0, 1.0) * float((spread**2).sum()) / m**2
        alone = share * (1.0 - share) / m
        # Student's point of so few blocks, as if there were fewer rows
        rows *= min(alone / of_blocks, 1.0) if of_blocks > 0.0 else 1.0
        rows *= float(ndtri(0.975) / stdtrit(max(count - 1, 1), 0.975)) ** 2
    return unseen_share_interval(share, rows)


def _influence(errors: Array, base: Array) -> Array:
    """Of each part on log(E / B)."""
    return np.asarray(errors / max(errors.mean(), 1e-300) - base / max(base.mean(), 1e-300))


def _between_folds(found: JudgedRepeat) -> float:
    return float(fold_error(_influence(found.errors[:, 0], found.base[:, 0]))) ** 2

"""Which columns a prediction rests on: what is lost on unseen rows where their values are exchanged.

loss      (E' - E) / B, squared errors E' without the column, E with it, B those of the mean. Without: predictions
          averaged over the values that other rows have in it, exchanged as far as rows do not depend on each other;
          what so few exchanges add by chance is taken off. Not averaged, errors would count what a column brings
          twice. Both are kept within the range of the target, which an exchange can leave far behind. No more can be
          lost than there is: 1 - E / B
interval  over blocks of rows that depend on each other, of the same rows with and without
together  columns whose ranks are alike stand in for each other: exchanged alone none of them would matter

References: Breiman, Random forests, Machine Learning 45 (2001); Gregorutti, Michel, Saint-Pierre, Grouped variable
importance, Computational statistics and data analysis 90 (2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from assay.arrays import Array, Indices
from assay.linalg.ranks import average_ranks
from assay.questions.prediction.asked import Asked
from assay.questions.prediction.better import gain
from assay.questions.prediction.unseen import LearnedRule, UnseenRows

_ALIKE = 0.8  # correlation of ranks from which on columns are spoken of together
_ASKED = 60  # of the columns, those that tell most alone
_ROWS = 2000  # exchanged, over all folds
_TIMES = 5  # exchanged
_LEAST = 0.005  # of the variance


@dataclass(frozen=True, slots=True, eq=False)
class Matters:
    """What columns are worth.

    Attributes:
        names: of the columns that were exchanged together.
        loss: (c,) of the share explained, the largest first.
        interval: (c, 2) 95% interval.
        left_out: columns that were not asked, since others tell more alone.
        whole: share explained by the rule named, with all columns: the most that can be lost.
    """

    names: tuple[tuple[str, ...], ...]
    loss: Array
    interval: Array
    left_out: int
    whole: float

    @property
    def sure(self) -> list[int]:
        """Numbers of those without which something is surely lost."""
        return [k for k in range(len(self.loss)) if self.interval[k, 0] > 0.0 and self.loss[k] >= _LEAST]


def matters(what: Asked, alone: Array, rows: UnseenRows) -> Matters:
    """Exchange columns among unseen rows.

    Args:
        what: the target and the columns.
        alone: (columns,) how much each gives alone.
        rows: the folds with their rules.
    """
    X, Y, rng = what.X, what.scaled, np.random.default_rng(what.seed)
    low, high = Y.min(axis=0), Y.max(axis=0)
    asked = np.sort(np.argsort(-alone, kind="stable")[:_ASKED])
    sets = [asked[own] for own in _together(X, what.of, asked)]
    errors, base, used = [], [], []
    worse: list[list[Array]] = [[] for _ in sets]
    for out, rule in rows.taught:
        some = _sample(out, len(rows.taught), rng)
        orders = [what.design.drawn(rng)[some] for _ in range(_TIMES)]
        used.append(some)
        errors.append(_error(np.clip(rule.predict(X[some]), low, high), Y[some]))
        base.append(_error(rule.middle, Y[some]))
        several = np.tile(X[some], (_TIMES, 1))
        for k, columns in enumerate(sets):
            guess = _exchanged(rule, X, several, orders, np.flatnonzero(np.isin(what.of, columns)))
            guess = np.clip(guess, low, high)
            by_chance = guess.var(axis=0, ddof=1).sum(axis=1) / _TIMES
            worse[k].append(_error(guess.mean(axis=0), Y[some]) - by_chance)
    with_it, middle = np.concatenate(errors), np.concatenate(base)
    place = np.searchsorted(rows.rows, np.concatenate(used))
    here = np.unique(rows.blocks[place], return_inverse=True)[1]
    lost = [gain(np.concatenate(one), with_it, middle, here) for one in worse]
    most = max(1.0 - float(with_it.sum()) / max(float(middle.sum()), 1e-300), 0.0)
    loss = np.minimum([one.value for one in lost], most)
    interval = np.minimum([(one.low, one.high) for one in lost], most)
    order = np.argsort(-np.array([one.value for one in lost]), kind="stable")
    called = tuple(tuple(what.names[c] for c in sets[k]) for k in order)
    return Matters(called, loss[order], interval[order], len(what.names) - len(asked), most)


def _exchanged(rule: LearnedRule, X: Array, several: Array, orders: list[Indices], own: Indices) -> Array:
    """(times, k, q) predictions of rows that have the values of others in some columns.

    The rows, (times k, p), are as they were afterwards: of wide tables a copy takes longer than a prediction.
    """
    kept = several[:, own]
    several[:, own] = X[np.ix_(np.concatenate(orders), own)]
    guess = rule.predict(several)
    several[:, own] = kept
    return guess.reshape(len(orders), len(orders[0]), -1)


def _error(guess: Array, truth: Array) -> Array:
    return np.asarray(((truth - guess) ** 2).sum(axis=1))


def _sample(rows: Indices, folds: int, rng: np.random.Generator) -> Indices:
    most = max(_ROWS // folds, 2)
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _together(X: Array, of: Indices, asked: Indices) -> list[Indices]:
    """Places in `asked` of columns that go together: every pair of a set is alike by the ranks of some numbers."""
    if len(asked) < 2:
        return [np.arange(len(asked))]
    kept = np.isin(of, asked)
    ranks = average_ranks(X[:: -(-len(X) // _ROWS), kept], axis=0)
    ranks -= ranks.mean(axis=0)
    size = np.linalg.norm(ranks, axis=0)
    ranks = np.divide(ranks, size, out=np.zeros_like(ranks), where=size > 0)
    each = np.abs(ranks.T @ ranks)
    own = np.searchsorted(asked, of[kept])
    alike = np.zeros((len(asked), len(asked)))
    np.maximum.at(alike, (own[:, None], own[None, :]), each)
    apart = 1.0 - np.minimum(alike, 1.0)
    np.fill_diagonal(apart, 0.0)
    found = fcluster(linkage(squareform(apart, checks=False), "complete"), 1.0 - _ALIKE, "distance")
    return [np.flatnonzero(found == label) for label in np.unique(found)]

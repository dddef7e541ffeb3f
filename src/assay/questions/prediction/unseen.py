"""What each row is predicted to be by rows that it had no part in, and how far off that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from assay.arrays import Array, Indices
from assay.errors import SingularError
from assay.evidence.design import Design
from assay.linalg.regression.regression_sums import RegressionSums, RidgeFits
from assay.models.prediction.gaussian_rule.gaussian_rule import GaussianRule
from assay.questions.prediction.better import ByKind, by_kind, simplest
from assay.questions.prediction.blocks import blocks_of
from assay.questions.prediction.chance import JudgedRepeat
from assay.questions.prediction.machines import KINDS, Features, Kind, RidgeInput
from assay.questions.prediction.nested_ridge import judged_folds
from assay.questions.prediction.plan import JudgingPlan
from assay.summary.distances.distances import squared_distances

_HAIR = 1e-9  # of the identity in a covariance that is singular: fitted indicators add up to one


@dataclass(frozen=True, slots=True, eq=False)
class LearnedRule:
    """A machine that has learned from some rows.

    Attributes:
        features: makes the machine's numbers of columns as they came.
        weights: (m, q) of these numbers.
        middle: (q,) what is predicted where these are `origin`.
        origin: (m,).
    """

    features: Features
    weights: Array
    middle: Array
    origin: Array

    def of_features(self, rows: Array) -> Array:
        """(k, q) predictions, from (k, m) numbers of the machine."""
        return np.asarray(self.middle + (rows - self.origin) @ self.weights)

    def predict(self, X: Array) -> Array:
        """(k, q) predictions, in the scale of the target that was learned, from (k, p) columns as they came."""
        return self.of_features(self.features(X))


@dataclass(frozen=True, slots=True, eq=False)
class UnseenRows:
    """Rows as others predict them, the mean over repeats.

    Attributes:
        rows: (m,) numbers of those that were judged: all, but for the first in time.
        blocks: (m,) number of the block of each, from 0: rows of one depend on each other.
        errors: (m,) squared error of the machines chosen among the rows learned from.
        base: (m,) squared deviation from the mean of the rows learned from.
        by_kind: what each kind of machine does alone, in the first repeat.
        machine: the simplest kind that none of the others surely beats.
        fitted: (m, q) predictions of this one; for classes their probabilities.
        taught: rows of each fold of the first repeat, and the rule that the others gave this one.
    """

    rows: Indices
    blocks: Indices
    errors: Array
    base: Array
    by_kind: ByKind
    machine: Kind
    fitted: Array
    taught: list[tuple[Indices, LearnedRule]]


def unseen(
    machines: list[RidgeInput], Y: Array, plan: JudgingPlan, found: list[JudgedRepeat], design: Design, *, classes: bool
) -> UnseenRows:
    """Predict each fold of each repeat with the machines and penalties chosen for it.

    Args:
        machines: what there was to choose from.
        Y: (n, q) target.
        plan: the splits.
        found: of each repeat, what was chosen.
        design: how rows depend on each other.
        classes: whether the target has classes.
    """
    kinds = {kind: own for kind in KINDS if (own := [k for k, one in enumerate(machines) if one.kind == kind])}
    errors, base = np.zeros(len(Y)), np.zeros(len(Y))
    alone = {kind: np.zeros(Y.shape) for kind in kinds}
    rules: dict[Kind, list[tuple[Indices, LearnedRule]]] = {kind: [] for kind in kinds}
    wanted = set(kinds)
    for repeat, one in enumerate(found):
        for fold in _folds(machines, Y, plan, one, repeat):
            for kind, own in kinds.items():
                picked = one.machine[fold.place, 0] in own
                k = int(one.machine[fold.place, 0] if picked else one.best_of(own)[fold.place, 0])
                if not picked and kind not in wanted:
                    continue
                rule, new = fold.predicted(k)
                if picked:
                    errors[fold.out] += ((Y[fold.out] - new) ** 2).sum(axis=1)
                    base[fold.out] += ((Y[fold.out] - rule.middle) ** 2).sum(axis=1)
                if kind in wanted:
                    alone[kind][fold.out] += fold.probabilities(k, rule, new) if classes else new
                    rules[kind].append((fold.out, rule))
        if repeat == 0:
            rows = np.sort(np.concatenate([out for out, _ in rules[machines[0].kind]]))
            blocks = blocks_of(design, rows)
            compared = by_kind({kind: new[rows] for kind, new in alone.items()}, Y[rows], base[rows], classes=classes)
            named = simplest(compared, blocks)
            wanted, taught = {named}, list(rules[named])
    times = len(found)
    return UnseenRows(
        rows, blocks, errors[rows] / times, base[rows] / times, compared, named, alone[named][rows] / times, taught
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Fold:
    """A fold that the others teach.

    Attributes:
        place: among the folds judged.
        out: its rows.
        known: the rows learned from.
        paths: for each machine, its ridge regressions of these.
        strengths: and the penalty chosen.
    """

    place: int
    out: Indices
    known: Indices
    machines: list[RidgeInput]
    Y: Array
    paths: Callable[[int], RidgeFits]
    strengths: list[float]

    def predicted(self, k: int) -> tuple[LearnedRule, Array]:
        """What a machine has learned, and what it predicts."""
        path = self.paths(k)
        rule = LearnedRule(self.machines[k].features, path.coefficients(self.strengths[k]), path.y, path.x)
        return rule, rule.of_features(self.machines[k].rows[self.out])

    def probabilities(self, k: int, rule: LearnedRule, new: Array) -> Array:
        """Of the classes, from what a machine predicts."""
        fits = _left_out(rule, self.paths(k), self.machines[k].rows[self.known], self.Y[self.known], self.strengths[k])
        return _by_gaussian_rule(fits, self.Y[self.known].argmax(axis=1), new, self.Y.shape[1])


def _folds(
    machines: list[RidgeInput], Y: Array, plan: JudgingPlan, found: JudgedRepeat, repeat: int
) -> Iterator[_Fold]:
    parts = plan.parts(repeat)
    sums = [machine.sums_of(Y, parts, repeat) for machine in machines]
    for place, f in enumerate(judged_folds(len(parts), plan.choice)):
        used = [k for k in range(len(parts)) if (k < f if plan.choice == "forward" else k != f)]

        def path(k: int, used: list[int] = used) -> RidgeFits:
            return reduce(add, [sums[k][j] for j in used]).path(machines[k].known_of(repeat).get(frozenset(used)))

        chosen = [float(one.strengths[found.each[k].chosen[place, 0]]) for k, one in enumerate(machines)]
        yield _Fold(place, parts[f], np.concatenate([parts[j] for j in used]), machines, Y, path, chosen)


def learned(machine: RidgeInput, Y: Array, strength: float) -> LearnedRule:
    """What a machine learns from all rows."""
    path = RegressionSums.of(machine.rows, Y).path()
    return LearnedRule(machine.features, path.coefficients(strength), path.y, path.x)


def _left_out(rule: LearnedRule, path: RidgeFits, rows: Array, Y: Array, strength: float) -> Array:
    """(k, q) what the rows learned from would be predicted to be, each without itself: y - (y - f) / (1 - h).

    Fitted values themselves lie nearer to their class than those of new rows, the more so the more a machine can
    follow; probabilities learned from them would be too sure of themselves.
    """
    along = (rows - path.x) @ path.spectrum.axes
    leverage = 1.0 / len(rows) + along**2 @ (1.0 / (path.spectrum.values + strength))
    left = (Y - rule.of_features(rows)) / np.maximum(1.0 - leverage, 1e-6)[:, None]
    return np.asarray(Y - left)


def _by_gaussian_rule(fitted: Array, codes: Indices, new: Array, g: int) -> Array:
    """(m, g) probabilities of the classes of new rows, by the model's rule with one covariance among fitted values."""
    present, counts = np.unique(codes, return_counts=True)
    found = np.zeros((len(new), g))
    if len(present) < 2 or not np.ptp(fitted, axis=0).any():
        found[:, present] = counts / counts.sum()
        return found
    try:
        found[:, present] = GaussianRule("equal", shrinkage=_HAIR).fit(fitted, codes).predict_proba(new)
    except SingularError:  # nothing varies within classes: a row goes to the one it is nearest to
        means = np.stack([fitted[codes == c].mean(axis=0) for c in present])
        found[np.arange(len(new)), present[squared_distances(new, means).argmin(axis=1)]] = 1.0
    return found

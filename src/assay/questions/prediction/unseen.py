"""What each row is predicted to be by rows that it had no part in, and how far off that is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.errors import SingularError
from assay.linalg.nested_ridge import judged_folds
from assay.linalg.regression_sums import RegressionSums
from assay.models.prediction.gaussian_rule import GaussianRule
from assay.questions.prediction.chance import Judged, sums_of
from assay.questions.prediction.machines import KINDS, Features, Kind, Machine
from assay.questions.prediction.plan import Plan
from assay.summary.distances import squared_distances

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

_HAIR = 1e-9  # of the identity in a covariance that is singular: fitted indicators add up to one


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
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
class Taught:
    """A fold and the rule that the other rows gave.

    Attributes:
        out: (k,) rows of the fold.
        rule: what the rows learned from say.
        repeat: which split it is a fold of.
    """

    out: Codes
    rule: Rule
    repeat: int


@dataclass(frozen=True, slots=True, eq=False)
class ByKind:
    """Rows as each kind of machine predicts them; of classes their probabilities, in the first repeat.

    Attributes:
        errors: by kind (m,) squared error.
        base: (m,) squared deviation from the mean, or the shares of classes, of the rows learned from.
        reached: by kind the share of the squared deviations explained; of classes the share of the rows called right.
    """

    errors: dict[Kind, Array]
    base: Array
    reached: dict[Kind, float]


@dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """Rows as others predict them, the mean over repeats.

    Attributes:
        rows: (m,) numbers of those that were judged: all, but for the first in time.
        fitted: (m, q) predictions; for classes their probabilities.
        errors: (m,) squared error.
        base: (m,) squared deviation from the mean of the rows learned from.
        by_kind: what each kind of machine does, had it been the only one.
        taught: the folds with their rules.
    """

    rows: Codes
    fitted: Array
    errors: Array
    base: Array
    by_kind: ByKind
    taught: list[Taught]


def unseen(machines: list[Machine], Y: Array, plan: Plan, found: list[Judged], *, classes: bool) -> Unseen:
    """Predict each fold of each repeat with the machine and the penalty chosen for it.

    Args:
        machines: what there was to choose from.
        Y: (n, q) target.
        plan: the splits.
        found: of each repeat, what was chosen.
        classes: whether the target has classes.
    """
    kinds = {kind: own for kind in KINDS if (own := [k for k, one in enumerate(machines) if one.kind == kind])}
    fitted, errors, base = np.zeros(Y.shape), np.zeros(len(Y)), np.zeros(len(Y))
    alone = {kind: np.zeros(Y.shape) for kind in kinds}
    judged, taught = np.zeros(len(Y), dtype=bool), []
    for repeat, one in enumerate(found):
        parts = plan.parts(repeat)
        sums = [sums_of(machine, Y, parts) for machine in machines]
        best = {kind: one.best_of(own)[:, 0] for kind, own in kinds.items()}
        for place, f in enumerate(judged_folds(len(parts), plan.choice)):
            out, used = parts[f], [k for k in range(len(parts)) if (k < f if plan.choice == "forward" else k != f)]
            known = np.concatenate([parts[j] for j in used])
            judged[out] = True
            for kind, numbers in best.items():
                k, picked = int(numbers[place]), numbers[place] == one.machine[place, 0]
                if repeat > 0 and not picked:
                    continue
                machine = machines[k]
                strength = float(machine.strengths[one.each[k].chosen[place, 0]])
                path = reduce(add, [sums[k][j] for j in used]).path(machine.known_of(repeat).get(frozenset(used)))
                rule = Rule(machine.features, path.coefficients(strength), path.y, path.x)
                new = rule.of_features(machine.rows[out])
                if picked:
                    errors[out] += ((Y[out] - new) ** 2).sum(axis=1)
                    base[out] += ((Y[out] - rule.middle) ** 2).sum(axis=1)
                    taught.append(Taught(out, rule, repeat))
                if classes:
                    fits = rule.of_features(machine.rows[known])
                    new = _by_gaussian_rule(fits, Y[known].argmax(axis=1), new, Y.shape[1])
                if repeat == 0:
                    alone[kind][out] = new
                if picked:
                    fitted[out] += new
    repeats, rows = len(plan.folds), np.flatnonzero(judged)
    return Unseen(
        rows=rows,
        fitted=fitted[rows] / repeats,
        errors=errors[rows] / repeats,
        base=base[rows] / repeats,
        by_kind=_by_kind({kind: new[rows] for kind, new in alone.items()}, Y[rows], base[rows] / repeats, classes),
        taught=taught,
    )


def _by_kind(alone: dict[Kind, Array], Y: Array, base: Array, classes: bool) -> ByKind:
    if classes:
        truth = np.eye(Y.shape[1])[Y.argmax(axis=1)]
        errors = {kind: ((truth - new) ** 2).sum(axis=1) for kind, new in alone.items()}
        right = {kind: float((new.argmax(axis=1) == Y.argmax(axis=1)).mean()) for kind, new in alone.items()}
        return ByKind(errors, ((truth - truth.mean(axis=0)) ** 2).sum(axis=1), right)
    errors = {kind: ((Y - new) ** 2).sum(axis=1) for kind, new in alone.items()}
    whole = float(base.sum())
    return ByKind(
        errors, base, {kind: 1.0 - float(off.sum()) / whole if whole else 0.0 for kind, off in errors.items()}
    )


def learned(machine: Machine, Y: Array, strength: float) -> Rule:
    """What a machine learns from all rows."""
    path = RegressionSums.of(machine.rows, Y).path()
    return Rule(machine.features, path.coefficients(strength), path.y, path.x)


def _by_gaussian_rule(fitted: Array, codes: Codes, new: Array, g: int) -> Array:
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

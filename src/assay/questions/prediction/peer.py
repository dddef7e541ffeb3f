"""Whether boosted trees do better on the same unseen rows: then there is structure that the machines do not describe.

A yardstick and no candidate: it has no p, nothing is chosen by it, and its trees are not looked into. Folds of the
first split, two at a time, of a sample where rows are many.

Reference: Ke et al., LightGBM, NeurIPS 30 (2017), as scikit-learn's HistGradientBoosting has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from assay.arrays import Array, Indices
from assay.questions.prediction.asked import Asked
from assay.questions.prediction.better import Gain, gain
from assay.questions.prediction.plan import JudgingPlan

_MOST_CELLS = 100_000  # of the rows and columns looked at, once for each class beyond the second
_FEWEST_ROWS = 50  # a leaf has twenty


@dataclass(frozen=True, slots=True)
class Peer:
    """What boosted trees reach.

    Attributes:
        share: of the squared deviations explained on unseen rows.
        right: share of the rows whose class is called right; NaN for a number.
        more: what they explain beyond the machines here, on the same rows.
        rows: how many were looked at.
    """

    share: float
    right: float
    more: Gain
    rows: int


def boosted(
    what: Asked, target: Array, judged: Indices, errors: Array, blocks: Indices, plan: JudgingPlan
) -> Peer | None:
    """Predict rows by boosted trees; None where rows are too few for them.

    Args:
        what: the columns.
        target: (n, q) in the scale of the errors; of classes their indicators.
        judged: (m,) rows that the machines here were judged by, ascending.
        errors: (m,) their squared errors there; of classes those of their probabilities.
        blocks: (m,) number of the block of each.
        plan: the splits.
    """
    X, Y, classes, seed = what.X, target, bool(what.classes), what.seed
    n, p = X.shape
    most = int(_MOST_CELLS / (p * max(Y.shape[1] - 1, 1)))
    if n < _FEWEST_ROWS or most < _FEWEST_ROWS:
        return None
    used = np.sort(np.random.default_rng(seed).permutation(n)[:most])
    folds = plan.folds[0][used] // 2
    guess, middle = np.zeros((2, len(used), Y.shape[1]))
    seen = np.zeros(len(used), dtype=bool)
    import sklearn.ensemble  # noqa: F401  a library must be loaded to be held to one thread

    # so few cells gain nothing from threads, which on a busy machine wait for each other at every node of a tree: five
    # folds of 344 rows took 180 s with two threads beside other work, and 2 s with one
    with threadpool_limits(1, user_api="openmp"):
        for f in np.unique(folds):
            out, taught = folds == f, folds < f if plan.choice == "forward" else folds != f
            if taught.sum() < _FEWEST_ROWS // 2:
                continue
            guess[out] = _trees(X[used[taught]], Y[used[taught]], X[used[out]], classes, seed)
            middle[out], seen[out] = Y[used[taught]].mean(axis=0), True
    both, ours, own = np.intersect1d(judged, used[seen], assume_unique=True, return_indices=True)
    if len(both) < 2:
        return None
    own = np.flatnonzero(seen)[own]
    off, base = (((Y[both] - part[own]) ** 2).sum(axis=1) for part in (guess, middle))
    right = float((guess[own].argmax(axis=1) == Y[both].argmax(axis=1)).mean()) if classes else float("nan")
    here = np.unique(blocks[ours], return_inverse=True)[1]
    return Peer(1.0 - float(off.sum() / base.sum()), right, gain(errors[ours], off, base, here), len(both))


def _trees(X: Array, Y: Array, new: Array, classes: bool, seed: int) -> Array:
    """(k, q) predictions of new rows; for classes their probabilities."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if not classes:
        model: Any = HistGradientBoostingRegressor(early_stopping=False, random_state=seed).fit(X, Y[:, 0])
        return np.asarray(model.predict(new))[:, None]
    codes = Y.argmax(axis=1)
    found = np.zeros((len(new), Y.shape[1]))
    present = np.unique(codes)
    if len(present) == 1:
        found[:, present] = 1.0
        return found
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=seed).fit(X, codes)
    found[:, present] = model.predict_proba(new)
    return found

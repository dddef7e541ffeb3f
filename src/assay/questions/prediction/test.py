"""Can a column be predicted from the others, on rows that were not used? Ridge regression, judged as a whole procedure.

statistic  share of the squared deviations explained on unseen rows, nested: what measures never chose; over all of
           several splits into folds. Of a target in time that of what is left without the line from its first row to
           its last is compared with chance, as a shift would have a seam
chance     the same procedure, choice included, on the same splits, of targets permuted as far as rows do not depend on
           each other
classes    indicators as targets (optimal scoring); a row goes to the class by the Gaussian rule among fitted values
interval   of a prediction: the residuals of rows that were not used (conformal); of the share: see `interval.py`

References: Hastie, Tibshirani, Buja, Flexible discriminant analysis by optimal scoring, JASA 89 (1994); Barber et al.,
Predictive inference with the jackknife+, Annals of Statistics 49 (2021).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from assay.evidence.classification import calibration, confusion, roc
from assay.evidence.design import Design, Independent
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.monte_carlo import Drawn
from assay.linalg.regression_sums import RegressionSums
from assay.linalg.ridge_path import usual_penalties
from assay.questions.prediction.answer import COVERED, Prediction, drawn
from assay.questions.prediction.chance import by_chance, measured, pooled
from assay.questions.prediction.interval import blocks_of, explained_interval, jackknifed, right_interval
from assay.questions.prediction.plan import Plan, planned
from assay.questions.prediction.unseen import Unseen, unseen

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

FEWEST_ROWS = 20
_STRENGTHS = 17  # of the usual penalties: nearly two a decade
_MOST_AXES = 1000  # more columns than this enter by so many of their components


def prediction(
    X: Array,
    y: Array,
    columns: tuple[str, ...],
    target: str,
    *,
    classes: tuple[str, ...] = (),
    alpha: float = 0.05,
    seed: int = 0,
    design: Design | None = None,
) -> Prediction | None:
    """Predict a column from others; None for too few rows, or a target or columns that do not vary.

    Args:
        X: (n, p) numbers, none missing.
        y: (n,) the target; for classes their numbers from 0.
        columns: (p,) names.
        target: name of the target.
        classes: names of the classes, where it has some.
        alpha: level of the study.
        seed: of folds and permutations.
        design: how rows depend on each other; None where they do not.
    """
    n, design = len(X), design or Independent(len(X))
    spread = X.std(axis=0)
    if n < FEWEST_ROWS or not (spread > 0).any() or len(np.unique(y)) < 2:
        return None
    Z = np.divide(X - X.mean(axis=0), spread, out=np.zeros_like(X), where=spread > 0)
    axes = _axes(Z)
    scores = Z if axes is None else Z @ axes
    Y = np.eye(len(classes))[y.astype(np.intp)] if classes else y[:, None]
    Y = (Y - Y.mean(axis=0)) / np.sqrt(((Y - Y.mean(axis=0)) ** 2).mean())
    plan = planned(design, scores.shape[1], Y.shape[1], _STRENGTHS, seed)
    if plan is None:
        return None
    strengths = usual_penalties(float((Z**2).sum()), Z.shape[1], _STRENGTHS)
    found = measured(scores, Y, plan, strengths)
    ours = float(pooled(found)[0])
    closed = design.closed(Y)
    reached = ours if closed is Y else float(pooled(measured(scores, closed, plan, strengths))[0])
    chance = by_chance(scores, closed, plan, strengths, design, reached, seed)
    rows = unseen(scores, Y, plan, strengths, found, classes=bool(classes))
    blocks = blocks_of(design, rows.rows)
    jackknife = jackknifed(scores, Y, plan, strengths, found)
    interval = explained_interval(ours, rows, blocks, np.array(chance.values), jackknife)
    chosen = np.stack([one.chosen[:, 0] for one in found])
    middle = float(np.exp(np.mean(np.log(strengths[chosen]))))
    coefficients = RegressionSums.of(scores, Y).path().coefficients(middle)
    return Prediction(
        target=target,
        classes=classes,
        columns=columns,
        **_judged(y, rows, blocks, classes),
        coefficients=coefficients if axes is None else axes @ coefficients,
        strengths=strengths,
        chosen=chosen,
        by_chance=np.array(chance.values),
        drawn=drawn(design),
        evidence=_evidence((ours, reached), interval, chance, plan, design, alpha),
    )


def _judged(y: Array, rows: Unseen, blocks: Codes, classes: tuple[str, ...]) -> dict[str, Any]:
    """What is known of single rows, and of classes."""
    truth, nothing = y[rows.rows], float("nan")
    if not classes:
        scale = float(np.sqrt(((y - y.mean()) ** 2).mean()))
        predicted = y.mean() + scale * rows.fitted[:, 0]
        sure = {"half_width": _half_width(truth - predicted), "right": nothing, "largest": nothing}
        none = {"right_interval": None, "confusion": None, "roc": None, "calibration": None}
        return {"truth": truth, "predicted": predicted, "probability": np.empty((len(truth), 0)), **sure, **none}
    codes, called = truth.astype(np.intp), rows.fitted.argmax(axis=1)
    two = len(classes) == 2
    return {
        "truth": truth,
        "predicted": called.astype(np.float64),
        "probability": rows.fitted,
        "half_width": nothing,
        "right": float((called == codes).mean()),
        "right_interval": right_interval(called == codes, blocks),
        "largest": float(np.bincount(codes).max() / len(codes)),
        "confusion": confusion(codes, called, classes=np.arange(len(classes))),
        "roc": roc(codes, rows.fitted[:, 1], positive=1) if two else None,
        "calibration": calibration(codes, rows.fitted[:, 1], positive=1) if two else None,
    }


def _axes(Z: Array) -> Array | None:
    """Directions in which wide rows vary: ridge regression along all of them is that on the columns themselves."""
    n, p = Z.shape
    if p <= min(n, _MOST_AXES):
        return None
    if n > p:
        return np.asarray(sla.eigh(Z.T @ Z, subset_by_index=(p - _MOST_AXES, p - 1))[1])
    values, vectors = sla.eigh(Z @ Z.T)
    kept = np.flatnonzero(values > 1e-10 * values[-1])[-_MOST_AXES:]
    return np.asarray(Z.T @ (vectors[:, kept] / np.sqrt(values[kept])))


def _half_width(residuals: Array) -> float:
    """The least width that holds a new row's residual with the chance wanted, if rows are exchangeable."""
    n = len(residuals)
    rank = int(np.ceil(COVERED * (n + 1)))
    return float(np.sort(np.abs(residuals))[rank - 1]) if rank <= n else float("inf")


def _evidence(
    ours: tuple[float, float],
    interval: tuple[float, float],
    chance: Drawn[float],
    plan: Plan,
    design: Design,
    alpha: float,
) -> Evidence:
    null, p = np.array(chance.values), chance.p
    count, times = int(plan.folds[0].max()) + 1, len(plan.folds)
    how = f", {times} times" if times > 1 else ", each taught by those before it" if design.forward else ""
    return Evidence(
        statistic=ours[1],
        null=Null(
            f"the same procedure on {drawn(design)}",
            float(np.median(null)),
            float(np.quantile(null, 1.0 - alpha)),
            draws=len(null),
        ),
        p=p,
        q=p,
        held_out=ours[0],
        interval=interval,
        n=design.n,
        looks=_STRENGTHS,
        method=f"nested cross-validation in {count} folds{how}, {len(null)} {drawn(design)}",
        verdict=verdict_of(p, effect_holds=ours[0] > 0.0, alpha=alpha),
        limit=design.limit,
    )

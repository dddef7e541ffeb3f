"""Can a column be predicted from the others, on rows that were not used? Three machines, judged as one procedure.

machines   a line, a curve for each column, Gaussian kernels: ridge regressions all (`machines.py`)
statistic  share of the squared deviations explained on unseen rows, nested: what measures never chose, neither the
           penalty nor the machine; over all of several splits into folds. Of a target in time that of what is left
           without the line from its first row to its last is compared with chance, as a shift would have a seam
chance     the same procedure, choices included, on the same splits, of targets permuted as far as rows do not depend on
           each other
named      the simplest machine that none of the others surely beats on the same unseen rows (`better.py`)
classes    indicators as targets (optimal scoring); a row goes to the class by the Gaussian rule among fitted values
interval   of a prediction: `sure.py`; of the share: `interval.py`
beside     boosted trees (`peer.py`), columns that matter or give all (`matters.py`, `leaks.py`), what more rows would
           bring (`growth.py`): descriptions, none of them a test

Reference: Hastie, Tibshirani, Buja, Flexible discriminant analysis by optimal scoring, JASA 89 (1994).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from assay.arrays import Array, Indices
from assay.asking.telling import Telling, untold
from assay.asking.words import SURVIVED
from assay.evidence.classification import calibration, confusion, roc
from assay.evidence.design import Design, Independent
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.noise.monte_carlo import Drawn
from assay.questions.prediction.answer import Prediction, drawn
from assay.questions.prediction.asked import Asked, asked
from assay.questions.prediction.chance import JudgedRepeat, by_chance, explained_by, measured, pooled
from assay.questions.prediction.growth import growth
from assay.questions.prediction.interval import explained_interval, jackknifed, right_interval
from assay.questions.prediction.leaks import alone, leaks
from assay.questions.prediction.machines import KINDS, STRENGTHS, Kind, RidgeInput, machines
from assay.questions.prediction.matters import matters
from assay.questions.prediction.peer import boosted
from assay.questions.prediction.plan import JudgingPlan, planned
from assay.questions.prediction.sure import class_sets, half_width
from assay.questions.prediction.unseen import LearnedRule, UnseenRows, learned, unseen


def prediction(
    X: Array,
    y: Array,
    columns: tuple[str, ...],
    target: str,
    *,
    classes: tuple[str, ...] = (),
    of: tuple[str, ...] | None = None,
    level: float = 0.05,
    seed: int = 0,
    design: Design | None = None,
    kinds: tuple[Kind, ...] = KINDS,
    times: float = 1.0,
    progress: Telling | None = None,
) -> Prediction | None:
    """Predict a column from others; None for too few rows, or a target or columns that do not vary.

    Where columns give all of it alone, it is also predicted without them.

    Args:
        X: (n, p) numbers, none missing.
        y: (n,) the target; for classes their numbers from 0.
        columns: (p,) names.
        target: name of the target.
        classes: names of the classes, where it has some.
        of: (p,) the column of the data that each is a number of; None where each is one of its own.
        level: level of the study.
        seed: of folds and permutations.
        design: how rows depend on each other; None where they do not.
        kinds: of machines that are asked; a line in any case.
        times: how many times as many draws of chance as usual.
        progress: told what is being done.
    """
    what = asked(X, y, columns, of or columns, target, classes, design or Independent(len(X)), seed)
    if what is None:
        return None
    told = alone(what)
    found = _predicted(what, told, level, kinds, times, progress or untold)
    leaking = leaks(what, told)
    kept = ~np.isin(what.of, [what.names.index(leak.name) for leak in leaking])
    if found is None or not leaking:
        return found
    without = None
    if kept.any():
        without = _predicted(what.among(kept), told[np.unique(what.of[kept])], level, kinds, times, progress or untold)
    return replace(found, leaks=leaking, without=without)


def _predicted(
    what: Asked, told: Array, level: float, kinds: tuple[Kind, ...], times: float, tell: Telling
) -> Prediction | None:
    """All but leaks; None where rows are in too few parts."""
    Y, design = what.scaled, what.design
    able = machines(what.X, what.of, what.seed, kinds)
    plan = planned(design, [one.size for one in able], Y.shape[1], what.seed, times=times)
    if plan is None:
        return None
    found = measured(able, Y, plan, Y.shape[1])
    ours = float(pooled(found)[0])
    closed = design.closed(Y)
    against = ours if closed is Y else float(pooled(measured(able, closed, plan, Y.shape[1]))[0])
    chance = by_chance(able, closed, plan, design, against, what.seed, tell)
    rows = unseen(able, Y, plan, found, design, classes=bool(what.classes))
    interval = explained_interval(ours, rows, np.array(chance.values), jackknifed(able, Y, plan, found))
    evidence = _evidence((ours, against), interval, chance, plan, design, level, len(able))
    chosen = np.stack([one.each[0].chosen[:, 0] for one in found])
    return Prediction(
        target=what.target,
        classes=what.classes,
        columns=what.columns,
        rows=rows.rows,
        **_judged(what, rows),
        coefficients=_coefficients(able[0], Y, chosen),
        strengths=able[0].strengths,
        chosen=chosen,
        machine=rows.machine,
        reached=rows.by_kind.reached,
        learned=_learned(what, able, found),
        by_chance=np.array(chance.values),
        drawn=drawn(design),
        evidence=evidence,
        **_beside(what, told, (able, found), plan, rows, evidence),
    )


def _beside(
    what: Asked,
    told: Array,
    measured: tuple[list[RidgeInput], list[JudgedRepeat]],
    plan: JudgingPlan,
    rows: UnseenRows,
    evidence: Evidence,
) -> dict[str, Any]:
    """What is said beside the test; which columns matter and what more rows would bring only where something holds."""
    # of classes the errors of probabilities, as trees have them too
    target = what.raw if what.classes else what.scaled
    errors = ((target[rows.rows] - rows.fitted) ** 2).sum(axis=1)
    peer = boosted(what, target, rows.rows, errors, rows.blocks, plan)
    if evidence.verdict not in SURVIVED or evidence.interval is None:
        return {"peer": peer, "matters": None, "growth": None}
    low, high = evidence.interval
    able, found = measured
    own = [k for k, one in enumerate(able) if one.kind == rows.machine]
    learned_from = float(np.mean([one.each[0].rows.mean() for one in found]))
    whole = (learned_from, explained_by(found, own), (min(high, 1.0) - max(low, -1.0)) / 4.0)
    return {
        "peer": peer,
        "matters": matters(what, told, rows),
        "growth": growth([able[k] for k in own], what.scaled, what.design, whole, what.seed),
    }


def _coefficients(line: RidgeInput, Y: Array, chosen: Indices) -> Array:
    """Of the line through all rows, with the mean of the penalties chosen for it, of standardised columns."""
    found = learned(line, Y, _mean_strength(line, chosen)).weights
    return found if line.axes is None else np.asarray(line.axes @ found)


def _learned(what: Asked, able: list[RidgeInput], found: list[JudgedRepeat]) -> LearnedRule:
    """What the machine that was chosen most often learns from all rows, of columns and target as they came."""
    picked = np.concatenate([one.machine[:, 0] for one in found])
    k = int(np.bincount(picked).argmax())
    chosen = np.stack([one.each[k].chosen[:, 0] for one in found])
    rule, size, units = learned(able[k], what.scaled, _mean_strength(able[k], chosen)), what.unit, what.units
    return LearnedRule(
        lambda rows: rule.features(rows / units),
        rule.weights * (what.spread * size),
        (what.raw.mean(axis=0) + what.spread * rule.middle) * size,
        rule.origin,
    )


def _mean_strength(machine: RidgeInput, chosen: Indices) -> float:
    return float(np.exp(np.mean(np.log(machine.strengths[chosen]))))


def _judged(what: Asked, rows: UnseenRows) -> dict[str, Any]:
    """What is known of single rows, and of classes."""
    truth, nothing, classes = what.y[rows.rows], float("nan"), what.classes
    if not classes:
        predicted = what.y.mean() + what.spread * rows.fitted[:, 0]
        sure = {"half_width": half_width(truth - predicted) * what.unit, "right": nothing, "largest": nothing}
        none = dict.fromkeys(("right_interval", "confusion", "roc", "calibration", "sets"))
        told = {"truth": truth * what.unit, "predicted": predicted * what.unit}
        return {**told, "probability": np.empty((len(truth), 0)), **sure, **none}
    codes, called = truth.astype(np.intp), rows.fitted.argmax(axis=1)
    two, right = len(classes) == 2, called == codes
    believed = (codes, rows.fitted[:, 1]) if two else (right.astype(np.intp), rows.fitted.max(axis=1))
    return {
        "truth": truth,
        "predicted": called.astype(np.float64),
        "probability": rows.fitted,
        "half_width": nothing,
        "right": float(right.mean()),
        "right_interval": right_interval(right, rows.blocks),
        "largest": float(np.bincount(codes).max() / len(codes)),
        "confusion": confusion(codes, called, classes=np.arange(len(classes))),
        "roc": roc(codes, rows.fitted[:, 1], positive=1) if two else None,
        "calibration": calibration(believed[0], np.minimum(believed[1], 1.0), positive=1),
        "sets": class_sets(rows.fitted, codes),
    }


def _evidence(
    ours: tuple[float, float],
    interval: tuple[float, float],
    chance: Drawn[float],
    plan: JudgingPlan,
    design: Design,
    level: float,
    able: int,
) -> Evidence:
    null, p = np.array(chance.values), chance.p
    count, times = int(plan.folds[0].max()) + 1, len(plan.folds)
    how = f", {times} times" if times > 1 else ", each taught by those before it" if design.forward else ""
    return Evidence(
        statistic=ours[1],
        null=Null(
            f"the same procedure on {drawn(design)}",
            float(np.median(null)),
            float(np.quantile(null, 1.0 - level)),
            draws=len(null),
        ),
        p=p,
        q=p,
        held_out=ours[0],
        interval=interval,
        n=design.n,
        looks=STRENGTHS * able,
        method=f"nested cross-validation in {count} folds{how}, {len(null)} {drawn(design)}",
        verdict=verdict_of(p, effect_holds=ours[0] > 0.0, level=level),
        limit=design.limit,
    )

"""Can a column be predicted by a line, from moments alone?

statistic  R^2 of least squares
chance     F with r and n - 1 - r degrees of freedom, r independent columns: a normal target that knows nothing of them
held out   where moments of several parts are at hand: R^2 in each part of the line of the others; else Browne's
           estimate of what the line explains in new rows, from Olkin and Pratt's of what the best line would

References: Olkin and Pratt, Ann. Math. Stat. 29 (1958). Browne, Br. J. Math. Stat. Psychol. 28 (1975).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, fdtri

from assay.asking.by_law import ByLaw
from assay.asking.words import SURVIVED, chance, listed
from assay.evidence.evidence import Evidence, Null, Verdict, verdict_of
from assay.linalg.fold_error import fold_mean
from assay.questions.prediction.words import WORDS
from assay.summary.grouped import GroupedMoments
from assay.summary.regression import Equations, target_last
from assay.views.numbers import percent

Array: TypeAlias = NDArray[np.float64]

_WORDS = replace(WORDS, statistic="Share of variance explained at hand")
_FREE = 5  # rows beyond those that the columns use up
_NAMED = 3


def prediction_of(
    parts: GroupedMoments, columns: tuple[str, ...], target: str, *, alpha: float, limit: str
) -> ByLaw | None:
    """Predict a column by a line; None for too few rows.

    Args:
        parts: moments of all rows, in one part or several.
        columns: names, none of them constant.
        target: the column to predict.
        alpha: level of the study.
        limit: why nothing can be called supported.
    """
    place = columns.index(target)
    last = parts.map(lambda m: target_last(m, place)[0])
    names = tuple(name for name in columns if name != target)
    whole = Equations(last.total, len(names), intercept=True)
    n, fit = last.total.count, whole.fit()
    r, free = fit.rank, last.total.count - 1 - fit.rank
    if r == 0 or free < _FREE:
        return None
    squares = whole.squares(fit.coef.T)
    explained = float(np.clip(1.0 - squares.error[0] / squares.total[0], 0.0, 1.0))
    p = float(fdtrc(r, free, explained / r / max((1.0 - explained) / free, 1e-300)))
    median, upper = (_explained(float(fdtri(r, free, 1.0 - level)), r, free) for level in (0.5, alpha))
    held_out, interval = _unseen(last) if len(parts.parts) > 1 else (_in_new_rows(explained, n, r), None)
    holds = bool((held_out if interval is None else interval[0]) > 0.0)
    evidence = Evidence(
        statistic=explained, null=Null("a normal target that knows nothing of the columns", median, upper), p=p, q=p,
        held_out=held_out, interval=interval, n=n, looks=1, method="F law of least squares",
        verdict=verdict_of(p, effect_holds=holds, alpha=alpha), limit=limit,
    )  # fmt: skip
    size = np.abs(fit.coef[:, 0]) * np.sqrt(np.diag(last.total.scatter)[:-1])
    telling = listed([names[j] for j in np.argsort(-size, kind="stable")[:_NAMED]])

    def say(verdict: Verdict, factor: float) -> str:
        unseen = f"{percent(max(held_out, 0.0))} on unseen rows"
        if interval is not None:
            low, high = (percent(max(end, 0.0)) for end in interval)
            unseen += f" (95% interval {low} to {high})"
        else:
            unseen += ", by formula"
        by_chance = f"unrelated columns reach {percent(upper)} one time in twenty ({chance(evidence)})"
        share = f"{percent(explained)} of its variance at hand, {unseen}; {by_chance}."
        if verdict not in SURVIVED:
            return f"{target} cannot be predicted from the other columns by a line: they explain {share}"
        opening = f"{target} can perhaps be predicted from the other columns by a line: they explain"
        return f"{opening} {share} Most of it comes from {telling}."

    def numbers(factor: float) -> dict[str, Any]:
        return {"r2": explained, "coefficients": dict(zip(names, fit.coef[:, 0].tolist(), strict=True))}

    return ByLaw(
        "prediction", f"{target} from {telling}", say, numbers, lambda factor: 1, _WORDS, "one test", holds, evidence
    )


def _explained(f: float, r: int, free: int) -> float:
    return f * r / (f * r + free)


def _in_new_rows(explained: float, n: int, r: int) -> float:
    """What the line of n rows explains in others: less than the best line by as much as it errs."""
    left = 1.0 - explained
    best = max(1.0 - left * (n - 3) / (n - r - 1) * (1.0 + 2.0 * left / (n - r + 1)), 0.0)
    return ((n - r - 3) * best**2 + best) / ((n - 2 * r - 2) * best + r)


def _unseen(parts: GroupedMoments) -> tuple[float, tuple[float, float]]:
    values = []
    for train, test in parts.training():
        line = Equations(train, train.d - 1, intercept=True)
        there = Equations(test, train.d - 1, intercept=True)
        error = float(there.squared_errors(line.fit().coef.T[None], line.centre)[0, 0])
        gap = test.weight * float(test.mean[-1] - train.mean[-1]) ** 2
        values.append(1.0 - error / max(float(test.scatter[-1, -1]) + gap, 1e-300))
    return fold_mean(values, within=(-np.inf, 1.0))

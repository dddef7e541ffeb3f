"""Can a column be predicted by a line, from moments alone?

statistic  R^2 of least squares
chance     F with r and n - 1 - r degrees of freedom, r independent columns: a normal target independent of them;
           where noise was added for privacy, such rows drawn anew with the same noise
held out   where moments of several parts are at hand: R^2 in each part of the line of the others; else Browne's
           estimate of what the line explains in new rows, from Olkin and Pratt's of what the best line would
beside     where there are several parts: ridge regression of columns in units of their spread, its alpha chosen by them

References: Olkin and Pratt, Ann. Math. Stat. 29 (1958). Browne, Br. J. Math. Stat. Psychol. 28 (1975).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, fdtri

from assay.asking.by_law import ByLaw, Listing
from assay.asking.words import SURVIVED, chance, listed, one_line
from assay.evidence.evidence import Evidence, Null, Verdict, verdict_of
from assay.linalg.noise.fold_error import fold_mean
from assay.linalg.regression.ridge_path import usual_penalties
from assay.questions.prediction.words import WORDS
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.regression.regression import Equations, target_last
from assay.summary.regression.ridge import ridge_of
from assay.summary.sharing.noisy_chance import NoisyChance, noisy_chance, redrawn
from assay.summary.sharing.release import Noise
from assay.views.axes.numbers import number, percent

_WORDS = replace(WORDS, statistic="Share of variance explained at hand")
_FREE = 5  # rows beyond those that the columns use up
_NAMED = 3
_CAPTION = "Coefficients for a step of one, those that move it most first"


def prediction_of(
    parts: GroupedMoments,
    columns: tuple[str, ...],
    place: int,
    *,
    noise: Noise | None = None,
    level: float,
    seed: int = 0,
    limit: str,
) -> ByLaw | None:
    """Predict a column by a line; None for too few rows.

    Args:
        parts: moments of all rows, in one part or several.
        columns: names, none of them constant.
        place: which of them to predict.
        noise: that was added to the moments.
        level: level of the study.
        seed: of draws of chance, where there is noise.
        limit: why nothing can be called supported.
    """
    target = columns[place]
    last = parts.map(lambda m: target_last(m, place)[0])
    names = (*columns[:place], *columns[place + 1 :])
    whole = Equations(last.total, len(names), intercept=True)
    n, fit = last.total.count, whole.fit()
    r, free = fit.rank, last.total.count - 1 - fit.rank
    if r == 0 or free < _FREE:
        return None
    explained = _at_hand(last.total)
    if noise is None:
        p = float(fdtrc(r, free, explained / r / max((1.0 - explained) / free, 1e-300)))
        median, upper = (_explained(float(fdtri(r, free, 1.0 - chance)), r, free) for chance in (0.5, level))
        draws, method = 0, "F law of least squares"
    else:
        found = _beside_noise(last.total, noise.among(_order(len(columns), place)), explained, level, seed)
        p, median, upper, draws = found.p, found.median, found.upper, found.draws
        method = "normal rows drawn anew, with the noise that was added"
    ridge = _ridge(last, names)
    held_out, interval = _unseen(last) if len(parts.parts) > 1 else (_in_new_rows(explained, n, r), None)
    holds = bool((held_out if interval is None else interval[0]) > 0.0)
    evidence = Evidence(
        statistic=explained, p=p, q=p,
        null=Null("a normal target independent of the columns", median, upper, draws),
        held_out=held_out, interval=interval, n=n, looks=1, method=method,
        verdict=verdict_of(p, effect_holds=holds, level=level), limit=limit,
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

    def line(verdict: Verdict, factor: float) -> str:
        can = "can perhaps" if verdict in SURVIVED else "cannot"
        size = f"{percent(max(held_out, 0.0))} of its variance on unseen rows"
        return one_line(lambda short: f"{short(target)} {can} be predicted by a line: {size}")

    def numbers(factor: float) -> dict[str, Any]:
        return {"r2": explained, "coefficients": dict(zip(names, fit.coef[:, 0].tolist(), strict=True)), **ridge}

    def tables(factor: float) -> tuple[Listing, ...]:
        order = np.argsort(-size, kind="stable")
        kept = ridge.get("ridge", {}).get("coefficients", {})
        heads = ("Column", "Coefficient", *(("By ridge regression",) if kept else ()))
        rows = [(names[j], number(fit.coef[j, 0]), *((number(kept[names[j]]),) if kept else ())) for j in order]
        return (Listing("coefficients", f"How {target} is predicted", _CAPTION, heads, tuple(rows)),)

    return ByLaw(
        "prediction", f"{target} from {telling}", line, say, numbers, lambda factor: 1, _WORDS, "one test", holds,
        evidence, listings=tables,
    )  # fmt: skip


def _order(d: int, place: int) -> NDArray[np.intp]:
    """Columns with the target last."""
    return np.append(np.delete(np.arange(d), place), place)


def _at_hand(last: Moments) -> float:
    """R^2 of least squares, the target last."""
    whole = Equations(last, last.d - 1, intercept=True)
    squares = whole.squares(whole.fit().coef.T)
    return float(np.clip(1.0 - squares.error[0] / max(squares.total[0], 1e-300), 0.0, 1.0))


def _beside_noise(last: Moments, noise: Noise, explained: float, level: float, seed: int) -> NoisyChance:
    apart = last.covariance.copy()
    apart[-1, :-1] = apart[:-1, -1] = 0.0
    return noisy_chance(explained, lambda rng: _at_hand(redrawn(last, apart, noise, rng)), level=level, seed=seed)


def _ridge(last: GroupedMoments, names: tuple[str, ...]) -> dict[str, Any]:
    """Ridge regression by its numbers; none where there is one part, by which no penalty can be chosen."""
    if len(last.parts) < 2:
        return {}
    spread = np.sqrt(last.total.variance)
    spread[-1] = 1.0
    d = len(names)
    unit = last.map(lambda m: m @ np.diag(1.0 / spread))
    found = ridge_of(unit, d, lambda values, k: usual_penalties(float(values.sum()), k), intercept=True, judge=True)
    if found.held_out is None:
        return {}
    best = int(np.argmin(found.held_out.error))
    penalty = float(found.alphas[best])
    coef = found.spectrum.coef(np.array([penalty]))[0, 0] / spread[:-1]
    missed = float(found.held_out.error[best]) * last.total.count / max(float(last.total.scatter[-1, -1]), 1e-300)
    return {
        "ridge": {
            "alpha": penalty,
            "held_out_r2": 1.0 - missed,
            "coefficients": dict(zip(names, coef.tolist(), strict=True)),
        }
    }


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

"""Do groups whose moments are known differ, and along which directions?

statistic  share of the variance along Fisher's first direction that is between groups
chance     Wilks' lambda by Rao's F: normal rows whose groups share mean and covariance; where noise was added for
           privacy, such groups drawn anew with the same noise
held out   where there are several folds: the same share in each fold, by direction and means of the other folds

References: Fisher, Annals of Eugenics 7 (1936). Rao, Bull. Int. Stat. Inst. 33 (1951).
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from assay.arrays import Array
from assay.asking.by_law import ByLaw, Listing
from assay.asking.table import KnownGroups
from assay.asking.words import SURVIVED, Words, chance, listed, one_line
from assay.errors import SingularError
from assay.evidence.evidence import Evidence, Verdict, verdict_of
from assay.linalg.canonical.canonical import log_lambda, wilks_p
from assay.linalg.noise.fold_error import fold_mean
from assay.models.prediction.fisher import Fisher
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.sharing.noisy_chance import noisy_chance, redrawn
from assay.summary.sharing.release import Noise
from assay.views.axes.numbers import count, counted, fraction, number, percent

_FREE = 5  # rows beyond those that columns and groups use up
_NAMED, _SHOWN = 3, 3
WORDS = Words(
    "direction that tells groups apart",
    "directions that tell groups apart",
    statistic="Share of variance between groups",
    statistic_format=percent,
    held_out="of the variance along it",
    held_out_format=percent,
    reading="Along Fisher's direction groups differ most for how much rows differ within them. The share of the "
    "variance along it that is between groups is 0% where groups have one mean, 100% where no row differs from its "
    "group.",
)


def known_groups_of(
    known: KnownGroups, columns: tuple[str, ...], *, noise: Noise | None, level: float, seed: int, limit: str
) -> ByLaw | None:
    """Test whether groups differ; None for too few rows or groups.

    Args:
        known: moments of the groups in each fold.
        columns: names.
        noise: that was added to all moments together.
        level: level of the study.
        seed: of draws of chance, where there is noise.
        limit: why nothing can be called supported.
    """
    grouped = _with_rows(reduce(GroupedMoments.__add__, known.folds))
    fitted = _fitted(grouped)
    if fitted is None:
        return None
    total, g = grouped.total, len(grouped)
    correlations = _correlations(fitted)
    p, method = wilks_p(correlations, total.count, fitted.rank_, g - 1), "Wilks' lambda, Rao's F"
    if noise is not None:
        p = _beside_noise(grouped, replace(noise, share=noise.share / g), correlations, level, seed)
        method = "Wilks' lambda; groups of one mean drawn anew, with the noise that was added"
    held_out, interval = _unseen(known.folds)
    holds = interval is None or interval[0] > 0.0
    best = float(correlations[0] ** 2)
    evidence = Evidence(
        statistic=best, p=p, q=p, held_out=held_out, interval=interval, n=total.count, looks=1, method=method,
        verdict=verdict_of(p, effect_holds=holds, level=level), limit=limit,
    )  # fmt: skip
    size = np.abs(fitted.scalings_[:, 0]) * np.sqrt(np.diag(grouped.within))
    telling = listed([columns[j] for j in np.argsort(-size, kind="stable")[:_NAMED]])

    def say(verdict: Verdict, factor: float) -> str:
        unseen = "" if held_out is None else f", {percent(max(held_out, 0.0))} on unseen rows"
        share = f"{percent(best)} of the variance is between them{unseen}"
        many = f"the {counted(g, 'group')} of {known.column} ({count(total.count)} rows)"
        found = f"{share}; {chance(evidence)}."
        if verdict not in SURVIVED:
            return f"Nothing tells {many} apart by more than chance: along the best direction {found}"
        return f"{many[0].upper()}{many[1:]} may differ: along the best direction, mostly {telling}, {found}"

    def line(verdict: Verdict, factor: float) -> str:
        if verdict not in SURVIVED:
            return one_line(lambda short: f"Nothing tells the groups of {short(known.column)} apart beyond chance")
        share = percent(best)
        return one_line(
            lambda short: f"The groups of {short(known.column)} may differ: {share} of the variance is between them"
        )

    def numbers(factor: float) -> dict[str, Any]:
        return {
            "groups": {str(k): part.count for k, part in zip(grouped.labels, grouped.parts, strict=True)},
            "directions": [
                {
                    "between_over_within": float(fitted.eigenvalues_[k]),
                    "share_between": float(correlations[k] ** 2),
                    "coefficients": dict(zip(columns, fitted.scalings_[:, k].tolist(), strict=True)),
                    "means": {
                        str(label): float((part.mean - fitted.xbar_) @ fitted.scalings_[:, k])
                        for label, part in zip(grouped.labels, grouped.parts, strict=True)
                    },
                }
                for k in range(len(correlations))
            ],
        }

    def tables(factor: float) -> tuple[Listing, ...]:
        told = numbers(factor)
        few = told["directions"][:_SHOWN]
        heads = tuple(f"Direction {k + 1}" for k in range(len(few)))
        groups = [
            (group, count(rows), *(fraction(d["means"][group]) for d in few)) for group, rows in told["groups"].items()
        ]
        weights = [(columns[j], *(number(d["coefficients"][columns[j]]) for d in few)) for j in np.argsort(-size)]
        lie = "Where groups lie along the directions, in standard deviations within them"
        made = "Coefficients of the directions, those that tell most first"
        return (
            Listing(
                "groups-lie", f"How groups of {known.column} differ", lie, ("Group", "Rows", *heads), tuple(groups)
            ),
            Listing("groups-made", "What tells them apart", made, ("Column", *heads), tuple(weights)),
        )

    subject = f"{known.column} by {telling}"
    return ByLaw(
        "known_groups", subject, line, say, numbers, lambda factor: len(correlations), WORDS, "one test", holds,
        evidence, listings=tables,
    )  # fmt: skip


def _with_rows(grouped: GroupedMoments) -> GroupedMoments:
    """Groups of two rows at least."""
    kept = [i for i, part in enumerate(grouped.parts) if part.count > 1]
    return GroupedMoments(tuple(grouped.labels[i] for i in kept), tuple(grouped.parts[i] for i in kept))


def _fitted(grouped: GroupedMoments) -> Fisher | None:
    """Fisher's directions; None where rows are too few, or groups differ where no row differs from its group."""
    rows = sum(part.count for part in grouped.parts)
    if len(grouped) < 2 or rows - len(grouped) - grouped.parts[0].d < _FREE:
        return None
    try:
        return Fisher().fit_moments(grouped)
    except SingularError:
        return None


def _correlations(fitted: Fisher) -> Array:
    """(k,) between the columns and the groups."""
    return np.asarray(np.sqrt(fitted.eigenvalues_ / (1.0 + fitted.eigenvalues_)))


def _beside_noise(grouped: GroupedMoments, noise: Noise, correlations: Array, level: float, seed: int) -> float:
    total, g = grouped.total, len(grouped)
    covariance = grouped.within / (total.count - g)

    def drawn(rng: np.random.Generator) -> float:
        alike = [redrawn(_at(part, total.mean), covariance, noise, rng) for part in grouped.parts]
        fitted = _fitted(GroupedMoments(grouped.labels, tuple(alike)))
        return np.inf if fitted is None else -log_lambda(_correlations(fitted))  # where nothing is known, chance wins

    return noisy_chance(-log_lambda(correlations), drawn, level=level, seed=seed).p


def _at(part: Moments, mean: Array) -> Moments:
    """The same with another mean."""
    return replace(part, mean_pair=(mean, np.zeros_like(mean)))


def _unseen(folds: tuple[GroupedMoments, ...]) -> tuple[float | None, tuple[float, float] | None]:
    """Share of the variance along the first direction of the other folds that their means of groups take off."""
    if len(folds) < 2:
        return None, None
    whole = reduce(GroupedMoments.__add__, folds)
    values = []
    for test in folds:
        train = _with_rows(whole - test)
        fitted = _fitted(train)
        if fitted is None:
            return None, None
        w = fitted.scalings_[:, 0]
        middle = train.total.mean
        left, all_ = 0.0, 0.0
        for label, part in zip(test.labels, test.parts, strict=True):
            if part.count and label in train.labels:
                left += _squares(part, w, train[label].mean)
                all_ += _squares(part, w, middle)
        if all_ > 0.0:
            values.append(1.0 - left / all_)
    return fold_mean(values, within=(-np.inf, 1.0)) if len(values) > 1 else (None, None)


def _squares(part: Moments, w: Array, centre: Array) -> float:
    """Sum of squares of the rows along a direction, about a point."""
    return float(w @ part.scatter @ w + part.count * (w @ (part.mean - centre)) ** 2)

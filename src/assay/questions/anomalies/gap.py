"""Is there a gap below the farthest rows that the law of the others does not explain?

scores    (n,) log distances, ascending; the j farthest lie beyond v, all others up to u
tail      the m scores below u follow a generalised Pareto law, P(Y > t + y) = (1 + xi y / sigma)^(-1/xi); the j enter
          only as "beyond u", so that rows that do not belong do not make the tail in which they hide
chance    that all j lie beyond v, as they lie beyond u: the mean of (S(v) / S(u))^j over what xi and sigma may be
steps     where values repeat, rows lie beyond v only if they still do with each value a step nearer
looks     every j up to a fifth of the rows: the chance times j (j + 1), whose inverses add up to 1
normal    where the bulk has the shape of normal rows, as likely as `odds` says, their law takes its place, and that of
          rows that are stretched a little where it is nearly so; never is a gap rarer than among normal rows

On the scale of logarithms xi = 0 is a power law, so that heavy tails are no special case; normal rows have xi below 0.
Given u, the rows within and the rows beyond are independent (Renyi): the chance is one of rows not seen.
Rows beyond a gap are taken out and the others asked again, until nothing is found.

Prior: xi is normal about 0.1 with standard deviation 0.3, log sigma flat.

References: Coles, An Introduction to Statistical Modeling of Extreme Values, Springer 2001, chapters 4 and 9; Goeman
and Solari, Annals of Statistics 38 (2010), sequential rejection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from assay.arrays import Array
from assay.questions.anomalies.normal_rows import NEARLY, NormalRows, prior_odds

Odds: TypeAlias = Callable[[float], tuple[float, float]]

FEWEST = 50
HEAVY = 0.4  # heaviness from which on far rows are to be expected
MOST = 0.2  # share of the rows that may lie beyond a gap: more are a group, not anomalies
_SHARE, _MANY, _GROWTH, _LEAST = 0.25, 9.0, 0.4, 12  # of the rows that make the tail
_BINS = 64  # means of so many parts stand for a long tail
_PRIOR = 0.1, 0.3
_XI = np.linspace(-0.9, 0.9, 37)[:, None]
_LOG_SIGMA = np.linspace(-2.2, 2.2, 45)
_PRIOR_WEIGHTS = np.exp(-0.5 * ((_XI - _PRIOR[0]) / _PRIOR[1]) ** 2)
_STEPS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """The law of scores beyond the j-th largest but one.

    Attributes:
        start: the threshold t.
        end: u, beyond which nothing was seen.
        sigmas: (45,) of the grid.
        weights: (37, 45) of xi and sigma.
        evidence: log likelihood of the scores between, whatever xi and sigma.
        normal, nearly: the laws of rows that are or nearly are; None where they were not asked for.
        likely: (3,) how likely these two are, and the fitted tail.
    """

    start: float
    end: float
    sigmas: Array
    weights: Array
    evidence: float
    normal: NormalRows | None = None
    nearly: NormalRows | None = None
    likely: tuple[float, float, float] = (0.0, 0.0, 1.0)

    @property
    def heaviness(self) -> float:
        """Inverse of the power by which distances fall off at u: .1 for normal rows, 1/3 for t3, 1 for Cauchy."""
        slope = np.maximum(self.sigmas + _XI * (self.end - self.start), 0.0)
        return float((self.weights * slope).sum())

    def beyond(self, score: float, count: int = 1) -> float:
        """Chance that so many rows beyond u all lie beyond a score."""
        there, here = (_log_survival(y - self.start, self.sigmas) for y in (score, self.end))
        alive = np.isfinite(here)  # a tail that ends before u has no weight
        ratio = np.exp(count * (there[alive] - here[alive]))
        chance = float((self.weights[alive] * ratio).sum())
        if self.normal is None or self.nearly is None:
            return chance
        usual, stretched = (law.beyond(score, self.end, count) for law in (self.normal, self.nearly))
        return max(float(np.dot(self.likely, [usual, stretched, chance])), usual)

    def reached(self, *chances: float) -> list[float]:
        """The scores that a row beyond u exceeds with these chances."""
        places = self.end + np.concatenate([[0.0], np.geomspace(1e-3, 20.0, 40)])
        rarity = [-np.log(max(self.beyond(float(place)), 1e-300)) for place in places]
        return [float(np.interp(-np.log(chance), rarity, places)) for chance in chances]


def fitted(ascending: Array, beyond: int, normal: NormalRows | None = None, odds: Odds | None = None) -> Tail | None:
    """The law of the scores below the `beyond` largest; None where they are all the same.

    Args:
        ascending: (n,) scores in order.
        beyond: how many are known only to be larger.
        normal: the law of normal rows as far out; None where it is not known.
        odds: log odds of normal rows against nearly normal ones and others, by those no farther out than a score.
    """
    n = len(ascending)
    within = n - beyond
    m = min(int(max(_LEAST, min(_SHARE * n, max(_MANY * n**_GROWTH, beyond)))), within - 1)
    start, end = float(ascending[within - m - 1]), float(ascending[within - 1])
    y, weights = _binned(ascending[within - m : within] - start)
    scale = float(y @ weights) / m
    if not scale > 0.0:
        return None
    sigmas = scale * np.exp(_LOG_SIGMA)
    seen = (1.0 + _XI) * (_log_survival(y, sigmas[:, None]) @ weights) - m * np.log(sigmas)
    at_end = _log_survival(end - start, sigmas)
    posterior = np.exp(seen + beyond * at_end - np.max(seen + beyond * at_end)) * _PRIOR_WEIGHTS
    cut = seen - (m - 1.0) * np.log(np.maximum(-np.expm1(at_end), 1e-300))
    evidence = np.max(cut) + np.log(
        (np.exp(cut - np.max(cut)) * _PRIOR_WEIGHTS).sum() / (_PRIOR_WEIGHTS.sum() * len(sigmas))
    )
    tail = Tail(start, end, sigmas, posterior / posterior.sum(), float(evidence))
    if normal is None or odds is None:
        return tail
    told, stretched = (
        law.placed(ascending[:within], start, end, y, weights)
        for law in (normal, NormalRows(normal.d, normal.d + NEARLY))
    )
    nearly, others = odds(end)
    against = np.logaddexp(np.log(0.75) - others, np.log(0.25) + tail.evidence - told.evidence)
    logs = np.array([np.log(prior_odds(n)), np.minimum(-nearly, 1e3), np.minimum(against, 1e3)])
    likely = np.exp(logs - np.logaddexp.reduce(logs))
    return Tail(start, end, sigmas, tail.weights, tail.evidence, told, stretched, tuple(likely.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """A gap below the farthest rows.

    Attributes:
        p: chance of one as wide below any number of rows.
        count: how many rows lie beyond.
    """

    p: float
    count: int


def widest_gap(
    ascending: Array,
    most: int,
    *,
    nearer: Array | None = None,
    alone: bool = False,
    normal: NormalRows | None = None,
    odds: Odds | None = None,
) -> Gap:
    """The gap that chance explains least.

    Args:
        ascending: (n,) scores in order.
        most: rows that may lie beyond it.
        nearer: (n,) the same rows' scores a step nearer; the scores where values do not repeat.
        alone: whether each row says something of its own; else all beyond a gap count as one, since they may be
            neighbours of each other.
        normal: the law of normal rows.
        odds: log odds of normal rows.
    """
    best = Gap(1.0, 0)
    least = np.minimum.accumulate((ascending if nearer is None else nearer)[::-1])[: most + 1]
    for count in _promising(ascending, least, most):
        tail = fitted(ascending, count, normal, odds)
        if tail is not None:
            chance = tail.beyond(float(least[count - 1]), count if alone else 1)
            p = min(1.0, chance * count * (count + 1))
            best = Gap(p, count) if p < best.p else best
    return best


def gaps(
    scores: Array,
    level: float,
    *,
    nearer: Array | None = None,
    share: float = MOST,
    alone: bool = False,
    normal: NormalRows | None = None,
    odds: Odds | None = None,
) -> tuple[Array, float]:
    """(n,) q of each row, 1 where no gap lies below it, and the p of the first gap.

    Args:
        scores: (n,) log distances.
        level: level at which rows are taken out and the others asked again.
        share: of the rows that may be taken out.
        nearer, alone, normal, odds: see `widest_gap`.
    """
    order = np.argsort(scores, kind="stable")
    ascending, q = scores[order], np.ones(len(scores))
    at_least = ascending if nearer is None else nearer[order]
    left, most, first, worst = len(scores), int(share * len(scores)), 1.0, 0.0
    for step in range(_STEPS):
        taken = len(scores) - left
        if taken >= most or left < FEWEST:
            break
        gap = widest_gap(ascending[:left], most - taken, nearer=at_least[:left], alone=alone, normal=normal, odds=odds)
        first = gap.p if step == 0 else first
        if gap.p > level:
            break
        worst = max(worst, gap.p)
        q[order[left - gap.count : left]] = worst
        left -= gap.count
    return q, first


def _promising(ascending: Array, least: Array, most: int) -> list[int]:
    """Numbers of rows below which the gap is widest: all of the first few, and two of each further doubling."""
    counts = np.arange(1, most + 1)
    widths = counts * (least[counts - 1] - ascending[-counts - 1])
    chosen: list[int] = []
    first = 1
    while first <= most:
        part = counts[first - 1 : 2 * first - 1]
        widest = np.argsort(-widths[part - 1], kind="stable")
        chosen += part[widest if first < 4 else widest[:2]].tolist()
        first *= 2
    return [count for count in chosen if widths[count - 1] > 0.0]


def _binned(values: Array) -> tuple[Array, Array]:
    """Means of neighbouring values and how many each stands for."""
    if len(values) <= _BINS:
        return values, np.ones(len(values))
    edges = np.linspace(0, len(values), _BINS + 1).astype(np.intp)
    sizes = np.diff(edges)
    return np.add.reduceat(values, edges[:-1]) / sizes, sizes.astype(np.float64)


def _log_survival(y: Array | float, sigmas: Array) -> Array:
    """Log P(Y > t + y) for every xi (first axis) and sigma; -inf beyond the end of a tail that has one."""
    xi = _XI if np.ndim(y) == 0 else _XI[:, :, None]
    t = y / sigmas
    with np.errstate(divide="ignore", invalid="ignore"):
        bent = -np.log1p(np.maximum(xi * t, -1.0)) / xi
    return np.where(np.abs(xi) < 1e-12, -t, bent)

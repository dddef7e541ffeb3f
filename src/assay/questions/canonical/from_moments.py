"""Do two sets of columns go together, from moments alone?

statistic  the largest canonical correlation
chance     Wilks' lambda of all canonical correlations by Rao's F: normal columns, sides independent of each
           other; where noise was added for privacy, such rows drawn anew with the same noise
held out   where moments of several parts are at hand: the correlation, in each part, along the weights of the others

Reference: Rao, Bull. Int. Stat. Inst. 33 (1951).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.asking.by_law import ByLaw, Listing
from assay.asking.words import SURVIVED, chance, one_line
from assay.evidence.evidence import Evidence, Verdict, verdict_of
from assay.linalg.canonical.canonical import canonical_pairs, coupled_covariances, log_lambda, wilks_p
from assay.linalg.noise.fold_error import fold_mean
from assay.questions.canonical.words import WORDS
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.sharing.noisy_chance import noisy_chance, redrawn
from assay.summary.sharing.release import Noise
from assay.views.axes.numbers import fraction

_HEADS = ("Column", "Side", "Weight")
_FREE = 5  # rows beyond those that the columns use up


def canonical_of(
    parts: GroupedMoments,
    own: NDArray[np.bool_],
    columns: tuple[str, ...],
    sides: tuple[str, str],
    *,
    noise: Noise | None = None,
    level: float,
    seed: int = 0,
    limit: str,
) -> ByLaw | None:
    """Test whether two sides go together; None for too few rows.

    Args:
        parts: moments of all rows, in one part or several.
        own: (d,) which columns are on the first side.
        columns: names.
        sides: what the two sides are called.
        noise: that was added to the moments.
        level: level of the study.
        seed: of draws of chance, where there is noise.
        limit: why nothing can be called supported.
    """
    total = parts.total
    n = total.count
    first, second, correlations, ranks = _weights(total, own)
    if not len(correlations) or n - 1 - sum(ranks) < _FREE:
        return None
    p, method = wilks_p(correlations, n, *ranks), "Wilks' lambda of all canonical correlations, Rao's F"
    if noise is not None:
        p = _beside_noise(total, own, noise, correlations, level, seed)
        method = "Wilks' lambda of all canonical correlations; normal rows drawn anew, with the noise that was added"
    held_out, interval = _unseen(parts, own) if len(parts.parts) > 1 else (None, None)
    holds = interval is None or interval[0] > 0.0
    evidence = Evidence(
        statistic=float(correlations[0]), p=p, q=p, held_out=held_out, interval=interval, n=n, looks=1,
        method=method,
        verdict=verdict_of(p, effect_holds=holds, level=level), limit=limit,
    )  # fmt: skip

    def say(verdict: Verdict, factor: float) -> str:
        unseen = "" if held_out is None else f", {fraction(held_out)} on unseen rows"
        best = f"the best pair has correlation {fraction(float(correlations[0]))}{unseen} ({chance(evidence)})"
        does = "may go together" if verdict in SURVIVED else "do not go together by more than chance"
        return f"{sides[0]} and {sides[1]} {does}: {best}."

    def line(verdict: Verdict, factor: float) -> str:
        does = "may go together" if verdict in SURVIVED else "do not go together beyond chance"
        size = fraction(float(correlations[0]))
        return one_line(lambda short: f"{short(sides[0])} and {short(sides[1])} {does} (correlation {size})")

    def numbers(factor: float) -> dict[str, Any]:
        return {"correlations": correlations.tolist()}

    def tables(factor: float) -> tuple[Listing, ...]:
        size = (first + second) * np.sqrt(total.variance)
        order = np.argsort(-np.abs(size), kind="stable")
        size *= np.sign(size[order[0]])
        rows = tuple((columns[j], sides[0 if own[j] else 1], fraction(float(size[j]))) for j in order)
        caption = "Weights of the best pair, for a step of one standard deviation"
        return (Listing("canonical", f"How {sides[0]} and {sides[1]} go together", caption, _HEADS, rows),)

    subject = " with ".join(sides)
    return ByLaw(
        "canonical", subject, line, say, numbers, lambda factor: 1, WORDS, "one test", holds, evidence, listings=tables
    )


def _beside_noise(
    total: Moments, own: NDArray[np.bool_], noise: Noise, correlations: Array, level: float, seed: int
) -> float:
    apart = total.covariance.copy()
    apart[np.ix_(own, ~own)] = apart[np.ix_(~own, own)] = 0.0

    def drawn(rng: np.random.Generator) -> float:
        return -log_lambda(_weights(redrawn(total, apart, noise, rng), own)[2])

    return noisy_chance(-log_lambda(correlations), drawn, level=level, seed=seed).p


def _weights(m: Moments, own: NDArray[np.bool_]) -> tuple[Array, Array, Array, tuple[int, int]]:
    """Weights of the first pair, (d,) with zeros on the other side; all correlations; ranks of both sides."""
    unit = np.sqrt(m.variance)
    R = m.covariance / np.where(unit > 0.0, unit, np.inf) / np.where(unit > 0.0, unit, np.inf)[:, None]
    coupling = coupled_covariances(R[np.ix_(own, own)], R[np.ix_(own, ~own)], R[np.ix_(~own, ~own)], m.count)
    pairs = canonical_pairs(coupling)
    weights = []
    for which, side, coordinates in ((own, coupling.x, pairs.x), (~own, coupling.y, pairs.y)):
        w = np.zeros(m.d)
        if pairs.correlations.size:
            w[which] = side.vectors @ coordinates[:, 0]
        weights.append(np.divide(w, unit, out=np.zeros(m.d), where=unit > 0.0))
    return weights[0], weights[1], pairs.correlations, (len(coupling.x.values), len(coupling.y.values))


def _unseen(parts: GroupedMoments, own: NDArray[np.bool_]) -> tuple[float, tuple[float, float]]:
    values = []
    for train, test in parts.training():
        a, b, _, _ = _weights(train, own)
        across, left, right = a @ test.scatter @ b, a @ test.scatter @ a, b @ test.scatter @ b
        values.append(float(across / np.sqrt(left * right)) if left * right > 0.0 else 0.0)
    return fold_mean(values, within=(-1.0, 1.0))

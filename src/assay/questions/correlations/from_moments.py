"""Which columns go together, from moments alone.

statistic  correlation of each pair
chance     Student's t of a correlation of normal columns, n - 2 degrees of freedom; where noise was added for privacy
           a normal law with the variance of both, 1 / (n - 1) + that of the noise in the correlation
looks      one for each pair: Benjamini and Hochberg over all of them; intervals hold for all pairs at once (Fisher's z)
held out   where moments of several parts are at hand: the pair that is strongest in the other parts, in each part
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr

from assay.arrays import Array, Indices
from assay.asking.by_law import ByLaw, Listing
from assay.asking.words import SURVIVED, chance, one_line
from assay.evidence.evidence import Evidence, Verdict, verdict_of
from assay.linalg.noise.discoveries import benjamini_hochberg
from assay.linalg.noise.fold_error import fold_mean
from assay.questions.correlations.words import WORDS
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.sharing.release import Noise
from assay.views.axes.numbers import count, counted, fraction, probability

FEWEST_ROWS = 10
_LISTED, _NAMED = 1000, 3
_LAW = "Student's t of every correlation"
_NOISY_LAW = "normal law of every correlation, with the noise that was added"


def correlations_of(
    parts: GroupedMoments,
    columns: tuple[str, ...],
    *,
    groups: NDArray[np.intp] | None = None,
    noise: Noise | None = None,
    level: float,
    limit: str,
) -> ByLaw | None:
    """Test every pair by its correlation; None for too few rows or columns.

    Args:
        parts: moments of all rows, in one part or several.
        columns: names, none of them constant.
        groups: (d,) labels of columns made from one, such as the levels of a category, which are no pairs.
        noise: that was added to the moments.
        level: level of the study.
        limit: why nothing can be called supported.
    """
    total = parts.total
    n, d = total.count, total.d
    first, second = np.triu_indices(d, 1)
    if groups is not None:
        apart = groups[first] != groups[second]
        first, second = first[apart], second[apart]
    if n < FEWEST_ROWS or not len(first):
        return None
    r = total.correlation[first, second]
    added = np.zeros(len(r)) if noise is None else _noise_in(total, noise, first, second)
    p = _by_chance(r, n) if noise is None else _beside_noise(r, n, added)
    q = benjamini_hochberg(p)
    order = np.argsort(-np.abs(r), kind="stable")
    held_out, interval = _unseen(parts, first, second)
    holds = interval is None or interval[0] > 0.0
    best = int(order[0])
    evidence = Evidence(
        statistic=abs(float(r[best])), p=float(q.min()), q=float(q.min()), held_out=held_out, interval=interval, n=n,
        looks=len(r), method=f"{_LAW if noise is None else _NOISY_LAW}; Benjamini and Hochberg over all pairs",
        verdict=verdict_of(float(q.min()), effect_holds=holds, level=level), limit=limit,
    )  # fmt: skip

    def named(k: int, short: Callable[[str], str] = str) -> str:
        return f"{short(columns[first[k]])}{' against ' if r[k] < 0 else ' and '}{short(columns[second[k]])}"

    def many(factor: float) -> int:
        return max(int((q * factor <= level).sum()), 1)

    def line(verdict: Verdict, factor: float) -> str:
        size, pairs = f"({fraction(float(r[best]))})", f"{counted(len(r), 'pair')} of columns"
        if verdict in SURVIVED:
            some = f"{count(many(factor))} of {pairs} may go together"
            return one_line(lambda short: f"{some}, most strongly {named(best, short)} {size}")
        return one_line(lambda short: f"No pair of columns goes together: the strongest is {named(best, short)} {size}")

    def say(verdict: Verdict, factor: float) -> str:
        low, high = (fraction(end) for end in _ends(float(r[best]), n, len(r), float(added[best])))
        strongest = f"{named(best)} (correlation {fraction(float(r[best]))}, interval for all pairs {low} to {high})"
        unseen = (
            "" if held_out is None else f"; the strongest pair of other parts has {fraction(held_out)} in each part"
        )
        tested = f"{counted(len(r), 'pair')} of columns"
        if verdict not in SURVIVED:
            return (
                f"No pair of columns stands out: the strongest of {count(len(r))} is {strongest}; {chance(evidence)}."
            )
        return (
            f"{count(many(factor))} of {tested} may go together, most strongly {strongest}{unseen}; {chance(evidence)}."
        )

    def listed(factor: float) -> dict[str, Any]:
        few = order[:_LISTED]
        return {
            "n_pairs": int((q * factor <= level).sum()),
            "pairs": [
                {
                    "columns": [columns[first[k]], columns[second[k]]],
                    "correlation": float(r[k]),
                    "interval": list(_ends(float(r[k]), n, len(r), float(added[k]))),
                    "p": float(p[k]),
                    "q": float(min(q[k] * factor, 1.0)),
                }
                for k in few
            ],
        }

    def tables(factor: float) -> tuple[Listing, ...]:
        rows = tuple(
            (
                " and ".join(pair["columns"]),
                fraction(pair["correlation"]),
                " to ".join(map(fraction, pair["interval"])),
                probability(pair["q"]).removeprefix("= "),
            )
            for pair in listed(factor)["pairs"]
        )
        heads = ("Pair", "Correlation", "Interval for all pairs", "q, every test counted")
        return (Listing("pairs", "Which columns go together", "Pairs of columns, the strongest first", heads, rows),)

    subject = "; ".join(named(int(k)) for k in order[:_NAMED])
    return ByLaw(
        "correlations", subject, line, say, listed, many, WORDS, "Benjamini and Hochberg over all pairs", holds,
        evidence, listings=tables,
    )  # fmt: skip


def _by_chance(r: Array, n: int) -> Array:
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt((n - 2) / np.maximum(1.0 - r**2, 0.0))
    return np.clip(2.0 * stdtr(n - 2, -t), 0.0, 1.0)


def _noise_in(total: Moments, noise: Noise, first: Indices, second: Indices) -> Array:
    """Variance of the noise in each correlation."""
    squares = np.diag(total.scatter)
    return np.asarray(noise.variance(total.mean)[first, second] / squares[first] / squares[second])


def _beside_noise(r: Array, n: int, added: Array) -> Array:
    return np.clip(2.0 * ndtr(-np.abs(r) / np.sqrt(1.0 / (n - 1) + added)), 0.0, 1.0)


def _ends(r: float, n: int, pairs: int, added: float) -> tuple[float, float]:
    """Interval that holds for all pairs at once with 95%, the variance of noise added to that of Fisher's z."""
    inside = float(np.clip(r, -1.0 + 1e-15, 1.0 - 1e-15))
    reach = -ndtri(0.025 / pairs) * np.sqrt(1.0 / (n - 3) + added / (1.0 - inside**2) ** 2)
    z = np.arctanh(inside)
    return float(np.tanh(z - reach)), float(np.tanh(z + reach))


def _unseen(parts: GroupedMoments, first: Indices, second: Indices) -> tuple[float | None, tuple[float, float] | None]:
    """The correlation, in each part, of the pair that is strongest in the others; its sign is that in the others."""
    if len(parts.parts) < 2:
        return None, None
    values = []
    for train, test in parts.training():
        r = np.nan_to_num(train.correlation[first, second])
        best = int(np.abs(r).argmax())
        found = float(np.nan_to_num(test.correlation[first[best], second[best]]))
        values.append(found * np.sign(r[best]))
    return fold_mean(values, within=(-1.0, 1.0))

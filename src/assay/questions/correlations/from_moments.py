"""Which columns go together, from moments alone.

statistic  correlation of each pair
chance     Student's t of a correlation of normal columns, n - 2 degrees of freedom
looks      one for each pair: Benjamini and Hochberg over all of them; intervals hold for all pairs at once (Fisher's z)
held out   where moments of several parts are at hand: the pair that is strongest in the other parts, in each part
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr
from scipy.stats import false_discovery_control

from assay.asking.by_law import ByLaw
from assay.asking.words import SURVIVED, chance
from assay.evidence.evidence import Evidence, Verdict, verdict_of
from assay.linalg.fold_error import fold_mean
from assay.questions.correlations.words import WORDS
from assay.summary.grouped import GroupedMoments
from assay.views.numbers import count, counted, fraction

Array: TypeAlias = NDArray[np.float64]

FEWEST_ROWS = 10
_LISTED, _NAMED = 1000, 3


def correlations_of(parts: GroupedMoments, columns: tuple[str, ...], *, alpha: float, limit: str) -> ByLaw | None:
    """Test every pair by its correlation; None for too few rows or columns.

    Args:
        parts: moments of all rows, in one part or several.
        columns: names, none of them constant.
        alpha: level of the study.
        limit: why nothing can be called supported.
    """
    total = parts.total
    n, d = total.count, total.d
    if n < FEWEST_ROWS or d < 2:
        return None
    first, second = np.triu_indices(d, 1)
    r = total.correlation[first, second]
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt((n - 2) / np.maximum(1.0 - r**2, 0.0))
    p = np.clip(2.0 * stdtr(n - 2, -t), 0.0, 1.0)
    q = np.asarray(false_discovery_control(p))
    order = np.argsort(-np.abs(r), kind="stable")
    held_out, interval = _unseen(parts)
    holds = interval is None or interval[0] > 0.0
    best = int(order[0])
    evidence = Evidence(
        statistic=abs(float(r[best])), p=float(q.min()), q=float(q.min()), held_out=held_out, interval=interval, n=n,
        looks=len(r), method="Student's t of every correlation; Benjamini and Hochberg over all pairs",
        verdict=verdict_of(float(q.min()), effect_holds=holds, alpha=alpha), limit=limit,
    )  # fmt: skip

    def named(k: int) -> str:
        return f"{columns[first[k]]}{' against ' if r[k] < 0 else ' and '}{columns[second[k]]}"

    def many(factor: float) -> int:
        return max(int((q * factor <= alpha).sum()), 1)

    def say(verdict: Verdict, factor: float) -> str:
        low, high = (fraction(end) for end in _ends(float(r[best]), n, len(r)))
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
            "n_pairs": int((q * factor <= alpha).sum()),
            "pairs": [
                {
                    "columns": [columns[first[k]], columns[second[k]]],
                    "correlation": float(r[k]),
                    "interval": list(_ends(float(r[k]), n, len(r))),
                    "p": float(p[k]),
                    "q": float(min(q[k] * factor, 1.0)),
                }
                for k in few
            ],
        }

    subject = "; ".join(named(int(k)) for k in order[:_NAMED])
    return ByLaw(
        "correlations", subject, say, listed, many, WORDS, "Benjamini and Hochberg over all pairs", holds, evidence
    )


def _ends(r: float, n: int, pairs: int) -> tuple[float, float]:
    """Interval that holds for all pairs at once with 95%."""
    reach = -ndtri(0.025 / pairs) / np.sqrt(n - 3)
    z = np.arctanh(np.clip(r, -1.0 + 1e-15, 1.0 - 1e-15))
    return float(np.tanh(z - reach)), float(np.tanh(z + reach))


def _unseen(parts: GroupedMoments) -> tuple[float | None, tuple[float, float] | None]:
    """The correlation, in each part, of the pair that is strongest in the others; its sign is that in the others."""
    if len(parts.parts) < 2:
        return None, None
    values = []
    for train, test in parts.training():
        R = np.nan_to_num(train.correlation)
        np.fill_diagonal(R, 0.0)
        i, j = np.unravel_index(int(np.abs(R).argmax()), R.shape)
        found = float(np.nan_to_num(test.correlation[i, j]))
        values.append(found * np.sign(R[i, j]))
    return fold_mean(values, within=(-1.0, 1.0))

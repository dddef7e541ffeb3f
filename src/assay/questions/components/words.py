"""Components in plain words: what they are made of, how much they carry, on unseen rows, against chance."""

from __future__ import annotations

import math

import numpy as np

from assay.asking.words import Words, chance, listed
from assay.questions.components.answer import Components
from assay.views.numbers import percent

WORDS = Words(
    "component",
    "components",
    statistic="Eigenvalue",
    held_out="of variance",
    held_out_format=percent,
    stability="Alignment of direction",
    reading="Alignment of direction is the expected agreement of the direction found with the true one, as a squared "
    "cosine: 1 is the same direction, 0 is unrelated.",
)


def subject(found: Components, j: int) -> str:
    """The columns that make a component, those that fall with it behind "against"."""
    loading = found.loadings[:, j]
    strong = np.flatnonzero(np.abs(loading) >= 0.5 * np.abs(loading).max())
    order = strong[np.argsort(-np.abs(loading[strong]), kind="stable")]
    rising = [found.columns[i] for i in order if loading[i] > 0]
    falling = [found.columns[i] for i in order if loading[i] < 0]
    if not rising:
        rising, falling = falling, rising
    return listed(rising) + (f" against {listed(falling)}" if falling else "")


def sentence(found: Components, j: int) -> str:
    """One component, its size, its size on unseen rows, and what chance does."""
    if found.d == 1:
        return f"{found.columns[0]} is the only column in use: components need at least two."
    evidence = found.tested[j]
    size = f"{percent(float(found.share[j]))} of the variance"
    unseen = ""
    if evidence.held_out is not None and evidence.interval is not None:
        low, high = evidence.interval
        unseen = f", {percent(evidence.held_out)} on unseen rows (95% interval {percent(low)} to {percent(high)})"
    if evidence.verdict == "not testable here":
        return (
            f"Component {j + 1} carries {size}{unseen}; {found.n} rows and {found.d} columns are too few to tell it "
            "from chance."
        )
    reach = percent(float(found.chance_upper[j] / found.values.sum()))
    by_chance = f"chance alone reaches {reach} one time in twenty ({chance(evidence)})"
    if evidence.verdict == "supported":
        return f"Component {j + 1} is real: {subject(found, j)}. It carries {size}{unseen}; {by_chance}."
    if evidence.verdict == "suggestive":
        return f"Component {j + 1} may be real: {subject(found, j)}. It carries {size}{unseen}; {by_chance}."
    first = "No component stands out" if j == 0 else f"Component {j + 1} does not stand out"
    return f"{first}: it carries {size}{unseen}; {by_chance}."


def carried(found: Components) -> str:
    """How much of the variance the real ones carry together."""
    if not found.n_real:
        return ""
    k = min(found.n_real, len(found.held_out))
    who = "It carries" if found.n_real == 1 else f"Together the {found.n_real} above chance carry"
    seen = f"{who} {percent(float(found.share[: found.n_real].sum()))} of the variance on these rows"
    # every one tested was above chance: the tests ended before the components did
    more = " Testing stopped there; more may be real." if _stopped_early(found) else ""
    if k < found.n_real:
        return f"{seen}.{more}"
    them = "it" if found.n_real == 1 else "them"
    return f"{seen} and {percent(float(found.held_out[:k].sum()))} on rows that were not used to find {them}.{more}"


def _stopped_early(found: Components) -> bool:
    left = int(np.count_nonzero(found.values > 1e-9 * found.values[0])) - found.n_real
    return found.n_real == len(found.tested) and left > 1


def missed_by(found: Components) -> str:
    """How near the largest component came, so that nothing found is not mistaken for nothing done."""
    if not len(found.chance_upper) or not len(found.values) or found.values[0] <= 0:
        return ""
    needed = float(found.chance_upper[0] * found.share[0] / found.values[0])
    if not math.isfinite(needed):
        return ""
    largest = percent(float(found.share[0]))
    return f"The largest component carries {largest} of the variance; it would have to exceed {percent(needed)}."

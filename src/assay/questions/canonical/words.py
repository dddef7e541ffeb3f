"""Two sets of columns that go together, in plain words."""

from __future__ import annotations

import numpy as np

from assay.asking.words import Words, chance, listed, one_line
from assay.questions.canonical.answer import Canonical
from assay.views.axes.numbers import fraction

WORDS = Words(
    "way in which two sets of columns go together",
    "ways in which two sets of columns go together",
    statistic="Canonical correlation",
    statistic_format=fraction,
    held_out="correlation",
    held_out_format=fraction,
    stability="Alike when a fold is left out",
)


def subject(found: Canonical) -> str:
    """The columns of both sides that make the first pair."""
    return f"{_side(found, 0, 0)} with {_side(found, 1, 0)}"


def line(found: Canonical) -> str:
    """Whether the sides go together, and how strongly on unseen rows."""
    ways = "" if found.n_pairs <= 1 else f" in {found.n_pairs} ways"
    does = {"supported": f"go together{ways}", "suggestive": "may go together"}.get(
        found.evidence.verdict, "do not go together beyond chance"
    )
    size = f"{fraction(float(found.held_out[0]))} on unseen rows"
    return one_line(lambda short: f"{short(found.sides[0])} and {short(found.sides[1])} {does} ({size})")


def sentence(found: Canonical) -> str:
    """How many pairs there are, what makes each, how they do on unseen rows, and what chance does."""
    evidence = found.evidence
    first = f"{subject(found)} (correlation {fraction(evidence.statistic)}{_unseen(found, 0)})"
    by_chance = ""
    if evidence.null is not None:
        reach = fraction(evidence.null.upper)
        by_chance = f"shuffled rows reach {reach} on unseen rows one time in twenty ({chance(evidence)})"
    sides = f"{found.sides[0]} and {found.sides[1]}"
    if evidence.verdict == "supported":
        ways = "one way" if found.n_pairs <= 1 else f"{found.n_pairs} ways"
        more = [f"{_side(found, 0, k)} with {_side(found, 1, k)}{_unseen(found, k)}" for k in range(1, found.n_pairs)]
        then = f" Then: {'; '.join(more)}." if more else ""
        return f"{sides} go together in {ways}: {first}; {by_chance}.{then}"
    if evidence.verdict == "suggestive":
        return f"{sides} may go together: {first}; {by_chance}."
    return f"{sides} do not go together by more than chance: the best pair is {first}; {by_chance}."


def _side(found: Canonical, side: int, k: int) -> str:
    """The columns of one side that carry a pair, the opposite ones behind "against"."""
    loading, names = found.loadings[side][:, k], found.columns[side]
    strong = np.flatnonzero(np.abs(loading) >= 0.6 * np.abs(loading).max())
    order = strong[np.argsort(-np.abs(loading[strong]), kind="stable")]
    rising = [names[j] for j in order if loading[j] > 0]
    falling = [names[j] for j in order if loading[j] <= 0]
    if not rising:
        return f"less {listed(falling)}"
    return listed(rising) + (f" against {listed(falling)}" if falling else "")


def _unseen(found: Canonical, k: int) -> str:
    return f", {fraction(float(found.held_out[k]))} on unseen rows"

"""Components in plain words: what they are made of, how much they carry, on unseen rows, against chance."""

from __future__ import annotations

import math

import numpy as np

from assay.asking.words import SURVIVED, Words, chance, listed
from assay.evidence.evidence import Evidence, Verdict
from assay.questions.components.answer import Components
from assay.views.axes.numbers import count, counted, percent, told_apart

WORDS = Words(
    "component",
    "components",
    statistic="Eigenvalue of the weakest",
    held_out="of variance",
    held_out_format=percent,
    stability="How well its direction is known (1 is exactly)",
    reading="How well its direction is known: rows are halved again and again, and the directions that halves find are "
    "compared; 1 is always the same direction, 0 is what unrelated ones have. Of several components it is that of the "
    "one that comes back least. A component is supported only if its direction "
    "comes back and carries more on unseen rows than a direction without meaning.",
)
_NAMED = 2


def made_of(found: Components, j: int) -> str:
    """The columns that make a component, those that fall with it behind "against"."""
    loading = found.loadings[:, j]
    strong = np.flatnonzero(np.abs(loading) >= 0.5 * np.abs(loading).max())
    order = strong[np.argsort(-np.abs(loading[strong]), kind="stable")]
    rising = [found.columns[i] for i in order if loading[i] > 0]
    falling = [found.columns[i] for i in order if loading[i] < 0]
    if not rising:
        rising, falling = falling, rising
    return listed(rising) + (f" against {listed(falling)}" if falling else "")


def subject(found: Components) -> str:
    """The columns that make the components named, or the largest where none is."""
    return "; ".join(made_of(found, j) for j in _named(found)[1][:_NAMED] or [0])


def line(found: Components) -> str:
    """How many are real, and what they carry on unseen rows."""
    if found.d == 1:
        return "Components need two columns or more; one is in use"
    verdict, which = _named(found)
    if not which and verdict in SURVIVED:
        return "There are more directions than chance gives, but which ones cannot be told"
    if not which:
        if verdict == "not testable here":
            size = percent(float(found.share[0]))
            return f"Components cannot be told from chance here: the largest carries {size} of the variance"
        size, reach = _near(found)
        return f"No component stands out: the largest carries {size} of the variance, chance reaches {reach}"
    many = count(len(which))
    one = len(which) == 1
    real = f"{'is' if one else 'are'} real" if verdict == "supported" else "may be real"
    unseen = found.as_a_set.held_out
    size = percent(float(found.share[which].sum()) if unseen is None else unseen)
    where = "" if unseen is None else " on unseen rows"
    of = f"{many} of {counted(max(len(found.values), len(which)), 'component')}"
    return f"{of} {real}: {size} of the variance{where}"


def sentence(found: Components) -> str:
    """How many directions there are, what they carry, on unseen rows too, and what only exceeds chance."""
    if found.d == 1:
        return f"{found.columns[0]} is the only column in use: components need at least two."
    verdict, which = _named(found)
    if not which and verdict in SURVIVED:
        one = found.n_real == 1
        exceed = "One direction exceeds" if one else f"{found.n_real} directions exceed"
        beyond = f"{chance(found.as_a_set)}{'' if one else ' for the weakest'}"
        if not found.directions.halvings:
            return (
                f"There are more directions than chance gives, which ones cannot be told: {exceed} chance "
                f"({beyond}), too little for its direction to be known."
            )
        return (
            f"There are more directions than chance gives, which ones cannot be told: {exceed} chance "
            f"({beyond}), but none both comes back in halves of the rows and carries more on unseen "
            "rows than a direction without meaning."
        )
    if not which:
        return _nothing(found)
    sure = verdict == "supported"
    if len(which) == 1:
        opening = f"Component {which[0] + 1} {'is' if sure else 'may be'} real: {made_of(found, which[0])}."
        return f"{opening} {_carry(found, which)}{_others(found, which)}"
    opening = f"{len(which)} directions {'are' if sure else 'may be'} real."
    return f"{opening} {_carry(found, which)}{_each(found, which)}{_others(found, which)}"


def headline(found: Components, verdict: Verdict) -> str:
    """Components of this verdict, of all there are; those that cannot be told apart are not counted one by one."""
    best, which = _named(found)
    if verdict != best or verdict not in SURVIVED:
        return ""
    if not which:
        return "directions beyond chance that cannot be told apart"
    return WORDS.several(len(which), max(len(found.values), len(which)))


def carried(found: Components) -> str:
    """How much of the variance the supported ones carry together, and what only exceeds chance."""
    which = found.having("supported")
    if not which:
        return ""
    who = "The component carries" if len(which) == 1 else f"Together the {len(which)} components carry"
    seen = f"{who} {percent(float(found.share[which].sum()))} of the variance on these rows"
    # every one tested was above chance: the tests ended before the components did
    more = " Testing stopped there; more may be real." if _stopped_early(found) else ""
    them = "it" if len(which) == 1 else "them"
    unseen = f" and {percent(float(found.held_out[which].sum()))} on rows that were not used to find {them}"
    return f"{seen}{unseen}.{_others(found, which)}{more}"


def _named(found: Components) -> tuple[Verdict, list[int]]:
    """The best verdict, and the components that have it and come back; none where which ones cannot be told."""
    verdict: Verdict
    for verdict in SURVIVED:
        if which := found.having(verdict):
            return verdict, [j for j in which if found.holds[j]]
    return found.tested[0].verdict, []


def _carry(found: Components, which: list[int]) -> str:
    evidence = found.as_a_set
    size = percent(float(found.share[which].sum()))
    who = "Together they carry" if len(which) > 1 else "It carries"
    unseen = _unseen(evidence)
    reach = percent(float(found.chance_upper[which[-1]] / found.values.sum()))
    alone = f"chance alone reaches {reach} one time in twenty"
    weakest = f"the weakest carries {percent(float(found.share[which[-1]]))}, {alone}" if len(which) > 1 else alone
    return f"{who} {size} of the variance{unseen}; {weakest} ({chance(found.tested[which[-1]])})."


def _each(found: Components, which: list[int]) -> str:
    """What the first of them are made of, and which come back only together."""
    alone = [j for j in which if found.alone(j)]
    said = [f"component {j + 1} is {made_of(found, j)}" for j in alone[:_NAMED]]
    left = len(alone) - len(said)
    if left:
        said.append(
            f"component {alone[-1] + 1} is {made_of(found, alone[-1])}" if left == 1 else "the others are listed below"
        )
    text = "; ".join(said)
    return (f" {text[0].upper()}{text[1:]}." if text else "") + _sets(found, which)


def _sets(found: Components, which: list[int]) -> str:
    spans = sorted({(int(first), int(last)) for first, last in found.directions.together[which] if last - first > 1})
    return "".join(
        f" Components {first + 1} {'and' if last - first == 2 else 'to'} {last} come back only together: the "
        f"{'plane' if last - first == 2 else 'space'} of them is known, not the directions in it; most of it is "
        f"{_space(found, first, last)}."
        for first, last in spans
    )


def _space(found: Components, first: int, last: int) -> str:
    """The columns that lie in the space of several components, those that it carries most of first."""
    size = np.sqrt((found.loadings[:, first:last] ** 2).sum(axis=1))
    order = np.argsort(-size, kind="stable")
    return listed([found.columns[i] for i in order if size[i] >= 0.5 * size[order[0]]])


def _others(found: Components, which: list[int]) -> str:
    """Those that exceed chance and have no direction that can be told, or one that carries too little."""
    left = [j for j in range(found.n_real) if j not in which]
    if not left:
        return ""
    one = len(left) == 1
    they = f"{len(left)} more exceed{'s' if one else ''} chance, but"
    if all(found.directions.comes_back(j) for j in left):
        return f" {they} what {'it carries' if one else 'they carry'} on unseen rows is not sure."
    return f" {they} {'its direction' if one else 'their directions'} cannot be told."


def _unseen(evidence: Evidence) -> str:
    if evidence.held_out is None or evidence.interval is None:
        return ""
    low, high = evidence.interval
    return f", {percent(evidence.held_out)} on unseen rows (95% interval {percent(low)} to {percent(high)})"


def _nothing(found: Components) -> str:
    """The largest component, where none stands out or nothing could be tested."""
    evidence = found.tested[0]
    unseen = _unseen(evidence)
    if evidence.verdict == "not testable here":
        few = f"{found.n} rows and {found.d} columns are too few to tell it from chance"
        return f"Component 1 carries {percent(float(found.share[0]))} of the variance{unseen}; {few}."
    size, reach = _near(found)
    by_chance = f"chance alone reaches {reach} one time in twenty ({chance(evidence)})"
    return f"No component stands out: the largest carries {size} of the variance{unseen}; {by_chance}."


def _near(found: Components) -> list[str]:
    """The share of the largest, and what chance reaches one time in twenty."""
    needed = float(found.chance_upper[0] * found.share[0] / found.values[0])
    return told_apart(percent, [float(found.share[0]), needed], 1)


def _stopped_early(found: Components) -> bool:
    left = int(np.count_nonzero(found.values > 1e-9 * found.values[0])) - found.n_real
    return found.n_real == len(found.tested) and left > 1


def missed_by(found: Components) -> str:
    """How near the largest component came, so that nothing found is not mistaken for nothing done."""
    if not len(found.chance_upper) or not len(found.values) or found.values[0] <= 0:
        return ""
    if not math.isfinite(found.chance_upper[0]):
        return ""
    largest, needed = _near(found)
    if largest == needed:  # as of the levels of one category, which no shuffling changes
        return ""
    return f"The largest component carries {largest} of the variance; it would have to exceed {needed}."

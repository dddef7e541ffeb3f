"""Pairs of columns that go together, in plain words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from assay.asking.page import PairsTold, PairTold
from assay.asking.words import SURVIVED, Words, chance, listed, one_line
from assay.evidence.by_chance import expected_by_chance
from assay.evidence.evidence import Verdict
from assay.questions.correlations.answer import Correlations
from assay.questions.correlations.given import GivenThird
from assay.summary.pairs.pairs import CURVES, RANK_CORRELATION, V
from assay.views.axes.numbers import count, counted, fraction, percent

_NAMED = 3
_SHAPES = 3  # in the sentence
_TURNED = 2  # pairs that third columns turn, in the sentence
_ALONE = 0.05  # level of one pair by itself

WORDS = Words(
    "pair of columns that go together",
    "pairs of columns that go together",
    statistic="Strength of the strongest pair",
    statistic_format=fraction,
    held_out="for the strongest pair",
    held_out_format=fraction,
    stability="Found again in half of the rows",
    stability_format=percent,
)


def subject(found: Correlations) -> str:
    """The pairs that go together most strongly, those that fall together behind "against"."""
    if not found.n_pairs:
        return "the columns"
    return "; ".join(_pair(found, k) for k in range(min(found.n_pairs, _NAMED)))


def line(found: Correlations) -> str:
    """How many pairs go together, and the strongest."""
    verdict, d = found.evidence.verdict, found.found
    if verdict == "not testable here":
        return "Too few rows are independent of each other to tell a pair of columns from chance"
    strength = fraction(_listed_strength(found, 0))

    def said(short: Callable[[str], str]) -> str:
        best = f"{_pair(found, 0, short)} ({strength})"
        if verdict == "supported" and found.n_pairs == 1:
            one = "The only pair" if d.tested == 1 else f"1 of {counted(d.tested, 'pair')}"
            return f"{one} of columns goes together: {best}"
        if verdict == "supported":
            return f"{count(found.n_pairs)} of {counted(d.tested, 'pair')} of columns go together, most strongly {best}"
        if verdict == "suggestive":
            return f"Some columns may go together, most strongly {best}"
        of = "" if d.tested == 1 else f" of {count(d.tested)}"
        return f"No pair of columns goes together: the strongest{of} is {best}"

    return one_line(said)


def sentence(found: Correlations) -> str:
    """How many pairs go together, the strongest, what chance does, the shapes, and what third columns turn."""
    evidence, d = found.evidence, found.found
    best = f"{_pair(found, 0)} ({_strongest(found)})"
    reached = f"; {_reached(found)}"
    if evidence.verdict == "supported":
        more = [f"{_pair(found, k)} ({fraction(unseen(found, k))})" for k in range(1, _named(found))]
        then = f" Next come {listed(more)}." if len(more) > 1 else f" Next comes {more[0]}." if more else ""
        verb = "goes together:" if found.n_pairs == 1 else "go together, most strongly"
        many = f"{count(found.n_pairs)} of {counted(d.tested, 'pair')}" if d.tested > 1 else "The only pair"
        first = f"{many} of columns{_drawn(found)} {verb} {best}{reached}.{then}"
        return " ".join(filter(None, (first, shapes(found), turned(found))))
    if evidence.verdict == "suggestive":
        first = f"Some columns{_drawn(found)} may go together, most strongly {best}{reached}."
        return " ".join(filter(None, (first, shapes(found))))
    if evidence.verdict == "not testable here":
        few = "Too few rows are independent of each other to tell a pair of columns from chance"
        return f"{few}; the strongest is {best}."
    which = "the only one" if d.tested == 1 else f"the strongest of {count(d.tested)}"
    return f"No pair of columns{_drawn(found)} stands out: {which} is {best}{reached}."


def _drawn(found: Correlations) -> str:
    """Which columns were looked at, where these are not all."""
    if not found.of_columns:
        return ""
    return f" (all pairs of {count(len(found.found.columns))} columns drawn fairly of {count(found.of_columns)})"


def _reached(found: Correlations) -> str:
    """What chance does: how strong it makes the strongest pair, where that is measured alike, and p."""
    evidence = found.evidence
    if evidence.null is None or found.found.pairs.strength_name[0] != RANK_CORRELATION:
        return chance(evidence)
    return f"chance alone reaches {fraction(evidence.null.upper)}, {chance(evidence)}"


def words_of(found: Correlations) -> Words:
    """How its evidence is spoken of: with what chance alone would give to whoever looks at so many pairs."""
    d = found.found
    expected = expected_by_chance(d.tested, _ALONE).expected
    if found.evidence.verdict == "not testable here":
        return WORDS
    here = int(np.count_nonzero(d.pairs.p <= _ALONE))
    at_least = " or more" if here == len(d.pairs) < d.tested else ""
    here = max(here, found.n_pairs)  # only the first pairs of many are listed
    many = f"{counted(d.tested, 'pair')} of unrelated columns"
    have = f"here {count(here)}{at_least} {'has' if here == 1 else 'have'}"
    said = f"{_few(expected)} of {many} would have p below .05; {have}"
    return replace(WORDS, more=(("By chance alone", said),))


def _few(expected: float) -> str:
    return f"{expected:.2g}" if expected < 9.95 else count(round(expected))


def shapes(found: Correlations) -> str:
    """The named pairs that do more than rise or fall together, one sentence; may be empty."""
    d = found.found
    seen = [found.closer.shape(d.pairs.first[k], d.pairs.second[k]) for k in range(_named(found))]
    # a category is told for the strongest pair alone: of the others the figures have the levels
    worth = [one for k, one in enumerate(seen) if one is not None and not one.monotone and (not k or not one.levels)]
    told = [words for one in worth[:_SHAPES] if (words := found.closer.told(one, d.columns, brief=True))]
    return f"In shape: {'; '.join(told)}." if told else ""


def turned(found: Correlations) -> str:
    """What third columns turn round or away, for the surest pairs; may be empty."""
    every = found.turned()
    surest: dict[tuple[int, int], GivenThird] = {}
    for one in every:
        surest.setdefault((one.first, one.second), one)
    told = [turned_by(one, found.found.columns) for one in list(surest.values())[:_TURNED]]
    left = len(surest) - len(told)
    more = f"{counted(left, 'more pair')} {'is' if left == 1 else 'are'} turned by a third column." if left else ""
    return " ".join(filter(None, (*told, more)))


def turned_by(one: GivenThird, names: tuple[str, ...]) -> str:
    """What a third column does to a pair: overall a rises with b (+.75), but within each department it falls (-.90).

    Args:
        one: the pair and the third column.
        names: of all columns.
    """
    a, b, third = names[one.first], names[one.second], names[one.third]
    where = f"within each {third}" if one.each else f"within levels of {third}" if one.levels else f"at equal {third}"
    if not one.signed:
        return f"Overall {a} and {b} go together ({fraction(one.overall)}), but {where} next to nothing of it is left."
    up = "rises" if one.overall > 0 else "falls"
    overall = f"Overall {b} {up} with {a} ({_signed(one.overall)}), but {where}"
    if one.turned == "round":
        return f"{overall} it {'falls' if one.overall > 0 else 'rises'} ({_signed(one.within)})."
    return f"{overall} next to nothing of it is left ({_signed(one.within)})."


def _signed(value: float) -> str:
    return f"+{fraction(value)}" if round(value, 2) > 0 else fraction(value)


def _named(found: Correlations) -> int:
    """How many pairs the sentence names."""
    return min(max(found.n_pairs, 1), _NAMED + 1, len(found.found.pairs))


def _pair(found: Correlations, k: int, short: Callable[[str], str] = str) -> str:
    """A pair by its names: against each other, or one ahead of the other in time."""
    pairs, names = found.found.pairs, found.found.columns
    first, second, lag = short(names[pairs.first[k]]), short(names[pairs.second[k]]), int(pairs.lag[k])
    if lag:
        ahead, behind = (first, second) if lag > 0 else (second, first)
        return f"{ahead}, which leads {behind} by {counted(abs(lag), 'row')}"
    against = pairs.strength_name[k] == RANK_CORRELATION and pairs.strength[k] < 0
    return f"{first}{' against ' if against else ' and '}{second}"


def unseen(found: Correlations, k: int) -> float:
    """The strength of a pair on rows that did not choose it; on all rows where that was not asked."""
    pairs = found.found.pairs
    if k == 0 and found.strongest_interval is not None and found.evidence.held_out is not None:
        return found.evidence.held_out
    return float(pairs.unseen[k] if np.isfinite(pairs.unseen[k]) else pairs.strength[k])


def _listed_strength(found: Correlations, k: int) -> float:
    """The strength by which pairs are compared, in the line of the finding and where a reader chooses a pair."""
    if k == 0 and found.strongest_interval is not None:
        return float(found.found.pairs.unseen[0])
    return unseen(found, k)


def strength_name(found: Correlations, k: int) -> str:
    """What the strength of a pair is called."""
    name = str(found.found.pairs.strength_name[k])
    return {V: "Cramér's V", CURVES: "correlation along a curve"}.get(name, name)


def told_of_pairs(found: Correlations, level: float) -> PairsTold:
    """What is said of two columns that a reader chooses.

    Args:
        found: the numbers behind the finding.
        level: level of the study.
    """
    pairs, names, q, whole = found.found.pairs, found.found.columns, found.q, found.evidence.verdict
    told = {}
    for k in range(len(pairs)):
        verdict: Verdict = "not distinguishable from chance"
        if whole == "not testable here":
            verdict = whole
        elif k < found.n_pairs:
            verdict = whole if whole in SURVIVED else verdict
        elif q[k] <= level:
            verdict = "suggestive"  # beyond chance, but halves of the rows do not show it
        of = names[pairs.first[k]], names[pairs.second[k]]
        told[of] = PairTold(
            strength_name(found, k), float(pairs.strength[k]), float(pairs.p[k]), float(q[k]), verdict,
            _listed_strength(found, k) if np.isfinite(pairs.unseen[k]) else None,
        )  # fmt: skip
    unlisted: Verdict = whole if whole == "not testable here" else "not distinguishable from chance"
    return PairsTold(frozenset(names), told, unlisted)


def _strongest(found: Correlations) -> str:
    """The strength of the strongest pair, called by its name, with its interval."""
    pairs = found.found.pairs
    # where nothing stood up the pair is only the strongest of many, chosen on all rows
    chosen = found.evidence.verdict in SURVIVED and np.isfinite(pairs.unseen[0])
    where = " on unseen rows" if chosen else ""
    if found.strongest_interval is None:
        return f"{strength_name(found, 0)} {fraction(unseen(found, 0))}{where}"
    plain = fraction(float(pairs.unseen[0]))
    low, high = (fraction(end) for end in found.strongest_interval)
    if abs(unseen(found, 0)) >= abs(float(pairs.unseen[0])) or fraction(unseen(found, 0)) == plain:
        return f"{strength_name(found, 0)} {plain}{where}, 95% interval {low} to {high}"
    # the pairs that come next are not corrected for having been chosen: first the number that compares with theirs
    corrected = f"{fraction(unseen(found, 0))} corrected for being the strongest of many, 95% interval {low} to {high}"
    return f"{strength_name(found, 0)} {plain}{where}; {corrected}"

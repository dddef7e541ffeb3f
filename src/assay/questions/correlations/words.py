"""Pairs of columns that go together, in plain words."""

from __future__ import annotations

from assay.asking.words import Words, chance, listed
from assay.questions.correlations.answer import Correlations
from assay.views.numbers import count, counted, fraction, percent

_NAMED = 3

WORDS = Words(
    "pair of columns that go together",
    "pairs of columns that go together",
    statistic="Strength of the strongest pair",
    statistic_format=fraction,
    held_out="for the strongest pair of one half of the rows, in the other",
    held_out_format=fraction,
    stability="Found again in half of the rows",
    stability_format=percent,
)


def subject(found: Correlations) -> str:
    """The pairs that go together most strongly, those that fall together behind "against"."""
    if not found.n_pairs:
        return "the columns"
    return "; ".join(_pair(found, k) for k in range(min(found.n_pairs, _NAMED)))


def sentence(found: Correlations) -> str:
    """How many pairs go together, the strongest with its interval, and what chance does."""
    evidence, d = found.evidence, found.found
    best = f"{_pair(found, 0)} ({_strongest(found)})"
    by_chance = ""
    if evidence.null is not None:
        by_chance = (
            f"the strongest of {counted(d.tested, 'pair')} that know nothing of each other reaches "
            f"{fraction(evidence.null.upper)} one time in twenty ({chance(evidence)})"
        )
    tested = f"{counted(d.tested, 'pair')} of columns"
    if evidence.verdict == "supported":
        more = [f"{_pair(found, k)} ({fraction(d.pairs.rank[k])})" for k in range(1, min(found.n_pairs, _NAMED + 1))]
        then = f" Next come {listed(more)}." if len(more) > 1 else f" Next comes {more[0]}." if more else ""
        verb = "goes" if found.n_pairs == 1 else "go"
        return f"{count(found.n_pairs)} of {tested} {verb} together, most strongly {best}; {by_chance}.{then}"
    if evidence.verdict == "suggestive":
        return f"Some columns may go together, most strongly {best}; {by_chance}."
    return f"No pair of columns stands out: the strongest of {count(d.tested)} is {best}; {by_chance}."


def _pair(found: Correlations, k: int) -> str:
    pairs, names = found.found.pairs, found.found.columns
    against = " against " if pairs.rank[k] < 0 else " and "
    return f"{names[pairs.first[k]]}{against}{names[pairs.second[k]]}"


def _strongest(found: Correlations) -> str:
    """The strength of the strongest pair, called by its name."""
    pairs, kinds = found.found.pairs, found.found.kinds
    categories = (kinds[pairs.first[0]], kinds[pairs.second[0]]).count("category")
    name = ("rank correlation", "correlation ratio of ranks", "Cramér's V")[categories]
    interval = ""
    if found.strongest_interval is not None:
        low, high = found.strongest_interval
        interval = f", 95% interval {fraction(low)} to {fraction(high)}"
    return f"{name} {fraction(pairs.rank[0])}{interval}"

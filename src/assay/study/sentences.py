"""Findings in plain words: what, how much, on unseen rows, against chance."""

from __future__ import annotations

import numpy as np

from assay.evidence.components import ComponentsResult
from assay.evidence.row_map import RowMap

_NAMED = 4


def component_subject(found: ComponentsResult, j: int) -> str:
    """The columns that make a component, those that fall with it behind "against"."""
    loading = found.loadings[:, j]
    strong = np.flatnonzero(np.abs(loading) >= 0.5 * np.abs(loading).max())
    order = strong[np.argsort(-np.abs(loading[strong]), kind="stable")]
    rising = [found.columns[i] for i in order if loading[i] > 0]
    falling = [found.columns[i] for i in order if loading[i] < 0]
    if not rising:
        rising, falling = falling, rising
    return _list(rising) + (f" against {_list(falling)}" if falling else "")


def component_sentence(found: ComponentsResult, j: int) -> str:
    """One component, its size, its size on unseen rows, and what chance does."""
    if found.d == 1:
        return f"{found.columns[0]} is the only column in use: components need at least two."
    evidence = found.evidence[j]
    size = f"{percent(found.share[j])} of the variance"
    unseen = ""
    if evidence.held_out is not None and evidence.interval is not None:
        low, high = evidence.interval
        unseen = f", {percent(evidence.held_out)} on unseen rows (95% interval {percent(low)} to {percent(high)})"
    if evidence.verdict == "not testable here":
        return (
            f"Component {j + 1} carries {size}{unseen}; {found.n} rows and {found.d} columns are too few to tell it "
            "from chance."
        )
    ours, theirs = percents(found.share[j], found.chance_upper[j] / found.values.sum())
    size = f"{ours} of the variance"
    chance = f"chance alone reaches {theirs} one time in twenty"
    p = probability(evidence.p)
    if evidence.verdict == "supported":
        return f"Component {j + 1} is real: {component_subject(found, j)}. It carries {size}{unseen}; {chance} ({p})."
    if evidence.verdict == "suggestive":
        return (
            f"Component {j + 1} may be real: {component_subject(found, j)}. It carries {size}{unseen}; {chance} ({p})."
        )
    first = "No component stands out" if j == 0 else f"Component {j + 1} does not stand out"
    return f"{first}: it carries {size}{unseen}; {chance} ({p})."


def map_sentence(drawn: RowMap) -> str:
    """How much of the neighbourhoods in the data the map keeps, for rows on it and kept out, and what chance keeps."""
    evidence = drawn.evidence
    ours, theirs = percents(evidence.statistic, float(drawn.chance.mean()))
    size = f"of the {drawn.k} rows nearest to a row it keeps {ours} on average"
    chance = f"maps of shuffled columns keep {theirs} ({probability(evidence.p)})"
    unseen = ""
    if evidence.held_out is not None and evidence.interval is not None:
        low, high = evidence.interval
        unseen = (
            f" Rows that were kept out and then placed on it keep {percent(evidence.held_out)} "
            f"(95% interval {percent(low)} to {percent(high)})."
        )
    if evidence.verdict == "supported":
        return f"A map of the rows shows more than chance: {size}; {chance}.{unseen}"
    if evidence.verdict == "suggestive":
        return f"A map of the rows may show more than chance: {size}; {chance}.{unseen}"
    if evidence.verdict == "not testable here":
        return f"A map of the rows cannot be told from chance: {size}, and so does every map of shuffled columns."
    return f"A map of the rows would show no more than chance: {size}; {chance}.{unseen}"


def percent(share: float) -> str:
    """A share in percent with the digits that matter.

    >>> percent(.3879), percent(.0412), percent(.00012)
    ('39%', '4.1%', '0.01%')
    """
    value = 100.0 * float(share)
    digits = 0 if value >= 10 else 1 if value >= 1 else 2
    return f"{value:.{digits}f}%"


def percents(a: float, b: float) -> tuple[str, str]:
    """Two shares with as many digits as it takes to tell them apart.

    >>> percents(.3879, .161), percents(.25121, .25034)
    (('39%', '16%'), ('25.1%', '25.0%'))
    """
    for digits in range(5):
        first, second = (f"{100 * float(x):.{digits}f}%" for x in (a, b))
        if first != second:
            break
    if digits == 0:
        return percent(a), percent(b)
    return first, second


def probability(p: float | None) -> str:
    """A p-value with the digits that matter; what lies at or below the floor of the tests is given as a bound.

    >>> probability(.0312), probability(1e-9), probability(1.0)
    ('p = .031', 'p ≤ .0001', 'p = 1')
    """
    if p is None:
        return "no p"
    return "p ≤ .0001" if p <= 1e-4 else f"p = {p:.2g}".replace("0.", ".")


def _list(names: list[str]) -> str:
    if len(names) > _NAMED:
        return ", ".join(names[: _NAMED - 1]) + f" and {len(names) - _NAMED + 1} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

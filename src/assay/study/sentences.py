"""Findings in plain words: what, how much, on unseen rows, against chance."""

from __future__ import annotations

import numpy as np

from assay.evidence.anomalies import Anomalies
from assay.evidence.clusters import Clusters
from assay.evidence.components import ComponentsResult
from assay.evidence.group_search import SIZES
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
    return listed(rising) + (f" against {listed(falling)}" if falling else "")


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


def clusters_subject(found: Clusters) -> str:
    """The columns that tell the groups apart."""
    names = _telling(found)
    return listed(names) if names else "the rows"


def clusters_sentence(found: Clusters) -> str:
    """How many groups, how far apart beside what chance cuts out of one lump, and whether half predicts half."""
    evidence = found.evidence
    ours, theirs = percents(found.explained, float(np.median(found.explained_by_chance)))
    space = "the columns" if found.axes == len(found.columns) else f"the {found.axes} largest components"
    size = f"explain {ours} of the variance of {space}"
    chance = (
        f"{found.k} cut out of tables with the same correlations and no groups, {theirs} ({probability(evidence.p)})"
    )
    unseen = ""
    if evidence.held_out is not None and found.strength_range is not None:
        low, high = found.strength_range
        unseen = (
            f" One half of the rows predicts {percent(evidence.held_out)} of the pairs that the other half puts "
            f"together, in the weakest group (95% of halvings {percent(low)} to {percent(high)})."
        )
    names = _telling(found)
    apart = f", which differ in {listed(names)}" if names else ""
    sizes = listed([f"{size:,}" for size in found.sizes])
    if found.k == SIZES[-1]:
        unseen += f" More than {found.k} groups were not looked for."
    if evidence.verdict == "supported":
        return f"The rows fall into {found.k} groups, of {sizes} rows{apart}. They {size}; {chance}.{unseen}"
    if evidence.verdict == "suggestive":
        return f"The rows may fall into {found.k} groups, of {sizes} rows. They {size}; {chance}.{unseen}"
    return f"No groups of rows stand out: {found.k} {size}; {chance}."


def _telling(found: Clusters) -> list[str]:
    """Columns whose groups differ by more than any grouping makes them differ, the largest difference first."""
    beyond = np.flatnonzero(found.column_q <= 0.05)
    order = beyond[np.argsort(-found.between[beyond], kind="stable")]
    return [found.columns[j] for j in order]


def anomalies_subject(found: Anomalies) -> str:
    """The rows that do not belong, counted from 1."""
    return _rows(found) if len(found.rows) else "the rows"


def anomalies_sentence(found: Anomalies) -> str:
    """Which rows do not belong, how far out the farthest lies, and which columns put it there."""
    evidence, n = found.evidence, len(found.scores)
    row, distance = found.best
    far = f"{distance / found.typical:.1f} times as far out as a typical row"
    if evidence.verdict == "suggestive":
        who = f"{_rows(found)[0].upper()}{_rows(found)[1:]}" if len(found.rows) else f"Row {row + 1:,}"
        return f"{who} may not belong: row {row + 1:,} is {far} ({probability(evidence.p)})."
    if evidence.verdict != "supported":
        return (
            f"No row stands out: the farthest, row {row + 1:,}, is {far} ({probability(evidence.p)} among {n:,} rows)."
        )
    many, reach = len(found.rows), ""
    if evidence.null is not None:
        reach = f"; chance alone takes one row of {n:,} to {evidence.null.upper / found.typical:.1f} times one time in "
        reach += "twenty"
    return (
        f"{many:,} of {n:,} rows {'does' if many == 1 else 'do'} not belong: {_rows(found)}. The farthest, row "
        f"{row + 1:,}, is {far}, {_driven(found)}{reach} ({probability(evidence.p)})."
    )


def _driven(found: Anomalies) -> str:
    share = found.contributions[0]
    top = [j for j in np.argsort(-share)[:3] if share[j] >= 0.1]
    named = listed([f"{found.columns[j]} ({percent(float(share[j]))} of the squared distance)" for j in top[:1]])
    more = listed([f"{found.columns[j]} ({percent(float(share[j]))})" for j in top[1:]]) if len(top) > 1 else ""
    return f"by {named}{' and ' + more if more else ''}" if top else "by many columns together"


def _rows(found: Anomalies) -> str:
    names = [f"{row + 1:,}" for row in found.rows]
    return f"{'row' if len(names) == 1 else 'rows'} {listed(names)}"


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


def listed(names: list[str]) -> str:
    """Names in a sentence, the first few where there are many.

    >>> listed(["a", "b"]), listed(list("abcdef"))
    ('a and b', 'a, b, c and 3 more')
    """
    if len(names) > _NAMED:
        return ", ".join(names[: _NAMED - 1]) + f" and {len(names) - _NAMED + 1} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

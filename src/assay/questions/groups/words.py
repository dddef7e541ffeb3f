"""Groups of rows in plain words."""

from __future__ import annotations

from collections.abc import Callable

from assay.asking.words import Words, chance, listed, one_line
from assay.questions.groups.answer import Groups
from assay.questions.groups.group_search import SIZES
from assay.views.axes.numbers import count, number, percent

WORDS = Words(
    "group of rows",
    "groups of rows",
    statistic="Standard deviations beyond chance",
    statistic_format=number,
    held_out="of the pairs that one half puts together, the other does too (the weakest group)",
    held_out_format=percent,
    stability="Found again of the weakest group",
    stability_format=percent,
    reading="On unseen rows: rows are halved and each half is grouped by itself; of the pairs that one half puts "
    "together, the share that the other half puts together too, in the group that does worst.",
)


def subject(found: Groups) -> str:
    """The columns that tell the groups apart."""
    names = [found.columns[j] for j in found.telling]
    return listed(names) if names else "the rows"


def line(found: Groups) -> str:
    """How many groups and what tells them apart, or why there are none."""
    if found.evidence.verdict not in ("supported", "suggestive"):
        if found.lump_p > 0.05:
            return f"No groups of rows: {_lump(found)} does as well"
        if found.torn:
            return "No groups of rows can be named: one half of the rows does not predict those of the other"
        return "No groups of rows: they lie along a curve or a gradient, with no gap between them"
    fall = "fall" if found.evidence.verdict == "supported" else "may fall"
    sizes = listed([count(int(size)) for size in found.sizes])
    names = [found.columns[j] for j in found.telling[:2]]

    def said(short: Callable[[str], str]) -> str:
        apart = f", told apart by {listed([short(name) for name in names])}" if names else ""
        return f"The rows {fall} into {found.k} groups of {sizes} rows{apart}"

    return one_line(said)


def sentence(found: Groups) -> str:
    """How many groups and which, whether a gap lies between on unseen rows, and whether half predicts half."""
    evidence = found.evidence
    if evidence.verdict not in ("supported", "suggestive"):
        return _none(found)
    fall = "fall" if evidence.verdict == "supported" else "may fall"
    said = f"The rows {fall} into {found.k} groups: {'; '.join(_group(found, g) for g in range(found.k))}."
    said += f" They are {found.way}, with a gap between that is there on unseen rows, too"
    said += f"; tables of the same correlations without groups do not come near ({chance(evidence)})."
    if evidence.held_out is not None and found.strength_range is not None:
        low, high = (percent(end) for end in found.strength_range)
        halvings = f"95% of halvings {low} to {high}" if low != high else "in all halvings"
        said += (
            f" One half of the rows predicts {percent(evidence.held_out)} of the pairs that the other half puts "
            f"together, in the weakest group ({halvings})."
        )
    if found.fewest < found.most:
        said += f" How many there are is not sure: {found.fewest} to {found.most}."
    if found.most == SIZES[-1]:
        said += f" More than {found.most} groups were not looked for."
    else:
        said += f" {found.most + 1} groups or more are not separable: unseen rows show no gap, or halves disagree."
    return said


def _none(found: Groups) -> str:
    if found.lump_p > 0.05:
        return f"No groups of rows stand out: {_lump(found)} does as well in about {percent(found.lump_p, 0)} of draws."
    if found.torn:
        return (
            "No groups of rows can be named: the rows are no round lump and have gaps, but one half of them does not "
            "predict the groups of the other."
        )
    return (
        "No groups of rows: the rows are no round lump, but no gap lies between the pieces they could be cut into. "
        "They lie along a curve or a gradient."
    )


def _lump(found: Groups) -> str:
    return "one lump" if len(found.columns) == 1 else "one lump with the same correlations"


def _group(found: Groups, g: int) -> str:
    said = f"{count(int(found.sizes[g]))} rows"
    name = found.names[g]
    same = [one.said() for one in found.coincide if one.group == g]
    if name:
        said += f" with {name}"
    return said + (f", nearly those of {listed(same)}" if same else "")

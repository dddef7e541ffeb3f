"""Groups of rows in plain words."""

from __future__ import annotations

import numpy as np

from assay.asking.words import Words, chance, listed
from assay.questions.groups.answer import Groups
from assay.questions.groups.group_search import SIZES
from assay.views.numbers import count, percent

WORDS = Words(
    "group of rows",
    "groups of rows",
    statistic="Share of variance between groups",
    statistic_format=percent,
    held_out="prediction strength",
    held_out_format=percent,
    stability="Of the weakest group comes back",
    stability_format=percent,
    reading="Prediction strength: rows are halved and each half is grouped by itself; of the pairs that one half puts "
    "together, the share that the other half puts together too, in the group that does worst.",
)


def subject(found: Groups) -> str:
    """The columns that tell the groups apart."""
    names = _telling(found)
    return listed(names) if names else "the rows"


def sentence(found: Groups) -> str:
    """How many groups, how far apart beside what chance cuts out of one lump, and whether half predicts half."""
    evidence = found.evidence
    space = "the columns" if found.axes == len(found.columns) else f"the {found.axes} largest components"
    size = f"explain {percent(found.explained)} of the variance of {space}"
    usual = percent(float(np.median(found.explained_by_chance)))
    by_chance = f"{found.k} cut out of tables with the same correlations and no groups, {usual} ({chance(evidence)})"
    unseen = ""
    if evidence.held_out is not None and found.strength_range is not None:
        low, high = found.strength_range
        unseen = (
            f" One half of the rows predicts {percent(evidence.held_out)} of the pairs that the other half puts "
            f"together, in the weakest group (95% of halvings {percent(low)} to {percent(high)})."
        )
    names = _telling(found)
    apart = f", which differ in {listed(names)}" if names else ""
    sizes = listed([count(int(size)) for size in found.sizes])
    if found.k == SIZES[-1]:
        unseen += f" More than {found.k} groups were not looked for."
    if evidence.verdict == "supported":
        return f"The rows fall into {found.k} groups, of {sizes} rows{apart}. They {size}; {by_chance}.{unseen}"
    if evidence.verdict == "suggestive":
        return f"The rows may fall into {found.k} groups, of {sizes} rows. They {size}; {by_chance}.{unseen}"
    return f"No groups of rows stand out: {found.k} {size}; {by_chance}."


def _telling(found: Groups) -> list[str]:
    """Columns whose groups differ by more than any grouping makes them differ, the largest difference first."""
    beyond = np.flatnonzero(found.column_q <= 0.05)
    order = beyond[np.argsort(-found.between[beyond], kind="stable")]
    return [found.columns[j] for j in order]

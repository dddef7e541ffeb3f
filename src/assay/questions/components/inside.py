"""Every tested component, folded away inside the card of all: what it carries, whether it comes back, its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.words import BADGES, chances, listed
from assay.questions.components.words import made_of
from assay.views.axes.numbers import MISSING, fraction, percent
from assay.views.html.elements import table
from assay.views.html.escape import escaped

if TYPE_CHECKING:
    from assay.questions.components.answer import Components


def inside(found: Components) -> str:
    """The table of tested components, as HTML.

    Args:
        found: the numbers behind the finding.
    """
    heads = [
        "Component", "Share", "On unseen rows", "95% interval", "Halves agree", "Direction known", "p", "q", "Verdict",
        "Made of",
    ]  # fmt: skip
    rows = [_row(found, j) for j in range(len(found.tested))]
    return table("Every component tested", heads, rows, numeric=range(8))


def _row(found: Components, j: int) -> list[str]:
    evidence = found.tested[j]
    interval = MISSING if evidence.interval is None else " to ".join(percent(end) for end in evidence.interval)
    return [
        str(j + 1),
        percent(float(found.share[j])),
        percent(evidence.held_out),
        interval,
        fraction(float(found.directions.halves[j])),
        fraction(evidence.stability),
        *(said.removeprefix("= ") for said in chances(evidence)),
        BADGES[evidence.verdict][1] + _with(found, j),
        escaped(_described(found, j)),
    ]


def _described(found: Components, j: int) -> str:
    if found.holds[j] and found.alone(j):
        return made_of(found, j)
    if found.holds[j]:
        return "a direction of a set that is known"
    known = j < found.n_real and found.directions.comes_back(j)
    return "comes back, but what it carries on unseen rows is not sure" if known else "the direction is not known"


def _with(found: Components, j: int) -> str:
    """With which others it comes back, where it does not alone."""
    if found.alone(j) or not found.holds[j]:
        return ""
    others = [str(i + 1) for i in range(*map(int, found.directions.together[j])) if i != j]
    return f", together with {listed(others)}"

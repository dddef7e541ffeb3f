"""Every tested component, folded away inside the card of all: what it carries, whether it comes back, its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.words import BADGES, chances
from assay.questions.components.words import made_of
from assay.views.elements import table
from assay.views.escape import escaped
from assay.views.numbers import MISSING, fraction, percent

if TYPE_CHECKING:
    from assay.questions.components.answer import Components


def inside(found: Components) -> str:
    """The table of tested components, as HTML.

    Args:
        found: the numbers behind the finding.
    """
    heads = [
        "Component", "Made of", "Share", "On unseen rows", "95% interval", "Halves agree", "Alignment", "p", "q",
        "Verdict",
    ]  # fmt: skip
    rows = [_row(found, j) for j in range(len(found.tested))]
    return table("Every component tested", heads, rows, numeric=range(2, 9))


def _row(found: Components, j: int) -> list[str]:
    evidence = found.tested[j]
    interval = MISSING if evidence.interval is None else " to ".join(percent(end) for end in evidence.interval)
    known = found.holds[j] or j >= found.n_real
    return [
        str(j + 1),
        escaped(made_of(found, j)) if known else "the direction is not known",
        percent(float(found.share[j])),
        percent(evidence.held_out),
        interval,
        fraction(float(found.directions.halves[j])),
        fraction(evidence.stability),
        *(said.removeprefix("= ") for said in chances(evidence)),
        BADGES[evidence.verdict][1] + _with(found, j),
    ]


def _with(found: Components, j: int) -> str:
    """With which others it comes back, where it does not alone."""
    first, last = map(int, found.directions.together[j])
    if last - first == 1 or not found.holds[j]:
        return ""
    return f", together with {' and '.join(str(i + 1) for i in range(first, last) if i != j)}"

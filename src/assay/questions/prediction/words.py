"""What can be predicted, in plain words."""

from __future__ import annotations

import numpy as np

from assay.asking.words import Words, chance, listed
from assay.questions.prediction.answer import COVERED, Prediction
from assay.views.numbers import number, percent

WORDS = Words(
    "prediction",
    "predictions",
    statistic="Share of variance explained on unseen rows",
    statistic_format=percent,
    held_out="of the variance explained",
    held_out_format=percent,
)


def subject(found: Prediction) -> str:
    """What is predicted, and from which columns above all."""
    return f"{found.target} from {listed([found.columns[j] for j in _telling(found)])}"


def sentence(found: Prediction) -> str:
    """How much of the target is known on unseen rows, how sure a single prediction is, and what chance does."""
    evidence = found.evidence
    ours = max(evidence.held_out or 0.0, 0.0)
    low, high = evidence.interval or (0.0, 0.0)
    size = f"{percent(ours)} of its variance (95% interval {percent(max(low, 0.0))} to {percent(max(high, 0.0))})"
    by_chance = ""
    if evidence.null is not None:
        reach = percent(max(evidence.null.upper, 0.0))
        by_chance = f"{found.drawn} reach {reach} one time in twenty ({chance(evidence)})"
    if found.classes:
        ends = " to ".join(percent(end) for end in found.right_interval or ())
        sure = (
            f"The class is right for {percent(found.right)} of them (95% interval {ends}); "
            f"the largest class is {percent(found.largest)}."
        )
    else:
        sure = f"Of new rows {percent(COVERED)} lie within {number(found.half_width)} of their prediction."
    if evidence.verdict in ("supported", "suggestive"):
        can = "can" if evidence.verdict == "supported" else "can perhaps"
        return (
            f"{found.target} {can} be predicted from the other columns: on unseen rows they explain {size}; "
            f"{by_chance}. {sure} Most of it comes from {listed([found.columns[j] for j in _telling(found)])}."
        )
    return (
        f"{found.target} cannot be predicted from the other columns by a line: on unseen rows they explain "
        f"{size}; {by_chance}."
    )


def _telling(found: Prediction) -> list[int]:
    """The columns with the largest standardised coefficients, at least half as large as the largest."""
    size = np.sqrt((found.coefficients**2).sum(axis=1))
    order = np.argsort(-size, kind="stable")
    return [int(j) for j in order if size[j] >= 0.5 * size[order[0]]]

"""What can be predicted, in plain words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.asking.words import Words, chance, listed
from assay.questions.prediction.answer import COVERED, Prediction
from assay.views.numbers import count, fraction, number, percent

WORDS = Words(
    "prediction",
    "predictions",
    statistic="Share of variance explained on unseen rows",
    statistic_format=percent,
    held_out="of the variance explained",
    held_out_format=percent,
)
_CLASS_WORDS = replace(
    WORDS,
    statistic="Fall of the squared error on unseen rows",
    held_out="less squared error than by the shares of classes",
)


def subject(found: Prediction) -> str:
    """What is predicted, and from which columns above all."""
    return f"{found.target} from {listed([found.columns[j] for j in _telling(found)])}"


def words_of(found: Prediction) -> Words:
    """How its evidence is spoken of: a class has no variance."""
    return _CLASS_WORDS if found.classes else WORDS


def sentence(found: Prediction) -> str:
    """How much of the target is known on unseen rows, how sure a single prediction is, and what chance does."""
    evidence = found.evidence
    ours = max(evidence.held_out or 0.0, 0.0)
    low, high = (percent(max(end, 0.0)) for end in evidence.interval or (0.0, 0.0))
    size, interval = percent(ours), f"(95% interval {low} to {high})"
    by_chance = ""
    if evidence.null is not None:
        reach = percent(max(evidence.null.upper, 0.0))
        by_chance = f"{found.drawn} reach {reach} one time in twenty ({chance(evidence)})"
    if evidence.verdict not in ("supported", "suggestive"):
        known = f"they take {size} off the squared error {interval} of" if found.classes else f"they explain {size} of"
        what = "knowing the shares of classes alone" if found.classes else f"its variance {interval}"
        return (
            f"{found.target} cannot be predicted from the other columns by a line: on unseen rows {known} {what}; "
            f"{by_chance}."
        )
    can = "can" if evidence.verdict == "supported" else "can perhaps"
    telling = f"Most of it comes from {listed([found.columns[j] for j in _telling(found)])}."
    opening = f"{found.target} {can} be predicted from the other columns: on unseen rows"
    if found.classes:
        error = f"Against knowing the shares of classes alone the squared error falls by {size} {interval}"
        return f"{opening} {_classes(found)}. {error}; {by_chance}. {telling}"
    sure = f"Of new rows {percent(COVERED)} lie within {number(found.half_width)} of their prediction."
    return f"{opening} they explain {size} of its variance {interval}; {by_chance}. {sure} {telling}"


def _classes(found: Prediction) -> str:
    """How often the class called is right, beside always calling the largest one, and how many of the rarest are found.

    Right for most rows is no success where one class has most rows.
    """
    low, high = found.right_interval or (0.0, 1.0)
    right = f"the class called is right for {percent(found.right)} (95% interval {percent(low)} to {percent(high)})"
    largest = f"the largest class is {percent(found.largest)}"
    better = "" if low > found.largest else ", so calling that one always would do as well"
    if found.confusion is None:
        return f"{right}; {largest}{better}"
    counts = found.confusion.matrix.sum(axis=1)
    rarest = int(np.where(counts > 0, counts, counts.max() + 1).argmin())
    hits = f"{count(int(found.confusion.matrix[rarest, rarest]))} of {count(int(counts[rarest]))}"
    told = f"{hits} of the rarest class, {found.classes[rarest]}, are found"
    area = "" if found.roc is None else f", area under the ROC curve {fraction(found.roc.area)}"
    balanced = f"balanced accuracy {percent(found.confusion.balanced_accuracy)}"
    return f"{right}; {largest}{better}; {told}; {balanced}{area}"


def _telling(found: Prediction) -> list[int]:
    """The columns with the largest standardised coefficients, at least half as large as the largest."""
    size = np.sqrt((found.coefficients**2).sum(axis=1))
    order = np.argsort(-size, kind="stable")
    return [int(j) for j in order if size[j] >= 0.5 * size[order[0]]]

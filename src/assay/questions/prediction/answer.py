"""What can be predicted, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.classification import Calibration, Confusion, Roc
from assay.evidence.design import Design
from assay.evidence.evidence import Evidence, Verdict
from assay.views.view import View

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

COVERED = 0.9  # share of new rows within the interval of their prediction
_LISTED = 1000  # columns, by their coefficients, that a program is given


def drawn(design: Design) -> str:
    """What chance does to the target, by how rows depend on each other."""
    if design.kind == "time":
        return "targets shifted in time" if design.forward else "targets of exchanged runs of rows"
    return {
        "independent": "permuted targets",
        "groups": "targets of exchanged groups",
        "place": "targets shifted over the map",
    }[design.kind]


@dataclass(frozen=True, slots=True, eq=False)
class Prediction(Answer):
    """How well a column can be predicted.

    Attributes:
        target: its name.
        classes: names of its classes; empty where it is a number.
        columns: (p,) the numbers it is predicted from.
        truth: (m,) its values, or the numbers of the classes, in the rows that were judged: all, but for the first in
            time.
        predicted: (m,) each by rows that it had no part in, the mean over repeated folds.
        probability: (m, g) of the classes, likewise; (m, 0) for a number.
        coefficients: (p, q) of standardised columns, fitted to all rows; one column for a number, else one a class.
        strengths: (k,) penalties tried.
        chosen: (repeats, folds) numbers of those chosen.
        half_width: of the interval that holds 90% of new rows; NaN for classes.
        right: share of the rows whose class was predicted right; NaN for a number.
        right_interval: 95% interval of this share; None for a number.
        largest: share of the largest class; NaN for a number.
        by_chance: (draws,) what targets drawn by chance reach.
        drawn: how they are drawn, in words.
        confusion: of the classes; None for a number.
        roc, calibration: of the second of two classes; None otherwise.
        evidence: on the prediction.
    """

    target: str
    classes: tuple[str, ...]
    columns: tuple[str, ...]
    truth: Array
    predicted: Array
    probability: Array
    coefficients: Array
    strengths: Array
    chosen: Codes
    half_width: float
    right: float
    right_interval: tuple[float, float] | None
    largest: float
    by_chance: Array
    drawn: str
    confusion: Confusion | None
    roc: Roc | None
    calibration: Calibration | None
    evidence: Evidence

    @property
    def wording(self) -> str:
        """The question, with the target named."""
        return f"Can {self.target} be predicted?"

    @property
    def tests(self) -> int:
        """One, of the whole procedure."""
        return 1

    @property
    def rule(self) -> str:
        """How looks are corrected for."""
        return f"{self.looks} penalties tried, chosen anew on each of {len(self.by_chance)} {self.drawn}"

    def findings(self) -> tuple[Finding, ...]:
        """One."""
        from assay.questions.prediction.words import sentence, subject, words_of

        return (Finding("prediction", "prediction", subject(self), sentence(self), self.evidence, words_of(self)),)

    def headline(self, verdict: Verdict) -> str:
        """The prediction, where it has this verdict."""
        return f"the prediction of {self.target}" if verdict == self.evidence.verdict else ""

    def views(self, page: Page | None = None) -> list[View]:
        """Prediction against truth, or classes against each other, and what it rests on."""
        from assay.questions.prediction.views import views

        return views(self)

    def numbers(self) -> dict[str, Any]:
        """What the prediction rests on, and how sure it is."""
        size = np.sqrt((self.coefficients**2).sum(axis=1))
        largest = np.argsort(-size, kind="stable")[:_LISTED]
        sure = (
            {
                "classes": list(self.classes),
                "right": self.right,
                "right_interval": self.right_interval and list(self.right_interval),
                "largest_class": self.largest,
                "balanced_accuracy": None if self.confusion is None else self.confusion.balanced_accuracy,
                "area_under_roc": None if self.roc is None else self.roc.area,
                "confusion": None if self.confusion is None else self.confusion.matrix.tolist(),
            }
            if self.classes
            else {"covers": COVERED, "half_width": self.half_width if np.isfinite(self.half_width) else None}
        )
        return {
            "target": self.target,
            **sure,
            "coefficients": {self.columns[j]: self.coefficients[j].tolist() for j in largest},
        }

    def stricter(self, factor: float, alpha: float) -> Prediction:
        """The same where other questions were asked too."""
        return replace(self, evidence=self.evidence.stricter(factor, alpha, effect_holds=self._holds))

    @property
    def _holds(self) -> bool:
        return self.evidence.held_out is not None and self.evidence.held_out > 0.0

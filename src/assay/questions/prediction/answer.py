"""What can be predicted, as an answer."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.arrays import Array, Indices
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.classification import Calibration, Confusion, Roc
from assay.evidence.design import Design
from assay.evidence.evidence import Evidence, Verdict
from assay.questions.prediction.growth import Growth
from assay.questions.prediction.leaks import Leak
from assay.questions.prediction.machines import Kind
from assay.questions.prediction.matters import Matters
from assay.questions.prediction.peer import Peer
from assay.questions.prediction.sure import COVERED, Sets
from assay.questions.prediction.unseen import LearnedRule
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa

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
        coefficients: (p, q) of the line through all rows, of standardised columns; one column for a number, else one
            a class.
        strengths: (k,) penalties of the line that were tried.
        chosen: (repeats, folds) numbers of those chosen.
        half_width: of the interval that holds 90% of new rows; NaN for classes.
        right: share of the rows whose class was predicted right; NaN for a number.
        right_interval: 95% interval of this share; None for a number.
        largest: share of the largest class; NaN for a number.
        by_chance: (draws,) what targets drawn by chance reach.
        drawn: how they are drawn, in words.
        confusion: of the classes; None for a number.
        roc: of the second of two classes; None otherwise.
        calibration: of the probability of the second of two classes, or that the class called of several is right;
            None for a number.
        sets: of classes that hold the true one; None for a number.
        machine: the simplest that none of the others surely beats.
        reached: the share that each kind of machine explains alone, on unseen rows; of classes the share called right.
        learned: what the machine chosen most often learns from all rows.
        peer: what boosted trees reach; None where rows are too few.
        matters: which columns it rests on; None where nothing holds.
        growth: what more rows would bring; None where nothing holds or rows are too few.
        evidence: on the prediction.
        leaks: columns that alone give all.
        without: the prediction without these; None where there are none, or no others.
        rows: (m,) numbers of the rows that were judged among those in use, from 0; empty where they are not known.
        total: rows there are, where it was learned from a part of them that was drawn fairly; else 0.
    """

    target: str
    classes: tuple[str, ...]
    columns: tuple[str, ...]
    truth: Array
    predicted: Array
    probability: Array
    coefficients: Array
    strengths: Array
    chosen: Indices
    half_width: float
    right: float
    right_interval: tuple[float, float] | None
    largest: float
    by_chance: Array
    drawn: str
    confusion: Confusion | None
    roc: Roc | None
    calibration: Calibration | None
    sets: Sets | None
    machine: Kind
    reached: dict[Kind, float]
    learned: LearnedRule
    peer: Peer | None
    matters: Matters | None
    growth: Growth | None
    evidence: Evidence
    leaks: tuple[Leak, ...] = ()
    without: Prediction | None = None
    total: int = 0
    rows: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))

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
        return f"the best of {self.looks} rules counts as one test, repeated on {len(self.by_chance)} {self.drawn}"

    def findings(self) -> tuple[Finding, ...]:
        """One."""
        from assay.questions.prediction.words import line, sentence, subject, words_of

        return (
            Finding(
                "prediction", "prediction", subject(self), sentence(self), self.evidence, words_of(self),
                line=line(self),
            ),
        )  # fmt: skip

    def headline(self, verdict: Verdict) -> str:
        """The prediction, where it has this verdict."""
        return f"the prediction of {self.target}" if verdict == self.evidence.verdict else ""

    def views(self, page: Page | None = None) -> list[View]:
        """Prediction against truth, or classes against each other, and what it rests on."""
        from assay.questions.prediction.views import views

        return views(self, page or Page([self], include_rows=True))

    def of_rows(self) -> tuple[str, ...]:
        """Tables of all rows, or of a fair sample."""
        return ("rows",) if self.total else ()

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.prediction.tables import tables

        return tables(self)

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
                "sets": self.sets and {"covers": COVERED, "size": self.sets.size, "single": self.sets.single},
                "confusion": None if self.confusion is None else self.confusion.matrix.tolist(),
            }
            if self.classes
            else {"covers": COVERED, "half_width": self.half_width if np.isfinite(self.half_width) else None}
        )
        return {
            "target": self.target,
            **sure,
            "of_rows": self.total or self.evidence.n,
            "machine": self.machine,
            "reached": dict(self.reached),
            "boosted_trees": self.peer
            and {"explained": self.peer.share, "right": self.peer.right, "more": list(astuple(self.peer.more))},
            "probable_leaks": [leak.name for leak in self.leaks],
            "without_leaks": self.without and self.without.evidence.held_out,
            "lost_without": self._lost(),
            "twice_the_rows": self.growth and [self.growth.twice, self.growth.low, self.growth.high],
            "coefficients": {self.columns[j]: self.coefficients[j].tolist() for j in largest},
        }

    def stricter(self, factor: float, level: float) -> Prediction:
        """The same where other questions were asked too."""
        return replace(self, evidence=self.evidence.stricter(factor, level, effect_holds=self._holds))

    def _lost(self) -> list[dict[str, Any]]:
        if (found := self.matters) is None:
            return []
        listed = zip(found.names, found.loss, found.interval, strict=True)
        return [
            {"columns": list(names), "lost": float(loss), "interval": ends.tolist()} for names, loss, ends in listed
        ]

    @property
    def _holds(self) -> bool:
        return self.evidence.held_out is not None and self.evidence.held_out > 0.0

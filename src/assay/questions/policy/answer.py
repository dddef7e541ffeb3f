"""What is best to do, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.models.decision.mdp.learning.learned import Learned
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Policy(Answer):
    """The policy that trials teach, beside what was done in them.

    Attributes:
        evidence: that it is worth more than what was done, on trials that it was not learned from.
        learned: the process and its best policy, from all trials.
        chance: (draws,) the same gain where actions do not matter.
        sizes: (s,) numbers of trials learned from.
        curve: (repeats, s) what policies of so many trials are worth on the other half.
        level: level of the study.
        factor: what other questions of the study cost.
    """

    evidence: Evidence
    learned: Learned = field(repr=False)
    chance: Array
    sizes: Whole
    curve: Array
    level: float
    factor: float = 1.0

    @property
    def clear(self) -> NDArray[np.bool_]:
        """Of the states that are no ends, those in which the choice can be told from every other action."""
        told = self.learned.choices.q * self.factor <= self.level
        other = np.array([action is not None for action in self.learned.choices.others], np.bool_)
        return np.asarray(told & other & (self.evidence.verdict == "supported"))

    @property
    def tests(self) -> int:
        """One of the policy, and one of each state with several actions."""
        return 1 + sum(action is not None for action in self.learned.choices.others)

    @property
    def rule(self) -> str:
        """How tests are corrected for."""
        return (
            f"one policy, against {len(self.chance)} exchanges of actions; states are told apart only where it is "
            "supported, by Benjamini and Hochberg over all states"
        )

    def stricter(self, factor: float, level: float) -> Policy:
        """The same where other questions were asked too."""
        from assay.questions.policy.test import effect_holds

        judged = self.evidence.stricter(factor, level, effect_holds=effect_holds(self.evidence))
        return replace(self, evidence=judged, factor=self.factor * factor, level=level)

    def findings(self) -> tuple[Finding, ...]:
        """One: whether the policy is worth more than what was done."""
        from assay.questions.policy.words import WORDS, line, sentence

        return (Finding("policy", "policy", "the best actions", sentence(self), self.evidence, WORDS, line=line(self)),)

    def headline(self, verdict: Verdict) -> str:
        """That there is a better policy."""
        return "a policy better than what was done" if self.evidence.verdict == verdict else ""

    def views(self, page: Page | None = None) -> list[View]:
        """The policy, what can be told apart in it, and what more trials would give."""
        from assay.questions.policy.views import views

        return views(self)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.policy.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """The policy with its evidence, as `assay mdp --json` writes it."""
        told = self.learned.as_dict()
        for entry in told["states"]:
            entry.pop("distinguishable", None)
        clear = dict(zip(map(str, self.learned.choices.states), self.clear.tolist(), strict=True))
        for entry in told["states"]:
            if entry["state"] in clear:
                entry["supported"] = clear[entry["state"]]
        return {
            **told,
            "curve": [
                {"trials": int(size), "value": float(values.mean())}
                for size, values in zip(self.sizes, self.curve.T, strict=True)
            ],
        }

"""Several questions asked of one table: by how much each of them must be read more strictly.

Questions are chosen by Benjamini and Hochberg on the best p of each; inside a chosen one tests are made at level R / m,
with R of m questions chosen. So the chance of any false claim in a table without structure stays at level, and a
question costs the others nothing where both find something.

Reference: Benjamini and Bogomolov, Selective inference on multiple families of hypotheses, JRSS B 76 (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Strictness:
    """What several questions cost each other.

    Attributes:
        asked: how many questions were tested, m.
        chosen: how many of them found something by their best p, R; at least 1, as the best one is read in any case.
        found: whether any did.
    """

    asked: int
    chosen: int
    found: bool

    @property
    def factor(self) -> float:
        """What every p of every question is to be multiplied with: m / R."""
        return self.asked / self.chosen if self.asked else 1.0

    @property
    def words(self) -> str:
        """What was done to every p and why, then the exact rule; empty where a single question was tested.

        >>> Strictness(5, 3, True).words.split(". ")[0]
        'Every p is multiplied by 1.67, because 5 questions on structure were asked and 3 of them found something'
        >>> Strictness(2, 1, False).words.split(". ")[0]
        'Every p is multiplied by 2, because 2 questions on structure were asked and none of them found anything'
        """
        if self.asked < 2:
            return ""
        some = f"{self.chosen if self.chosen < self.asked else 'all'} of them" if self.found else "none of them"
        thing = "something" if self.found else "anything"
        asked = f"{self.asked} questions on structure were asked and {some} found {thing}"
        larger = f"multiplied by {self.factor:.3g}" if self.factor > 1.0 else "left as it is"
        return (
            f"Every p is {larger}, because {asked}. The rule: questions that found something are chosen by Benjamini "
            "and Hochberg on the smallest p of each; then every p is multiplied by questions asked / questions chosen, "
            f"{self.asked} / {self.chosen} (Benjamini and Bogomolov 2014). So data without any structure lead to a "
            "false claim no more often than the level says, however many questions are asked."
        )


def strictness(best: Sequence[float | None], level: float = 0.05) -> Strictness:
    """How strictly every question is to be read.

    Args:
        best: the smallest valid p of each question; None for one that could not be tested.
        level: level of the study.

    >>> [strictness(best).factor for best in ([.01, .04], [.01, .5], [.5, .6], [.04, None])]
    [1.0, 2.0, 2.0, 1.0]
    """
    tested = sorted(p for p in best if p is not None)
    m = len(tested)
    chosen = max((rank for rank, p in enumerate(tested, 1) if p <= level * rank / m), default=0)
    return Strictness(m, max(chosen, 1), chosen > 0)

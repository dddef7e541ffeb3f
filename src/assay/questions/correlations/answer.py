"""Pairs of columns that go together, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.models.correlation.dependence.dependence import Dependence
from assay.questions.correlations.closer import Closer, as_dicts
from assay.questions.correlations.fcr import chosen_intervals
from assay.questions.correlations.given import GivenThird
from assay.summary.pairs.pairs import Pairs
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa

_LISTED = 1000  # pairs a program is given
_AGAIN = 0.5  # share of halves that must show a pair


@dataclass(frozen=True, slots=True, eq=False)
class Correlations(Answer):
    """Pairs of columns that go together.

    Attributes:
        found: every pair tested, with matrices where they are not too large.
        n_pairs: how many pairs stand at the level of the study: the first ones of `found.pairs`, the strongest on
            unseen rows first.
        again: share of halves of the rows that show these by themselves.
        order: (d,) columns so that strongly linked ones are neighbours; None where they are too many to draw.
        factor: what every q was multiplied with, for the other questions of the study.
        evidence: on the pairs as a whole, and the size of the strongest one.
        closer: shapes of the strongest pairs, and what third columns do to them.
        of_columns: how many columns there are, where they are too many to test all their pairs and those of `found`
            were drawn fairly; else 0.
    """

    found: Dependence
    n_pairs: int
    again: float
    order: Indices | None
    factor: float
    evidence: Evidence
    closer: Closer = field(default_factory=Closer)
    of_columns: int = 0

    @property
    def q(self) -> Array:
        """(k,) of the pairs in `found.pairs`, corrected for all looks of the study."""
        return np.minimum(self.found.pairs.q * self.factor, 1.0)

    @property
    def strongest_interval(self) -> tuple[float, float] | None:
        """95% interval of the strongest pair's rank correlation in other rows, corrected for its having been chosen.

        None where no pair stands, or the strongest has a category, a lag, or is not monotone.
        """
        return self.evidence.interval

    @property
    def intervals(self) -> tuple[Array, Array]:
        """(k,) ends of intervals of `found.pairs`, corrected for having been chosen; NaN where none is known."""
        low, high = chosen_intervals(self.found.pairs, self.n_pairs, self.found.tested)
        if self.n_pairs and self.strongest_interval is not None:
            low[0], high[0] = self.strongest_interval
        return low, high

    @property
    def pairs(self) -> Any:
        """Every pair kept, as a frame: those that stand first, the strongest on unseen rows before others."""
        return self.to_frame("pairs")

    @property
    def rule(self) -> str:
        """How tests are corrected for."""
        thirds = f"; pairs with a third column by Bonferroni over {self.closer.looks:,}" if self.closer.looks else ""
        drawn = ""
        if self.of_columns:
            drawn = f" of {len(self.found.columns):,} columns, drawn fairly of {self.of_columns:,}"
        return f"over all pairs{drawn} by Benjamini and Hochberg{thirds}"

    @property
    def tests(self) -> int:
        """Every pair, and pairs with a third column."""
        return self.looks + self.closer.looks

    def turned(self, level: float = 0.05) -> tuple[GivenThird, ...]:
        """Pairs that a third column turns round or away, the surest first, corrected for all looks of the study."""
        return self.closer.turned(self.factor, level)

    def findings(self) -> tuple[Finding, ...]:
        """One for all pairs."""
        from assay.questions.correlations.words import line, sentence, subject, words_of

        return (
            Finding(
                "correlations", "correlations", subject(self), sentence(self), self.evidence, words_of(self),
                line=line(self),
            ),
        )  # fmt: skip

    def headline(self, verdict: Verdict) -> str:
        """The pairs that stand."""
        from assay.questions.correlations.words import WORDS

        return WORDS.several(max(self.n_pairs, 1)) if verdict == self.evidence.verdict else ""

    def offers(self, page: Page) -> None:
        """What was found of each pair that is listed."""
        from assay.questions.correlations.words import told_of_pairs

        page.pairs = told_of_pairs(self, page.level)

    def views(self, page: Page | None = None) -> list[View]:
        """The matrix of correlations."""
        from assay.questions.correlations.views import views

        return views(self, page or Page([self], include_rows=True))

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.correlations.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """The pairs that stand."""
        listed = range(min(self.n_pairs, _LISTED, len(self.found.pairs)))
        low, high = self.intervals
        return {
            "n_pairs": self.n_pairs,
            "columns_tested": len(self.found.columns),
            "of_columns": self.of_columns or len(self.found.columns),
            "pairs": [self._numbers_of(k, (float(low[k]), float(high[k]))) for k in listed],
            "shapes": as_dicts(self.closer, self.found.columns),
            "given": [one.as_dict(self.found.columns) for one in self.turned()],
        }

    def _numbers_of(self, k: int, interval: tuple[float, float]) -> dict[str, Any]:
        pairs, names = self.found.pairs, self.found.columns
        return {
            "columns": [names[pairs.first[k]], names[pairs.second[k]]],
            "rank": float(pairs.rank[k]),
            "strength": float(pairs.strength[k]),
            "strength_name": str(pairs.strength_name[k]),
            "unseen": _known(float(pairs.unseen[k])),
            "interval": list(interval) if np.isfinite(interval).all() else None,
            "p": float(pairs.p[k]),
            "q": float(self.q[k]),
            "lag": int(pairs.lag[k]),
            "monotone": bool(pairs.monotone[k]),
            "again": _known(float(pairs.again[k])),
        }

    def stricter(self, factor: float, level: float) -> Correlations:
        """The same where other questions were asked too: q times the factor, and the pairs that still stand."""
        own = level / (self.factor * factor)
        pairs = in_order(self.found.pairs, own)
        found = replace(self.found, pairs=pairs)
        stands = standing(pairs, own)
        n_pairs = found.significant(own) - int((pairs.q <= own).sum()) + int(stands.sum())
        evidence = self.evidence.stricter(factor, level, effect_holds=holds(pairs, self.evidence.p))
        if not stands.any() and evidence.interval is not None:  # what no longer stands has no interval either
            evidence = replace(evidence, interval=None)
        return replace(self, factor=self.factor * factor, found=found, n_pairs=n_pairs, evidence=evidence)


def standing(pairs: Pairs, level: float) -> NDArray[np.bool_]:
    """(k,) pairs that stand at a own: beyond chance, and shown by halves of the rows, as far as these were asked."""
    return np.asarray((pairs.q <= level) & ~(pairs.again < _AGAIN))


def smallest(pairs: Pairs, level: float) -> float:
    """The q of the least likely pair that halves show too; of any, where none of those is below the own."""
    shown = pairs.q[~(pairs.again < _AGAIN)].min(initial=1.0)
    return float(shown if shown <= level else pairs.q.min())


def holds(pairs: Pairs, q: float | None) -> bool:
    """Whether halves show a pair of this q."""
    return bool(((pairs.q == q) & ~(pairs.again < _AGAIN)).any())


def in_order(pairs: Pairs, level: float) -> Pairs:
    """Those that stand first, the strongest on unseen rows before others; then the least likely by chance.

    Never by p among those that stand: with many rows these are 0 for most.
    """
    stands = standing(pairs, level)
    size = np.abs(np.where(np.isnan(pairs.unseen), 0.0, pairs.unseen))
    return pairs.taken(
        np.lexsort((np.where(stands, -np.abs(pairs.strength), pairs.q), np.where(stands, -size, 0.0), ~stands))
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value

"""Themes of texts with their evidence, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.evidence.evidence import Evidence, Verdict
from assay.views.html.view import View

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Theme:
    """One theme: words that are used together, against words that are used instead.

    Attributes:
        towards, away: words at either end, the strongest first.
        evidence: of this theme.
        holds: whether unseen documents vary more along it than chance gives.
    """

    towards: tuple[str, ...]
    away: tuple[str, ...]
    evidence: Evidence
    holds: bool


@dataclass(frozen=True, slots=True, eq=False)
class ColumnThemes:
    """The themes of one column of texts, or of one folder.

    Attributes:
        column: its name.
        texts: how many there are.
        drawn: how many of them were read.
        looked: how many said something: not a copy, and two words or more that others have too.
        repeated: how many repeat others.
        terms: different words that were compared.
        tested: the themes tested in order; the last one is not beyond chance, unless all are.
        places: (m, 2) where some texts lie along the first two themes; (m, 1) or (m, 0) where there are fewer.
        rows: (m,) their numbers, from 1.
        label: what colours them, such as a column of categories; empty for none.
        labels: (m,) its value for each.
        words, at: words that carry the two themes, and (w, 2) where they pull.
    """

    column: str
    texts: int
    drawn: int
    looked: int
    repeated: int
    terms: int
    tested: tuple[Theme, ...]
    places: Array
    rows: NDArray[np.intp]
    label: str
    labels: tuple[str, ...]
    words: tuple[str, ...]
    at: Array

    def having(self, verdict: Verdict) -> list[Theme]:
        """Themes with this verdict, in order."""
        return [theme for theme in self.tested if theme.evidence.verdict == verdict]

    @property
    def best(self) -> Verdict:
        """The verdict of the first theme, which is the best there is."""
        return self.tested[0].evidence.verdict

    @property
    def evidence(self) -> Evidence:
        """Of all themes with the best verdict, as one: the p of the weakest, and what it is on unseen texts."""
        return self.having(self.best)[-1].evidence if self.best != "not testable here" else self.tested[0].evidence


@dataclass(frozen=True, slots=True, eq=False)
class TextThemes(Answer):
    """Themes of every column of texts.

    Attributes:
        columns: one entry a column of texts.
    """

    columns: tuple[ColumnThemes, ...]

    @property
    def evidence(self) -> Evidence:
        """Of the strongest theme of all columns."""
        first = [column.tested[0].evidence for column in self.columns]
        return min(first, key=lambda evidence: 2.0 if evidence.p is None else evidence.p)

    @property
    def looks(self) -> int:
        """Columns of texts."""
        return len(self.columns)

    @property
    def tests(self) -> int:
        """Themes tested, in each column up to the first that fell."""
        return sum(len(column.tested) for column in self.columns)

    @property
    def rule(self) -> str:
        """How tests are corrected for."""
        several = "" if self.looks == 1 else f"every p times {self.looks}, for as many columns of texts; "
        return f"{several}themes are tested one after another, stopped at the first failure"

    def stricter(self, factor: float, level: float) -> TextThemes:
        """The same where other questions were asked too; what follows a theme that falls, falls too."""
        return replace(self, columns=tuple(_stricter(column, factor, level) for column in self.columns))

    def findings(self) -> tuple[Finding, ...]:
        """One for each column of texts."""
        from assay.questions.themes.words import WORDS, inside, line, sentence

        return tuple(
            Finding(f"themes-{j + 1}", "theme", one.column, sentence(one), one.evidence, WORDS, inside(one), line(one))
            for j, one in enumerate(self.columns)
        )

    def headline(self, verdict: Verdict) -> str:
        """How many themes have this verdict."""
        from assay.questions.themes.words import headline

        return headline(self, verdict)

    def views(self, page: Page | None = None) -> list[View]:
        """The texts along their first two themes, and the words of each theme."""
        from assay.questions.themes.views import views

        return views(self)

    def tables(self) -> dict[str, pa.Table]:
        """The numbers behind the findings, complete."""
        from assay.questions.themes.tables import tables

        return tables(self)

    def numbers(self) -> dict[str, Any]:
        """The words of each theme, with its evidence."""
        return {
            "columns": [
                {
                    "column": one.column,
                    "texts": one.texts,
                    "read": one.drawn,
                    "looked_at": one.looked,
                    "repeated": one.repeated,
                    "words_compared": one.terms,
                    "themes": [
                        {"towards": list(t.towards), "away": list(t.away), "evidence": t.evidence.as_dict()}
                        for t in one.tested
                    ],
                }
                for one in self.columns
            ]
        }


def _stricter(column: ColumnThemes, factor: float, level: float) -> ColumnThemes:
    tested, standing = [], True
    for theme in column.tested:
        standing = standing and theme.holds
        evidence = theme.evidence.stricter(factor, level, effect_holds=standing)
        standing = standing and evidence.q is not None and evidence.q <= level
        tested.append(replace(theme, evidence=evidence))
    return replace(column, tested=tuple(tested))

"""Do the texts share themes beyond chance?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Question

if TYPE_CHECKING:
    from assay.asking.table import Table
    from assay.questions.themes.answer import TextThemes


class _Themes(Question):
    name = "themes"
    wording = "Do the texts share themes beyond chance?"
    reading = (
        "A theme is a set of words that are used together, against words that are used instead. Chance "
        "exchanges words between texts, so long texts and common words make no theme."
    )
    guide = "guide/lsi.md"
    priority = 65

    def concerns(self, table: Table) -> bool:
        return bool(table.texts)

    def ask(self, table: Table, context: Context) -> TextThemes:
        from assay.questions.themes.test import text_themes

        return text_themes(table, level=context.level, seed=context.seed, progress=context.told("Themes"))


QUESTION = _Themes()

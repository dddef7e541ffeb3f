"""The texts along their first two themes with the words that pull them, and the words of every theme."""

from __future__ import annotations

from assay.asking.words import SURVIVED
from assay.questions.themes.answer import ColumnThemes, TextThemes, Theme
from assay.questions.themes.words import inside
from assay.views.axes.numbers import count
from assay.views.html.escape import visible
from assay.views.html.view import View
from assay.views.rows.documents import documents_map

_ONE = "They share one theme, which is no plane to draw them in."


def views(found: TextThemes) -> list[View]:
    """A map for each column of texts that shares two themes; a table for one that shares one; a remark for none.

    Args:
        found: the numbers behind the findings.
    """
    return [_view(j, column) for j, column in enumerate(found.columns)]


def _view(j: int, found: ColumnThemes) -> View:
    name = f"themes-{j + 1}"
    standing = [theme for theme in found.tested if theme.evidence.verdict in SURVIVED]
    if not standing:
        told = f"No map of the texts in {visible(found.column)} is drawn: they share no theme that shows."
        return View(name, caption=told, about="rows")
    if len(standing) < 2:
        return View(
            name,
            f"The theme in {visible(found.column)}",
            caption=_ONE,
            numbers=inside(found),
            about="rows",
        )
    figure = documents_map(
        found.places, found.rows, found.words, found.at, groups=found.labels or None,
        axes=(_axis(1, found.tested[0]), _axis(2, found.tested[1])),
    )  # fmt: skip
    coloured = f" Coloured by {visible(found.label)}." if found.label else ""
    caption = (
        f"Each of {count(len(found.rows))} texts where its words put it along the first two themes, and the words that "
        f"pull most, each in the direction in which it pulls.{coloured} A text with few of these words lies near the "
        "middle. Texts themselves are not shown."
    )
    key = (("dot soft", "a text"),)
    return View(
        name, f"The texts in {visible(found.column)} along two themes", figure, key, caption, inside(found), "rows"
    )


def _axis(number: int, theme: Theme) -> str:
    low, high = (visible(" ".join(words[:2]), 24) for words in (theme.away, theme.towards))
    return f"theme {number}: {low} ← → {high}"

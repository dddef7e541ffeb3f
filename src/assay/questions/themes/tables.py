"""Themes as tables: the words of each, and where texts and words lie along the first two."""

from __future__ import annotations

import pyarrow as pa

from assay.data.as_frames import records_of
from assay.questions.themes.answer import TextThemes

_WORDS = {"column": str, "theme": int, "verdict": str, "p": float, "q": float, "end": str, "place": int, "word": str}


def tables(found: TextThemes) -> dict[str, pa.Table]:
    """The numbers behind the findings.

    Args:
        found: the answer.
    """
    words = [
        {
            "column": one.column, "theme": t, "verdict": theme.evidence.verdict, "p": theme.evidence.p,
            "q": theme.evidence.q, "end": end, "place": place, "word": word,
        }
        for one in found.columns
        for t, theme in enumerate(one.tested, 1)
        for end, some in (("towards", theme.towards), ("away", theme.away))
        for place, word in enumerate(some, 1)
    ]  # fmt: skip
    texts = [
        {"row_read": int(row), "column": one.column, **{f"theme_{j + 1}": float(x) for j, x in enumerate(place)}}
        for one in found.columns
        for row, place in zip(one.rows, one.places, strict=True)
    ]
    pulls = [
        {"column": one.column, "word": word, **{f"theme_{j + 1}": float(x) for j, x in enumerate(place)}}
        for one in found.columns
        for word, place in zip(one.words, one.at, strict=True)
    ]
    along: dict[str, type] = {"theme_1": float, "theme_2": float}
    return {
        "words": records_of(words, _WORDS),
        "texts": records_of(texts, {"row_read": int, "column": str, **along}),
        "word_places": records_of(pulls, {"column": str, "word": str, **along}),
    }

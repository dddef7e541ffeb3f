"""One figure or table with its words, ready for a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

About: TypeAlias = Literal["columns", "rows", "table"]


@dataclass(frozen=True, slots=True)
class View:
    """One figure with its words; without a figure a block of tables, or a remark.

    Attributes:
        name: used in ids.
        title: what it shows.
        figure: a Bokeh figure; None for a block.
        key: (class of the swatch, words) for what is drawn.
        caption: what to see in it, plain text.
        numbers: the numbers behind it, as HTML.
        about: where it belongs: with the columns, with the rows, or with the first look at the table.
        reading: how to read it, as HTML that is folded away; a page adds it to the first figure of an answer.
    """

    name: str
    title: str = ""
    figure: Any = None
    key: tuple[tuple[str, str], ...] = ()
    caption: str = ""
    numbers: str = ""
    about: About = "columns"
    reading: str = ""

"""Ratings: who rated what, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.asking.card import DataCard
from assay.asking.subject import Subject
from assay.data.source import Source, is_numeric
from assay.errors import ParameterError
from assay.study.forms.form import Form, is_name, name_of, named
from assay.summary.ratings.ratings import Ratings
from assay.summary.ratings.ratings_columns import ITEM, RATING, USER, WHEN
from assay.views.axes.numbers import counted, percent

_OTHERS = 1  # columns beside the known ones that a table of ratings may have
_OPTIONS = ("user", "item", "rating", "when", "repeated")


class RatingsForm(Form[Ratings]):
    """Ratings of items by users."""

    name = "ratings"
    called = "ratings"

    def is_one(self, data: Any) -> str:
        """`Ratings`."""
        return "they are ratings of items by users" if isinstance(data, Ratings) else ""

    def looks_like_one(self, source: Source) -> str:
        """A column of users, one of items and one of ratings by their names, and hardly any other column.

        Counts stay a table: quantities of products that customers ordered may be about the orders.
        """
        schema = source.arrow_schema
        found = [named(schema.names, frozenset(words)) for words in (USER, ITEM, RATING.split())]
        if not all(len(columns) == 1 for columns in found):
            return ""
        user, item, rating = (columns[0] for columns in found)
        rest = [name for name in schema.names if name not in (user, item, rating)]
        strange = len(rest) - len(named(rest, frozenset(WHEN.split())))
        names = all(is_name(schema.field(column).type) for column in (user, item))
        if strange > _OTHERS or not names or not is_numeric(schema.field(rating).type):
            return ""
        return f"their columns {user!r}, {item!r} and {rating!r} say who rated what, and how"

    def read(self, data: Any, how: Mapping[str, Any]) -> Subject[Ratings]:
        """The ratings, with what was decided while they were read in its notes."""
        for option in how:
            if option not in _OPTIONS:
                raise ParameterError(f"ratings are read without {option!r}; they take {', '.join(_OPTIONS)}")
        ratings = Ratings.of(data, **how)
        facts = (
            counted(len(ratings), "rating"),
            counted(ratings.n_users, "user"),
            counted(ratings.n_items, "item"),
            f"{percent(ratings.density)} of all pairs; the others are missing, not zero",
        )
        m = len(ratings)
        name = name_of(data, self.name)
        card = DataCard(name, m, m, (), ratings.notes[1:], form=self.name, facts=facts, units=("item", "items"))
        return Subject(self.name, card, ratings)


FORM = RatingsForm()

"""Levels and tastes seen: errors beside yardsticks, items on their factors where tastes stood up, who rated."""

from __future__ import annotations

from assay.asking.words import SURVIVED
from assay.questions.tastes.answer import Tastes
from assay.views.axes.numbers import count, fraction, number
from assay.views.html.elements import table
from assay.views.html.escape import visible
from assay.views.html.searchable import searchable
from assay.views.html.view import View
from assay.views.prediction.ratings import activity, error_dots, item_map
from assay.views.results.ratings import CALLED

_LISTED = 2000
_NAME = 40


def views(answer: Tastes) -> list[View]:
    """All of them.

    Args:
        answer: the numbers behind the findings.
    """
    found = answer.found
    every = [found.error(method) for method in found.methods]
    names = [CALLED[method] for method in found.methods]
    drawn = error_dots(names, *zip(*every, strict=True), x_label="root mean squared error")
    shown = [
        View(
            "rating-errors", "Errors on ratings that were held out", drawn,
            (("dot", "mean over folds"), ("line", "95% interval")),
            "Further left is better. Levels: some users rate higher, some items are liked more. Levels on scales: "
            "users also differ in how much of the scale they use, and the scale has ends. Factors: users who like the "
            "one like the other too. Each fold keeps ratings of every user; penalties are chosen without it. "
            + " ".join(found.notes),
            _errors(answer) + _orders(answer),
        )
    ]  # fmt: skip
    if found.tastes.verdict in SURVIVED:
        drawn = item_map(answer.factors, [visible(name, _NAME) for name in found.ratings.items], found.ratings.per_item)
        caption = (
            "Items far out in the same direction please the same users; those near the middle please all alike, or "
            "have few ratings. Written are the names of those with most ratings. Levels are taken off."
        )
        shown.append(View("item-map", "Items on the first two factors", drawn, (), caption, _items(answer), "rows"))
    else:
        told = "No map of the items is drawn: factors predict held-out ratings no better than chance allows."
        shown.append(View("no-item-map", caption=told, about="rows"))
    few = activity(found.ratings.per_user, found.ratings.per_item)
    words = "A line that falls early: most have few ratings, and of these little can be said."
    shown.append(View("rating-activity", "Who rated, and what was rated", few, (), words))
    return shown


def _errors(answer: Tastes) -> str:
    rows = []
    for method in answer.found.methods:
        mean, low, high = answer.found.error(method)
        rows.append([CALLED[method], number(mean), f"{number(low)} to {number(high)}"])
    return table(
        "Errors on held-out ratings", ["Predicted by", "Root mean square", "95% interval"], rows, numeric=(1, 2)
    )


def _orders(answer: Tastes) -> str:
    ranking = answer.found.ranking
    if not ranking:
        return ""
    rows = [
        [{"popularity": "how often rated", "biases": "levels of items", "factors": "both levels and factors"}[name],
         *(f"{fraction(mean)} ({fraction(low)} to {fraction(high)})" for mean, low, high in measures)]
        for name, measures in ranking.items()
    ]  # fmt: skip
    title = "Of held-out items that a user rated above his or her mean, found among the first 10 recommended"
    return table(title, ["Ordered by", "Recall", "NDCG, earlier places count more"], rows, numeric=(1, 2))


def _items(answer: Tastes) -> str:
    seen = answer.found.ratings
    order = sorted(range(seen.n_items), key=lambda i: -int(seen.per_item[i]))[:_LISTED]
    rows = [
        [seen.items[i], count(int(seen.per_item[i])), number(float(answer.levels[i])),
         *(number(float(value)) for value in answer.factors[i, :2])]
        for i in order
    ]  # fmt: skip
    heads = ["Item", "Ratings", "Level", "Factor 1", "Factor 2"]
    all_of_them = len(order) == seen.n_items
    some = "Items" if all_of_them else f"The {count(len(order))} items of {count(seen.n_items)} with most ratings"
    caption = f"{some}, those with most ratings first" if all_of_them else some
    return searchable("rated-items", caption, heads, rows, numeric=range(1, 5), of="an item")

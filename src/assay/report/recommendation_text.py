"""Recommendations for the terminal, and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.views.axes.numbers import count, counted, number
from assay.views.html.escape import visible


def as_dict(model: Any, user: str, best: Sequence[Any], names: Mapping[str, str]) -> dict[str, Any]:
    """What is recommended, as JSON-ready values.

    Args:
        model: a fitted `MatrixFactorization`.
        user: to whom.
        best: from its `recommend`.
        names: of items, by how the ratings call them.
    """
    seen = model.ratings_
    return {
        "user": user,
        "recommendations": [
            {"item": one.item, "name": names.get(one.item, one.item), "score": one.score} for one in best
        ],
        "feedback": model.feedback,
        "factors": int(model.n_components_),
        "penalty": float(model.alpha_),
        "converged": bool(model.converged_),
        "ratings": len(seen),
        "users": seen.n_users,
        "items": seen.n_items,
        "rated": int(seen.per_user[seen.user_number(user)]),
        "notes": list(seen.notes),
    }


def lines(told: Mapping[str, Any]) -> list[str]:
    """The same in lines."""
    rated, total = counted(told["rated"], "rating"), count(told["ratings"])
    liked = "predicted rating" if told["feedback"] == "explicit" else "score, 1 where it is sure to be chosen"
    shown = [f"For user {visible(told['user'])}, from {rated} and {total} of all; {liked}:"]
    best = told["recommendations"]
    width = max((len(number(one["score"])) for one in best), default=0)
    for place, one in enumerate(best, start=1):
        name = visible(one["name"]) + ("" if one["name"] == one["item"] else f" ({visible(one['item'])})")
        shown.append(f"{place:>4}. {number(one['score']):>{width}}  {name}")
    if not best:
        shown.append("Nothing is left that was not rated.")
    if told["feedback"] == "explicit":
        shown.append(
            "Whether factors predict better than levels of users and items: assay report says, of the same file."
        )
    return shown

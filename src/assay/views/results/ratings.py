"""What of ratings would survive a second look, seen."""

from __future__ import annotations

from typing import Any

from assay.views.figures import Panel
from assay.views.prediction.ratings import activity, error_dots

CALLED = {
    "mean": "mean of all",
    "users": "levels of users",
    "items": "levels of items",
    "biases": "both levels",
    "scales": "levels on scales",
    "factors": "both levels and factors",
}


def evidence(found: Any) -> list[Panel]:
    """Errors on held-out ratings beside the yardsticks, and who rated how often.

    Args:
        found: from `assay.ratings_evidence`.
    """
    every = [found.error(method) for method in found.methods]
    drawn = error_dots([CALLED[method] for method in found.methods], *zip(*every, strict=True))
    words = "Root mean squared error, with 95% intervals over folds."
    counted = activity(found.ratings.per_user, found.ratings.per_item)
    return [Panel("Errors on held-out ratings", drawn, words), Panel("Who rated, and what was rated", counted)]

"""Matrix factorisations seen: items on their factors, errors over what was tried, how far the solver came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.errors import ParameterError
from assay.views.figures import Panel
from assay.views.prediction.complexity import complexity_curve_view
from assay.views.prediction.ratings import activity, item_map


def factors(model: Any, *, names: Sequence[str] | None = None) -> list[Panel]:
    """Items on the first two factors, the error over what was tried, and who rated how often.

    Args:
        model: a fitted `MatrixFactorization`.
        names: (d,) of the items, in the order of `items_`, where those are numbers.
    """
    seen = model.ratings_
    called = list(seen.items) if names is None else [str(name) for name in names]
    if len(called) != seen.n_items:
        raise ParameterError(f"there is one name for each of {seen.n_items} items; got {len(called)}")
    panels = []
    if model.n_components_:
        drawn = item_map(model.item_factors_, called, seen.per_item)
        words = "Items near each other, and far from the middle, please the same users. Names of those rated most."
        panels.append(Panel("Items on the first two factors", drawn, words))
    if hasattr(model, "ranks_") and len(model.ranks_) > 1:
        best = model.held_out_errors_.argmin(axis=1)
        at = range(len(best))
        drawn = complexity_curve_view(
            model.ranks_,
            None,
            model.held_out_errors_[at, best],
            model.held_out_std_errors_[at, best],
            chosen=float(model.n_components_),
            x_label="factors",
            y_label="error on held-out ratings" if model.feedback == "explicit" else "1 − NDCG on held-out items",
        )
        panels.append(Panel("How many factors", drawn, "Each with the penalty that did best."))
    counted = activity(seen.per_user, seen.per_item)
    panels.append(
        Panel(
            "Who rated, and what was rated",
            counted,
            "Share of the users, and of the items, that have so many ratings or more.",
        )
    )
    return panels

"""What was chosen, and what the other choices would have given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.summary.graph.options import Nearest
from assay.views.clusters.choice_of_k import choice_of_k
from assay.views.clusters.mixture import bic_choice
from assay.views.clusters.scales import scale_choice
from assay.views.figures import Panel
from assay.views.prediction.complexity import complexity_curve_view
from assay.views.prediction.path import coefficient_path_view
from assay.views.prediction.refusal import refusal_view


def number_of_groups(found: Any) -> list[Panel]:
    """Inertia and the index of Calinski and Harabasz over the number of groups.

    Args:
        found: from `assay.choose_k`.
    """
    drawn = choice_of_k(
        found.k, found.inertia, found.calinski_harabasz, inflection=found.inflection, best_k=found.best_k
    )
    return [Panel(heading, figure) for heading, figure in drawn.items()]


def number_of_components(found: Any) -> list[Panel]:
    """The BIC over the number of components, for each shape.

    Args:
        found: from `assay.choose_components`.
    """
    drawn = bic_choice(found.n_components, found.bic, found.covariance_types, chosen=found.chosen)
    words = (
        f"Smaller is better: {found.chosen} of shape {found.covariance_type!r}. It never asks whether there are groups."
    )
    return [Panel("How many components", drawn, words)]


def scale_of_isomap(found: Any) -> list[Panel]:
    """What each scale of the neighbourhood graph would give.

    Args:
        found: from `assay.isomap_scales`.
    """
    what: Any = "neighbours" if isinstance(found.graph, Nearest) else "epsilon"
    drawn = scale_choice(found.scales, found.residual_variance, found.share_kept, found.chosen, what=what)
    return [Panel("The scale of Isomap", drawn, f"Taken: {found.rule}")]


def complexity(found: Any, *, x_label: str = "", y_label: str = "error") -> list[Panel]:
    """Errors on rows fitted and on held-out rows over a parameter.

    Args:
        found: from `assay.complexity_curve`.
        x_label: what the parameter is; by default its name.
        y_label: what errors are, with their unit.
    """
    numbers = all(isinstance(value, (int, float, np.integer, np.floating)) for value in found.param_range)
    values = [float(v) for v in found.param_range] if numbers else list(range(1, len(found.param_range) + 1))
    words = "" if numbers else " Values tried, from 1: " + ", ".join(map(str, found.param_range)) + "."
    drawn = complexity_curve_view(
        values, found.training_mean, found.held_out_mean, found.held_out_error, chosen=values[found.best],
        one_standard_error=values[found.chosen], x_label=x_label or found.param_name, y_label=y_label,
    )  # fmt: skip
    return [
        Panel(f"Choosing {found.param_name}", drawn, f"Taken by the rule of one standard error: {found.choice}.{words}")
    ]


def learning(found: Any, *, x_label: str = "rows to learn from", y_label: str = "error") -> list[Panel]:
    """Errors over how many rows were learned from.

    Args:
        found: from `assay.learning_curve`.
        x_label: what the rows are.
        y_label: what errors are, with their unit.
    """
    drawn = complexity_curve_view(
        found.sizes, found.training_mean, found.held_out_mean, found.held_out_error, x_label=x_label, y_label=y_label,
        logarithmic=False,
    )  # fmt: skip
    return [Panel("Would more rows help?", drawn, "Where the held-out curve still falls at its right end, they would.")]


def refusal(found: Any, *, chosen: float | None = None) -> list[Panel]:
    """How right the answers are that are left, the more rows are refused.

    Args:
        found: from `refusal_curve` of a classifier.
        chosen: the share refused that was taken.
    """
    words = f"{found.rows:,} rows were judged; those nearly as close to a second class are refused first."
    return [Panel("What refusing buys", refusal_view(found.refused, found.accuracy, chosen=chosen), words)]


def ridge_path(found: Any, *, names: Sequence[str] | None = None, chosen: float | None = None) -> list[Panel]:
    """Coefficients over the penalty of their length, and the held-out errors where they are known.

    Args:
        found: from `path` of a `Ridge` or an `ElasticNet`.
        names: (d,) of the columns.
        chosen: the penalty that was taken.
    """
    errors = found.held_out_error
    best = None if errors is None else float(found.alphas[int(np.argmin(errors))])
    drawn = coefficient_path_view(found.alphas, found.coef, names, chosen=best if chosen is None else chosen)
    panels = [Panel("Coefficients over the penalty", drawn)]
    if errors is not None:
        curve = complexity_curve_view(
            found.alphas, None, errors, found.held_out_std_error, chosen=best, x_label="strength of the penalty",
            y_label="squared error",
        )  # fmt: skip
        panels.append(Panel("Choosing the penalty", curve))
    return panels


def machine_path(found: Any) -> list[Panel]:
    """Held-out errors of a vector machine over values of C, and how many rows it rests on.

    Args:
        found: from `path` of an `SVM` or `SVR`.
    """
    rests = coefficient_path_view(
        found.C, np.asarray(found.n_support, dtype=np.float64)[:, None], ["rows with a weight"], x_label="C",
        y_label="rows with a weight",
    )  # fmt: skip
    panels = [Panel("Rows that the machine rests on", rests)]
    if found.held_out_error is not None:
        best = float(found.C[int(np.argmin(found.held_out_error))])
        curve = complexity_curve_view(found.C, None, found.held_out_error, chosen=best, x_label="C")
        panels.insert(0, Panel("Choosing C", curve))
    return panels


def selection(found: Any) -> list[Panel]:
    """What each further column was worth, on the rows of the search and on held-out ones.

    Args:
        found: from `assay.forward_selection`.
    """
    left = np.concatenate([[1.0], 1.0 - found.r_squared])
    names = [f"column {j}" for j in found.order] if found.names is None else list(found.names)
    words = f"In the order chosen: {', '.join(names[:12])}{' and more' if len(names) > 12 else ''}."
    look: dict[str, Any] = {"x_label": "columns", "y_label": "squared error, share of that of the mean"}
    if found.held_out_error is None:
        drawn = complexity_curve_view(np.arange(len(left)), left, None, logarithmic=False, **look)
    else:
        unit, best = found.held_out_error[0], int(np.argmin(found.held_out_error))
        fewest = None if found.n_chosen == best else float(found.n_chosen)
        drawn = complexity_curve_view(
            np.arange(len(left)), left, found.held_out_error / unit, found.held_out_std_error / unit,
            chosen=float(best), one_standard_error=fewest, logarithmic=False, **look,
        )  # fmt: skip
    return [Panel("How many columns", drawn, words)]

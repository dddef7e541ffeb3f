"""Two sides seen together: their variates row by row, what carries them, and the delay between series."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.errors import ParameterError
from assay.views.columns.canonical_pairs import canonical_pairs_view, loadings_view
from assay.views.columns.delay import delay_view
from assay.views.figures import Panel
from assay.views.models.rows import column_names, per_row
from assay.views.prediction.coefficients import coefficient_view
from assay.views.rows.cloud import drawn_rows
from assay.views.rows.embedding import embedding_map


def linear_pairs(
    model: Any, X: Any = None, y: Any = None, *, sides: tuple[str, str] = ("X", "y"), pairs: int = 2
) -> list[Panel]:
    """What carries each pair, and with both sides given the rows along its variates.

    Args:
        model: a fitted `CCA` or `NonlinearCCA`.
        X: rows of the left side.
        y: the other side of the same rows.
        sides: what the two sides are.
        pairs: how many, from the first.
    """
    shown = _variates(model, X, y, sides, pairs)
    left, right = _names(model)
    for j in range(min(pairs, model.n_components_)):
        drawn = loadings_view(model.x_loadings_[:, j], model.y_loadings_[:, j], left, right, sides=sides)
        shown.insert(2 * j + 1 if X is not None else j, Panel(f"What carries pair {j + 1}", drawn))
    return shown


def sets(model: Any, X: Any = None, y: ArrayLike | None = None) -> list[Panel]:
    """How far each set has a part in the common variates, and the columns that carry these; with rows, their map.

    Args:
        model: a fitted `MultisetCCA`.
        X: rows to draw.
        y: (n,) groups that colour them.
    """
    names = [str(name) for name in model.set_names_]
    found = []
    for j in range(min(2, model.n_components_)):
        drawn = coefficient_view(model.set_correlations_[:, j], names, x_label="correlation with the common variate")
        found.append(Panel(f"Sets in common variate {j + 1}", drawn))
    carried = coefficient_view(model.loadings_[:, 0], column_names(model), x_label="correlation with common variate 1")
    found.append(Panel("What carries common variate 1", carried))
    if X is not None:
        Z = np.asarray(model.transform(X), dtype=np.float64)
        some, groups = drawn_rows(len(Z)), per_row("y", y, len(Z))
        axes = ("common variate 1", "common variate 2" if Z.shape[1] > 1 else "")
        drawn = embedding_map(Z[some], groups=None if groups is None else groups[some], axes=axes)
        found.insert(0, Panel("Rows on the common variates", drawn))
    return found


def kernel_pairs(
    model: Any, X: Any = None, y: Any = None, *, sides: tuple[str, str] = ("X", "y"), pairs: int = 2
) -> list[Panel]:
    """The rows along the variates of each pair.

    Args:
        model: a fitted `KernelCCA`.
        X: rows of the left side.
        y: the other side of the same rows.
        sides: what the two sides are.
        pairs: how many, from the first.
    """
    if X is None or y is None:
        raise ParameterError("the pairs of KernelCCA are curves, seen by rows: give both sides, plot(model, X, y)")
    return _variates(model, X, y, sides, pairs)


def delay(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    unit: str = "steps",
    sides: tuple[str, str] = ("X", "y"),
    chance: ArrayLike | None = None,
) -> list[Panel]:
    """The correlation of the two series over the delay between them; with both sides, also the rows.

    Args:
        model: a fitted `TemporalCCA`.
        X: the series that leads.
        y: the one that follows.
        unit: of the delays.
        sides: what the two series are.
        chance: what chance reaches in one of twenty.
    """
    drawn = delay_view(model.lags_, model.canonical_correlogram_[:, 0], model.delay_, chance=chance, unit=unit)
    words = f"{sides[1]} goes with {sides[0]} most at a delay of {model.delay_} {unit}."
    return [Panel("Correlation over the delay", drawn, words), *_variates(model, X, y, sides, 1)]


def _variates(model: Any, X: Any, y: Any, sides: tuple[str, str], pairs: int) -> list[Panel]:
    if (X is None) != (y is None):
        raise ParameterError("a pair has two sides: give both, plot(model, X, y), or neither")
    if X is None:
        return []
    u, v = (np.asarray(side, dtype=np.float64)[:, :pairs] for side in model.transform(X, y))
    known = np.isfinite(u).all(axis=1) & np.isfinite(v).all(axis=1)
    held_out = None if model.held_out_correlations_ is None else model.held_out_correlations_[: u.shape[1]]
    drawn = canonical_pairs_view(
        u[known], v[known], model.variate_correlations_[: u.shape[1]], held_out, sides=sides,
        rows=np.flatnonzero(known) + 1,
    )  # fmt: skip
    return [Panel(heading, figure) for heading, figure in drawn.items()]


def _names(model: Any) -> tuple[list[str], list[str]]:
    if hasattr(model, "x_feature_names_"):
        return [str(name) for name in model.x_feature_names_], [str(name) for name in model.y_feature_names_]
    right = model.y_names_
    called = [f"column {j}" for j in range(model.n_targets_)] if right is None else [str(name) for name in right]
    return column_names(model), called

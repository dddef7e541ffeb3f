"""Gaps seen: where they are in the table, and the law by which they are filled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.drawn import drawn_columns, drawn_rows
from assay.views.columns.correlation import correlation_view
from assay.views.figures import Panel
from assay.views.html.tables import table_picture
from assay.views.models.rows import column_names, numbers_of


def filled(model: Any, X: Any = None, y: ArrayLike | None = None) -> list[Panel]:
    """The correlations that gaps are filled by; with rows, the table and its gaps.

    Args:
        model: a fitted `FillMissing`.
        X: rows with gaps.
        y: not used.
    """
    names = column_names(model)
    found = []
    if X is not None:
        found.append(_table(numbers_of(model, X, why=""), names))
    covariance = getattr(model, "covariance_", None)
    if covariance is not None:
        spread = np.sqrt(np.diag(covariance))
        scale = np.where(spread > 0, spread, np.nan)
        drawn = correlation_view(np.clip(covariance / np.outer(scale, scale), -1.0, 1.0), names)
        words = "A gap is filled by what its row's other columns make likely, given these correlations."
        found.append(Panel("Correlations behind the filling", drawn, words))
    if not found:
        raise ParameterError(
            f"FillMissing({model.strategy!r}) fills constants; to see the gaps, give the rows: plot(model, X)"
        )
    return found


def _table(table: Array, names: list[str]) -> Panel:
    across, down = drawn_columns(table, names, ["number"] * len(names)), drawn_rows(len(table))
    words = f"{np.count_nonzero(np.isnan(table)):,} of {table.size:,} values are missing, drawn black."
    return Panel("The table and its gaps", table_picture(table, down, across, names), words)

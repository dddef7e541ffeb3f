"""What was measured: classes told apart, columns that go together, maps that keep neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.errors import ParameterError
from assay.summary.graph.seriation import fiedler_positions, order_of
from assay.views.axes.drawn import drawn_rows
from assay.views.columns.correlation import COLUMNS, correlation_view
from assay.views.columns.decay import eigenvalue_decay
from assay.views.figures import Panel
from assay.views.html.tables import table_picture
from assay.views.prediction.coefficients import coefficient_view
from assay.views.prediction.confusion import confusion_view
from assay.views.prediction.roc import calibration_view, roc_view
from assay.views.rows.contribution_map import contribution_map
from assay.views.rows.embedding import embedding_map


def roc(found: Any) -> list[Panel]:
    """How many positive rows are found at which share of false alarms.

    Args:
        found: from `assay.roc`.
    """
    drawn = roc_view(
        found.false_positive, found.true_positive, area=found.area, interval=found.interval,
        band=(found.band_at, found.lower, found.upper), thresholds=found.thresholds, positive=str(found.positive),
    )  # fmt: skip
    return [Panel("Found, and false alarms", drawn, "Guessing gives the diagonal.")]


def calibration(found: Any) -> list[Panel]:
    """Whether probabilities come true.

    Args:
        found: from `assay.calibration`.
    """
    drawn = calibration_view(
        found.predicted, found.observed, found.counts, lower=found.lower, upper=found.upper, edges=found.edges,
        error=found.error, event=f"share of {found.positive}",
    )  # fmt: skip
    return [Panel("Do probabilities come true?", drawn, "On the diagonal, what is said to be likely happens as often.")]


def confusion(found: Any) -> list[Panel]:
    """Which classes are taken for which.

    Args:
        found: from `assay.confusion`.
    """
    drawn = confusion_view(found.matrix, [str(name) for name in found.classes])
    return [Panel("Which classes are taken for which", drawn)]


def dependence(found: Any, *, level: float = 0.05) -> list[Panel]:
    """All pairs of columns in one picture; those that chance explains are faint.

    Args:
        found: from `assay.dependence`.
        level: the share of false pairs allowed among those that stand out.
    """
    if found.pearson is None:
        raise ParameterError("the matrices were not kept: call dependence(..., hold=True), or look at pairs")
    d = len(found.columns)
    stands = found.pairs.q <= level
    listed = len(found.pairs) == found.tested or not stands.all()
    supported = np.eye(d, dtype=bool)
    supported[found.pairs.first[stands], found.pairs.second[stands]] = True
    order = order_of(fiedler_positions(np.nan_to_num(np.abs(found.rank)))) if 2 < d <= COLUMNS else None
    drawn = correlation_view(
        found.pearson,
        found.columns,
        order=order,
        rank=found.rank,
        supported=supported | supported.T if listed else None,
    )
    words = "Pearson's correlation above the diagonal, that of ranks below; a pair that chance explains is faint."
    return [Panel("The columns that go together", drawn, words)]


def moments(found: Any) -> list[Panel]:
    """The correlations of the columns.

    Args:
        found: `assay.Moments`.
    """
    covariance = np.asarray(found.covariance, dtype=np.float64)
    spread = np.sqrt(np.diag(covariance))
    scale = np.where(spread > 0, spread, np.nan)
    drawn = correlation_view(np.clip(covariance / np.outer(scale, scale), -1.0, 1.0), found.columns)
    return [Panel("Correlations of the columns", drawn)]


def fidelity(
    found: Any, Y: ArrayLike | None = None, *, groups: ArrayLike | None = None, names: Sequence[str] | None = None
) -> list[Panel]:
    """The map with rows faint where it cannot be trusted; without it, how far each row can be.

    Args:
        found: from `assay.fidelity`.
        Y: (n, k) the map that was judged.
        groups: (n,) that colour the rows.
        names: (n,) of the rows.
    """
    trust = found.point_trustworthiness
    words = (
        f"Trustworthiness {found.trustworthiness:.2f}, continuity {found.continuity:.2f} (chance "
        f"{found.rank_chance:.2f}); {found.agreement:.0%} of neighbours kept (chance {found.agreement_chance:.1%})."
    )
    if Y is None:
        both = np.stack([trust, found.point_continuity], axis=1)
        axes = ("trustworthiness of the row", "continuity of the row")
        drawn = embedding_map(both, groups=groups, names=names, axes=axes, equal=False)
        return [Panel("How far each row can be trusted", drawn, words)]
    faint = np.nan_to_num(np.clip((1.0 - trust) / max(1.0 - found.rank_chance, 1e-12), 0.0, 1.0))
    return [Panel("The map, faint where it misleads", embedding_map(Y, groups=groups, names=names, faint=faint), words)]


def reordered(
    found: Any, X: ArrayLike | None = None, *, names: Sequence[str] | None = None, axis: str | None = None
) -> list[Panel]:
    """The table with its rows, or its columns, in the order that was found.

    Args:
        found: from `assay.reorder`.
        X: (n, d) the rows.
        names: (d,) of the columns.
        axis: "rows" or "columns", where the table is square.
    """
    if X is None:
        raise ParameterError("a reordered table is drawn with its values: plot(reordered, X)")
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or len(found.order) not in table.shape or axis not in (None, "rows", "columns"):
        raise ParameterError(
            f"X is the table that was reordered, {len(found.order)} rows or columns, and axis 'rows' or 'columns'; got "
            f"shape {table.shape} and {axis!r}"
        )
    by_row = axis != "columns" and len(found.order) == len(table)
    down = found.order if by_row else np.arange(len(table))
    across = np.arange(table.shape[1]) if by_row else found.order
    called = [f"column {j}" for j in range(table.shape[1])] if names is None else list(names)
    drawn = table_picture(table, down[drawn_rows(len(down))], across, called)
    words = (
        f"Neighbours differ by {found.roughness:.0%} of what two at random do; chance does as well: p = {found.p:.2g}."
    )
    return [Panel("The table, reordered", drawn, words)]


def coefficients(found: Any) -> list[Panel]:
    """Coefficients of a linear model with their intervals, without the intercept.

    Args:
        found: from `table` of a regression.
    """
    keep = np.array(found.names, dtype=object) != "intercept"
    called = [name for name, kept in zip(found.labels, keep, strict=True) if kept]
    drawn = coefficient_view(found.estimate[keep], called, low=found.low[keep], high=found.high[keep])
    words = " ".join([*([] if np.isnan(found.low).all() else [f"Intervals of {found.confidence:.0%}."]), *found.notes])
    return [Panel("Coefficients", drawn, words)]


def explained(found: Any) -> list[Panel]:
    """Which columns put the flagged rows where they are.

    Args:
        found: from `explain` of a detector.
    """
    if not len(found.rows):
        raise ParameterError("no row stands out, so there is nothing to explain")
    drawn = contribution_map(found.shares, found.columns, rows=found.rows + 1, values=found.deviations)
    return [Panel("Why these rows stand out", drawn, "Share of each column in how far out the row lies.")]


def euclidean(found: Any) -> list[Panel]:
    """Eigenvalues of dissimilarities, those below zero apart: no points have them.

    Args:
        found: from `assay.euclidean_dimension`.
    """
    words = f"{found.lost:.1%} of their sizes is below zero: no points have such distances."
    drawn = eigenvalue_decay(found.eigenvalues, kept=found.dimension)
    return [Panel("Dimensions of the distances", drawn, words if found.lost else "Points have these distances.")]


def spectrum(found: Any) -> list[Panel]:
    """How fast eigenvalues fall.

    Args:
        found: eigenvalues and eigenvectors, descending.
    """
    return [Panel("Eigenvalues", eigenvalue_decay(found.values, kept=len(found.values)))]


def ranking(found: Any, *, top: int = 20) -> list[Panel]:
    """Scores of the first nodes with their intervals.

    Args:
        found: from `pagerank`.
        top: how many nodes.
    """
    called = [name for name, _ in found.top(top)]
    scores = found.scores[found.order[:top]]
    inside = found.intervals
    drawn = coefficient_view(
        scores, called, low=inside.score_low[:top], high=inside.score_high[:top], x_label="PageRank", in_order=True
    )
    words = f"{inside.level:.0%} of {inside.resamples} draws of every node's out-links. {found.beyond_degree.sentence}"
    return [Panel("PageRank of the first nodes", drawn, words)]

"""Rows that do not belong: where they lie, or how far out, and which columns put them there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.figures import Panel
from assay.views.models.rows import column_names, numbers_of, on_places
from assay.views.rows.anomaly_map import anomaly_map
from assay.views.rows.contribution_map import contribution_map

_WORDS = {
    "ZScore": "largest z-score in size",
    "Mahalanobis": "Mahalanobis distance",
    "SVDD": "distance from the centre, in feature space",
    "RobustSVDD": "distance from the centre",
}


def detector(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    coordinates: ArrayLike | None = None,
) -> list[Panel]:
    """The rows and the line beyond which one does not belong; and why, where the detector knows.

    Args:
        model: a fitted `ZScore`, `Mahalanobis`, `SVDD` or `RobustSVDD`.
        X: rows to judge, as new ones.
        y: not used.
        names: (n,) of the rows.
        coordinates: (n, 2) places of the rows, such as two components; by default the two columns, or of more columns
            how far out each row lies, in the order of the data.
    """
    if X is None:
        raise ParameterError(f"a picture of {type(model).__name__} shows rows that it judges: plot(model, X)")
    scores, out = model.score_samples(X), np.asarray(model.predict(X)) == -1
    if coordinates is not None:
        where = anomaly_map(coordinates, scores, out, names=names)
    elif model.n_features_in_ == 2 and getattr(model, "support_vectors_", ()) is not None:
        axes = column_names(model)
        where = anomaly_map(
            numbers_of(model, X, why=""), scores, out, names=names, boundary=on_places(model.decision_function),
            axes=(axes[0], axes[1]),
        )  # fmt: skip
    else:
        where = _in_order(model, X, scores, out, names)
    return [Panel("Rows that do not belong", where), *_why(model, X, scores, out, names)]


def _in_order(model: Any, X: Any, scores: Array, out: NDArray[np.bool_], names: Sequence[str] | None) -> Any:
    # scores of these two are negative squares; distances are easier to read
    squares = type(model).__name__ in ("Mahalanobis", "SVDD")
    far = np.sqrt(np.maximum(-scores, 0.0)) if squares else -scores
    limit = float(np.sqrt(-model.offset_) if squares else -model.offset_)
    words = next((_WORDS[c.__name__] for c in type(model).__mro__ if c.__name__ in _WORDS), "distance")
    plot = anomaly_map(
        np.column_stack([np.arange(1.0, len(far) + 1.0), far]), scores, out, names=names,
        boundary=lambda places: limit - places[:, 1], axes=("row, in the order of the data", words), equal=False,
    )  # fmt: skip
    plot.xaxis.bounds = (0.0, float(len(far)))  # there is room for names beside, but no rows
    return plot


def _why(model: Any, X: Any, scores: Array, out: NDArray[np.bool_], names: Sequence[str] | None) -> list[Panel]:
    if not hasattr(model, "contributions") or not out.any():
        return []
    worst = np.flatnonzero(out)[np.argsort(scores[out], kind="stable")]
    table = numbers_of(model, X, why="")
    drawn = contribution_map(
        model.contributions(X)[worst], column_names(model), rows=worst + 1, values=table[worst],
        names=None if names is None else [str(names[i]) for i in worst],
    )  # fmt: skip
    return [Panel("Why these rows stand out", drawn, "Share of each column in how far out the row lies.")]

"""Groups seen: cells, ellipses, trees, and the gap that counts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from assay.errors import ParameterError
from assay.views.clusters.eigengap import eigengap
from assay.views.clusters.mixture import mixture_map
from assay.views.clusters.voronoi import voronoi
from assay.views.figures import Panel
from assay.views.models.rows import column_names, numbers_of
from assay.views.rows.embedding import embedding_map
from assay.views.tree.dendrogram import dendrogram


def kmeans(model: Any, X: Any = None, y: ArrayLike | None = None) -> list[Panel]:
    """The cells of the centres, with the rows where they are given.

    Args:
        model: a fitted `KMeans`.
        X: rows to draw.
        y: not used: rows have the colour of their group.
    """
    centres = np.asarray(model.cluster_centers_, dtype=np.float64)
    rows = np.empty((0, centres.shape[1])) if X is None else numbers_of(model, X, why="")
    labels = None if X is None else model.predict(X)
    known = model.explained_variance_ == model.explained_variance_  # not where parts were learned one by one
    between = f"; {model.explained_variance_:.1%} of the squares lie between them" if known else ""
    words = f"{model.n_clusters_} groups{between}."
    return [Panel("Cells of the centres", voronoi(rows, centres, labels, axes=_two(model)), words)]


def mixture(
    model: Any, X: Any = None, y: ArrayLike | None = None, *, columns: tuple[int | str, int | str] = (0, 1)
) -> list[Panel]:
    """The components as ellipses on two columns, over the rows where they are given.

    Args:
        model: a fitted `GaussianMixture`.
        X: rows to draw.
        y: not used: rows have the colour of their component.
        columns: the two that are drawn, by name or number.
    """
    names = column_names(model)
    i, j = (_column(names, column) for column in columns)
    if len(names) == 1:
        raise ParameterError("the ellipses of a mixture are drawn on two columns; it was fitted on one")
    rows = np.empty((0, len(names))) if X is None else numbers_of(model, X, why="")
    drawn = mixture_map(
        rows, model.means_, model.covariances_, model.covariance_type, weights=model.weights_,
        labels=None if X is None else model.predict(X), columns=(i, j), axes=(names[i], names[j]),
    )  # fmt: skip
    return [Panel("Components of the mixture", drawn)]


def spectral(
    model: Any, X: Any = None, y: ArrayLike | None = None, *, names: Sequence[str] | None = None
) -> list[Panel]:
    """The rows by group, and the gap of the eigenvalues that counts the groups.

    Args:
        model: a fitted `SpectralClustering`.
        X: the rows fitted, drawn on their two columns; otherwise on the eigenvectors.
        y: not used: rows have the colour of their group.
        names: (n,) of the rows.
    """
    places, axes = model.embedding_, ("eigenvector 1", "eigenvector 2")
    if model.embedding_.shape[1] > 2:  # the first is the same for all rows of a part
        places, axes = model.embedding_[:, 1:3], ("eigenvector 2", "eigenvector 3")
    if X is not None:
        rows = numbers_of(model, X, why="")
        if rows.shape == (len(model.labels_), 2):
            places, axes = rows, _two(model) or ("column 0", "column 1")
    called = model.names_ if names is None else names
    groups = [f"group {label}" if label >= 0 else None for label in model.labels_]
    drawn = embedding_map(places, groups=groups, names=called, axes=axes, equal=X is not None)
    values = np.maximum(model.eigenvalues_, 0.0)  # what is zero but for rounding
    found = [Panel("Rows by group", drawn, f"{model.n_clusters_} groups.")]
    if len(values) < model.n_clusters_:
        return found
    words = "An undivided chain of rows has a gap of 4, a square one of 2: no more than that is no evidence of groups."
    return [*found, Panel("The gap that counts the groups", eigengap(values, model.n_clusters_), words)]


def tree(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    names: Sequence[Any] | None = None,
    cut: int | float | None = None,
    max_leaves: int | None = None,
    orientation: Literal["left", "top"] = "left",
) -> list[Panel]:
    """The tree of merges, cut where the groups are.

    Args:
        model: a fitted `Agglomerative` or `Divisive`.
        X: not needed: the tree is kept.
        y: not used: leaves have the colour of their group.
        names: (n,) of the leaves.
        cut: into how many groups, a whole number, or at which height; by default as fitted.
        max_leaves: how many ends to draw at most.
        orientation: where the last merge is, "left" or "top".
    """
    k = model.n_clusters_
    cut = k if cut is None and 1 < k < model.n_leaves_ else cut
    drawn = dendrogram(
        model.merges_, sizes=getattr(model, "leaf_sizes_", None), names=names, cut=cut, max_leaves=max_leaves,
        orientation=orientation,
    )  # fmt: skip
    return [Panel("Tree of the groups", drawn)]


def _two(model: Any) -> tuple[str, str] | None:
    names = column_names(model)
    return (names[0], names[1]) if len(names) == 2 else None


def _column(names: list[str], column: int | str) -> int:
    if isinstance(column, str):
        if column not in names:
            raise ParameterError(f"there is no column {column!r}; there are {', '.join(names[:20])}")
        return names.index(column)
    if not -len(names) <= column < len(names):
        raise ParameterError(f"columns are numbered from 0 to {len(names) - 1}; got {column!r}")
    return column % len(names)

"""Maps seen: where the rows lie, and how far the map can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist, squareform

from assay.arrays import Array
from assay.summary.distances.metrics import distances, is_precomputed
from assay.views.axes.drawn import drawn_rows
from assay.views.columns.array_plot import CLIP
from assay.views.figures import Panel
from assay.views.html.tables import table_picture
from assay.views.models.components import falling
from assay.views.models.rows import column_names, numbers_of
from assay.views.prediction.complexity import complexity_curve_view
from assay.views.rows.density import sample
from assay.views.rows.embedding import embedding_map
from assay.views.rows.shepard import shepard

_COMPARED = 1000  # rows whose pairs a Shepard diagram counts; of more, a fair sample of so many
_STRUNG = 300  # columns that still have a line of their own


def row_map(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    colour: ArrayLike | None = None,
    colour_label: str = "",
    names: Sequence[str] | None = None,
    faint: ArrayLike | None = None,
) -> list[Panel]:
    """The rows fitted where the map puts them; with rows given, these.

    Args:
        model: a fitted embedding.
        X: rows to draw instead of those fitted.
        y: (n,) groups that colour them.
        groups: the same by its own name.
        colour: (n,) numbers that colour them instead.
        colour_label: what these are.
        names: (n,) of the rows.
        faint: (n,) from 0 to 1, how little a row's neighbourhood can be trusted; see `assay.fidelity`.
    """
    Y = model.embedding_ if X is None else np.asarray(model.transform(X))
    groups = y if groups is None and colour is None else groups
    names = getattr(model, "names_", None) if names is None else names
    drawn = embedding_map(Y, groups=groups, colour=colour, colour_label=colour_label, names=names, faint=faint)
    return [Panel("Rows on the map", drawn, _caption(model)), *falling(_eigenvalues(model), "of the map")]


def classical_mds(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> list[Panel]:
    """The map, its eigenvalues with those below zero, and with the rows fitted the Shepard diagram.

    Args:
        model: a fitted `ClassicalMDS`.
        X: the rows, or dissimilarities, it was fitted on.
        y: (n,) groups that colour the rows.
        groups: the same by its own name.
        names: (n,) of the rows.
    """
    Y = model.embedding_
    found = [Panel("Rows on the map", embedding_map(Y, groups=y if groups is None else groups, names=names))]
    if X is not None:
        given = is_precomputed(model.metric)
        D = np.asarray(X, dtype=np.float64) if given else numbers_of(model, X, why="")
        if not given and model.metric != "euclidean":
            D, given = distances(D, model.metric_), True
        found += shepard_diagram(Y, D, precomputed=given, names=names)
    return [*found, *falling(model.eigenvalues_, "of the doubly centred squares", negative=model.negative_eigenvalues_)]


def mds(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> list[Panel]:
    """The map, and its Shepard diagram: dissimilarities against distances on the map.

    Args:
        model: a fitted `MDS`.
        X: not needed: the dissimilarities are kept.
        y: (n,) groups that colour the rows.
        groups: the same by its own name.
        names: (n,) of the rows.
    """
    drawn = embedding_map(model.embedding_, groups=y if groups is None else groups, names=names)
    words = f"Stress-1 is {model.stress1_:.3g}: how far distances on the map are off, as a share of their size."
    fitted = None if model.metric_mds else model.disparities_
    return [
        Panel("Rows on the map", drawn, words),
        *shepard_diagram(
            model.embedding_, model.dissimilarity_matrix_, precomputed=True, disparities=fitted, names=names
        ),
    ]


def shepard_diagram(
    Y: ArrayLike,
    given: ArrayLike,
    *,
    precomputed: bool,
    disparities: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> list[Panel]:
    """How unlike each pair of rows is, against how far apart the map puts it.

    Args:
        Y: (n, k) places on the map; rows without one are left out.
        given: (n, d) rows, or (n, n) dissimilarities.
        precomputed: which of the two.
        disparities: (n, n) what the method fitted to these.
        names: (n,) of the rows.
    """
    places, table = np.asarray(Y, dtype=np.float64), np.asarray(given, dtype=np.float64)
    placed = np.flatnonzero(np.isfinite(places).all(axis=1))
    some = placed[sample(len(placed), _COMPARED)]
    unlike = table[np.ix_(some, some)] if precomputed else squareform(pdist(table[some]))
    fitted = None if disparities is None else np.asarray(disparities)[np.ix_(some, some)]
    called = None if names is None else [names[i] for i in some]
    drawn = shepard(unlike, squareform(pdist(places[some])), fitted, rows=some + 1, names=called)
    words = "On the line the map keeps a distance as it is; a pair below it is nearer on the map than it should be."
    if fitted is not None:
        words = "The steps are what the method fitted: distances that only have to rise with the dissimilarities."
    if len(some) < len(placed):
        words += f" Pairs of {len(some):,} of {len(placed):,} rows."
    return [Panel("Shepard diagram", drawn, words)]


def stringing(model: Any, X: Any = None, y: ArrayLike | None = None) -> list[Panel]:
    """The table as a picture, like rows and like columns side by side.

    Args:
        model: a fitted `Stringing`.
        X: the rows it was fitted on.
        y: not used.
    """
    table = numbers_of(model, X, why="a reordered table is drawn with its values")
    down, across = model.rows_[drawn_rows(len(model.rows_))], model.columns_[:_STRUNG]
    names = column_names(model)
    words = (
        f"Rows and columns in an order in which neighbours are alike; colours reach {CLIP:g} standard deviations from "
        f"the mean. Chance does as well with p = {model.p_[0]:.2g} for rows and {model.p_[1]:.2g} for columns."
    )
    return [Panel("The table, reordered", table_picture(table, down, across, names), words)]


def vae(model: Any, X: Any = None, y: ArrayLike | None = None, *, names: Sequence[str] | None = None) -> list[Panel]:
    """What training came to, round by round; with rows, also where these lie in the latent space.

    Args:
        model: a fitted `VAE`.
        X: rows to draw.
        y: (n,) groups that colour them.
        names: (n,) of the rows.
    """
    seen = np.isfinite(model.elbo_[:, 1]).all()
    curve = complexity_curve_view(
        np.arange(1, len(model.elbo_) + 1), -model.elbo_[:, 0], -model.elbo_[:, int(seen)],
        chosen=float(model.best_iter_) if model.best_iter_ in range(1, len(model.elbo_) + 1) else None,
        x_label="rounds", y_label="minus ELBO (nats per row)", logarithmic=False,
    )  # fmt: skip
    found = [Panel("Training, round by round", curve, f"The weights of round {model.best_iter_} were kept.")]
    if X is None:
        return found
    return [Panel("Rows in the latent space", embedding_map(model.transform(X), groups=y, names=names)), *found]


def _eigenvalues(model: Any) -> Array:
    found: Array = np.asarray(getattr(model, "eigenvalues_", ()), dtype=np.float64)
    return found if np.all(np.diff(found) <= 0) else np.empty(0)


def _caption(model: Any) -> str:
    if hasattr(model, "kl_divergence_"):
        return f"KL divergence {model.kl_divergence_:.3g} after {model.n_iter_:,} iterations."
    if hasattr(model, "residual_variance_"):
        return f"The map leaves {model.residual_variance_[-1]:.1%} of the variance of path lengths unexplained."
    return getattr(model, "note_", None) or ""

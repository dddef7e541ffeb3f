"""Components seen: how fast they fall, what carries them, and where the rows lie along them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.views.columns.canonical_pairs import loadings_view
from assay.views.columns.decay import eigenvalue_decay
from assay.views.columns.spectrum import cumulative
from assay.views.figures import Panel
from assay.views.models.rows import column_names, per_row
from assay.views.prediction.coefficients import coefficient_view
from assay.views.rows.cloud import drawn_rows
from assay.views.rows.embedding import add_map, embedding_map
from assay.views.rows.scores import biplot, score_source, score_strip

_MOST_GROUPS = 8  # beyond, colours can no longer be told apart


def pca(model: Any, X: Any = None, y: ArrayLike | None = None) -> list[Panel]:
    """Eigenvalues, the variance carried, and what carries the components; with rows, these and the columns on one map.

    Args:
        model: a fitted `PCA`.
        X: rows to draw.
        y: (n,) groups that colour them.
    """
    k, known = model.n_components_, model.eigenvalues_
    names, loadings = column_names(model), np.clip(model.loadings_, -1.0, 1.0)
    share = known / model.total_variance_ if model.total_variance_ > 0 else np.zeros(len(known))
    total = max(len(known), min(model.n_features_in_, model.n_samples_ - 1))
    found = [] if X is None or k == 0 else _rows(model, X, y, loadings, names)
    if len(found) < 2:
        found += _carriers(loadings, names, "component")
    if len(known) > 2:
        found.append(Panel("Eigenvalues", eigenvalue_decay(known, kept=k, total=total)))
    told = f"{k} of them are kept, with {model.explained_variance_ratio_.sum():.1%} of the variance of the rows fitted."
    return [*found, Panel("Variance carried together", cumulative(share), told)]


def mixed_axes(model: Any, X: Any = None, y: ArrayLike | None = None) -> list[Panel]:
    """Levels on the first two axes, what the columns have to do with these, and the inertia; with rows, their map.

    Args:
        model: a fitted `MCA` or `MixedPCA`.
        X: rows to draw.
        y: (n,) groups that colour them.
    """
    k, known = model.n_components_, model.eigenvalues_
    found = []
    axes = _axes(model.explained_variance_ratio_, "axis", "of the inertia") if k else ("", "")
    level = np.array([model.levels_[g] is not None for g in model.groups_])
    if k and level.any():
        places, names = model.column_coordinates_[level], [str(name) for name in model.column_names_[level]]
        of = [str(name) for name in model.variables_[model.groups_[level]]]
        drawn = embedding_map(places, groups=of if len(set(of)) <= _MOST_GROUPS else None, names=names, axes=axes)
        words = "Levels that lie close are had by the same rows; rare ones lie far out."
        found.append(Panel("Levels on axes 1 and 2" if k > 1 else "Levels on axis 1", drawn, words))
    if k and X is not None:
        Z = np.asarray(model.transform(X), dtype=np.float64)
        some, groups = drawn_rows(len(Z)), per_row("y", y, len(Z))
        told = "" if len(some) == len(Z) else f"{len(some):,} of {len(Z):,} rows are drawn."
        drawn = embedding_map(Z[some], groups=None if groups is None else groups[some], axes=axes)
        found.append(Panel("Rows on axes 1 and 2" if k > 1 else "Rows on axis 1", drawn, told))
    names = [str(name) for name in model.variables_]
    # rounding may leave a squared correlation a hair beyond 1
    found += _carriers(np.clip(model.variable_cos2_, 0.0, 1.0), names, "axis", "squared correlation with the axis")
    if len(known) > 2:
        found.append(Panel("Inertia", eigenvalue_decay(known, kept=k, total=len(known))))
    told = f"{k} of {len(known)} axes are kept, with {model.explained_variance_ratio_.sum():.1%} of the inertia."
    return [*found, Panel("Inertia carried together", cumulative(known / model.total_variance_), told)]


def kernel_pca(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    colour: ArrayLike | None = None,
    colour_label: str = "",
    names: Sequence[str] | None = None,
) -> list[Panel]:
    """The training rows, or others, on the first two components in feature space.

    Args:
        model: a fitted `KernelPCA`.
        X: rows to draw instead of those fitted.
        y: (n,) groups that colour them.
        groups: the same by its own name.
        colour: (n,) numbers that colour them.
        colour_label: what these are.
        names: (n,) of the rows.
    """
    Z = model.embedding_ if X is None else np.asarray(model.transform(X))
    axes = _axes(model.explained_variance_ratio_, "component", "of the variance in feature space")
    drawn = embedding_map(
        Z, groups=y if groups is None and colour is None else groups, colour=colour, colour_label=colour_label,
        names=names, axes=axes,
    )  # fmt: skip
    return [Panel("Rows on components 1 and 2", drawn), *falling(model.eigenvalues_, "of the centred kernel matrix")]


def lsi(model: Any, X: Any = None, y: ArrayLike | None = None, *, names: Sequence[str] | None = None) -> list[Panel]:
    """Documents on the first two dimensions, and the terms that carry these.

    Args:
        model: a fitted `LSI`.
        X: documents to draw instead of those fitted.
        y: (n,) groups that colour them.
        names: (n,) of the documents.
    """
    Z = model.documents_ if X is None else np.asarray(model.transform(X))
    axes = _axes(model.explained_share_, "dimension", "of the squares")
    drawn = Panel("Documents on dimensions 1 and 2", embedding_map(Z, groups=y, names=names, axes=axes))
    terms = _carriers(model.components_.T, column_names(model), "dimension", "weight of the term")
    return [drawn, *terms, *falling(model.singular_values_**2, "squared singular values")]


def falling(values: ArrayLike, of: str, *, negative: ArrayLike | None = None) -> list[Panel]:
    """How eigenvalues fall, where there are enough of them to see it.

    Args:
        values: those of a map, descending.
        of: what they are.
        negative: the lowest, where they are known.
    """
    given = np.asarray(values, dtype=np.float64)
    below = np.asarray(() if negative is None else negative, dtype=np.float64)
    if len(given) + len(below) < 3:
        return []
    kept = int(np.count_nonzero(given > 0))
    drawn = eigenvalue_decay(given, kept=kept, negative=below[below < given.min(initial=0.0)])
    return [Panel("Eigenvalues", drawn, f"Eigenvalues {of}." if "values" not in of else f"{of.capitalize()}.")]


def _rows(model: Any, X: Any, y: ArrayLike | None, loadings: Array, names: list[str]) -> list[Panel]:
    Z = np.asarray(model.transform(X), dtype=np.float64)
    groups = per_row("y", y, len(Z))
    deviations = np.ones(Z.shape[1]) if model.whiten else np.sqrt(model.explained_variance_)
    Z = np.divide(Z, deviations, out=np.zeros_like(Z), where=deviations > 0)
    some = drawn_rows(len(Z))
    told = "" if len(some) == len(Z) else f" {len(some):,} of {len(Z):,} rows are drawn."
    source = score_source(Z[some], some + 1)
    share = model.explained_variance_ratio_
    if Z.shape[1] < 2:
        return [Panel("Rows on component 1", score_strip(source, share), f"Thick where rows are many.{told}")]
    both = biplot(source, loadings, names, share)
    words = f"Arrows close together are columns that go together.{told}"
    found = [Panel("Rows and columns on components 1 and 2", both, words)]
    if groups is not None:
        axes = _axes(share, "component", "of variance")
        coloured = embedding_map(add_map(source, Z[some][:, :2]), groups=groups[some], axes=axes)
        found.append(Panel("The same rows by group", coloured))
    return found


def _carriers(loadings: Array, names: list[str], word: str, x_label: str = "") -> list[Panel]:
    x_label = x_label or f"correlation with the {word}"
    if loadings.shape[1] == 0:
        return []
    if loadings.shape[1] == 1:
        return [Panel(f"What carries {word} 1", coefficient_view(loadings[:, 0], names, x_label=x_label))]
    drawn = loadings_view(
        loadings[:, 0], loadings[:, 1], names, names, sides=(f"{word} 1", f"{word} 2"), x_label=x_label
    )
    return [Panel(f"What carries {'axes' if word == 'axis' else f'{word}s'} 1 and 2", drawn)]


def _axes(share: Array, word: str, of: str) -> tuple[str, str]:
    words = [f"{word} {j + 1} ({part:.1%} {of})" for j, part in enumerate(share[:2])]
    return (words[0], words[1]) if len(words) == 2 else (words[0], "")

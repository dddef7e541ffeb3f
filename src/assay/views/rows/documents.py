"""Documents along two themes, and the words that pull them there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models.annotations.labels import Label
from numpy.typing import ArrayLike

from assay.errors import ParameterError
from assay.views.axes.placing import write_names
from assay.views.axes.theme import LINE
from assay.views.html.escape import visible
from assay.views.rows.embedding import embedding_map

_HEIGHT = 430
_REACH = 0.8


def documents_map(
    places: ArrayLike,
    rows: ArrayLike,
    words: Sequence[str],
    at: ArrayLike,
    *,
    groups: Sequence[str] | None = None,
    axes: tuple[str, str],
) -> Any:
    """Draw documents as points and words where they pull.

    Args:
        places: (n, 2) documents.
        rows: (n,) their numbers as they are to be shown.
        words: (w,) the words, the strongest first.
        at: (w, 2) how much each pulls in either direction; stretched to reach as far as most documents.
        groups: (n,) labels that colour the documents.
        axes: what the two directions are.

    Returns:
        A Bokeh figure.

    >>> documents_map([[0.0, 1.0], [1.0, 0.0]], [1, 2], ["tea"], [[0.5, 0.5]], axes=("a", "b")).xaxis.axis_label.text
    'a'
    """
    where, pulls = np.asarray(places, dtype=np.float64), np.asarray(at, dtype=np.float64).reshape(-1, 2)
    if len(words) != len(pulls):
        raise ParameterError(f"each word pulls somewhere; got {len(words)} words and {len(pulls)} places")
    plot = embedding_map(where, rows=rows, groups=groups, axes=axes, height=_HEIGHT, equal=False)
    if not len(words):
        return plot
    far = np.abs(where).max(axis=0, initial=0.0)
    size = np.abs(pulls).max(axis=0)
    tips = pulls * np.where(size > 0.0, _REACH * far / np.where(size > 0.0, size, 1.0), 0.0)
    drawn = np.vstack([tips, where[np.isfinite(where).all(axis=1)]])
    names = [visible(word) for word in words] + [""] * (len(drawn) - len(tips))
    plot.scatter(tips[:, 0], tips[:, 1], size=5, marker="x", color=LINE)
    write_names(plot, drawn, names, height=_HEIGHT, axes=True, equal=False)
    for written in plot.select({"type": Label}):
        written.update(background_fill_color="#ffffff", background_fill_alpha=0.75)
    return plot

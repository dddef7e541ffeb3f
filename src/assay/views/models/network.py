"""Networks seen: the nodes where an embedding puts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from assay.views.figures import Panel
from assay.views.rows.embedding import embedding_map


def node_map(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    colour: ArrayLike | None = None,
    colour_label: str = "",
    names: Sequence[str] | None = None,
) -> list[Panel]:
    """The nodes fitted where the map puts them.

    Args:
        model: a fitted `NetworkEmbedding`.
        X: not needed: nodes have the places that were found for them.
        y: (n,) groups that colour them.
        groups: the same by its own name.
        colour: (n,) numbers that colour them instead.
        colour_label: what these are.
        names: (n,) of the nodes; by default those of the graph.
    """
    drawn = embedding_map(
        model.embedding_, groups=y if groups is None and colour is None else groups, colour=colour,
        colour_label=colour_label, names=model.names_ if names is None else names,
    )  # fmt: skip
    return [Panel("Nodes on the map", drawn, " ".join(model.notes_))]

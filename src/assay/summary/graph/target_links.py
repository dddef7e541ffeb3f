"""Links that know labels: one between rows of different labels counts for 1 - w of itself.

Similarities are multiplied by 1 - w, lengths divided by it: 0 <= w < 1, and 0 is no label at all. Rows without a label
keep their links as they are. A map made so shows the labels apart because it was told to, whether or not the columns
know anything of them; what they know is seen where rows without labels are placed on it.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.summary.graph.edges import edges_of, matrix_of
from assay.summary.graph.graph import Graph


def checked_weight(weight: Any) -> float:
    """The weight of labels, from 0 to below 1.

    >>> checked_weight(0.5)
    0.5
    """
    if isinstance(weight, bool) or not isinstance(weight, Real) or not 0.0 <= float(weight) < 1.0:
        raise ParameterError(f"target_weight is a number from 0 (no labels) to below 1; got {weight!r}")
    return float(weight)


def refuse_weight(weight: Any) -> None:
    """Refuse labels where a graph is given.

    >>> refuse_weight(0.0)
    """
    if checked_weight(weight):
        raise ParameterError(
            f"target_weight={weight!r} needs rows and their labels, fit(X, y); of a graph weigh the edges themselves"
        )


def as_classes(y: Any, n: int) -> Whole:
    """(n,) labels by number, -1 for rows without one: None or NaN.

    >>> as_classes(["b", None, "a", "b"], 4)
    array([ 0, -1,  1,  0])
    """
    if y is None:
        raise ParameterError("target_weight above 0 needs labels: fit(X, y), or target_weight=0")
    labels = np.asarray(y, dtype=object)
    if labels.shape != (n,):
        raise DataError(f"y must have one label for each of {n} rows, has shape {labels.shape}.")
    known = np.array([label is not None and label == label for label in labels], dtype=bool)
    if any(isinstance(label, float | np.floating) and not float(label).is_integer() for label in labels[known]):
        raise DataError("y must hold labels of classes, and has numbers with fractions; cut them into classes first.")
    number = {label: i for i, label in enumerate(dict.fromkeys(labels[known].tolist()))}
    return np.array([number[label] if there else -1 for label, there in zip(labels, known, strict=True)], np.int64)


def kept(classes: Whole, rows: Any, cols: Any, weight: float) -> Array:
    """What is left of links: 1, or 1 - weight where both ends have labels and these differ.

    >>> kept(np.array([0, 1, -1]), np.array([0, 0]), np.array([1, 2]), 0.75)
    array([0.25, 1.  ])
    """
    a, b = classes[rows], classes[cols]
    return np.where((a != b) & (a >= 0) & (b >= 0), 1.0 - weight, 1.0)


def with_labels(graph: Graph, classes: Whole, weight: float) -> Graph:
    """A graph whose links between different labels are longer, or weaker.

    >>> found = with_labels(Graph.of_edges([0, 1], [1, 2], meaning="distance"), np.array([0, 0, 1]), 0.5)
    >>> found.weights.toarray()[1]
    array([1., 0., 2.])
    """
    rows, cols, values = edges_of(graph.weights)
    share = kept(classes, rows, cols, weight)
    edges = rows, cols, values / share if graph.meaning == "distance" else values * share
    return Graph(matrix_of(edges, graph.n), graph.meaning, directed=graph.directed, names=graph.names)

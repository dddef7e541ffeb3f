"""Laplacians and the random walk of a matrix of similarities."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.summary.graph.edges import edges_of, matrix_of

Kind = Literal["plain", "symmetric", "random-walk"]


def laplacian_of(W: sparse.csr_array, kind: Kind) -> sparse.csr_array:
    """D - W, I - D^-1/2 W D^-1/2 or I - D^-1 W; a node without edges has a row of zeros in each.

    Args:
        W: (n, n) symmetric similarities, with degrees D = W 1.
        kind: Which.

    >>> laplacian_of(sparse.csr_array([[0.0, 2.0], [2.0, 0.0]]), "plain").toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    n = int(W.shape[0])
    d = degree_of(W)
    rows, cols, values = edges_of(W)
    diagonal: Array = d if kind == "plain" else (d > 0).astype(np.float64)
    if kind == "symmetric":
        root = 1 / np.sqrt(np.where(d > 0, d, 1))
        # the two roots first: only so is the product symmetric to the last bit
        values = values * (root[rows] * root[cols])
    elif kind == "random-walk":
        values = values / d[rows]
    elif kind != "plain":
        raise ParameterError(f'the Laplacian is "plain", "symmetric" or "random-walk", not {kind!r}.')
    return sparse.csr_array(sparse.diags_array(diagonal) - matrix_of((rows, cols, values), n))


def transition_of(W: sparse.csr_array) -> sparse.csr_array:
    """D^-1 W: rows sum to one; a node without edges stays where it is.

    >>> transition_of(sparse.csr_array([[1.0, 3.0], [0.0, 0.0]])).toarray()
    array([[0.25, 0.75],
           [0.  , 1.  ]])
    """
    d = degree_of(W)
    rows, cols, values = edges_of(W)
    alone = np.flatnonzero(d == 0)
    ends = (np.append(rows, alone), np.append(cols, alone))
    return matrix_of((*ends, np.append(values / d[rows], np.ones(len(alone)))), int(W.shape[0]))


def degree_of(W: sparse.csr_array) -> Array:
    """W 1: what the edges leaving each node sum up to.

    >>> degree_of(sparse.csr_array([[1.0, 3.0], [0.0, 0.0]]))
    array([4., 0.])
    """
    with np.errstate(over="ignore"):
        d = np.asarray(W.sum(axis=1), dtype=np.float64)
    if not np.isfinite(d).all():
        raise DataError(
            f"the similarities of node {int(np.argmax(d))} sum up to more than a float can hold. Rescale them."
        )
    return d

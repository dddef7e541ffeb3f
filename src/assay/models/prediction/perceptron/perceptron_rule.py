"""Rosenblatt's rule for any number of classes, with its certificate.

    rule      where w_y . z <= w_c . z for the best other class c:  w_y += z,  w_c -= z         rows Z (n, e), W (k, e)
    pocket    the weights of a long run of right answers, kept if they err on fewer rows than those kept before
    averaged  the mean of W over all steps
    bound     mistakes <= (R / margin)^2,  R = max |z_i|,  margin = min_i (w_y - w_c) . z_i / (sqrt(2) |W|)

for any W that separates the rows (Novikoff 1962; the sqrt(2) is Kesler's construction for several classes, and for two
the margin is the usual one).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array

Version: TypeAlias = Literal["plain", "pocket", "averaged"]

# Products of one call, so that an interrupt is heard in a fraction of a second.
_WORK = 50_000_000
_BLOCK = 8192


@dataclass(frozen=True, slots=True, eq=False)
class PerceptronSeparation:
    """What the rule ended with.

    Attributes:
        weights: (k, e).
        errors: rows that these weights get wrong.
        mistakes: corrections made in all.
        epochs: passes over the rows.
        separated: whether the last pass made no mistake, so that its weights separate the classes.
        margin: of the separating weights; NaN if there are none.
        radius: length of the longest row.
        bound: the largest number of mistakes that the margin allows; NaN without one.
    """

    weights: Array
    errors: int
    mistakes: int
    epochs: int
    separated: bool
    margin: float
    radius: float
    bound: float


def perceptron_rule(
    Z: Array, codes: NDArray[np.intp], k: int, *, version: Version, max_iter: int, rng: np.random.Generator
) -> PerceptronSeparation:
    """Correct weights row by row until a whole pass is right.

    Args:
        Z: (n, e) rows, a constant among the columns if there is to be an intercept.
        codes: (n,) class of each row, from 0.
        k: how many classes.
        version: which weights to return.
        max_iter: passes at most.
        rng: orders the rows of each pass.

    >>> found = perceptron_rule(np.array([[2.0], [-1.0]]), np.array([1, 0]), 2, version="plain", max_iter=9,
    ...                         rng=np.random.default_rng(0))
    >>> found.separated, found.mistakes <= found.bound
    (True, True)
    """
    from assay.models.prediction.perceptron._perceptron_kernels import walk

    n, e = Z.shape
    W, U, scores = np.zeros((k, e)), np.zeros((k, e)), np.zeros(k)
    pocket, fewest = W.copy(), n
    state = np.array([0, 0, 0, 0 if version == "pocket" else n * max_iter], dtype=np.int64)
    step = max(_WORK // (k * e), 1)
    separated, epochs = False, 0
    while epochs < max_iter and not separated:
        order, before, place = rng.permutation(n), int(state[1]), 0
        while place < n:
            stop = min(place + step, n)
            place = walk(Z, codes, order, place, stop, W, U, state, scores)
            if place < stop:
                pocket, fewest = _better(Z, codes, W, pocket, fewest)
        epochs += 1
        separated = int(state[1]) == before
    last = _lead(Z, codes, W)
    errors = int(np.count_nonzero(last <= 0.0))
    mistakes = int(state[1])
    margin, radius = float("nan"), float(np.sqrt(np.einsum("ij,ij->i", Z, Z).max()))
    if separated:
        margin = float(last.min() / (np.sqrt(2.0) * np.linalg.norm(W)))
    if version == "averaged":
        W = W - U / state[0]
        errors = int(np.count_nonzero(_lead(Z, codes, W) <= 0.0))
    elif version == "pocket" and fewest < errors:
        W, errors = pocket, fewest
    return PerceptronSeparation(W, errors, mistakes, epochs, separated, margin, radius, (radius / margin) ** 2)


def _better(Z: Array, codes: NDArray[np.intp], W: Array, pocket: Array, fewest: int) -> tuple[Array, int]:
    errors = int(np.count_nonzero(_lead(Z, codes, W) <= 0.0))
    return (W.copy(), errors) if errors < fewest else (pocket, fewest)


def _lead(Z: Array, codes: NDArray[np.intp], W: Array) -> Array:
    """(n,) by how much each row's own class scores above the best other."""
    lead = np.empty(len(Z))
    for start in range(0, len(Z), _BLOCK):
        some = slice(start, start + _BLOCK)
        scores = Z[some] @ W.T
        rows = np.arange(len(scores))
        own = scores[rows, codes[some]]
        scores[rows, codes[some]] = -np.inf
        lead[some] = own - scores.max(axis=1)
    return lead

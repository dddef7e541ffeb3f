"""Boundaries between pairs of classes with the linear kernel, by passes over rows that are not held."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.blocks import FloatBlocks
from assay.data.codes import short
from assay.models.prediction.svm.margin_passes import Line
from assay.models.prediction.svm.margin_table import Ends, MarginTable
from assay.models.prediction.svm.pairs import pairs_of

GAP = 0.1  # duality gap allowed, as a share of the objective, for a unit of tol


class Lines(NamedTuple):
    """The machine of each pair, and where rows are seen from."""

    each: list[Line]
    origin: Array


def lines_between(
    blocks: FloatBlocks,
    codes: NDArray[np.intp],
    prices: Array,
    *,
    weights: Array | None = None,
    squared: bool = False,
    tol: float,
    max_iter: int,
) -> Lines:
    """One machine for each pair of classes.

    Args:
        blocks: the rows.
        codes: (n,) class of each row, counted from 0.
        prices: (g,) C of each class, finite.
        weights: (n,) of the rows, by which their prices are multiplied; None for 1.
        squared: whether slacks are squared.
        tol: as of the model.
        max_iter: Newton steps allowed for a pair.
    """
    g = len(prices)
    table = MarginTable.of(blocks, short(codes, g), weights)
    usual = 1.0 if weights is None else float(weights.mean())
    found = [
        table.solve(
            _ends(pair, g, prices),
            price=usual * float(prices[list(pair)].mean()),
            tol=GAP * tol,
            max_iter=max_iter,
            squared=squared,
        )
        for pair in pairs_of(g)
    ]
    return Lines(found, table.middle)


def _ends(pair: tuple[int, int], g: int, prices: Array) -> Ends:
    first, second = pair
    positive = second if g == 2 else first  # as scikit-learn has it

    def ends(codes: NDArray[Any]) -> tuple[Any, Array, Array, Array]:
        picked = np.flatnonzero((codes == first) | (codes == second))
        own = codes[picked]
        up = own == positive
        return picked, np.where(up, 1.0, -np.inf), np.where(up, np.inf, -1.0), prices[own]

    return ends
